//! The first-order Rosenbrock method of van den Bogert et al. (2011).

use super::consistent::solve_consistent_rates;
use super::matrices::Matrices;
use crate::error_norm::ErrorNorm;
use crate::explicit::fixed_end;
use crate::hermite::cubic;
use crate::integrate::{Integrator, Statistics};
use crate::linear::{DenseLu, LinearSolver};
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Linearly implicit Euler with a fixed step, order 1, L-stable: one evaluation of f and its Jacobians and one
/// linear system per step, whatever happens.
///
///   (∂f/∂x + ∂f/∂ẋ / h) Δ = ∂f/∂ẋ ẋₙ − f(tₙ, xₙ, ẋₙ) − ∂f/∂u (uₙ₊₁ − uₙ)        (1)
///   xₙ₊₁ = xₙ + Δ,   ẋₙ₊₁ = Δ/h                                                    (2)
///
/// Source: van den Bogert, Blana & Heinrich (2011), eq. 16. The last term of (1) is
/// [`ImplicitOde::time_change`].
pub struct RosenbrockEuler<S = DenseLu<f64>> {
    step: f64,
    /// Error of constraints above which a state is projected.
    pub constraint_tolerance: f64,
    norm: ErrorNorm,
    solver: S,
    m: Matrices,
    t: [f64; 2],
    x: [Vec<f64>; 2],
    xdot: Vec<f64>,
    /// ẋ at the start of the last step.
    before: Vec<f64>,
    r: Vec<f64>,
    change: Vec<f64>,
    delta: Vec<f64>,
    statistics: Statistics,
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
            step,
            constraint_tolerance: 1e-6,
            norm,
            solver,
            m: Matrices::default(),
            t: [0.0; 2],
            x: [v(), v()],
            xdot: v(),
            before: v(),
            r: v(),
            change: v(),
            delta: v(),
            statistics: Statistics::default(),
        }
    }
}

impl<P: ImplicitOde + ?Sized, S: LinearSolver<f64>> Integrator<P> for RosenbrockEuler<S> {
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        if !(self.step > 0.0) || x.len() != self.norm.dim() || p.dim() != x.len() {
            return Err(Stop::Setup("the step must be positive, and state, norm and problem of one size"));
        }
        self.statistics = Statistics::default();
        self.m.prepare(p);
        self.t = [t; 2];
        self.x[1].copy_from_slice(x);
        self.xdot.fill(0.0);
        solve_consistent_rates(p, &self.norm, t, &mut self.x[1], &mut self.xdot)?;
        let [a, b] = &mut self.x;
        a.copy_from_slice(b);
        Ok(())
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let t0 = self.t[1];
        let t1 = fixed_end(t0, self.step, t_max);
        let h = t1 - t0;
        if !(h > 0.0) {
            return Err(Stop::Setup("a step has to go forward in time"));
        }
        let rhs = |source| Stop::Rhs { time: t0, source };
        let x0 = &self.x[1];
        self.statistics.evaluations += 2;
        self.statistics.jacobians += 1;
        self.m.evaluate_with_residual(p, t0, x0, &self.xdot, &mut self.r).map_err(rhs)?;
        p.time_change(t1, x0, &self.xdot, &self.r, &mut self.change).map_err(rhs)?;

        // (1)
        self.m.pattern.multiply(&self.m.M, &self.xdot, &mut self.delta);
        for ((d, r), c) in self.delta.iter_mut().zip(&self.r).zip(&self.change) {
            *d -= r + c;
        }
        if let Some(component) = first_not_finite(&self.delta) {
            return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::Residual });
        }
        self.statistics.factorizations += 1;
        self.m.factorize(1.0, 1.0 / h, t0, &mut self.solver)?;
        self.solver.solve(&mut self.delta);
        if let Some(component) = first_not_finite(&self.delta) {
            return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::State });
        }

        // (2)
        self.before.copy_from_slice(&self.xdot);
        for i in 0..self.delta.len() {
            self.xdot[i] = self.delta[i] / h;
            self.delta[i] += self.x[1][i];
        }
        let done =
            p.project(t1, &mut self.delta, &mut self.change, self.constraint_tolerance).map_err(rhs)?;
        self.statistics.projections += usize::from(done.changed);
        self.statistics.steps += 1;
        self.t = [t0, t1];
        self.x.swap(0, 1);
        std::mem::swap(&mut self.x[1], &mut self.delta);
        Ok(())
    }

    fn span(&self) -> (f64, f64) {
        (self.t[0], self.t[1])
    }

    fn state(&self) -> &[f64] {
        &self.x[1]
    }

    fn rates(&self) -> &[f64] {
        &self.xdot
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        cubic(self.t, &self.x, [&self.before, &self.xdot], t, x);
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}
