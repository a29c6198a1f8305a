//! The subject on the platform (section 5.3): a gait model without muscles, five spheres under each foot, and a body that moves.

use soleus_math::function::Step;
use soleus_math::{Function, SymMat33, Transform, Vec3, vec3};
use soleus_model::Model;
use soleus_model::body::{Body, Frame};
use soleus_model::contact::{ContactGeometry, ContactShape};
use soleus_model::force::{
    ContactParameters, ControlRange, CoordinateActuator, Force, ForceKind, HuntCrossleyForce,
};
use soleus_model::id::{BodyId, CoordinateId, FrameId, GeometryId, JointId};
use soleus_model::joint::{Coordinate, Joint, JointKind, MotionType};
use std::f64::consts::FRAC_PI_2;

/// Coordinates of the subject as a whole: turned and carried by nothing but the platform.
pub const ROOT: [&str; 6] =
    ["pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_tx", "pelvis_ty", "pelvis_tz"];

/// A pad under the right foot: the body that carries it, its centre there (m), its radius (m).
///
/// Heel, ball of the big toe and small toe lie where the senior author's later model has them (ToyLandingModel, OpenSim 4); their heights are
/// shifted by up to 8 mm, so that all soles are 20 mm below the origin of the calcaneus. The other two are ours.
const PADS: [(&str, [f64; 3], f64); 5] = [
    ("calcn_r", [0.010, 0.010, -0.005], 0.030), // heel
    ("calcn_r", [0.090, -0.005, 0.030], 0.015), // outer edge
    ("toes_r", [-0.005, 0.002, -0.030], 0.020), // ball of the big toe
    ("toes_r", [-0.040, -0.003, 0.040], 0.015), // small toe
    ("toes_r", [0.040, -0.003, -0.025], 0.015), // tip of the big toe
];

/// What the platform does: from rest to rest along a smooth step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// m; forward is positive.
    pub shift: f64,
    /// s.
    pub duration: f64,
}

/// What holds the joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joints {
    /// Constant torques.
    Free,
    /// They do not move.
    Locked,
}

/// Makes the subject of a gait model: muscles and everything passive go, contact with a platform comes.
pub fn on_platform(mut model: Model) -> Option<Model> {
    model.forces.clear();
    model.controllers.clear();
    model.probes.clear();
    let platform = add_platform(&mut model);
    let surface = ContactGeometry {
        name: "platform_surface".into(),
        path: "/contactgeometryset/platform_surface".into(),
        frame: platform,
        location: Vec3::zero(),
        orientation: vec3(0.0, 0.0, -FRAC_PI_2), // outside is up
        shape: ContactShape::HalfSpace,
    };
    let mut touching = vec![add_geometry(&mut model, surface)];
    for (body, [x, y, z], radius) in PADS {
        for (side, sign) in [("_r", 1.0), ("_l", -1.0)] {
            let body = body.replace("_r", side);
            let frame = model.bodies.iter().find(|b| b.name == body)?.frame;
            let name = format!("pad{}", touching.len());
            let pad = ContactGeometry {
                path: format!("/contactgeometryset/{name}"),
                name,
                frame,
                location: vec3(x, y, sign * z),
                orientation: Vec3::zero(),
                shape: ContactShape::Sphere { radius },
            };
            touching.push(add_geometry(&mut model, pad));
        }
    }
    // As in the ToyLandingModel.
    let skin = ContactParameters {
        geometry: touching,
        stiffness: 1e8,
        dissipation: 0.5,
        static_friction: 0.9,
        dynamic_friction: 0.9,
        viscous_friction: 0.6,
    };
    let contact = HuntCrossleyForce { contact_parameters: vec![skin], transition_velocity: 0.1 };
    model.forces.push(force("feet", "HuntCrossleyForce", ForceKind::HuntCrossleyForce(contact)));
    for joint in joints(&model) {
        let actuator =
            CoordinateActuator { control: ControlRange::default(), coordinate: joint, optimal_force: 1.0 };
        let name = format!("{}_torque", model.coordinates[joint.0].name);
        model.forces.push(force(&name, "CoordinateActuator", ForceKind::CoordinateActuator(actuator)));
    }
    Some(model)
}

/// Coordinates of legs and back.
pub fn joints(model: &Model) -> Vec<CoordinateId> {
    let is_joint = |c: &Coordinate| !ROOT.contains(&c.name.as_str()) && c.name != PLATFORM;
    (0..model.coordinates.len()).filter(|&c| is_joint(&model.coordinates[c])).map(CoordinateId).collect()
}

/// The coordinate along which the platform moves, forward.
const PLATFORM: &str = "platform_tx";

/// The same subject in a posture (values of all coordinates), joints held as said, on a platform that moves as said.
pub fn perturbed(model: &Model, posture: &[f64], held: Joints, push: Push) -> Model {
    let mut model = model.clone();
    model.coordinates.iter_mut().zip(posture).for_each(|(c, q)| c.default_value = *q);
    for joint in joints(&model) {
        model.coordinates[joint.0].locked = held == Joints::Locked;
    }
    if let Some(c) = model.coordinates.iter_mut().find(|c| c.name == PLATFORM) {
        c.prescribed_function = Step::new(0.0, push.duration, 0.0, push.shift).ok().map(Function::from);
    }
    model
}

/// A box that slides along x. The paper's platform has three translations, of which only this one is used.
fn add_platform(model: &mut Model) -> FrameId {
    let (body, frame) = (BodyId(model.bodies.len()), FrameId(model.frames.len()));
    let (joint, coordinate) = (JointId(model.joints.len()), CoordinateId(model.coordinates.len()));
    let path = "/bodyset/platform".to_string();
    model.frames.push(Frame {
        name: "platform".into(),
        path: path.clone(),
        body,
        X_BF: Transform::identity(),
        offset_from: None,
    });
    let inertia = SymMat33 { xx: 1e-3, yy: 1e-3, zz: 1e-3, xy: 0.0, xz: 0.0, yz: 0.0 };
    model.bodies.push(Body {
        name: "platform".into(),
        path,
        mass: 1e-3, // moved as prescribed whatever stands on it
        mass_center: Vec3::zero(),
        inertia,
        frame,
    });
    model.coordinates.push(Coordinate {
        name: PLATFORM.into(),
        path: format!("/jointset/platform/{PLATFORM}"),
        joint,
        motion_type: MotionType::Translational,
        default_value: 0.0,
        default_speed: 0.0,
        range: [-1.0, 1.0],
        clamped: false,
        locked: false,
        prescribed: true,
        prescribed_function: Some(Function::Constant(0.0)),
        is_free_to_satisfy_constraints: false,
    });
    model.joints.push(Joint {
        name: "platform".into(),
        path: "/jointset/platform".into(),
        kind: JointKind::Slider,
        parent: model.bodies[BodyId::GROUND.0].frame,
        child: frame,
        coordinates: vec![coordinate],
    });
    frame
}

fn add_geometry(model: &mut Model, geometry: ContactGeometry) -> GeometryId {
    model.contact_geometries.push(geometry);
    GeometryId(model.contact_geometries.len() - 1)
}

fn force(name: &str, class: &str, kind: ForceKind) -> Force {
    let path = format!("/forceset/{name}");
    Force { name: name.into(), path, class: class.into(), enabled: true, line_of_action: None, kind }
}
