//! Units of properties.

use soleus_model::force::ForceKind;

/// The unit of a property of a force, by its name in files; `angular` says that the force acts on an angle.
pub(super) fn of_force(kind: &ForceKind, property: &str, angular: bool) -> &'static str {
    let by = |angle: &'static str, length: &'static str| if angular { angle } else { length };
    let contact = matches!(kind, ForceKind::HuntCrossleyForce(_) | ForceKind::SmoothSphereHalfSpaceForce(_));
    let name = property.split('/').rfind(|p| p.parse::<usize>().is_err()).unwrap_or("");
    let index = property.rsplit('/').next().and_then(|k| k.parse::<usize>().ok());
    match name {
        "contact_plane_transform" if index < Some(3) => "rad",
        "contact_plane_transform" => "m",
        "exponential_shape_parameters" => ["m", "N", "1/m"][index.unwrap_or(0).min(2)],
        "location"
        | "point"
        | "point1"
        | "point2"
        | "pointA"
        | "pointB"
        | "center"
        | "radii"
        | "cord_length"
        | "thread_length"
        | "transition_height"
        | "radius"
        | "resting_length"
        | "slack_length"
        | "optimal_fiber_length"
        | "tendon_slack_length" => "m",
        "rest_length" => by("rad", "m"),
        "max_isometric_force" | "pcsa_force" | "max_normal_force" => "N",
        "friction_elasticity" => "N/m",
        "friction_viscosity" => "N s/m",
        "range" => by("rad", "m"),
        "stop_stiffness" => by("N m/rad^2", "N/m^2"),
        "air_density" => "kg/m^3",
        "drag_area" => "m^2",
        "damping" if matches!(kind, ForceKind::PassiveJointMoment(_)) => by("N m s/rad", "N s/m"),
        "damping" if matches!(kind, ForceKind::Bogert2011Contact(_)) => "s/m",
        "optimal_force" => by("N m", "N"),
        "stiffness" if contact => "N/m^2",
        "stiffness" if matches!(kind, ForceKind::ElasticFoundationForce(_)) => "N/m^3",
        "stiffness" => by("N m/rad", "N/m"),
        "viscosity" => by("N m s/rad", "N s/m"),
        "upper_stiffness" | "lower_stiffness" => by("N m/degree", "N/m"),
        "damping" if matches!(kind, ForceKind::CoordinateLimitForce(_)) => by("N m s/degree", "N s/m"),
        "linear_stiffness" if matches!(kind, ForceKind::Muscle(_)) => "N/m",
        "linear_stiffness" => "N",
        "damping_coefficient" => "N s",
        "rotational_stiffness" => "N m/rad",
        "rotational_damping" => "N m s/rad",
        "translational_stiffness" => "N/m",
        "translational_damping" => "N s/m",
        "pennation_angle_at_optimal" | "maximum_pennation_angle" => "rad",
        "max_contraction_velocity" => "1/s",
        "activation_time_constant"
        | "deactivation_time_constant"
        | "relaxation_time_constant"
        | "time_scale" => "s",
        "Vmax" | "Vmax0" => "1/s",
        "upper_limit" | "lower_limit" | "transition" => by("degree", "m"),
        "dissipation" | "viscous_friction" | "hunt_crossley_smoothing" | "normal_viscosity" => "s/m",
        "transition_velocity" => "m/s",
        "hertz_smoothing" => "1/m",
        "constant_contact_force" => "m^2",
        _ => "1",
    }
}

/// The unit of a property of a body.
pub(super) fn of_body(property: &str) -> &'static str {
    match property.split('/').next() {
        Some("mass") => "kg",
        Some("mass_center") => "m",
        _ => "kg m^2",
    }
}

/// The unit of a property of a constraint.
pub(super) fn of_constraint(property: &str) -> &'static str {
    match property.split('/').next() {
        Some("line_direction_vec" | "surface_normal" | "scale_factor") => "1",
        _ => "m",
    }
}
