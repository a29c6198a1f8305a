//! Custom joints: their axes, and the numbers of functions along them; radii of joints on ellipsoids.

use super::find::{ParameterError, Search, component};
use super::{D, Kind, Parameter};
use crate::joint::{Axis, AxisMotion, CustomJoint, JointKernel};
use soleus_math::function::{Multiplier, PiecewiseLinear, Polynomial, SimmSpline};
use soleus_math::{Dual, Function, Vec3};
use soleus_model::joint::JointKind;

/// The axes of a custom joint as files name them.
const AXES: [&str; 6] =
    ["rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3"];

impl Search<'_> {
    /// A number of a joint: `SpatialTransform/rotation1/axis/0`, `SpatialTransform/translation2/function/value`,
    /// `radii_x_y_z/1`.
    pub(super) fn of_joint(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let Some((value, unit, change)) = self.number_of_joint(index, property) else {
            let class = self.model.joints[index].kind.class();
            return self.not_supported(class, &self.names_of_joint(index).join(", "));
        };
        let nodes = self.implicit.system.tree.nodes.iter().enumerate();
        let mine = nodes.filter(|(_, n)| n.joint_id.is_some_and(|id| id.0 == index));
        let kinds =
            mine.filter_map(|(node, n)| Some(Kind::Motion { node, joint: seeded(&n.joint, &change)? }));
        self.found(value, unit, kinds.collect())
    }

    /// Value, unit and what changes.
    fn number_of_joint(&self, index: usize, property: &str) -> Option<(f64, &'static str, Change)> {
        let transform = match (&self.model.joints[index].kind, component(property)) {
            (JointKind::Ellipsoid { radii }, Some(("radii_x_y_z", k))) => {
                return Some((radii[k], "m", Change::Radius(k)));
            }
            (JointKind::Scapulothoracic { radii, .. }, Some(("thoracic_ellipsoid_radii_x_y_z", k))) => {
                // Its ellipsoid is turned by a right angle about z.
                return Some((radii[k], "m", Change::Radius([1, 0, 2][k])));
            }
            (JointKind::Custom(transform), _) => transform,
            _ => return None,
        };
        let (name, rest) = property.strip_prefix("SpatialTransform/")?.split_once('/')?;
        let axis = AXES.iter().position(|a| *a == name)?;
        let a = &transform.axes[axis];
        if let Some(("axis", k)) = component(rest) {
            // Files may give any length; the direction alone counts: ∂(v/|v|)/∂vₖ = eₖ − a aₖ with |v| = 1.
            return Some((a.axis[k], "1", Change::Direction(axis, Vec3::unit(k) - a.axis * a.axis[k])));
        }
        let (value, slope) = number_of_function(&a.function, rest.strip_prefix("function/")?)?;
        let ordinate = matches!(slope, Function::Constant(_)) || rest.contains("/y/");
        let unit = match (ordinate, axis < 3) {
            (true, true) => "rad",
            (true, false) => "m",
            _ => "1",
        };
        Some((value, unit, Change::Motion(axis, AxisMotion::new(&slope, &a.arguments))))
    }

    /// Names of the properties of a joint that there are derivatives by.
    pub(super) fn names_of_joint(&self, index: usize) -> Vec<String> {
        let radii = |name: &str| (0..3).map(|k| format!("{name}/{k}")).collect();
        let transform = match &self.model.joints[index].kind {
            JointKind::Custom(transform) => transform,
            JointKind::Ellipsoid { .. } => return radii("radii_x_y_z"),
            JointKind::Scapulothoracic { .. } => return radii("thoracic_ellipsoid_radii_x_y_z"),
            _ => return Vec::new(),
        };
        let mut names = Vec::new();
        for (a, name) in transform.axes.iter().zip(AXES) {
            // An axis along which nothing ever happens may point anywhere.
            let still = matches!(a.function, Function::Constant(0.0));
            let directions = (0..3).filter(|_| !still).map(|k| format!("axis/{k}"));
            let numbers = numbers_of(&a.function).into_iter().map(|n| format!("function/{n}"));
            names.extend(directions.chain(numbers).map(|n| format!("SpatialTransform/{name}/{n}")));
        }
        names
    }
}

/// What changes of a joint, per unit of the parameter.
enum Change {
    /// The direction of an axis.
    Direction(usize, Vec3<f64>),
    /// The angle or distance along an axis.
    Motion(usize, AxisMotion),
    /// A radius of an ellipsoid.
    Radius(usize),
}

/// The joint with what changes seeded; nothing for another kind of joint.
fn seeded(joint: &JointKernel, change: &Change) -> Option<JointKernel<D>> {
    match (joint, change) {
        (JointKernel::Ellipsoid(radii), Change::Radius(k)) => {
            let mut seeded = Vec3::cst(*radii);
            seeded[*k] = Dual::variable(radii[*k], 0);
            Some(JointKernel::Ellipsoid(seeded))
        }
        (JointKernel::Custom(joint), Change::Direction(..) | Change::Motion(..)) => {
            let axes = std::array::from_fn(|i| {
                let a = &joint.axes[i];
                let mut axis = Axis { axis: Vec3::cst(a.axis), motion: a.motion.clone(), change: None };
                match change {
                    Change::Direction(which, d) if *which == i => axis.axis += super::seed(*d),
                    Change::Motion(which, m) if *which == i => {
                        axis.change = Some(Box::new((m.clone(), Dual::new(0.0, [1.0]))));
                    }
                    _ => {}
                }
                axis
            });
            let (num_coordinates, as_simbody) = (joint.num_coordinates, joint.as_simbody);
            Some(JointKernel::Custom(Box::new(CustomJoint { num_coordinates, axes, as_simbody })))
        }
        _ => None,
    }
}

/// The value of a number of a function, and what the function changes by with it. All of these functions are linear in their
/// ordinates and coefficients.
fn number_of_function(f: &Function, name: &str) -> Option<(f64, Function)> {
    let number = |of: &str| name.strip_prefix(of)?.strip_prefix('/')?.parse::<usize>().ok();
    match f {
        Function::Constant(c) => (name == "value").then_some((*c, Function::Constant(1.0))),
        Function::Linear { slope, intercept } => match number("coefficients")? {
            0 => Some((*slope, Function::Linear { slope: 1.0, intercept: 0.0 })),
            1 => Some((*intercept, Function::Constant(1.0))),
            _ => None,
        },
        Function::Polynomial(p) => {
            let (value, unit) = of_unit(p.coefficients().to_vec(), number("coefficients")?)?;
            Some((value, Polynomial::new(unit).ok()?.into()))
        }
        Function::SimmSpline(s) => {
            let (value, unit) = of_unit(s.y().collect(), number("y")?)?;
            Some((value, SimmSpline::new(s.x().to_vec(), unit).ok()?.into()))
        }
        Function::PiecewiseLinear(s) => {
            let (value, unit) = of_unit(s.y().to_vec(), number("y")?)?;
            Some((value, PiecewiseLinear::new(s.x().to_vec(), unit).ok()?.into()))
        }
        Function::Multiplier(m) if name == "scale" => Some((m.scale(), m.inner().clone())),
        Function::Multiplier(m) => {
            let (value, slope) = number_of_function(m.inner(), name.strip_prefix("function/")?)?;
            Some((value, Multiplier::new(slope, m.scale()).ok()?.into()))
        }
        _ => None,
    }
}

/// One of the numbers, and the same list with one in its place and zeros elsewhere.
fn of_unit(mut list: Vec<f64>, k: usize) -> Option<(f64, Vec<f64>)> {
    let value = *list.get(k)?;
    list.fill(0.0);
    list[k] = 1.0;
    Some((value, list))
}

/// Names of the numbers of a function that [`number_of_function`] knows.
fn numbers_of(f: &Function) -> Vec<String> {
    let list = |name: &str, count: usize| (0..count).map(|k| format!("{name}/{k}")).collect();
    match f {
        Function::Constant(_) => vec!["value".to_string()],
        Function::Linear { .. } => list("coefficients", 2),
        Function::Polynomial(p) => list("coefficients", p.coefficients().len()),
        Function::SimmSpline(s) => list("y", s.x().len()),
        Function::PiecewiseLinear(s) => list("y", s.x().len()),
        Function::Multiplier(m) => {
            let inner = numbers_of(m.inner()).into_iter().map(|n| format!("function/{n}"));
            std::iter::once("scale".to_string()).chain(inner).collect()
        }
        _ => Vec::new(),
    }
}
