//! Errors in muscles.

use soleus_math::bezier::BezierError;
use thiserror::Error;

/// An invalid muscle, or an equilibrium that was not found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MuscleError {
    /// A parameter is out of range.
    #[error("`{parameter}` must be {expected}, found {found}")]
    Parameter {
        /// XML name of the property.
        parameter: &'static str,
        /// Allowed values.
        expected: &'static str,
        /// Its value.
        found: f64,
    },
    /// A flag that this class does not support (nor does OpenSim's).
    #[error("{class} does not implement `{flag}`")]
    Unsupported {
        /// Class of the muscle.
        class: &'static str,
        /// XML name of the flag.
        flag: &'static str,
    },
    /// Only some of the optional properties of a curve are given.
    #[error("give either all of the optional properties of `{curve}` or none")]
    PartlyGiven {
        /// The curve.
        curve: &'static str,
    },
    /// A curve cannot be constructed from its parameters.
    #[error("`{curve}`: {source}")]
    Curve {
        /// The curve.
        curve: &'static str,
        /// Cause.
        source: BezierError,
    },
    /// A function for a curve cannot be constructed.
    #[error("curve: {why}")]
    Function {
        /// Cause.
        why: String,
    },
    /// A force balance was not reached.
    #[error(
        "no equilibrium at muscle length {length} m, activation {activation}: residual {residual} N after {iterations} iterations (tolerance {tolerance} N)"
    )]
    NoEquilibrium {
        /// Muscle–tendon length, m.
        length: f64,
        /// Activation.
        activation: f64,
        /// Unbalanced force, N.
        residual: f64,
        /// Tolerance, N.
        tolerance: f64,
        /// Number of iterations.
        iterations: usize,
    },
}

/// `Ok` if `ok`, else the parameter is at fault. NaN never is `ok` when the test is a comparison.
pub(crate) fn require(
    parameter: &'static str,
    found: f64,
    ok: bool,
    expected: &'static str,
) -> Result<(), MuscleError> {
    if ok && found.is_finite() { Ok(()) } else { Err(MuscleError::Parameter { parameter, expected, found }) }
}
