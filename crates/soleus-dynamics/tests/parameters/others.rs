//! Forces, constraints, joints and surfaces that the reference models do not have, put into them.

use super::{check_model, check_model_at, check_some, columns, read, residual_with, state};
use crate::common::{direction, shifted};
use soleus_dynamics::System;
use soleus_dynamics::implicit::{ImplicitSystem, Parameter};
use soleus_math::function::{Multiplier, Polynomial, SimmSpline};
use soleus_math::norm::largest_size;
use soleus_math::{Function, Transform, vec3};
use soleus_model::Model;
use soleus_model::body::Frame;
use soleus_model::constraint::{Constraint, ConstraintKind};
use soleus_model::contact::ContactShape;
use soleus_model::force::*;
use soleus_model::id::{CoordinateId, FrameId};
use soleus_model::joint::JointKind;
use soleus_model::path::{GeometryPath, MovingComponent, Path, PathPointKind, WrapShape};
use soleus_testing::reference_test;
use std::collections::BTreeSet;

/// A frame on a body, a little off and turned.
fn offset(model: &mut Model, body: usize) -> FrameId {
    let base = model.frames.iter().position(|f| f.body.0 == body && f.offset_from.is_none()).unwrap();
    let id = FrameId(model.frames.len());
    let name = format!("off{}", id.0);
    model.frames.push(Frame {
        path: format!("/frames/{name}"),
        name,
        body: model.frames[base].body,
        X_BF: Transform::from_offset(vec3(0.01, -0.1, 0.02), vec3(0.2, -0.3, 0.1)),
        offset_from: Some(FrameId(base)),
    });
    id
}

fn add(model: &mut Model, class: &str, kind: ForceKind, line_of_action: Option<Path>) {
    let (name, path, class) = (class.to_string(), format!("/forceset/{class}"), class.to_string());
    model.forces.push(Force { name, path, class, enabled: true, line_of_action, kind });
}

fn wants(kinds: &BTreeSet<String>, wanted: &[&str]) {
    for w in wanted {
        assert!(kinds.contains(*w), "{w} has no effect; there are {kinds:?}");
    }
}

/// The straight part of a muscle's path, for forces along paths.
fn straight(model: &Model) -> Path {
    let Some(Path::Geometry(path)) = &model.forces[0].line_of_action else { panic!("no path") };
    let ends = [&path.points[0], &path.points[path.points.len() - 1]].map(Clone::clone);
    Path::Geometry(GeometryPath { points: ends.to_vec(), wraps: Vec::new() })
}

#[reference_test]
fn deriv_residual_by_parameters_of_other_forces() {
    let mut model = read("arm26.osim");
    let (a, b) = (offset(&mut model, 2), offset(&mut model, 3));
    let control = ControlRange { min: -1.0, max: 1.0 };
    let (point, other) = (vec3(0.01, -0.2, 0.03), vec3(0.02, -0.15, -0.01));
    let coordinate = CoordinateId(1);
    add(
        &mut model,
        "PointActuator",
        ForceKind::PointActuator(PointActuator {
            control,
            body: a,
            point,
            point_is_global: false,
            direction: vec3(0.5, 1.0, -0.3),
            force_is_global: false,
            optimal_force: 30.0,
        }),
        None,
    );
    add(
        &mut model,
        "TorqueActuator",
        ForceKind::TorqueActuator(TorqueActuator {
            control,
            body_a: a,
            body_b: b,
            torque_is_global: false,
            axis: vec3(0.2, 0.3, 1.0),
            optimal_force: 3.0,
        }),
        None,
    );
    add(
        &mut model,
        "BodyActuator",
        ForceKind::BodyActuator(BodyActuator {
            body: b,
            point,
            point_is_global: false,
            spatial_force_is_global: false,
        }),
        None,
    );
    add(
        &mut model,
        "PointToPointActuator",
        ForceKind::PointToPointActuator(PointToPointActuator {
            control,
            body_a: a,
            body_b: b,
            points_are_global: false,
            point_a: point,
            point_b: other,
            optimal_force: 20.0,
        }),
        None,
    );
    add(
        &mut model,
        "ActivationCoordinateActuator",
        ForceKind::ActivationCoordinateActuator(ActivationCoordinateActuator {
            control,
            coordinate,
            optimal_force: 5.0,
            activation_time_constant: 0.05,
            default_activation: 0.2,
        }),
        None,
    );
    add(
        &mut model,
        "PointToPointSpring",
        ForceKind::PointToPointSpring(PointToPointSpring {
            body1: a,
            body2: b,
            point1: point,
            point2: other,
            stiffness: 500.0,
            rest_length: 0.0,
        }),
        None,
    );
    add(
        &mut model,
        "ExpressionBasedPointToPointForce",
        ForceKind::ExpressionBasedPointToPointForce(ExpressionBasedPointToPointForce {
            body1: a,
            body1_label: "a".into(),
            body2: b,
            body2_label: "b".into(),
            point1: point,
            point2: other,
            expression: "100*d^2+3*ddot".into(),
        }),
        None,
    );
    add(
        &mut model,
        "PrescribedForce",
        ForceKind::PrescribedForce(PrescribedForce {
            frame: a,
            point_is_global: false,
            force_is_global: false,
            force: Some([10.0, -5.0, 2.0].map(Function::Constant)),
            point: Some([0.1, 0.0, 0.2].map(Function::Constant)),
            torque: Some([1.0, 0.5, -0.5].map(Function::Constant)),
        }),
        None,
    );
    add(
        &mut model,
        "BushingForce",
        ForceKind::BushingForce(BushingForce {
            frame1: a,
            frame2: b,
            rotational_stiffness: vec3(3.0, 2.0, 4.0),
            translational_stiffness: vec3(50.0, 60.0, 70.0),
            rotational_damping: vec3(0.1, 0.2, 0.3),
            translational_damping: vec3(1.0, 2.0, 3.0),
        }),
        None,
    );
    add(
        &mut model,
        "ExponentialContactForce",
        ForceKind::ExponentialContactForce(ExponentialContactForce {
            // The plane is tilted and passes a little below the hand.
            contact_plane: Transform::from_offset(vec3(0.0, 0.4, 0.0), vec3(-1.5, 0.1, 0.05)),
            frame: b,
            location: point,
            shape: vec3(0.0065905, 0.5336, 20.0),
            normal_viscosity: 0.5,
            max_normal_force: 1e5,
            friction_elasticity: 2e4,
            friction_viscosity: 280.0,
            settle_velocity: 0.01,
            mu_static: 0.7,
            mu_kinetic: 0.5,
        }),
        None,
    );
    add(
        &mut model,
        "EllipsoidContact",
        ForceKind::EllipsoidContact(EllipsoidContact {
            point_frame: b,
            point,
            ellipsoid_frame: a,
            center: vec3(0.05, -0.3, 0.1),
            radii: vec3(0.3, 0.4, 0.2),
            stiffness: 2000.0,
            smoothing: 0.02,
        }),
        None,
    );
    add(
        &mut model,
        "Bogert2011Contact",
        ForceKind::Bogert2011Contact(Bogert2011Contact {
            frame: b,
            location: point,
            stiffness: 2e4,
            damping: 0.5,
            linear_stiffness: 3.0,
            transition_height: 0.2,
            friction: 0.8,
            transition_velocity: 0.3,
        }),
        None,
    );
    add(
        &mut model,
        "QuadraticDrag",
        ForceKind::QuadraticDrag(QuadraticDrag {
            frame: b,
            location: point,
            drag_area: 0.4,
            air_density: 1.2,
            transition_velocity: 0.3,
        }),
        None,
    );
    add(
        &mut model,
        "PassiveJointMoment",
        ForceKind::PassiveJointMoment(PassiveJointMoment {
            coordinate,
            range: [-0.3, -0.1],
            stiffness: 2.0,
            damping: 0.3,
            stop_stiffness: 50.0,
        }),
        None,
    );
    let line = straight(&model);
    add(
        &mut model,
        "Blankevoort1991Ligament",
        ForceKind::Blankevoort1991Ligament(Blankevoort1991Ligament {
            linear_stiffness: 500.0,
            transition_strain: 0.5,
            damping_coefficient: 0.3,
            slack_length: 0.15,
        }),
        Some(line.clone()),
    );
    add(
        &mut model,
        "ExpressionBasedPathForce",
        ForceKind::ExpressionBasedPathForce(ExpressionBasedPathForce {
            resting_length: 0.1,
            expression: "30*s^2+2*ldot".into(),
            clamp_stretch: true,
        }),
        Some(line.clone()),
    );
    add(
        &mut model,
        "ClutchedPathSpring",
        ForceKind::ClutchedPathSpring(ClutchedPathSpring {
            control,
            stiffness: 300.0,
            dissipation: 0.2,
            relaxation_time_constant: 0.1,
            initial_stretch: 0.03,
        }),
        Some(line.clone()),
    );
    add(
        &mut model,
        "McKibbenActuator",
        ForceKind::McKibbenActuator(McKibbenActuator {
            control,
            number_of_turns: 3.0,
            thread_length: 0.6,
            cord_length: 0.05,
        }),
        Some(line),
    );
    let mut kinds = BTreeSet::new();
    check_model("other forces", &model, &mut kinds);
    wants(
        &kinds,
        &[
            "PointActuator point",
            "PointActuator direction",
            "TorqueActuator axis",
            "BodyActuator point",
            "PointToPointActuator pointA",
            "ActivationCoordinateActuator activation_time_constant",
            "PointToPointSpring rest_length",
            "ExpressionBasedPointToPointForce point2",
            "BushingForce rotational_damping",
            "ExponentialContactForce contact_plane_transform",
            "ExponentialContactForce exponential_shape_parameters",
            "ExponentialContactForce location",
            "ExponentialContactForce normal_viscosity",
            "EllipsoidContact radii",
            "EllipsoidContact center",
            "EllipsoidContact smoothing",
            "Bogert2011Contact friction",
            "Bogert2011Contact transition_height",
            "QuadraticDrag drag_area",
            "PassiveJointMoment range",
            "Blankevoort1991Ligament transition_strain",
            "Blankevoort1991Ligament slack_length",
            "ExpressionBasedPathForce resting_length",
            "ClutchedPathSpring dissipation",
            "McKibbenActuator thread_length",
        ],
    );
    // A clutch that is open lets its spring go.
    let system = System::compile(&model).unwrap();
    let mut controls = shifted(&vec![0.2; system.num_controls], 1);
    let clutch = model.forces.iter().position(|f| f.class == "ClutchedPathSpring").unwrap();
    controls[system.forces[clutch].controls.start] = 0.0;
    let (x, xdot) = state(&model, &system, &controls);
    let mut kinds = BTreeSet::new();
    check_model_at("open clutch", &model, (&x, &xdot, &controls), &mut kinds);
    wants(&kinds, &["ClutchedPathSpring relaxation_time_constant"]);
}

/// A torus and other ellipsoids in the places of the arm's surfaces, points that move in frames, custom joints with scaled
/// splines.
#[reference_test]
fn deriv_residual_by_parameters_of_other_paths_and_joints() {
    let model = read("arm26.osim");
    // Every path wraps one torus, whose tube is about as thick as the surface that it had.
    let mut tori = model.clone();
    for f in &mut tori.forces {
        if let Some(Path::Geometry(path)) = &mut f.line_of_action {
            path.wraps.truncate(1);
        }
    }
    for w in &mut tori.wraps {
        w.shape = WrapShape::Torus { inner_radius: 0.01, outer_radius: 0.03 };
    }
    let mut kinds = BTreeSet::new();
    let system = System::compile(&tori).unwrap();
    let controls = shifted(&vec![0.2; system.num_controls], 1);
    let (x, xdot) = state(&tori, &system, &controls);
    check_some("tori", &tori, (&x, &xdot, &controls), &mut kinds, |name| name.ends_with("er_radius"));
    wants(&kinds, &[" inner_radius", " outer_radius"]);

    let mut moving = model.clone();
    let frame = offset(&mut moving, 2);
    for f in &mut moving.forces {
        let Some(Path::Geometry(path)) = &mut f.line_of_action else { continue };
        let Some(p) = path.points.iter_mut().find(|p| matches!(p.kind, PathPointKind::Fixed(_))) else {
            continue;
        };
        let component = |slope: f64, intercept: f64| MovingComponent {
            function: Function::Linear { slope, intercept },
            coordinate: Some(CoordinateId(1)),
        };
        p.frame = frame;
        p.kind = PathPointKind::Moving {
            x: component(0.01, 0.02),
            y: component(-0.005, 0.0),
            z: component(0.02, -0.01),
            range: [-3.0, 3.0],
        };
    }
    for j in &mut moving.joints {
        let JointKind::Custom(transform) = &mut j.kind else { continue };
        let spline = SimmSpline::new(vec![-2.0, -0.5, 0.7, 2.0], vec![0.1, -0.05, 0.2, 0.0]).unwrap();
        let scaled: Function = Multiplier::new(spline.into(), 0.03).unwrap().into();
        (transform.axes[3].function, transform.axes[3].arguments) = (scaled, vec![0]);
        (transform.axes[4].function, transform.axes[4].arguments) =
            (Function::Linear { slope: 0.02, intercept: 0.01 }, vec![0]);
        let polynomial = Polynomial::new(vec![0.03, -0.02, 0.01]).unwrap();
        (transform.axes[5].function, transform.axes[5].arguments) = (polynomial.into(), vec![0]);
    }
    let mut kinds = BTreeSet::new();
    check_model("moving points", &moving, &mut kinds);
    wants(&kinds, &[" translation", " orientation", " scale", " coefficients", " axis", " value", " y"]);
}

/// Paths around three tori. Tangents are improved until they change by less than a tolerance, and the length jumps where one round
/// more is needed: differences are taken over steps that are too short to meet a jump, and are so much rougher.
#[reference_test]
fn deriv_residual_by_sizes_of_several_tori() {
    let mut model = read("arm26.osim");
    for w in &mut model.wraps {
        w.shape = WrapShape::Torus { inner_radius: 0.01, outer_radius: 0.03 };
    }
    let several = model.forces.iter().filter_map(|f| match &f.line_of_action {
        Some(Path::Geometry(path)) => Some(path.wraps.len()),
        _ => None,
    });
    assert_eq!(several.max(), Some(3));
    let system = System::compile(&model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let controls = shifted(&vec![0.2; system.num_controls], 1);
    let (x, xdot) = state(&model, &system, &controls);
    let mut names = implicit.parameter_names(&model, &Default::default());
    names.retain(|n| n.ends_with("er_radius"));
    let parameters: Vec<Parameter> =
        names.iter().map(|n| implicit.parameter(&model, &Default::default(), n).unwrap()).collect();
    let point = (&x, &xdot[..], &controls[..], &[][..]);
    let df_dp = columns(&implicit, point, &parameters);
    let nr = implicit.num_residuals();
    let mut acting = Vec::new();
    for (p, column) in parameters.iter().zip(df_dp.chunks(nr)) {
        let at = |v: f64| residual_with(&model, &p.path, v, point);
        let h = 1e-8;
        let (up, down) = (at(p.value + h), at(p.value - h));
        let scale = largest_size(column);
        for i in 0..nr {
            let fd = (up[i] - down[i]) / (2.0 * h);
            assert!((column[i] - fd).abs() <= 1e-5 * (1.0 + scale), "{} row {i}: {} {fd}", p.path, column[i]);
        }
        if scale > 0.0 {
            acting.extend(p.path.rsplit('/').nth(1));
        }
    }
    assert_eq!(acting, ["TRIlonghh", "TRIlonghh", "TRI", "TRI"]);
}

/// A block on an ellipsoid, and on one followed by a hinge.
#[reference_test]
fn deriv_residual_by_radii_of_joints() {
    let model = read("bouncing_block.osim");
    let radii = vec3(0.1, 0.2, 0.15);
    let shoulder =
        JointKind::Scapulothoracic { radii, winging_origin: [0.02, -0.01], winging_direction: 0.3 };
    for (kind, name, coordinates) in [
        (JointKind::Ellipsoid { radii }, " radii_x_y_z", 3),
        (shoulder, " thoracic_ellipsoid_radii_x_y_z", 4),
    ] {
        let mut changed = model.clone();
        let free = changed.joints.iter().position(|j| j.kind == JointKind::Free).unwrap();
        changed.joints[free].kind = kind;
        changed.joints[free].coordinates.truncate(coordinates);
        let system = System::compile(&changed).unwrap();
        let controls = vec![0.0; system.num_controls];
        let mut x = system.default_state.clone();
        x.q.iter_mut().zip(direction(7, x.u.len(), 0.4)).for_each(|(q, d)| *q += d);
        x.u = direction(4, x.u.len(), 2.0);
        let xdot = direction(5, 2 * x.q.len() + x.z.len(), 3.0);
        let mut kinds = BTreeSet::new();
        let radius = |asked: &str| asked.contains("radii_x_y_z");
        check_some("radii", &changed, (&x, &xdot, &controls), &mut kinds, radius);
        wants(&kinds, &[name]);
    }
}

/// Constraints between frames and bodies, and an ellipsoid that presses on the ground.
#[reference_test]
fn deriv_residual_by_parameters_of_constraints_and_ellipsoids() {
    let mut model = read("bouncing_block.osim");
    let body = model.bodies.len() - 1;
    let (a, ground) = (offset(&mut model, body), offset(&mut model, 0));
    let base =
        FrameId(model.frames.iter().position(|f| f.body.0 == body && f.offset_from.is_none()).unwrap());
    let floor = FrameId(0);
    let (one, two) = (vec3(0.1, 0.2, -0.1), vec3(0.3, 0.1, 0.2));
    let list = [
        ConstraintKind::Weld { frame_1: ground, frame_2: a },
        ConstraintKind::Point { body_1: floor, body_2: base, location_1: one, location_2: two },
        ConstraintKind::ConstantDistance {
            body_1: floor,
            body_2: base,
            location_1: one,
            location_2: two,
            distance: 0.5,
        },
        ConstraintKind::PointOnLine {
            line_body: floor,
            follower_body: base,
            direction: vec3(0.3, 1.0, 0.2),
            point_on_line: one,
            point_on_follower: two,
        },
        ConstraintKind::RollingOnSurface {
            rolling_body: base,
            surface_body: floor,
            normal: vec3(0.1, 1.0, 0.05),
            height: 0.0,
            friction: 0.5,
            radius: 0.1,
        },
    ];
    for (i, kind) in list.into_iter().enumerate() {
        let path = format!("/constraintset/c{i}");
        model.constraints.push(Constraint { name: format!("c{i}"), path, enforced: true, kind });
    }
    for g in &mut model.contact_geometries {
        if let ContactShape::Sphere { radius } = g.shape {
            g.shape = ContactShape::Ellipsoid { radii: vec3(radius, 0.8 * radius, 1.2 * radius) };
        }
    }
    let system = System::compile(&model).unwrap();
    let controls = vec![0.0; system.num_controls];
    let (mut x, _) = state(&model, &system, &controls);
    // Into the ground as far as the sphere was.
    let plain = read("bouncing_block.osim");
    let with_sphere = System::compile(&plain).unwrap();
    x.q = state(&plain, &with_sphere, &controls).0.q;
    let xdot = direction(5, 2 * x.q.len() + x.z.len(), 3.0);
    let mut kinds = BTreeSet::new();
    check_model_at("constraints", &model, (&x, &xdot, &controls), &mut kinds);
    wants(
        &kinds,
        &[
            " translation",
            " orientation",
            " location_body_1",
            " location_body_2",
            " line_direction_vec",
            " point_on_follower",
            " surface_normal",
            " radii",
        ],
    );
}
