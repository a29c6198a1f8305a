//! Rates consistent with a state.

use super::matrices::Matrices;
use crate::error_norm::ErrorNorm;
use crate::linear::{DenseLu, LinearSolver};
use crate::ode::ImplicitOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Newton steps for one consistent state; quadratic convergence needs five or six.
const MAX_ITERATIONS: usize = 50;

/// Two backward Euler steps of this length settle what is algebraic, s. Short enough that nothing else moves,
/// long enough that rates keep half their digits.
const SETTLING_STEP: f64 = 1e-8;

/// Finds ẋ with f(t, x, ẋ) = 0.
///
/// If ∂f/∂ẋ is regular, Newton's method is used at fixed x. If it is singular (index 1), some states depend on the
/// others: two backward Euler steps of 1e-8 s make them consistent and give the rates of the other states; `x` is then
/// the consistent state, extrapolated back to `t`.
pub fn solve_consistent_rates<P: ImplicitOde + ?Sized>(
    p: &mut P,
    norm: &ErrorNorm,
    t: f64,
    x: &mut [f64],
    xdot: &mut [f64],
) -> Result<(), Stop> {
    if p.consistent_rates(t, x, xdot) {
        return Ok(());
    }
    let n = x.len();
    let mut m = Matrices::default();
    m.prepare(p);
    if m.pattern.dim() != n {
        return Err(Stop::Setup("the sparsity pattern of the Jacobians does not match the state"));
    }
    let mut lu = DenseLu::new(n);
    let mut r = vec![0.0; n];
    let rhs = |source| Stop::Rhs { time: t, source };

    let mut tried = xdot.to_vec();
    let mut regular = true;
    let mut last = (f64::INFINITY, 0);
    for _ in 0..MAX_ITERATIONS {
        p.residual(t, x, &tried, &mut r).map_err(rhs)?;
        if let Some(component) = first_not_finite(&r) {
            return Err(Stop::NotFinite { time: t, component, quantity: Quantity::Residual });
        }
        m.evaluate(p, t, x, &tried).map_err(rhs)?;
        if m.factorize(0.0, 1.0, t, &mut lu).is_err() {
            regular = false;
            break;
        }
        lu.solve(&mut r);
        for (d, r) in tried.iter_mut().zip(&r) {
            *d -= r;
        }
        last = norm.norm(&tried, &r);
        if !(last.0 > 1e-13) {
            break;
        }
    }
    if regular && last.0 <= 1e-6 {
        xdot.copy_from_slice(&tried);
        return Ok(());
    }

    // Index 1: let it settle.
    let h = SETTLING_STEP;
    let mut before = x.to_vec();
    for step in 1..=2 {
        let t1 = t + f64::from(step) * h;
        before.copy_from_slice(x);
        let mut change = (f64::INFINITY, 0);
        for _ in 0..MAX_ITERATIONS {
            for i in 0..n {
                tried[i] = (x[i] - before[i]) / h;
            }
            p.residual(t1, x, &tried, &mut r).map_err(rhs)?;
            if let Some(component) = first_not_finite(&r) {
                return Err(Stop::NotFinite { time: t, component, quantity: Quantity::Residual });
            }
            m.evaluate(p, t1, x, &tried).map_err(rhs)?;
            m.factorize(1.0, 1.0 / h, t, &mut lu)?;
            lu.solve(&mut r);
            for (x, r) in x.iter_mut().zip(&r) {
                *x -= r;
            }
            change = norm.norm(x, &r);
            if !(change.0 > 1e-14) {
                break;
            }
        }
        if !(change.0 <= 1e-8) {
            return Err(Stop::Newton {
                time: t,
                iterations: MAX_ITERATIONS,
                change: change.0,
                wanted: 1e-8,
                component: change.1,
            });
        }
    }
    for i in 0..n {
        xdot[i] = (x[i] - before[i]) / h;
        x[i] -= 2.0 * h * xdot[i];
    }
    Ok(())
}
