//! Goals for any model quantity.

use super::Reaction;
use super::model_function::{Make, ModelFunction, Scalar, power};
use super::quantity::Quantity;
use crate::function::SmoothFunction;
use crate::problem::{EndpointFunction, EndpointVariable, Goal, Mode, PointVariable};
use soleus_dynamics::System;
use soleus_math::{Function, Real};
use std::sync::Arc;

/// When a quantity is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Its integral over time.
    Always,
    /// At the initial time.
    Initially,
    /// At the final time.
    Finally,
}

/// A quantity, or two combined by `scalar`, as a cost or an endpoint constraint.
pub fn output(
    name: &str,
    mode: Mode,
    system: &Arc<System>,
    quantities: Vec<Quantity>,
    scalar: Scalar,
    when: When,
) -> Goal {
    let f = ModelFunction::new(system, quantities, Make::Scalar(scalar));
    let (integrals, endpoint) = match when {
        When::Always => (vec![vec![f.term()]], None),
        When::Initially => (Vec::new(), Some(f.at(EndpointVariable::Initial))),
        When::Finally => (Vec::new(), Some(f.at(EndpointVariable::Last))),
    };
    Goal { name: name.into(), mode, integrals, is_mean: false, endpoint }
}

/// Integral of a sum of quantities, each a separate term, such as the metabolic power of many muscles.
pub fn output_sum(name: &str, mode: Mode, system: &Arc<System>, quantities: Vec<Quantity>) -> Goal {
    let term = |q: Quantity| ModelFunction::new(system, vec![q], Make::Values(Vec::new())).term();
    let terms = quantities.into_iter().map(term).collect();
    Goal { name: name.into(), mode, integrals: vec![terms], is_mean: false, endpoint: None }
}

/// A power of f at the final time minus f at the initial time.
struct Change {
    f: ModelFunction,
    exponent: f64,
}

impl SmoothFunction for Change {
    type Scratch<T: Real> = <ModelFunction as SmoothFunction>::Scratch<T>;
    fn num_inputs(&self) -> usize {
        2 * self.f.num_inputs()
    }
    fn scratch<T: Real>(&self) -> Self::Scratch<T> {
        self.f.scratch()
    }
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], scratch: &mut Self::Scratch<T>) {
        let (first, last) = z.split_at(self.f.num_inputs());
        let mut value = |z: &[T]| {
            let mut v = [T::zero()];
            self.f.evaluate(z, &mut v, scratch);
            v[0]
        };
        values[0] = power(value(last) - value(first), self.exponent);
    }
}

/// Change of a quantity from start to end, to the power of `scalar`: minimized, or kept within bounds.
pub fn output_periodicity(
    name: &str,
    mode: Mode,
    system: &Arc<System>,
    quantities: Vec<Quantity>,
    scalar: Scalar,
) -> Goal {
    let exponent = scalar.exponent;
    let f = ModelFunction::new(system, quantities, Make::Scalar(Scalar { exponent: 1.0, ..scalar }));
    let of = |end: fn(PointVariable) -> EndpointVariable| f.inputs().iter().map(move |&v| end(v));
    let inputs = of(EndpointVariable::Initial).chain(of(EndpointVariable::Last)).collect();
    let endpoint = Some(EndpointFunction::of_model(inputs, Change { f, exponent }));
    Goal { name: name.into(), mode, integrals: Vec::new(), is_mean: false, endpoint }
}

/// ∫ Σ wᵢ Rᵢ² dt / per, where R is the moment and force of a joint, with weights in this order; `per` is the weight of
/// the model in Moco, N.
pub fn joint_reaction(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    reaction: Reaction,
    weights: [f64; 6],
    per: f64,
) -> Goal {
    let make = Make::WeightedSquares(weights.to_vec());
    let f = ModelFunction::new(system, vec![Quantity::Reaction(reaction)], make);
    Goal::integral(name, weight / per, vec![f.term()])
}

/// ∫ Σ wᵢ (τᵢ − rᵢ(t))² dt, where τ is M u̇ + c − gravity − (the given forces) at a mobility: joint moments as in
/// inverse dynamics.
pub fn generalized_force_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    references: Vec<(usize, Function, f64)>,
    forces: Vec<usize>,
) -> Goal {
    let mobilities = references.iter().map(|r| r.0).collect();
    let weights = references.iter().map(|r| r.2).collect();
    let make = Make::SquaredErrors { references: references.into_iter().map(|r| r.1).collect(), weights };
    let quantity = Quantity::GeneralizedForces { mobilities, forces };
    Goal::integral(name, weight, vec![ModelFunction::new(system, vec![quantity], make).term()])
}
