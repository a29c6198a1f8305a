//! Linear function of several variables.

use super::{FunctionError, knots};
use crate::Real;

/// y = Σ aᵢ xᵢ + b, for any number of variables.
///
/// One variable has its own variant, [`Function::Linear`](super::Function::Linear).
#[derive(Clone, Debug, PartialEq)]
pub struct MultiLinear {
    slopes: Vec<f64>,
    intercept: f64,
}

impl MultiLinear {
    /// From OpenSim's `coefficients`: the slopes in the order of the variables, then the intercept.
    pub fn new(coefficients: &[f64]) -> Result<Self, FunctionError> {
        const KIND: &str = "LinearFunction";
        knots::finite(KIND, "coefficients", coefficients)?;
        match coefficients.split_last() {
            Some((&intercept, slopes)) => Ok(MultiLinear { slopes: slopes.to_vec(), intercept }),
            None => Err(FunctionError::TooFew { kind: KIND, what: "coefficients", needed: 1, found: 0 }),
        }
    }

    /// ∂y/∂xᵢ, one for each variable.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Value at x = 0.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// Value at `x`, at least as many variables as slopes.
    #[inline]
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        let mut y = T::zero();
        for (a, x) in self.slopes.iter().zip(x) {
            y += *x * *a;
        }
        y + self.intercept
    }
}
