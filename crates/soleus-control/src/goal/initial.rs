//! Initial conditions of muscles.

use crate::function::SmoothFunction;
use crate::problem::{Bounds, EndpointFunction, EndpointVariable, Goal, Mode, PointVariable};
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::{Actor, Workspace};
use soleus_dynamics::{State, System};
use soleus_math::Real;
use std::sync::Arc;

/// Differences of pairs of inputs; squared if so asked.
struct Differences {
    pairs: usize,
    squared: bool,
}

impl SmoothFunction for Differences {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2 * self.pairs
    }
    fn num_outputs(&self) -> usize {
        self.pairs
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for (v, pair) in values.iter_mut().zip(z.chunks_exact(2)) {
            let d = pair[0] - pair[1];
            *v = if self.squared { d * d } else { d };
        }
    }
    fn depends(&self, output: usize, input: usize) -> bool {
        input / 2 == output
    }
}

/// Excitation equals activation for every muscle at the initial time: as a constraint, or as a squared cost.
pub fn initial_activation(name: &str, cost: Option<f64>, system: &System) -> Goal {
    let n = system.tree.num_mobilities;
    let mut inputs = Vec::new();
    for f in &system.forces {
        let Actor::Muscle(m) = &f.actor else { continue };
        if let Some(k) = m.state_names().iter().position(|&s| s == "activation") {
            let activation = PointVariable::State(2 * n + f.states.start + k);
            let excitation = PointVariable::Control(f.controls.start);
            inputs.extend([EndpointVariable::Initial(excitation), EndpointVariable::Initial(activation)]);
        }
    }
    let pairs = inputs.len() / 2;
    let f = EndpointFunction::new(inputs, Differences { pairs, squared: cost.is_some() });
    goal(name, cost, pairs, f)
}

fn goal(name: &str, cost: Option<f64>, values: usize, f: EndpointFunction) -> Goal {
    let mode = match cost {
        Some(weight) => Mode::Cost { weight },
        None => Mode::Constraint { bounds: vec![Bounds::fixed(0.0); values] },
    };
    Goal { name: name.into(), mode, integrals: Vec::new(), is_mean: false, endpoint: Some(f) }
}

/// How far a De Groote–Fregly muscle with a compliant tendon is from equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equilibrium {
    /// Tendon force minus fiber force along the tendon, in units of F₀, while the force of the tendon does not change.
    Force,
    /// Rate of the fiber's force along the tendon minus that of the tendon's, N/s (linearized).
    Velocity,
}

impl Equilibrium {
    /// Whether a force has it.
    pub(super) fn is_of(system: &System, force: usize) -> bool {
        match &system.forces[force].actor {
            Actor::Muscle(m) => {
                matches!(**m, CompiledMuscle::DeGrooteFregly2016(_))
                    && m.state_names().contains(&"normalized_tendon_force")
            }
            Actor::Force(_) => false,
        }
    }

    /// Of a path with this length and speed, excitation e, and the muscle's own states and rates.
    pub(super) fn compute<T: Real>(
        self,
        system: &System,
        force: usize,
        [length, speed, e]: [T; 3],
        states: &[T],
        rates: &[T],
    ) -> T {
        let Actor::Muscle(m) = &system.forces[force].actor else { return T::zero() };
        let CompiledMuscle::DeGrooteFregly2016(m) = &**m else { return T::zero() };
        match self {
            Equilibrium::Force => {
                let tendon = states.last().copied().unwrap_or(T::zero());
                let a = if states.len() > 1 { states[0] } else { e };
                m.residual(length, speed, a, tendon, T::zero())
            }
            Equilibrium::Velocity => m.force_drift(length, speed, e, states, rates),
        }
    }
}

/// The error of equilibrium of some muscles, or its square.
struct Errors {
    system: Arc<System>,
    muscles: Vec<usize>,
    squared: bool,
    of: Equilibrium,
}

impl SmoothFunction for Errors {
    type Scratch<T: Real> = (State<T>, Workspace<T>);

    fn num_inputs(&self) -> usize {
        2 * self.system.tree.num_mobilities + 2 * self.system.num_aux + self.system.num_controls
    }

    fn num_outputs(&self) -> usize {
        self.muscles.len()
    }

    fn scratch<T: Real>(&self) -> (State<T>, Workspace<T>) {
        (self.system.default_state.lift(), self.system.workspace())
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (x, ws): &mut (State<T>, Workspace<T>)) {
        let s = &self.system;
        let n = s.tree.num_mobilities;
        let (q, rest) = z.split_at(n);
        let (u, rest) = rest.split_at(n);
        let (states, rest) = rest.split_at(s.num_aux);
        let (rates, controls) = rest.split_at(s.num_aux);
        x.q.copy_from_slice(q);
        x.u.copy_from_slice(u);
        x.z.copy_from_slice(states);
        s.compute_kinematics(x, ws);
        s.compute_paths(x, ws);
        for (v, &i) in values.iter_mut().zip(&self.muscles) {
            let f = &s.forces[i];
            let (path, own) = (&ws.paths[i], f.states.clone());
            let inputs = [path.length(), path.speed(), controls[f.controls.start]];
            let error = self.of.compute(s, i, inputs, &states[own.clone()], &rates[own]);
            *v = if self.squared { error * error } else { error };
        }
    }
}

/// Rates of fiber and tendon force are equal at the initial time (linearized): as a constraint, or as a squared cost.
///
/// Only for muscles of De Groote and Fregly with compliant tendons; `None` if there are none.
pub fn initial_velocity_equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>) -> Option<Goal> {
    equilibrium(name, cost, system, Equilibrium::Velocity)
}

/// Fiber and tendon force are equal at the initial time with a constant tendon force: as a constraint, or as a squared
/// cost.
///
/// Only for muscles of De Groote and Fregly with compliant tendons; `None` if there are none.
pub fn initial_force_equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>) -> Option<Goal> {
    equilibrium(name, cost, system, Equilibrium::Force)
}

fn equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>, of: Equilibrium) -> Option<Goal> {
    let n = system.tree.num_mobilities;
    let muscles: Vec<usize> = (0..system.forces.len()).filter(|&i| Equilibrium::is_of(system, i)).collect();
    if muscles.is_empty() {
        return None;
    }
    let at = |v| EndpointVariable::Initial(v);
    let nx = 2 * n + system.num_aux;
    let mut inputs: Vec<_> = (0..nx).map(|i| at(PointVariable::State(i))).collect();
    inputs.extend((2 * n..nx).map(|i| at(PointVariable::Rate(i))));
    inputs.extend((0..system.num_controls).map(|i| at(PointVariable::Control(i))));
    let count = muscles.len();
    let f = Errors { system: system.clone(), muscles, squared: cost.is_some(), of };
    Some(goal(name, cost, count, EndpointFunction::of_model(inputs, f)))
}
