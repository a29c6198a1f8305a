//! Analyses of a motion: those of OpenSim, including static optimization.
//!
//! [`Analyze`] runs any set of analyses; [`StaticOptimization`] computes muscle forces.
//!
//! ```no_run
//! use soleus::{Analyze, Context, Disk};
//! use soleus::analysis::standard;
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = Analyze {
//!     model: "subject.osim".into(),
//!     motion: "walk.mot".into(),
//!     analyses: standard("body").into_iter().chain(standard("muscle")).collect(),
//!     ..Default::default()
//! };
//! for t in request.run(&context)?.tables {
//!     println!("{}{}: {} rows", t.analysis, t.suffix, t.table.rows());
//! }
//! # Ok::<(), soleus::Error>(())
//! ```

mod history;
mod make;
mod progress;
mod standard;
mod static_optimization;

pub use history::MotionKind;
pub use standard::{contacts, standard};
pub use static_optimization::{StaticOptimization, check_exponent};

use crate::artifact::{Artifact, Content, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model::{self, Change};
use crate::inputs::paths::{beside, file_part, folder_of, required, stem_of};
use crate::inputs::table::read_numbers;
use crate::inputs::tool_model::{Additions, read_with};
use crate::inverse_kinematics::{bound, range};
use crate::simulation::controllers;
use crate::source::{ModelSource, Source};
use make::{Motion, make};
use serde::{Deserialize, Serialize};
use soleus_dynamics::{Options, System};
use soleus_io::setup::write_control_set;
pub use soleus_io::setup::{AnalysisKind, AnalysisSetup, AnalyzeSetup};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_model::operator::ModelOperator;
use soleus_model::{Diagnostics, Element, Model};
use soleus_simulation::ModelControls;
use soleus_simulation::system::control_labels;
use soleus_tools::analysis::{AnalysisError, Preparation, Report, Scheduled, StateHistory, analyze};
use std::path::{Path, PathBuf};

/// Analyses of a motion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Analyze {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// The motion: coordinates (.mot, .sto; in degrees if the header says so) or states (.sto).
    pub motion: Source<Table>,
    /// Meaning of the columns of the motion.
    pub motion_kind: MotionKind,
    /// Speeds, in addition to coordinates; default: derivatives of the coordinates.
    pub speeds: Option<Source<Table>>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Whether the model's own forces are removed.
    pub replace_forces: bool,
    /// Files whose `ForceSet` is added to the model, such as reserve actuators.
    pub force_sets: Vec<PathBuf>,
    /// Controllers to add, as in a setup file.
    #[serde(skip)]
    pub controllers: Vec<Element>,
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d).
    pub loads: Option<PathBuf>,
    /// Residual actuators between ground and the model: optimal moment (N m) and optimal force (N); a single number is
    /// used for both.
    pub residuals: Vec<f64>,
    /// Reserve actuators for all free coordinates without an actuator: optimal force (N m or N).
    pub reserves: Vec<f64>,
    /// Changes to the model, made after all other additions.
    #[serde(skip)]
    pub operators: Vec<ModelOperator>,
    /// Controls over time; columns are named after actuators, by path or name.
    pub controls: Option<Source<Table>>,
    /// Whether to equilibrate muscle fibers with their tendons first.
    pub equilibrate: bool,
    /// Start time, s; default: start of the motion.
    pub from: Option<f64>,
    /// End time, s; default: end of the motion.
    pub to: Option<f64>,
    /// Analyses to run; see [`standard`] for the usual settings.
    pub analyses: Vec<AnalysisSetup>,
    /// Whether induced-acceleration analyses without contacts get one contact per measured load.
    pub contacts_at_loads: bool,
    /// Files to write.
    pub output: AnalysisOutput,
    /// Whether to reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Whether to filter and differentiate the angles of the root, as OpenSim does, instead of its pose, for
    /// comparison. Results then depend on the direction in which the subject faces.
    pub root_angles: bool,
    /// Setup file that the request was read from, for messages; file names in analyses are relative to its folder.
    pub asked_in: Option<PathBuf>,
}

/// Files of analyses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AnalysisOutput {
    /// Folder for the tables; default: no tables are written.
    pub folder: Option<PathBuf>,
    /// Prefix of the file names; default: name of the motion file.
    pub name: Option<String>,
}

impl Default for Analyze {
    fn default() -> Self {
        Analyze {
            model: ModelSource::default(),
            motion: Source::default(),
            motion_kind: MotionKind::default(),
            speeds: None,
            cutoff_hz: None,
            replace_forces: false,
            force_sets: Vec::new(),
            controllers: Vec::new(),
            loads: None,
            residuals: Vec::new(),
            reserves: Vec::new(),
            operators: Vec::new(),
            controls: None,
            equilibrate: false,
            from: None,
            to: None,
            analyses: Vec::new(),
            contacts_at_loads: true,
            output: AnalysisOutput::default(),
            opensim_faults: false,
            root_angles: false,
            asked_in: None,
        }
    }
}

impl Analyze {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &AnalyzeSetup) -> Result<Self, Error> {
        let tool = &s.tool;
        let (motion, motion_kind) = match &s.states_file {
            Some(file) => (beside(path, file), MotionKind::States),
            None => {
                let given = s.coordinates_file.as_deref();
                let file = required(path, "states_file` or `coordinates_file", given)?;
                (file, MotionKind::Coordinates)
            }
        };
        let speeds = s.speeds_file.as_ref().filter(|_| motion_kind == MotionKind::Coordinates);
        let cutoff = s.lowpass_cutoff_frequency_for_coordinates;
        Ok(Analyze {
            model: required(path, "model_file", tool.model_file.as_deref())?.into(),
            motion: motion.into(),
            motion_kind,
            speeds: speeds.map(|f| beside(path, f).into()),
            // A negative cutoff is none; one that is not a number is refused.
            cutoff_hz: Some(cutoff).filter(|hz| motion_kind == MotionKind::Coordinates && !(*hz < 0.0)),
            replace_forces: tool.replace_force_set,
            force_sets: tool.force_set_files.iter().map(|f| beside(path, f)).collect(),
            controllers: tool.controllers.clone(),
            loads: tool.external_loads_file.as_ref().map(|f| beside(path, f)),
            equilibrate: tool.solve_for_equilibrium,
            from: bound(tool.initial_time),
            to: bound(tool.final_time),
            analyses: s.analyses.clone(),
            contacts_at_loads: false,
            output: AnalysisOutput {
                folder: Some(beside(path, &tool.results_directory)),
                name: Some(tool.name.clone()),
            },
            root_angles: true,
            asked_in: Some(path.to_path_buf()),
            ..Analyze::default()
        })
    }

    /// Runs the analyses. If the run is cancelled, the rows computed so far are kept and the verdict is an error.
    pub fn run(&self, cx: &Context) -> Result<AnalysisTables, Error> {
        let opensim_faults = self.opensim_faults;
        self.check()?;
        let model = self.model(cx)?;
        let system = model::compile(self.model.path(), &model, &Options { opensim_faults })?;
        let both = (&model, &system);
        let history = history::read(cx, self, both)?;
        let mut controls = self.controls(cx, both)?;
        let [from, to] = range(self.motion.path(), self.from, self.to)?;
        let rows = history.range(from, to).map_err(|e| history::no_motion(self.motion.path(), &e))?;
        let motion = Motion {
            model: &model,
            system: &system,
            history: &history,
            rows: rows.clone(),
            opensim_faults,
            is_simulation: false,
            source: self.path(),
            table: &|name| read_numbers(cx, &self.file(name).into()),
        };
        let mut analyses = make(cx, &motion, &self.setups(&model))?;
        if analyses.is_empty() {
            return Err(Error::content(
                self.path(),
                0,
                "",
                "no analysis is switched on",
                "add an analysis to `AnalysisSet`",
            ));
        }
        let preparation = Preparation { solve_for_equilibrium: self.equilibrate, opensim_faults };
        let done = analyze(both, &history, rows, &mut controls, preparation, &mut analyses)
            .map_err(|e| failed_at(self.path(), &e, both))?;
        tell(cx, &model, self.path(), &done);
        let (tables, unsolved) = finish(cx, self.path(), analyses)?;
        let name = self.output.name.clone().unwrap_or_else(|| stem_of(self.motion.path(), "motion"));
        let folder = self.output.folder.clone();
        Ok(AnalysisTables {
            tables,
            rows: done.rows,
            unsolved,
            stopped: done.stopped,
            page: None,
            folder,
            name,
        })
    }

    /// The file that asks.
    fn path(&self) -> &Path {
        self.asked_in.as_deref().unwrap_or(self.motion.path())
    }

    /// A file that an analysis names.
    fn file(&self, name: &str) -> PathBuf {
        self.asked_in.as_deref().map_or(PathBuf::from(name), |setup| beside(setup, name))
    }

    fn check(&self) -> Result<(), Error> {
        if let Some(s) = self.analyses.iter().find(|s| s.step_interval == 0) {
            let message = format!("`{}`: the row interval must be at least 1", s.name);
            let hint = "use 1 for every row, or more to skip rows";
            return Err(Error::content(self.path(), s.line, "", message, hint));
        }
        match self.cutoff_hz {
            Some(hz) if !(hz > 0.0 && hz.is_finite()) => {
                let hint = "give a positive number, such as 6 Hz for gait, or omit it for no filter";
                Err(Error::content(
                    self.path(),
                    0,
                    "",
                    format!("{hz} Hz is not a valid cutoff frequency"),
                    hint,
                ))
            }
            _ => Ok(()),
        }
    }

    /// The model with what the request adds.
    fn model(&self, cx: &Context) -> Result<Model, Error> {
        let additions = Additions {
            change: Change {
                replace_forces: self.replace_forces,
                force_sets: &self.force_sets,
                controllers: &self.controllers,
                setup: self.asked_in.as_deref(),
            },
            residuals: &self.residuals,
            reserves: &self.reserves,
            loads: self.loads.as_deref(),
            motion: Some(&self.motion),
            operators: &self.operators,
        };
        read_with(cx, &self.model, &additions)
    }

    /// The model's controllers, and what the request adds.
    fn controls(&self, cx: &Context, both: (&Model, &System)) -> Result<ModelControls, Error> {
        let mut folders = vec![self.model.folder()];
        folders.splice(0..0, self.asked_in.as_deref().map(folder_of));
        let mut controls = controllers::controllers(cx, self.model.path(), both, &folders)?;
        if let Some(source) = &self.controls {
            let (labels, table) = (control_labels(both.0, both.1), read_numbers(cx, source)?);
            let named = (source.path(), &table);
            controllers::add_table(cx, &mut controls, &labels, named, 1, &|_| true)?;
        }
        Ok(controls)
    }

    /// The analyses, with contacts where loads were measured.
    fn setups(&self, model: &Model) -> Vec<AnalysisSetup> {
        let mut setups = self.analyses.clone();
        for s in setups.iter_mut().filter(|_| self.contacts_at_loads) {
            if let AnalysisKind::InducedAccelerations { contacts: list, .. } = &mut s.kind
                && list.is_empty()
            {
                *list = contacts(model);
            }
        }
        setups
    }
}

/// What to do where actuators are too weak.
pub(crate) const TOO_WEAK_HINT: &str = "\nhint: add reserve actuators (--reserves 10) and residual actuators (--residuals 10,50); if the deficit is large, check that the loads act on the right feet, and the mass of the model";

/// Makes the analyses of a simulation, of which `states` came. `path` is the file that asks for them.
pub(crate) fn of_simulation(
    cx: &Context,
    path: &Path,
    setups: &[AnalysisSetup],
    (model, system): (&Model, &System),
    states: &Table,
    controls: &mut ModelControls,
    opensim_faults: bool,
) -> Result<AnalysisTables, Error> {
    // Setup files of OpenSim's tools ask for simulations with analyses.
    let history = StateHistory::from_states(model, system, states.clone())
        .map_err(|e| Error::content(path, 0, "", e.to_string(), ""))?
        .by_angles();
    let rows = 0..=states.rows().saturating_sub(1);
    let motion = Motion {
        model,
        system,
        history: &history,
        rows: rows.clone(),
        opensim_faults,
        is_simulation: true,
        source: path,
        table: &|name| read_numbers(cx, &beside(path, name).into()),
    };
    let mut analyses = make(cx, &motion, setups)?;
    if analyses.is_empty() {
        return Ok(AnalysisTables::default());
    }
    let done = analyze((model, system), &history, rows, controls, Preparation::default(), &mut analyses)
        .map_err(|e| failed_at(path, &e, (model, system)))?;
    let (tables, unsolved) = finish(cx, path, analyses)?;
    Ok(AnalysisTables { tables, rows: done.rows, unsolved, stopped: done.stopped, ..Default::default() })
}

/// A table of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysisTable {
    /// Name of the analysis.
    pub analysis: String,
    /// Content of the table: `_q`, `_pos_global`, `_ReactionLoads`.
    pub suffix: String,
    /// The table.
    pub table: Table,
    /// Whether the columns are controls, for use in a simulation.
    pub is_controls: bool,
}

/// Results of the analyses.
#[derive(Clone, Debug, Default)]
pub struct AnalysisTables {
    /// Tables of all analyses, in order.
    pub tables: Vec<AnalysisTable>,
    /// Number of rows analysed.
    pub rows: usize,
    /// Descriptions of unsolved rows; the tables then contain the closest solution found.
    pub unsolved: Vec<String>,
    /// Time (s) at which the run was cancelled.
    pub stopped: Option<f64>,
    /// A page and its file, where one was asked for.
    page: Option<(PathBuf, String)>,
    folder: Option<PathBuf>,
    name: String,
}

impl AnalysisTables {
    /// The page, if requested.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|p| p.1.as_str())
    }

    /// A table by analysis name and suffix.
    pub fn table(&self, analysis: &str, suffix: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.analysis == analysis && t.suffix == suffix).map(|t| &t.table)
    }
}

impl Outcome for AnalysisTables {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let page = self.page.iter().map(|(file, text)| Artifact::text(file, text.as_str()).derived());
        let tables = self.folder.iter().flat_map(|folder| artifacts(folder, &self.name, &self.tables));
        page.chain(tables).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        verdict(&self.unsolved, self.stopped, self.folder.as_deref())
    }
}

/// An error if something was not solved, or not all rows were analysed.
pub(crate) fn verdict(unsolved: &[String], stopped: Option<f64>, folder: Option<&Path>) -> Result<(), Error> {
    match stopped {
        Some(time) => {
            let place = folder.map_or(String::new(), |f| format!(" are in {}", f.display()));
            Err(Error::Cancelled { saved: format!("tables up to t = {time:.3} s{place}") })
        }
        None if unsolved.is_empty() => Ok(()),
        None => Err(Error::NotSolved { message: unsolved.join("\n") }),
    }
}

/// The files of tables: `<folder>/<name>_<analysis>_<what>.sto`, and those of controls as `<name>_<analysis>_controls.xml` too.
pub(crate) fn artifacts<'a>(folder: &Path, name: &str, tables: &'a [AnalysisTable]) -> Vec<Artifact<'a>> {
    let mut list = Vec::new();
    for t in tables {
        let file = match t.suffix.strip_prefix('_') {
            Some(what) => format!("{name}_{}_{what}.sto", t.analysis),
            None => format!("{name}_{}.sto", t.suffix),
        };
        let content = match t.table.in_degrees {
            Some(_) => Content::Storage(&t.table, Digits::Shortest),
            None => Content::TypedStorage(&t.table),
        };
        list.push(Artifact { path: folder.join(file_part(&file)), content, is_derived: true });
        if t.is_controls {
            let file = file_part(&format!("{name}_{}_controls.xml", t.analysis));
            list.push(Artifact::text(folder.join(file), write_control_set(&t.table)).derived());
        }
    }
    list
}

/// The tables of all analyses, and what could not be solved; tells what went less than well.
fn finish(
    cx: &Context,
    source: &Path,
    analyses: Vec<Scheduled>,
) -> Result<(Vec<AnalysisTable>, Vec<String>), Error> {
    let mut log = Diagnostics::new(source.display().to_string());
    let (mut tables, mut unsolved) = (Vec::new(), Vec::new());
    for a in analyses {
        a.analysis.notes().iter().for_each(|n| cx.note(n));
        unsolved.extend(a.analysis.unsolved().map(|u| format!("{}: {u}{TOO_WEAK_HINT}", a.name)));
        for warning in a.analysis.warnings() {
            log.warn(0, "", format!("{}: {warning}", a.name), "");
        }
        let controls = a.analysis.controls();
        for output in a.analysis.finish().map_err(|e| failed(source, &e))? {
            tables.push(AnalysisTable {
                analysis: a.name.clone(),
                is_controls: controls == Some(&output.suffix),
                suffix: output.suffix,
                table: output.table,
            });
        }
    }
    cx.report(&log);
    Ok((tables, unsolved))
}

/// Tells what went less than well on the way.
fn tell(cx: &Context, model: &Model, source: &Path, report: &Report) {
    let mut log = Diagnostics::new(source.display().to_string());
    if let Some((time, force, why)) = report.not_in_equilibrium.first() {
        let (path, n) = (&model.forces[*force].path, report.not_in_equilibrium.len());
        log.warn(
            0,
            "",
            format!("a muscle had no equilibrium {n} times, first {path} at {time} s: {why}"),
            "",
        );
    }
    if let Some(time) = report.without_accelerations.first() {
        let n = report.without_accelerations.len();
        let message = format!("accelerations are undetermined at {n} times, first at {time} s: they are NaN");
        log.warn(0, "", message, "");
    }
    cx.report(&log);
    cx.note(format!("{} rows", report.rows));
}

/// As [`failed`], with names of coordinates.
fn failed_at(path: &Path, e: &AnalysisError, (model, system): (&Model, &System)) -> Error {
    match e {
        AnalysisError::Motion { source, .. } => {
            let message = model::with_coordinate(&e.to_string(), source, model, system);
            Error::content(path, 0, "", message, "")
        }
        _ => failed(path, e),
    }
}

/// Converts the error of an analysis requested in `path`.
pub fn failed(path: &Path, e: &AnalysisError) -> Error {
    if e.is_not_converged() {
        let hint = "give residual actuators larger optimal forces, or use a smaller exponent";
        return Error::NotSolved { message: format!("{e}\nhint: {hint}") };
    }
    let hint = match e {
        AnalysisError::Missing { .. } => {
            "it needs a column named after every actuator of the model, as written by `soleus so`"
        }
        _ => "",
    };
    Error::content(path, 0, "", e.to_string(), hint)
}
