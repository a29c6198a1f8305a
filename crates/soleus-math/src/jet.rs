//! Second derivatives in one pass: a value with its gradient and Hessian.

use crate::Real;
use crate::elementary;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number v with its derivatives g with respect to N variables and its Hessian h, of which the lower triangle is
/// stored: ∂²/∂xᵢ∂xⱼ, j ≤ i, at i(i+1)/2 + j. H must be N(N+1)/2.
///
/// It takes half the work of nested [`Dual`](crate::Dual) numbers over the same variables. The value part of every
/// operation is bitwise identical to that of `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const N: usize, const H: usize> {
    /// The value.
    pub v: f64,
    /// First derivatives.
    pub g: [f64; N],
    /// Second derivatives, lower triangle.
    pub h: [f64; H],
}

impl<const N: usize, const H: usize> Jet<N, H> {
    const SIZES_FIT: () = assert!(H == N * (N + 1) / 2);

    /// Independent variable `i` of N.
    #[inline]
    pub fn variable(v: f64, i: usize) -> Self {
        let mut x = Self::cst(v);
        x.g[i] = 1.0;
        x
    }

    /// ∂²/∂xᵢ∂xⱼ.
    #[inline(always)]
    pub fn second(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i < j { (j, i) } else { (i, j) };
        self.h[i * (i + 1) / 2 + j]
    }

    /// φ(self), where φ has value `v`, slope `d` and second derivative `dd` at self.
    //
    // This and the products are long loops; inlined everywhere they would only make programs large.
    #[inline(never)]
    fn map(&self, v: f64, d: f64, dd: f64) -> Self {
        let mut y = *self;
        y.v = v;
        let mut k = 0;
        for i in 0..N {
            let s = dd * self.g[i];
            for j in 0..=i {
                y.h[k] = d * self.h[k] + s * self.g[j];
                k += 1;
            }
            y.g[i] = d * self.g[i];
        }
        y
    }

    /// a b.
    #[inline(never)]
    fn product(a: &Self, b: &Self) -> Self {
        let mut y = Self::cst(a.v * b.v);
        let mut k = 0;
        for i in 0..N {
            let (ai, bi) = (a.g[i], b.g[i]);
            for j in 0..=i {
                y.h[k] = a.h[k] * b.v + a.v * b.h[k] + (ai * b.g[j] + a.g[j] * bi);
                k += 1;
            }
            y.g[i] = ai * b.v + a.v * bi;
        }
        y
    }

    /// a / b, from a = y b: ∂a = ∂y b + y ∂b, ∂²a = ∂²y b + 2 ∂y ∂b + y ∂²b.
    #[inline(never)]
    fn quotient(a: &Self, b: &Self) -> Self {
        let mut y = Self::cst(a.v / b.v);
        let mut k = 0;
        for i in 0..N {
            y.g[i] = (a.g[i] - y.v * b.g[i]) / b.v;
            let (yi, bi) = (y.g[i], b.g[i]);
            for j in 0..=i {
                y.h[k] = (a.h[k] - y.v * b.h[k] - (yi * b.g[j] + y.g[j] * bi)) / b.v;
                k += 1;
            }
        }
        y
    }

    /// factor · self.
    #[inline(never)]
    fn scaled(&self, factor: f64) -> Self {
        let mut y = *self;
        y.v *= factor;
        y.g.iter_mut().for_each(|x| *x *= factor);
        y.h.iter_mut().for_each(|x| *x *= factor);
        y
    }

    /// self + factor · o; for factors ±1 exactly the sum and the difference.
    #[inline(never)]
    fn add_scaled(&mut self, o: &Self, factor: f64) {
        self.v += factor * o.v;
        for (a, b) in self.g.iter_mut().zip(&o.g) {
            *a += factor * b;
        }
        for (a, b) in self.h.iter_mut().zip(&o.h) {
            *a += factor * b;
        }
    }
}

impl<const N: usize, const H: usize> Default for Jet<N, H> {
    fn default() -> Self {
        Self::cst(0.0)
    }
}
impl<const N: usize, const H: usize> Add for Jet<N, H> {
    type Output = Self;
    #[inline]
    fn add(mut self, o: Self) -> Self {
        self += o;
        self
    }
}
impl<const N: usize, const H: usize> Sub for Jet<N, H> {
    type Output = Self;
    #[inline]
    fn sub(mut self, o: Self) -> Self {
        self -= o;
        self
    }
}
impl<const N: usize, const H: usize> Mul for Jet<N, H> {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        Self::product(&self, &o)
    }
}
impl<const N: usize, const H: usize> Div for Jet<N, H> {
    type Output = Self;
    #[inline]
    fn div(self, o: Self) -> Self {
        Self::quotient(&self, &o)
    }
}
impl<const N: usize, const H: usize> Neg for Jet<N, H> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.scaled(-1.0)
    }
}
impl<const N: usize, const H: usize> Add<f64> for Jet<N, H> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, o: f64) -> Self {
        self.v += o;
        self
    }
}
impl<const N: usize, const H: usize> Sub<f64> for Jet<N, H> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, o: f64) -> Self {
        self.v -= o;
        self
    }
}
impl<const N: usize, const H: usize> Mul<f64> for Jet<N, H> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: f64) -> Self {
        self.scaled(o)
    }
}
impl<const N: usize, const H: usize> Div<f64> for Jet<N, H> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: f64) -> Self {
        Jet { v: self.v / o, ..self.scaled(o.recip()) }
    }
}
impl<const N: usize, const H: usize> AddAssign for Jet<N, H> {
    #[inline]
    fn add_assign(&mut self, o: Self) {
        self.add_scaled(&o, 1.0);
    }
}
impl<const N: usize, const H: usize> SubAssign for Jet<N, H> {
    #[inline]
    fn sub_assign(&mut self, o: Self) {
        self.add_scaled(&o, -1.0);
    }
}
impl<const N: usize, const H: usize> MulAssign for Jet<N, H> {
    #[inline(always)]
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}
impl<const N: usize, const H: usize> DivAssign for Jet<N, H> {
    #[inline(always)]
    fn div_assign(&mut self, o: Self) {
        *self = *self / o;
    }
}
impl<const N: usize, const H: usize> Sum for Jet<N, H> {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::zero(), |a, b| a + b)
    }
}

impl<const N: usize, const H: usize> Real for Jet<N, H> {
    const ORDER: usize = 2;
    const SHAPE: Option<[usize; 2]> = Some([2, N]);

    #[inline(always)]
    fn cst(x: f64) -> Self {
        let () = Self::SIZES_FIT;
        Jet { v: x, g: [0.0; N], h: [0.0; H] }
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.v
    }
    #[inline]
    fn refine(self, residual: Self, slope: Self) -> Self {
        let step = residual / slope;
        Jet { v: self.v, ..self - step }
    }
    #[inline]
    fn sqrt(self) -> Self {
        let v = self.v.sqrt();
        let d = 0.5 / v;
        self.map(v, d, -0.5 * d / self.v)
    }
    #[inline]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = elementary::sin_cos(self.v);
        (self.map(s, c, -s), self.map(c, -s, -c))
    }
    #[inline]
    fn tan(self) -> Self {
        let v = elementary::tan(self.v);
        let d = 1.0 + v * v;
        self.map(v, d, 2.0 * v * d)
    }
    #[inline]
    fn asin(self) -> Self {
        let c2 = 1.0 - self.v * self.v;
        let d = c2.sqrt().recip();
        self.map(elementary::asin(self.v), d, self.v * d / c2)
    }
    #[inline]
    fn acos(self) -> Self {
        let c2 = 1.0 - self.v * self.v;
        let d = -c2.sqrt().recip();
        self.map(elementary::acos(self.v), d, self.v * d / c2)
    }
    #[inline]
    fn atan(self) -> Self {
        let d = (1.0 + self.v * self.v).recip();
        self.map(elementary::atan(self.v), d, -2.0 * self.v * d * d)
    }
    /// With r² = x² + y²: ∂ = (x ∂y − y ∂x)/r²; the second derivatives of the angle are −2xy, y² − x², 2xy over r⁴.
    #[inline]
    fn atan2(self, x: Self) -> Self {
        let r2 = self.v * self.v + x.v * x.v;
        let (dy, dx) = (x.v / r2, -self.v / r2);
        let (dyy, dxy) = (2.0 * dx * dy, dx * dx - dy * dy);
        let mut out = self.scaled(dy);
        out.add_scaled(&x, dx);
        out.v = elementary::atan2(self.v, x.v);
        let mut k = 0;
        for i in 0..N {
            let (yi, xi) = (self.g[i], x.g[i]);
            for j in 0..=i {
                let (yj, xj) = (self.g[j], x.g[j]);
                out.h[k] += dyy * (yi * yj - xi * xj) + dxy * (yi * xj + yj * xi);
                k += 1;
            }
        }
        out
    }
    #[inline]
    fn exp(self) -> Self {
        let v = elementary::exp(self.v);
        self.map(v, v, v)
    }
    #[inline]
    fn ln(self) -> Self {
        let d = self.v.recip();
        self.map(elementary::ln(self.v), d, -d * d)
    }
    #[inline]
    fn sinh(self) -> Self {
        let (s, c) = (elementary::sinh(self.v), elementary::cosh(self.v));
        self.map(s, c, s)
    }
    #[inline]
    fn cosh(self) -> Self {
        let (s, c) = (elementary::sinh(self.v), elementary::cosh(self.v));
        self.map(c, s, c)
    }
    #[inline]
    fn tanh(self) -> Self {
        let v = elementary::tanh(self.v);
        let d = 1.0 - v * v;
        self.map(v, d, -2.0 * v * d)
    }
    #[inline]
    fn powi(self, n: i32) -> Self {
        let x = self.v;
        let d = if n == 0 { 0.0 } else { x.powi(n - 1) * f64::from(n) };
        let dd = if n == 0 || n == 1 { 0.0 } else { x.powi(n - 2) * (f64::from(n) * f64::from(n - 1)) };
        self.map(x.powi(n), d, dd)
    }
    #[inline]
    fn powf(self, p: f64) -> Self {
        let x = self.v;
        let d = if p == 0.0 { 0.0 } else { elementary::powf(x, p - 1.0) * p };
        let dd = if p == 0.0 || p == 1.0 { 0.0 } else { elementary::powf(x, p - 2.0) * (p * (p - 1.0)) };
        self.map(elementary::powf(x, p), d, dd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dual;

    type J = Jet<2, 3>;
    type DD = Dual<Dual<f64, 2>, 2>;

    /// Every operation of two variables.
    fn all<T: Real>(x: T, y: T) -> Vec<T> {
        let z = x * y + x.sq() * 0.3;
        let mut root = T::cst((z.value() + 1.0).cbrt());
        for _ in 0..T::ORDER {
            root = root.refine(root * root * root - z - 1.0, root * root * 3.0);
        }
        vec![
            z.sqrt(),
            z.sin(),
            z.cos(),
            z.tan(),
            z.asin(),
            z.acos(),
            z.atan(),
            x.atan2(y),
            (-x).atan2(z - y),
            z.exp(),
            z.ln(),
            z.sinh(),
            z.cosh(),
            z.tanh(),
            z.powi(-3),
            z.powi(2),
            z.powf(2.5),
            x / (y + z),
            z.recip() - x * 2.0 + y / 3.0,
            z.abs().max(x).min(y).clamp(-9.0, 9.0),
            root,
        ]
    }

    /// Gradient and Hessian against nested dual numbers; the value against `f64`, bit for bit.
    #[test]
    fn deriv_jets_are_nested_duals() {
        let (x, y) = (0.37, 0.61);
        let jets = all(J::variable(x, 0), J::variable(y, 1));
        let inner = Dual::<f64, 2>::variable;
        let unit = |i: usize| std::array::from_fn(|k| Dual::cst(f64::from(u8::from(k == i))));
        let duals = all(DD::new(inner(x, 0), unit(0)), DD::new(inner(y, 1), unit(1)));
        for (k, ((jet, dual), value)) in jets.iter().zip(duals).zip(all(x, y)).enumerate() {
            assert_eq!(jet.v.to_bits(), value.to_bits(), "value of {k}");
            for i in 0..2 {
                // Rounding of a few operations; second derivatives of z⁻³ are about 1e4.
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs().max(1.0);
                assert!(near(jet.g[i], dual.d[i].v), "{k}: gradient {i}: {} {}", jet.g[i], dual.d[i].v);
                for j in 0..2 {
                    let (a, b) = (jet.second(i, j), dual.d[i].d[j]);
                    assert!(near(a, b), "{k}: second derivative {i} {j}: {a} {b}");
                }
            }
        }
    }
}
