//! The implicit midpoint rule.

use super::fixed_step::FixedStep;
use crate::error_norm::ErrorNorm;
use crate::hermite::cubic;
use crate::integrate::{Integrator, Statistics};
use crate::linear::{DenseLu, LinearSolver};
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Iterations after which Newton's method takes only a share of its steps where they do not shrink, and the least share.
const DAMPED_FROM: usize = 10;
const LEAST_SHARE: f64 = 1.0 / 64.0;
/// How often a step that has no solution, or none to be found, is halved.
const MAX_HALVINGS: usize = 8;

/// The implicit midpoint rule with a fixed step, order 2, A-stable, no numerical damping:
///
///   f(t + h/2, (xₙ + xₙ₊₁)/2, (xₙ₊₁ − xₙ)/h) = 0                                  (1)
///   Newton's matrix  ½ ∂f/∂x + (1/h) ∂f/∂ẋ                                        (2)
///
/// Source: van den Bogert, Blana & Heinrich (2011), eqs. 14 and 15; controls are taken at the middle of the step where
/// they average those at its ends. Factors are reused as long as Newton's method converges well. A step that does not
/// converge is halved.
pub struct ImplicitMidpoint<S = DenseLu<f64>> {
    at: FixedStep,
    /// Tolerance for the weighted size of the last Newton change.
    pub newton_tolerance: f64,
    /// Maximum number of Newton iterations per step.
    pub max_iterations: usize,
    /// Constraint error above which a state is projected.
    pub constraint_tolerance: f64,
    solver: S,
    /// Step the factors are for; 0 when there are none.
    factored: f64,
    /// ẋ at the start and end of the last step.
    ends: [Vec<f64>; 2],
    x_new: Vec<f64>,
    middle: Vec<f64>,
    rate: Vec<f64>,
    r: Vec<f64>,
}

impl ImplicitMidpoint {
    /// Steps of `step` seconds.
    pub fn new(norm: ErrorNorm, step: f64) -> Self {
        let lu = DenseLu::new(norm.dim());
        ImplicitMidpoint::with_solver(norm, step, lu)
    }
}

impl<S: LinearSolver<f64>> ImplicitMidpoint<S> {
    /// The same with another linear solver.
    pub fn with_solver(norm: ErrorNorm, step: f64, solver: S) -> Self {
        let n = norm.dim();
        let v = || vec![0.0; n];
        ImplicitMidpoint {
            at: FixedStep::new(norm, step),
            newton_tolerance: 1e-11,
            max_iterations: 50,
            constraint_tolerance: 1e-6,
            solver,
            factored: 0.0,
            ends: [v(), v()],
            x_new: v(),
            middle: v(),
            rate: v(),
            r: v(),
        }
    }

    fn set_middle(&mut self, h: f64) {
        for i in 0..self.x_new.len() {
            self.middle[i] = 0.5 * (self.at.x[1][i] + self.x_new[i]);
            self.rate[i] = (self.x_new[i] - self.at.x[1][i]) / h;
        }
    }

    /// Newton's method from the straight continuation of the last step.
    fn newton<P: ImplicitOde + ?Sized>(&mut self, p: &mut P, h: f64) -> Result<(), Stop> {
        let t0 = self.at.t[1];
        let tm = t0 + 0.5 * h;
        let rhs = |source| Stop::Rhs { time: t0, source };
        for i in 0..self.x_new.len() {
            self.x_new[i] = self.at.x[1][i] + h * self.at.xdot[i];
        }
        let mut last = f64::INFINITY;
        let (mut worst, mut share) = (0, 1.0);
        for k in 0..self.max_iterations {
            self.set_middle(h);
            if self.factored != h {
                self.at.m.evaluate(p, tm, &self.middle, &self.rate).map_err(rhs)?;
                self.at.m.factorize(0.5, 1.0 / h, t0, &mut self.solver)?; // (2)
                self.at.statistics.jacobians += 1;
                self.at.statistics.factorizations += 1;
                self.factored = h;
                last = f64::INFINITY;
            }
            self.at.statistics.evaluations += 1;
            self.at.statistics.newton_iterations += 1;
            p.residual(tm, &self.middle, &self.rate, &mut self.r).map_err(rhs)?; // (1)
            if let Some(component) = first_not_finite(&self.r) {
                return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::Residual });
            }
            self.solver.solve(&mut self.r);
            for (x, d) in self.x_new.iter_mut().zip(&self.r) {
                *x -= share * d;
            }
            let (change, at) = self.at.norm.norm(&self.at.x[1], &self.r);
            worst = at;
            if change <= self.newton_tolerance {
                return Ok(());
            }
            // Old factors that gain less than a factor of five per iteration are not worth keeping.
            if !(change < 0.2 * last) && last.is_finite() {
                self.factored = 0.0;
                // Going to and fro across a bend of some curve, or away from the root.
                if k >= DAMPED_FROM {
                    share = f64::max(0.5 * share, LEAST_SHARE);
                }
            } else {
                share = f64::min(2.0 * share, 1.0);
            }
            last = change;
        }
        Err(Stop::Newton {
            time: t0,
            iterations: self.max_iterations,
            change: last,
            wanted: self.newton_tolerance,
            component: worst,
        })
    }
}

impl<P: ImplicitOde + ?Sized, S: LinearSolver<f64>> Integrator<P> for ImplicitMidpoint<S> {
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        self.factored = 0.0;
        self.at.start(p, t, x)
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let (mut t1, mut h) = self.at.next(t_max)?;
        for k in 0.. {
            match self.newton(p, h) {
                Ok(()) => break,
                Err(Stop::Newton { .. } | Stop::Singular { .. } | Stop::NotFinite { .. })
                    if k < MAX_HALVINGS =>
                {
                    self.at.statistics.failed += 1;
                    self.factored = 0.0;
                    h *= 0.5;
                    t1 = self.at.t[1] + h;
                }
                Err(stop) => return Err(stop),
            }
        }
        self.set_middle(h);
        // Rates at the ends: between the middles of two steps, and as far from there on. At the first step that of the start.
        let last = self.at.t[1] - self.at.t[0];
        let share = last / (last + h);
        for i in 0..self.rate.len() {
            let start = self.at.xdot[i] + share * (self.rate[i] - self.at.xdot[i]);
            self.ends[0][i] = start;
            self.ends[1][i] = 2.0 * self.rate[i] - start;
        }
        std::mem::swap(&mut self.at.xdot, &mut self.rate);
        self.at.finish(p, t1, &mut self.x_new, &mut self.r, self.constraint_tolerance)
    }

    fn span(&self) -> (f64, f64) {
        (self.at.t[0], self.at.t[1])
    }

    fn state(&self) -> &[f64] {
        &self.at.x[1]
    }

    /// ẋ in the middle of the last step.
    fn rates(&self) -> &[f64] {
        &self.at.xdot
    }

    /// A parabola: between the rates in the middle of this step and of the last one.
    fn interpolate(&self, t: f64, x: &mut [f64]) {
        cubic(self.at.t, &self.at.x, [&self.ends[0], &self.ends[1]], t, x);
    }

    fn statistics(&self) -> Statistics {
        self.at.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Pattern;
    use crate::ode::RhsError;

    /// ẋ = 2 below zero and 1 above.
    struct Slower(Pattern);

    impl ImplicitOde for Slower {
        fn dim(&self) -> usize {
            1
        }
        fn residual(&mut self, _: f64, x: &[f64], v: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
            r[0] = v[0] - if x[0] < 0.0 { 2.0 } else { 1.0 };
            Ok(())
        }
        fn pattern(&self) -> &Pattern {
            &self.0
        }
        fn jacobians(
            &mut self,
            _: f64,
            _: &[f64],
            _: &[f64],
            j: &mut [f64],
            m: &mut [f64],
        ) -> Result<(), RhsError> {
            (j[0], m[0]) = (0.0, 1.0);
            Ok(())
        }
    }

    /// From −0.08 the step of 0.1 across zero has no solution: with either rate its middle is on the other side. Half of it has.
    #[test]
    fn analytic_step_without_a_solution_is_halved() {
        let mut p = Slower(Pattern::dense(1));
        let mut method = ImplicitMidpoint::new(ErrorNorm::uniform(1), 0.1);
        method.start(&mut p, 0.0, &[-0.08]).unwrap();
        let method: &mut dyn Integrator<Slower> = &mut method;
        while method.span().1 < 1.0 {
            method.step(&mut p, 1.0).unwrap();
        }
        // 0.04 s to zero and 0.96 s from there; the half step goes 0.01 s further at the rate below.
        assert!((method.state()[0] - 0.97).abs() < 1e-12, "{}", method.state()[0]);
        assert_eq!(method.statistics().failed, 1);
    }
}
