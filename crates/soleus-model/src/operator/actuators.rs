//! Coordinate actuators and prescribed coordinates.

use super::{OperatorError, Reserves, Residuals};
use crate::force::{ControlRange, CoordinateActuator, Force, ForceKind};
use crate::id::{BodyId, CoordinateId};
use crate::joint::MotionType;
use crate::model::Model;
use soleus_math::Function;

/// Whether the coordinate's joint is one with ground.
fn moves_against_ground(model: &Model, id: CoordinateId) -> bool {
    let joint = &model.joints[model.coordinates[id.0].joint.0];
    model.frames[joint.parent.0].body == BodyId::GROUND
}

fn has_actuator(model: &Model, id: CoordinateId) -> bool {
    model.forces.iter().any(|f| match &f.kind {
        ForceKind::CoordinateActuator(a) => a.coordinate == id,
        ForceKind::ActivationCoordinateActuator(a) => a.coordinate == id,
        _ => false,
    })
}

fn positive(what: &'static str, value: f64) -> Result<(), OperatorError> {
    if value > 0.0 { Ok(()) } else { Err(OperatorError::BadNumber { what, expected: "above zero", value }) }
}

/// An actuator named `prefix` and the path of its coordinate, with slashes as underscores.
fn actuator(model: &Model, prefix: &str, id: CoordinateId, optimal_force: f64, bound: Option<f64>) -> Force {
    let name = format!("{prefix}{}", model.coordinates[id.0].path.replace('/', "_"));
    let control = bound.map_or(ControlRange::default(), |b| ControlRange { min: -b, max: b });
    Force::of_coordinate("/forceset", name, CoordinateActuator { control, coordinate: id, optimal_force })
}

fn add(
    model: &mut Model,
    prefix: &str,
    bound: Option<f64>,
    skip: bool,
    force: impl Fn(&Model, CoordinateId) -> Option<f64>,
) -> Result<(), OperatorError> {
    if let Some(value) = bound.filter(|b| !(*b >= 0.0)) {
        return Err(OperatorError::BadNumber { what: "bound", expected: "zero or above", value });
    }
    let new: Vec<Force> = (0..model.coordinates.len())
        .map(CoordinateId)
        .filter(|&id| !(model.is_constrained(id) || (skip && has_actuator(model, id))))
        .filter_map(|id| Some(actuator(model, prefix, id, force(model, id)?, bound)))
        .collect();
    model.forces.extend(new);
    Ok(())
}

pub(super) fn add_reserves(model: &mut Model, r: &Reserves) -> Result<(), OperatorError> {
    positive("optimal_force", r.optimal_force)?;
    add(model, "reserve", r.bound, r.skip_coordinates_with_actuators, |m, id| {
        (!(r.skip_residual_coordinates && moves_against_ground(m, id))).then_some(r.optimal_force)
    })
}

pub(super) fn add_residuals(model: &mut Model, r: &Residuals) -> Result<(), OperatorError> {
    positive("rotational_optimal_force", r.rotational_optimal_force)?;
    positive("translational_optimal_force", r.translational_optimal_force)?;
    add(model, "residual", r.bound, r.skip_coordinates_with_actuators, |m, id| {
        let force = match m.coordinates[id.0].motion_type {
            MotionType::Translational => r.translational_optimal_force,
            _ => r.rotational_optimal_force,
        };
        moves_against_ground(m, id).then_some(force)
    })
}

pub(super) fn prescribe(model: &mut Model, list: &[(String, Function)]) -> Result<(), OperatorError> {
    for (name, function) in list {
        let found = model.coordinates.iter_mut().find(|c| c.path == *name || c.name == *name);
        let c = found.ok_or_else(|| OperatorError::NoSuchCoordinate { name: name.clone() })?;
        c.prescribed_function = Some(function.clone());
        c.prescribed = true;
    }
    Ok(())
}
