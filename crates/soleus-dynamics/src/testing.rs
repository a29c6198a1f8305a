//! Small models, small enough to draw, for the tests of this crate.

use soleus_math::Random;
use soleus_math::{Function, SymMat33, Transform, Vec3, vec3};
use soleus_model::body::{Body, Frame};
use soleus_model::id::{BodyId, CoordinateId, FrameId, JointId};
use soleus_model::joint::{Coordinate, Joint, JointKind, MotionType, SpatialTransform, TransformAxis};
use soleus_model::model::{Model, STANDARD_GRAVITY};

/// A model that is only ground.
pub fn ground() -> Model {
    let mut m = Model { name: "test".into(), gravity: STANDARD_GRAVITY, ..Model::default() };
    m.frames.push(Frame {
        name: "ground".into(),
        path: "/ground".into(),
        body: BodyId::GROUND,
        X_BF: Transform::identity(),
        offset_from: None,
    });
    m.bodies.push(Body {
        name: "ground".into(),
        path: "/ground".into(),
        mass: 0.0,
        mass_center: Vec3::zero(),
        inertia: SymMat33::zero(),
        frame: FrameId(0),
    });
    m
}

/// Adds a frame to a body.
pub fn add_frame(m: &mut Model, body: BodyId, X_BF: Transform<f64>) -> FrameId {
    let id = FrameId(m.frames.len());
    m.frames.push(Frame {
        name: format!("f{}", id.0),
        path: format!("/f{}", id.0),
        body,
        X_BF,
        offset_from: None,
    });
    id
}

/// Adds a body of mass 1 + index kg with an uneven inertia, carried by a joint of the given kind.
pub fn add_body(m: &mut Model, parent: BodyId, kind: JointKind, num_coordinates: usize) -> BodyId {
    let body = BodyId(m.bodies.len());
    let i = body.0 as f64;
    let frame = add_frame(m, body, Transform::identity());
    m.bodies.push(Body {
        name: format!("b{}", body.0),
        path: format!("/bodyset/b{}", body.0),
        mass: 1.0 + 0.3 * i,
        mass_center: vec3(0.02, -0.11, 0.03 * i),
        inertia: SymMat33 { xx: 0.02, yy: 0.03, zz: 0.025, xy: 0.001, xz: -0.002, yz: 0.0015 },
        frame,
    });
    let tilt = vec3(0.1 * i, -0.2, 0.3);
    let parent = add_frame(m, parent, Transform::from_offset(vec3(0.05, -0.2, 0.02), tilt));
    let child = add_frame(m, body, Transform::from_offset(vec3(0.0, 0.1, -0.03), vec3(0.2, 0.0, -0.1)));
    let joint = JointId(m.joints.len());
    let coordinates = (0..num_coordinates).map(|k| CoordinateId(m.coordinates.len() + k)).collect();
    for k in 0..num_coordinates {
        m.coordinates.push(Coordinate {
            name: format!("q{}_{k}", joint.0),
            path: format!("/jointset/j{}/q{}_{k}", joint.0, joint.0),
            joint,
            motion_type: MotionType::Rotational,
            default_value: 0.0,
            default_speed: 0.0,
            range: [-3.0, 3.0],
            clamped: false,
            locked: false,
            prescribed: false,
            prescribed_function: None,
            is_free_to_satisfy_constraints: false,
        });
    }
    m.joints.push(Joint {
        name: format!("j{}", joint.0),
        path: format!("/jointset/j{}", joint.0),
        kind,
        parent,
        child,
        coordinates,
    });
    body
}

/// A custom joint with two coordinates and skew axes.
pub fn knee() -> JointKind {
    let axis = |v: Vec3<f64>, arguments: Vec<usize>, function| TransformAxis {
        axis: v.normalized(),
        arguments,
        function,
    };
    let line = |slope, intercept| Function::Linear { slope, intercept };
    JointKind::Custom(SpatialTransform {
        axes: [
            axis(vec3(0.1, 0.2, 1.0), vec![0], line(1.0, 0.0)),
            axis(vec3(1.0, 0.0, 0.3), vec![1], line(1.0, 0.0)),
            axis(vec3(0.0, 1.0, 0.0), vec![], Function::Constant(0.1)),
            axis(vec3(1.0, 0.0, 0.0), vec![0], line(-0.02, 0.01)),
            axis(vec3(0.0, 1.0, 0.2), vec![1], line(0.03, 0.0)),
            axis(vec3(0.0, 0.0, 1.0), vec![], Function::Constant(0.0)),
        ],
    })
}

/// A branched tree with every kind of joint, two of them reversed: 35 mobilities.
pub fn menagerie() -> Model {
    let mut m = ground();
    let a = add_body(&mut m, BodyId::GROUND, JointKind::Free, 6);
    let b = add_body(&mut m, a, JointKind::Pin, 1);
    let c = add_body(&mut m, b, knee(), 2);
    add_body(&mut m, c, JointKind::Slider, 1);
    let d = add_body(&mut m, a, JointKind::Ball, 3);
    let e = add_body(&mut m, d, JointKind::Universal, 2);
    add_body(&mut m, e, JointKind::Weld, 0);
    let f = add_body(&mut m, a, JointKind::Gimbal, 3);
    add_body(&mut m, f, JointKind::Planar, 3);
    add_body(&mut m, d, JointKind::Ellipsoid { radii: vec3(0.1, 0.15, 0.12) }, 3);
    let neutral_angles = vec3(0.1, -0.2, 0.3);
    let g = add_body(&mut m, d, JointKind::ConstantCurvature { neutral_angles, length: 0.2 }, 3);
    add_body(&mut m, g, JointKind::CantileverFreeBeam { length: 0.15 }, 3);
    // Two joints written from child to parent: the tree turns them round.
    for (parent, kind, n) in [(c, JointKind::Ball, 3), (f, knee(), 2)] {
        add_body(&mut m, parent, kind, n);
        if let Some(j) = m.joints.last_mut() {
            std::mem::swap(&mut j.parent, &mut j.child);
        }
    }
    m
}

/// Numbers in [−1, 1), the same every time.
pub fn numbers(seed: u64, n: usize) -> Vec<f64> {
    Random::new(seed).vector(n, 1.0)
}
