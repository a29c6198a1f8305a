//! A spring between two points.

use crate::{Kinematics, Loads};
use soleus_math::{Real, Vec3};

/// f = k (d − d₀) along the line between two points, pulling them together when stretched.
///
/// Without direction, hence without force, when the points coincide (OpenSim: NaN), except for
/// d₀ = 0 where f = k r holds everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct PointToPointSpring {
    pub(crate) body1: usize,
    pub(crate) body2: usize,
    /// Points on the bodies where the force acts.
    pub(crate) p_B1: Vec3<f64>,
    pub(crate) p_B2: Vec3<f64>,
    /// Points that are reported; another place only for offset frames in compatible mode.
    pub(crate) reported: [Vec3<f64>; 2],
    /// Stiffness k, N/m.
    pub stiffness: f64,
    /// Rest length d₀, m.
    pub rest_length: f64,
}

impl PointToPointSpring {
    /// The two points and the force on body 1, in ground.
    #[inline]
    pub fn force<T: Real>(&self, kin: &Kinematics<T>) -> (Vec3<T>, Vec3<T>, Vec3<T>) {
        let (p_1, p_2) = (kin.point(self.body1, self.p_B1), kin.point(self.body2, self.p_B2));
        let r = p_2 - p_1;
        if self.rest_length == 0.0 {
            return (p_1, p_2, r * T::cst(self.stiffness));
        }
        let d = r.norm();
        if d.value() == 0.0 {
            return (p_1, p_2, Vec3::zero());
        }
        (p_1, p_2, r * ((d - self.rest_length) * self.stiffness / d))
    }
    /// Adds the forces on both bodies.
    #[inline]
    pub fn apply<T: Real>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        let (p_1, p_2, f) = self.force(kin);
        loads.add_force_at(kin, self.body1, p_1, f);
        loads.add_force_at(kin, self.body2, p_2, -f);
    }
    /// ½ k (d − d₀)², J.
    #[inline]
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let r = kin.point(self.body2, self.p_B2) - kin.point(self.body1, self.p_B1);
        if self.rest_length == 0.0 {
            return r.norm_sq() * (0.5 * self.stiffness);
        }
        (r.norm() - self.rest_length).sq() * (0.5 * self.stiffness)
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
