//! Bodies and the frames fixed to them.

use crate::id::{BodyId, FrameId};
use soleus_math::{SymMat33, Transform, Vec3};

/// A rigid body. Index 0 of the model's list is ground, which has no mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name in the file.
    pub name: String,
    /// Absolute component path, `/bodyset/tibia_r`.
    pub path: String,
    /// `mass`, kg.
    pub mass: f64,
    /// `mass_center`, from the body's origin, in the body, m.
    pub mass_center: Vec3<f64>,
    /// `inertia` about the mass centre, kg·m².
    pub inertia: SymMat33<f64>,
    /// The body's own frame.
    pub frame: FrameId,
}

/// A frame fixed to a body: the body itself, a `PhysicalOffsetFrame`, a `StationDefinedFrame`.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// The body that carries it.
    pub body: BodyId,
    /// Pose in that body.
    pub X_BF: Transform<f64>,
    /// The frame in which the `translation` and `orientation` of an offset frame are given; `None` for bodies and other
    /// frames.
    pub offset_from: Option<FrameId>,
}

/// A point of interest: a `Marker` or a `Station`.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// The frame in which it is given.
    pub frame: FrameId,
    /// Location in that frame, m.
    pub location: Vec3<f64>,
    /// `fixed`: whether the scale tool's marker placer must not move it.
    pub fixed: bool,
}
