//! Formulation of a problem for a model: names, bounds, dynamics.

use super::constraints::kinematic_constraints;
use super::dynamics::{ParameterRange, SystemDynamics};
use crate::problem::{Bounds, Dynamics, Problem, Variable};
use soleus_dynamics::System;
use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::Actor;
use soleus_model::model::Model;
use std::sync::Arc;

/// A model for use in problems.
#[derive(Clone)]
pub struct ModelProblem {
    /// The model.
    pub model: Arc<Model>,
    /// The compiled model.
    pub system: Arc<System>,
    /// Names of the states: coordinates, speeds, auxiliary states, in the order of the system.
    pub states: Vec<String>,
    /// Names of the controls: paths of the actuators.
    pub controls: Vec<String>,
    /// Names of the multipliers.
    pub multipliers: Vec<String>,
}

/// Names of all states of a system, in its order.
pub fn state_names(model: &Model, system: &System) -> Vec<String> {
    let n = system.tree.num_mobilities;
    let mut paths = vec![String::new(); n];
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        if m < n {
            paths[m] = c.path.clone();
        }
    }
    let values = paths.iter().map(|p| format!("{p}/value"));
    let speeds = paths.iter().map(|p| format!("{p}/speed"));
    values.chain(speeds).chain(system.aux_names.iter().cloned()).collect()
}

impl ModelProblem {
    /// Collects all names.
    pub fn new(model: Arc<Model>, system: Arc<System>) -> ModelProblem {
        let states = state_names(&model, &system);
        let mut controls = Vec::new();
        for (f, s) in model.forces.iter().zip(&system.forces) {
            match s.controls.len() {
                1 => controls.push(f.path.clone()),
                n => controls.extend((0..n).map(|i| format!("{}_{i}", f.path))),
            }
        }
        let multipliers = multiplier_names(&model, &system);
        ModelProblem { model, system, states, controls, multipliers }
    }

    /// Number of coordinates.
    pub fn num_coordinates(&self) -> usize {
        self.system.tree.num_mobilities
    }

    /// The problem with bounds from the model: ranges of coordinates and controls, `speed_bounds` for all speeds;
    /// auxiliary states are free.
    pub fn problem(&self, speed_bounds: Bounds, parameters: &[ParameterRange]) -> Problem {
        let n = self.num_coordinates();
        let s = &self.system;
        let mut chain = vec![None; self.states.len()];
        for (i, c) in chain.iter_mut().enumerate().take(n) {
            *c = s.tree.angular[i].is_none().then_some(n + i);
        }
        let mut driven = vec![None; self.states.len()];
        for f in s.forces.iter().filter(|f| f.enabled) {
            if let Actor::Muscle(m) = &f.actor
                && matches!(**m, CompiledMuscle::DeGroote2016(_))
            {
                driven[2 * n + f.states.start] = Some(f.controls.start);
            }
        }
        let dynamics = Dynamics {
            function: Arc::new(SystemDynamics::new(s.clone(), parameters)),
            chain,
            driven,
            rate_bounds: vec![Bounds::FREE; self.states.len()],
            constraints: kinematic_constraints(s),
        };
        let mut p = Problem::new(dynamics, self.states.len(), self.controls.len());
        for (v, name) in p.states.iter_mut().zip(&self.states) {
            v.name = name.clone();
        }
        for i in n..2 * n {
            p.states[i] = Variable::new(self.states[i].clone(), speed_bounds);
        }
        for (c, &m) in self.model.coordinates.iter().zip(&s.tree.mobility_of_coordinate) {
            if m < n {
                p.states[m] = Variable::new(self.states[m].clone(), Bounds::new(c.range[0], c.range[1]));
            }
        }
        let free = Bounds::new(-1000.0, 1000.0);
        p.multipliers = self.multipliers.iter().map(|name| Variable::new(name.clone(), free)).collect();
        let mut control = 0;
        for (f, sf) in self.model.forces.iter().zip(&s.forces) {
            let range = f.control_range().unwrap_or_default();
            for _ in sf.controls.clone() {
                p.controls[control] =
                    Variable::new(self.controls[control].clone(), Bounds::new(range.min, range.max));
                control += 1;
            }
        }
        p
    }
}

/// Names as Moco gives them, `lambda_cid2_p0`: by the number of the constraint in Simbody, where every coordinate
/// has a lock and, with a function, a prescription, in use or not, before the model's own constraints.
fn multiplier_names(model: &Model, system: &System) -> Vec<String> {
    let (mut ids, mut next) = (Vec::new(), 0);
    for &j in &system.tree.joint_order {
        for c in model.joints[j.0].coordinates.iter().map(|c| &model.coordinates[c.0]) {
            if c.locked {
                ids.push(next);
            }
            next += 1;
            if c.prescribed_function.is_some() {
                if c.prescribed {
                    ids.push(next);
                }
                next += 1;
            }
        }
    }
    for _ in &system.tree.loops {
        ids.push(next);
        next += 1;
    }
    for c in &model.constraints {
        if c.enforced {
            ids.push(next);
        }
        next += 1;
    }
    let names = |count: fn(&CompiledConstraint) -> usize, letter: char| {
        let each = system.constraints.list.iter().zip(&ids);
        each.flat_map(move |(c, id)| (0..count(c)).map(move |i| format!("lambda_cid{id}_{letter}{i}")))
    };
    names(CompiledConstraint::num_position, 'p').chain(names(CompiledConstraint::num_speed, 'v')).collect()
}
