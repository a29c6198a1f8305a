//! Why an integration cannot go on.

use crate::ode::RhsError;

/// What was not finite.
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

/// Why an integration cannot go on. Components are positions in the state vector.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The step became too small to go on.
    #[error("step underflow at t = {time} s: step {step:.3e} s, error of state {component} {error:.3e}")]
    Underflow {
        /// s; the state at this time is good.
        time: f64,
        /// The step that was not tried any more, s.
        step: f64,
        /// State with the largest error in the last attempt.
        component: usize,
        /// The error norm of the last attempt; 1 would have been accepted.
        error: f64,
    },
    /// A number is NaN or infinite, however small the step.
    #[error("{quantity} {component} is not finite at t = {time} s")]
    NotFinite {
        /// s.
        time: f64,
        /// Which one.
        component: usize,
        /// Of what.
        quantity: Quantity,
    },
    /// The problem has no rates or residual, however small the step.
    #[error("at t = {time} s: {source}")]
    Rhs {
        /// s.
        time: f64,
        /// What the problem says.
        source: RhsError,
    },
    /// Newton's method did not converge at a fixed step.
    #[error(
        "Newton's method did not converge at t = {time} s: {iterations} iterations, last change {change:.3e} (tolerance {wanted:.0e}), largest in state {component}"
    )]
    Newton {
        /// s, at the start of the step.
        time: f64,
        /// Iterations made.
        iterations: usize,
        /// Weighted size of the last change.
        change: f64,
        /// What was asked for.
        wanted: f64,
        /// State that changed most.
        component: usize,
    },
    /// The matrix of an implicit step is singular.
    #[error("the matrix of the step at t = {time} s is singular in column {component}")]
    Singular {
        /// s.
        time: f64,
        /// Column without a pivot.
        component: usize,
    },
    /// More steps than allowed.
    #[error("maximum number of steps ({steps}) reached at t = {time} s")]
    StepLimit {
        /// s.
        time: f64,
        /// Steps taken.
        steps: usize,
    },
    /// The times or sizes given make no sense.
    #[error("{0}")]
    Setup(&'static str),
}

impl Stop {
    /// When it happened, s, if it has a time.
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

    /// The state to blame, as far as it can be told.
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
