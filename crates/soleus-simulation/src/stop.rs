//! Reasons why an integration cannot continue.

use crate::ode::RhsError;

/// Quantity that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A state.
    State,
    /// The rate of a state.
    Rate,
    /// An entry of a residual.
    Residual,
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Quantity::State => "state",
            Quantity::Rate => "rate of state",
            Quantity::Residual => "residual",
        })
    }
}

/// Why an integration cannot continue. Components are indices into the state vector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The step became too small.
    #[error("step underflow at t = {time} s: step {step:.3e} s, error of state {component} {error:.3e}")]
    Underflow {
        /// Time, s; the state at this time is valid.
        time: f64,
        /// The step that was rejected as too small, s.
        step: f64,
        /// State with the largest error in the last attempt.
        component: usize,
        /// Error norm of the last attempt; up to 1 is accepted.
        error: f64,
    },
    /// A value is NaN or infinite, regardless of the step size.
    #[error("{quantity} {component} is not finite at t = {time} s")]
    NotFinite {
        /// Time, s.
        time: f64,
        /// Index of the component.
        component: usize,
        /// Quantity.
        quantity: Quantity,
    },
    /// The problem has no rates or residual, regardless of the step size.
    #[error("at t = {time} s: {source}")]
    Rhs {
        /// Time, s.
        time: f64,
        /// Error of the problem.
        source: RhsError,
    },
    /// Newton's method did not converge with a fixed step.
    #[error(
        "Newton's method did not converge at t = {time} s: {iterations} iterations, last change {change:.3e} (tolerance {wanted:.0e}), largest in state {component}"
    )]
    Newton {
        /// Time at the start of the step, s.
        time: f64,
        /// Number of iterations.
        iterations: usize,
        /// Weighted size of the last change.
        change: f64,
        /// Tolerance.
        wanted: f64,
        /// State with the largest change.
        component: usize,
    },
    /// The matrix of an implicit step is singular.
    #[error("the matrix of the step at t = {time} s is singular in column {component}")]
    Singular {
        /// Time, s.
        time: f64,
        /// Column without a pivot.
        component: usize,
    },
    /// The maximum number of steps was exceeded.
    #[error("maximum number of steps ({steps}) reached at t = {time} s")]
    StepLimit {
        /// Time, s.
        time: f64,
        /// Number of steps.
        steps: usize,
    },
    /// Invalid times or sizes.
    #[error("{0}")]
    Setup(&'static str),
}

impl Stop {
    /// Time of the stop, s, if it has one.
    pub fn time(&self) -> Option<f64> {
        match *self {
            Stop::Underflow { time, .. }
            | Stop::NotFinite { time, .. }
            | Stop::Rhs { time, .. }
            | Stop::Newton { time, .. }
            | Stop::Singular { time, .. }
            | Stop::StepLimit { time, .. } => Some(time),
            Stop::Setup(_) => None,
        }
    }

    /// The state that caused it, as far as known.
    pub fn component(&self) -> Option<usize> {
        match *self {
            Stop::Underflow { component, .. }
            | Stop::NotFinite { component, .. }
            | Stop::Newton { component, .. }
            | Stop::Singular { component, .. } => Some(component),
            // Coordinates come first in the state of a model.
            Stop::Rhs { source: RhsError::Motion(ref e), .. } => Some(e.mobility()),
            _ => None,
        }
    }
}

/// The first number that is NaN or infinite.
pub(crate) fn first_not_finite(x: &[f64]) -> Option<usize> {
    x.iter().position(|x| !x.is_finite())
}
