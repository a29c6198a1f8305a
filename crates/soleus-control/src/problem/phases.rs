//! Problems with several phases in sequence, with different dynamics, goals or bounds.

use super::{Bounds, PointVariable, Problem, ProblemError};
use crate::function::{Differentiated, PointFunction, SmoothFunction};
use soleus_math::Real;
use std::sync::Arc;

/// Phases in order, and the links between them. The cost is the sum over all phases.
#[derive(Clone)]
pub struct Phases {
    /// The phases, each with its own times.
    pub phases: Vec<Problem>,
    /// Links between the end of each phase and the start of the next.
    pub links: Vec<Link>,
}

/// A variable on one side of a phase transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkVariable {
    /// At the end of the phase before the transition.
    Last(PointVariable),
    /// At the start of the phase after the transition.
    Initial(PointVariable),
}

/// A constraint between both sides of a transition: continuity, an impact, a stage separation.
#[derive(Clone)]
pub struct Link {
    /// Name, for reports.
    pub name: String,
    /// Index of the phase before the transition.
    pub after: usize,
    /// Arguments of the function, in order.
    pub inputs: Vec<LinkVariable>,
    /// The function.
    pub function: Arc<dyn PointFunction>,
    /// Bounds, one per output.
    pub bounds: Vec<Bounds>,
}

impl Link {
    /// A function of the variables `inputs` that is zero at the transition; derivatives by dual numbers.
    pub fn zero(
        name: impl Into<String>,
        after: usize,
        inputs: Vec<LinkVariable>,
        function: impl SmoothFunction,
    ) -> Link {
        let bounds = vec![Bounds::fixed(0.0); function.num_outputs()];
        Link { name: name.into(), after, inputs, function: Arc::new(Differentiated::new(function)), bounds }
    }

    /// Continuity: time and the given states at the start of the next phase equal those at the end of this one; states
    /// are given by their indices in both.
    pub fn continuous(after: usize, states: &[(usize, usize)]) -> Link {
        let pair = |&(a, b): &(usize, usize)| (PointVariable::State(a), PointVariable::State(b), 1.0);
        Link::proportional(after, &states.iter().map(pair).collect::<Vec<_>>())
    }

    /// Continuity of time, with variables that are multiples of those at the end: (a, b, f) for b = f a.
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
    /// Errors that make the problem infeasible as stated.
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
