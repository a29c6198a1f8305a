//! What can be wrong with a muscle.

use soleus_math::bezier::BezierError;
use thiserror::Error;

/// A muscle that cannot be computed with, or an equilibrium that was not found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MuscleError {
    /// A parameter is outside its domain.
    #[error("`{parameter}` must be {expected}, found {found}")]
    Parameter {
        /// XML name of the property.
        parameter: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: f64,
    },
    /// A flag that this class does not implement (nor does OpenSim's).
    #[error("{class} does not implement `{flag}`")]
    Unsupported {
        /// Class of the muscle.
        class: &'static str,
        /// XML name of the flag.
        flag: &'static str,
    },
    /// Some, but not all, of the optional properties of a curve are given.
    #[error("give either all of the optional properties of `{curve}` or none")]
    PartlyGiven {
        /// The curve.
        curve: &'static str,
    },
    /// A curve cannot be drawn with its parameters.
    #[error("`{curve}`: {source}")]
    Curve {
        /// The curve.
        curve: &'static str,
        /// Why not.
        source: BezierError,
    },
    /// A function that serves as a curve cannot be built.
    #[error("curve: {why}")]
    Function {
        /// Why not.
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
        /// Force that is out of balance, N.
        residual: f64,
        /// Force accepted as zero, N.
        tolerance: f64,
        /// Work done.
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
