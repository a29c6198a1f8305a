//! Small models for the tests of this crate.

use soleus_math::Random;
use soleus_math::{SymMat33, Transform, Vec3, vec3};
use soleus_model::Model;
use soleus_model::body::{Body, Frame, Marker};
use soleus_model::constraint::{Constraint, ConstraintKind};
use soleus_model::id::{BodyId, CoordinateId, FrameId, JointId};
use soleus_model::joint::{Coordinate, Joint, JointKind, MotionType};
use soleus_model::model::STANDARD_GRAVITY;

/// A chain from ground, one body per joint, each with four markers `<body>_<i>`.
pub fn chain(kinds: Vec<(JointKind, usize)>) -> Model {
    let mut m = Model { name: "chain".into(), gravity: STANDARD_GRAVITY, ..Model::default() };
    push_body(&mut m, "ground", 0.0);
    for (i, (kind, n)) in kinds.into_iter().enumerate() {
        let name = format!("b{i}");
        let body = push_body(&mut m, &name, 1.0 + 0.3 * i as f64);
        let own = m.bodies[body.0].frame;
        let parent = push_frame(&mut m, BodyId(body.0 - 1), vec3(0.05, -0.3, 0.02), vec3(0.1, -0.2, 0.3));
        let child = push_frame(&mut m, body, vec3(0.0, 0.1, -0.03), vec3(0.2, 0.0, -0.1));
        let joint = JointId(m.joints.len());
        let coordinates = (0..n).map(|k| CoordinateId(m.coordinates.len() + k)).collect();
        for k in 0..n {
            let motion_type = match kind {
                JointKind::Slider => MotionType::Translational,
                JointKind::Free if k >= 3 => MotionType::Translational,
                _ => MotionType::Rotational,
            };
            m.coordinates.push(coordinate(joint, format!("q{i}_{k}"), motion_type));
        }
        let (name, path) = (format!("j{i}"), format!("/jointset/j{i}"));
        m.joints.push(Joint { name, path, kind, parent, child, coordinates });
        for k in 0..4 {
            let r = numbers(17 * i as u64 + k, 3);
            let name = format!("b{i}_{k}");
            let path = format!("/markerset/{name}");
            let location = vec3(0.1 * r[0], -0.15 + 0.1 * r[1], 0.1 * r[2]);
            m.markers.push(Marker { name, path, frame: own, location, fixed: false });
        }
    }
    m
}

fn coordinate(joint: JointId, name: String, motion_type: MotionType) -> Coordinate {
    Coordinate {
        path: format!("/jointset/j{}/{name}", joint.0),
        name,
        joint,
        motion_type,
        default_value: 0.0,
        default_speed: 0.0,
        range: [-3.0, 3.0],
        clamped: false,
        locked: false,
        prescribed: false,
        prescribed_function: None,
        is_free_to_satisfy_constraints: false,
    }
}

fn push_frame(m: &mut Model, body: BodyId, p: Vec3<f64>, angles: Vec3<f64>) -> FrameId {
    let id = FrameId(m.frames.len());
    let X_BF = Transform::from_offset(p, angles);
    m.frames.push(Frame {
        name: format!("f{}", id.0),
        path: format!("/f{}", id.0),
        body,
        X_BF,
        offset_from: None,
    });
    id
}

fn push_body(m: &mut Model, name: &str, mass: f64) -> BodyId {
    let body = BodyId(m.bodies.len());
    let frame = push_frame(m, body, Vec3::zero(), Vec3::zero());
    let unit = if mass > 0.0 { 1.0 } else { 0.0 };
    m.bodies.push(Body {
        name: name.into(),
        path: format!("/bodyset/{name}"),
        mass,
        mass_center: vec3(0.02, -0.11, 0.03) * unit,
        inertia: SymMat33 { xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.001, xz: -0.002, yz: 0.0015 }.scale(unit),
        frame,
    });
    body
}

/// Adds a constraint.
pub fn constrain(m: &mut Model, kind: ConstraintKind) {
    let name = format!("c{}", m.constraints.len());
    m.constraints.push(Constraint { path: format!("/constraintset/{name}"), name, enforced: true, kind });
}

/// Numbers in [−1, 1), the same every time.
pub fn numbers(seed: u64, n: usize) -> Vec<f64> {
    Random::new(seed).vector(n, 1.0)
}
