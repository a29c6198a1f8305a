//! Simulations that follow a measured motion: residual reduction and computed muscle control.
//!
//! [`ResidualReduction`] finds a motion near the measured one that needs smaller forces from nowhere, and a mass centre that fits;
//! [`ComputedMuscleControl`] finds muscle excitations that drive a simulation along a motion. Both are [`Tracking`] with settings of
//! their own, and end in a [`TrackedMotion`].
//!
//! ```no_run
//! use soleus::muscle_control::Tracking;
//! use soleus::{ComputedMuscleControl, Context, Disk, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = ComputedMuscleControl {
//!     tracking: Tracking {
//!         model: "subject.osim".into(),
//!         motion: "walk_q.sto".into(),
//!         loads: Some("walk_grf.xml".into()),
//!         reserves: vec![1.0],
//!         residuals: vec![10.0],
//!         ..Default::default()
//!     },
//!     ..Default::default()
//! };
//! let walk = request.run(&context)?;
//! walk.verdict()?; // an error if a coordinate could not be given the acceleration that it should have
//! for c in &walk.report.coordinates {
//!     println!("{}: {:.3} {} RMS", c.name, c.rms, c.unit);
//! }
//! # Ok::<(), soleus::Error>(())
//! ```

mod computed_muscle_control;
mod inputs;
pub(crate) mod page;
pub(crate) mod report;
mod residual_reduction;
mod run;
mod weights;

pub use computed_muscle_control::{ComputedMuscleControl, Effort};
pub use report::{CoordinateError, PublishedRow, TrackingReport, WALKING_ERRORS, WALKING_REACTIONS};
pub use residual_reduction::{
    MassCenter, ReducedMotion, ResidualReduction, STRONG_ACTUATORS, WEAK_RESIDUALS,
};
pub use soleus_tools::tracking::{MassAdjustment, Shortfall};

use crate::analysis::{self, AnalysisTable};
use crate::artifact::{Artifact, Content, Outcome};
use crate::error::Error;
use crate::inputs::paths::{beside, file_part, required};
use crate::inverse_kinematics::bound;
use crate::simulation::SimulationOutput;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_io::setup::write_controls;
pub use soleus_io::setup::{AnalysisSetup, TrackedPoint, TrackingSetup, TrackingTask};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_model::Element;
use std::path::{Path, PathBuf};

/// What follows what.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracking {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// Whether the model's own forces are left out.
    pub replace_forces: bool,
    /// Files whose `ForceSet` is added to the model: residual and reserve actuators.
    pub force_sets: Vec<PathBuf>,
    /// Controllers to add, as a setup file has them.
    #[serde(skip)]
    pub controllers: Vec<Element>,
    /// Measured loads: a file with `ExternalLoads`.
    pub loads: Option<PathBuf>,
    /// Actuators at joints with ground: optimal moment (N m) and optimal force (N); the same if there is but one number.
    pub residuals: Vec<f64>,
    /// Actuators for every coordinate that has none: optimal force (N m or N).
    pub reserves: Vec<f64>,
    /// Coordinates over time (.mot, .sto; degrees if it says so).
    pub motion: Source<Table>,
    /// Cutoff of the low-pass on the coordinates, Hz; no filter without it.
    pub cutoff_hz: Option<f64>,
    /// Places of points over time (.trc, .sto), for tasks that follow points; where they are in the motion without it.
    pub points: Option<PathBuf>,
    /// Coordinates and points to follow; all coordinates that can move without them.
    pub tasks: Vec<TrackingTask>,
    /// File with a `CMC_TaskSet`, in the place of `tasks`.
    pub task_file: Option<PathBuf>,
    /// File with limits of controls: a `ControlSet`. Those of the model without it.
    pub limits: Option<PathBuf>,
    /// Actuators that are not driven, by name or group.
    pub exclude: Vec<String>,
    /// First time, s; that of the motion without it.
    pub from: Option<f64>,
    /// Last time, s; that of the motion without it.
    pub to: Option<f64>,
    /// Error allowed per step, as OpenSim's integrators mean it.
    pub accuracy: f64,
    /// Shortest step, s: it is taken however large its error, as in OpenSim.
    pub minimum_step: f64,
    /// Longest step, s.
    pub maximum_step: f64,
    /// What to tell about the motion besides kinematics and actuation.
    pub analyses: Vec<AnalysisSetup>,
    /// Whether to stop at the first coordinate that cannot be given the acceleration that it should have.
    pub stop_at_shortfall: bool,
    /// Files to write.
    pub output: SimulationOutput,
    /// File for a page (.html) with errors, residuals, reserves and excitations.
    pub page: Option<PathBuf>,
    /// Whether to reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it.
    pub opensim_faults: bool,
    /// The setup file that asks, for messages; files that analyses name are taken from its folder.
    pub asked_in: Option<PathBuf>,
}

impl Default for Tracking {
    fn default() -> Self {
        Tracking {
            model: ModelSource::default(),
            replace_forces: false,
            force_sets: Vec::new(),
            controllers: Vec::new(),
            loads: None,
            residuals: Vec::new(),
            reserves: Vec::new(),
            motion: Source::default(),
            cutoff_hz: None,
            points: None,
            tasks: Vec::new(),
            task_file: None,
            limits: None,
            exclude: Vec::new(),
            from: None,
            to: None,
            accuracy: 1e-5,
            minimum_step: 1e-8,
            maximum_step: 1.0,
            analyses: Vec::new(),
            stop_at_shortfall: false,
            output: SimulationOutput::default(),
            page: None,
            opensim_faults: false,
            asked_in: None,
        }
    }
}

impl Tracking {
    fn from_setup(path: &Path, s: &TrackingSetup) -> Result<Self, Error> {
        let tool = &s.tool;
        Ok(Tracking {
            model: required(path, "model_file", tool.model_file.as_deref())?.into(),
            replace_forces: tool.replace_force_set,
            force_sets: tool.force_set_files.iter().map(|f| beside(path, f)).collect(),
            controllers: tool.controllers.clone(),
            loads: tool.external_loads_file.as_ref().map(|f| beside(path, f)),
            motion: required(path, "desired_kinematics_file", s.motion_file.as_deref())?.into(),
            cutoff_hz: s.cutoff_hz,
            points: s.points_file.as_ref().map(|f| beside(path, f)),
            task_file: Some(required(path, "task_set_file", s.task_file.as_deref())?),
            limits: s.limits_file.as_ref().map(|f| beside(path, f)),
            from: bound(tool.initial_time),
            to: bound(tool.final_time),
            accuracy: tool.error_tolerance,
            minimum_step: tool.minimum_step,
            maximum_step: tool.maximum_step,
            analyses: s.analyses.clone(),
            output: SimulationOutput {
                folder: Some(beside(path, &tool.results_directory)),
                name: Some(tool.name.clone()),
            },
            asked_in: Some(path.to_path_buf()),
            ..Tracking::default()
        })
    }

    /// The file that asks.
    fn path(&self) -> &Path {
        self.asked_in.as_deref().unwrap_or(self.model.path())
    }
}

/// A motion that a model made while it followed another.
#[derive(Debug)]
pub struct TrackedMotion {
    /// States over time, in rad and m, with the labels of OpenSim's tables.
    pub states: Table,
    /// Controls at the times of the states.
    pub controls: Table,
    /// Controls at the ends of the windows, as they were found.
    pub control_nodes: Table,
    /// What each coordinate was off at the beginning of each window: the motion less the simulation, rad or m.
    pub errors: Table,
    /// Kinematics, actuation, and what else was asked for.
    pub tables: Vec<AnalysisTable>,
    /// How well the motion was followed, and with what help.
    pub report: TrackingReport,
    /// Generalized forces that were missing (N m or N), window by window; none where nothing was.
    pub missing: Option<Table>,
    /// EMG and activations of the muscles that have both, at the times of the states: `MUSCLE.emg`, `MUSCLE.activation`.
    pub emg: Option<Table>,
    page: Option<(PathBuf, String)>,
    /// Which controls are held over a window.
    steps: Vec<bool>,
    folder: Option<PathBuf>,
    name: String,
    verdict: Result<(), Error>,
}

impl TrackedMotion {
    /// A table by the name of its analysis and what it holds: `Kinematics`, `_q`.
    pub fn table(&self, analysis: &str, suffix: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.analysis == analysis && t.suffix == suffix).map(|t| &t.table)
    }

    /// The page, if one was asked for.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|p| p.1.as_str())
    }

    fn file(&self, ending: &str) -> Option<PathBuf> {
        let name = file_part(&format!("{}_{ending}", self.name));
        self.folder.as_ref().map(|folder| folder.join(name))
    }
}

impl Outcome for TrackedMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let page = self.page.iter().map(|(file, text)| Artifact::text(file, text.as_str()).derived());
        let mut list: Vec<Artifact> = page.collect();
        let Some(folder) = &self.folder else { return list };
        let tables = [
            ("states.sto", Some(&self.states)),
            ("controls.sto", Some(&self.controls)),
            ("pErr.sto", Some(&self.errors)),
            ("missing.sto", self.missing.as_ref()),
            ("emg.sto", self.emg.as_ref()),
        ];
        for (ending, table) in tables {
            if let (Some(file), Some(table)) = (self.file(ending), table) {
                list.push(Artifact::table(file, table, Digits::Shortest).derived());
            }
        }
        if let Some(file) = self.file("controls.xml") {
            let text = write_controls(&self.control_nodes, &|i| self.steps[i]);
            let content = Content::Bytes(text.into_bytes().into());
            list.push(Artifact { path: file, content, is_derived: true });
        }
        list.extend(analysis::artifacts(folder, &self.name, &self.tables));
        if let Some(file) = self.file("report.txt") {
            list.push(Artifact::text(file, self.report.to_string()).derived());
        }
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        self.verdict.clone()
    }
}
