//! Springs and other forces between two points.

use crate::{Kinematics, Loads};
use soleus_math::function::Expression;
use soleus_math::{Over, Real, Vec3};

/// Force between two points as a function of their distance; positive pulls together.
#[derive(Clone, Debug, PartialEq)]
pub enum PointLaw<P = f64> {
    /// k (d − d₀).
    Spring {
        /// Stiffness k, N/m.
        stiffness: P,
        /// Rest length d₀, m.
        rest_length: P,
    },
    /// A formula of d (m) and ḋ (m/s), N.
    Expression(Expression),
}

/// Opposite forces along the line between two points.
///
/// If the points coincide there is no direction and therefore no force (OpenSim: NaN), except for a spring with d₀ = 0,
/// for which f = k r everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct PointToPointForce<P: Real = f64> {
    pub(crate) body1: usize,
    pub(crate) body2: usize,
    /// Points on the bodies where the force acts.
    pub(crate) p_B1: Vec3<P>,
    pub(crate) p_B2: Vec3<P>,
    /// Points that are reported; another place only for offset frames in compatible mode.
    pub(crate) reported: [Vec3<P>; 2],
    /// Law of force.
    pub law: PointLaw<P>,
}

impl<P: Real> PointToPointForce<P> {
    /// The two points and the force on body 1, in ground.
    #[inline]
    pub fn force<T: Over<P>>(&self, kin: &Kinematics<T>) -> (Vec3<T>, Vec3<T>, Vec3<T>) {
        let (p_1, p_2) = (kin.point(self.body1, self.p_B1), kin.point(self.body2, self.p_B2));
        let r = p_2 - p_1;
        let f = match &self.law {
            // With derivatives by the rest length this is not one line through the origin.
            PointLaw::Spring { stiffness, rest_length } if P::ORDER == 0 && rest_length.value() == 0.0 => {
                r * T::lift(*stiffness)
            }
            law => {
                let d = r.norm();
                let apart = || {
                    let f = match law {
                        PointLaw::Spring { stiffness, rest_length } => (d - *rest_length) * *stiffness,
                        PointLaw::Expression(e) => {
                            let v = kin.velocity_at(self.body2, p_2) - kin.velocity_at(self.body1, p_1);
                            e.value(&[d, v.dot(r) / d])
                        }
                    };
                    r * (f / d)
                };
                d.where_at_most(T::zero(), Vec3::zero, apart)
            }
        };
        (p_1, p_2, f)
    }
    /// Adds the forces on both bodies.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        let (p_1, p_2, f) = self.force(kin);
        loads.add_force_at(kin, self.body1, p_1, f);
        loads.add_force_at(kin, self.body2, p_2, -f);
    }
}

impl PointToPointForce {
    /// ½ k (d − d₀)², J, of a spring; zero for an expression.
    #[inline]
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let PointLaw::Spring { stiffness, rest_length } = &self.law else { return T::zero() };
        let r = kin.point(self.body2, self.p_B2) - kin.point(self.body1, self.p_B1);
        if *rest_length == 0.0 {
            return r.norm_sq() * (0.5 * *stiffness);
        }
        (r.norm() - *rest_length).sq() * (0.5 * *stiffness)
    }
    /// Force and point of each body, as OpenSim reports them.
    pub fn record<T: Real>(&self, kin: &Kinematics<T>, out: &mut Vec<T>) {
        let f = self.force(kin).2;
        out.extend(f.to_array());
        out.extend(kin.point(self.body1, self.reported[0]).to_array());
        out.extend((-f).to_array());
        out.extend(kin.point(self.body2, self.reported[1]).to_array());
    }
}
