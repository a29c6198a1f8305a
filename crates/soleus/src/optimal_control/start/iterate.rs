//! Iterates on disk: a solve that was stopped goes on from its last one.

use super::fingerprint::Fingerprint;
use crate::context::Context;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use soleus_control::Collocation;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::WarmStart;
use std::path::Path;

/// What to do about an iterate of another problem.
const CHANGED: &str = "the study has changed since; start from the solution file with --guess";

const FORMAT: &str = "soleus iterate 3";

/// Scheme and mesh of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseMesh {
    /// Name of the scheme.
    pub scheme: String,
    /// Ends of the intervals, from 0 to 1.
    pub mesh: Vec<f64>,
}

/// Where a solve was, and on which mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iterate {
    format: String,
    /// What the variables belong to.
    pub phases: Vec<PhaseMesh>,
    problem: Fingerprint,
    /// Iterations so far.
    pub iteration: usize,
    /// Objective there.
    pub objective: f64,
    /// Largest violation of a constraint there.
    pub constraint_violation: f64,
    barrier: Option<f64>,
    x: Vec<f64>,
    multipliers: Vec<f64>,
    lower_multipliers: Vec<f64>,
    upper_multipliers: Vec<f64>,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

impl Iterate {
    /// The iterate `w` of a problem; `reached` is its iteration, objective and constraint violation.
    pub fn new(
        phases: Vec<PhaseMesh>,
        problem: Fingerprint,
        w: WarmStart,
        reached: (usize, f64, f64),
    ) -> Iterate {
        let (iteration, objective, constraint_violation) = reached;
        Iterate {
            format: FORMAT.into(),
            phases,
            problem,
            iteration,
            objective,
            constraint_violation,
            barrier: w.barrier,
            x: w.x,
            multipliers: w.multipliers,
            lower_multipliers: w.lower_multipliers,
            upper_multipliers: w.upper_multipliers,
        }
    }

    /// Reads a file.
    pub fn read(cx: &Context, path: &Path) -> Result<Iterate, Error> {
        let text = cx.read_text(path)?;
        let wrong = |message: String| {
            let hint = "--resume needs the file that a stopped solve left; --guess takes a solution (.sto)";
            Error::content(path, 0, "", message, hint)
        };
        // The format first: what else there is depends on it.
        let known: Format = serde_json::from_str(&text).map_err(|e| wrong(format!("no iterate: {e}")))?;
        if known.format != FORMAT {
            return Err(wrong(format!("the format is `{}`, not `{FORMAT}`", known.format)));
        }
        serde_json::from_str(&text).map_err(|e| wrong(format!("no iterate: {e}")))
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, cx: &Context, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string(self)
            .map_err(|e| Error::content(path, 0, "", format!("the iterate cannot be written: {e}"), ""))?;
        cx.files.write(path, text.as_bytes()).map_err(|e| Error::write(cx.files, path, e))
    }

    /// Refuses an iterate of a study with another number of phases.
    pub fn refuse_phases(&self, path: &Path, phases: usize) -> Result<(), Error> {
        let found = self.phases.len();
        if found == phases {
            return Ok(());
        }
        let message = format!("the iterate has {found} phase(s), the study {phases}");
        Err(Error::content(path, 0, "", message, CHANGED))
    }

    /// The start it stands for, if it belongs to this program.
    pub fn warm_start(&self, path: &Path, program: &mut Collocation) -> Result<WarmStart, Error> {
        let (n, m) = (self.x.len(), self.multipliers.len());
        let (variables, constraints) = (program.num_variables(), program.num_constraints());
        if (n, m) != (variables, constraints) {
            let message = format!(
                "the iterate has {n} variables and {m} constraints, the study now {variables} and {constraints}"
            );
            return Err(Error::content(path, 0, "", message, CHANGED));
        }
        if let Some(what) = self.problem.difference(&Fingerprint::new(program)) {
            let message = format!("the iterate belongs to another problem than the study: {what}");
            return Err(Error::content(path, 0, "", message, CHANGED));
        }
        Ok(WarmStart {
            x: self.x.clone(),
            multipliers: self.multipliers.clone(),
            lower_multipliers: self.lower_multipliers.clone(),
            upper_multipliers: self.upper_multipliers.clone(),
            barrier: self.barrier,
        })
    }
}
