//! Problems of several phases: one motion after the other, with other dynamics, goals or bounds.

use super::{Bounds, PointVariable, Problem, ProblemError};
use crate::function::{Differentiated, PointFunction, SmoothFunction};
use soleus_math::Real;
use std::sync::Arc;

/// Phases in their order, and what holds between them. The cost is the sum of all.
#[derive(Clone)]
pub struct Phases {
    /// The phases, each with its own times.
    pub phases: Vec<Problem>,
    /// What holds between the end of one and the beginning of the next.
    pub links: Vec<Link>,
}

/// A variable on one side of the change from a phase to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkVariable {
    /// At the end of the phase before.
    Last(PointVariable),
    /// At the beginning of the phase after.
    Initial(PointVariable),
}

/// A function of both sides of the change that stays within bounds: continuity, an impact, a stage that is dropped.
#[derive(Clone)]
pub struct Link {
    /// Its name, for reports.
    pub name: String,
    /// The phase before; the next comes after.
    pub after: usize,
    /// What the function is given, in its order.
    pub inputs: Vec<LinkVariable>,
    /// The function.
    pub function: Arc<dyn PointFunction>,
    /// One per output.
    pub bounds: Vec<Bounds>,
}

impl Link {
    /// A function of the variables `inputs`, zero at the change; derivatives by dual numbers.
    pub fn zero(
        name: impl Into<String>,
        after: usize,
        inputs: Vec<LinkVariable>,
        function: impl SmoothFunction,
    ) -> Link {
        let bounds = vec![Bounds::fixed(0.0); function.num_outputs()];
        Link { name: name.into(), after, inputs, function: Arc::new(Differentiated::new(function)), bounds }
    }

    /// The next phase begins when and where this one ends: time and the given states, by their places in both.
    pub fn continuous(after: usize, states: &[(usize, usize)]) -> Link {
        let pair = |&(a, b): &(usize, usize)| (PointVariable::State(a), PointVariable::State(b), 1.0);
        Link::proportional(after, &states.iter().map(pair).collect::<Vec<_>>())
    }

    /// The next phase begins when this one ends, with variables that are multiples of those at its end: (a, b, f) for b = f a.
    pub fn proportional(after: usize, pairs: &[(PointVariable, PointVariable, f64)]) -> Link {
        let time = (PointVariable::Time, PointVariable::Time, 1.0);
        let all = || std::iter::once(&time).chain(pairs);
        let inputs = all().flat_map(|p| [LinkVariable::Last(p.0), LinkVariable::Initial(p.1)]).collect();
        Link::zero("continuity", after, inputs, Multiples(all().map(|p| p.2).collect()))
    }
}

/// f a − b of pairs, f one for each.
struct Multiples(Vec<f64>);

impl SmoothFunction for Multiples {
    type Scratch<T: Real> = ();

    fn num_inputs(&self) -> usize {
        2 * self.0.len()
    }

    fn num_outputs(&self) -> usize {
        self.0.len()
    }

    fn scratch<T: Real>(&self) {}

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for ((v, pair), &f) in values.iter_mut().zip(z.chunks(2)).zip(&self.0) {
            *v = pair[0] * f - pair[1];
        }
    }

    fn depends(&self, output: usize, input: usize) -> bool {
        input / 2 == output
    }
}

impl Phases {
    /// Everything that makes the problem impossible as stated.
    pub fn errors(&self) -> Vec<ProblemError> {
        let mut errors: Vec<ProblemError> = self.phases.iter().flat_map(Problem::errors).collect();
        if self.phases.is_empty() {
            errors.push(ProblemError::Sizes { what: "phases".into(), expected: 1, found: 0 });
        }
        for l in &self.links {
            let (Some(before), Some(next)) = (self.phases.get(l.after), self.phases.get(l.after + 1)) else {
                errors.push(ProblemError::NoPhase { link: l.name.clone(), phase: l.after + 1 });
                continue;
            };
            let mut size = |what: &str, expected: usize, found: usize| {
                if expected != found {
                    let what = format!("{what} of link {}", l.name);
                    errors.push(ProblemError::Sizes { what, expected, found });
                }
            };
            size("inputs", l.function.num_inputs(), l.inputs.len());
            size("bounds", l.function.num_outputs(), l.bounds.len());
            for v in &l.inputs {
                let (problem, v) = match *v {
                    LinkVariable::Last(v) => (before, v),
                    LinkVariable::Initial(v) => (next, v),
                };
                if !problem.has(v) {
                    let (what, variable) = (format!("link {}", l.name), format!("{v:?}"));
                    errors.push(ProblemError::UnknownVariable { what, variable });
                }
            }
        }
        errors
    }
}
