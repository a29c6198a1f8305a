//! A smooth step.

use super::{FunctionError, knots};
use crate::Real;

/// From one value to another along a quintic S-curve:
///
///   y = y₀ + (y₁ − y₀) t³ (10 − 15 t + 6 t²),   t = (x − x₀)/(x₁ − x₀)
///
/// between x₀ and x₁, constant outside. First and second derivatives are continuous.
/// As OpenSim's `StepFunction`; x₁ may lie left of x₀.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    x0: f64,
    x1: f64,
    y0: f64,
    rise: f64,
    y1: f64,
    /// 1/(x₁ − x₀); its sign tells which way x runs.
    inv_width: f64,
}

impl Step {
    /// From `y0` at `x0` to `y1` at `x1`, with x₀ ≠ x₁.
    pub fn new(x0: f64, x1: f64, y0: f64, y1: f64) -> Result<Self, FunctionError> {
        const KIND: &str = "StepFunction";
        knots::finite(KIND, "x", &[x0, x1])?;
        knots::finite(KIND, "y", &[y0, y1])?;
        if x0 == x1 {
            let expected = "different from the start of the step";
            return Err(FunctionError::OutOfRange {
                kind: KIND,
                what: "end of the step",
                found: x1,
                expected,
            });
        }
        Ok(Step { x0, x1, y0, rise: y1 - y0, y1, inv_width: 1.0 / (x1 - x0) })
    }

    /// x₀, x₁, y₀ and y₁, in the order of [`new`](Self::new).
    pub fn parameters(&self) -> [f64; 4] {
        [self.x0, self.x1, self.y0, self.y1]
    }

    /// The constant that holds at x, unless x is within the step.
    #[inline(always)]
    fn outside(&self, x: f64) -> Option<f64> {
        let sign = self.inv_width.signum();
        if (x - self.x0) * sign <= 0.0 {
            Some(self.y0)
        } else if (x - self.x1) * sign >= 0.0 {
            Some(self.y1)
        } else {
            None
        }
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        if T::RECORDS {
            return self.eval(x)[0];
        }
        if let Some(y) = self.outside(x.value()) {
            return T::cst(y);
        }
        let t = (x - self.x0) * self.inv_width;
        t * t * t * (t * (t * 6.0 - 15.0) + 10.0) * self.rise + self.y0
    }

    /// Value, first and second derivative at `x`.
    #[inline]
    pub fn eval<T: Real>(&self, x: T) -> [T; 3] {
        if T::RECORDS {
            let t = Real::clamp((x - self.x0) * self.inv_width, 0.0, 1.0);
            let tt1 = t * (t - 1.0);
            return [
                t * t * t * (t * (t * 6.0 - 15.0) + 10.0) * self.rise + self.y0,
                tt1 * tt1 * (30.0 * self.rise * self.inv_width),
                t * (t * (t * 2.0 - 3.0) + 1.0) * (60.0 * self.rise * self.inv_width * self.inv_width),
            ];
        }
        if let Some(y) = self.outside(x.value()) {
            return [T::cst(y), T::zero(), T::zero()];
        }
        let t = (x - self.x0) * self.inv_width;
        let tt1 = t * (t - 1.0);
        [
            self.value(x),
            tt1 * tt1 * (30.0 * self.rise * self.inv_width),
            t * (t * (t * 2.0 - 3.0) + 1.0) * (60.0 * self.rise * self.inv_width * self.inv_width),
        ]
    }
}
