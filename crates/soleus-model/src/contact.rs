//! Contact geometry as plain data.

use crate::id::FrameId;
use soleus_math::{Transform, Vec3};

/// A shape fixed to a frame, named by contact forces (`ContactSphere`, `ContactHalfSpace`, …).
#[derive(Clone, Debug, PartialEq)]
pub struct ContactGeometry {
    /// `name`.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// Socket `frame`: the frame that carries the shape.
    pub frame: FrameId,
    /// `location` of the shape's origin in the frame, m. Default 0.
    pub location: Vec3<f64>,
    /// `orientation` of the shape in the frame, body-fixed X-Y-Z angles, rad. Default 0.
    pub orientation: Vec3<f64>,
    /// Shape.
    pub shape: ContactShape,
}

impl ContactGeometry {
    /// Pose X_FS of the shape in its frame.
    pub fn pose_in_frame(&self) -> Transform<f64> {
        Transform::from_offset(self.location, self.orientation)
    }
}

/// The shape of a contact geometry, in the shape's own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum ContactShape {
    /// `ContactHalfSpace`: all points with x > 0.
    HalfSpace,
    /// `ContactSphere` about the origin.
    Sphere {
        /// `radius`, m.
        radius: f64,
    },
    /// `ContactEllipsoid` about the origin.
    Ellipsoid {
        /// `radii`, the semi-axes, m.
        radii: Vec3<f64>,
    },
    /// `ContactCylinder` along z; used by paths only.
    Cylinder {
        /// `radius`, m.
        radius: f64,
    },
    /// `ContactTorus` about z; used by paths only.
    Torus {
        /// `torus_radius`, of the centre circle, m.
        torus_radius: f64,
        /// `tube_radius`, m.
        tube_radius: f64,
    },
    /// `ContactMesh`.
    Mesh {
        /// `filename`, as the model gives it.
        filename: String,
        /// The mesh, once it has been read.
        mesh: Option<TriangleMesh>,
    },
}

impl ContactShape {
    /// Class name in OpenSim files.
    pub fn class(&self) -> &'static str {
        match self {
            ContactShape::HalfSpace => "ContactHalfSpace",
            ContactShape::Sphere { .. } => "ContactSphere",
            ContactShape::Ellipsoid { .. } => "ContactEllipsoid",
            ContactShape::Cylinder { .. } => "ContactCylinder",
            ContactShape::Torus { .. } => "ContactTorus",
            ContactShape::Mesh { .. } => "ContactMesh",
        }
    }
}

/// A closed surface of triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Positions of the vertices, m.
    pub vertices: Vec<Vec3<f64>>,
    /// Three vertex numbers for each face, counter-clockwise seen from outside.
    pub faces: Vec<[u32; 3]>,
}
