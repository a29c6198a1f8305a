//! Every force against OpenSim 4.6, against itself through dual numbers, and against Newton's
//! third law. The numbers and the script that made them are in `data/`.

#![allow(non_snake_case)]

use serde_json::Value;
use soleus_dynamics::Options;
use soleus_dynamics::contact::ContactMemory;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::{BodyFrame, CompiledForce, ForceResolve, Kinematics, Loads, Resolve};
use soleus_math::{Dual, Function, Mat33, Real, Rotation, SpatialVec, Transform, Vec3, vec3};
use soleus_model::force::*;
use soleus_model::id::{CoordinateId, FrameId, GeometryId};
use soleus_model::{ContactGeometry, ContactShape, Force, ForceKind, TriangleMesh};

const GROUND: FrameId = FrameId(0);
const A: FrameId = FrameId(1);
const B: FrameId = FrameId(2);
const FA: FrameId = FrameId(5);
const FB: FrameId = FrameId(6);
const FA_OFFSET: FrameId = FrameId(7);
const FB_OFFSET: FrameId = FrameId(8);
const PIN: CoordinateId = CoordinateId(12);
const SLIDER: CoordinateId = CoordinateId(13);

/// The bodies and frames of `data/forces_opensim46.py`.
struct Frames;

impl Resolve for Frames {
    fn frame(&self, id: FrameId) -> BodyFrame {
        let fa = Transform::from_offset(vec3(0.02, 0.03, -0.01), vec3(0.3, -0.2, 0.5));
        let fb = Transform::from_offset(vec3(-0.04, 0.01, 0.05), vec3(-0.1, 0.4, 0.2));
        let (body, X_BF) = match id.0 {
            5 => (1, fa),
            6 => (2, fb),
            7 => (1, fa * Transform::from_offset(vec3(0.01, 0.02, 0.0), vec3(0.1, 0.0, 0.0))),
            8 => (2, fb * Transform::from_offset(vec3(0.0, 0.01, 0.0), vec3(0.0, 0.2, 0.0))),
            body => (body, Transform::identity()),
        };
        BodyFrame { body, X_BF }
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        id.0
    }
}
impl ForceResolve for Frames {
    fn frame_name(&self, id: FrameId) -> &str {
        ["ground", "a", "b", "c", "d", "fa", "fb", "fa_offset", "fb_offset"][id.0]
    }
    fn is_rotational(&self, id: CoordinateId) -> bool {
        id == PIN
    }
}

fn reference() -> Value {
    serde_json::from_str(include_str!("data/forces_opensim46.json")).expect("the reference is JSON")
}
fn number(v: &Value) -> f64 {
    v.as_f64().expect("a number")
}
fn vector(v: &Value) -> Vec3<f64> {
    vec3(number(&v[0]), number(&v[1]), number(&v[2]))
}

fn geometries(reference: &Value) -> Vec<ContactGeometry> {
    let mesh = TriangleMesh {
        vertices: reference["mesh"]["vertices"].as_array().unwrap().iter().map(vector).collect(),
        faces: (reference["mesh"]["faces"].as_array().unwrap().iter())
            .map(|f| [0, 1, 2].map(|i| f[i].as_u64().unwrap() as u32))
            .collect(),
    };
    let egg = ContactShape::Mesh { filename: "egg.obj".into(), mesh: Some(mesh) };
    let geometry = |name: &str, frame, location, orientation, shape| ContactGeometry {
        name: name.into(),
        path: format!("/contactgeometryset/{name}"),
        frame,
        location,
        orientation,
        shape,
    };
    let zero = Vec3::zero();
    vec![
        geometry("floor", GROUND, vec3(0.1, -0.05, 0.02), vec3(0.1, 0.2, -1.4), ContactShape::HalfSpace),
        geometry("ballA", FA, vec3(0.02, -0.03, 0.01), zero, ContactShape::Sphere { radius: 0.15 }),
        geometry("ballB", B, vec3(-0.01, 0.02, 0.03), zero, ContactShape::Sphere { radius: 0.2 }),
        geometry(
            "ellA",
            A,
            vec3(0.01, 0.02, -0.03),
            vec3(0.3, 0.1, -0.2),
            ContactShape::Ellipsoid { radii: vec3(0.1, 0.16, 0.22) },
        ),
        geometry(
            "ellB",
            B,
            vec3(0.0, 0.02, 0.03),
            vec3(-0.2, 0.4, 0.1),
            ContactShape::Ellipsoid { radii: vec3(0.2, 0.12, 0.15) },
        ),
        geometry("eggA", A, vec3(0.01, -0.02, 0.03), vec3(0.2, -0.1, 0.3), egg.clone()),
        geometry("eggB", B, vec3(0.0, 0.01, 0.02), vec3(-0.3, 0.2, 0.1), egg),
    ]
}

/// The forces of `data/forces_opensim46.py`, in its order.
fn forces() -> Vec<Force> {
    let control = ControlRange::default();
    let linear = |slope, intercept| Function::Linear { slope, intercept };
    let point_actuator = |global| {
        ForceKind::PointActuator(PointActuator {
            control,
            body: A,
            point: vec3(0.1, 0.2, -0.3),
            point_is_global: global,
            direction: vec3(1.0, 2.0, -0.5),
            force_is_global: global,
            optimal_force: 4.0,
        })
    };
    let point_spring = |body1, rest_length| {
        ForceKind::PointToPointSpring(PointToPointSpring {
            body1,
            body2: B,
            point1: vec3(0.1, 0.02, 0.0),
            point2: vec3(0.0, 0.03, -0.1),
            stiffness: 250.0,
            rest_length,
        })
    };
    let parameters = |geometry: &[usize], stiffness, dissipation| {
        vec![ContactParameters {
            geometry: geometry.iter().map(|&i| GeometryId(i)).collect(),
            stiffness,
            dissipation,
            static_friction: 0.9,
            dynamic_friction: 0.6,
            viscous_friction: 0.5,
        }]
    };
    let hunt = |geometry: &[usize]| {
        ForceKind::HuntCrossleyForce(HuntCrossleyForce {
            contact_parameters: parameters(geometry, 1e6, 0.4),
            transition_velocity: 0.13,
        })
    };
    let elastic = |geometry: &[usize]| {
        ForceKind::ElasticFoundationForce(ElasticFoundationForce {
            contact_parameters: parameters(geometry, 2e6, 0.3),
            transition_velocity: 0.13,
        })
    };
    let (rotational_damping, translational_damping) = (vec3(0.3, 0.2, 0.1), vec3(3.0, 2.0, 1.0));
    let list: Vec<(&str, ForceKind)> = vec![
        (
            "coordinate_actuator",
            ForceKind::CoordinateActuator(CoordinateActuator {
                control,
                coordinate: PIN,
                optimal_force: 3.5,
            }),
        ),
        (
            "activation_actuator",
            ForceKind::ActivationCoordinateActuator(ActivationCoordinateActuator {
                control,
                coordinate: SLIDER,
                optimal_force: 2.5,
                activation_time_constant: 0.04,
                default_activation: 0.3,
            }),
        ),
        ("point_actuator", point_actuator(false)),
        ("point_actuator_global", point_actuator(true)),
        (
            "torque_actuator",
            ForceKind::TorqueActuator(TorqueActuator {
                control,
                body_a: A,
                body_b: B,
                torque_is_global: false,
                axis: vec3(0.3, -1.0, 0.4),
                optimal_force: 5.0,
            }),
        ),
        (
            "body_actuator",
            ForceKind::BodyActuator(BodyActuator {
                body: B,
                point: vec3(0.1, 0.05, -0.2),
                point_is_global: false,
                spatial_force_is_global: false,
            }),
        ),
        (
            "point_to_point_actuator",
            ForceKind::PointToPointActuator(PointToPointActuator {
                control,
                body_a: A,
                body_b: B,
                points_are_global: false,
                point_a: vec3(0.1, 0.0, 0.2),
                point_b: vec3(0.0, -0.1, 0.1),
                optimal_force: 6.0,
            }),
        ),
        (
            "spring_generalized",
            ForceKind::SpringGeneralizedForce(SpringGeneralizedForce {
                coordinate: PIN,
                stiffness: 12.0,
                rest_length: 0.2,
                viscosity: 0.7,
            }),
        ),
        (
            "limit_rotation",
            ForceKind::CoordinateLimitForce(CoordinateLimitForce {
                coordinate: PIN,
                upper_limit: 10.0,
                upper_stiffness: 1.5,
                lower_limit: -12.0,
                lower_stiffness: 2.0,
                damping: 0.05,
                transition: 30.0,
                compute_dissipation_energy: false,
            }),
        ),
        (
            "limit_translation",
            ForceKind::CoordinateLimitForce(CoordinateLimitForce {
                coordinate: SLIDER,
                upper_limit: 0.05,
                upper_stiffness: 1500.0,
                lower_limit: -0.04,
                lower_stiffness: 2000.0,
                damping: 5.0,
                transition: 0.3,
                compute_dissipation_energy: false,
            }),
        ),
        ("point_spring", point_spring(A, 0.3)),
        ("point_spring_offset", point_spring(FA, 0.0)),
        (
            "bushing",
            ForceKind::BushingForce(BushingForce {
                frame1: FA,
                frame2: FB,
                translational_stiffness: vec3(100.0, 200.0, 300.0),
                rotational_stiffness: vec3(10.0, 20.0, 30.0),
                translational_damping: vec3(1.0, 2.0, 3.0),
                rotational_damping: vec3(0.1, 0.2, 0.3),
            }),
        ),
        (
            "function_bushing",
            ForceKind::FunctionBasedBushingForce(FunctionBasedBushingForce {
                frame1: FA_OFFSET,
                frame2: FB_OFFSET,
                moment: [linear(11.0, 0.5), linear(12.0, -0.5), linear(13.0, 0.1)],
                force: [linear(110.0, 2.0), linear(120.0, -1.0), linear(130.0, 0.4)],
                rotational_damping,
                translational_damping,
            }),
        ),
        (
            "expression_bushing",
            ForceKind::ExpressionBasedBushingForce(ExpressionBasedBushingForce {
                frame1: FA_OFFSET,
                frame2: FB_OFFSET,
                moment: ["10*theta_x^3 + delta_y", "5*sin(theta_y)", "7*theta_z*theta_x"].map(String::from),
                force: ["100*delta_x + exp(delta_z)", "50*delta_y^3", "80*delta_z - 3*theta_x"]
                    .map(String::from),
                rotational_damping,
                translational_damping,
            }),
        ),
        (
            "expression_coordinate",
            ForceKind::ExpressionBasedCoordinateForce(ExpressionBasedCoordinateForce {
                coordinate: PIN,
                expression: "-10*q^3 - 2*qdot + sin(q)".into(),
            }),
        ),
        (
            "expression_point",
            ForceKind::ExpressionBasedPointToPointForce(ExpressionBasedPointToPointForce {
                body1: A,
                body1_label: "a".into(),
                body2: B,
                body2_label: "b".into(),
                point1: vec3(0.1, 0.02, 0.0),
                point2: vec3(0.0, 0.03, -0.1),
                expression: "200*(d-0.3)^2 + 1.5*ddot".into(),
            }),
        ),
        (
            "prescribed",
            ForceKind::PrescribedForce(PrescribedForce {
                frame: FA,
                point_is_global: true,
                force_is_global: false,
                force: Some([linear(2.0, 1.0), linear(-3.0, 0.5), Function::Constant(4.0)]),
                point: Some([Function::Constant(0.1), linear(0.2, -0.1), Function::Constant(0.3)]),
                torque: Some([Function::Constant(1.5), Function::Constant(-2.5), linear(1.0, 0.0)]),
            }),
        ),
        ("hunt_floor", hunt(&[0, 1])),
        ("hunt_balls", hunt(&[1, 2])),
        ("hunt_ellipsoids", hunt(&[3, 4])),
        ("hunt_ellipsoid_ball", hunt(&[2, 3])),
        ("hunt_ellipsoid", hunt(&[3, 0])),
        (
            "smooth",
            ForceKind::SmoothSphereHalfSpaceForce(SmoothSphereHalfSpaceForce {
                sphere: GeometryId(1),
                half_space: GeometryId(0),
                stiffness: 1e6,
                dissipation: 0.4,
                static_friction: 0.9,
                dynamic_friction: 0.6,
                viscous_friction: 0.5,
                transition_velocity: 0.13,
                constant_contact_force: 1e-4,
                hertz_smoothing: 200.0,
                hunt_crossley_smoothing: 40.0,
            }),
        ),
        ("elastic_floor", elastic(&[5, 0])),
        ("elastic_ball", elastic(&[5, 2])),
        ("elastic_meshes", elastic(&[5, 6])),
        (
            "exponential",
            ForceKind::ExponentialContactForce(ExponentialContactForce {
                contact_plane: Transform::from_offset(vec3(0.01, 0.06, -0.02), vec3(-1.5, 0.1, 0.2)),
                frame: FA,
                location: vec3(0.02, -0.03, 0.04),
                shape: vec3(0.01, 50.0, 20.0),
                normal_viscosity: 0.3,
                max_normal_force: 1e5,
                friction_elasticity: 500.0,
                friction_viscosity: 90.0,
                settle_velocity: 0.01,
                mu_static: 0.7,
                mu_kinetic: 0.5,
            }),
        ),
    ];
    list.into_iter()
        .map(|(name, kind)| Force {
            name: name.into(),
            path: format!("/forceset/{name}"),
            class: String::new(),
            enabled: true,
            line_of_action: None,
            kind,
        })
        .collect()
}

/// One state of the reference, as slices.
#[derive(Clone)]
struct State<T: Real> {
    time: T,
    X_GB: Vec<Transform<T>>,
    V_GB: Vec<SpatialVec<T>>,
    q: Vec<T>,
    u: Vec<T>,
    controls: Vec<T>,
    states: Vec<T>,
}

impl<T: Real> State<T> {
    fn kinematics(&self) -> Kinematics<'_, T> {
        Kinematics { time: self.time, X_GB: &self.X_GB, V_GB: &self.V_GB, q: &self.q, u: &self.u }
    }
}

fn states(reference: &Value) -> Vec<State<f64>> {
    let rows = reference["states"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            let mut s = State {
                time: number(&row["time"]),
                X_GB: vec![Transform::identity()],
                V_GB: vec![SpatialVec::zero()],
                // Slots that no force should read are NaN.
                q: vec![f64::NAN; 14],
                u: vec![f64::NAN; 14],
                controls: Vec::new(),
                states: Vec::new(),
            };
            for body in ["a", "b", "c", "d"] {
                let body = &row["bodies"][body];
                let R = [0, 1, 2].map(|i| vector(&body["R"][i]).to_array());
                s.X_GB.push(Transform::new(Rotation(Mat33::from_rows(R)), vector(&body["p"])));
                s.V_GB.push(SpatialVec::new(vector(&body["w"]), vector(&body["v"])));
            }
            for (i, name) in [(12, "jc_coord_0"), (13, "jd_coord_0")] {
                s.q[i] = number(&row["coordinates"][name][0]);
                s.u[i] = number(&row["coordinates"][name][1]);
            }
            s
        })
        .collect()
}

/// What a force does in a state: wrenches on all bodies, generalized forces, rates of states.
fn evaluate<T: Real>(force: &CompiledForce, state: &State<T>) -> (Vec<SpatialVec<T>>, Vec<T>, Vec<T>) {
    let mut body = vec![SpatialVec::zero(); 5];
    let mut mobility = vec![T::zero(); 14];
    let mut rates = vec![T::zero(); force.state_names().len()];
    let mut loads = Loads { body: &mut body, mobility: &mut mobility };
    force.apply(&state.kinematics(), &state.controls, &state.states, &mut rates, &mut loads);
    (body, mobility, rates)
}

/// The forces with the controls and states that each of them takes.
fn compiled(reference: &Value, compatible: bool) -> Vec<(CompiledForce, Vec<f64>, Vec<f64>)> {
    let geometries = geometries(reference);
    let mut controls = reference["controls"].as_array().unwrap().iter().map(number);
    forces()
        .iter()
        .map(|f| {
            let c = CompiledForce::compile(f, &Frames, &geometries, &Options { opensim_faults: compatible })
                .unwrap_or_else(|e| panic!("{}: {e}", f.name));
            let mut states = vec![0.0; c.state_names().len()];
            c.default_states(&mut states);
            let controls = controls.by_ref().take(c.num_controls()).collect();
            (c, controls, states)
        })
        .collect()
}

/// Loads, report, energy and rates equal OpenSim's. The generalized forces are a difference of
/// two inverse dynamics there, hence good to about 1e-12 of the largest term.
#[test]
fn opensim_val_every_force() {
    let reference = reference();
    let mut worst = (0.0, String::new());
    for (row, state) in reference["states"].as_array().unwrap().iter().zip(states(&reference)) {
        for (force, controls, force_states) in compiled(&reference, true) {
            let state = State { controls, states: force_states, ..state.clone() };
            let name = &force.name;
            let expected = &row["forces"][name];
            let (body, mobility, rates) = evaluate(&force, &state);

            let mut compare = |what: &str, ours: &[f64], theirs: &[f64]| {
                assert_eq!(ours.len(), theirs.len(), "{name} {what}");
                let scale = theirs.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
                for (a, b) in ours.iter().zip(theirs) {
                    let error = (a - b).abs() / scale;
                    assert!(error < 1e-11, "{name} {what}: {ours:?} {theirs:?}");
                    if error > worst.0 {
                        worst = (error, format!("{name} {what}"));
                    }
                }
            };
            let numbers = |v: &Value| v.as_array().unwrap().iter().map(number).collect::<Vec<_>>();

            let mut tau = Vec::new();
            for wrench in &body[1..3] {
                tau.extend(wrench.w.to_array().into_iter().chain(wrench.v.to_array()));
            }
            tau.extend(&mobility[12..]);
            compare("tau", &tau, &numbers(&expected["tau"]));

            let labels: Vec<_> =
                expected["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
            assert_eq!(force.labels(), labels);
            let mut record = Vec::new();
            force.record(&state.kinematics(), &state.controls, &state.states, &mut record);
            compare("record", &record, &numbers(&expected["record"]));

            // OpenSim gives a generalized spring no energy.
            if name != "spring_generalized" {
                let energy = force.potential_energy(&state.kinematics());
                // OpenSim's model energy counts a linear bushing twice: as Simbody's force and as its own.
                let times = if name == "bushing" { 2.0 } else { 1.0 };
                compare("energy", &[energy], &[number(&expected["energy"]) / times]);
            }
            for (state_name, rate) in force.state_names().iter().zip(rates) {
                let theirs = &expected["states"][format!("/forceset/{name}/{state_name}")];
                compare("rate", &[rate], &[number(&theirs[1])]);
            }
            let count = expected["states"].as_object().unwrap().len();
            assert_eq!(force.state_names().len(), count, "{name}");
        }
    }
    println!("largest relative difference {:.1e} in {}", worst.0, worst.1);
}

/// Exponential contact that half sticks: the memory is an argument here, a discrete state there.
#[test]
fn opensim_val_sticking_contact() {
    let reference = reference();
    let memory = ContactMemory { anchor: Vec3::zero(), sliding: 0.3 };
    for (row, state) in reference["states"].as_array().unwrap().iter().zip(states(&reference)) {
        let all = compiled(&reference, true);
        let (force, ..) = all.iter().find(|(f, ..)| f.name == "exponential").unwrap();
        let Kernel::Exponential(contact) = force.kernel() else { panic!("{force:?}") };
        let touch = contact.force(&state.kinematics(), &memory).touch;
        let moment = (touch.point - state.X_GB[1].p).cross(touch.force);
        let theirs = &row["exponential_sticking"]["values"];
        for i in 0..3 {
            assert!((touch.force[i] - number(&theirs[i])).abs() < 1e-11 * touch.force.norm());
            assert!((moment[i] - number(&theirs[i + 3])).abs() < 1e-11 * touch.force.norm());
        }
        // A contact that has not moved since it was anchored sticks.
        let next = contact.remember(&state.kinematics(), &memory, 0.01);
        let held = ContactMemory { anchor: next.anchor, sliding: 1.0 };
        let again = contact.remember(&state.kinematics(), &held, 1e3);
        assert!(again.sliding < 1e-3, "{again:?}");
    }
}

/// What acts between bodies adds up to no force and no moment.
#[test]
fn conserves_momentum() {
    let reference = reference();
    for state in states(&reference) {
        for (force, controls, force_states) in compiled(&reference, false) {
            if ["point_actuator", "body_actuator", "prescribed"].iter().any(|n| force.name.starts_with(n)) {
                continue;
            }
            let state = State { controls, states: force_states, ..state.clone() };
            let body = evaluate(&force, &state).0;
            let mut sum = SpatialVec::zero();
            let mut scale = 1e-12;
            for (X, wrench) in state.X_GB.iter().zip(&body) {
                sum += wrench.wrench_shifted(X.p);
                scale = f64::max(scale, wrench.v.norm() + wrench.w.norm());
            }
            assert!((sum.v.norm() + sum.w.norm()) < 1e-13 * scale, "{} {sum:?}", force.name);
        }
    }
}

/// A state moved by `h` along a fixed direction; rotations move in the tangent space.
fn moved<T: Real>(state: &State<f64>, h: T) -> State<T> {
    let along = |x: f64, k: usize| h * (1.0 + (k as f64 * 1.7).sin()) + x;
    let axes = [vec3(0.6, 0.0, 0.8), vec3(0.0, 0.8, -0.6), vec3(0.8, 0.6, 0.0), vec3(0.0, 0.6, 0.8)];
    let shift = |v: Vec3<f64>, k: usize| vec3(along(v.x, k), along(v.y, k + 1), along(v.z, k + 2));
    let mut out = State {
        time: along(state.time, 0),
        X_GB: vec![Transform::identity()],
        V_GB: vec![SpatialVec::zero()],
        q: state.q.iter().enumerate().map(|(k, &x)| along(x, k)).collect(),
        u: state.u.iter().enumerate().map(|(k, &x)| along(x, k + 3)).collect(),
        controls: state.controls.iter().enumerate().map(|(k, &x)| along(x, k + 5)).collect(),
        states: state.states.iter().enumerate().map(|(k, &x)| along(x, k + 7)).collect(),
    };
    for i in 1..5 {
        let X = state.X_GB[i];
        out.X_GB.push(Transform::new(Rotation::about(axes[i - 1], h) * Rotation::cst(X.R), shift(X.p, i)));
        out.V_GB.push(SpatialVec::new(shift(state.V_GB[i].w, 2 * i), shift(state.V_GB[i].v, 3 * i)));
    }
    out
}

/// Everything a force gives in a state, in one list.
fn everything<T: Real>(force: &CompiledForce, state: &State<T>) -> Vec<T> {
    let (body, mobility, rates) = evaluate(force, state);
    let mut all: Vec<T> =
        body.iter().flat_map(|w| w.w.to_array().into_iter().chain(w.v.to_array())).collect();
    all.extend(mobility.into_iter().chain(rates));
    all.push(force.potential_energy(&state.kinematics()));
    force.record(&state.kinematics(), &state.controls, &state.states, &mut all);
    all
}

/// Dual numbers give the slope that central differences give, and the very value `f64` gives.
/// h = 1e-6 leaves a truncation of about h²·(third derivative): contact forces of 1e4 N that
/// change over centimetres make that 1e-12·1e4/1e-6 = 1e-2 N/m beside slopes of 1e6 N/m.
#[test]
fn deriv_every_force() {
    let reference = reference();
    for state in states(&reference) {
        for (force, controls, force_states) in compiled(&reference, false) {
            let state = State { controls, states: force_states, ..state.clone() };
            let h = 1e-6;
            let dual = everything(&force, &moved(&state, Dual::<f64, 1>::variable(0.0, 0)));
            let here = everything(&force, &moved(&state, 0.0));
            let plus = everything(&force, &moved(&state, h));
            let minus = everything(&force, &moved(&state, -h));
            let scale = dual.iter().fold(1e-3, |m: f64, x| m.max(x.d[0].abs()));
            for i in 0..dual.len() {
                assert_eq!(dual[i].v.to_bits(), here[i].to_bits(), "{} value {i}", force.name);
                let fd = (plus[i] - minus[i]) / (2.0 * h);
                let error = (dual[i].d[0] - fd).abs() / scale;
                assert!(error < 1e-7, "{} entry {i}: {} {fd}", force.name, dual[i].d[0]);
            }
        }
    }
}

/// Conservative forces are the negative slope of their energy, for bodies that stand still.
#[test]
fn identity_force_is_slope_of_energy() {
    let reference = reference();
    for state in states(&reference) {
        for (force, ..) in compiled(&reference, false) {
            // Smooth contact reports the energy of an unsmoothed Hertz contact, ellipsoids
            // change their radius as they roll, faces enter and leave: not exact slopes.
            if !["point_spring", "bushing", "hunt_floor", "hunt_balls", "spring", "limit"]
                .iter()
                .any(|n| force.name.starts_with(n))
            {
                continue;
            }
            let mut still = State { states: vec![0.0; force.state_names().len()], ..state.clone() };
            still.V_GB.fill(SpatialVec::zero());
            still.u.fill(0.0);
            let at = moved(&still, Dual::<f64, 1>::variable(0.0, 0));
            let slope = force.potential_energy(&at.kinematics()).d[0];
            // The same direction as velocities: power of the load at rest.
            let (body, mobility, _) = evaluate(&force, &still);
            let axes = [vec3(0.6, 0.0, 0.8), vec3(0.0, 0.8, -0.6), vec3(0.8, 0.6, 0.0), vec3(0.0, 0.6, 0.8)];
            let mut power = 0.0;
            for i in 1..5 {
                let v = at.X_GB[i].p;
                power += body[i].dot(SpatialVec::new(axes[i - 1], vec3(v.x.d[0], v.y.d[0], v.z.d[0])));
            }
            power += mobility.iter().zip(&at.q).skip(12).map(|(tau, q)| tau * q.d[0]).sum::<f64>();
            let scale = slope.abs().max(1.0);
            assert!((slope + power).abs() < 1e-10 * scale, "{} {slope} {power}", force.name);
        }
    }
}
