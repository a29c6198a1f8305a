//! Functions defined by text.

mod parse;
pub(crate) mod program;

use super::FunctionError;
use crate::{Dual, Real};
use program::Op;

/// A formula such as `k*x^2 + 3*min(y, 0.1); k = 2.5e3`, compiled once to a short program.
///
/// The language is that of Lepton (Eastman 2009), which OpenSim uses for its expression-based
/// functions and forces:
///
/// - `+ - * / ^` with the usual precedence; `^` groups to the right, `-x^2` is −(x²);
/// - functions of one argument: `sqrt exp log sin cos sec csc tan cot asin acos atan sinh cosh
///   tanh erf erfc step delta square cube recip abs floor ceil`; of two: `min max atan2`;
///   of three: `select(c, a, b)`, a where c ≠ 0, else b;
/// - after `;`, definitions `name = …`, each of which may use those that come after it.
///   A definition hides a variable of the same name; of two definitions of one name the first counts.
///
/// `step(x)` is 1 from x = 0 on, `delta(x)` is 1 at x = 0 alone; both are flat. `atan2`, `floor`, `ceil` and `select`
/// belong to newer versions of Lepton than that in OpenSim 4.6.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    variables: Vec<String>,
    ops: Vec<Op>,
}

impl Expression {
    /// Parses `text`, a formula of `variables`; evaluation takes their values in this order.
    pub fn new(text: &str, variables: &[&str]) -> Result<Self, FunctionError> {
        let ops = parse::compile(text, variables)?;
        let variables = variables.iter().map(|v| (*v).to_string()).collect();
        Ok(Expression { text: text.to_string(), variables, ops })
    }

    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of the variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// Number of variables.
    pub fn arity(&self) -> usize {
        self.variables.len()
    }

    /// Value at `x`, which has at least as many entries as there are variables.
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        T::choose(
            (),
            |()| T::cst(self.plain_value(T::plain_list(x))),
            |()| program::run_small(&self.ops, &|i| x[i]),
        )
    }

    #[inline(never)]
    fn plain_value(&self, x: &[f64]) -> f64 {
        program::run_small(&self.ops, &|i| x[i])
    }

    /// Value, first and second derivative with respect to the only variable (or the first of several, with the others
    /// 0).
    pub fn eval1<T: Real>(&self, x: T) -> [T; 3] {
        T::choose((), |()| self.plain_eval1(x.value()).map(T::cst), |()| self.any_eval1(x))
    }

    #[inline(never)]
    fn plain_eval1(&self, x: f64) -> [f64; 3] {
        self.any_eval1(x)
    }

    fn any_eval1<T: Real>(&self, x: T) -> [T; 3] {
        let y = program::run_small(&self.ops, &|i| {
            if i == 0 {
                Dual::new(Dual::variable(x, 0), [Dual::cst(1.0)])
            } else {
                Dual::<Dual<T, 1>, 1>::zero()
            }
        });
        [y.v.v, y.v.d[0], y.d[0].d[0]]
    }

    /// Value and gradient at `x`.
    pub fn gradient<T: Real>(&self, x: &[T], gradient: &mut [T]) -> T {
        let n = self.arity();
        if n == 0 {
            return self.value(x);
        }
        let mut value = T::zero();
        for (g, gradient) in gradient.iter_mut().enumerate().take(n) {
            let y = program::run_small(&self.ops, &|i| {
                Dual::new(x[i], [if i == g { T::one() } else { T::zero() }])
            });
            value = y.v;
            *gradient = y.d[0];
        }
        value
    }

    /// Value, gradient and Hessian (n × n, rows `stride` apart) at `x`.
    pub fn eval_n<T: Real>(&self, x: &[T], gradient: &mut [T], hessian: &mut [T], stride: usize) -> T {
        let n = self.arity();
        if n == 0 {
            return self.value(x);
        }
        let mut value = T::zero();
        let seed = |i: usize, g: usize| if i == g { T::one() } else { T::zero() };
        for r in 0..n {
            for c in r..n {
                let y = program::run_small(&self.ops, &|i| {
                    Dual::new(Dual::new(x[i], [seed(i, r)]), [Dual::<T, 1>::new(seed(i, c), [T::zero()])])
                });
                value = y.v.v;
                gradient[r] = y.v.d[0];
                hessian[r * stride + c] = y.d[0].d[0];
                hessian[c * stride + r] = y.d[0].d[0];
            }
        }
        value
    }
}
