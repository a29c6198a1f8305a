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

/// For every De Groote–Fregly muscle with a compliant tendon: the rate at which fiber and tendon force drift
/// apart, N/s, or, if so asked, the force balance in units of F₀ while the tendon's force does not change.
struct ForceDrift {
    system: Arc<System>,
    muscles: Vec<usize>,
    squared: bool,
    balance: bool,
}

impl SmoothFunction for ForceDrift {
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
            let Actor::Muscle(m) = &f.actor else { continue };
            let CompiledMuscle::DeGrooteFregly2016(m) = &**m else { continue };
            let (path, own, rate) = (&ws.paths[i], &states[f.states.clone()], &rates[f.states.clone()]);
            let e = controls[f.controls.start];
            let drift = if self.balance {
                let (force, a) = (own.last().copied().unwrap_or(T::zero()), own.first().copied());
                let a = if own.len() > 1 { a.unwrap_or(e) } else { e };
                m.residual(path.length(), path.speed(), a, force, T::zero())
            } else {
                m.force_drift(path.length(), path.speed(), e, own, rate)
            };
            *v = if self.squared { drift * drift } else { drift };
        }
    }
}

/// Rates of fiber and tendon force are equal at the initial time (linearized): as a constraint, or as a squared cost.
///
/// Only for muscles of De Groote and Fregly with compliant tendons; `None` if there are none.
pub fn initial_velocity_equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>) -> Option<Goal> {
    equilibrium(name, cost, system, false)
}

/// Fiber and tendon force are equal at the initial time with a constant tendon force: as a constraint, or as a squared
/// cost.
///
/// Only for muscles of De Groote and Fregly with compliant tendons; `None` if there are none.
pub fn initial_force_equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>) -> Option<Goal> {
    equilibrium(name, cost, system, true)
}

fn equilibrium(name: &str, cost: Option<f64>, system: &Arc<System>, balance: bool) -> Option<Goal> {
    let n = system.tree.num_mobilities;
    let muscles: Vec<usize> = (0..system.forces.len())
        .filter(|&i| match &system.forces[i].actor {
            Actor::Muscle(m) => {
                matches!(**m, CompiledMuscle::DeGrooteFregly2016(_))
                    && m.state_names().contains(&"normalized_tendon_force")
            }
            Actor::Force(_) => false,
        })
        .collect();
    if muscles.is_empty() {
        return None;
    }
    let at = |v| EndpointVariable::Initial(v);
    let nx = 2 * n + system.num_aux;
    let mut inputs: Vec<_> = (0..nx).map(|i| at(PointVariable::State(i))).collect();
    inputs.extend((2 * n..nx).map(|i| at(PointVariable::Rate(i))));
    inputs.extend((0..system.num_controls).map(|i| at(PointVariable::Control(i))));
    let count = muscles.len();
    let f = ForceDrift { system: system.clone(), muscles, squared: cost.is_some(), balance };
    Some(goal(name, cost, count, EndpointFunction::of_model(inputs, f)))
}
