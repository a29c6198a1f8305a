//! A study: an optimal control problem and how to solve it.
//!
//! The types here are the one form of it. [`read`] makes it from a study file of Soleus (TOML), [`crate::setup`] from a
//! `MocoStudy` (XML), a program by hand, serde from JSON; [`write()`] writes it as a study file.

mod file;
mod goal;
mod lines;
mod model_step;
mod output;
mod path_constraint;
mod problem;
mod solver;

pub use file::{read, reference, write};
pub use goal::{
    ContactGroup, FrameTracking, Goal, GoalKind, PeriodicPair, TableOperator, TableSource, Weight,
    WeightedSet,
};
pub use model_step::{ModelStep, ModelStepKind};
pub use output::{OutputSource, OutputUse};
pub use path_constraint::{FramePair, FunctionBounds, PathConstraint, PathConstraintKind};
pub use problem::{Parameter, PrescribedCoordinate, Problem, VariableInfo};
pub use solver::Solver;

use crate::plain::is_zero;
use serde::{Deserialize, Serialize};

/// What a study asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Study {
    /// What Moco has a word for.
    pub setup: Problem,
    /// `kinematics`: motion of all coordinates that is given.
    pub kinematics: Option<String>,
    /// `solver.tolerance`.
    #[serde(with = "crate::plain")]
    pub tolerance: Option<f64>,
    /// `solver.barrier`.
    #[serde(with = "crate::plain")]
    pub barrier: Option<f64>,
    /// `solver.threads`.
    pub threads: Option<usize>,
    /// `[refine]`.
    pub refine: Option<RefineSettings>,
    /// `[guess]`.
    pub guess: GuessSettings,
    /// `[output]`.
    pub output: OutputSettings,
    /// `[[phases]]`: each a study of its own under its own name, without phases. `setup` is then that of the first.
    pub phases: Vec<Study>,
    /// `[[links]]`.
    pub links: Vec<LinkSettings>,
}

/// `[[links]]`: what is different from plain continuity where one phase follows another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSettings {
    /// Number of the phase before.
    pub after: usize,
    /// Patterns of states that may jump.
    pub free: Vec<String>,
    /// States of the next phase that begin at a multiple of this one's.
    #[serde(with = "crate::plain")]
    pub factors: Vec<(String, f64)>,
    /// Line in the file; 0 for what is from no file.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl From<Problem> for Study {
    fn from(setup: Problem) -> Study {
        Study { setup, ..Study::default() }
    }
}

/// `[refine]`: meshes that get finer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RefineSettings {
    /// Largest error of a state over an interval, relative to its size.
    #[serde(with = "crate::plain")]
    pub tolerance: f64,
    /// Equal intervals of the first mesh; those of the solver if `None`.
    pub start: Option<usize>,
    /// Intervals of the last mesh at most.
    pub max_intervals: usize,
    /// Meshes at most.
    pub max_meshes: usize,
}

impl Default for RefineSettings {
    fn default() -> Self {
        RefineSettings { tolerance: 1e-4, start: None, max_intervals: 1000, max_meshes: 10 }
    }
}

/// `[guess]`: where to start, besides the file that the solver names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuessSettings {
    /// Coordinates over time.
    pub coordinates: Option<String>,
    /// Activations over time.
    pub activations: Option<String>,
    /// Whether a simulation gives the states.
    pub time_stepping: bool,
}

/// `[output]`: files to write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSettings {
    /// The solution.
    pub solution: Option<String>,
    /// The page.
    pub report: Option<String>,
    /// The iterate.
    pub iterate: Option<String>,
    /// Seconds between two iterates on disk.
    #[serde(with = "crate::plain")]
    pub save_every_s: Option<f64>,
}
