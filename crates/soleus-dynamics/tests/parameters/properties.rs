//! Properties of models by the names that files give them.

#![allow(non_snake_case)] // X_BP is the pose of P in B.

use soleus_math::function::{Multiplier, PiecewiseLinear, Polynomial, SimmSpline};
use soleus_math::{Function, Transform};
use soleus_model::Model;
use soleus_model::constraint::ConstraintKind;
use soleus_model::contact::ContactShape;
use soleus_model::force::{ElasticFoundationForce, ForceKind, HuntCrossleyForce};
use soleus_model::id::FrameId;
use soleus_model::joint::JointKind;
use soleus_model::muscle::MuscleKind;
use soleus_model::path::{Path, PathPointKind, Scholz2015Element, WrapShape};

/// Gives a property another value.
pub fn set(model: &mut Model, path: &str, value: f64) {
    let of = |component: &str| path.strip_prefix(component).and_then(|p| p.strip_prefix('/'));
    let changed = |X: Transform<f64>, property: &str| {
        let (name, k) = property.split_once('/').unwrap();
        let (mut p, mut angles) = (X.p, X.R.to_body_fixed_xyz());
        let vector = if name == "translation" { &mut p } else { &mut angles };
        vector[k.parse::<usize>().unwrap()] = value;
        Transform::from_offset(p, angles)
    };
    if let Some((name, k)) = path.split_once("/contact_plane_transform/") {
        let force = model.forces.iter_mut().find(|f| f.path == name).unwrap();
        let ForceKind::ExponentialContactForce(f) = &mut force.kind else { panic!("{path}") };
        let (k, X) = (k.parse::<usize>().unwrap(), f.contact_plane);
        let property = format!("{}/{}", ["orientation", "translation"][k / 3], k % 3);
        f.contact_plane = changed(X, &property);
    } else if let Some(k) = path.find("radii_x_y_z/") {
        let joint = model.joints.iter_mut().find(|j| path[..k].starts_with(&format!("{}/", j.path))).unwrap();
        match &mut joint.kind {
            JointKind::Ellipsoid { radii } | JointKind::Scapulothoracic { radii, .. } => {
                radii[last(path)] = value;
            }
            other => panic!("{other:?}"),
        }
    } else if let Some((name, property)) = path.split_once("/SpatialTransform/") {
        set_axis(model, name, property, value);
    } else if let Some(w) = model.wraps.iter_mut().find(|w| of(&w.path).is_some()) {
        match (of(&w.path).unwrap(), &mut w.shape) {
            ("radius", WrapShape::Cylinder { radius, .. } | WrapShape::Sphere { radius }) => *radius = value,
            ("inner_radius", WrapShape::Torus { inner_radius, .. }) => *inner_radius = value,
            ("outer_radius", WrapShape::Torus { outer_radius, .. }) => *outer_radius = value,
            (property, WrapShape::Ellipsoid { dimensions }) if property.starts_with("dimensions/") => {
                dimensions[last(property)] = value;
            }
            (property, _) => w.pose = changed(w.pose, property),
        }
    } else if let Some(i) = model.frames.iter().position(|f| f.offset_from.is_some() && of(&f.path).is_some())
    {
        let (before, from) = (model.frames[i].X_BF, model.frames[i].offset_from.unwrap());
        let X_BP = model.frames[from.0].X_BF;
        let after = X_BP * changed(X_BP.inverse() * before, of(&model.frames[i].path).unwrap());
        model.frames[i].X_BF = after;
        // What stands on it goes along.
        for j in 0..model.frames.len() {
            if model.frames[j].offset_from == Some(FrameId(i)) {
                model.frames[j].X_BF = after * before.inverse() * model.frames[j].X_BF;
            }
        }
    } else {
        *slot(model, path) = value;
    }
}

/// A number of one axis of a custom joint.
fn set_axis(model: &mut Model, joint: &str, property: &str, value: f64) {
    let joint = model.joints.iter_mut().find(|j| j.path == joint).unwrap();
    let JointKind::Custom(transform) = &mut joint.kind else { panic!("{property}") };
    let (name, rest) = property.split_once('/').unwrap();
    let axes = ["rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3"];
    let a = &mut transform.axes[axes.iter().position(|a| *a == name).unwrap()];
    match rest.strip_prefix("function/") {
        Some(number) => set_function(&mut a.function, number, value),
        None => {
            a.axis[last(rest)] = value;
            a.axis = a.axis.normalized();
        }
    }
}

/// A number of a function.
fn set_function(f: &mut Function, name: &str, value: f64) {
    let changed = |mut list: Vec<f64>| {
        list[last(name)] = value;
        list
    };
    match (&mut *f, name) {
        (Function::Constant(c), "value") => *c = value,
        (Function::Linear { slope, .. }, "coefficients/0") => *slope = value,
        (Function::Linear { intercept, .. }, "coefficients/1") => *intercept = value,
        (Function::Multiplier(m), "scale") => *f = Multiplier::new(m.inner().clone(), value).unwrap().into(),
        (Function::Multiplier(m), _) => {
            let mut inner = m.inner().clone();
            set_function(&mut inner, name.strip_prefix("function/").unwrap(), value);
            *f = Multiplier::new(inner, m.scale()).unwrap().into();
        }
        (Function::SimmSpline(s), _) => {
            *f = SimmSpline::new(s.x().to_vec(), changed(s.y().collect())).unwrap().into();
        }
        (Function::PiecewiseLinear(s), _) => {
            *f = PiecewiseLinear::new(s.x().to_vec(), changed(s.y().to_vec())).unwrap().into();
        }
        (Function::Polynomial(p), _) => {
            *f = Polynomial::new(changed(p.coefficients().to_vec())).unwrap().into()
        }
        (_, other) => panic!("{other}"),
    }
}

/// The number that a name ends with.
fn last(name: &str) -> usize {
    name.rsplit('/').next().unwrap().parse().unwrap()
}

/// A property by its name, to change it.
fn slot<'a>(model: &'a mut Model, path: &str) -> &'a mut f64 {
    let of =
        |component: &str| path.strip_prefix(component).and_then(|p| p.strip_prefix('/')).map(String::from);
    if let Some(b) = model.bodies.iter_mut().find(|b| of(&b.path).is_some()) {
        return match of(&b.path).unwrap().as_str() {
            "mass" => &mut b.mass,
            "mass_center/0" => &mut b.mass_center.x,
            "mass_center/1" => &mut b.mass_center.y,
            "mass_center/2" => &mut b.mass_center.z,
            "inertia/0" => &mut b.inertia.xx,
            "inertia/1" => &mut b.inertia.yy,
            "inertia/2" => &mut b.inertia.zz,
            "inertia/3" => &mut b.inertia.xy,
            "inertia/4" => &mut b.inertia.xz,
            "inertia/5" => &mut b.inertia.yz,
            other => panic!("{other}"),
        };
    }
    if let Some(i) = model.contact_geometries.iter().position(|g| of(&g.path).is_some()) {
        let g = &mut model.contact_geometries[i];
        match (of(&g.path).as_deref(), &mut g.shape) {
            (Some("radius"), ContactShape::Sphere { radius }) => return radius,
            (Some(name), ContactShape::Ellipsoid { radii }) if name.starts_with("radii/") => {
                return &mut radii[last(path)];
            }
            _ => {}
        }
        let k = of(&g.path).unwrap().strip_prefix("location/").unwrap().parse::<usize>().unwrap();
        return &mut g.location[k];
    }
    if let Some(c) = model.constraints.iter_mut().find(|c| of(&c.path).is_some()) {
        let name = of(&c.path).unwrap();
        let vector = match (&mut c.kind, name.split('/').next().unwrap()) {
            (ConstraintKind::CoordinateCoupler { scale, .. }, "scale_factor") => return scale,
            (ConstraintKind::Point { location_1, .. }, "location_body_1") => location_1,
            (ConstraintKind::Point { location_2, .. }, "location_body_2") => location_2,
            (ConstraintKind::ConstantDistance { location_1, .. }, "location_body_1") => location_1,
            (ConstraintKind::ConstantDistance { location_2, .. }, "location_body_2") => location_2,
            (ConstraintKind::PointOnLine { direction, .. }, "line_direction_vec") => direction,
            (ConstraintKind::PointOnLine { point_on_line, .. }, "point_on_line") => point_on_line,
            (ConstraintKind::PointOnLine { point_on_follower, .. }, "point_on_follower") => point_on_follower,
            (ConstraintKind::RollingOnSurface { normal, .. }, "surface_normal") => normal,
            (_, other) => panic!("{other}"),
        };
        return &mut vector[last(path)];
    }
    let f = model.forces.iter_mut().find(|f| of(&f.path).is_some()).unwrap();
    let name = of(&f.path).unwrap();
    if let Some(rest) = name.strip_prefix("path/") {
        let (point, k) = rest.split_once("/location/").unwrap();
        let point = match &mut f.line_of_action {
            Some(Path::Geometry(path)) => path.points.iter_mut().find(|p| p.name == point).unwrap(),
            Some(Path::Scholz2015(path)) => {
                let is_it = |e: &Scholz2015Element| match e {
                    Scholz2015Element::Point(p) => p.name == point,
                    Scholz2015Element::Obstacle(_) => false,
                };
                let i = path.elements.iter().position(is_it).unwrap();
                let Scholz2015Element::Point(p) = &mut path.elements[i] else { unreachable!() };
                p
            }
            _ => panic!("{name}"),
        };
        let (PathPointKind::Fixed(p) | PathPointKind::Conditional { location: p, .. }) = &mut point.kind
        else {
            panic!("{name}")
        };
        return &mut p[k.parse::<usize>().unwrap()];
    }
    let words: Vec<&str> = name.split('/').collect();
    let index = |i: usize| words[i].parse::<usize>().unwrap();
    match (&mut f.kind, words[0]) {
        (ForceKind::Muscle(m), "max_isometric_force") => &mut m.max_isometric_force,
        (ForceKind::Muscle(m), "optimal_fiber_length") => &mut m.optimal_fiber_length,
        (ForceKind::Muscle(m), "tendon_slack_length") => &mut m.tendon_slack_length,
        (ForceKind::Muscle(m), "pennation_angle_at_optimal") => &mut m.pennation_angle_at_optimal,
        (ForceKind::Muscle(m), "max_contraction_velocity") => &mut m.max_contraction_velocity,
        (ForceKind::Muscle(m), name) => match (&mut m.kind, name) {
            (MuscleKind::Thelen2003(p), "activation_time_constant") => &mut p.activation_time_constant,
            (MuscleKind::Thelen2003(p), "deactivation_time_constant") => &mut p.deactivation_time_constant,
            (MuscleKind::Thelen2003(p), "maximum_pennation_angle") => &mut p.maximum_pennation_angle,
            (MuscleKind::Thelen2003(p), "FmaxTendonStrain") => &mut p.fmax_tendon_strain,
            (MuscleKind::Thelen2003(p), "FmaxMuscleStrain") => &mut p.fmax_muscle_strain,
            (MuscleKind::Thelen2003(p), "KshapeActive") => &mut p.kshape_active,
            (MuscleKind::Thelen2003(p), "KshapePassive") => &mut p.kshape_passive,
            (MuscleKind::Thelen2003(p), "Af") => &mut p.af,
            (MuscleKind::Thelen2003(p), "Flen") => &mut p.flen,
            (MuscleKind::Thelen2003(p), "fv_linear_extrap_threshold") => &mut p.fv_linear_extrap_threshold,
            (MuscleKind::Millard2012Equilibrium(p), "activation_time_constant") => {
                &mut p.activation_time_constant
            }
            (MuscleKind::Millard2012Equilibrium(p), "deactivation_time_constant") => {
                &mut p.deactivation_time_constant
            }
            (MuscleKind::Millard2012Equilibrium(p), "maximum_pennation_angle") => {
                &mut p.maximum_pennation_angle
            }
            (MuscleKind::Millard2012Equilibrium(p), "fiber_damping") => &mut p.fiber_damping,
            (MuscleKind::Millard2012Equilibrium(p), "ActiveForceLengthCurve") => {
                let c = &mut p.active_force_length_curve;
                match words[1] {
                    "min_norm_active_fiber_length" => &mut c.min_norm_active_fiber_length,
                    "transition_norm_fiber_length" => &mut c.transition_norm_fiber_length,
                    "max_norm_active_fiber_length" => &mut c.max_norm_active_fiber_length,
                    "shallow_ascending_slope" => &mut c.shallow_ascending_slope,
                    "minimum_value" => &mut c.minimum_value,
                    other => panic!("{other}"),
                }
            }
            (MuscleKind::Millard2012Equilibrium(p), "ForceVelocityCurve") => {
                let c = &mut p.force_velocity_curve;
                match words[1] {
                    "concentric_slope_at_vmax" => &mut c.concentric_slope_at_vmax,
                    "concentric_slope_near_vmax" => &mut c.concentric_slope_near_vmax,
                    "isometric_slope" => &mut c.isometric_slope,
                    "eccentric_slope_at_vmax" => &mut c.eccentric_slope_at_vmax,
                    "eccentric_slope_near_vmax" => &mut c.eccentric_slope_near_vmax,
                    "max_eccentric_velocity_force_multiplier" => {
                        &mut c.max_eccentric_velocity_force_multiplier
                    }
                    "concentric_curviness" => &mut c.concentric_curviness,
                    "eccentric_curviness" => &mut c.eccentric_curviness,
                    other => panic!("{other}"),
                }
            }
            (MuscleKind::Millard2012Equilibrium(p), "FiberForceLengthCurve") => {
                let c = &mut p.fiber_force_length_curve;
                match words[1] {
                    "strain_at_zero_force" => &mut c.strain_at_zero_force,
                    "strain_at_one_norm_force" => &mut c.strain_at_one_norm_force,
                    "stiffness_at_low_force" => c.stiffness_at_low_force.as_mut().unwrap(),
                    "stiffness_at_one_norm_force" => c.stiffness_at_one_norm_force.as_mut().unwrap(),
                    "curviness" => c.curviness.as_mut().unwrap(),
                    other => panic!("{other}"),
                }
            }
            (MuscleKind::Millard2012Equilibrium(p), "TendonForceLengthCurve") => {
                let c = &mut p.tendon_force_length_curve;
                match words[1] {
                    "strain_at_one_norm_force" => &mut c.strain_at_one_norm_force,
                    "stiffness_at_one_norm_force" => c.stiffness_at_one_norm_force.as_mut().unwrap(),
                    "norm_force_at_toe_end" => c.norm_force_at_toe_end.as_mut().unwrap(),
                    "curviness" => c.curviness.as_mut().unwrap(),
                    other => panic!("{other}"),
                }
            }
            (MuscleKind::DeGrooteFregly2016(p), "activation_time_constant") => {
                &mut p.activation_time_constant
            }
            (MuscleKind::DeGrooteFregly2016(p), "deactivation_time_constant") => {
                &mut p.deactivation_time_constant
            }
            (MuscleKind::DeGrooteFregly2016(p), "activation_dynamics_smoothing") => {
                &mut p.activation_dynamics_smoothing
            }
            (MuscleKind::DeGrooteFregly2016(p), "fiber_damping") => &mut p.fiber_damping,
            (MuscleKind::DeGrooteFregly2016(p), "active_force_width_scale") => {
                &mut p.active_force_width_scale
            }
            (MuscleKind::DeGrooteFregly2016(p), "passive_fiber_strain_at_one_norm_force") => {
                &mut p.passive_fiber_strain_at_one_norm_force
            }
            (MuscleKind::DeGrooteFregly2016(p), "tendon_strain_at_one_norm_force") => {
                &mut p.tendon_strain_at_one_norm_force
            }
            (MuscleKind::Bogert2011(p), "activation_time_constant") => &mut p.activation_time_constant,
            (MuscleKind::Bogert2011(p), "deactivation_time_constant") => &mut p.deactivation_time_constant,
            (MuscleKind::Bogert2011(p), "force_length_width") => &mut p.force_length_width,
            (MuscleKind::Bogert2011(p), "hill_a") => &mut p.hill_a,
            (MuscleKind::Bogert2011(p), "max_eccentric_force") => &mut p.max_eccentric_force,
            (MuscleKind::Bogert2011(p), "tendon_strain_at_max_force") => &mut p.tendon_strain_at_max_force,
            (MuscleKind::Bogert2011(p), "parallel_slack_length") => &mut p.parallel_slack_length,
            (MuscleKind::Bogert2011(p), "parallel_stiffness") => &mut p.parallel_stiffness,
            (MuscleKind::Bogert2011(p), "damping") => &mut p.damping,
            (MuscleKind::Chadwick2009(p), "activation_time_constant") => &mut p.activation_time_constant,
            (MuscleKind::Chadwick2009(p), "deactivation_time_constant") => &mut p.deactivation_time_constant,
            (MuscleKind::Chadwick2009(p), "force_length_width") => &mut p.force_length_width,
            (MuscleKind::Chadwick2009(p), "hill_a") => &mut p.hill_a,
            (MuscleKind::Chadwick2009(p), "max_eccentric_force") => &mut p.max_eccentric_force,
            (MuscleKind::Chadwick2009(p), "tendon_strain_at_max_force") => &mut p.tendon_strain_at_max_force,
            (MuscleKind::Chadwick2009(p), "parallel_slack_length") => &mut p.parallel_slack_length,
            (MuscleKind::Chadwick2009(p), "parallel_stiffness") => &mut p.parallel_stiffness,
            (MuscleKind::Chadwick2009(p), "linear_stiffness") => &mut p.linear_stiffness,
            (MuscleKind::Chadwick2009(p), "damping") => &mut p.damping,
            (MuscleKind::DeGroote2016(p), "fiber_damping") => &mut p.fiber_damping,
            (MuscleKind::DeGroote2016(p), "tendon_stiffness") => &mut p.tendon_stiffness,
            (MuscleKind::Schutte1993(p), "time_scale") => &mut p.time_scale,
            (MuscleKind::Schutte1993(p), "activation1") => &mut p.activation1,
            (MuscleKind::Schutte1993(p), "activation2") => &mut p.activation2,
            (MuscleKind::Schutte1993(p), "damping") => &mut p.damping,
            (MuscleKind::Delp1990(p), "time_scale") => &mut p.time_scale,
            (MuscleKind::Delp1990(p), "activation1") => &mut p.activation1,
            (MuscleKind::Delp1990(p), "activation2") => &mut p.activation2,
            (MuscleKind::Delp1990(p), "mass") => &mut p.mass,
            (MuscleKind::Thelen2003Deprecated(p), "activation_time_constant") => {
                &mut p.activation_time_constant
            }
            (MuscleKind::Thelen2003Deprecated(p), "deactivation_time_constant") => {
                &mut p.deactivation_time_constant
            }
            (MuscleKind::Thelen2003Deprecated(p), "Vmax") => &mut p.vmax,
            (MuscleKind::Thelen2003Deprecated(p), "Vmax0") => &mut p.vmax0,
            (MuscleKind::Thelen2003Deprecated(p), "FmaxTendonStrain") => &mut p.fmax_tendon_strain,
            (MuscleKind::Thelen2003Deprecated(p), "FmaxMuscleStrain") => &mut p.fmax_muscle_strain,
            (MuscleKind::Thelen2003Deprecated(p), "KshapeActive") => &mut p.kshape_active,
            (MuscleKind::Thelen2003Deprecated(p), "KshapePassive") => &mut p.kshape_passive,
            (MuscleKind::Thelen2003Deprecated(p), "damping") => &mut p.damping,
            (MuscleKind::Thelen2003Deprecated(p), "Af") => &mut p.af,
            (MuscleKind::Thelen2003Deprecated(p), "Flen") => &mut p.flen,
            (_, other) => panic!("{other}"),
        },
        (ForceKind::CoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::ActivationCoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::TorqueActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PathActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::SpringGeneralizedForce(a), "stiffness") => &mut a.stiffness,
        (ForceKind::SpringGeneralizedForce(a), "rest_length") => &mut a.rest_length,
        (ForceKind::SpringGeneralizedForce(a), "viscosity") => &mut a.viscosity,
        (ForceKind::CoordinateLimitForce(a), "upper_stiffness") => &mut a.upper_stiffness,
        (ForceKind::CoordinateLimitForce(a), "lower_stiffness") => &mut a.lower_stiffness,
        (ForceKind::CoordinateLimitForce(a), "damping") => &mut a.damping,
        (ForceKind::CoordinateLimitForce(a), "upper_limit") => &mut a.upper_limit,
        (ForceKind::CoordinateLimitForce(a), "lower_limit") => &mut a.lower_limit,
        (ForceKind::CoordinateLimitForce(a), "transition") => &mut a.transition,
        (ForceKind::PointToPointSpring(a), "stiffness") => &mut a.stiffness,
        (ForceKind::PointToPointSpring(a), "rest_length") => &mut a.rest_length,
        (ForceKind::PointToPointSpring(a), "point1") => &mut a.point1[index(1)],
        (ForceKind::PointToPointSpring(a), "point2") => &mut a.point2[index(1)],
        (ForceKind::BushingForce(a), "rotational_stiffness") => &mut a.rotational_stiffness[index(1)],
        (ForceKind::BushingForce(a), "translational_stiffness") => &mut a.translational_stiffness[index(1)],
        (ForceKind::BushingForce(a), "rotational_damping") => &mut a.rotational_damping[index(1)],
        (ForceKind::BushingForce(a), "translational_damping") => &mut a.translational_damping[index(1)],
        (ForceKind::PathSpring(a), "stiffness") => &mut a.stiffness,
        (ForceKind::PathSpring(a), "dissipation") => &mut a.dissipation,
        (ForceKind::PathSpring(a), "resting_length") => &mut a.resting_length,
        (ForceKind::Ligament(a), "resting_length") => &mut a.resting_length,
        (ForceKind::Ligament(a), "pcsa_force") => &mut a.pcsa_force,
        (ForceKind::Blankevoort1991Ligament(a), "slack_length") => &mut a.slack_length,
        (ForceKind::Blankevoort1991Ligament(a), "linear_stiffness") => &mut a.linear_stiffness,
        (ForceKind::Blankevoort1991Ligament(a), "damping_coefficient") => &mut a.damping_coefficient,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "radius") => {
            let sphere = a.sphere.0;
            match &mut model.contact_geometries[sphere].shape {
                ContactShape::Sphere { radius } => radius,
                other => panic!("{other:?}"),
            }
        }
        (ForceKind::SmoothSphereHalfSpaceForce(a), "stiffness") => &mut a.stiffness,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "dissipation") => &mut a.dissipation,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "static_friction") => &mut a.static_friction,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "dynamic_friction") => &mut a.dynamic_friction,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "viscous_friction") => &mut a.viscous_friction,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "transition_velocity") => &mut a.transition_velocity,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "constant_contact_force") => &mut a.constant_contact_force,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "hertz_smoothing") => &mut a.hertz_smoothing,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "hunt_crossley_smoothing") => {
            &mut a.hunt_crossley_smoothing
        }
        (ForceKind::HuntCrossleyForce(a), "transition_velocity") => &mut a.transition_velocity,
        (ForceKind::ElasticFoundationForce(a), "transition_velocity") => &mut a.transition_velocity,
        (
            ForceKind::HuntCrossleyForce(HuntCrossleyForce { contact_parameters, .. })
            | ForceKind::ElasticFoundationForce(ElasticFoundationForce { contact_parameters, .. }),
            "contact_parameters",
        ) => {
            let p = &mut contact_parameters[words[1].parse::<usize>().unwrap()];
            match words[2] {
                "stiffness" => &mut p.stiffness,
                "dissipation" => &mut p.dissipation,
                "static_friction" => &mut p.static_friction,
                "dynamic_friction" => &mut p.dynamic_friction,
                "viscous_friction" => &mut p.viscous_friction,
                other => panic!("{other}"),
            }
        }
        (ForceKind::PointActuator(a), "point") => &mut a.point[index(1)],
        (ForceKind::PointActuator(a), "direction") => &mut a.direction[index(1)],
        (ForceKind::TorqueActuator(a), "axis") => &mut a.axis[index(1)],
        (ForceKind::BodyActuator(a), "point") => &mut a.point[index(1)],
        (ForceKind::PointToPointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointToPointActuator(a), "pointA") => &mut a.point_a[index(1)],
        (ForceKind::PointToPointActuator(a), "pointB") => &mut a.point_b[index(1)],
        (ForceKind::ActivationCoordinateActuator(a), "activation_time_constant") => {
            &mut a.activation_time_constant
        }
        (ForceKind::ExpressionBasedPointToPointForce(a), "point1") => &mut a.point1[index(1)],
        (ForceKind::ExpressionBasedPointToPointForce(a), "point2") => &mut a.point2[index(1)],
        (ForceKind::ExpressionBasedPathForce(a), "resting_length") => &mut a.resting_length,
        (ForceKind::Blankevoort1991Ligament(a), "transition_strain") => &mut a.transition_strain,
        (ForceKind::ClutchedPathSpring(a), "stiffness") => &mut a.stiffness,
        (ForceKind::ClutchedPathSpring(a), "dissipation") => &mut a.dissipation,
        (ForceKind::ClutchedPathSpring(a), "relaxation_time_constant") => &mut a.relaxation_time_constant,
        (ForceKind::McKibbenActuator(a), "number_of_turns") => &mut a.number_of_turns,
        (ForceKind::McKibbenActuator(a), "thread_length") => &mut a.thread_length,
        (ForceKind::McKibbenActuator(a), "cord_length") => &mut a.cord_length,
        (ForceKind::ExponentialContactForce(a), "station") => &mut a.location[index(2)],
        (ForceKind::ExponentialContactForce(a), "exponential_shape_parameters") => &mut a.shape[index(1)],
        (ForceKind::ExponentialContactForce(a), "normal_viscosity") => &mut a.normal_viscosity,
        (ForceKind::ExponentialContactForce(a), "max_normal_force") => &mut a.max_normal_force,
        (ForceKind::ExponentialContactForce(a), "friction_elasticity") => &mut a.friction_elasticity,
        (ForceKind::ExponentialContactForce(a), "friction_viscosity") => &mut a.friction_viscosity,
        (ForceKind::ExponentialContactForce(a), "initial_mu_static") => &mut a.mu_static,
        (ForceKind::ExponentialContactForce(a), "initial_mu_kinetic") => &mut a.mu_kinetic,
        (ForceKind::EllipsoidContact(a), "point") => &mut a.point[index(1)],
        (ForceKind::EllipsoidContact(a), "center") => &mut a.center[index(1)],
        (ForceKind::EllipsoidContact(a), "radii") => &mut a.radii[index(1)],
        (ForceKind::EllipsoidContact(a), "stiffness") => &mut a.stiffness,
        (ForceKind::EllipsoidContact(a), "smoothing") => &mut a.smoothing,
        (ForceKind::Bogert2011Contact(a), "location") => &mut a.location[index(1)],
        (ForceKind::Bogert2011Contact(a), "stiffness") => &mut a.stiffness,
        (ForceKind::Bogert2011Contact(a), "damping") => &mut a.damping,
        (ForceKind::Bogert2011Contact(a), "linear_stiffness") => &mut a.linear_stiffness,
        (ForceKind::Bogert2011Contact(a), "transition_height") => &mut a.transition_height,
        (ForceKind::Bogert2011Contact(a), "friction") => &mut a.friction,
        (ForceKind::Bogert2011Contact(a), "transition_velocity") => &mut a.transition_velocity,
        (ForceKind::QuadraticDrag(a), "location") => &mut a.location[index(1)],
        (ForceKind::QuadraticDrag(a), "air_density") => &mut a.air_density,
        (ForceKind::QuadraticDrag(a), "drag_area") => &mut a.drag_area,
        (ForceKind::QuadraticDrag(a), "transition_velocity") => &mut a.transition_velocity,
        (ForceKind::PassiveJointMoment(a), "stiffness") => &mut a.stiffness,
        (ForceKind::PassiveJointMoment(a), "damping") => &mut a.damping,
        (ForceKind::PassiveJointMoment(a), "stop_stiffness") => &mut a.stop_stiffness,
        (ForceKind::PassiveJointMoment(a), "range") => &mut a.range[index(1)],
        (_, other) => panic!("{other}"),
    }
}
