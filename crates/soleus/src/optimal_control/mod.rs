//! Optimal control: motion and controls of minimum cost.
//!
//! [`Solve`] solves a study (a TOML file or a `MocoStudy`), [`Inverse`] computes muscle excitations for a prescribed
//! motion (`MocoInverse`), and [`Track`] a dynamically consistent motion that tracks a measured one (`MocoTrack`). Each
//! returns a [`Solution`].
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, Solve};
//! let files = Disk::new();
//! let context = Context::new(&files).with_threads(4);
//! let solution = Solve { study: "reach.toml".into(), ..Default::default() }.run(&context)?;
//! solution.verdict()?;
//! println!("objective {:.6}", solution.objective());
//! let elbow = solution.phases[0].trajectory.states.column("/jointset/elbow/elbow_flexion/value");
//! # Ok::<(), soleus::Error>(())
//! ```

pub mod changes;
pub mod continuation;
mod diagnosis;
pub mod inverse;
pub mod joint_loads;
pub mod model;
pub mod options;
pub mod problem;
mod report;
pub mod run;
pub mod simulation_check;
pub mod solution;
pub mod start;
pub mod study;
pub mod tool;
pub mod track;
mod trajectory;
pub mod transcription;

pub use changes::ModelChanges;
pub use inverse::Inverse;
pub use options::SolveOptions;
pub use problem::Inputs;
pub use run::session::PosedStudy;
pub use soleus_io::study::reference as fields;
pub use solution::{PhaseSolution, Solution};
pub use study::{EXAMPLE, StudySource};
pub use track::Track;
pub use transcription::meshes::Neighbour;

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::source::Source;
use model::{StudyModel, posed};
use problem::prescribed;
use problem::references::Given;
use serde::{Deserialize, Serialize};
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::study::Study;
use soleus_math::Table;
use std::path::Path;

/// Solves the optimal control problem of a study.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Solve {
    /// The study.
    pub study: StudySource,
    /// Tables that goals track, for studies whose tables were in memory only.
    pub references: Vec<GoalReference>,
    /// Prescribed coordinates over time (.sto, .mot), instead of the splines in the study, which Moco writes with six
    /// digits.
    pub kinematics: Option<Source<Table>>,
    /// Initial guess in memory; for studies with one phase.
    #[serde(skip)]
    pub initial_motion: Option<Trajectory>,
    /// The solution of a similar problem as initial guess, with its multipliers: the study has the same variables and constraints, and
    /// other weights, bounds, data or numbers of the model. If it has not, the motion alone is used.
    #[serde(skip)]
    pub neighbour: Option<Neighbour>,
    /// Solver settings and output files.
    #[serde(flatten)]
    pub options: SolveOptions,
}

/// The table that a goal tracks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GoalReference {
    /// Name of the goal.
    pub goal: String,
    /// The table.
    pub table: Source<Table>,
}

impl Solve {
    /// Creates the request from a setup file in memory.
    pub fn from_setup(path: &Path, s: &soleus_io::study::Problem) -> Self {
        Solve { study: StudySource::of_setup(path, s), ..Solve::default() }
    }

    /// Solves the study.
    pub fn run(&self, cx: &Context) -> Result<Solution, Error> {
        let path = self.study.path();
        self.options.check(path)?;
        let (study, is_moco) = self.study.read(cx)?;
        if study.phases.is_empty() {
            if let Some(c) = &study.continuation {
                return self.continued(cx, path, (&study, is_moco), c);
            }
            return self.posed(cx, path, study, is_moco)?.solve(cx, &self.options);
        }
        if self.initial_motion.is_some() || self.neighbour.is_some() {
            let message = "a single motion in memory cannot be the initial guess of several phases";
            return Err(Error::content(path, 0, "", message, "give the files of a solution"));
        }
        transcription::phases::run(cx, path, &study, self)
    }

    /// The study of one phase with its model and data, for changes before it is solved.
    pub fn pose(&self, cx: &Context) -> Result<PosedStudy, Error> {
        let (study, is_moco) = self.study.read(cx)?;
        self.posed(cx, self.study.path(), study, is_moco)
    }

    fn posed(&self, cx: &Context, path: &Path, study: Study, is_moco: bool) -> Result<PosedStudy, Error> {
        let model = posed(cx, &StudyModel::of_study(path, &study.setup))?;
        let inputs = self.inputs(cx, path, &study, &model)?;
        Ok(PosedStudy { path: path.to_path_buf(), study, is_moco, model, inputs })
    }

    /// The motion and the tables that the study or the request names.
    pub(crate) fn inputs(
        &self,
        cx: &Context,
        path: &Path,
        study: &Study,
        model: &ModelProblem,
    ) -> Result<Inputs, Error> {
        let named = || study.kinematics.as_ref().map(|k| Source::File(beside(path, k)));
        let motions = match self.kinematics.clone().or_else(named) {
            Some(source) => prescribed::read(cx, &source, model)?,
            None => study.setup.prescribed.clone(),
        };
        let given = self.references.iter().map(|r| (r.goal.clone(), r.table.clone())).collect();
        let guess = self.initial_motion.clone();
        // Studies mean what they mean in Moco.
        let neighbour = self.neighbour.clone();
        Ok(Inputs { motions, root_angles: true, given: Given::new(given), guess, neighbour, emg: Vec::new() })
    }
}
