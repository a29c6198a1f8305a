//! Errors in formulas.

use super::Place;
use std::fmt;

/// An error in a formula, and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaError {
    /// Line and column, from 1; both 0 if the expression does not come from text.
    pub place: Place,
    /// The problem.
    pub problem: FormulaProblem,
}

impl FormulaError {
    /// A problem at a position.
    pub fn new(place: Place, problem: FormulaProblem) -> FormulaError {
        FormulaError { place, problem }
    }

    /// Remedy; empty if there is none.
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

/// Problems in formulas.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// A syntax error.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Expected token.
        expected: &'static str,
        /// Token found.
        found: String,
    },
    /// An invalid number.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// An unknown name.
    #[error("`{name}` is unknown")]
    UnknownName {
        /// The name, with its brackets.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// Suggestion, if there is no similar name.
        hint: String,
    },
    /// An ambiguous name.
    #[error("`{name}` may be {}", .candidates.join(" or "))]
    Ambiguous {
        /// The name, with its brackets.
        name: String,
        /// Candidates.
        candidates: Vec<String>,
    },
    /// An unknown function.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {needed}, found {found}")]
    WrongArguments {
        /// Name of the function.
        name: String,
        /// Required number of arguments, as text.
        needed: &'static str,
        /// Number given.
        found: usize,
    },
    /// A type error, such as a vector instead of a number.
    #[error("{whose} needs {needed}, found {found}")]
    WrongType {
        /// The function or operator.
        whose: String,
        /// Required type.
        needed: &'static str,
        /// Given type.
        found: &'static str,
    },
    /// A pattern outside a group.
    #[error("the pattern `{0}` matches several quantities; use it inside sum(…), mean(…), min(…) or max(…)")]
    PatternAlone(String),
    /// A pattern without a match.
    #[error("nothing matches the pattern `{name}`")]
    EmptyGroup {
        /// The pattern, with its name.
        name: String,
        /// Some of the known names.
        known: Vec<String>,
    },
    /// `sum` or a similar function without a pattern.
    #[error("`{0}` with one argument needs a pattern such as `activation[*]`")]
    NoGroup(&'static str),
    /// Patterns in one group that cannot be matched together.
    #[error("the patterns `{0}` and `{1}` cannot be used in the same sum")]
    UnlikePatterns(String, String),
    /// `integral` or a similar function where there is only one time.
    #[error("`{0}(…)` is allowed in goals only, not in formulas evaluated at one point in time")]
    NotAtAPoint(&'static str),
    /// Nested `integral` or similar functions.
    #[error("`{0}(…)` cannot be used inside `{1}(…)`")]
    NestedTimes(&'static str, &'static str),
    /// A time-dependent quantity where only ends and integrals are allowed.
    #[error("`{0}` changes over time; use it inside initial(…), final(…), integral(…) or average(…)")]
    ChangesOverTime(String),
    /// A table that cannot be interpolated.
    #[error("{0}")]
    BadTable(String),
    /// An expression that is too long or too deeply nested.
    #[error("the formula is too {0}")]
    TooBig(&'static str),
}
