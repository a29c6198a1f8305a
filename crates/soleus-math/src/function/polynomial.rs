//! Polynomial of one variable.

use super::{FunctionError, knots};
use crate::Real;

/// y = c₀ xⁿ + c₁ xⁿ⁻¹ + … + cₙ; coefficients in descending powers, as OpenSim's `PolynomialFunction`.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    coefficients: Vec<f64>,
}

impl Polynomial {
    /// From coefficients in descending powers, at least one.
    pub fn new(coefficients: Vec<f64>) -> Result<Self, FunctionError> {
        const KIND: &str = "PolynomialFunction";
        if coefficients.is_empty() {
            return Err(FunctionError::TooFew { kind: KIND, what: "coefficients", needed: 1, found: 0 });
        }
        knots::finite(KIND, "coefficients", &coefficients)?;
        Ok(Polynomial { coefficients })
    }

    /// Coefficients in descending powers.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        horner(self.coefficients.iter().copied(), x)
    }

    /// Value, first and second derivative at `x`.
    #[inline]
    pub fn eval<T: Real>(&self, x: T) -> [T; 3] {
        horner2(self.coefficients.iter().copied(), x)
    }
}

/// Horner's scheme over coefficients in descending powers.
#[inline(always)]
pub(super) fn horner<T: Real>(descending: impl Iterator<Item = f64>, x: T) -> T {
    let mut y = T::zero();
    for c in descending {
        y = y * x + c;
    }
    y
}

/// Horner's scheme differentiated twice: if y ← y x + c then y′ ← y′ x + y and ½y″ ← ½y″ x + y′.
#[inline(always)]
pub(super) fn horner2<T: Real>(descending: impl Iterator<Item = f64>, x: T) -> [T; 3] {
    let (mut y, mut d, mut half_dd) = (T::zero(), T::zero(), T::zero());
    for c in descending {
        half_dd = half_dd * x + d;
        d = d * x + y;
        y = y * x + c;
    }
    [y, d, half_dd * 2.0]
}
