//! Passive moment of a joint with a range.

use crate::Kinematics;
use soleus_math::{Over, Real};

/// τ = −k (q − q_mid) − c u + s max(q_lo − q, 0)² − s max(q − q_hi, 0)², where max(x, 0) is x if positive, else zero.
///
/// Source: DAS3 (Chadwick et al. 2009), numbers of release 2 (2015). The slope is continuous.
#[derive(Clone, Debug, PartialEq)]
pub struct PassiveJoint<P = f64> {
    /// Mobility it acts on.
    pub mobility: usize,
    /// Stiffness k, N·m/rad or N/m.
    pub stiffness: P,
    /// Damping c, N·m·s/rad or N·s/m.
    pub damping: P,
    /// Stiffness of the stops s, N·m/rad² or N/m².
    pub stop_stiffness: P,
    /// Ends of the range q_lo, q_hi, rad or m.
    pub range: [P; 2],
}

impl<P: Real> PassiveJoint<P> {
    /// How far beyond the range, signed.
    #[inline(always)]
    fn beyond<T: Over<P>>(&self, q: T) -> T {
        let [lo, hi] = self.range;
        let above = || T::lift(hi).where_below(q, || q - hi, T::zero);
        q.where_below(T::lift(lo), || q - lo, above)
    }

    /// Generalized force, N·m or N.
    #[inline]
    pub fn magnitude<T: Over<P>>(&self, kin: &Kinematics<T>) -> T {
        let (q, u) = (kin.q[self.mobility], kin.u[self.mobility]);
        let d = self.beyond(q);
        let middle = (self.range[0] + self.range[1]) * 0.5;
        (q - middle) * -self.stiffness - u * self.damping - d * d.abs() * self.stop_stiffness
    }

    /// Energy stored, J.
    pub fn potential_energy<T: Over<P>>(&self, kin: &Kinematics<T>) -> T {
        let q = kin.q[self.mobility];
        let d = self.beyond(q);
        let middle = (self.range[0] + self.range[1]) * 0.5;
        (q - middle).sq() * (self.stiffness * 0.5) + d.sq() * d.abs() * (self.stop_stiffness / 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;

    /// Below, in and above the range: the closed form, and minus the slope of the energy.
    #[test]
    fn deriv_passive_joint() {
        let j = PassiveJoint {
            mobility: 0,
            stiffness: 1.0,
            damping: 2.0,
            stop_stiffness: 5000.0,
            range: [-0.3, 0.5],
        };
        for (q, want) in [(-0.4, 0.5 - 0.2 + 50.0), (0.2, -0.1 - 0.2), (0.51, -0.41 - 0.2 - 0.5)] {
            let at = |q: f64, u: f64| {
                j.magnitude(&Kinematics { time: 0.0, X_GB: &[], V_GB: &[], q: &[q], u: &[u] })
            };
            let tau = at(q, 0.1);
            assert!((tau - want).abs() < 1e-12, "{q}: {tau} {want}");
            let dual = [Dual::<f64, 1>::variable(q, 0)];
            let still = [Dual::zero()];
            let lifted = Kinematics { time: Dual::zero(), X_GB: &[], V_GB: &[], q: &dual, u: &still };
            let energy = j.potential_energy(&lifted);
            assert!((energy.d[0] + at(q, 0.0)).abs() < 1e-12);
            let h = 1e-6;
            let fd = (at(q + h, 0.0) - at(q - h, 0.0)) / (2.0 * h);
            assert!((j.magnitude(&lifted).d[0] - fd).abs() < 1e-6);
        }
    }
}
