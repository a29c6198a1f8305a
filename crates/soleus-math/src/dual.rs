//! Forward-mode derivatives: a value with N directional derivatives.

use crate::Real;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number v and its derivatives d along N directions; nest it for higher derivatives.
///
/// The value part of every operation is bitwise identical to the operation on `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub v: T,
    /// Derivatives along the N seeded directions.
    pub d: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// Independent variable `i` of N.
    #[inline]
    pub fn variable(v: T, i: usize) -> Self {
        let mut d = [T::zero(); N];
        d[i] = T::one();
        Dual { v, d }
    }

    /// A value with given derivatives.
    #[inline]
    pub fn new(v: T, d: [T; N]) -> Self {
        Dual { v, d }
    }

    /// g(self), where g has value `v` and slope `slope` at self.
    #[inline(always)]
    fn map(self, v: T, slope: T) -> Self {
        Dual { v, d: self.d.map(|d| slope * d) }
    }

    #[inline(always)]
    fn product(&self, o: &Self) -> Self {
        Dual { v: self.v * o.v, d: std::array::from_fn(|i| self.d[i] * o.v + self.v * o.d[i]) }
    }

    #[inline(always)]
    fn quotient(&self, o: &Self) -> Self {
        let v = self.v / o.v;
        Dual { v, d: std::array::from_fn(|i| (self.d[i] - v * o.d[i]) / o.v) }
    }

    #[inline(never)]
    fn product_by_call(&self, o: &Self) -> Self {
        self.product(o)
    }

    #[inline(never)]
    fn quotient_by_call(&self, o: &Self) -> Self {
        self.quotient(o)
    }
}

/// Products and quotients of larger numbers are calls: in line, everywhere, they make programs large and slow to build, and next to
/// their arithmetic a call costs little. Eight directions, of which Jacobians are made, stay below; nested numbers are above.
const LARGEST_IN_LINE_BYTES: usize = 128;

impl<T: Real, const N: usize> Default for Dual<T, N> {
    fn default() -> Self {
        Dual { v: T::zero(), d: [T::zero(); N] }
    }
}

impl<T: Real, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Dual { v: self.v + o.v, d: std::array::from_fn(|i| self.d[i] + o.d[i]) }
    }
}
impl<T: Real, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Dual { v: self.v - o.v, d: std::array::from_fn(|i| self.d[i] - o.d[i]) }
    }
}
impl<T: Real, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        if size_of::<Self>() > LARGEST_IN_LINE_BYTES { self.product_by_call(&o) } else { self.product(&o) }
    }
}
impl<T: Real, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        if size_of::<Self>() > LARGEST_IN_LINE_BYTES { self.quotient_by_call(&o) } else { self.quotient(&o) }
    }
}
impl<T: Real, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual { v: -self.v, d: self.d.map(|d| -d) }
    }
}
impl<T: Real, const N: usize> Add<f64> for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: f64) -> Self {
        Dual { v: self.v + o, d: self.d }
    }
}
impl<T: Real, const N: usize> Sub<f64> for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: f64) -> Self {
        Dual { v: self.v - o, d: self.d }
    }
}
impl<T: Real, const N: usize> Mul<f64> for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: f64) -> Self {
        Dual { v: self.v * o, d: self.d.map(|d| d * o) }
    }
}
impl<T: Real, const N: usize> Div<f64> for Dual<T, N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: f64) -> Self {
        Dual { v: self.v / o, d: self.d.map(|d| d / o) }
    }
}
impl<T: Real, const N: usize> AddAssign for Dual<T, N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}
impl<T: Real, const N: usize> SubAssign for Dual<T, N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}
impl<T: Real, const N: usize> MulAssign for Dual<T, N> {
    #[inline(always)]
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}
impl<T: Real, const N: usize> DivAssign for Dual<T, N> {
    #[inline(always)]
    fn div_assign(&mut self, o: Self) {
        *self = *self / o;
    }
}
impl<T: Real, const N: usize> Sum for Dual<T, N> {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::zero(), |a, b| a + b)
    }
}

impl<T: Real, const N: usize> Real for Dual<T, N> {
    const ORDER: usize = T::ORDER + 1;
    const RECORDS: bool = T::RECORDS;
    const SHAPE: Option<[usize; 2]> = if matches!(T::SHAPE, Some([0, _])) { Some([1, N]) } else { None };

    #[inline(always)]
    fn select_below(self, other: Self, yes: Self, no: Self) -> Self {
        let each = |yes, no| self.v.select_below(other.v, yes, no);
        Dual { v: each(yes.v, no.v), d: std::array::from_fn(|i| each(yes.d[i], no.d[i])) }
    }
    #[inline(always)]
    fn select_at_most(self, other: Self, yes: Self, no: Self) -> Self {
        let each = |yes, no| self.v.select_at_most(other.v, yes, no);
        Dual { v: each(yes.v, no.v), d: std::array::from_fn(|i| each(yes.d[i], no.d[i])) }
    }
    #[inline(always)]
    fn enter(part: crate::Part, number: usize) {
        T::enter(part, number);
    }

    #[inline(always)]
    fn cst(x: f64) -> Self {
        Dual { v: T::cst(x), d: [T::zero(); N] }
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.v.value()
    }
    #[inline]
    fn refine(self, residual: Self, slope: Self) -> Self {
        let step = residual / slope;
        Dual { v: self.v.refine(residual.v, slope.v), d: std::array::from_fn(|i| self.d[i] - step.d[i]) }
    }
    #[inline]
    fn sqrt(self) -> Self {
        let v = self.v.sqrt();
        self.map(v, T::cst(0.5) / v)
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.v.sin_cos();
        (self.map(s, c), self.map(c, -s))
    }
    #[inline]
    fn tan(self) -> Self {
        let v = self.v.tan();
        self.map(v, T::one() + v * v)
    }
    #[inline]
    fn asin(self) -> Self {
        self.map(self.v.asin(), (T::one() - self.v * self.v).sqrt().recip())
    }
    #[inline]
    fn acos(self) -> Self {
        self.map(self.v.acos(), -(T::one() - self.v * self.v).sqrt().recip())
    }
    #[inline]
    fn atan(self) -> Self {
        self.map(self.v.atan(), (T::one() + self.v * self.v).recip())
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let r2 = self.v * self.v + x.v * x.v;
        Dual { v: self.v.atan2(x.v), d: std::array::from_fn(|i| (x.v * self.d[i] - self.v * x.d[i]) / r2) }
    }
    #[inline]
    fn exp(self) -> Self {
        let v = self.v.exp();
        self.map(v, v)
    }
    #[inline]
    fn ln(self) -> Self {
        self.map(self.v.ln(), self.v.recip())
    }
    #[inline]
    fn sinh(self) -> Self {
        self.map(self.v.sinh(), self.v.cosh())
    }
    #[inline]
    fn cosh(self) -> Self {
        self.map(self.v.cosh(), self.v.sinh())
    }
    #[inline]
    fn tanh(self) -> Self {
        let v = self.v.tanh();
        self.map(v, T::one() - v * v)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        let slope = if n == 0 { T::zero() } else { self.v.powi(n - 1) * f64::from(n) };
        self.map(self.v.powi(n), slope)
    }
    #[inline]
    fn powf(self, p: f64) -> Self {
        let slope = if p == 0.0 { T::zero() } else { self.v.powf(p - 1.0) * p };
        self.map(self.v.powf(p), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type D = Dual<f64, 1>;
    type DD = Dual<D, 1>;

    /// Every elementary function: slope against a central difference, value against `f64`.
    #[test]
    fn deriv_elementary_functions() {
        fn all<T: Real>(x: T) -> Vec<T> {
            vec![
                x.sqrt(),
                x.sin(),
                x.cos(),
                x.tan(),
                x.asin(),
                x.acos(),
                x.atan(),
                x.atan2(x * x + 1.0),
                x.exp(),
                x.ln(),
                x.sinh(),
                x.cosh(),
                x.tanh(),
                x.powi(-3),
                x.powf(2.5),
                x.recip(),
                x / (x + 2.0),
                x * x - x,
            ]
        }
        let x = 0.37;
        let h = 1e-6;
        let (lo, hi) = (all(x - h), all(x + h));
        for (i, y) in all(D::variable(x, 0)).into_iter().enumerate() {
            let fd = (hi[i] - lo[i]) / (2.0 * h);
            // Truncation h² f‴/6 ~ 1e-11, roundoff ε/h ~ 2e-10; f‴ of x⁻³ is about 4e4 here.
            assert!((y.d[0] - fd).abs() < 1e-6 * fd.abs().max(1.0), "{i}: {} vs {fd}", y.d[0]);
            assert_eq!(y.v.to_bits(), all(x)[i].to_bits(), "value of {i}");
        }
    }

    /// d²/dx² of x³ is 6x through two nested levels.
    #[test]
    fn analytic_nested_second_derivative() {
        let x = DD::new(D::variable(2.0, 0), [D::cst(1.0)]);
        let y = x * x * x;
        assert_eq!(y.d[0].d[0], 12.0);
        assert_eq!(x.powi(3).d[0].d[0], 12.0);
    }

    /// The root of x² = p differentiates as √p does, to second order, and keeps its value.
    #[test]
    fn analytic_refine_is_implicit_differentiation() {
        let p = DD::new(D::variable(2.0, 0), [D::cst(1.0)]);
        let root = 2f64.sqrt();
        let mut x = DD::cst(root);
        for _ in 0..DD::ORDER {
            x = x.refine(x * x - p, x * 2.0);
        }
        let want = p.sqrt();
        assert_eq!(x.value(), root);
        assert!((x.d[0].v - want.d[0].v).abs() < 1e-15);
        assert!((x.d[0].d[0] - want.d[0].d[0]).abs() < 1e-15);
    }
}
