//! Forward simulation of a model with given controls.
//!
//! [`Simulation`] starts from the model's default state or a row of a table; [`ForwardSimulation`] corresponds to a
//! setup file of OpenSim's `ForwardTool`.
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, Simulation};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = Simulation { model: "arm26.osim".into(), excitation: Some(0.05), duration: 1.0, ..Default::default() };
//! let motion = request.run(&context)?;
//! motion.verdict()?; // an error if it could not go on to the end
//! println!("{} rows up to {} s", motion.states.rows(), motion.end_time);
//! # Ok::<(), soleus::Error>(())
//! ```

pub mod controllers;
mod forward;
pub mod integration;
mod outputs;
pub mod start;
pub mod tables;

pub use forward::ForwardSimulation;
pub use integration::Method;

use crate::analysis::{self, AnalysisTable};
use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::inputs::paths::{file_part, stem_of};
use crate::inputs::table::read_numbers;
use crate::source::{ModelSource, Source};
use integration::Plan;
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_io::setup::AnalysisSetup;
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_math::table::TableError;
use soleus_model::Model;
use soleus_simulation::system::control_labels;
use soleus_simulation::{ModelControls, Statistics, StepOptions, Trajectory};
use std::path::{Path, PathBuf};

/// Simulates a model from its default state with muscles in equilibrium, or from a given state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulation {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// Excitation of all muscles, added to the output of the model's controllers.
    pub excitation: Option<f64>,
    /// Controls over time; columns are named after actuators, by path or name.
    pub controls: Option<Source<Table>>,
    /// Initial state: the first row of a table with labels such as `/jointset/knee/angle/value`, in rad and m.
    pub initial: Option<Source<Table>>,
    /// Duration of the simulation, s.
    pub duration: f64,
    /// Integrator.
    pub method: Method,
    /// Accuracy of the integrator (error per step), as defined in OpenSim.
    pub accuracy: f64,
    /// Step of fixed-step methods, s.
    pub step: f64,
    /// Time between rows, s; default: one row per step.
    pub interval: Option<f64>,
    /// Maximum wall-clock time, s; the results up to then are kept.
    pub deadline: Option<f64>,
    /// Additional tables: kinematics, bodies, forces, actuators, muscles, joint-reactions, probes, or outputs of
    /// components such as `/forceset/soleus|tendon_force`.
    pub outputs: Vec<String>,
    /// Files to write.
    pub output: SimulationOutput,
    /// Whether to reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
}

/// Output files of a simulation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SimulationOutput {
    /// Folder for the tables; default: no tables are written.
    pub folder: Option<PathBuf>,
    /// Prefix of the file names; default: name of the model file, or of the motion file for tracking.
    pub name: Option<String>,
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation {
            model: ModelSource::default(),
            excitation: None,
            controls: None,
            initial: None,
            duration: 1.0,
            method: Method::default(),
            accuracy: 1e-5,
            step: 1e-3,
            interval: None,
            deadline: None,
            outputs: Vec::new(),
            output: SimulationOutput::default(),
            opensim_faults: false,
        }
    }
}

impl Simulation {
    /// Runs the simulation. If it cannot continue or is cancelled, the results so far are kept and the verdict gives
    /// the reason.
    pub fn run(&self, cx: &Context) -> Result<SimulatedMotion, Error> {
        let path = self.model.path();
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        if !(self.duration > 0.0) || !self.duration.is_finite() {
            let message = format!("{} s is not a valid duration", self.duration);
            return wrong(message, "give a positive number of seconds");
        }
        if let Some(e) = self.excitation.filter(|e| !e.is_finite()) {
            return wrong(format!("{e} is not a valid excitation"), "give a number, usually from 0 to 1");
        }
        let analyses = match outputs::analyses(&self.outputs) {
            Ok(list) => list,
            Err(word) => {
                let message = format!("unknown output `{word}`");
                return wrong(message, outputs::KNOWN);
            }
        };
        let options = Options { opensim_faults: self.opensim_faults };
        let (model, system) = model::system(cx, &self.model, &options)?;
        let mut controls = self.controls(cx, &model, &system)?;
        let start = self.initial_state(cx, &model, &system, &controls)?;
        let job = Job {
            path,
            both: (&model, &system),
            plan: Plan {
                method: self.method,
                options: StepOptions::with_accuracy(self.accuracy),
                step: self.step,
                t_end: start.time + self.duration,
                interval: self.interval,
                deadline: self.deadline,
            },
            analyses: &analyses,
            folder: self.output.folder.clone(),
            name: self.output.name.clone().unwrap_or_else(|| stem_of(path, "model")),
            opensim_faults: self.opensim_faults,
        };
        job.run(cx, &mut controls, &start, |controls, rows| {
            if system.num_controls == 0 {
                return Ok(None);
            }
            let labels = control_labels(&model, &system);
            tables::controls(&model, &system, controls, rows, labels).map(Some)
        })
    }

    /// The model's controllers, and what the request adds.
    fn controls(&self, cx: &Context, model: &Model, system: &System) -> Result<ModelControls, Error> {
        let (path, both) = (self.model.path(), (model, system));
        let mut controls = controllers::controllers(cx, path, both, &[self.model.folder()])?;
        if let Some(e) = self.excitation {
            controls.add_excitation(model, system, e);
        }
        if let Some(source) = &self.controls {
            let (labels, table) = (control_labels(model, system), read_numbers(cx, source)?);
            let named = (source.path(), &table);
            controllers::add_table(cx, &mut controls, &labels, named, 1, &|_| true)?;
        }
        Ok(controls)
    }

    /// The state to start from.
    fn initial_state(
        &self,
        cx: &Context,
        model: &Model,
        system: &System,
        controls: &ModelControls,
    ) -> Result<State<f64>, Error> {
        let (path, both) = (self.model.path(), (model, system));
        let mut x = system.default_state.clone();
        let mut ws = system.workspace();
        if let Some(source) = &self.initial {
            let table = start::read_states(cx, source)?;
            start::set_from_row(cx, both, (source.path(), &table), 0, &mut x);
        }
        start::assemble(path, both, &mut x, &mut ws)?;
        if self.initial.is_none() {
            start::equilibrate(cx, path, both, controls, &mut x, &mut ws);
        }
        Ok(x)
    }
}

/// A simulation that is ready to run, whatever asked for it.
struct Job<'a> {
    /// The file that asks; files that analyses name are taken from its folder.
    path: &'a Path,
    both: (&'a Model, &'a System),
    plan: Plan,
    analyses: &'a [AnalysisSetup],
    folder: Option<PathBuf>,
    name: String,
    opensim_faults: bool,
}

impl Job<'_> {
    /// Integrates, makes tables of the rows, and analyses them. `tabulate` makes the table of controls.
    fn run(
        self,
        cx: &Context,
        controls: &mut ModelControls,
        start: &State<f64>,
        tabulate: impl FnOnce(&ModelControls, &Trajectory) -> Result<Option<Table>, TableError>,
    ) -> Result<SimulatedMotion, Error> {
        let (model, system) = self.both;
        let dim = start.q.len() + start.u.len() + start.z.len();
        self.plan.check(cx, self.path, start.time, dim)?;
        let motion = integration::simulate(cx, system, controls, start, &self.plan);
        let wrong = |e: TableError| Error::content(self.path, 0, "", e.to_string(), "");
        let states = tables::states(model, system, &motion.rows).map_err(wrong)?;
        let control_table = tabulate(controls, &motion.rows).map_err(wrong)?;
        motion.tell(cx, self.path);
        let mut verdict = motion.verdict(model, system, self.folder.as_deref());
        let mut tables = Vec::new();
        if !self.analyses.is_empty() && !motion.rows.is_empty() && !motion.is_cancelled() {
            let made = analysis::of_simulation(
                cx,
                self.path,
                self.analyses,
                self.both,
                &states,
                controls,
                self.opensim_faults,
            );
            let analysed = made.and_then(|made| {
                tables = made.tables;
                analysis::verdict(&made.unsolved, made.stopped, self.folder.as_deref())
            });
            // Why a simulation ended early matters more than what could not be made of it.
            verdict = verdict.and(analysed);
        }
        Ok(SimulatedMotion {
            states,
            controls: control_table,
            tables,
            statistics: motion.statistics(),
            end_time: motion.end_time(),
            seconds: motion.seconds(),
            states_in_degrees: None,
            folder: self.folder,
            name: self.name,
            verdict,
        })
    }
}

/// Result of a simulation.
#[derive(Debug)]
pub struct SimulatedMotion {
    /// States over time, in rad and m, with the labels of OpenSim's tables.
    pub states: Table,
    /// Controls over time; `None` if the model has no actuators.
    pub controls: Option<Table>,
    /// Tables of the requested analyses.
    pub tables: Vec<AnalysisTable>,
    /// Work done.
    pub statistics: Statistics,
    /// Time reached, s.
    pub end_time: f64,
    /// Wall-clock time, s, if a clock is available.
    pub seconds: Option<f64>,
    states_in_degrees: Option<Table>,
    folder: Option<PathBuf>,
    name: String,
    verdict: Result<(), Error>,
}

impl Outcome for SimulatedMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let own = [
            ("states_degrees.mot", self.states_in_degrees.as_ref()),
            ("states.sto", Some(&self.states)),
            ("controls.sto", self.controls.as_ref()),
        ];
        let own = own.into_iter().filter_map(|(ending, table)| {
            let file = folder.join(file_part(&format!("{}_{ending}", self.name)));
            Some(Artifact::table(file, table?, Digits::Shortest).derived())
        });
        own.chain(analysis::artifacts(folder, &self.name, &self.tables)).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        self.verdict.clone()
    }
}
