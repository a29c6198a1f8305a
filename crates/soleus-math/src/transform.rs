//! Poses: rotation and position.

use crate::{Over, Real, Rotation, Vec3};
use std::ops::Mul;

/// The pose X_AB of frame B in frame A: `p_A = R p_B + p`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transform<T: Real> {
    /// Rotation R_AB.
    pub R: Rotation<T>,
    /// Origin of B, from the origin of A, in A.
    pub p: Vec3<T>,
}

impl<T: Real> Transform<T> {
    /// The two frames coincide.
    #[inline]
    pub fn identity() -> Self {
        Self::default()
    }
    /// From a rotation and a translation.
    #[inline(always)]
    pub fn new(R: Rotation<T>, p: Vec3<T>) -> Self {
        Transform { R, p }
    }
    /// A constant pose, lifted from `f64`.
    #[inline]
    pub fn cst(x: Transform<f64>) -> Self {
        Transform { R: Rotation::cst(x.R), p: Vec3::cst(x.p) }
    }
    /// A pose of constants that may have derivatives.
    #[inline]
    pub fn lift<P: Real>(x: Transform<P>) -> Self
    where
        T: Over<P>,
    {
        Transform { R: Rotation::lift(x.R), p: Vec3::lift(x.p) }
    }
    /// From a translation and body-fixed X-Y-Z angles, as for offset frames in model files.
    #[inline]
    pub fn from_offset(translation: Vec3<T>, orientation: Vec3<T>) -> Self {
        Transform { R: Rotation::body_fixed_xyz(orientation), p: translation }
    }
    /// B rotated about its origin by small angles about the axes of A, and then shifted in A. First order in the
    /// angles: for angles that have derivatives only.
    pub fn nudged(&self, turn: Vec3<T>, shift: Vec3<T>) -> Self {
        let mut X = *self;
        for c in &mut X.R.0.col {
            *c += turn.cross(*c);
        }
        X.p += shift;
        X
    }
    /// X_BA.
    #[inline]
    pub fn inverse(&self) -> Self {
        Transform { R: self.R.inverse(), p: -self.R.inverse_mul(self.p) }
    }
    /// A point given in A, in B.
    #[inline]
    pub fn inverse_mul(&self, p: Vec3<T>) -> Vec3<T> {
        self.R.inverse_mul(p - self.p)
    }
}

impl<T: Real> Mul for Transform<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Transform { R: self.R * o.R, p: self.R * o.p + self.p }
    }
}
impl<T: Real> Mul<Vec3<T>> for Transform<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, p: Vec3<T>) -> Vec3<T> {
        self.R * p + self.p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3;

    #[test]
    fn identity_inverse_undoes() {
        let x = Transform::from_offset(vec3(1.0, 2.0, 3.0), vec3(0.4, -0.7, 1.9));
        let p = vec3(0.3, -0.1, 0.8);
        assert!((x.inverse() * (x * p) - p).norm() < 1e-15);
        assert!((x.inverse_mul(x * p) - p).norm() < 1e-15);
    }
}
