//! What can be wrong with a formula.

use super::Place;
use std::fmt;

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaError {
    /// Line and column, from 1; both 0 if the expression was not read from text.
    pub place: Place,
    /// What is wrong.
    pub problem: FormulaProblem,
}

impl FormulaError {
    /// A problem at a place.
    pub fn new(place: Place, problem: FormulaProblem) -> FormulaError {
        FormulaError { place, problem }
    }

    /// What to do about it; empty if there is nothing to say.
    pub fn hint(&self) -> String {
        match &self.problem {
            FormulaProblem::UnknownName { nearest: Some(n), .. }
            | FormulaProblem::UnknownFunction { nearest: Some(n), .. } => {
                format!("the nearest name is `{n}`")
            }
            FormulaProblem::UnknownName { hint, .. } => hint.clone(),
            _ => String::new(),
        }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.line > 0 {
            let Place { line, column } = self.place;
            write!(f, "line {line}, column {column} of the formula: ")?;
        }
        write!(f, "{}", self.problem)
    }
}

impl std::error::Error for FormulaError {}

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// Something else than what the grammar has here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What was due.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Digits that do not make a number.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// A name that means nothing.
    #[error("`{name}` is unknown")]
    UnknownName {
        /// The name, with its brackets.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// What to write instead, where no name is near.
        hint: String,
    },
    /// A name that means several things.
    #[error("`{name}` may be {}", .candidates.join(" or "))]
    Ambiguous {
        /// The name, with its brackets.
        name: String,
        /// What it may be.
        candidates: Vec<String>,
    },
    /// A function that does not exist.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {needed}, found {found}")]
    WrongArguments {
        /// Name of the function.
        name: String,
        /// How many it takes, in words.
        needed: &'static str,
        /// How many were given.
        found: usize,
    },
    /// A vector where a number is due, and so on.
    #[error("{whose} needs {needed}, found {found}")]
    WrongType {
        /// Whose operand it is.
        whose: String,
        /// What it needs.
        needed: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// A pattern outside of a group.
    #[error("the pattern `{0}` matches several quantities; use it inside sum(…), mean(…), min(…) or max(…)")]
    PatternAlone(String),
    /// A pattern that fits nothing.
    #[error("nothing matches the pattern `{name}`")]
    EmptyGroup {
        /// The pattern, with its name.
        name: String,
        /// A few of the names that there are.
        known: Vec<String>,
    },
    /// `sum` and the like of something without a pattern.
    #[error("`{0}` with one argument needs a pattern such as `activation[*]`")]
    NoGroup(&'static str),
    /// Patterns in one group that cannot be followed together.
    #[error("the patterns `{0}` and `{1}` cannot be used in the same sum")]
    UnlikePatterns(String, String),
    /// `integral` and the like where there is only one point of time.
    #[error("`{0}(…)` is allowed in goals only, not in formulas evaluated at one point in time")]
    NotAtAPoint(&'static str),
    /// `integral` and the like inside one another.
    #[error("`{0}(…)` cannot be used inside `{1}(…)`")]
    NestedTimes(&'static str, &'static str),
    /// Something that changes over time where only ends and integrals count.
    #[error("`{0}` changes over time; use it inside initial(…), final(…), integral(…) or average(…)")]
    ChangesOverTime(String),
    /// A table that cannot be interpolated.
    #[error("{0}")]
    BadTable(String),
    /// Nested or written longer than makes sense.
    #[error("the formula is too {0}")]
    TooBig(&'static str),
}
