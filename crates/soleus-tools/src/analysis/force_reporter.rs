//! `ForceReporter`: values of all forces.

use super::{Analysis, AnalysisError, Moment, Output, Recorder};
use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Loads, System, Workspace};
use soleus_math::SpatialVec;
use soleus_model::Model;

const TEXT: &str = "\nForces (N) and torques (N m) that act on the model.\n\n";

/// Values of all enabled forces of the model, and of its constraints if requested.
#[derive(Clone, Debug)]
pub struct ForceReporter {
    constraints: Vec<usize>,
    row: Vec<f64>,
    table: Recorder,
}

impl ForceReporter {
    /// For a model.
    pub fn new(model: &Model, system: &System, with_constraints: bool) -> Self {
        let mut labels = force_labels(model, system);
        let mut constraints = Vec::new();
        if with_constraints {
            for (name, i) in named_constraints(model, system) {
                labels.extend(constraint_labels(model, system, &name, &system.constraints.list[i]));
                constraints.push(i);
            }
        }
        ForceReporter { constraints, row: Vec::new(), table: Recorder::new("ModelForces", TEXT, labels) }
    }
}

/// The constraints of the model that are enforced, by name, with their places in the system.
pub(super) fn named_constraints(model: &Model, system: &System) -> Vec<(String, usize)> {
    let names: Vec<String> =
        model.constraints.iter().filter(|c| c.enforced).map(|c| c.name.clone()).collect();
    // Locks, prescribed motion and loops come first in the system.
    let first = system.constraints.list.len().saturating_sub(names.len());
    names.into_iter().zip(first..).collect()
}

/// Columns of every enabled force.
pub(crate) fn force_labels(model: &Model, system: &System) -> Vec<String> {
    let mut labels = Vec::new();
    for (f, s) in model.forces.iter().zip(&system.forces).filter(|(_, s)| s.enabled) {
        match &s.actor {
            Actor::Muscle(_) => labels.push(f.name.clone()),
            Actor::Force(c) => labels.extend(c.labels()),
        }
    }
    labels
}

/// Appends the values under [`force_labels`]. An actuator for which `actuation` knows a number is taken to exert that.
pub(crate) fn push_forces(
    system: &System,
    (x, controls): (&soleus_dynamics::State<f64>, &[f64]),
    ws: &Workspace<f64>,
    actuation: &dyn Fn(usize) -> Option<f64>,
    out: &mut Vec<f64>,
) {
    for (i, s) in system.forces.iter().enumerate().filter(|(_, s)| s.enabled) {
        match (&s.actor, actuation(i)) {
            (Actor::Muscle(_), None) => out.push(ws.tension[i]),
            (Actor::Muscle(_), Some(f)) => out.push(f),
            (Actor::Force(_), given) => {
                let first = out.len();
                system.record_force(i, x, controls, ws, out);
                if let (Some(f), Some(slot)) = (given, out.get_mut(first)) {
                    *slot = f;
                }
            }
        }
    }
}

/// Bodies and mobilities that a constraint acts on directly, in Simbody's order.
fn acts_on(c: &CompiledConstraint) -> (Vec<usize>, Vec<usize>) {
    match c {
        CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
            (Vec::new(), vec![*mobility])
        }
        CompiledConstraint::Coupler { independent, dependent, .. } => {
            let mut list = independent.clone();
            list.push(*dependent);
            (Vec::new(), list)
        }
        CompiledConstraint::Point { first, second, .. } => (vec![first.body, second.body], Vec::new()),
        CompiledConstraint::Weld { first, second, .. } => (vec![first.body, second.body], Vec::new()),
        CompiledConstraint::Distance { first, second, .. } => (vec![first.body, second.body], Vec::new()),
        CompiledConstraint::PointOnLine { line, follower, .. } => {
            (vec![line.body, follower.body], Vec::new())
        }
        CompiledConstraint::Rolling(c) => (vec![c.surface, c.roller], Vec::new()),
    }
}

/// Columns of a constraint: force and moment on each body, a force on each mobility.
pub(super) fn constraint_labels(
    model: &Model,
    system: &System,
    name: &str,
    c: &CompiledConstraint,
) -> Vec<String> {
    let (bodies, mobilities) = acts_on(c);
    let mut labels = Vec::new();
    for b in bodies {
        let body = system.tree.nodes[b].body.map_or("ground", |b| &model.bodies[b.0].name);
        labels.extend(["Fx", "Fy", "Fz", "Mx", "My", "Mz"].map(|x| format!("{name}_{body}_{x}")));
    }
    labels.extend((0..mobilities.len()).map(|i| format!("{name}_mobility_F{i}")));
    labels
}

/// Appends the values under [`constraint_labels`], for multipliers of its equations: forces in ground, moments about the
/// origins of the bodies. As in OpenSim they are those that the model exerts on the constraint, Gᵀ λ; the constraint answers
/// with the opposite.
pub(super) fn push_constraint(
    system: &System,
    ws: &Workspace<f64>,
    c: &CompiledConstraint,
    (position, speed): (&[f64], &[f64]),
    out: &mut Vec<f64>,
) {
    let (bodies, mobilities) = acts_on(c);
    let mut body = vec![SpatialVec::zero(); system.tree.nodes.len()];
    let mut mobility = vec![0.0; system.tree.num_mobilities];
    let mut loads = Loads { body: &mut body, mobility: &mut mobility };
    c.add_reaction(&system.tree, &ws.kin, position, speed, &mut loads);
    for b in bodies {
        out.extend((-body[b].v).to_array());
        out.extend((-body[b].w).to_array());
    }
    out.extend(mobilities.iter().map(|&m| -mobility[m]));
}

impl Analysis for ForceReporter {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        self.row.clear();
        push_forces(now.system, (now.x, now.controls), now.ws, &|_| None, &mut self.row);
        let set = &now.system.constraints;
        let lambda = &now.ws.constraints.lambda;
        for &i in &self.constraints {
            let (p, v) = set.equations(i);
            push_constraint(now.system, now.ws, &set.list[i], (&lambda[p], &lambda[v]), &mut self.row);
        }
        self.table.push(now.x.time, self.row.iter().copied());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![Output { suffix: "_forces".to_string(), table: self.table.table()? }])
    }
}
