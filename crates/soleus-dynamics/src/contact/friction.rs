//! Friction coefficient as a function of slip velocity.

use soleus_math::{Over, Real};

/// Friction coefficient of slip speed v, with v_t the transition velocity:
///
///   μ(v) = min(v/v_t, 1) (μ_d + 2 (μ_s − μ_d)/(1 + (v/v_t)²)) + μ_v v
///
/// Source: Hollars' friction model as Simbody uses it. Only continuous at v = v_t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction<P = f64> {
    dynamic: P,
    /// 2 (μ_s − μ_d).
    stribeck: P,
    viscous: P,
    /// v_t².
    transition_sq: P,
    /// 1/v_t.
    inverse_transition: P,
}

impl<P: Real> Friction<P> {
    /// From μ_s, μ_d, μ_v (s/m) and the transition velocity (m/s, above zero).
    pub fn new(us: P, ud: P, uv: P, transition_velocity: P) -> Self {
        Friction {
            dynamic: ud,
            stribeck: (us - ud) * 2.0,
            viscous: uv,
            transition_sq: transition_velocity * transition_velocity,
            inverse_transition: transition_velocity.recip(),
        }
    }

    /// μ(v)/v as a function of v²: times the slip velocity it is the friction force per normal
    /// force. Written without √ below the transition, so that it is smooth at v = 0.
    #[inline]
    pub fn per_slip<T: Over<P>>(&self, slip_sq: T) -> T {
        let vr_sq = slip_sq * (self.inverse_transition * self.inverse_transition);
        let mu = T::lift(self.stribeck) / (vr_sq + 1.0) + self.dynamic;
        slip_sq.where_below(
            T::lift(self.transition_sq),
            || mu * self.inverse_transition + self.viscous,
            || mu / slip_sq.sqrt() + self.viscous,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;

    /// At the transition velocity 2/(1 + 1) = 1 makes the coefficient μ_s; far above it is μ_d.
    #[test]
    fn analytic_peak_and_plateau() {
        let f = Friction::new(0.9, 0.6, 0.1, 0.2);
        let mu = |v: f64| f.per_slip(v * v) * v;
        assert!((mu(0.2) - (0.9 + 0.1 * 0.2)).abs() < 1e-15);
        assert!((mu(1e6) / 1e6 - 0.1).abs() < 1e-6);
        assert!((mu(100.0) - 0.1 * 100.0 - 0.6).abs() < 1e-5);
    }

    /// At rest the force per slip speed is finite, (2 μ_s − μ_d)/v_t + μ_v, and flat in v.
    #[test]
    fn deriv_at_rest() {
        let f = Friction::new(0.9, 0.6, 0.1, 0.2);
        let v = Dual::<f64, 1>::variable(0.0, 0);
        let slope = (f.per_slip(v * v) * v).d[0];
        assert!((slope - ((2.0 * 0.9 - 0.6) / 0.2 + 0.1)).abs() < 1e-14);
    }
}
