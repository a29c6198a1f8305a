//! Recorded evaluation of a system.

use crate::stiffness::Stiffness;
use soleus_dynamics::{State, System};
use soleus_graph::{Graph, Op, Program, Recorded, Recording, record};
use soleus_math::elementary;
use soleus_math::{Part, Real};
use soleus_model::Model;
use std::ops::Range;

/// Why a model cannot be recorded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// A kernel branches on values in a way that cannot be recorded.
    #[error("{component} branches on the values of a state ({place}){hint}")]
    Look {
        /// The component, or the component that contains it.
        component: String,
        /// File and line of the branch in the program.
        place: String,
        /// Number of further branches.
        more: usize,
        /// Remedy, after a semicolon; may be empty.
        hint: &'static str,
    },
    /// Accelerations are undetermined.
    #[error("{0}")]
    Motion(String),
    /// A parameter that cannot differ between copies.
    #[error("{parameter} cannot differ between copies: {why}")]
    Parameter {
        /// Its name.
        parameter: String,
        /// Reason.
        why: String,
    },
}

/// Layout of inputs and outputs of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Indices of the coordinates among the inputs.
    pub q: Range<usize>,
    /// Speeds.
    pub u: Range<usize>,
    /// States of forces.
    pub z: Range<usize>,
    /// Controls.
    pub e: Range<usize>,
    /// Time, s.
    pub time: usize,
    /// Factors of parameters that differ between copies; empty if there are none.
    pub p: Range<usize>,
}

impl Layout {
    /// Layout for a system.
    pub fn new(system: &System) -> Layout {
        let (n, z, e) = (system.tree.num_mobilities, system.num_aux, system.num_controls);
        let q = 0..n;
        let u = n..2 * n;
        let z = 2 * n..2 * n + z;
        let e = z.end..z.end + e;
        Layout { time: e.end, p: e.end + 1..e.end + 1, q, u, z, e }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.p.end
    }

    /// Number of outputs of an evaluation: accelerations and rates of the states of forces.
    pub fn outputs(&self) -> usize {
        self.u.len() + self.z.len()
    }

    /// A state a little off the default, so that a number that happens to vanish there does not decide the order of pivots.
    pub(crate) fn start(&self, system: &System) -> Vec<f64> {
        let d = &system.default_state;
        let mut start: Vec<f64> = Vec::with_capacity(self.inputs());
        start.extend(d.q.iter().enumerate().map(|(i, q)| q + 0.01 * elementary::sin(1.0 + i as f64)));
        start.extend(d.u.iter().enumerate().map(|(i, u)| u + 0.01 * elementary::cos(2.0 + i as f64)));
        start.extend(&d.z);
        start.extend((0..system.num_controls).map(|_| 0.1));
        start.push(d.time);
        start
    }

    /// Converts inputs to a state and controls.
    pub fn state<T: Real>(&self, x: &[T]) -> (State<T>, Vec<T>) {
        let of = |r: &Range<usize>| x[r.clone()].to_vec();
        (State { time: x[self.time], q: of(&self.q), u: of(&self.u), z: of(&self.z) }, of(&self.e))
    }
}

/// Accelerations and rates of a system as a graph over coordinates, speeds, states of forces, controls and time.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The graph, to which derivatives and steps may be added.
    pub graph: Graph,
    /// Layout of its inputs.
    pub layout: Layout,
    /// Nodes of the inputs.
    pub inputs: Vec<u32>,
    /// Nodes of u̇.
    pub udot: Vec<u32>,
    /// Nodes of the rates of the states of forces.
    pub zdot: Vec<u32>,
    /// Nodes of q̇.
    pub qdot: Vec<u32>,
    /// A node that is not 0 if a recorded branch would have been taken differently: a vanishing pivot.
    pub doubt: u32,
    /// Parts of the model that nodes belong to.
    pub parts: Vec<(Part, usize)>,
    /// What implicit steps need.
    pub(crate) stiffness: Stiffness<u32>,
}

impl Evaluation {
    /// Records the evaluation of a system. `model` is used for names in error messages.
    pub fn record(model: &Model, system: &System) -> Result<Evaluation, Refusal> {
        let layout = Layout::new(system);
        let start = layout.start(system);
        let mut failure = None;
        let mut stiffness = Stiffness::default();
        let (recording, outputs) = record(&start, |x| {
            let (state, controls) = layout.state(x);
            let mut ws = system.workspace::<Recorded>();
            if let Err(e) = system.compute_motion(&state, &controls, &mut ws) {
                failure = Some(e.to_string());
            }
            let mut qdot = state.u.clone();
            system.compute_coordinate_rates(&state, &mut qdot);
            let rates = ws.udot.iter().chain(&ws.zdot).chain(&qdot).copied().collect::<Vec<_>>();
            let stiff = Stiffness::of(system, &state, &controls, &ws);
            let mut list = rates;
            stiff.map(&mut |x| list.push(x));
            stiffness = stiff;
            list
        });
        if let Some(refusal) = refusal(model, system, &recording) {
            return Err(refusal);
        }
        if let Some(message) = failure {
            return Err(Refusal::Motion(message));
        }
        let Recording { mut graph, doubts, parts, .. } = recording;
        join_forces(&mut graph, &parts);
        let zero = graph.constant(0.0);
        let doubt = doubts.iter().fold(zero, |sum, &d| graph.two(Op::Max, sum, d));
        let inputs = (0..layout.inputs() as u32).collect();
        let (n, nz) = (layout.u.len(), layout.z.len());
        let mut rest = outputs[2 * n + nz..].iter();
        let stiffness = stiffness.map(&mut |_| *rest.next().unwrap_or(&zero));
        Ok(Evaluation {
            stiffness,
            udot: outputs[..n].to_vec(),
            zdot: outputs[n..n + nz].to_vec(),
            qdot: outputs[n + nz..2 * n + nz].to_vec(),
            doubt,
            graph,
            layout,
            inputs,
            parts,
        })
    }

    /// Nodes of the outputs: accelerations, then rates.
    pub fn outputs(&self) -> Vec<u32> {
        self.udot.iter().chain(&self.zdot).copied().collect()
    }

    /// Accelerations and rates of the states of forces; the last output is the indicator.
    pub fn program(&self) -> Program {
        let mut outputs = self.outputs();
        outputs.push(self.doubt);
        Program::new(&self.graph, &outputs)
    }

    /// Gradient of Σ wᵢ yᵢ with respect to all inputs, where y are accelerations and rates. The weights w are
    /// additional inputs at the end.
    pub fn gradient_program(&self) -> Program {
        let mut graph = self.graph.clone();
        let outputs = self.outputs();
        let weights: Vec<u32> = outputs.iter().map(|_| graph.input()).collect();
        let gradient = graph.reverse(&outputs, &weights, &self.inputs);
        Program::new(&graph, &gradient)
    }
}

/// Why a recording is not what the kernel computes; none if it is.
pub(crate) fn refusal(model: &Model, system: &System, recording: &Recording) -> Option<Refusal> {
    let look = recording.looks.first()?;
    Some(Refusal::Look {
        component: component(model, system, look.part),
        place: look.to_string(),
        more: recording.looks.len() - 1,
        hint: match look.part {
            Some((Part::Path | Part::Load, _)) => "; fitted paths have no such branches (--fit-paths)",
            _ => "",
        },
    })
}

/// The path of a force, its law and its load are one part of the graph: they are computed together.
pub(crate) fn join_forces(graph: &mut Graph, parts: &[(Part, usize)]) {
    let mut first = std::collections::HashMap::new();
    let of: Vec<u32> = (0..)
        .zip(parts)
        .map(|(k, &(part, i))| match part {
            Part::Path | Part::Force | Part::Load => *first.entry(i).or_insert(k),
            _ => k,
        })
        .collect();
    graph.parts.iter_mut().for_each(|p| *p = of[*p as usize]);
}

/// The path of a part of a model.
fn component(model: &Model, system: &System, part: Option<(Part, usize)>) -> String {
    let force = |i: usize| model.forces.get(i).map_or_else(String::new, |f| f.path.clone());
    match part {
        Some((Part::Path | Part::Load, i)) => format!("the path of {}", force(i)),
        Some((Part::Force, i)) => force(i),
        Some((Part::Body, i)) => {
            let joint = model.joints.iter().find(|j| {
                j.coordinates.iter().any(|c| {
                    let node = &system.tree.nodes[i];
                    let m = system.tree.mobility_of_coordinate[c.0];
                    (node.u0..node.u0 + node.nu).contains(&m)
                })
            });
            joint.map_or_else(|| format!("joint {i}"), |j| j.path.clone())
        }
        Some((Part::Constraint, i)) => format!("constraint {i}"),
        Some((Part::Motion, _)) => "the mass matrix".to_string(),
        None => "the model".to_string(),
    }
}
