//! Iterates of a solve as JSON: a solve that was stopped goes on from its last one.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The first line of what such a file says; another form gets another number.
pub const FORMAT: &str = "soleus iterate 2";

/// Scheme and mesh of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseMesh {
    /// Name of the scheme.
    pub scheme: String,
    /// Points of the mesh, from 0 to 1.
    pub mesh: Vec<f64>,
}

/// Where a solve was, and on which mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Iterate {
    /// What the variables belong to.
    pub phases: Vec<PhaseMesh>,
    /// Iterations done.
    pub iteration: usize,
    /// Objective.
    #[serde(with = "crate::plain")]
    pub objective: f64,
    /// Largest violation of a constraint.
    #[serde(with = "crate::plain")]
    pub constraint_violation: f64,
    /// Barrier parameter.
    pub barrier: Option<f64>,
    /// Variables.
    pub x: Vec<f64>,
    /// Multipliers of constraints.
    pub multipliers: Vec<f64>,
    /// Multipliers of lower bounds.
    pub lower_multipliers: Vec<f64>,
    /// Multipliers of upper bounds.
    pub upper_multipliers: Vec<f64>,
}

/// Why a file is no iterate, or not of this problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IterateError {
    /// No JSON, or something is missing.
    #[error("no iterate: {why}")]
    NotAnIterate {
        /// What the reader says.
        why: String,
    },
    /// Of an older or newer program.
    #[error("the format is `{found}`, not `{FORMAT}`")]
    OtherFormat {
        /// What the file calls itself.
        found: String,
    },
    /// Of another problem.
    #[error(
        "the iterate has {variables} variables and {constraints} constraints, the study now {needed_variables} and {needed_constraints}"
    )]
    WrongSize {
        /// Of the iterate.
        variables: usize,
        /// Of the iterate.
        constraints: usize,
        /// Of the problem.
        needed_variables: usize,
        /// Of the problem.
        needed_constraints: usize,
    },
}

#[derive(Serialize)]
struct File<'i> {
    format: &'static str,
    #[serde(flatten)]
    iterate: &'i Iterate,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

/// Reads an iterate.
pub fn read(text: &str) -> Result<Iterate, IterateError> {
    let wrong = |e: serde_json::Error| IterateError::NotAnIterate { why: e.to_string() };
    // The format first: what else there is depends on it.
    let known: Format = serde_json::from_str(text).map_err(wrong)?;
    if known.format != FORMAT {
        return Err(IterateError::OtherFormat { found: known.format });
    }
    serde_json::from_str(text).map_err(wrong)
}

/// An iterate as a file that [`read`] reads back to the last digit.
pub fn write(iterate: &Iterate) -> String {
    // Numbers and texts are always JSON.
    serde_json::to_string(&File { format: FORMAT, iterate }).unwrap_or_default()
}

impl Iterate {
    /// Whether it fits a program of so many variables and constraints.
    pub fn check_size(&self, variables: usize, constraints: usize) -> Result<(), IterateError> {
        match (self.x.len(), self.multipliers.len()) == (variables, constraints) {
            true => Ok(()),
            false => Err(IterateError::WrongSize {
                variables: self.x.len(),
                constraints: self.multipliers.len(),
                needed_variables: variables,
                needed_constraints: constraints,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_iterates_are_kept() {
        let iterate = Iterate {
            phases: vec![PhaseMesh { scheme: "trapezoidal".into(), mesh: vec![0.0, 1.0 / 3.0, 1.0] }],
            iteration: 7,
            objective: f64::NAN,
            constraint_violation: f64::INFINITY,
            barrier: Some(1e-300),
            x: vec![0.1, -0.0, 5e-324],
            multipliers: vec![1e22],
            lower_multipliers: vec![],
            upper_multipliers: vec![2.0],
        };
        let text = write(&iterate);
        assert!(text.starts_with("{\"format\":\"soleus iterate 2\",\"phases\":[{\"scheme\":"), "{text}");
        let again = read(&text).unwrap_or_else(|e| panic!("{e}"));
        assert!(again.objective.is_nan());
        assert_eq!(
            Iterate { objective: 0.0, ..again.clone() },
            Iterate { objective: 0.0, ..iterate.clone() }
        );
        assert!(again.x[1].is_sign_negative());
        assert_eq!(iterate.check_size(3, 1), Ok(()));
        let message = iterate.check_size(4, 1).map_or_else(|e| e.to_string(), |()| String::new());
        assert!(message.contains("3 variables and 1 constraints, the study now 4 and 1"), "{message}");
    }

    #[test]
    fn identity_other_files_are_refused() {
        for (text, words) in [
            ("time\tx\n", "no iterate: "),
            ("{}", "missing field `format`"),
            (
                "{\"format\": \"soleus iterate 1\"}",
                "the format is `soleus iterate 1`, not `soleus iterate 2`",
            ),
            ("{\"format\": \"soleus iterate 2\"}", "missing field"),
        ] {
            let message = read(text).map_or_else(|e| e.to_string(), |_| String::new());
            assert!(message.contains(words), "{message}");
        }
    }
}
