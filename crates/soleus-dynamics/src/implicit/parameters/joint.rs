//! Custom joints: their axes, and the numbers of functions along them.

use super::find::{ParameterError, Search, component};
use super::{D, Kind, Parameter};
use crate::joint::{Axis, AxisMotion, CustomJoint, JointKernel};
use soleus_math::{Dual, Function, Vec3};
use soleus_model::joint::{JointKind, TransformAxis};

/// The axes of a custom joint as files name them.
const AXES: [&str; 6] =
    ["rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3"];

impl Search<'_> {
    /// A number of a custom joint: `SpatialTransform/rotation1/axis/0`, `SpatialTransform/translation2/function/value`.
    pub(super) fn of_joint(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let found = self.number_of_joint(index, property);
        let Some((value, unit, axis, change)) = found else {
            let class = self.model.joints[index].kind.class();
            return self.not_supported(class, &self.names_of_joint(index).join(", "));
        };
        let nodes = self.implicit.system.tree.nodes.iter().enumerate();
        let mine = nodes.filter(|(_, n)| n.joint_id.is_some_and(|id| id.0 == index));
        let kinds = mine.filter_map(|(node, n)| match &n.joint {
            JointKernel::Custom(joint) => {
                Some(Kind::Custom { node, joint: Box::new(seeded(joint, axis, &change)) })
            }
            _ => None,
        });
        self.found(value, unit, kinds.collect())
    }

    /// Value, unit, number of the axis and how it changes.
    fn number_of_joint(&self, index: usize, property: &str) -> Option<(f64, &'static str, usize, Change)> {
        let JointKind::Custom(transform) = &self.model.joints[index].kind else { return None };
        let (name, rest) = property.strip_prefix("SpatialTransform/")?.split_once('/')?;
        let axis = AXES.iter().position(|a| *a == name)?;
        let a = &transform.axes[axis];
        if let Some(("axis", k)) = component(rest) {
            // Files may give any length; the direction alone counts: ∂(v/|v|)/∂vₖ = eₖ − a aₖ with |v| = 1.
            return Some((a.axis[k], "1", axis, Change::Direction(Vec3::unit(k) - a.axis * a.axis[k])));
        }
        let (value, slope) = number_of_function(&a.function, rest.strip_prefix("function/")?)?;
        let unit = if axis < 3 { "rad" } else { "m" };
        let unit = if matches!(slope, Function::Constant(_)) { unit } else { "1" };
        Some((value, unit, axis, Change::Motion(AxisMotion::new(&slope, &a.arguments))))
    }

    /// Names of the properties of a joint that there are derivatives by.
    pub(super) fn names_of_joint(&self, index: usize) -> Vec<String> {
        let JointKind::Custom(transform) = &self.model.joints[index].kind else { return Vec::new() };
        let mut names = Vec::new();
        for (a, name) in transform.axes.iter().zip(AXES) {
            // An axis along which nothing ever happens may point anywhere.
            let still = matches!(a.function, Function::Constant(0.0));
            let directions = (0..3).filter(|_| !still).map(|k| format!("axis/{k}"));
            let numbers = numbers_of(a).into_iter().map(|n| format!("function/{n}"));
            names.extend(directions.chain(numbers).map(|n| format!("SpatialTransform/{name}/{n}")));
        }
        names
    }
}

/// How an axis changes, per unit of the parameter.
enum Change {
    /// In its direction.
    Direction(Vec3<f64>),
    /// In the angle or distance along it.
    Motion(AxisMotion),
}

/// The joint with one axis seeded.
fn seeded(joint: &CustomJoint, which: usize, change: &Change) -> CustomJoint<D> {
    let axes = std::array::from_fn(|i| {
        let a = &joint.axes[i];
        let mut axis = Axis { axis: Vec3::cst(a.axis), motion: a.motion.clone(), change: None };
        match change {
            Change::Direction(d) if i == which => axis.axis += super::seed(*d),
            Change::Motion(m) if i == which => {
                axis.change = Some(Box::new((m.clone(), Dual::new(0.0, [1.0]))))
            }
            _ => {}
        }
        axis
    });
    CustomJoint { num_coordinates: joint.num_coordinates, axes, as_simbody: joint.as_simbody }
}

/// The value of a number of a function, and what the function changes by with it.
fn number_of_function(f: &Function, name: &str) -> Option<(f64, Function)> {
    match (f, name) {
        (Function::Constant(c), "value") => Some((*c, Function::Constant(1.0))),
        (Function::Linear { slope, .. }, "coefficients/0") => {
            Some((*slope, Function::Linear { slope: 1.0, intercept: 0.0 }))
        }
        (Function::Linear { intercept, .. }, "coefficients/1") => Some((*intercept, Function::Constant(1.0))),
        (Function::Multiplier(m), "scale") => Some((m.scale(), m.inner().clone())),
        _ => None,
    }
}

/// Names of the numbers of a function that [`number_of_function`] knows.
fn numbers_of(a: &TransformAxis) -> Vec<&'static str> {
    let all = ["value", "coefficients/0", "coefficients/1", "scale"];
    all.into_iter().filter(|n| number_of_function(&a.function, n).is_some()).collect()
}
