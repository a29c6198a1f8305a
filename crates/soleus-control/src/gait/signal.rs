//! Measured signals over one cycle.

use crate::function::SmoothFunction;
use crate::goal::reaction::{OfForce, reaction_term};
use crate::problem::{PointVariable, Term};
use soleus_dynamics::System;
use soleus_math::{Real, Vec3};
use std::sync::Arc;

/// Numbers at equal steps of the cycle, from 0 to 100 %, both included, on lines between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Course(pub Vec<f64>);

impl Course {
    /// The value at a phase; cycles repeat, and the end of one is the beginning of the next.
    pub fn at(&self, phase: f64) -> f64 {
        let n = self.0.len();
        if n < 2 {
            return self.0.first().copied().unwrap_or(0.0);
        }
        let place = (phase - phase.floor()) * (n - 1) as f64;
        let i = (place as usize).min(n - 2);
        let s = place - i as f64;
        (1.0 - s) * self.0[i] + s * self.0[i + 1]
    }
}

/// What of the motion a signal is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A state of the problem.
    State(usize),
    /// Sum of contact forces along an axis of ground (0 x, 1 y, 2 z), divided by `per` (N).
    Contact {
        /// Forces of the system, with the body on which each is counted.
        contacts: Vec<(usize, usize)>,
        /// 0 x, 1 y, 2 z.
        axis: usize,
        /// N.
        per: f64,
    },
}

/// A signal that the motion should follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// For reports.
    pub name: String,
    /// What follows.
    pub source: Source,
    /// m over the cycle.
    pub mean: Course,
    /// σ over the cycle.
    pub deviation: Course,
    /// Least σ that counts, above zero.
    pub floor: f64,
    /// Phase of the data at the beginning of the motion; ½ for the other leg.
    pub shift: f64,
}

impl Signal {
    /// ((s − m)/σ)² as a term of an integrand; `stretch` is the part of a cycle that the motion covers.
    pub(super) fn term(&self, system: &Arc<System>, stretch: f64) -> Option<Term> {
        let data = Data { signal: self.clone(), stretch };
        match &self.source {
            Source::State(i) => {
                Some(Term::new(vec![PointVariable::Phase, PointVariable::State(*i)], StateError(data)))
            }
            Source::Contact { contacts, axis, per } => {
                let error = ForceError { data, axis: *axis, per: *per };
                reaction_term(system, contacts, PointVariable::Phase, error)
            }
        }
    }
}

struct Data {
    signal: Signal,
    stretch: f64,
}

impl Data {
    /// ((s − m)/σ)² at a phase of the motion.
    fn squared<T: Real>(&self, phase: T, s: T) -> T {
        let phase = phase.value() * self.stretch + self.signal.shift;
        let deviation = self.signal.deviation.at(phase).max(self.signal.floor);
        ((s - self.signal.mean.at(phase)) / deviation).sq()
    }
}

struct StateError(Data);

impl SmoothFunction for StateError {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = self.0.squared(z[0], z[1]);
    }
    fn depends(&self, _: usize, input: usize) -> bool {
        input == 1
    }
}

struct ForceError {
    data: Data,
    axis: usize,
    /// N.
    per: f64,
}

impl OfForce for ForceError {
    fn evaluate<T: Real>(&self, force: Vec3<T>, phase: T) -> T {
        self.data.squared(phase, force.to_array()[self.axis] / self.per)
    }
}
