//! Complex numbers.

use super::Field;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// re + i im.
    pub const fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Complex::new(self.re + o.re, self.im + o.im)
    }
}
impl Sub for Complex {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Complex::new(self.re - o.re, self.im - o.im)
    }
}
impl Mul for Complex {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        Complex::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}
impl Div for Complex {
    type Output = Self;
    /// Smith's (1962) division, which does not overflow where the result does not.
    fn div(self, o: Self) -> Self {
        if o.re.abs() >= o.im.abs() {
            let r = o.im / o.re;
            let d = o.re + o.im * r;
            Complex::new((self.re + self.im * r) / d, (self.im - self.re * r) / d)
        } else {
            let r = o.re / o.im;
            let d = o.re * r + o.im;
            Complex::new((self.re * r + self.im) / d, (self.im * r - self.re) / d)
        }
    }
}
impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Complex::new(-self.re, -self.im)
    }
}

impl Field for Complex {
    fn one() -> Self {
        Complex::new(1.0, 0.0)
    }
    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_division_undoes_multiplication() {
        for b in [Complex::new(3.0, -0.2), Complex::new(0.1, 5.0), Complex::new(0.0, 1.0)] {
            let a = Complex::new(-1.5, 0.75);
            let d = (a * b) / b - a;
            assert!(d.size() < 1e-15);
        }
    }
}
