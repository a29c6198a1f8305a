//! What can be wrong with the data of a function.

use thiserror::Error;

/// Why a function could not be built. Evaluation never fails; only construction does.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FunctionError {
    /// Fewer points or coefficients than the kind of function needs.
    #[error("{kind} needs at least {needed} {what}, found {found}")]
    TooFew {
        /// Kind of function, as the model file calls it.
        kind: &'static str,
        /// What there is too little of: `points`, `coefficients`.
        what: &'static str,
        /// The smallest number that works.
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
    /// The x values do not rise.
    #[error("{kind}: x must increase, but x[{index}] = {x} follows {previous}")]
    NotIncreasing {
        /// Kind of function.
        kind: &'static str,
        /// Place of the offending value, from zero.
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
        /// Place in the list, from zero.
        index: usize,
    },
    /// A count that must equal another does not.
    #[error("{kind} needs {needed} {what}, found {found}")]
    WrongCount {
        /// Kind of function.
        kind: &'static str,
        /// What was counted.
        what: &'static str,
        /// The number that fits.
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
        /// The range in words.
        expected: &'static str,
    },
    /// An expression that cannot be read.
    #[error("expression, column {}: {problem}", position + 1)]
    Expression {
        /// Byte in the text where the problem begins, from zero.
        position: usize,
        /// What is wrong there.
        problem: ExpressionProblem,
    },
}

/// What is wrong with the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpressionProblem {
    /// Nothing where a number, name or parenthesis was due.
    #[error("expected a number, a name or `(`, found {0}")]
    ExpectedOperand(String),
    /// Something else where an operator or the end was due.
    #[error("expected an operator, found {0}")]
    ExpectedOperator(String),
    /// A parenthesis without its partner.
    #[error("expected `)`, found {0}")]
    ExpectedClosing(String),
    /// Digits that do not make a number.
    #[error("`{0}` is not a number")]
    BadNumber(String),
    /// A function that does not exist.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function with too few or too many arguments.
    #[error("`{name}` takes {needed} argument(s), found {found}")]
    WrongArguments {
        /// Name of the function.
        name: String,
        /// How many it takes.
        needed: usize,
        /// How many were given.
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
    /// Nested or written longer than the evaluator's fixed memory allows.
    #[error("the expression is too {0}")]
    TooBig(&'static str),
}
