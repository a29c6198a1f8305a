//! Rotation matrices, and their angles in files.

use crate::elementary;
use crate::{Mat33, Over, Real, SymMat33, Vec3, vec3};
use std::ops::Mul;

/// An orthonormal matrix R_AB: it converts components in frame B to components in frame A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation<T>(pub Mat33<T>);

impl<T: Real> Default for Rotation<T> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<T: Real> Rotation<T> {
    /// No rotation.
    #[inline]
    pub fn identity() -> Self {
        Rotation(Mat33::identity())
    }
    /// A constant rotation, lifted from `f64`.
    #[inline]
    pub fn cst(r: Rotation<f64>) -> Self {
        Rotation(Mat33::cst(r.0))
    }
    /// A rotation of constants that may have derivatives.
    #[inline]
    pub fn lift<P: Real>(r: Rotation<P>) -> Self
    where
        T: Over<P>,
    {
        Rotation(Mat33 { col: r.0.col.map(Vec3::lift) })
    }
    /// About the first axis by `a` rad.
    #[inline]
    pub fn about_x(a: T) -> Self {
        let (s, c) = a.sin_cos();
        let (o, l) = (T::zero(), T::one());
        Rotation(Mat33::from_cols(vec3(l, o, o), vec3(o, c, s), vec3(o, -s, c)))
    }
    /// About the second axis by `a` rad.
    #[inline]
    pub fn about_y(a: T) -> Self {
        let (s, c) = a.sin_cos();
        let (o, l) = (T::zero(), T::one());
        Rotation(Mat33::from_cols(vec3(c, o, -s), vec3(o, l, o), vec3(s, o, c)))
    }
    /// About the third axis by `a` rad.
    #[inline]
    pub fn about_z(a: T) -> Self {
        let (s, c) = a.sin_cos();
        let (o, l) = (T::zero(), T::one());
        Rotation(Mat33::from_cols(vec3(c, s, o), vec3(-s, c, o), vec3(o, o, l)))
    }
    /// About the constant unit vector `axis` by `angle` rad (Rodrigues).
    #[inline]
    pub fn about<P: Real>(axis: Vec3<P>, angle: T) -> Self
    where
        T: Over<P>,
    {
        let (s, c) = angle.sin_cos();
        let k = T::one() - c;
        let (x, y, z) = (axis.x, axis.y, axis.z);
        Rotation(Mat33::from_cols(
            vec3(c + k * (x * x), k * (x * y) + s * z, k * (x * z) - s * y),
            vec3(k * (x * y) - s * z, c + k * (y * y), k * (y * z) + s * x),
            vec3(k * (x * z) + s * y, k * (y * z) - s * x, c + k * (z * z)),
        ))
    }
    /// Body-fixed X-Y-Z angles (rad): R = Rx(a) Ry(b) Rz(c), the `orientation` of model files.
    #[inline]
    pub fn body_fixed_xyz(angles: Vec3<T>) -> Self {
        Self::about_x(angles.x) * Self::about_y(angles.y) * Self::about_z(angles.z)
    }
    /// The body-fixed X-Y-Z angles (rad) of this rotation, the middle one in [−π/2, π/2].
    ///
    /// Near gimbal lock, |b| = π/2, only a ± c is determined; c is then 0.
    pub fn to_body_fixed_xyz(&self) -> Vec3<T> {
        let m = &self.0;
        let sb = m.at(0, 2);
        let cb = (m.at(0, 0) * m.at(0, 0) + m.at(0, 1) * m.at(0, 1)).sqrt();
        // 4ε is where the two small entries that fix a and c are rounding alone.
        if cb.usually_below(T::cst(4.0 * f64::EPSILON)) {
            let a = m.at(2, 1).atan2(m.at(1, 1));
            return vec3(a, sb.atan2(cb), T::zero());
        }
        let a = (-m.at(1, 2)).atan2(m.at(2, 2));
        let c = (-m.at(0, 1)).atan2(m.at(0, 0));
        vec3(a, sb.atan2(cb), c)
    }
    /// The inverse, which is the transpose.
    #[inline(always)]
    pub fn inverse(&self) -> Self {
        Rotation(self.0.transpose())
    }
    /// Components in A to components in B: Rᵀ v.
    #[inline(always)]
    pub fn inverse_mul(&self, v: Vec3<T>) -> Vec3<T> {
        self.0.tmul(v)
    }
    /// The axis `i` of B, in A.
    #[inline(always)]
    pub fn axis(&self, i: usize) -> Vec3<T> {
        self.0.col[i]
    }
    /// A symmetric tensor given in B, re-expressed in A: R S Rᵀ.
    #[inline(always)]
    pub fn reexpress(&self, s: SymMat33<T>) -> SymMat33<T> {
        let m = self.0 * s.full();
        let r = &self.0;
        let e = |i: usize, j: usize| m.row(i).dot(r.row(j));
        SymMat33 { xx: e(0, 0), yy: e(1, 1), zz: e(2, 2), xy: e(0, 1), xz: e(0, 2), yz: e(1, 2) }
    }
}

impl Rotation<f64> {
    /// The rotation of a nonzero quaternion w + xi + yj + zk of any length. For a quaternion that is zero or not
    /// finite, entries are not finite.
    pub fn from_quaternion([w, x, y, z]: [f64; 4]) -> Self {
        let s = 2.0 / (w * w + x * x + y * y + z * z);
        Rotation(Mat33::from_cols(
            vec3(1.0 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)),
            vec3(s * (x * y - w * z), 1.0 - s * (x * x + z * z), s * (y * z + w * x)),
            vec3(s * (x * z + w * y), s * (y * z - w * x), 1.0 - s * (x * x + y * y)),
        ))
    }

    /// The unit quaternion w, x, y, z of this rotation, w ≥ 0. The largest component is computed first for accuracy
    /// (Shepperd 1978).
    pub fn to_quaternion(&self) -> [f64; 4] {
        let m = |i: usize, j: usize| self.0.at(i, j);
        let trace = m(0, 0) + m(1, 1) + m(2, 2);
        // Four times each component squared.
        let squares = [
            1.0 + trace,
            1.0 + 2.0 * m(0, 0) - trace,
            1.0 + 2.0 * m(1, 1) - trace,
            1.0 + 2.0 * m(2, 2) - trace,
        ];
        let mut k = 0;
        for i in 1..4 {
            if squares[i] > squares[k] {
                k = i;
            }
        }
        // Differences give 4wx, 4wy, 4wz; sums 4xy, 4xz, 4yz.
        let (wx, wy, wz) = (m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1));
        let (xy, xz, yz) = (m(1, 0) + m(0, 1), m(2, 0) + m(0, 2), m(2, 1) + m(1, 2));
        let q = match k {
            0 => [squares[0], wx, wy, wz],
            1 => [wx, squares[1], xy, xz],
            2 => [wy, xy, squares[2], yz],
            _ => [wz, xz, yz, squares[3]],
        };
        let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        let sign = if q[0] < 0.0 { -1.0 } else { 1.0 };
        q.map(|x| sign * x / length)
    }

    /// The rotation vector θ n, rad: this rotation is one by θ in [0, π] about the unit vector n.
    pub fn to_rotation_vector(&self) -> Vec3<f64> {
        let [w, x, y, z] = self.to_quaternion();
        let v = vec3(x, y, z);
        let sine = v.norm();
        // θ/sin(θ/2) goes to 2 where both vanish.
        let factor = if sine < 1e-8 { 2.0 } else { 2.0 * elementary::atan2(sine, w) / sine };
        v * factor
    }
}

impl<T: Real> Rotation<T> {
    /// This rotation followed by one of `angle` about the unit vector `axis` of the rotated frame.
    ///
    /// About an axis of the frame itself only two columns change.
    #[inline]
    pub fn then_about<P: Real>(self, axis: Vec3<P>, angle: T) -> Self
    where
        T: Over<P>,
    {
        let [x, y, z] = self.0.col;
        // The plane that turns, and the sense.
        let (i, sense) = match axis.value() {
            // An axis with derivatives turns all three columns.
            _ if P::ORDER > 0 => return self * Rotation::about(axis, angle),
            Vec3 { x: s, y: 0.0, z: 0.0 } if s.abs() == 1.0 => (0, s),
            Vec3 { x: 0.0, y: s, z: 0.0 } if s.abs() == 1.0 => (1, s),
            Vec3 { x: 0.0, y: 0.0, z: s } if s.abs() == 1.0 => (2, s),
            _ => return self * Rotation::about(axis, angle),
        };
        let (s, c) = angle.sin_cos();
        let s = s * sense;
        let turn = |a: Vec3<T>, b: Vec3<T>| (a * c + b * s, b * c - a * s);
        Rotation(match i {
            0 => {
                let (y, z) = turn(y, z);
                Mat33::from_cols(x, y, z)
            }
            1 => {
                let (z, x) = turn(z, x);
                Mat33::from_cols(x, y, z)
            }
            _ => {
                let (x, y) = turn(x, y);
                Mat33::from_cols(x, y, z)
            }
        })
    }
}

impl<T: Real> Mul for Rotation<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Rotation(self.0 * o.0)
    }
}
impl<T: Real> Mul<Vec3<T>> for Rotation<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        self.0 * v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_quaternion_and_rotation_vector() {
        for angles in [[0.0; 3], [0.3, -0.8, 2.0], [3.1, 0.02, -0.01], [0.0, 3.12, 0.0], [1e-9, 0.0, 2e-9]] {
            let R = Rotation::body_fixed_xyz(Vec3::from_array(angles));
            let back = Rotation::from_quaternion(R.to_quaternion());
            let v = R.to_rotation_vector();
            let angle = v.norm();
            let axis = if angle > 0.0 { v * (1.0 / angle) } else { Vec3::unit(0) };
            let again = Rotation::about(axis, angle);
            for i in 0..3 {
                assert!((back.axis(i) - R.axis(i)).norm() < 1e-14, "{angles:?}");
                assert!((again.axis(i) - R.axis(i)).norm() < 1e-14, "{angles:?}");
            }
        }
    }

    #[test]
    fn identity_body_fixed_angles_round_trip() {
        for &(a, b, c) in &[(0.3, -1.2, 2.0), (-3.0, 1.5, 0.1), (0.0, 0.0, 0.0)] {
            let q: Vec3<f64> = Rotation::body_fixed_xyz(vec3(a, b, c)).to_body_fixed_xyz();
            assert!((q - vec3(a, b, c)).norm() < 1e-14, "{q:?}");
        }
    }

    #[test]
    fn identity_rodrigues_equals_elementary_rotations() {
        let a = 0.7;
        for (i, r) in [Rotation::about_x(a), Rotation::about_y(a), Rotation::about_z(a)].iter().enumerate() {
            let k = Rotation::about(Vec3::unit(i), a);
            let first = Rotation::about(vec3(0.6, 0.0, 0.8), 0.4);
            let (back, want) = (first.then_about(-Vec3::unit(i), -a), first * k);
            for j in 0..3 {
                assert!((k.axis(j) - r.axis(j)).norm() < 1e-15);
                assert!((back.axis(j) - want.axis(j)).norm() < 1e-15);
            }
        }
    }
}
