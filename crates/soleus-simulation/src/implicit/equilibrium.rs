//! Equilibria of a problem.

use super::matrices::Matrices;
use crate::integrate::Integrator;
use crate::linear::LinearSolver;
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Options of the search for an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct EquilibriumOptions {
    /// Maximum residual, in the units of f.
    pub tolerance: f64,
    /// Duration of the motion before the first search for an equilibrium nearby, s; each later one is 1.5 times as
    /// long.
    pub first_stretch: f64,
    /// Maximum duration of the motion, s.
    pub max_time: f64,
    /// Maximum distance of each state from the equilibrium when Newton's result is accepted.
    pub max_jump: f64,
}

impl Default for EquilibriumOptions {
    fn default() -> Self {
        EquilibriumOptions { tolerance: 1e-9, first_stretch: 0.1, max_time: 100.0, max_jump: 0.02 }
    }
}

/// Result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundEquilibrium {
    /// Number of steps of the motion.
    pub steps: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Duration of the motion, s.
    pub time: f64,
    /// Maximum residual, in the units of f.
    pub residual: f64,
}

/// Newton iterations of one jump; near the equilibrium five will do.
const JUMP: usize = 12;

/// Finds x with f(t, x, 0) = 0, possibly from a poor initial guess, for a problem that does not depend on time.
///
/// The state is integrated over time and, at intervals, Newton's method
///
///   ∂f/∂x Δ = −f(t, x, 0),   x ← x + Δ
///
/// is tried, and its result accepted if it is close to the current state. The result is therefore an equilibrium to
/// which the motion converges, not an arbitrary root, unless the initial guess is near one. The motion must be damped.
pub fn solve_equilibrium<P: ImplicitOde + ?Sized>(
    p: &mut P,
    integrator: &mut dyn Integrator<P>,
    solver: &mut dyn LinearSolver<f64>,
    x: &mut [f64],
    options: &EquilibriumOptions,
) -> Result<FoundEquilibrium, Stop> {
    let n = x.len();
    let mut m = Matrices::default();
    m.prepare(p);
    if m.pattern.dim() != n {
        return Err(Stop::Setup("the sparsity pattern of the Jacobians does not match the state"));
    }
    let rest = vec![0.0; n];
    let (mut r, mut jumped) = (vec![0.0; n], x.to_vec());
    let (mut iterations, mut end, mut stretch) = (0, 0.0, options.first_stretch);
    integrator.start(p, 0.0, x)?;
    loop {
        let rhs = |source| Stop::Rhs { time: end, source };
        jumped.copy_from_slice(integrator.state());
        let mut last = (f64::INFINITY, 0);
        for k in 0..=JUMP {
            m.evaluate_with_residual(p, end, &jumped, &rest, &mut r).map_err(rhs)?;
            if let (0, Some(component)) = (k, first_not_finite(&r)) {
                return Err(Stop::NotFinite { time: end, component, quantity: Quantity::Residual });
            }
            let before = last.0;
            last = worst(&r);
            let far =
                jumped.iter().zip(integrator.state()).any(|(j, x)| !((j - x).abs() <= options.max_jump));
            if last.0 <= options.tolerance && !far {
                x.copy_from_slice(&jumped);
                let steps = integrator.statistics().steps;
                return Ok(FoundEquilibrium { steps, iterations, time: end, residual: last.0 });
            }
            if !(last.0 < before) || far || m.factorize(1.0, 0.0, end, solver).is_err() {
                break;
            }
            iterations += 1;
            solver.solve(&mut r);
            for (j, r) in jumped.iter_mut().zip(&r) {
                *j -= r;
            }
        }
        if end >= options.max_time {
            x.copy_from_slice(integrator.state());
            let (change, component) = last;
            return Err(Stop::Newton { time: end, iterations, change, wanted: options.tolerance, component });
        }
        end += stretch;
        stretch *= 1.5;
        while integrator.span().1 < end {
            integrator.step(p, end)?;
        }
    }
}

/// The largest residual, NaN counting as such, and where it is.
fn worst(r: &[f64]) -> (f64, usize) {
    let (mut largest, mut component) = (0.0, 0);
    for (i, r) in r.iter().enumerate() {
        if !(r.abs() <= largest) {
            (largest, component) = (r.abs(), i);
        }
    }
    (largest, component)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{DenseLu, Pattern};
    use crate::ode::RhsError;
    use crate::{ErrorNorm, RadauIIA5, StepOptions};

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

    fn find(p: &mut Pendulum, x: &mut [f64]) -> Result<FoundEquilibrium, Stop> {
        let mut radau = RadauIIA5::new(ErrorNorm::uniform(2), StepOptions::with_accuracy(1e-4));
        solve_equilibrium(p, &mut radau, &mut DenseLu::new(2), x, &EquilibriumOptions::default())
    }

    /// From beside the top it falls to the bottom, where Newton's method would have gone to the top.
    #[test]
    fn analytic_pendulum_falls_to_the_bottom() {
        let mut x = [3.1, 0.0];
        let mut p = Pendulum(Pattern::dense(2));
        let found = find(&mut p, &mut x).unwrap();
        assert!(x[0].abs() < 1e-8 && x[1].abs() < 1e-8, "{x:?} {found:?}");
    }

    #[test]
    fn analytic_not_a_number_is_an_error() {
        let mut p = Pendulum(Pattern::dense(2));
        let mut x = [f64::NAN, 0.0];
        assert!(find(&mut p, &mut x).is_err());
    }
}
