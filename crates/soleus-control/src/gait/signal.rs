//! Measured signals over one cycle.

use crate::function::SmoothFunction;
use crate::goal::reaction::{OfForce, reaction_term};
use crate::problem::{PointVariable, Term};
use soleus_dynamics::System;
use soleus_math::{Real, Vec3};
use std::sync::Arc;

/// Values at equal steps of the cycle, from 0 to 100 % inclusive, interpolated linearly.
#[derive(Clone, Debug, PartialEq)]
pub struct Course(pub Vec<f64>);

impl Course {
    /// Value at a phase; cycles repeat, so the end is the start of the next.
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

/// Quantity of the motion that is compared with a signal.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A state of the problem.
    State(usize),
    /// Sum of contact forces along an axis of ground (0 x, 1 y, 2 z), divided by `per` (N).
    Contact {
        /// Forces of the system, with the body on which each acts.
        contacts: Vec<(usize, usize)>,
        /// 0 x, 1 y, 2 z.
        axis: usize,
        /// Divisor, N.
        per: f64,
    },
}

/// A signal to track.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// Name, for reports.
    pub name: String,
    /// Quantity that tracks the signal.
    pub source: Source,
    /// Mean m over the cycle.
    pub mean: Course,
    /// Standard deviation σ over the cycle.
    pub deviation: Course,
    /// Minimum σ, positive.
    pub floor: f64,
    /// Phase of the data at the start of the motion; ½ for the other leg.
    pub shift: f64,
}

/// ((s − m)/σ)² of all signals as terms of an integrand; `stretch` is the part of a cycle that the motion covers. Signals of the
/// same contacts are one term, because their forces and derivatives are the same. The name of a signal that follows no
/// contact but should is the error.
pub(super) fn terms(signals: &[Signal], system: &Arc<System>, stretch: f64) -> Result<Vec<Term>, String> {
    let mut list = Vec::new();
    let mut feet: Vec<Foot<'_>> = Vec::new();
    for s in signals {
        let data = Data { signal: s.clone(), stretch };
        match &s.source {
            Source::State(i) => {
                let inputs = vec![PointVariable::Phase, PointVariable::State(*i)];
                list.push(Term::new(inputs, StateError(data)));
            }
            Source::Contact { contacts, axis, per } => {
                let error = ForceError { data, axis: *axis, per: *per };
                match feet.iter_mut().find(|f| f.contacts == contacts) {
                    Some(foot) => foot.errors.push(error),
                    None => feet.push(Foot { contacts, name: &s.name, errors: vec![error] }),
                }
            }
        }
    }
    for Foot { contacts, name, errors } in feet {
        let term = reaction_term(system, contacts, PointVariable::Phase, ForceErrors(errors));
        list.push(term.ok_or_else(|| name.to_string())?);
    }
    Ok(list)
}

/// Signals of the same contacts; the name is that of the first.
struct Foot<'a> {
    contacts: &'a [(usize, usize)],
    name: &'a str,
    errors: Vec<ForceError>,
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

/// The sum of what several signals make of one force.
struct ForceErrors(Vec<ForceError>);

impl OfForce for ForceErrors {
    fn evaluate<T: Real>(&self, force: Vec3<T>, phase: T) -> T {
        let force = force.to_array();
        self.0.iter().map(|e| e.data.squared(phase, force[e.axis] / e.per)).sum()
    }
}
