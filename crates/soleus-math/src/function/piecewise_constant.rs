//! Piecewise constant function.

use super::FunctionError;
use super::knots::{self, Place};
use crate::Real;

/// Piecewise constant: from each knot on, the value of that knot; before the first knot, the first value.
///
/// As OpenSim's `PiecewiseConstantFunction`. Exactly at an inner knot the value is that of the knot or of the previous
/// one, as in OpenSim 4.6 (its search stops at the first interval that contains x, including ends, so this depends on
/// the number of knots). All derivatives are zero.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseConstant {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl PiecewiseConstant {
    /// From the points (x, y), with x increasing and at least one point.
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Result<Self, FunctionError> {
        knots::points("PiecewiseConstantFunction", &x, &y, 1, false)?;
        Ok(PiecewiseConstant { x, y })
    }

    /// The knots.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The values at the knots.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        let k = match knots::place(&self.x, x.value()) {
            Place::Before | Place::First => 0,
            Place::Between(k) => k,
            Place::Last | Place::After => self.x.len() - 1,
        };
        T::cst(self.y[k])
    }
}
