//! Errors in the data of a function.

use thiserror::Error;

/// Why a function cannot be constructed. Evaluation never fails.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// Fewer points or coefficients than the kind of function needs.
    #[error("{kind} needs at least {needed} {what}, found {found}")]
    TooFew {
        /// Kind of function, as in model files.
        kind: &'static str,
        /// Name of the data: `points`, `coefficients`.
        what: &'static str,
        /// Minimum number.
        needed: usize,
        /// The number given.
        found: usize,
    },
    /// The lists of x and y differ in length.
    #[error("{kind} has {x} x values but {y} y values")]
    LengthMismatch {
        /// Kind of function.
        kind: &'static str,
        /// Number of x values.
        x: usize,
        /// Number of y values.
        y: usize,
    },
    /// The x values do not increase.
    #[error("{kind}: x must increase, but x[{index}] = {x} follows {previous}")]
    NotIncreasing {
        /// Kind of function.
        kind: &'static str,
        /// Index of the offending value, from zero.
        index: usize,
        /// The offending value.
        x: f64,
        /// The value before it.
        previous: f64,
    },
    /// A number that is infinite or not a number.
    #[error("{kind}: {what}[{index}] is not finite")]
    NotFinite {
        /// Kind of function.
        kind: &'static str,
        /// Which list: `x`, `y`, `coefficients`, …
        what: &'static str,
        /// Index in the list, from zero.
        index: usize,
    },
    /// A wrong number of values.
    #[error("{kind} needs {needed} {what}, found {found}")]
    WrongCount {
        /// Kind of function.
        kind: &'static str,
        /// Name of the values.
        what: &'static str,
        /// Required number.
        needed: usize,
        /// The number given.
        found: usize,
    },
    /// A parameter outside the range where the function is defined.
    #[error("{kind}: {what} is {found}, but must be {expected}")]
    OutOfRange {
        /// Kind of function.
        kind: &'static str,
        /// The parameter.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The valid range, as text.
        expected: &'static str,
    },
    /// An invalid expression.
    #[error("expression, column {}: {problem}", position + 1)]
    Expression {
        /// Position in the text, in bytes from zero.
        position: usize,
        /// The problem.
        problem: ExpressionProblem,
    },
}

/// Problems in the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpressionProblem {
    /// A missing number, name or parenthesis.
    #[error("expected a number, a name or `(`, found {0}")]
    ExpectedOperand(String),
    /// A missing operator or end.
    #[error("expected an operator, found {0}")]
    ExpectedOperator(String),
    /// An unmatched parenthesis.
    #[error("expected `)`, found {0}")]
    ExpectedClosing(String),
    /// An invalid number.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// An unknown function.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {needed} argument(s), found {found}")]
    WrongArguments {
        /// Name of the function.
        name: String,
        /// Required number of arguments.
        needed: usize,
        /// Number given.
        found: usize,
    },
    /// A name that is neither a variable nor defined after a `;`.
    #[error("`{0}` is neither a variable of this expression nor defined after a `;`")]
    UnknownName(String),
    /// A definition after `;` without `name = `.
    #[error("expected a definition `name = …` after `;`")]
    BadDefinition,
    /// Two variables of the same name.
    #[error("variable `{0}` is listed twice")]
    DuplicateVariable(String),
    /// An expression that is too long or too deeply nested for the fixed memory of the evaluator.
    #[error("the expression is too {0}")]
    TooBig(&'static str),
}
