//! Vectors and matrices of three-dimensional space.

use crate::{Over, Real};
use std::ops::{Add, AddAssign, Div, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// A vector in three dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3<T> {
    /// First component.
    pub x: T,
    /// Second component.
    pub y: T,
    /// Third component.
    pub z: T,
}

/// Shorthand for a [`Vec3`].
#[inline(always)]
pub const fn vec3<T>(x: T, y: T, z: T) -> Vec3<T> {
    Vec3 { x, y, z }
}

impl<T: Real> Vec3<T> {
    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Self {
        vec3(T::zero(), T::zero(), T::zero())
    }
    /// A constant vector, lifted from `f64`.
    #[inline(always)]
    pub fn cst(v: Vec3<f64>) -> Self {
        vec3(T::cst(v.x), T::cst(v.y), T::cst(v.z))
    }
    /// A vector of constants that may have derivatives.
    #[inline(always)]
    pub fn lift<P: Real>(v: Vec3<P>) -> Self
    where
        T: Over<P>,
    {
        vec3(T::lift(v.x), T::lift(v.y), T::lift(v.z))
    }
    /// The unit vector along axis `i`.
    #[inline]
    pub fn unit(i: usize) -> Self {
        let mut e = Self::zero();
        e[i] = T::one();
        e
    }
    /// The value without derivatives.
    #[inline]
    #[track_caller]
    pub fn value(self) -> Vec3<f64> {
        vec3(self.x.value(), self.y.value(), self.z.value())
    }
    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, o: Self) -> T {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        vec3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }
    /// Squared length.
    #[inline(always)]
    pub fn norm_sq(self) -> T {
        self.dot(self)
    }
    /// Length.
    #[inline(always)]
    pub fn norm(self) -> T {
        self.norm_sq().sqrt()
    }
    /// Direction; NaN for the zero vector.
    #[inline(always)]
    pub fn normalized(self) -> Self {
        self / self.norm()
    }
    /// Product component by component.
    #[inline]
    pub fn mul_elem(self, o: Self) -> Self {
        vec3(self.x * o.x, self.y * o.y, self.z * o.z)
    }
    /// The components as an array.
    #[inline]
    pub fn to_array(self) -> [T; 3] {
        [self.x, self.y, self.z]
    }
    /// From an array of components.
    #[inline]
    pub fn from_array(a: [T; 3]) -> Self {
        vec3(a[0], a[1], a[2])
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
impl<T: Real> Neg for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        vec3(-self.x, -self.y, -self.z)
    }
}
impl<T: Real> Mul<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: T) -> Self {
        vec3(self.x * s, self.y * s, self.z * s)
    }
}
impl<T: Real> Div<T> for Vec3<T> {
    type Output = Self;
    #[inline(always)]
    fn div(self, s: T) -> Self {
        vec3(self.x / s, self.y / s, self.z / s)
    }
}
impl<T: Real> AddAssign for Vec3<T> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<T: Real> SubAssign for Vec3<T> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}
impl<T> Index<usize> for Vec3<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        match i {
            0 => &self.x,
            1 => &self.y,
            _ => &self.z,
        }
    }
}
impl<T> IndexMut<usize> for Vec3<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        match i {
            0 => &mut self.x,
            1 => &mut self.y,
            _ => &mut self.z,
        }
    }
}

/// A 3×3 matrix, stored by columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mat33<T> {
    /// The three columns.
    pub col: [Vec3<T>; 3],
}

impl<T: Real> Mat33<T> {
    /// From the entries row by row.
    #[inline]
    pub fn from_rows(r: [[T; 3]; 3]) -> Self {
        Mat33 { col: std::array::from_fn(|j| vec3(r[0][j], r[1][j], r[2][j])) }
    }
    /// From three columns.
    #[inline(always)]
    pub fn from_cols(a: Vec3<T>, b: Vec3<T>, c: Vec3<T>) -> Self {
        Mat33 { col: [a, b, c] }
    }
    /// A constant matrix, lifted from `f64`.
    #[inline]
    pub fn cst(m: Mat33<f64>) -> Self {
        Mat33 { col: m.col.map(Vec3::cst) }
    }
    /// The identity.
    #[inline]
    pub fn identity() -> Self {
        Mat33 { col: std::array::from_fn(Vec3::unit) }
    }
    /// Entry in row `i`, column `j`.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.col[j][i]
    }
    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Vec3<T> {
        vec3(self.col[0][i], self.col[1][i], self.col[2][i])
    }
    /// The transpose.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        Mat33 { col: [self.row(0), self.row(1), self.row(2)] }
    }
    /// Transpose times vector.
    #[inline(always)]
    pub fn tmul(&self, v: Vec3<T>) -> Vec3<T> {
        vec3(self.col[0].dot(v), self.col[1].dot(v), self.col[2].dot(v))
    }
}

impl<T: Real> Mul<Vec3<T>> for Mat33<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        self.col[0] * v.x + self.col[1] * v.y + self.col[2] * v.z
    }
}
impl<T: Real> Mul for Mat33<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Mat33 { col: [self * o.col[0], self * o.col[1], self * o.col[2]] }
    }
}

/// A symmetric 3×3 matrix, such as an inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SymMat33<T> {
    /// Entry (0, 0).
    pub xx: T,
    /// Entry (1, 1).
    pub yy: T,
    /// Entry (2, 2).
    pub zz: T,
    /// Entry (0, 1).
    pub xy: T,
    /// Entry (0, 2).
    pub xz: T,
    /// Entry (1, 2).
    pub yz: T,
}

impl<T: Real> SymMat33<T> {
    /// The zero matrix.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::default()
    }
    /// A constant matrix, lifted from `f64`.
    #[inline]
    pub fn cst(m: SymMat33<f64>) -> Self {
        SymMat33 {
            xx: T::cst(m.xx),
            yy: T::cst(m.yy),
            zz: T::cst(m.zz),
            xy: T::cst(m.xy),
            xz: T::cst(m.xz),
            yz: T::cst(m.yz),
        }
    }
    /// The inertia of a unit point mass at `p` about the origin: |p|² 1 − p pᵀ.
    #[inline(always)]
    pub fn of_point(p: Vec3<T>) -> Self {
        let (xx, yy, zz) = (p.x * p.x, p.y * p.y, p.z * p.z);
        SymMat33 {
            xx: yy + zz,
            yy: xx + zz,
            zz: xx + yy,
            xy: -(p.x * p.y),
            xz: -(p.x * p.z),
            yz: -(p.y * p.z),
        }
    }
    /// Times a scalar.
    #[inline(always)]
    pub fn scale(self, s: T) -> Self {
        SymMat33 {
            xx: self.xx * s,
            yy: self.yy * s,
            zz: self.zz * s,
            xy: self.xy * s,
            xz: self.xz * s,
            yz: self.yz * s,
        }
    }
    /// As a full matrix.
    #[inline]
    pub fn full(&self) -> Mat33<T> {
        Mat33::from_cols(
            vec3(self.xx, self.xy, self.xz),
            vec3(self.xy, self.yy, self.yz),
            vec3(self.xz, self.yz, self.zz),
        )
    }
}
impl<T: Real> Add for SymMat33<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        SymMat33 {
            xx: self.xx + o.xx,
            yy: self.yy + o.yy,
            zz: self.zz + o.zz,
            xy: self.xy + o.xy,
            xz: self.xz + o.xz,
            yz: self.yz + o.yz,
        }
    }
}
impl<T: Real> Sub for SymMat33<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self + o.scale(T::cst(-1.0))
    }
}
impl<T: Real> Mul<Vec3<T>> for SymMat33<T> {
    type Output = Vec3<T>;
    #[inline(always)]
    fn mul(self, v: Vec3<T>) -> Vec3<T> {
        vec3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_cross_product_is_orthogonal() {
        let (a, b) = (vec3(1.0, -2.0, 0.5), vec3(0.3, 4.0, 1.5));
        let c = a.cross(b);
        assert!(c.dot(a).abs() < 1e-15 && c.dot(b).abs() < 1e-15);
    }

    /// I(p) v = p × (v × p).
    #[test]
    fn identity_point_inertia() {
        let (p, v) = (vec3(1.0, -2.0, 0.5), vec3(0.3, 4.0, 1.5));
        let d = SymMat33::of_point(p) * v - p.cross(v.cross(p));
        assert!(d.norm() < 1e-14);
    }
}
