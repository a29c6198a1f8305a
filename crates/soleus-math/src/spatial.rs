//! Spatial vectors and inertias: angular part first, then linear, expressed in ground and
//! taken about a named point.

use crate::{Real, SymMat33, Vec3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A velocity (ω, v), an acceleration (α, a), or a wrench (moment, force).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialVec<T> {
    /// Angular part: ω, α or a moment.
    pub w: Vec3<T>,
    /// Linear part: v, a or a force.
    pub v: Vec3<T>,
}

impl<T: Real> SpatialVec<T> {
    /// From its two parts.
    #[inline(always)]
    pub fn new(w: Vec3<T>, v: Vec3<T>) -> Self {
        SpatialVec { w, v }
    }
    /// Zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::default()
    }
    /// Power of a wrench on a velocity (same point): m·ω + f·v.
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        self.w.dot(o.w) + self.v.dot(o.v)
    }
    /// A wrench at point Q moved to point P, where `p_PQ` leads from P to Q.
    #[inline(always)]
    pub fn wrench_shifted(self, p_PQ: Vec3<T>) -> Self {
        SpatialVec { w: self.w + p_PQ.cross(self.v), v: self.v }
    }
    /// A velocity at point P moved to point Q of the same body, where `p_PQ` leads from P to Q.
    #[inline(always)]
    pub fn velocity_shifted(self, p_PQ: Vec3<T>) -> Self {
        SpatialVec { w: self.w, v: self.v + self.w.cross(p_PQ) }
    }
}

impl<T: Real> Add for SpatialVec<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        SpatialVec { w: self.w + o.w, v: self.v + o.v }
    }
}
impl<T: Real> Sub for SpatialVec<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        SpatialVec { w: self.w - o.w, v: self.v - o.v }
    }
}
impl<T: Real> Neg for SpatialVec<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        SpatialVec { w: -self.w, v: -self.v }
    }
}
impl<T: Real> Mul<T> for SpatialVec<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        SpatialVec { w: self.w * s, v: self.v * s }
    }
}
impl<T: Real> AddAssign for SpatialVec<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<T: Real> SubAssign for SpatialVec<T> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

/// Mass, first moment and second moment of a rigid body about a point O, in ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialInertia<T> {
    /// Mass, kg.
    pub mass: T,
    /// Mass times the vector from O to the centre of mass, kg·m.
    pub moment: Vec3<T>,
    /// Inertia about O, kg·m².
    pub inertia: SymMat33<T>,
}

impl<T: Real> SpatialInertia<T> {
    /// Momentum of the velocity `v` about O: (I ω + h × v, m v + ω × h).
    #[inline(always)]
    pub fn momentum(&self, v: SpatialVec<T>) -> SpatialVec<T> {
        SpatialVec {
            w: self.inertia * v.w + self.moment.cross(v.v),
            v: v.v * self.mass + v.w.cross(self.moment),
        }
    }
    /// The same body about another point P, where `p_PO` leads from P to O.
    ///
    ///   h_P = h + m p,   I_P = I + \[h, p\] + m (|p|² 1 − p pᵀ)
    ///
    /// with \[h, p\] = 2(h·p) 1 − h pᵀ − p hᵀ.
    #[inline(always)]
    pub fn shifted(&self, p_PO: Vec3<T>) -> Self {
        let (h, p) = (self.moment, p_PO);
        // Point inertia of a sum: of(h/m + p)·m expands to the cross terms below without dividing by m.
        let cross = SymMat33 {
            xx: (h.y * p.y + h.z * p.z) * 2.0,
            yy: (h.x * p.x + h.z * p.z) * 2.0,
            zz: (h.x * p.x + h.y * p.y) * 2.0,
            xy: -(h.x * p.y + h.y * p.x),
            xz: -(h.x * p.z + h.z * p.x),
            yz: -(h.y * p.z + h.z * p.y),
        };
        SpatialInertia {
            mass: self.mass,
            moment: h + p * self.mass,
            inertia: self.inertia + cross + SymMat33::of_point(p).scale(self.mass),
        }
    }
}
impl<T: Real> Add for SpatialInertia<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        SpatialInertia {
            mass: self.mass + o.mass,
            moment: self.moment + o.moment,
            inertia: self.inertia + o.inertia,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3;

    /// Kinetic energy does not depend on the point it is reckoned about.
    #[test]
    fn conserves_energy_when_shifted() {
        let i = SpatialInertia {
            mass: 2.0,
            moment: vec3(0.4, -0.2, 0.6),
            inertia: SymMat33 { xx: 3.0, yy: 2.5, zz: 1.9, xy: 0.1, xz: -0.2, yz: 0.05 },
        };
        let p_PO = vec3(0.7, -1.1, 0.4);
        let at_o = SpatialVec::new(vec3(1.0, -0.5, 0.3), vec3(0.2, 0.9, -1.3));
        let at_p = at_o.velocity_shifted(-p_PO);
        let (a, b) = (at_o.dot(i.momentum(at_o)), at_p.dot(i.shifted(p_PO).momentum(at_p)));
        assert!((a - b).abs() < 1e-13 * a, "{a} {b}");
    }
}
