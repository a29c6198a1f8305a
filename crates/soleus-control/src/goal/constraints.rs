//! Constraints along the motion.

use super::contact::Projection;
use super::distance::squared_distance;
use super::model_function::{Make, ModelFunction, Scalar};
use super::quantity::Quantity;
use crate::problem::{Bounds, PathConstraint, PointVariable};
use soleus_dynamics::{BodyFrame, System};
use soleus_math::Function;
use std::sync::Arc;

/// Bounds as functions of time: lower, upper, both, or equality with the lower one.
#[derive(Clone, Debug, Default)]
pub struct TimeBounds {
    /// Lower bound.
    pub lower: Option<Function>,
    /// Upper bound.
    pub upper: Option<Function>,
    /// Whether the value equals the lower bound.
    pub equal: bool,
}

impl TimeBounds {
    /// Functions to subtract, and what the differences are held to.
    pub(super) fn rows(&self) -> Vec<(Function, Bounds)> {
        let mut rows = Vec::new();
        if let Some(f) = &self.lower {
            let upper = if self.equal { 0.0 } else { f64::INFINITY };
            rows.push((f.clone(), Bounds::new(0.0, upper)));
        }
        if let (Some(f), false) = (&self.upper, self.equal) {
            rows.push((f.clone(), Bounds::new(f64::NEG_INFINITY, 0.0)));
        }
        rows
    }
}

/// Bounds of variables as functions of time.
pub fn variable_bounds(
    name: &str,
    system: &Arc<System>,
    variables: &[PointVariable],
    bounds: &TimeBounds,
) -> Vec<PathConstraint> {
    let mut list = Vec::new();
    for &v in variables {
        for (f, b) in bounds.rows() {
            let make = Make::Values(vec![Some(f)]);
            let term = ModelFunction::new(system, vec![Quantity::Variable(v)], make).term();
            list.push(PathConstraint { name: name.into(), term, bounds: vec![b] });
        }
    }
    list
}

/// Bounds of a quantity, or of two combined by `scalar`, as functions of time.
pub fn output_bounds(
    name: &str,
    system: &Arc<System>,
    quantities: &[Quantity],
    scalar: &Scalar,
    bounds: &TimeBounds,
) -> Vec<PathConstraint> {
    let constraint = |(f, b): (Function, Bounds)| {
        let make = Make::ScalarMinus(scalar.clone(), f);
        let term = ModelFunction::new(system, quantities.to_vec(), make).term();
        PathConstraint { name: name.into(), term, bounds: vec![b] }
    };
    bounds.rows().into_iter().map(constraint).collect()
}

/// Constant bounds of a quantity, or of two combined by `scalar`.
pub fn output_constraint(
    name: &str,
    system: &Arc<System>,
    quantities: Vec<Quantity>,
    scalar: Scalar,
    bounds: Bounds,
) -> PathConstraint {
    let term = ModelFunction::new(system, quantities, Make::Scalar(scalar)).term();
    PathConstraint { name: name.into(), term, bounds: vec![bounds] }
}

/// Bounds for the distances (m) between the origins of pairs of frames, optionally projected along or across a
/// direction.
///
/// The constraint is on the squared distance, which is smooth at zero.
pub fn frame_distance(
    name: &str,
    system: &Arc<System>,
    pairs: &[([BodyFrame; 2], [f64; 2])],
    projection: Projection,
) -> Vec<PathConstraint> {
    let constraint = |&(frames, [least, greatest]): &([BodyFrame; 2], [f64; 2])| {
        let term = squared_distance(system, frames, projection);
        let bounds = vec![Bounds::new(least * least, greatest * greatest)];
        PathConstraint { name: name.into(), term, bounds }
    };
    pairs.iter().map(constraint).collect()
}
