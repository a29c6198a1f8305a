//! Where a problem is at rest.

use super::matrices::Matrices;
use crate::linear::LinearSolver;
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// How to look for an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumOptions {
    /// Largest residual wanted, in the units of f.
    pub tolerance: f64,
    /// First pseudo-time step, s: short enough that a poor start moves where its forces push it.
    pub first_step: f64,
    /// Largest change of one state in a step; a longer step is shortened in time.
    pub max_change: f64,
    /// Iterations to take at most.
    pub max_iterations: usize,
}

impl Default for EquilibriumOptions {
    fn default() -> Self {
        EquilibriumOptions { tolerance: 1e-9, first_step: 1e-4, max_change: 0.3, max_iterations: 2000 }
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundEquilibrium {
    /// Iterations done.
    pub iterations: usize,
    /// Largest residual, in the units of f.
    pub residual: f64,
}

/// Finds x with f(t, x, 0) = 0, from a start that may be poor.
///
///   (∂f/∂x + ∂f/∂ẋ / h) Δ = −f(t, x, 0),   x ← x + Δ              (1)
///
/// This is a step of linearly implicit Euler that forgets the speed it comes with: for small h the state creeps the way
/// its forces push it, for large h it is Newton's method. h grows while the residual falls and shrinks while it rises
/// (switched evolution relaxation, Mulder & van Leer 1985), and no state changes by more than `max_change` at once. It
/// ends in an equilibrium that the motion itself would settle in, not in any root.
pub fn solve_equilibrium<P: ImplicitOde + ?Sized>(
    p: &mut P,
    solver: &mut dyn LinearSolver<f64>,
    t: f64,
    x: &mut [f64],
    options: &EquilibriumOptions,
) -> Result<FoundEquilibrium, Stop> {
    let n = x.len();
    let mut m = Matrices::default();
    m.prepare(p);
    if m.pattern.dim() != n {
        return Err(Stop::Setup("the pattern of the Jacobians does not fit the state"));
    }
    let rest = vec![0.0; n];
    let mut r = vec![0.0; n];
    let mut next = vec![0.0; n];
    let rhs = |source| Stop::Rhs { time: t, source };
    let worst = |r: &[f64]| {
        let (mut largest, mut component) = (0.0, 0);
        for (i, r) in r.iter().enumerate() {
            if !(r.abs() <= largest) {
                (largest, component) = (r.abs(), i);
            }
        }
        (largest, component)
    };
    p.residual(t, x, &rest, &mut r).map_err(rhs)?;
    let mut now = worst(&r);
    let mut h = options.first_step;
    let mut iterations = 0;
    while !(now.0 <= options.tolerance) {
        if let Some(component) = first_not_finite(&r) {
            return Err(Stop::NotFinite { time: t, component, quantity: Quantity::Residual });
        }
        if iterations == options.max_iterations {
            return Err(Stop::Newton {
                time: t,
                iterations,
                change: now.0,
                wanted: options.tolerance,
                component: now.1,
            });
        }
        iterations += 1;
        m.evaluate(p, t, x, &rest).map_err(rhs)?;
        m.factorize(1.0, 1.0 / h, t, solver)?;
        next.copy_from_slice(&r);
        solver.solve(&mut next);
        let largest = worst(&next).0;
        if !(largest <= options.max_change) {
            h *= (options.max_change / largest).clamp(0.1, 0.7);
            continue;
        }
        for (n, x) in next.iter_mut().zip(x.iter()) {
            *n = x - *n;
        }
        p.residual(t, &next, &rest, &mut r).map_err(rhs)?;
        let then = worst(&r);
        if !then.0.is_finite() || then.0 > 10.0 * now.0 {
            // Too far: look again from where we are.
            h *= 0.25;
            p.residual(t, x, &rest, &mut r).map_err(rhs)?;
            continue;
        }
        x.copy_from_slice(&next);
        h *= (now.0 / then.0).clamp(0.5, 4.0).max(if then.0 < 2.0 * now.0 { 1.2 } else { 0.5 });
        now = then;
    }
    Ok(FoundEquilibrium { iterations, residual: now.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{DenseLu, Pattern};
    use crate::ode::RhsError;

    /// A damped pendulum: q̇ = u, u̇ + u + sin q = 0.
    struct Pendulum(Pattern);

    impl ImplicitOde for Pendulum {
        fn dim(&self) -> usize {
            2
        }
        fn residual(&mut self, _: f64, x: &[f64], v: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
            (r[0], r[1]) = (v[0] - x[1], v[1] + x[1] + x[0].sin());
            Ok(())
        }
        fn pattern(&self) -> &Pattern {
            &self.0
        }
        fn jacobians(
            &mut self,
            _: f64,
            x: &[f64],
            _: &[f64],
            j: &mut [f64],
            m: &mut [f64],
        ) -> Result<(), RhsError> {
            j.copy_from_slice(&[0.0, -1.0, x[0].cos(), 1.0]);
            m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
            Ok(())
        }
    }

    /// From just beside the top it falls to the bottom, where Newton's method would have stayed at the top.
    #[test]
    fn analytic_pendulum_falls_to_the_bottom() {
        let mut x = [3.1, 0.0];
        let mut p = Pendulum(Pattern::dense(2));
        let found =
            solve_equilibrium(&mut p, &mut DenseLu::new(2), 0.0, &mut x, &Default::default()).unwrap();
        assert!(x[0].abs() < 1e-8 && x[1].abs() < 1e-8, "{x:?} {found:?}");
    }

    #[test]
    fn analytic_not_a_number_is_an_error() {
        let mut p = Pendulum(Pattern::dense(2));
        let mut x = [f64::NAN, 0.0];
        assert!(solve_equilibrium(&mut p, &mut DenseLu::new(2), 0.0, &mut x, &Default::default()).is_err());
    }
}
