//! Iterates on disk: a solve that was stopped goes on from its last one.

use crate::failure::Failure;
use crate::load;
use serde::{Deserialize, Serialize};
use soleus_optimization::nlp::WarmStart;
use std::path::Path;

const FORMAT: &str = "soleus iterate 2";

/// Scheme and mesh of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseMesh {
    pub scheme: String,
    pub mesh: Vec<f64>,
}

/// Where a solve was, and on which mesh.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iterate {
    format: String,
    /// What the variables belong to.
    pub phases: Vec<PhaseMesh>,
    pub iteration: usize,
    pub objective: f64,
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
    pub fn new(phases: Vec<PhaseMesh>, w: WarmStart, told: (usize, f64, f64)) -> Iterate {
        let (iteration, objective, constraint_violation) = told;
        Iterate {
            format: FORMAT.into(),
            phases,
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

    pub fn read(path: &Path) -> Result<Iterate, Failure> {
        let text = std::fs::read_to_string(path).map_err(|e| Failure::read(path, e))?;
        let wrong = |message: String| {
            let hint = "--resume needs the file that a stopped solve left; --guess takes a solution (.sto)";
            Failure::content(path, 0, "", message, hint)
        };
        // The format first: what else there is depends on it.
        let known: Format = serde_json::from_str(&text).map_err(|e| wrong(format!("no iterate: {e}")))?;
        if known.format != FORMAT {
            return Err(wrong(format!("the format is `{}`, not `{FORMAT}`", known.format)));
        }
        serde_json::from_str(&text).map_err(|e| wrong(format!("no iterate: {e}")))
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string(self)
            .map_err(|e| Failure::content(path, 0, "", format!("the iterate cannot be written: {e}"), ""))?;
        load::write_whole(path, &text)
    }

    /// The start it stands for, if it fits a program of so many variables and constraints.
    pub fn warm_start(
        &self,
        path: &Path,
        variables: usize,
        constraints: usize,
    ) -> Result<WarmStart, Failure> {
        let (n, m) = (self.x.len(), self.multipliers.len());
        if (n, m) != (variables, constraints) {
            let message = format!(
                "the iterate has {n} variables and {m} constraints, the study now {variables} and {constraints}"
            );
            let hint = "the study has changed since; start from the solution file with --guess";
            return Err(Failure::content(path, 0, "", message, hint));
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
