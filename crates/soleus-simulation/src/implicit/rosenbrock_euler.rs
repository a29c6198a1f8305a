//! The first-order Rosenbrock method of van den Bogert et al. (2011).

use super::fixed_step::FixedStep;
use crate::error_norm::ErrorNorm;
use crate::hermite::cubic;
use crate::integrate::{Integrator, Statistics};
use crate::linear::{DenseLu, LinearSolver};
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Linearly implicit Euler with a fixed step, order 1, L-stable: exactly one evaluation of f and its Jacobians and one
/// linear system per step.
///
///   (∂f/∂x + ∂f/∂ẋ / h) Δ = ∂f/∂ẋ ẋₙ − f(tₙ, xₙ, ẋₙ) − ∂f/∂u (uₙ₊₁ − uₙ)        (1)
///   xₙ₊₁ = xₙ + Δ,   ẋₙ₊₁ = Δ/h                                                    (2)
///
/// Source: van den Bogert, Blana & Heinrich (2011), eq. 16. The last term of (1) is
/// [`ImplicitOde::time_change`].
pub struct RosenbrockEuler<S = DenseLu<f64>> {
    at: FixedStep,
    /// Constraint error above which a state is projected.
    pub constraint_tolerance: f64,
    solver: S,
    /// ẋ at the start of the last step.
    before: Vec<f64>,
    r: Vec<f64>,
    change: Vec<f64>,
    delta: Vec<f64>,
}

impl RosenbrockEuler {
    /// Steps of `step` seconds.
    pub fn new(norm: ErrorNorm, step: f64) -> Self {
        let lu = DenseLu::new(norm.dim());
        RosenbrockEuler::with_solver(norm, step, lu)
    }
}

impl<S: LinearSolver<f64>> RosenbrockEuler<S> {
    /// The same with another linear solver.
    pub fn with_solver(norm: ErrorNorm, step: f64, solver: S) -> Self {
        let n = norm.dim();
        let v = || vec![0.0; n];
        RosenbrockEuler {
            at: FixedStep::new(norm, step),
            constraint_tolerance: 1e-6,
            solver,
            before: v(),
            r: v(),
            change: v(),
            delta: v(),
        }
    }
}

impl<S> RosenbrockEuler<S> {
    /// The linear solver, which may reuse an elimination order between steps.
    pub fn solver_mut(&mut self) -> &mut S {
        &mut self.solver
    }
}

impl<P: ImplicitOde + ?Sized, S: LinearSolver<f64>> Integrator<P> for RosenbrockEuler<S> {
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        self.at.start(p, t, x)
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let (t1, h) = self.at.next(t_max)?;
        let t0 = self.at.t[1];
        let rhs = |source| Stop::Rhs { time: t0, source };
        let x0 = &self.at.x[1];
        self.at.statistics.evaluations += 2;
        self.at.statistics.jacobians += 1;
        self.at.m.evaluate_with_residual(p, t0, x0, &self.at.xdot, &mut self.r).map_err(rhs)?;
        p.time_change(t1, x0, &self.at.xdot, &self.r, &mut self.change).map_err(rhs)?;

        // (1)
        self.at.m.pattern.multiply(&self.at.m.M, &self.at.xdot, &mut self.delta);
        for ((d, r), c) in self.delta.iter_mut().zip(&self.r).zip(&self.change) {
            *d -= r + c;
        }
        if let Some(component) = first_not_finite(&self.delta) {
            return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::Residual });
        }
        self.at.statistics.factorizations += 1;
        self.at.m.factorize(1.0, 1.0 / h, t0, &mut self.solver)?;
        self.solver.solve(&mut self.delta);
        if let Some(component) = first_not_finite(&self.delta) {
            return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::State });
        }

        // (2)
        self.before.copy_from_slice(&self.at.xdot);
        for i in 0..self.delta.len() {
            self.at.xdot[i] = self.delta[i] / h;
            self.delta[i] += self.at.x[1][i];
        }
        self.at.finish(p, t1, &mut self.delta, &mut self.change, self.constraint_tolerance)
    }

    fn span(&self) -> (f64, f64) {
        (self.at.t[0], self.at.t[1])
    }

    fn state(&self) -> &[f64] {
        &self.at.x[1]
    }

    fn rates(&self) -> &[f64] {
        &self.at.xdot
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        cubic(self.at.t, &self.at.x, [&self.before, &self.at.xdot], t, x);
    }

    fn statistics(&self) -> Statistics {
        self.at.statistics
    }
}
