//! Simulations from setup files of OpenSim's `ForwardTool`.

use super::integration::{Method, Plan};
use super::{Job, SimulatedMotion, SimulationOutput, controllers, start, tables};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model::{self, Change};
use crate::inputs::paths::{beside, folder_of, required, stem_of};
use crate::inputs::tool_model::{Additions, read_with};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_io::setup::{AnalysisSetup, ForwardSetup};
use soleus_math::Table;
use soleus_model::controller::{Controller, ControllerKind};
use soleus_model::force::{ControlRange, CoordinateActuator};
use soleus_model::id::CoordinateId;
use soleus_model::{Element, Force, ForceKind, Model, angles};
use soleus_simulation::system::{ControlNodes, Correction, control_labels, state_column};
use soleus_simulation::{ModelControls, StepOptions};
use std::path::{Path, PathBuf};

/// A simulation like that of OpenSim's `ForwardTool`: forces, controllers and measured loads are added to the model,
/// and the initial state is a row of a table of states.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ForwardSimulation {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// Whether the model's own forces are removed.
    pub replace_forces: bool,
    /// Files whose `ForceSet` is added to the model.
    pub force_sets: Vec<PathBuf>,
    /// Controllers to add, as in a setup file.
    #[serde(skip)]
    pub controllers: Vec<Element>,
    /// Measured loads: a file with `ExternalLoads`.
    pub loads: Option<PathBuf>,
    /// States over time, in rad and m: the last row at or before the start time is the initial state, and correction
    /// controllers track them; default: the model's default state.
    pub states: Option<Source<Table>>,
    /// Start time, s.
    pub from: f64,
    /// End time, s.
    pub to: f64,
    /// Whether to equilibrate muscle fibers with their tendons first.
    pub equilibrate: bool,
    /// Accuracy of the integrator (error per step), as defined in OpenSim.
    pub accuracy: f64,
    /// Minimum step, s; accepted regardless of its error, as in OpenSim.
    pub minimum_step: f64,
    /// Maximum step, s.
    pub maximum_step: f64,
    /// Analyses of the motion.
    pub analyses: Vec<AnalysisSetup>,
    /// Files to write.
    pub output: SimulationOutput,
    /// Whether to reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Setup file that the request was read from, for messages; file names in analyses are relative to its folder.
    pub asked_in: Option<PathBuf>,
}

impl Default for ForwardSimulation {
    fn default() -> Self {
        ForwardSimulation {
            model: ModelSource::default(),
            replace_forces: false,
            force_sets: Vec::new(),
            controllers: Vec::new(),
            loads: None,
            states: None,
            from: 0.0,
            to: 1.0,
            equilibrate: false,
            accuracy: 1e-5,
            minimum_step: 1e-8,
            maximum_step: 1.0,
            analyses: Vec::new(),
            output: SimulationOutput::default(),
            opensim_faults: false,
            asked_in: None,
        }
    }
}

impl ForwardSimulation {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &ForwardSetup) -> Result<Self, Error> {
        let tool = &s.tool;
        Ok(ForwardSimulation {
            model: required(path, "model_file", tool.model_file.as_deref())?.into(),
            replace_forces: tool.replace_force_set,
            force_sets: tool.force_set_files.iter().map(|f| beside(path, f)).collect(),
            controllers: tool.controllers.clone(),
            loads: tool.external_loads_file.as_ref().map(|f| beside(path, f)),
            states: s.states_file.as_ref().map(|f| beside(path, f).into()),
            from: tool.initial_time,
            to: tool.final_time,
            equilibrate: tool.solve_for_equilibrium,
            accuracy: tool.error_tolerance,
            minimum_step: tool.minimum_step,
            maximum_step: tool.maximum_step,
            analyses: s.analyses.clone(),
            output: SimulationOutput {
                folder: Some(beside(path, &tool.results_directory)),
                name: Some(tool.name.clone()),
            },
            opensim_faults: false,
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// Runs the simulation. If it cannot continue or is cancelled, the results so far are kept and the verdict gives
    /// the reason.
    pub fn run(&self, cx: &Context) -> Result<SimulatedMotion, Error> {
        let path = self.path();
        let model = self.model(cx)?;
        let options = Options { opensim_faults: self.opensim_faults };
        let system = model::compile(self.model.path(), &model, &options)?;
        let both = (&model, &system);
        let states = match &self.states {
            Some(source) => Some(start::read_states(cx, source)?),
            None => None,
        };
        let folders = [folder_of(path), self.model.folder()];
        let mut controls = controllers::controllers(cx, self.model.path(), both, &folders)?;
        add_corrections(path, &model, &system, states.as_ref(), &mut controls)?;
        let x = self.initial_state(cx, both, states.as_ref(), &controls)?;
        if !(self.to > x.time) || !self.to.is_finite() {
            let message = format!("`final_time` {} s is not after the start, {} s", self.to, x.time);
            return Err(Error::content(path, 0, "", message, "give a later `final_time`"));
        }
        let plan = Plan {
            method: Method::Rkm,
            options: StepOptions {
                accuracy: self.accuracy,
                min_step: self.minimum_step,
                max_step: self.maximum_step,
                force_min_step: true,
                ..StepOptions::default()
            },
            // The method chooses its steps.
            step: 1e-3,
            t_end: self.to,
            interval: None,
            deadline: None,
        };
        let name = self.output.name.clone().unwrap_or_else(|| stem_of(self.model.path(), "model"));
        let job = Job {
            path,
            both,
            plan,
            analyses: &self.analyses,
            folder: self.output.folder.clone(),
            name: name.clone(),
            opensim_faults: self.opensim_faults,
        };
        let mut motion = job.run(cx, &mut controls, &x, |controls, rows| {
            // OpenSim labels controls by name, not by path.
            let labels = control_labels(&model, &system);
            let names = labels.iter().map(|l| l.rsplit('/').next().unwrap_or(l).to_string()).collect();
            let table = tables::controls(&model, &system, controls, rows, names)?;
            Ok(Some(named(table, "controls")))
        })?;
        motion.states.name = name;
        motion.states_in_degrees = Some(in_degrees(&model, &motion.states));
        Ok(motion)
    }

    /// The file that asks.
    fn path(&self) -> &Path {
        self.asked_in.as_deref().unwrap_or(self.model.path())
    }

    /// The model with what the request adds, and actuators for corrections.
    fn model(&self, cx: &Context) -> Result<Model, Error> {
        let additions = Additions {
            change: Change {
                replace_forces: self.replace_forces,
                force_sets: &self.force_sets,
                controllers: &self.controllers,
                setup: self.asked_in.as_deref(),
            },
            loads: self.loads.as_deref(),
            ..Additions::default()
        };
        let mut model = read_with(cx, &self.model, &additions)?;
        add_correctors(self.path(), &mut model)?;
        Ok(model)
    }

    /// The state to start from: a row of the states file, or the model's default.
    fn initial_state(
        &self,
        cx: &Context,
        both: (&Model, &System),
        states: Option<&Table>,
        controls: &ModelControls,
    ) -> Result<State<f64>, Error> {
        let (path, system) = (self.path(), both.1);
        let mut x = system.default_state.clone();
        let mut ws = system.workspace();
        x.time = self.from;
        if let (Some(table), Some(source)) = (states, &self.states) {
            // The last row that is not after the time asked for; no interpolation, as in OpenSim.
            let wanted = self.from;
            let row = table.times().partition_point(|&t| t <= wanted).saturating_sub(1);
            start::set_from_row(cx, both, (source.path(), table), row, &mut x);
            if x.time != wanted {
                let time = x.time;
                cx.note(format!(
                    "note: starts at {time} s, the row of the states file nearest before {wanted} s"
                ));
            }
        }
        start::assemble(path, both, &mut x, &mut ws)?;
        if self.equilibrate {
            start::equilibrate(cx, path, both, controls, &mut x, &mut ws);
        }
        Ok(x)
    }
}

fn named(mut table: Table, name: &str) -> Table {
    table.name = name.to_string();
    table
}

/// Refuses controllers that cannot be run, and adds actuators for corrections.
fn add_correctors(path: &Path, model: &mut Model) -> Result<(), Error> {
    let enabled = |c: &&Controller| c.enabled;
    for c in model.controllers.iter().filter(enabled) {
        if let ControllerKind::Other = c.kind {
            let message = format!("controller `{}` is a `{}`, which is not supported", c.name, c.class);
            let hint = "disable it, or remove it from the setup";
            return Err(Error::content(path, 0, &c.path, message, hint));
        }
    }
    // Each coordinate gets an actuator that the correction works through, unless it has one by that name.
    let corrects = |c: &&Controller| matches!(c.kind, ControllerKind::Correction { .. });
    if let Some(c) = model.controllers.iter().filter(enabled).find(corrects) {
        let owner = c.path.clone();
        for (i, c) in model.coordinates.iter().enumerate() {
            let name = corrector(&c.name);
            if !model.forces.iter().any(|f| f.name == name) {
                let (control, coordinate) = (ControlRange::default(), CoordinateId(i));
                let actuator = CoordinateActuator { control, coordinate, optimal_force: 1.0 };
                model.forces.push(Force::of_coordinate(&owner, name, actuator));
            }
        }
    }
    Ok(())
}

/// Name of the actuator that corrects a coordinate.
fn corrector(coordinate: &str) -> String {
    format!("{coordinate}_corrector")
}

/// Controls of the correction controllers, which follow the states file.
fn add_corrections(
    path: &Path,
    model: &Model,
    system: &System,
    states: Option<&Table>,
    controls: &mut ModelControls,
) -> Result<(), Error> {
    for c in model.controllers.iter().filter(|c| c.enabled) {
        let ControllerKind::Correction { kp, kv } = c.kind else { continue };
        let Some(states) = states else {
            let message = format!("controller `{}` tracks `states_file`, which is not given", c.name);
            return Err(Error::content(path, 0, &c.path, message, ""));
        };
        for (i, coordinate) in model.coordinates.iter().enumerate() {
            let mobility = system.tree.mobility_of_coordinate[i];
            // What constraints hold needs no correction.
            if mobility == usize::MAX || is_held(model, i) {
                continue;
            }
            let name = corrector(&coordinate.name);
            let Some(k) = model.forces.iter().position(|f| f.name == name) else { continue };
            let ForceKind::CoordinateActuator(actuator) = &model.forces[k].kind else { continue };
            let nodes = |what: &str| {
                let label = format!("{}/{what}", coordinate.path);
                let column = state_column(states.labels(), &label)?;
                ControlNodes::new(states.times().to_vec(), states.columns()[column].clone(), false, true)
            };
            let (Some(value), Some(speed)) = (nodes("value"), nodes("speed")) else {
                let message = format!("the states file has no column for `{}`", coordinate.name);
                return Err(Error::content(path, 0, &c.path, message, ""));
            };
            let optimal_force = actuator.optimal_force;
            let correction = Correction { mobility, kp, kv, optimal_force, value, speed };
            controls.add_correction(system.forces[k].controls.start, correction);
        }
    }
    Ok(())
}

/// Whether a coordinate is locked, prescribed or dependent.
fn is_held(model: &Model, coordinate: usize) -> bool {
    use soleus_model::constraint::ConstraintKind;
    let c = &model.coordinates[coordinate];
    c.locked
        || c.prescribed
        || model.constraints.iter().any(|k| {
            matches!(&k.kind, ConstraintKind::CoordinateCoupler { dependent, .. } if dependent.0 == coordinate)
        })
}

/// States with angles in degrees, and the header that SIMM reads.
fn in_degrees(model: &Model, states: &Table) -> Table {
    let mut table = angles::in_degrees(model, states.clone());
    let (rows, columns) = (table.rows(), table.labels().len() + 1);
    let (first, last) = (table.times().first().copied(), table.times().last().copied());
    table.description = format!(
        "\n# SIMM Motion File Header:\nname {}\ndatacolumns {columns}\ndatarows {rows}\notherdata 1\nrange {:.6} {:.6}\n",
        table.name,
        first.unwrap_or(0.0),
        last.unwrap_or(0.0)
    );
    table
}
