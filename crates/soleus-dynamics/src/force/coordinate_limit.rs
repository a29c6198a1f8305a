//! A spring and damper outside the range of a coordinate.

use super::ForceError;
use crate::Kinematics;
use crate::constants::Constants;
use soleus_math::{Over, Real};
use soleus_model::force as model;

/// Limit force on a coordinate (OpenSim's `CoordinateLimitForce`).
///
/// With the quintic step S(x) = x³ (10 − 15 x + 6 x²) on [0, 1], constant outside, limits
/// q_u and q_l, stiffnesses K_u and K_l, damping D and transition t (all in rad or m):
///
///   s_u = S((q − q_u)/t),   s_l = 1 − S((q − q_l + t)/t)                 (1)
///   τ = −K_u s_u (q − q_u) + K_l s_l (q_l − q) − D (s_u + s_l) u         (2)
///
/// OpenSim multiplies the damping term by the stiffness and divides by it again, so a stiffness of zero gives NaN there
/// and a pure damper here.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateLimit<P = f64> {
    /// Mobility it acts on.
    pub mobility: usize,
    upper: P,
    lower: P,
    upper_stiffness: P,
    lower_stiffness: P,
    damping: P,
    transition: P,
    /// Whether `dissipatedEnergy` is a state.
    pub dissipation_state: bool,
}

/// S of equation (1): 0 below 0, 1 above 1, with two continuous derivatives.
#[inline]
pub(crate) fn quintic_step<T: Real>(x: T) -> T {
    let between = || x * x * x * (x * (x * 6.0 - 15.0) + 10.0);
    x.where_at_most(T::zero(), T::zero, || T::one().where_at_most(x, T::one, between))
}

/// S(x/t), a jump when t = 0.
#[inline]
fn rise<P: Real, T: Over<P>>(x: T, t: P) -> T {
    if t.value() > 0.0 { quintic_step(x / t) } else { T::zero().where_below(x, T::one, T::zero) }
}

impl CoordinateLimit {
    /// From the properties of a model; `rotational` means that its angles are in degrees.
    pub fn new(
        m: &model::CoordinateLimitForce,
        mobility: usize,
        rotational: bool,
    ) -> Result<Self, ForceError> {
        CoordinateLimit::new_over(m, mobility, rotational, &mut |_, value| value)
    }
}

impl<P: Real> CoordinateLimit<P> {
    /// The same with each number converted to a constant of type `P` by its name.
    pub fn new_over(
        m: &model::CoordinateLimitForce,
        mobility: usize,
        rotational: bool,
        constant: &mut Constants<P>,
    ) -> Result<Self, ForceError> {
        let w = if rotational { std::f64::consts::PI / 180.0 } else { 1.0 };
        if m.transition.is_nan() || m.transition < 0.0 {
            return Err(ForceError::Property {
                property: "transition",
                value: m.transition,
                wanted: "at least 0",
            });
        }
        Ok(CoordinateLimit {
            mobility,
            upper: constant("upper_limit", m.upper_limit) * w,
            lower: constant("lower_limit", m.lower_limit) * w,
            upper_stiffness: constant("upper_stiffness", m.upper_stiffness) / w,
            lower_stiffness: constant("lower_stiffness", m.lower_stiffness) / w,
            damping: constant("damping", m.damping) / w,
            transition: constant("transition", m.transition) * w,
            dissipation_state: m.compute_dissipation_energy,
        })
    }

    /// The generalized force (N or N·m) and the power it dissipates (W).
    #[inline]
    pub fn magnitude<T: Over<P>>(&self, kin: &Kinematics<T>) -> (T, T) {
        let (q, u) = (kin.q[self.mobility], kin.u[self.mobility]);
        // (1) How far each end is engaged.
        let s_u = rise(q - self.upper, self.transition);
        let s_l = T::one() - rise(q - (self.lower - self.transition), self.transition);
        // (2)
        let damper = (s_u + s_l) * u * -self.damping;
        let tau = s_u * (q - self.upper) * -self.upper_stiffness
            - s_l * (q - self.lower) * self.lower_stiffness
            + damper;
        (tau, -u * damper)
    }
}

impl CoordinateLimit {
    /// Energy stored outside the limits, J: the integral of (2) without damping,
    ///
    ///   δ ≥ t: K (δ²/2 − t²/7);   δ < t: K x³ (2 − 5x/2 + 6x²/7) δ²  with x = δ/t.
    ///
    /// This is OpenSim's polynomial within the transition; if the two limits overlap, it only includes the upper one.
    #[inline]
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let q = kin.q[self.mobility];
        let (k, delta) = if q.value() > self.upper {
            (self.upper_stiffness, q - self.upper)
        } else if q.value() < self.lower {
            (self.lower_stiffness, -(q - self.lower))
        } else {
            return T::zero();
        };
        let t = self.transition;
        if delta.value() >= t {
            (delta.sq() * 0.5 - t * t / 7.0) * k
        } else {
            let x = delta / t;
            x * x * x * (x * (x * (6.0 / 7.0) - 2.5) + 2.0) * delta.sq() * k
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_model::id::CoordinateId;

    fn limit(upper_stiffness: f64, transition: f64) -> CoordinateLimit {
        let m = model::CoordinateLimitForce {
            coordinate: CoordinateId(0),
            upper_stiffness,
            upper_limit: 0.1,
            lower_stiffness: 300.0,
            lower_limit: -0.1,
            damping: 2.0,
            transition,
            compute_dissipation_energy: true,
        };
        CoordinateLimit::new(&m, 0, false).unwrap()
    }
    fn at(limit: &CoordinateLimit, q: f64, u: f64) -> (f64, f64) {
        limit.magnitude(&Kinematics { time: 0.0, X_GB: &[], V_GB: &[], q: &[q], u: &[u] })
    }

    /// Beyond the transition it is a plain spring and damper; between the limits, nothing.
    #[test]
    fn analytic_beyond_the_transition() {
        let l = limit(500.0, 0.05);
        let (tau, power) = at(&l, 0.3, 0.7);
        assert!((tau - (-500.0 * 0.2 - 2.0 * 0.7)).abs() < 1e-12);
        assert!((power - 2.0 * 0.7 * 0.7).abs() < 1e-12);
        assert_eq!(at(&l, 0.02, 5.0), (0.0, 0.0));
        let (tau, _) = at(&l, -0.2, 0.7);
        assert!((tau - (300.0 * 0.1 - 2.0 * 0.7)).abs() < 1e-12);
    }

    /// No stiffness leaves a damper, no transition a jump; neither gives NaN.
    #[test]
    fn analytic_without_stiffness_or_transition() {
        assert!((at(&limit(0.0, 0.05), 0.3, 0.7).0 + 2.0 * 0.7).abs() < 1e-12);
        let jump = limit(500.0, 0.0);
        assert!((at(&jump, 0.1001, 0.0).0 + 500.0 * 0.0001).abs() < 1e-10);
        assert_eq!(at(&jump, 0.0999, 0.0).0, 0.0);
    }
}
