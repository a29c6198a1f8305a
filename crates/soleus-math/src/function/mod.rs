//! Functions of one or several variables in model files.

mod error;
pub(crate) mod expression;
mod gcv_spline;
mod knots;
mod linear;
mod multiplier;
mod multivariate_polynomial;
mod piecewise_constant;
mod piecewise_linear;
mod polynomial;
mod simm_spline;
mod sine;
mod sparse_polynomial;
mod step;

pub use error::{ExpressionProblem, FunctionError};
pub use expression::Expression;
pub use gcv_spline::{GcvSpline, Smoothing, SplineKnots};
pub use linear::MultiLinear;
pub use multiplier::Multiplier;
pub use multivariate_polynomial::MultivariatePolynomial;
pub use piecewise_constant::PiecewiseConstant;
pub use piecewise_linear::PiecewiseLinear;
pub use polynomial::Polynomial;
pub use simm_spline::SimmSpline;
pub use sine::Sine;
pub use sparse_polynomial::SparsePolynomial;
pub use step::Step;

use crate::Real;

/// A function of a model: of a coordinate, of several, or of time.
///
/// Constructed once from checked data; evaluation never fails and does not allocate memory.
///
/// ```
/// use soleus_math::function::{Function, SimmSpline};
///
/// let f = Function::from(SimmSpline::new(vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 4.0])?);
/// let [y, slope, curvature] = f.eval1(1.0);
/// assert_eq!((y, slope, curvature), (1.0, 2.0, 2.0));
/// # Ok::<(), soleus_math::function::FunctionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Function {
    /// A constant.
    Constant(f64),
    /// slope · x + intercept.
    Linear {
        /// dy/dx.
        slope: f64,
        /// Value at x = 0.
        intercept: f64,
    },
    /// Linear in several variables.
    MultiLinear(MultiLinear),
    /// Polynomial of one variable.
    Polynomial(Polynomial),
    /// Linear interpolation of points.
    PiecewiseLinear(PiecewiseLinear),
    /// Piecewise constant.
    PiecewiseConstant(PiecewiseConstant),
    /// SIMM's cubic spline.
    SimmSpline(SimmSpline),
    /// Natural spline of odd degree.
    GcvSpline(GcvSpline),
    /// A factor times another function.
    Multiplier(Multiplier),
    /// Smooth step.
    Step(Step),
    /// Sine wave.
    Sine(Sine),
    /// Polynomial of several variables.
    MultivariatePolynomial(MultivariatePolynomial),
    /// Sparse polynomial of several variables.
    SparsePolynomial(SparsePolynomial),
    /// A formula.
    Expression(Expression),
}

macro_rules! from_kind {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Function {
            fn from(f: $kind) -> Self {
                Function::$kind(f)
            }
        })*
    };
}
from_kind!(
    MultiLinear,
    Polynomial,
    PiecewiseLinear,
    PiecewiseConstant,
    SimmSpline,
    GcvSpline,
    Multiplier,
    Step,
    Sine,
    MultivariatePolynomial,
    SparsePolynomial,
    Expression
);

impl Function {
    /// Linear function from OpenSim's `coefficients`: slopes in the order of the variables, then the intercept.
    pub fn linear(coefficients: &[f64]) -> Result<Self, FunctionError> {
        let f = MultiLinear::new(coefficients)?;
        Ok(match *coefficients {
            [slope, intercept] => Function::Linear { slope, intercept },
            _ => Function::MultiLinear(f),
        })
    }

    /// Number of variables; 0 for any number (a constant).
    pub fn arity(&self) -> usize {
        match self {
            Function::Constant(_) => 0,
            Function::MultiLinear(f) => f.slopes().len(),
            Function::Multiplier(f) => f.inner().arity(),
            Function::MultivariatePolynomial(f) => f.dimension(),
            Function::SparsePolynomial(f) => f.dimension(),
            Function::Expression(f) => f.arity(),
            _ => 1,
        }
    }

    /// Value at `x`, a slice of at least `arity()` variables.
    #[inline]
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        match self {
            Function::Constant(c) => T::cst(*c),
            Function::Linear { slope, intercept } => x[0] * *slope + *intercept,
            Function::MultiLinear(f) => f.value(x),
            Function::Polynomial(f) => f.value(x[0]),
            Function::PiecewiseLinear(f) => f.value(x[0]),
            Function::PiecewiseConstant(f) => f.value(x[0]),
            Function::SimmSpline(f) => f.value(x[0]),
            Function::GcvSpline(f) => f.value(x[0]),
            Function::Multiplier(f) => f.inner().value(x) * f.scale(),
            Function::Step(f) => f.value(x[0]),
            Function::Sine(f) => f.value(x[0]),
            Function::MultivariatePolynomial(f) => f.value(x),
            Function::SparsePolynomial(f) => f.value(x),
            Function::Expression(f) => f.value(x),
        }
    }

    /// Value, first and second derivative of a function of one variable.
    ///
    /// For a function of several variables they are with respect to the first, with the others 0. The derivatives are
    /// evaluated in `T`, so dual numbers also give the third.
    #[inline]
    pub fn eval1<T: Real>(&self, x: T) -> [T; 3] {
        match self {
            Function::Constant(c) => [T::cst(*c), T::zero(), T::zero()],
            Function::Linear { slope, intercept } => [x * *slope + *intercept, T::cst(*slope), T::zero()],
            Function::MultiLinear(f) => match f.slopes().first() {
                Some(a) => [x * *a + f.intercept(), T::cst(*a), T::zero()],
                None => [T::cst(f.intercept()), T::zero(), T::zero()],
            },
            Function::Polynomial(f) => f.eval(x),
            Function::PiecewiseLinear(f) => f.eval(x),
            Function::PiecewiseConstant(f) => [f.value(x), T::zero(), T::zero()],
            Function::SimmSpline(f) => f.eval(x),
            Function::GcvSpline(f) => f.eval(x),
            Function::Multiplier(f) => f.inner().eval1(x).map(|y| y * f.scale()),
            Function::Step(f) => f.eval(x),
            Function::Sine(f) => f.eval(x),
            Function::MultivariatePolynomial(f) => f.eval1(x),
            Function::SparsePolynomial(f) => f.eval1(x),
            Function::Expression(f) => f.eval1(x),
        }
    }

    /// Value and gradient at `x`, at least `arity()` variables; `gradient` is as long as `x`, and 0 for additional
    /// variables.
    pub fn gradient<T: Real>(&self, x: &[T], gradient: &mut [T]) -> T {
        T::choose(
            gradient,
            |gradient| T::cst(self.plain_gradient(T::plain_list(x), T::plain_list_mut(gradient))),
            |gradient| self.any_gradient(x, gradient),
        )
    }

    #[inline(never)]
    fn plain_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        self.any_gradient(x, gradient)
    }

    fn any_gradient<T: Real>(&self, x: &[T], gradient: &mut [T]) -> T {
        gradient.fill(T::zero());
        match self {
            Function::Constant(c) => T::cst(*c),
            Function::MultiLinear(f) => {
                for (g, a) in gradient.iter_mut().zip(f.slopes()) {
                    *g = T::cst(*a);
                }
                f.value(x)
            }
            Function::MultivariatePolynomial(f) => f.gradient(x, gradient),
            Function::SparsePolynomial(f) => f.gradient(x, gradient),
            Function::Expression(f) => f.gradient(x, gradient),
            Function::Multiplier(f) => {
                let y = f.inner().gradient(x, gradient);
                for g in gradient.iter_mut() {
                    *g = *g * f.scale();
                }
                y * f.scale()
            }
            _ => {
                let [y, d, _] = self.eval1(x[0]);
                gradient[0] = d;
                y
            }
        }
    }

    /// Value, gradient and Hessian at `x`, n ≥ `arity()` variables; `gradient` has length n, `hessian` n² (row by row,
    /// symmetric), both 0 for additional variables.
    pub fn eval_n<T: Real>(&self, x: &[T], gradient: &mut [T], hessian: &mut [T]) -> T {
        T::choose(
            [gradient, hessian],
            |lists| {
                let [gradient, hessian] = lists.map(T::plain_list_mut);
                T::cst(self.plain_eval_n(T::plain_list(x), gradient, hessian))
            },
            |[gradient, hessian]| self.any_eval_n(x, gradient, hessian),
        )
    }

    #[inline(never)]
    fn plain_eval_n(&self, x: &[f64], gradient: &mut [f64], hessian: &mut [f64]) -> f64 {
        self.any_eval_n(x, gradient, hessian)
    }

    fn any_eval_n<T: Real>(&self, x: &[T], gradient: &mut [T], hessian: &mut [T]) -> T {
        let n = x.len();
        match self {
            Function::Constant(_) | Function::MultiLinear(_) => {
                hessian.fill(T::zero());
                self.gradient(x, gradient)
            }
            Function::MultivariatePolynomial(f) => {
                gradient.fill(T::zero());
                hessian.fill(T::zero());
                f.eval_n(x, gradient, hessian, n)
            }
            Function::SparsePolynomial(f) => {
                gradient.fill(T::zero());
                hessian.fill(T::zero());
                f.eval_n(x, gradient, hessian, n)
            }
            Function::Expression(f) => {
                gradient.fill(T::zero());
                hessian.fill(T::zero());
                f.eval_n(x, gradient, hessian, n)
            }
            Function::Multiplier(f) => {
                let y = f.inner().eval_n(x, gradient, hessian);
                for g in gradient.iter_mut().chain(hessian.iter_mut()) {
                    *g = *g * f.scale();
                }
                y * f.scale()
            }
            _ => {
                gradient.fill(T::zero());
                hessian.fill(T::zero());
                let [y, d, dd] = self.eval1(x[0]);
                gradient[0] = d;
                hessian[0] = dd;
                y
            }
        }
    }

    /// Slope and intercept, if this is a linear function of one variable.
    pub fn as_line(&self) -> Option<(f64, f64)> {
        match self {
            Function::Linear { slope, intercept } => Some((*slope, *intercept)),
            _ => None,
        }
    }
}
