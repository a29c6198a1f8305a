//! Equilibrium of fiber and tendon.

use super::error::MuscleError;
use super::pennation::SIGNIFICANT;

/// Result of an equilibrium solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Tendon force, N.
    pub tendon_force: f64,
    /// Unbalanced force, N; at the lower bound it need not be zero.
    pub residual: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the fiber is at its minimum length and still pulls more than the tendon.
    pub at_lower_bound: bool,
}

impl Equilibrium {
    /// For muscles whose force follows from the inputs alone.
    pub(crate) fn immediate(tendon_force: f64) -> Equilibrium {
        Equilibrium { tendon_force, residual: 0.0, iterations: 0, at_lower_bound: false }
    }
}

/// The force balance of a fiber in series with a tendon, as a function of fiber length.
pub(crate) trait Balance {
    /// Out-of-balance force F_m cos φ − F_t, N at fiber length l, with the present force–velocity factor.
    fn error(&mut self, l: f64) -> f64;
    /// d(error)/dl at the length of the last `error`.
    fn slope(&mut self) -> f64;
    /// Brings the force–velocity factor up to date with the stiffnesses found by the last `slope`.
    fn share_velocity(&mut self);
    /// Sets the force–velocity factor to its isometric value and keeps it there.
    fn hold_still(&mut self);
    /// Tendon force at the length of the last `error`, N.
    fn tendon_force(&self) -> f64;
}

/// √ε, the nudge that OpenSim's iteration takes out of a stalemate.
const NUDGE: f64 = 1.490_116_119_384_765_6e-8;

/// Balances fiber and tendon by the damped Newton iteration of OpenSim's muscles, so that the same
/// one of several equilibria is found, and to the same digits: full steps −e/e′ halved until |e| falls; the
/// force–velocity factor lags by one iteration. `start` has been put into `balance` already, with error
/// `error` there.
///
/// Where that does not converge, the static balance is bracketed between the shortest fiber and the
/// length `slack` at which the tendon is just slack, and bisected; OpenSim gives up there.
///
/// Returns the fiber length and the outcome. Tolerance in N.
#[allow(clippy::too_many_arguments)]
pub(crate) fn balance<B: Balance>(
    b: &mut B,
    start: f64,
    mut error: f64,
    shortest: f64,
    slack: f64,
    tolerance: f64,
    max_iterations: usize,
) -> Option<(f64, Equilibrium)> {
    let mut l = start;
    let mut slope = b.slope();
    let (mut error_before, mut l_before) = (error, l);
    let mut iterations = 0;
    while error.abs() > tolerance && iterations < max_iterations {
        // Line search along the Newton direction, at first with the full step.
        let mut h = 1.0;
        while error.abs() >= error_before.abs() {
            let step = -h * error_before / slope;
            if step.abs() > SIGNIFICANT {
                l = l_before + step;
            } else {
                // Stuck: look on the other side.
                l = l_before
                    - if step > 0.0 {
                        NUDGE
                    } else if step < 0.0 {
                        -NUDGE
                    } else {
                        0.0
                    };
                h = 0.0;
            }
            l = l.max(shortest);
            error = b.error(l);
            if h <= NUDGE {
                break;
            }
            h *= 0.5;
        }
        (error_before, l_before) = (error, l);
        slope = b.slope();
        b.share_velocity();
        iterations += 1;
    }
    let found = |b: &B, l: f64, residual: f64, iterations: usize, at_lower_bound: bool| {
        (l, Equilibrium { tendon_force: b.tendon_force(), residual, iterations, at_lower_bound })
    };
    if error.abs() <= tolerance {
        return Some(found(b, l, error, iterations, false));
    }
    if l <= shortest {
        let error = b.error(shortest);
        return Some(found(b, shortest, error, iterations, true));
    }

    // The iteration failed. The static error is ≥ 0 where the tendon is slack; if it is so at the
    // shortest fiber too, the fiber is at its bound.
    b.hold_still();
    let mut lo = shortest;
    let mut hi = slack.max(shortest);
    let at_shortest = b.error(lo);
    if at_shortest >= 0.0 {
        return Some(found(b, lo, at_shortest, iterations, true));
    }
    let at_slack = b.error(hi);
    if at_slack.is_nan() || at_slack < 0.0 {
        return None;
    }
    for _ in 0..200 {
        let middle = 0.5 * (lo + hi);
        if b.error(middle) < 0.0 {
            lo = middle;
        } else {
            hi = middle;
        }
        iterations += 1;
        if hi - lo <= f64::EPSILON * hi {
            break;
        }
    }
    let error = b.error(hi);
    // A balance bisected to roundoff is as good as it gets, whatever the tolerance.
    (error.is_finite()).then(|| found(b, hi, error, iterations, false))
}

/// The error of a failed [`balance`].
pub(crate) fn not_found(length: f64, activation: f64, tolerance: f64) -> MuscleError {
    MuscleError::NoEquilibrium { length, activation, residual: f64::NAN, tolerance, iterations: 0 }
}
