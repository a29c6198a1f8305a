//! Forces of published models at the poses of the reference evaluations in `../shared`
//! (OpenSim 4.6). Parameters are typed in from the models' files.

#![allow(non_snake_case)]

use serde_json::Value;
use soleus_dynamics::Options;
use soleus_dynamics::{BodyFrame, CompiledForce, ForceResolve, Kinematics, Resolve};
use soleus_math::{Mat33, Rotation, SpatialVec, Transform, Vec3, vec3};
use soleus_model::force::*;
use soleus_model::id::{CoordinateId, FrameId, GeometryId};
use soleus_model::{ContactGeometry, ContactShape, Force, ForceKind};
use soleus_testing::{reference_test, shared};

/// Frames by number: bodies in the given order, ground first, then offset frames.
struct Names {
    bodies: Vec<&'static str>,
    offsets: Vec<(&'static str, usize, Vec3<f64>)>,
}
impl Resolve for Names {
    fn frame(&self, id: FrameId) -> BodyFrame {
        match id.0.checked_sub(self.bodies.len()) {
            None => BodyFrame { body: id.0, X_BF: Transform::identity() },
            Some(i) => {
                let (_, body, p) = self.offsets[i];
                BodyFrame { body, X_BF: Transform::from_offset(p, Vec3::zero()) }
            }
        }
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        id.0
    }
}
impl ForceResolve for Names {
    fn frame_name(&self, id: FrameId) -> &str {
        match id.0.checked_sub(self.bodies.len()) {
            None => self.bodies[id.0],
            Some(i) => self.offsets[i].0,
        }
    }
    fn is_rotational(&self, _: CoordinateId) -> bool {
        true
    }
}

fn points(model: &str) -> Value {
    let file = format!("{}/{model}.json", shared!("reference/points"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    serde_json::from_str(&text).expect("the reference is JSON")
}
fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}
fn vector(v: &Value) -> Vec3<f64> {
    let v = numbers(v);
    vec3(v[0], v[1], v[2])
}
fn force(name: &str, kind: ForceKind) -> Force {
    Force {
        name: name.into(),
        path: String::new(),
        class: String::new(),
        enabled: true,
        line_of_action: None,
        kind,
    }
}
fn geometry(
    name: &str,
    frame: usize,
    location: Vec3<f64>,
    orientation: f64,
    shape: ContactShape,
) -> ContactGeometry {
    ContactGeometry {
        name: name.into(),
        path: String::new(),
        frame: FrameId(frame),
        location,
        orientation: vec3(0.0, 0.0, orientation),
        shape,
    }
}

/// Compares reports in every state of a model. `coordinates` are the ones that forces read, in
/// the order of their ids. Poses have 14 digits: a contact 1e-4 m deep keeps about 10 of them.
fn check(
    model: &str,
    names: &Names,
    coordinates: &[&str],
    forces: &[(&str, Force)],
    geometries: &[ContactGeometry],
) {
    let points = points(model);
    let mut worst: f64 = 0.0;
    for state in points["states"].as_array().unwrap() {
        let mut X_GB = vec![Transform::identity()];
        let mut V_GB = vec![SpatialVec::zero()];
        for name in &names.bodies[1..] {
            let body = &state["bodies"][format!("/bodyset/{name}")];
            let R = numbers(&body["R"]);
            let rows = [0, 3, 6].map(|i| [R[i], R[i + 1], R[i + 2]]);
            X_GB.push(Transform::new(Rotation(Mat33::from_rows(rows)), vector(&body["p"])));
            V_GB.push(SpatialVec::new(vector(&body["w"]), vector(&body["v"])));
        }
        let (q, u): (Vec<_>, Vec<_>) =
            coordinates.iter().map(|c| numbers(&state["coordinates"][*c])).map(|x| (x[0], x[1])).unzip();
        let kin = Kinematics { time: 0.0, X_GB: &X_GB, V_GB: &V_GB, q: &q, u: &u };
        for (path, f) in forces {
            let compiled =
                CompiledForce::compile(f, names, geometries, &Options { opensim_faults: true }).unwrap();
            let theirs = &state["forces"][*path];
            let labels: Vec<_> =
                theirs["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
            assert_eq!(compiled.labels(), labels);
            let mut record = Vec::new();
            compiled.record(&kin, &[], &[0.0], &mut record);
            let values = numbers(&theirs["values"]);
            let scale = values.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
            for (a, b) in record.iter().zip(&values) {
                let error = (a - b).abs() / scale;
                assert!(error < 1e-9, "{model} {path}: {record:?} {values:?}");
                worst = worst.max(error);
            }
        }
    }
    println!("{model}: largest relative difference {worst:.1e}");
}

fn hunt(
    geometry: [usize; 2],
    stiffness: f64,
    dissipation: f64,
    friction: [f64; 3],
    transition_velocity: f64,
) -> ForceKind {
    ForceKind::HuntCrossleyForce(HuntCrossleyForce {
        contact_parameters: vec![ContactParameters {
            geometry: geometry.map(GeometryId).to_vec(),
            stiffness,
            dissipation,
            static_friction: friction[0],
            dynamic_friction: friction[1],
            viscous_friction: friction[2],
        }],
        transition_velocity,
    })
}

/// The floor of the bouncing models turns by not quite a right angle.
#[allow(clippy::approx_constant)] // as the files have it
const FLOOR_TURN: f64 = -1.57079633;

#[reference_test]
fn opensim_val_bouncing_block() {
    let names = Names {
        bodies: vec!["ground", "block", "link1", "link2"],
        offsets: vec![("link1_offset", 2, vec3(0.0, 0.5, 0.0))],
    };
    let geometries = [
        geometry("platform", 0, Vec3::zero(), FLOOR_TURN, ContactShape::HalfSpace),
        geometry("heel", 3, Vec3::zero(), 0.0, ContactShape::Sphere { radius: 0.05 }),
    ];
    for (model, stiffness) in [
        ("bouncing_block", 2000.0),
        ("bouncing_block_weak_spring", 20.0),
        ("core_v30000_bouncing_block", 2000.0),
    ] {
        let spring = PointToPointSpring {
            body1: FrameId(1),
            body2: FrameId(3),
            point1: Vec3::zero(),
            point2: Vec3::zero(),
            stiffness,
            rest_length: 0.8,
        };
        let limit = CoordinateLimitForce {
            coordinate: CoordinateId(0),
            upper_stiffness: 20.0,
            upper_limit: 0.0,
            lower_stiffness: 20.0,
            lower_limit: -140.0,
            damping: 1.0,
            transition: 5.0,
            compute_dissipation_energy: false,
        };
        let bushing = BushingForce {
            frame1: FrameId(1),
            frame2: FrameId(4),
            rotational_stiffness: vec3(10.0, 10.0, 10.0),
            translational_stiffness: Vec3::zero(),
            rotational_damping: vec3(0.1, 0.1, 0.1),
            translational_damping: Vec3::zero(),
        };
        let forces = [
            (
                "/forceset/foot_contact_force",
                force("foot_contact_force", hunt([0, 1], 1e8, 0.5, [0.9, 0.9, 0.6], 0.1)),
            ),
            ("/forceset/spring", force("spring", ForceKind::PointToPointSpring(spring))),
            ("/forceset/knee_limit", force("knee_limit", ForceKind::CoordinateLimitForce(limit))),
            ("/forceset/hip_bushing", force("hip_bushing", ForceKind::BushingForce(bushing))),
        ];
        check(model, &names, &["/jointset/pin2/pin2_rot"], &forces, &geometries);
    }
}

#[reference_test]
fn opensim_val_bouncing_balls() {
    let names = Names { bodies: vec!["ground", "ball"], offsets: vec![] };
    let geometries = [
        geometry("sphere", 1, Vec3::zero(), 0.0, ContactShape::Sphere { radius: 0.5 }),
        geometry("floor", 0, Vec3::zero(), FLOOR_TURN, ContactShape::HalfSpace),
    ];
    let ball = force("contact", hunt([0, 1], 1e4, 0.75, [0.3, 0.3, 0.3], 0.1));
    check("core_v20001_BouncingBall_HuntCrossley", &names, &[], &[("/forceset/contact", ball)], &geometries);
    let ball = force("contact", smooth(0, 1, 1e4, 0.75, [0.3, 0.3, 0.3], 0.1));
    check(
        "core_v40000_BouncingBall_SmoothSphereHalfSpace",
        &names,
        &[],
        &[("/forceset/contact", ball)],
        &geometries,
    );
}

fn smooth(
    sphere: usize,
    floor: usize,
    stiffness: f64,
    dissipation: f64,
    friction: [f64; 3],
    vt: f64,
) -> ForceKind {
    ForceKind::SmoothSphereHalfSpaceForce(SmoothSphereHalfSpaceForce {
        sphere: GeometryId(sphere),
        half_space: GeometryId(floor),
        stiffness,
        dissipation,
        static_friction: friction[0],
        dynamic_friction: friction[1],
        viscous_friction: friction[2],
        transition_velocity: vt,
        constant_contact_force: 1e-5,
        hertz_smoothing: 300.0,
        hunt_crossley_smoothing: 50.0,
    })
}

#[reference_test]
fn opensim_val_feet_of_2d_gait() {
    let names = Names { bodies: vec!["ground", "calcn_r", "calcn_l"], offsets: vec![] };
    let heel = vec3(0.031307527581931796, 0.010435842527310599, 0.0);
    let front = |z: f64| vec3(0.1774093229642802, -0.015653763790965898, z);
    let sphere = |radius| ContactShape::Sphere { radius };
    let z = 0.005217921263655299;
    let geometries = [
        geometry("floor", 0, Vec3::zero(), -std::f64::consts::FRAC_PI_2, ContactShape::HalfSpace),
        geometry("heel_r", 1, heel, 0.0, sphere(0.035)),
        geometry("heel_l", 2, heel, 0.0, sphere(0.035)),
        geometry("front_r", 1, front(z), 0.0, sphere(0.015)),
        geometry("front_l", 2, front(-z), 0.0, sphere(0.015)),
    ];
    let foot = |name: &str, g| force(name, smooth(g, 0, 3067776.0, 2.0, [0.8, 0.8, 0.5], 0.2));
    let forces = [
        ("/contactHeel_r", foot("contactHeel_r", 1)),
        ("/contactHeel_l", foot("contactHeel_l", 2)),
        ("/contactFront_r", foot("contactFront_r", 3)),
        ("/contactFront_l", foot("contactFront_l", 4)),
    ];
    check("2D_gait", &names, &[], &forces, &geometries);
}

#[reference_test]
fn opensim_val_bushing_model() {
    let names = Names { bodies: vec!["ground", "ball"], offsets: vec![] };
    let bushing = BushingForce {
        frame1: FrameId(0),
        frame2: FrameId(1),
        rotational_stiffness: Vec3::zero(),
        translational_stiffness: vec3(10.0, 10.0, 10.0),
        rotational_damping: Vec3::zero(),
        translational_damping: Vec3::zero(),
    };
    let forces = [("/forceset/bushing", force("bushing", ForceKind::BushingForce(bushing)))];
    check("core_v30000_BushingForceModel", &names, &[], &forces, &[]);
}

#[reference_test]
fn opensim_val_ankle_limit() {
    let names = Names { bodies: vec!["ground"], offsets: vec![] };
    let limit = CoordinateLimitForce {
        coordinate: CoordinateId(0),
        upper_stiffness: 10.0,
        upper_limit: 5.0,
        lower_stiffness: 1.0,
        lower_limit: -90.0,
        damping: 0.01,
        transition: 2.0,
        compute_dissipation_energy: false,
    };
    let name = "AnkleLimitSpringDamper";
    let forces = [("/forceset/AnkleLimitSpringDamper", force(name, ForceKind::CoordinateLimitForce(limit)))];
    check("subject01_metabolics_spring", &names, &["/jointset/ankle_r/ankle_angle_r"], &forces, &[]);
}
