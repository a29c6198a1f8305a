//! Step size control.

use soleus_math::elementary;

/// A rule for the next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Controller {
    /// Simbody's rule: h ← 0.9 h (accuracy/e)^(1/p), between 0.1 and 5 times; growth by less than a factor of 1.2 is
    /// ignored; a rejected step shrinks by at least a factor of 0.9; an accepted step never shrinks.
    ///
    /// Source: behaviour of Simbody's integrators (Sherman, Seth & Delp 2011). Same accuracy, same step
    /// sequence as OpenSim.
    Simbody,
    /// Proportional–integral: h ← 0.9 h e⁻ᵅ e₋₁ᵝ with β = 0.04, α = 1/p − ¾β, between 0.2 and 10 times;
    /// no growth right after a rejection.
    ///
    /// Source: Gustafsson (1991) as in Hairer & Wanner (1996), section IV.2.
    ProportionalIntegral {
        /// Relative error of the last accepted step.
        last: f64,
        /// Whether the last attempt was rejected.
        rejected: bool,
    },
}

impl Controller {
    /// A fresh proportional–integral rule.
    pub fn proportional_integral() -> Self {
        Controller::ProportionalIntegral { last: 1e-4, rejected: false }
    }

    /// After an attempt with relative error `e` (1 is just acceptable; infinite if it failed): whether it is accepted,
    /// and the next step. `order` is the order of e in h. `limited` means that the step was shortened, so that its
    /// error says little about longer steps.
    pub fn next(&mut self, h: f64, e: f64, order: i32, limited: bool) -> (bool, f64) {
        match self {
            Controller::Simbody => {
                let mut next = if !e.is_finite() {
                    0.1 * h
                } else if e == 0.0 {
                    5.0 * h
                } else {
                    0.9 * h * elementary::powf(e.recip(), 1.0 / f64::from(order))
                };
                if next > h && (limited || next < 1.2 * h) {
                    next = h;
                }
                if next < h {
                    next = if e <= 1.0 { h } else { next.min(0.9 * h) };
                }
                next = next.min(5.0 * h).max(0.1 * h);
                (next >= h, next)
            }
            Controller::ProportionalIntegral { last, rejected } => {
                const BETA: f64 = 0.04;
                let alpha = 1.0 / f64::from(order) - 0.75 * BETA;
                if !e.is_finite() {
                    *rejected = true;
                    return (false, 0.1 * h);
                }
                if e > 1.0 {
                    *rejected = true;
                    return (false, h * (0.9 * elementary::powf(e, -alpha)).max(0.2));
                }
                let mut factor =
                    (0.9 * elementary::powf(e.max(1e-10), -alpha) * elementary::powf(*last, BETA))
                        .clamp(0.2, 10.0);
                if *rejected || limited {
                    factor = factor.min(1.0);
                }
                *last = e.max(1e-4);
                *rejected = false;
                (true, h * if limited { 1.0 } else { factor })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_simbody_rule() {
        let mut c = Controller::Simbody;
        assert_eq!(c.next(1.0, f64::NAN, 4, false), (false, 0.1));
        assert_eq!(c.next(1.0, 0.0, 4, false), (true, 5.0));
        assert_eq!(c.next(1.0, 0.0, 4, true), (true, 1.0));
        assert_eq!(c.next(1.0, 0.99, 4, false), (true, 1.0));
        assert!(!c.next(1.0, 1.01, 4, false).0);
        assert!(c.next(1.0, 1.01, 4, false).1 <= 0.9);
        let (ok, h) = c.next(1.0, 1.0 / 81.0, 4, false);
        assert!(ok && (h - 2.7).abs() < 1e-12);
    }
}
