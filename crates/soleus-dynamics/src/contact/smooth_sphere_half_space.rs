//! A sphere on a half space with a force that is smooth in depth and approach velocity.

use super::{Friction, Touch};
use crate::{BodyFrame, Kinematics};
use soleus_math::{Over, Real, Vec3};

/// Smoothed Hunt–Crossley contact of a sphere (centre c, radius r) with a half space (origin o,
/// n its x axis, which points *into* it).
///
///   d = (c − o)·n + r                                             (1) depth
///   P = c + (r − d/2) n                                           (2) point of contact
///   k = ½ E^(2/3)
///   f_h = 4/3 k √(r k) (d² + ε)^(3/4) (½ + ½ tanh(b_d d))          (3) Hertz
///   f = f_h (1 + 3/2 c v_n) (½ + ½ tanh(b_v (v_n + 2/(3c))))       (4) Hunt–Crossley
///   v_s² = |v_t|² + ε,   f_f = f μ(v_s) v_t/v_s                    (5) friction
///
/// v is the velocity of the sphere's point at P relative to the half space's, v_n = v·n. The
/// force f n + f_f acts on the half space, its opposite on the sphere. ε is the property
/// `constant_contact_force` in (3) and (5) alike: the force never quite vanishes.
///
/// Source: Serrancolí et al. (2019), Falisse et al. (2019); Simbody's
/// SmoothSphereHalfSpaceForce.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothSphereHalfSpace<P = f64> {
    pub(crate) sphere_body: usize,
    /// Centre of the sphere on its body.
    pub(crate) p_BS: Vec3<f64>,
    pub(crate) radius: P,
    /// Frame of the half space.
    pub(crate) half_space: BodyFrame,
    /// 4/3 k √(r k).
    pub(crate) hertz: P,
    pub(crate) dissipation: P,
    pub(crate) friction: Friction<P>,
    pub(crate) epsilon: P,
    pub(crate) bd: P,
    pub(crate) bv: P,
}

impl<P: Real> SmoothSphereHalfSpace<P> {
    /// The contact (force on the half space) and the energy 2/5 f_h d, J.
    #[inline]
    pub fn touch<T: Over<P>>(&self, kin: &Kinematics<T>) -> (Touch<T>, T) {
        let h = self.half_space.body;
        let c = kin.point::<f64>(self.sphere_body, self.p_BS);
        let n = kin.X_GB[h].R * Vec3::cst(self.half_space.X_BF.R.axis(0));
        let o = kin.point::<f64>(h, self.half_space.X_BF.p);
        // (1), (2)
        let d = (c - o).dot(n) + self.radius;
        let P = c + n * (d * -0.5 + self.radius);
        let v = kin.velocity_at(self.sphere_body, P) - kin.velocity_at(h, P);
        let vn = v.dot(n);
        let vt = v - n * vn;
        // (3): (x)^(3/4) by two square roots.
        let root = (d.sq() + self.epsilon).sqrt();
        let fh = root * root.sqrt() * self.hertz * ((d * self.bd).tanh() * 0.5 + 0.5);
        // (4); without dissipation the last factor is 1.
        let mut f = fh * (vn * (self.dissipation * 1.5) + 1.0);
        if self.dissipation.value() != 0.0 {
            let off = P::cst(2.0) / (self.dissipation * 3.0);
            f *= ((vn + off) * self.bv).tanh() * 0.5 + 0.5;
        }
        // (5)
        let mu = self.friction.per_slip(vt.norm_sq() + self.epsilon);
        let force = n * f + vt * (f * mu);
        let touch = Touch { body1: self.sphere_body, body2: h, point: P, force, normal: n };
        (touch, fh * d * 0.4)
    }

    /// Body of the sphere, body of the half space.
    pub fn bodies(&self) -> [usize; 2] {
        [self.sphere_body, self.half_space.body]
    }
}
