//! Joints and their coordinates.

use crate::id::{CoordinateId, FrameId, JointId};
use soleus_math::{Function, Vec3};

/// Connection of a child frame to a parent frame, and its coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name in the file.
    pub name: String,
    /// Absolute component path, `/jointset/knee_r`.
    pub path: String,
    /// Kind of joint.
    pub kind: JointKind,
    /// `socket_parent_frame`: frame F on the parent body.
    pub parent: FrameId,
    /// `socket_child_frame`: frame M on the child body.
    pub child: FrameId,
    /// Its coordinates in the order of its mobilities.
    pub coordinates: Vec<CoordinateId>,
}

/// The motion of frame M in frame F that a joint allows.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // A model has few joints, and most are custom ones.
pub enum JointKind {
    /// None.
    Weld,
    /// Rotation about the common z axis.
    Pin,
    /// Translation along the common x axis.
    Slider,
    /// Rotation about z, then translation along x and y of F.
    Planar,
    /// Rotation about x of F, then y of M.
    Universal,
    /// Body-fixed rotations x, y, z; speeds are the rates of the angles.
    Gimbal,
    /// Body-fixed angles x, y, z; **speeds are the angular velocity of M in F, in F**.
    Ball,
    /// As `Ball`, then translation along x, y, z of F.
    Free,
    /// M slides on an ellipsoid fixed to F with its z axis along the normal; coordinates and speeds as `Ball`.
    Ellipsoid {
        /// `radii_x_y_z`, m.
        radii: Vec3<f64>,
    },
    /// Seth et al. (2016): an ellipsoid joint on the thorax followed by a winging hinge of the scapula.
    Scapulothoracic {
        /// `thoracic_ellipsoid_radii_x_y_z`, m.
        radii: Vec3<f64>,
        /// `scapula_winging_axis_origin`, x and y in the child frame, m.
        winging_origin: [f64; 2],
        /// `scapula_winging_axis_direction`, rad.
        winging_direction: f64,
    },
    /// M at the end of an arc of constant length that starts at F along y; body-fixed rotations x, z, y.
    ConstantCurvature {
        /// `neutral_angle_x_z_y`, added to the coordinates, rad.
        neutral_angles: Vec3<f64>,
        /// `length` of the arc, m.
        length: f64,
    },
    /// M at the end of a bent beam that starts at F along z; coordinates and speeds as `Gimbal`.
    CantileverFreeBeam {
        /// `beam_length`, m.
        length: f64,
    },
    /// Six axes with functions of the coordinates.
    Custom(SpatialTransform),
}

/// The six axes of a `CustomJoint`: three rotations in body-fixed order, three translations in F.
#[derive(Clone, Debug, PartialEq)]
pub struct SpatialTransform {
    /// `rotation1` … `rotation3`, `translation1` … `translation3`.
    pub axes: [TransformAxis; 6],
}

/// One axis of a `SpatialTransform`.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformAxis {
    /// Unit vector.
    pub axis: Vec3<f64>,
    /// Arguments of the function, as indices into the joint's list of coordinates.
    pub arguments: Vec<usize>,
    /// Angle (rad) or distance (m) as a function of those coordinates.
    pub function: Function,
}

/// Type of motion of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotionType {
    /// Rotation about an axis; files and tables may use degrees.
    Rotational,
    /// Translation along a line.
    Translational,
    /// Both, through functions.
    Coupled,
}

/// One coordinate of a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Name in the file.
    pub name: String,
    /// Absolute component path, `/jointset/knee_r/knee_angle_r`.
    pub path: String,
    /// The joint it belongs to.
    pub joint: JointId,
    /// Type of motion.
    pub motion_type: MotionType,
    /// `default_value`, rad or m.
    pub default_value: f64,
    /// `default_speed_value`, rad/s or m/s.
    pub default_speed: f64,
    /// `range`, rad or m.
    pub range: [f64; 2],
    /// `clamped`: whether tools keep it within `range`.
    pub clamped: bool,
    /// `locked`: held at its default value by a constraint.
    pub locked: bool,
    /// `prescribed`: follows `prescribed_function` through a constraint.
    pub prescribed: bool,
    /// `prescribed_function` of time.
    pub prescribed_function: Option<Function>,
    /// `is_free_to_satisfy_constraints`: changed before other coordinates in assembly.
    pub is_free_to_satisfy_constraints: bool,
}

impl JointKind {
    /// Class name in OpenSim files.
    pub fn class(&self) -> &'static str {
        match self {
            JointKind::Weld => "WeldJoint",
            JointKind::Pin => "PinJoint",
            JointKind::Slider => "SliderJoint",
            JointKind::Planar => "PlanarJoint",
            JointKind::Universal => "UniversalJoint",
            JointKind::Gimbal => "GimbalJoint",
            JointKind::Ball => "BallJoint",
            JointKind::Free => "FreeJoint",
            JointKind::Ellipsoid { .. } => "EllipsoidJoint",
            JointKind::Scapulothoracic { .. } => "ScapulothoracicJoint",
            JointKind::ConstantCurvature { .. } => "ConstantCurvatureJoint",
            JointKind::CantileverFreeBeam { .. } => "CantileverFreeBeamJoint",
            JointKind::Custom(_) => "CustomJoint",
        }
    }
}
