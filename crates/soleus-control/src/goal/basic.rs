//! Goals that do not depend on a model.

use crate::function::{PointFunction, Scratch, SmoothFunction, places};
use crate::problem::{Bounds, EndpointFunction, EndpointVariable, Goal, Mode, PointVariable, Term};
use soleus_math::Real;
use soleus_math::function::Expression;
use std::sync::Arc;

/// weight · |z|^exponent.
struct Power {
    weight: f64,
    exponent: f64,
}

impl SmoothFunction for Power {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let z = z[0];
        let power = if self.exponent == 2.0 {
            z * z
        } else if self.exponent == self.exponent.round() {
            // Powers of whole numbers have their derivatives at zero too.
            z.abs().powi(self.exponent as i32)
        } else {
            z.abs().powf(self.exponent)
        };
        values[0] = power * self.weight;
    }
}

fn powers(list: &[(PointVariable, f64)], exponent: f64) -> Vec<Term> {
    let term = |&(v, weight): &(PointVariable, f64)| Term::new(vec![v], Power { weight, exponent });
    list.iter().filter(|p| p.1 != 0.0).map(term).collect()
}

/// ∫ Σ wᵢ |eᵢ|^exponent dt over the given controls.
pub fn control_effort(name: &str, weight: f64, controls: &[(usize, f64)], exponent: f64) -> Goal {
    let list: Vec<_> = controls.iter().map(|&(i, w)| (PointVariable::Control(i), w)).collect();
    Goal::integral(name, weight, powers(&list, exponent))
}

/// ∫ Σ wᵢ zᵢ² dt over any variables.
pub fn sum_of_squares(name: &str, weight: f64, variables: &[(PointVariable, f64)]) -> Goal {
    Goal::integral(name, weight, powers(variables, 2.0))
}

/// Σ wᵢ zᵢ² as one function, for very many variables.
struct Squares {
    weights: Vec<f64>,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

impl PointFunction for Squares {
    fn num_inputs(&self) -> usize {
        self.weights.len()
    }
    fn num_outputs(&self) -> usize {
        1
    }
    places!();
    fn scratch(&self) -> Scratch {
        Box::new(())
    }
    fn compute_values(&self, z: &[f64], values: &mut [f64], _: &mut Scratch) {
        values[0] = z.iter().zip(&self.weights).map(|(z, w)| w * z * z).sum();
    }
    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], _: &mut Scratch) {
        for ((v, z), w) in values.iter_mut().zip(z).zip(&self.weights) {
            *v = 2.0 * w * z;
        }
    }
    fn compute_hessian(&self, _: &[f64], y: &[f64], values: &mut [f64], _: &mut Scratch) {
        for (v, w) in values.iter_mut().zip(&self.weights) {
            *v = 2.0 * w * y[0];
        }
    }
}

/// Σ wᵢ zᵢ² over any variables, as one term.
pub fn squares(variables: &[(PointVariable, f64)]) -> Term {
    let n = variables.len();
    let function = Squares {
        weights: variables.iter().map(|v| v.1).collect(),
        jacobian_places: (0..n).map(|i| (0, i)).collect(),
        hessian_places: (0..n).map(|i| (i, i)).collect(),
    };
    Term { inputs: variables.iter().map(|v| v.0).collect(), function: Arc::new(function) }
}

/// Σ cᵢ zᵢ, output by output: a matrix times the inputs, each row a pair of places and factors.
struct Pairs(Vec<[(usize, f64); 2]>, usize);

impl SmoothFunction for Pairs {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        self.1
    }
    fn num_outputs(&self) -> usize {
        self.0.len()
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for (v, [a, b]) in values.iter_mut().zip(&self.0) {
            *v = z[a.0] * a.1 + z[b.0] * b.1;
        }
    }
    fn depends(&self, output: usize, input: usize) -> bool {
        self.0[output].iter().any(|p| p.0 == input)
    }
    fn couples(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// The value itself.
struct Identity;

impl SmoothFunction for Identity {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = z[0];
    }
    fn couples(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// A formula of some of its inputs.
struct Formula(Expression, usize);

impl SmoothFunction for Formula {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        self.1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = self.0.value(z);
    }
}

/// A formula in the parameters of the problem, in order: minimized, or kept within bounds.
pub fn parameter_expression(name: &str, mode: Mode, expression: Expression, parameters: &[usize]) -> Goal {
    let inputs: Vec<_> =
        parameters.iter().map(|&i| EndpointVariable::Last(PointVariable::Parameter(i))).collect();
    let n = inputs.len();
    let endpoint = Some(EndpointFunction::new(inputs, Formula(expression, n)));
    Goal { name: name.into(), mode, integrals: Vec::new(), is_mean: false, endpoint }
}

/// The final time.
pub fn final_time(name: &str, weight: f64) -> Goal {
    let inputs = vec![EndpointVariable::Last(PointVariable::Time)];
    Goal::endpoint(name, weight, EndpointFunction::new(inputs, Identity))
}

/// Minimum duration `least`, s.
pub fn duration_at_least(name: &str, least: f64) -> Goal {
    let inputs =
        vec![EndpointVariable::Initial(PointVariable::Time), EndpointVariable::Last(PointVariable::Time)];
    let f = EndpointFunction::new(inputs, Pairs(vec![[(0, -1.0), (1, 1.0)]], 2));
    Goal::endpoint_constraint(name, vec![Bounds::new(least, f64::INFINITY)], f)
}

/// Initial and final values that are equal or, if marked, opposite.
pub fn periodicity(name: &str, pairs: &[(PointVariable, PointVariable, bool)]) -> Goal {
    let mut inputs = Vec::new();
    let mut rows = Vec::new();
    for &(initial, last, negate) in pairs {
        let k = inputs.len();
        inputs.extend([EndpointVariable::Initial(initial), EndpointVariable::Last(last)]);
        rows.push([(k, if negate { -1.0 } else { 1.0 }), (k + 1, -1.0)]);
    }
    let (n, bounds) = (inputs.len(), vec![Bounds::fixed(0.0); pairs.len()]);
    Goal::endpoint_constraint(name, bounds, EndpointFunction::new(inputs, Pairs(rows, n)))
}
