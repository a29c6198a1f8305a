//! Simulations that track a measured motion: residual reduction and computed muscle control.
//!
//! [`ResidualReduction`] finds a motion near the measured one with smaller residuals, and adjusts a mass centre;
//! [`ComputedMuscleControl`] finds muscle excitations that drive a simulation along a motion. Both use the settings of
//! [`Tracking`] plus their own, and return a [`TrackedMotion`].
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

/// Model, motion and settings of tracking.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracking {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// Whether the model's own forces are removed; default: in residual reduction they are, and without `force_sets` replaced by weak residuals
    /// (4 N m and 8 N) and reserves of 1000 N m or N where `residuals` and `reserves` give none; in computed muscle control they are kept.
    pub replace_forces: Option<bool>,
    /// Files whose `ForceSet` is added to the model, such as residual and reserve actuators.
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
    /// Coordinates over time (.mot, .sto; in degrees if the header says so).
    pub motion: Source<Table>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Positions of points over time (.trc, .sto), for tasks that track points; default: computed from the motion.
    pub points: Option<PathBuf>,
    /// Coordinates and points to track; default: all free coordinates.
    pub tasks: Vec<TrackingTask>,
    /// File with a `CMC_TaskSet`, instead of `tasks`.
    pub task_file: Option<PathBuf>,
    /// File with control limits, a `ControlSet`; default: limits of the model.
    pub limits: Option<PathBuf>,
    /// Actuators that are not controlled, by name or group.
    pub exclude: Vec<String>,
    /// Start time, s; default: start of the motion.
    pub from: Option<f64>,
    /// End time, s; default: end of the motion.
    pub to: Option<f64>,
    /// Accuracy of the integrator (error per step), as defined in OpenSim.
    pub accuracy: f64,
    /// Minimum step, s; accepted regardless of its error, as in OpenSim.
    pub minimum_step: f64,
    /// Maximum step, s.
    pub maximum_step: f64,
    /// Analyses in addition to kinematics and actuation.
    pub analyses: Vec<AnalysisSetup>,
    /// Whether to stop when the actuators cannot produce the desired acceleration of a coordinate.
    pub stop_at_shortfall: bool,
    /// Files to write.
    pub output: SimulationOutput,
    /// Output page (.html) with errors, residuals, reserves and excitations.
    pub page: Option<PathBuf>,
    /// Whether to reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Setup file that the request was read from, for messages; file names in analyses are relative to its folder.
    pub asked_in: Option<PathBuf>,
}

impl Default for Tracking {
    fn default() -> Self {
        Tracking {
            model: ModelSource::default(),
            replace_forces: None,
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
            replace_forces: Some(tool.replace_force_set),
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

    /// Whether the model's own forces are removed. Residual reduction has decided before (`ResidualReduction::decided`).
    fn replaces_forces(&self) -> bool {
        self.replace_forces.unwrap_or(false)
    }

    /// The file that asks.
    fn path(&self) -> &Path {
        self.asked_in.as_deref().unwrap_or(self.model.path())
    }
}

/// A simulated motion that tracks another.
#[derive(Debug)]
pub struct TrackedMotion {
    /// States over time, in rad and m, with the labels of OpenSim's tables.
    pub states: Table,
    /// Controls at the times of the states.
    pub controls: Table,
    /// Controls at the ends of the windows, as computed.
    pub control_nodes: Table,
    /// Tracking error of each coordinate at the start of each window: motion minus simulation, rad or m.
    pub errors: Table,
    /// Tables of kinematics, actuation and the requested analyses.
    pub tables: Vec<AnalysisTable>,
    /// Tracking errors, residuals and reserves.
    pub report: TrackingReport,
    /// Missing generalized forces (N m or N) in each window, and in columns `COORDINATE.wanted` the required ones; `None`
    /// if nothing was missing.
    pub missing: Option<Table>,
    /// EMG and activations of muscles with both, at the times of the states: `MUSCLE.emg`, `MUSCLE.activation`.
    pub emg: Option<Table>,
    page: Option<(PathBuf, String)>,
    /// Which controls are held over a window.
    steps: Vec<bool>,
    folder: Option<PathBuf>,
    name: String,
    verdict: Result<(), Error>,
}

impl TrackedMotion {
    /// A table by analysis name and suffix: `Kinematics`, `_q`.
    pub fn table(&self, analysis: &str, suffix: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.analysis == analysis && t.suffix == suffix).map(|t| &t.table)
    }

    /// The page, if requested.
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
