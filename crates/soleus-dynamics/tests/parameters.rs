//! Derivatives of the implicit equations by numbers of the model.

#![allow(non_snake_case)] // X_BP is the pose of P in B.

mod common;

use common::{direction, moved, reference, shifted};
use soleus_dynamics::implicit::{ImplicitSystem, Parameter, ParameterError};
use soleus_dynamics::kinematics::Resolve;
use soleus_dynamics::{Options, State, System};
use soleus_math::{Transform, vec3};
use soleus_model::Model;
use soleus_model::contact::{ContactGeometry, ContactShape, TriangleMesh};
use soleus_model::force::{ElasticFoundationForce, ForceKind, HuntCrossleyForce};
use soleus_model::id::FrameId;
use soleus_model::muscle::MuscleKind;
use soleus_model::path::{Path, PathPointKind, WrapShape};

fn read(file: &str) -> Option<Model> {
    let file = reference()?.join("models").join(file);
    let (model, diagnostics) =
        soleus_io::osim::read_model(&std::fs::read(&file).unwrap(), file.to_str().unwrap());
    Some(model.unwrap_or_else(|| panic!("{:?}", diagnostics.list)))
}

/// A state a little off one with muscles in equilibrium and spheres in the ground, and rates.
fn state(model: &Model, system: &System, controls: &[f64]) -> (State<f64>, Vec<f64>) {
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    system.solve_equilibrium(&mut x, controls, &mut ws);
    let mut x = moved(&x, 3);
    x.u.iter_mut().zip(direction(4, x.q.len(), 2.0)).for_each(|(u, d)| *u += d);
    // The lowest sphere goes 1 cm into the ground.
    system.compute_kinematics(&x, &mut ws);
    let kin = ws.kin.view(0.0);
    let bottom = |g: &ContactGeometry| match g.shape {
        ContactShape::Sphere { radius } => {
            let frame = system.tree.frame(g.frame);
            kin.point(frame.body, frame.X_BF * g.location).y - radius
        }
        _ => f64::INFINITY,
    };
    let lowest = model.contact_geometries.iter().map(bottom).fold(f64::INFINITY, f64::min);
    let height = model.coordinates.iter().position(|c| c.name.ends_with("_ty") || c.name == "yTranslation");
    if let (true, Some(c)) = (lowest.is_finite(), height) {
        x.q[system.tree.mobility_of_coordinate[c]] -= lowest + 0.01;
    }
    let n = 2 * x.q.len() + x.z.len();
    (x, direction(5, n, 3.0))
}

/// Gives a property another value.
fn set(model: &mut Model, path: &str, value: f64) {
    let of = |component: &str| path.strip_prefix(component).and_then(|p| p.strip_prefix('/'));
    let changed = |X: Transform<f64>, property: &str| {
        let (name, k) = property.split_once('/').unwrap();
        let (mut p, mut angles) = (X.p, X.R.to_body_fixed_xyz());
        let vector = if name == "translation" { &mut p } else { &mut angles };
        vector[k.parse::<usize>().unwrap()] = value;
        Transform::from_offset(p, angles)
    };
    if let Some(w) = model.wraps.iter_mut().find(|w| of(&w.path).is_some()) {
        match (of(&w.path).unwrap(), &mut w.shape) {
            ("radius", WrapShape::Cylinder { radius, .. } | WrapShape::Sphere { radius }) => *radius = value,
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
        if let (Some("radius"), ContactShape::Sphere { radius }) = (of(&g.path).as_deref(), &mut g.shape) {
            return radius;
        }
        let k = of(&g.path).unwrap().strip_prefix("location/").unwrap().parse::<usize>().unwrap();
        return &mut g.location[k];
    }
    let f = model.forces.iter_mut().find(|f| of(&f.path).is_some()).unwrap();
    let name = of(&f.path).unwrap();
    if let Some(rest) = name.strip_prefix("path/") {
        let (point, k) = rest.split_once("/location/").unwrap();
        let Some(Path::Geometry(path)) = &mut f.line_of_action else { panic!("{name}") };
        let point = path.points.iter_mut().find(|p| p.name == point).unwrap();
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
        (_, other) => panic!("{other}"),
    }
}

/// Which kind of parameter a name is: its last words without numbers and names of points.
fn kind_of(model: &Model, path: &str) -> String {
    let force = model.forces.iter().find(|f| path.starts_with(&format!("{}/", f.path)));
    let class = force.map_or("", |f| f.class.as_str());
    let words: Vec<&str> = path.split('/').filter(|w| w.parse::<usize>().is_err()).collect();
    format!("{class} {}", words[words.len() - 1])
}

/// Every kind of parameter that the models have, against central differences between models with another value.
#[test]
fn deriv_residual_by_parameters() {
    let mut kinds = std::collections::BTreeSet::new();
    for file in [
        "gait10dof18musc.osim",
        "2D_gait.osim",
        "Rajagopal2016.osim",
        "arm26.osim",
        "gait2354_simbody.osim",
        "bouncing_block.osim",
        "subject01_metabolics_path_spring.osim",
    ] {
        let Some(model) = read(file) else { return };
        check_model(file, &model, &mut kinds);
    }
    println!("{} kinds of parameters: {kinds:?}", kinds.len());
    for wanted in [
        "Thelen2003Muscle optimal_fiber_length",
        "Millard2012EquilibriumMuscle tendon_slack_length",
        "Millard2012EquilibriumMuscle pennation_angle_at_optimal",
        "Millard2012EquilibriumMuscle strain_at_one_norm_force",
        "Millard2012EquilibriumMuscle isometric_slope",
        "Thelen2003Muscle FmaxTendonStrain",
        "Thelen2003Muscle location",
        "SmoothSphereHalfSpaceForce dissipation",
        "SmoothSphereHalfSpaceForce radius",
        "HuntCrossleyForce stiffness",
        " location",
        "PathSpring resting_length",
        "CoordinateActuator optimal_force",
        " translation",
        " orientation",
        " xyz_body_rotation",
        " radius",
    ] {
        assert!(kinds.contains(wanted), "no model has {wanted}");
    }
}

/// The muscles of optimal control and those of old files, in the places of a model's own.
#[test]
fn deriv_residual_by_parameters_of_other_muscles() {
    let Some(model) = read("gait10dof18musc.osim") else { return };
    for kind in [
        MuscleKind::DeGrooteFregly2016(Default::default()),
        MuscleKind::Bogert2011(Default::default()),
        MuscleKind::Chadwick2009(Default::default()),
        MuscleKind::Millard2012Equilibrium(Default::default()),
        MuscleKind::Schutte1993(Default::default()),
        MuscleKind::Delp1990(Default::default()),
        MuscleKind::Thelen2003Deprecated(Default::default()),
        MuscleKind::RigidTendon(Default::default()),
    ] {
        let mut changed = model.clone();
        for f in &mut changed.forces {
            if let ForceKind::Muscle(m) = &mut f.kind {
                m.kind = kind.clone();
                m.pennation_angle_at_optimal = m.pennation_angle_at_optimal.max(0.15);
                f.class = "muscle".to_string();
            }
        }
        let mut kinds = std::collections::BTreeSet::new();
        let system = System::compile(&changed).unwrap();
        let controls = shifted(&vec![0.2; system.num_controls], 1);
        let (x, xdot) = state(&changed, &system, &controls);
        // Tendons a little shorter than in equilibrium, so that all of them pull.
        for f in &mut changed.forces {
            if let ForceKind::Muscle(m) = &mut f.kind {
                m.tendon_slack_length *= 0.985;
            }
        }
        check_model_at("muscles", &changed, (&x, &xdot, &controls), &mut kinds);
        for wanted in ["optimal_fiber_length", "tendon_slack_length", "pennation_angle_at_optimal"] {
            assert!(kinds.contains(&format!("muscle {wanted}")), "{kinds:?}");
        }
    }
}

/// A limit that is exceeded, and a box in the place of the sphere, on a bed of springs.
#[test]
fn deriv_residual_by_parameters_of_limits_and_meshes() {
    let Some(mut model) = read("bouncing_block.osim") else { return };
    let system = System::compile(&model).unwrap();
    let controls = vec![0.0; system.num_controls];
    let (x, xdot) = state(&model, &system, &controls);
    for f in &mut model.forces {
        match &mut f.kind {
            ForceKind::CoordinateLimitForce(limit) => {
                let q = x.q[system.tree.mobility(limit.coordinate)];
                limit.upper_limit = q.to_degrees() - 2.0;
            }
            ForceKind::HuntCrossleyForce(c) => {
                let mut parameters = c.contact_parameters.clone();
                parameters[0].stiffness = 1e7;
                f.class = "ElasticFoundationForce".to_string();
                f.kind = ForceKind::ElasticFoundationForce(ElasticFoundationForce {
                    contact_parameters: parameters,
                    transition_velocity: c.transition_velocity,
                });
            }
            _ => {}
        }
    }
    // Two triangles on each of the six sides, counter-clockwise from outside.
    let vertices = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.06 } else { -0.06 }));
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let mesh = TriangleMesh {
        vertices: vertices.map(|[x, y, z]| vec3(x, y, z)).collect(),
        faces: sides.iter().flat_map(|s| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]]).collect(),
    };
    for g in &mut model.contact_geometries {
        if let ContactShape::Sphere { .. } = g.shape {
            g.shape = ContactShape::Mesh { filename: String::new(), mesh: Some(mesh.clone()) };
        }
    }
    let mut kinds = std::collections::BTreeSet::new();
    check_model_at("limits and meshes", &model, (&x, &xdot, &controls), &mut kinds);
    for wanted in [
        "CoordinateLimitForce upper_limit",
        "CoordinateLimitForce transition",
        "ElasticFoundationForce stiffness",
        "ElasticFoundationForce viscous_friction",
        " location",
    ] {
        assert!(kinds.contains(wanted), "{wanted} is not in {kinds:?}");
    }
}

fn check_model(file: &str, model: &Model, kinds: &mut std::collections::BTreeSet<String>) {
    let system = System::compile(model).unwrap();
    let controls = shifted(&vec![0.2; system.num_controls], 1);
    let (x, xdot) = state(model, &system, &controls);
    check_model_at(file, model, (&x, &xdot, &controls), kinds);
}

fn check_model_at(
    file: &str,
    model: &Model,
    (x, xdot, controls): (&State<f64>, &[f64], &[f64]),
    kinds: &mut std::collections::BTreeSet<String>,
) {
    let system = System::compile(model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let all = implicit.parameter_names(model, &Options::default());
    // The first four of each kind, and two further on.
    let mut count = std::collections::BTreeMap::<String, usize>::new();
    let names = all.iter().filter(|n| {
        let k = count.entry(kind_of(model, n)).or_default();
        *k += 1;
        [1, 2, 3, 4, 8, 23].contains(k)
    });
    let parameters: Vec<Parameter> =
        names.map(|n| implicit.parameter(model, &Options::default(), n).unwrap()).collect();
    let nr = implicit.num_residuals();
    let mut df_dp = vec![f64::NAN; nr * parameters.len()];
    let mut room = implicit.parameter_workspace();
    let lambda = direction(6, implicit.num_multipliers(), 10.0);
    implicit.compute_parameter_jacobian(x, xdot, controls, &lambda, &parameters, &mut room, &mut df_dp);
    for (p, column) in parameters.iter().zip(df_dp.chunks(nr)) {
        let at = |v: f64| {
            let mut changed = model.clone();
            set(&mut changed, &p.path, v);
            let system = System::compile(&changed).unwrap();
            let implicit = ImplicitSystem::new(&system);
            let mut r = vec![0.0; nr];
            implicit.compute_residual(x, xdot, controls, &lambda, &mut system.workspace(), &mut r);
            r
        };
        let scale = column.iter().map(|x| x.abs()).fold(0.0, f64::max);
        let size = p.value.abs().max(1e-2);
        // A value at the end of its range has no value beyond it to compare with.
        let mut beyond = model.clone();
        set(&mut beyond, &p.path, p.value - 1e-4 * size);
        if System::compile(&beyond).is_err() {
            continue;
        }
        // Richardson's combination of two steps, against what one step says of the error of two.
        let difference = |h: f64| {
            let (up, down) = (at(p.value + h), at(p.value - h));
            up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect::<Vec<f64>>()
        };
        let h = 2e-5 * size;
        let (coarse, fine, middle) = (difference(h), difference(0.5 * h), at(p.value));
        for i in 0..nr {
            let fd = (4.0 * fine[i] - coarse[i]) / 3.0;
            // Truncation is less than what the step makes of it, also where a curve bends at the end of a stretch that two
            // steps straddle; rounding of residuals of 1e4 at most, over h.
            let error = 1e-7 * scale + (fine[i] - coarse[i]).abs() + 1e-11 * (middle[i].abs() + 10.0) / h;
            assert!(
                (column[i] - fd).abs() <= error,
                "{file} {} row {i}: {} {fd} (scale {scale}, error {error:e})",
                p.path,
                column[i]
            );
        }
        if scale > 0.0 {
            kinds.insert(kind_of(model, &p.path));
        }
    }
}

/// What is not supported is refused by name, with what there is.
#[test]
fn analytic_unknown_parameters_are_refused() {
    let Some(model) = read("gait10dof18musc.osim") else { return };
    let system = System::compile(&model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let ask = |path: &str| implicit.parameter(&model, &Options::default(), path);
    assert!(matches!(ask("/bodyset/nobody/mass"), Err(ParameterError::NotFound { .. })));
    let muscle = model.forces.iter().find(|f| matches!(f.kind, ForceKind::Muscle(_))).unwrap();
    let e = ask(&format!("{}/default_activation", muscle.path)).unwrap_err();
    assert!(e.to_string().contains("max_isometric_force, "), "{e}");
    let body = &model.bodies[1].path;
    assert!(matches!(ask(&format!("{body}/mass_center/3")), Err(ParameterError::NotSupported { .. })));
    assert_eq!(ask(&format!("{body}/mass")).unwrap().unit, "kg");
    assert_eq!(ask(&format!("{}/optimal_fiber_length", muscle.path)).unwrap().unit, "m");
    // The whole body is moved by its joint, not by a property; markers are in no equation.
    assert!(matches!(ask(&format!("{body}/translation/0")), Err(ParameterError::NotSupported { .. })));
    if let Some(marker) = model.markers.first() {
        let e = ask(&format!("{}/location/0", marker.path)).unwrap_err();
        assert!(e.to_string().contains("in no equation of motion"), "{e}");
    }
}
