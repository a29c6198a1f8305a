//! Solution of a solve.

use super::run::session::Place;
use super::run::starts::Start;
use super::simulation_check::Distance;
use super::transcription::meshes::Neighbour;
use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Settings, Trajectory};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_math::table::{Element, TableError};
use soleus_optimization::nlp::{self, Certificate, Status};
use std::path::PathBuf;

/// Result of a solve. [`Outcome::verdict`] says whether it succeeded; there is a motion in any case.
pub struct Solution {
    /// The motion of each phase; one for a study without phases.
    pub phases: Vec<PhaseSolution>,
    /// Scheme and mesh of each phase.
    pub(crate) meshes: Vec<Settings>,
    /// Result of the solver: status, variables, multipliers, statistics.
    pub solver: nlp::Solution,
    /// Wall-clock time, s; 0 without a clock.
    pub seconds: f64,
    /// Difference between a forward simulation and the solution, if requested.
    pub distance: Option<Distance>,
    /// Why it was not solved, where, and what to try.
    pub diagnosis: Option<String>,
    /// Result of each start, if there were several.
    pub starts: Vec<Start>,
    /// Results at the other values of a continuation.
    pub continued: Option<Continued>,
    /// File of the iterate from which a stopped solve can go on; taken away once a solution is written.
    pub(crate) iterate: Option<PathBuf>,
}

impl std::fmt::Debug for Solution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Solution")
            .field("objective", &self.objective())
            .field("status", &self.solver.status)
            .field("seconds", &self.seconds)
            .finish_non_exhaustive()
    }
}

/// Result at one value.
#[derive(Clone, Debug)]
pub struct ContinuedValue {
    /// The value.
    pub value: f64,
    /// Total cost.
    pub objective: f64,
    /// Iterations of the last program.
    pub iterations: usize,
    /// Cost of each goal.
    pub goals: Vec<(String, f64)>,
}

/// Results of a continuation.
#[derive(Clone, Debug)]
pub struct Continued {
    /// What is varied.
    pub of: String,
    /// Values that were solved.
    pub values: Vec<ContinuedValue>,
    pub(crate) table: PathBuf,
    /// Files of the motions, and what is in them.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// The motion of one phase.
pub struct PhaseSolution {
    /// Name of the study or the phase.
    pub name: String,
    /// The model with all changes.
    pub model: ModelProblem,
    /// States, controls, multipliers and parameters.
    pub trajectory: Trajectory,
    /// Cost of each goal, weights included.
    pub goals: Vec<(String, f64)>,
    /// File of the motion.
    pub(crate) place: Place,
    /// The file of the motion, in the layout of a MocoTrajectory.
    pub(crate) text: String,
    /// The page, if requested.
    pub(crate) page: Option<(Place, String)>,
    /// Values of formulas along the motion, and their file.
    pub(crate) derived: Option<(Place, Table)>,
}

impl Solution {
    /// Total cost.
    pub fn objective(&self) -> f64 {
        self.solver.objective
    }

    /// Residuals of the equations and of the optimality conditions.
    pub fn certificate(&self) -> &Certificate {
        &self.solver.certificate
    }

    /// Whether it is solved.
    pub fn is_solved(&self) -> bool {
        self.solver.status.is_solved()
    }

    /// The initial guess for a similar problem, with multipliers ([`Solve::neighbour`](super::Solve::neighbour)); for studies with one
    /// phase.
    pub fn neighbour(&self) -> Option<Neighbour> {
        let motion = self.phases.first().filter(|_| self.phases.len() == 1)?.trajectory.clone();
        Some(Neighbour { motion, phases: self.meshes.clone(), warm: self.solver.warm_start() })
    }

    /// The first phase, which is the only one in a study without phases.
    pub fn into_phase(self) -> Option<PhaseSolution> {
        self.phases.into_iter().next()
    }
}

impl PhaseSolution {
    /// Optimized values of the parameters by name.
    pub fn parameters(&self) -> &[(String, f64)] {
        &self.trajectory.parameters
    }

    /// States and controls over time, angles in radians.
    pub fn table(&self) -> Result<Table, TableError> {
        let (mut labels, mut columns) = (Vec::new(), Vec::new());
        for part in [&self.trajectory.states, &self.trajectory.controls] {
            for (i, name) in part.names.iter().enumerate() {
                labels.push(name.clone());
                columns.push(part.rows.iter().map(|r| r[i]).collect());
            }
        }
        let mut table = Table::new(Element::Scalar, labels, self.trajectory.times.clone(), columns)?;
        table.name.clone_from(&self.name);
        table.in_degrees = Some(false);
        Ok(table)
    }

    /// The motion in the layout of a MocoTrajectory.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Values of the formulas under `derived` of the study along the motion.
    pub fn derived(&self) -> Option<&Table> {
        self.derived.as_ref().map(|d| &d.1)
    }

    /// The page, if requested.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|p| p.1.as_str())
    }
}

impl Outcome for Solution {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let mut list = Vec::new();
        for p in &self.phases {
            let files = [Some((&p.place, &p.text)), p.page.as_ref().map(|(place, html)| (place, html))];
            for (place, text) in files.into_iter().flatten() {
                let artifact = Artifact::bytes(&place.path, text.as_bytes());
                list.push(Artifact { is_derived: place.is_derived, ..artifact });
            }
            if let Some((place, table)) = &p.derived {
                list.push(Artifact {
                    is_derived: place.is_derived,
                    ..Artifact::table(&place.path, table, Digits::Shortest)
                });
            }
        }
        if let Some(c) = &self.continued {
            list.push(Artifact::bytes(&c.table, c.csv().into_bytes()).derived());
            list.extend(c.files.iter().map(|(file, text)| Artifact::bytes(file, text.as_bytes()).derived()));
        }
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        match &self.diagnosis {
            None => Ok(()),
            Some(text) if self.solver.status == Status::Stopped => {
                Err(Error::Cancelled { saved: text.clone() })
            }
            Some(text) => Err(Error::NotSolved { message: text.clone() }),
        }
    }

    /// Writes all files. Only then the iterate of a solve that succeeded is taken away.
    fn write(&self, cx: &Context) -> Result<(), Error> {
        let artifacts = self.artifacts();
        for a in &artifacts {
            a.write(cx)?;
        }
        crate::artifact::tell_derived(cx, &artifacts);
        if let Some(file) = self.iterate.as_ref().filter(|_| self.is_solved()) {
            // One that is not there, or cannot be removed, does no harm.
            let _ = cx.files.remove(file);
        }
        Ok(())
    }
}
