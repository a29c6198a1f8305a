//! Functions of one or several variables that model files are written with.

use crate::Real;

/// A function of a model: of a coordinate, of several, or of time.
///
/// Built once from checked data; evaluation never fails and never allocates.
#[derive(Clone, Debug, PartialEq)]
pub enum Function {
    /// The same value everywhere.
    Constant(f64),
    /// slope · x + intercept.
    Linear {
        /// dy/dx.
        slope: f64,
        /// Value at x = 0.
        intercept: f64,
    },
}

impl Function {
    /// How many variables it takes; 0 when any number will do (a constant).
    pub fn arity(&self) -> usize {
        match self {
            Function::Constant(_) => 0,
            Function::Linear { .. } => 1,
        }
    }

    /// Value at `x`, a slice of at least `arity()` variables.
    #[inline]
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        match self {
            Function::Constant(c) => T::cst(*c),
            Function::Linear { slope, intercept } => x[0] * *slope + *intercept,
        }
    }

    /// Value, first and second derivative of a function of one variable.
    #[inline]
    pub fn eval1<T: Real>(&self, x: T) -> [T; 3] {
        match self {
            Function::Constant(c) => [T::cst(*c), T::zero(), T::zero()],
            Function::Linear { slope, intercept } => [x * *slope + *intercept, T::cst(*slope), T::zero()],
        }
    }

    /// Slope and intercept, if this is a straight line of one variable.
    pub fn as_line(&self) -> Option<(f64, f64)> {
        match self {
            Function::Linear { slope, intercept } => Some((*slope, *intercept)),
            _ => None,
        }
    }

    /// Value, gradient and Hessian (row by row) of a function of several variables.
    pub fn eval_n<T: Real>(&self, x: &[T], grad: &mut [T], hess: &mut [T]) -> T {
        hess.fill(T::zero());
        let [v, d, h] = self.eval1(x[0]);
        grad[0] = d;
        hess[0] = h;
        v
    }
}
