//! Properties of forces that the load is an affine function of.

use soleus_model::force::ForceKind;

/// Names of all properties that [`affine_property`] knows of some class.
pub(super) const NAMES: &[&str] = &[
    "optimal_force",
    "max_isometric_force",
    "stiffness",
    "rest_length",
    "viscosity",
    "upper_stiffness",
    "lower_stiffness",
    "damping",
    "rotational_stiffness/0",
    "rotational_stiffness/1",
    "rotational_stiffness/2",
    "translational_stiffness/0",
    "translational_stiffness/1",
    "translational_stiffness/2",
    "rotational_damping/0",
    "rotational_damping/1",
    "rotational_damping/2",
    "translational_damping/0",
    "translational_damping/1",
    "translational_damping/2",
    "pcsa_force",
    "linear_stiffness",
    "dissipation",
    "damping_coefficient",
];

/// The property of that name, if the load is an affine function of it.
pub(super) fn affine_property<'a>(kind: &'a mut ForceKind, property: &str) -> Option<&'a mut f64> {
    let (name, index) =
        property.split_once('/').map_or((property, 0), |(n, i)| (n, i.parse().unwrap_or(usize::MAX)));
    if index > 2 {
        return None;
    }
    Some(match (kind, name) {
        (ForceKind::Muscle(m), "max_isometric_force") => &mut m.max_isometric_force,
        (ForceKind::CoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::ActivationCoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::TorqueActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointToPointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PathActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::SpringGeneralizedForce(f), "stiffness") => &mut f.stiffness,
        (ForceKind::SpringGeneralizedForce(f), "rest_length") => &mut f.rest_length,
        (ForceKind::SpringGeneralizedForce(f), "viscosity") => &mut f.viscosity,
        (ForceKind::CoordinateLimitForce(f), "upper_stiffness") => &mut f.upper_stiffness,
        (ForceKind::CoordinateLimitForce(f), "lower_stiffness") => &mut f.lower_stiffness,
        (ForceKind::CoordinateLimitForce(f), "damping") => &mut f.damping,
        (ForceKind::PointToPointSpring(f), "stiffness") => &mut f.stiffness,
        (ForceKind::PointToPointSpring(f), "rest_length") => &mut f.rest_length,
        (ForceKind::BushingForce(f), "rotational_stiffness") => &mut f.rotational_stiffness[index],
        (ForceKind::BushingForce(f), "translational_stiffness") => &mut f.translational_stiffness[index],
        (ForceKind::BushingForce(f), "rotational_damping") => &mut f.rotational_damping[index],
        (ForceKind::BushingForce(f), "translational_damping") => &mut f.translational_damping[index],
        (ForceKind::PathSpring(f), "stiffness") => &mut f.stiffness,
        (ForceKind::PathSpring(f), "dissipation") => &mut f.dissipation,
        (ForceKind::ClutchedPathSpring(f), "stiffness") => &mut f.stiffness,
        (ForceKind::ClutchedPathSpring(f), "dissipation") => &mut f.dissipation,
        (ForceKind::Ligament(f), "pcsa_force") => &mut f.pcsa_force,
        (ForceKind::Blankevoort1991Ligament(f), "linear_stiffness") => &mut f.linear_stiffness,
        (ForceKind::Blankevoort1991Ligament(f), "damping_coefficient") => &mut f.damping_coefficient,
        _ => return None,
    })
}
