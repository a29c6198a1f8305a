//! Pennation of fibers in a muscle of constant thickness.

use super::error::{MuscleError, require};
use soleus_math::{Over, Real};

/// ε^(7/8), where Simbody draws the line between a number and noise.
pub(crate) const SIGNIFICANT: f64 = 2.009_718_347_115_232_2e-14;

/// A fiber counts as being at its shortest up to this factor above it: room for a state that went through
/// a file with 14 digits. (OpenSim compares exactly.)
pub(crate) const AT_SHORTEST: f64 = 1.0 + 1e-12;

/// Fixed-width pennation:
///
///   h = l₀ sin α₀                    thickness, constant
///   sin φ = h/l,  φ ≤ φ_max          (1)
///   l_t = L − l cos φ                (2)
///   l̇ = (L̇ − l̇_t) cos φ             (3)
///   φ̇ = −(l̇/l) tan φ                 (4)
///
/// Source: Scott and Winter (1991); OpenSim's MuscleFixedWidthPennationModel. Below l_min = h/sin φ_max the angle is
/// φ_max. Smooth for l > l_min.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedWidthPennation<P = f64> {
    pennate: bool,
    height: P,
    max_angle: P,
    sin_max: P,
    cos_max: P,
    min_length: P,
    min_length_along_tendon: P,
}

impl<P: Real> FixedWidthPennation<P> {
    /// Optimal fiber length l₀ > 0 (m), pennation angle α₀ ∈ [0, π/2) at this length, maximum angle φ_max ∈ [0, π/2].
    pub fn new(l0: P, alpha0: P, max_angle: P) -> Result<FixedWidthPennation<P>, MuscleError> {
        let right = std::f64::consts::FRAC_PI_2;
        require("optimal_fiber_length", l0.value(), l0.value() > 0.0, "greater than zero")?;
        let ok = (0.0..=right - SIGNIFICANT).contains(&alpha0.value());
        require("pennation_angle_at_optimal", alpha0.value(), ok, "in [0, π/2)")?;
        let ok = (0.0..=right).contains(&max_angle.value());
        require("maximum_pennation_angle", max_angle.value(), ok, "in [0, π/2]")?;
        let height = l0 * alpha0.sin();
        let sin_max = max_angle.sin();
        let min_length = if max_angle.value() > SIGNIFICANT { height / sin_max } else { l0 * 0.01 };
        let cos_max = max_angle.cos();
        Ok(FixedWidthPennation {
            pennate: alpha0.value() > f64::EPSILON,
            height,
            max_angle,
            sin_max,
            cos_max,
            min_length,
            min_length_along_tendon: min_length * cos_max,
        })
    }

    /// l_min = h/sin φ_max, m; zero without pennation.
    pub fn min_length(&self) -> P {
        self.min_length
    }

    /// Thickness h, m.
    pub fn height(&self) -> P {
        self.height
    }

    /// sin φ and cos φ at fiber length l.
    #[inline(always)]
    pub fn sin_cos<T: Over<P>>(&self, l: T) -> (T, T) {
        if !self.pennate {
            return (T::zero(), T::one());
        }
        let most = || (T::lift(self.sin_max), T::lift(self.cos_max));
        T::lift(self.min_length).where_below(
            l,
            || {
                let s = l.recip() * self.height;
                s.where_below(T::lift(self.sin_max), || (s, (T::one() - s * s).sqrt()), most)
            },
            most,
        )
    }

    /// Length of the fiber along the tendon, l cos φ = √(l² − h²), m, and 1/cos φ.
    ///
    /// They are computed independently of each other and of sin φ, for speed.
    #[inline(always)]
    pub fn along_tendon<T: Over<P>>(&self, l: T) -> (T, T) {
        if !self.pennate {
            return (l, T::one());
        }
        let most = || (l * self.cos_max, T::lift(self.cos_max.recip()));
        T::lift(self.min_length).where_below(
            l,
            || {
                T::lift(self.height).where_below(
                    l * self.sin_max,
                    || {
                        let along = (l * l - self.height * self.height).sqrt();
                        (along, l / along)
                    },
                    most,
                )
            },
            most,
        )
    }

    /// φ at fiber length l, rad.
    #[inline]
    pub fn angle<T: Over<P>>(&self, l: T) -> T {
        if !self.pennate {
            return T::zero();
        }
        let s = self.sin_cos(l).0;
        s.where_below(T::lift(self.sin_max), || s.asin(), || T::lift(self.max_angle))
    }

    /// Fiber length when the tendon has length l_t: √(h² + (L − l_t)²), not below l_min.
    #[inline]
    pub fn fiber_length<T: Over<P>>(&self, L: T, lt: T) -> T {
        let along = L - lt;
        T::lift(self.min_length_along_tendon).where_at_most(
            along,
            || (along * along + self.height * self.height).sqrt(),
            || T::lift(self.min_length),
        )
    }

    /// dφ/dl = −(h/l²)/√(1 − (h/l)²) of the unbounded angle.
    #[inline]
    pub fn angle_slope<T: Over<P>>(&self, l: T) -> T {
        let s = l.recip() * self.height;
        -(s / l) / (T::one() - s * s).sqrt()
    }

    /// φ̇ of (4).
    #[inline]
    pub fn angle_rate<T: Over<P>>(&self, l: T, ldot: T, sin: T, cos: T) -> T {
        if self.pennate { -(ldot / l) * (sin / cos) } else { T::zero() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;

    /// A 3-4-5 triangle.
    #[test]
    fn analytic_three_four_five() {
        let p = FixedWidthPennation::new(0.05, 0.6f64.asin(), 0.1f64.acos()).unwrap();
        let (s, c) = p.sin_cos(0.05);
        assert!((s - 0.6).abs() < 1e-15 && (c - 0.8).abs() < 1e-15);
        assert!((p.fiber_length(0.24, 0.2) - 0.05).abs() < 1e-15);
        assert_eq!(p.sin_cos(0.001).1, p.cos_max);
        assert!((p.angle(0.05) - 0.6f64.asin()).abs() < 1e-15);
        assert!(FixedWidthPennation::new(0.05, -0.1, 1.0).is_err());
    }

    /// Angle and its slope, and the length: duals against central differences.
    #[test]
    fn deriv_angle_and_length() {
        let p = FixedWidthPennation::new(0.05, 0.4, 0.1f64.acos()).unwrap();
        type D = Dual<f64, 1>;
        let (l, h) = (0.045, 1e-7);
        let fd = (p.angle(l + h) - p.angle(l - h)) / (2.0 * h);
        // Truncation h² φ‴ ~ 1e-9, roundoff ε/h ~ 2e-9.
        assert!((p.angle_slope(l) - fd).abs() < 1e-7);
        assert!((p.angle(D::variable(l, 0)).d[0] - fd).abs() < 1e-7);
        let fd = (p.sin_cos(l + h).1 - p.sin_cos(l - h).1) / (2.0 * h);
        assert!((p.sin_cos(D::variable(l, 0)).1.d[0] - fd).abs() < 1e-7);
        let fd = (p.fiber_length(0.3 + h, 0.26) - p.fiber_length(0.3 - h, 0.26)) / (2.0 * h);
        assert!((p.fiber_length(D::variable(0.3, 0), D::cst(0.26)).d[0] - fd).abs() < 1e-7);
    }
}
