//! Outputs of components as quantities in a problem.

use super::pair;
use crate::error::Error;
use soleus_control::Goal;
pub use soleus_control::goal::named::{frame, reaction};
use soleus_control::goal::named::{metabolics_by_muscle, parts, quantity};
use soleus_control::goal::{self, Operation, Quantity, Scalar, Shape, When};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Bounds, Mode};
use soleus_io::study::{self, OutputSource, OutputUse};
use std::path::Path;

/// The quantities of an output, and how they are combined into one number.
pub fn scalar(
    base: &ModelProblem,
    o: &OutputSource,
    shape: Shape,
) -> Result<(Vec<Quantity>, Scalar), String> {
    let mut list = vec![quantity(base, &o.path)?];
    let operation = match (o.operation.as_deref(), &o.second_path) {
        (None, None) => None,
        (Some(word), Some(second)) => {
            list.push(quantity(base, second)?);
            Some(match word {
                "addition" => Operation::Addition,
                "subtraction" => Operation::Subtraction,
                "multiplication" => Operation::Multiplication,
                "division" => Operation::Division,
                other => return Err(format!("unknown operation `{other}` on outputs")),
            })
        }
        (Some(_), None) => return Err("an operation needs a second output".into()),
        (None, Some(_)) => return Err("a second output needs an operation".into()),
    };
    let len = list[0].len();
    if list.iter().any(|q| q.len() != len) {
        return Err(format!("`{}` and the second output are not of the same type", o.path));
    }
    if o.index.is_some_and(|i| i >= len || len == 1) {
        return Err(format!("`{}` has no such component", o.path));
    }
    if !(o.exponent >= 1.0) {
        return Err(format!("the exponent must be at least 1, found {}", o.exponent));
    }
    Ok((list, Scalar { index: o.index, operation, exponent: o.exponent, shape }))
}

/// A goal about an output.
pub fn build(
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    o: &OutputSource,
    of: &OutputUse,
) -> Result<Goal, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let mode = match g.constraint {
        Some(true) => {
            Mode::Constraint { bounds: vec![g.bounds.first().map_or(Bounds::fixed(0.0), |b| pair(*b))] }
        }
        _ => Mode::Cost { weight: g.weight },
    };
    let shape = match of {
        OutputUse::Tracking(Some(f)) => Shape::Minus(f.clone()),
        OutputUse::Tracking(None) => return Err(refuse("the function to track is missing".to_string())),
        OutputUse::Extremum { maximum, smoothing } => {
            if !(0.2..=1.0).contains(smoothing) {
                return Err(refuse(format!("smoothing must lie between 0.2 and 1, found {smoothing}")));
            }
            Shape::Extremum { beta: if *maximum { 1.0 } else { -1.0 }, smoothing: *smoothing }
        }
        _ => Shape::Plain,
    };
    let (list, scalar) = scalar(base, o, shape).map_err(refuse)?;
    let when = match of {
        OutputUse::Periodicity => {
            return Ok(goal::output_periodicity(&g.name, mode, &base.system, list, scalar));
        }
        OutputUse::Initial => When::Initially,
        OutputUse::Final => When::Finally,
        _ => When::Always,
    };
    let alone = matches!(of, OutputUse::Integral) && scalar.exponent == 1.0 && scalar.operation.is_none();
    if let ([Quantity::Metabolics(..)], true) = (&list[..], alone) {
        let component = parts(&o.path).0;
        let probe = base.model.probes.iter().find(|p| p.path == component);
        if let Some(terms) = probe.and_then(|p| metabolics_by_muscle(base, p)) {
            return Ok(goal::output_sum(&g.name, mode, &base.system, terms));
        }
    }
    Ok(goal::output(&g.name, mode, &base.system, list, scalar, when))
}
