//! Interfaces of problems for integrators.

use crate::linear::Pattern;
use soleus_dynamics::system::MotionError;

/// Why a problem has no rates or residual at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RhsError {
    /// Accelerations of a model could not be computed.
    #[error(transparent)]
    Motion(#[from] MotionError),
    /// The state could not be projected onto its constraints.
    #[error("constraint equation {equation} is violated by {error:.3e} (tolerance {wanted:.0e})")]
    NotProjected {
        /// Equation with the largest error.
        equation: usize,
        /// Remaining norm of the errors.
        error: f64,
        /// Tolerance.
        wanted: f64,
    },
    /// The problem is not defined at this state.
    #[error("{0}")]
    Undefined(&'static str),
}

/// Result of a projection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projected {
    /// Whether the state was changed.
    pub changed: bool,
}

/// An ordinary differential equation ẋ = f(t, x), optionally with invariants of x.
pub trait ExplicitOde {
    /// Number of states.
    fn dim(&self) -> usize;

    /// Computes ẋ at (t, x). Every entry of `xdot` is written.
    fn rhs(&mut self, t: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError>;

    /// Projects `x` onto the invariants of the problem if its error exceeds `tolerance`, and removes the component
    /// normal to them from the error estimate. Called after each step that may be accepted.
    fn project(
        &mut self,
        t: f64,
        x: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        let _ = (t, x, error, tolerance);
        Ok(Projected::default())
    }
}

/// A mechanical problem: x starts with coordinates q, whose rates are q̇ = N(q) u.
pub trait MechanicalOde: ExplicitOde {
    /// Number of coordinates, and of speeds; x = [q, u, z].
    fn num_coordinates(&self) -> usize;

    /// q̇ = N(q) u for the q and u of `x`.
    fn coordinate_rates(&mut self, x: &[f64], qdot: &mut [f64]);
}

/// A differential–algebraic equation f(t, x, ẋ) = 0 of index 0 or 1.
///
/// Both Jacobians have the same fixed pattern, the union of their patterns, so that a ∂f/∂x + b ∂f/∂ẋ is a combination
/// of two lists of values.
pub trait ImplicitOde {
    /// Number of states.
    fn dim(&self) -> usize;

    /// Computes f(t, x, ẋ). Every entry of `r` is written.
    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError>;

    /// Sparsity pattern of the Jacobians.
    fn pattern(&self) -> &Pattern;

    /// Values of ∂f/∂x and ∂f/∂ẋ in the order of the pattern. Every entry is written.
    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError>;

    /// Residual and Jacobians at one state, which for many problems costs little more than the Jacobians alone.
    fn residual_and_jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        r: &mut [f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.residual(t, x, xdot, r)?;
        self.jacobians(t, x, xdot, df_dx, df_dxdot)
    }

    /// Change of the residual due to explicit time dependence, ∂f/∂u · (u(t₁) − u(t₀)) where u are controls.
    ///
    /// The default is f(t₁, x, ẋ) − f(t₀, x, ẋ), where `r0` is f(t₀, x, ẋ); a problem with ∂f/∂u may compute it to
    /// first order at lower cost.
    fn time_change(
        &mut self,
        t1: f64,
        x: &[f64],
        xdot: &[f64],
        r0: &[f64],
        change: &mut [f64],
    ) -> Result<(), RhsError> {
        self.residual(t1, x, xdot, change)?;
        for (c, r) in change.iter_mut().zip(r0) {
            *c -= r;
        }
        Ok(())
    }

    /// Computes rates consistent with `x`, and dependent states, if the problem can do so without iteration; otherwise
    /// returns false, and they are solved for.
    fn consistent_rates(&mut self, t: f64, x: &mut [f64], xdot: &mut [f64]) -> bool {
        let _ = (t, x, xdot);
        false
    }

    /// As [`ExplicitOde::project`].
    fn project(
        &mut self,
        t: f64,
        x: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        let _ = (t, x, error, tolerance);
        Ok(Projected::default())
    }
}
