//! Jacobians of an implicit problem and their combination.

use crate::linear::{LinearSolver, Pattern};
use crate::ode::{ImplicitOde, RhsError};
use crate::stop::Stop;

/// ∂f/∂x, ∂f/∂ẋ, and room for a combination of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrices {
    pub pattern: Pattern,
    /// ∂f/∂x.
    pub J: Vec<f64>,
    /// ∂f/∂ẋ.
    pub M: Vec<f64>,
    A: Vec<f64>,
}

impl Matrices {
    /// Sizes everything for a problem.
    pub fn prepare<P: ImplicitOde + ?Sized>(&mut self, p: &P) {
        self.pattern = p.pattern().clone();
        let n = self.pattern.len();
        self.J.resize(n, 0.0);
        self.M.resize(n, 0.0);
        self.A.resize(n, 0.0);
    }

    /// Computes both Jacobians.
    pub fn evaluate<P: ImplicitOde + ?Sized>(
        &mut self,
        p: &mut P,
        t: f64,
        x: &[f64],
        xdot: &[f64],
    ) -> Result<(), RhsError> {
        p.jacobians(t, x, xdot, &mut self.J, &mut self.M)
    }

    /// Computes both Jacobians and the residual.
    pub fn evaluate_with_residual<P: ImplicitOde + ?Sized>(
        &mut self,
        p: &mut P,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        r: &mut [f64],
    ) -> Result<(), RhsError> {
        p.residual_and_jacobians(t, x, xdot, r, &mut self.J, &mut self.M)
    }

    /// Factorises a ∂f/∂x + b ∂f/∂ẋ.
    pub fn factorize(
        &mut self,
        a: f64,
        b: f64,
        time: f64,
        solver: &mut dyn LinearSolver<f64>,
    ) -> Result<(), Stop> {
        for ((s, j), m) in self.A.iter_mut().zip(&self.J).zip(&self.M) {
            *s = a * j + b * m;
        }
        solver.factorize(&self.pattern, &self.A).map_err(|e| Stop::Singular { time, component: e.column })
    }
}
