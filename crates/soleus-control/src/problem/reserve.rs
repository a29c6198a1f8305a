//! Temporary residual forces that help to solve a problem.

use super::{Bounds, Dynamics, Goal, PointVariable, Problem, Variable};
use crate::function::{PointFunction, Scratch};
use crate::goal::sum_of_squares;
use std::sync::Arc;

/// A control that acts directly on one equation of the dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reserve {
    /// Index of the state of the equation.
    pub state: usize,
    /// Contribution of a control of 1 to the equation, in its units.
    pub strength: f64,
}

/// f − reserves. The reserves are the last controls.
struct Helped {
    inner: Arc<dyn PointFunction>,
    reserves: Vec<Reserve>,
    /// Where they start among the inputs.
    first: usize,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

impl Helped {
    fn new(inner: Arc<dyn PointFunction>, reserves: Vec<Reserve>, first: usize) -> Helped {
        let n = reserves.len();
        let outer = |i: usize| if i < first { i } else { i + n };
        let mut jacobian_places: Vec<_> =
            inner.jacobian_places().iter().map(|&(o, i)| (o, outer(i))).collect();
        jacobian_places.extend(reserves.iter().enumerate().map(|(k, r)| (r.state, first + k)));
        let hessian_places = inner.hessian_places().iter().map(|&(i, j)| (outer(i), outer(j))).collect();
        Helped { inner, reserves, first, jacobian_places, hessian_places }
    }

    /// The inputs of the inner function.
    fn inner<'a>(&self, z: &[f64], room: &'a mut Vec<f64>) -> &'a [f64] {
        room.clear();
        room.extend_from_slice(&z[..self.first]);
        room.extend_from_slice(&z[self.first + self.reserves.len()..]);
        room
    }
}

struct Memory {
    inner: Scratch,
    z: Vec<f64>,
}

impl PointFunction for Helped {
    fn num_inputs(&self) -> usize {
        self.inner.num_inputs() + self.reserves.len()
    }
    fn num_outputs(&self) -> usize {
        self.inner.num_outputs()
    }
    fn jacobian_places(&self) -> &[(usize, usize)] {
        &self.jacobian_places
    }
    fn hessian_places(&self) -> &[(usize, usize)] {
        &self.hessian_places
    }
    fn scratch(&self) -> Scratch {
        Box::new(Memory { inner: self.inner.scratch(), z: Vec::with_capacity(self.inner.num_inputs()) })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.inner.compute_values(self.inner(z, &mut m.z), values, &mut m.inner);
        for (r, e) in self.reserves.iter().zip(&z[self.first..]) {
            values[r.state] -= r.strength * e;
        }
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (own, added) = values.split_at_mut(self.jacobian_places.len() - self.reserves.len());
        self.inner.compute_jacobian(self.inner(z, &mut m.z), own, &mut m.inner);
        for (v, r) in added.iter_mut().zip(&self.reserves) {
            *v = -r.strength;
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.inner.compute_hessian(self.inner(z, &mut m.z), y, values, &mut m.inner);
    }
}

impl Problem {
    /// Adds reserves as the last controls, named `reserve/STATE`, with a cost of weight · mean of Σ e².
    ///
    /// With weak muscles, no contact or a poor initial guess the equations then still have a solution, and the solver
    /// only has to reduce its cost. In a series of problems with increasing weight the reserves are gradually removed.
    pub fn add_reserves(&mut self, reserves: &[Reserve], weight: f64) {
        let first = 1 + 2 * self.states.len() + self.controls.len();
        let function = Helped::new(self.dynamics.function.clone(), reserves.to_vec(), first);
        self.dynamics = Dynamics { function: Arc::new(function), ..self.dynamics.clone() };
        let mut list = Vec::new();
        for r in reserves {
            list.push((PointVariable::Control(self.controls.len()), 1.0));
            let name = format!("reserve/{}", self.states[r.state].name);
            self.controls.push(Variable::new(name, Bounds::FREE));
        }
        self.goals.push(Goal { is_mean: true, ..sum_of_squares("reserves", weight, &list) });
    }
}
