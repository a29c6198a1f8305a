//! A whole model: all components by name, with resolved sockets.

use crate::body::{Body, Frame, Marker};
use crate::constraint::{Constraint, ConstraintKind};
use crate::contact::ContactGeometry;
use crate::controller::Controller;
use crate::force::Force;
use crate::id::{CoordinateId, FrameId};
use crate::joint::{Coordinate, Joint};
use crate::path::WrapObject;
use crate::probe::Probe;
use soleus_math::{Vec3, vec3};
use std::collections::BTreeMap;

/// A musculoskeletal model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Name in the file.
    pub name: String,
    /// `credits`.
    pub credits: String,
    /// `publications`.
    pub publications: String,
    /// `length_units`, as in the file.
    pub length_units: String,
    /// `force_units`, as in the file.
    pub force_units: String,
    /// Version of the file it was read from; 0 if there is none.
    pub file_version: u32,
    /// `gravity`, m/s², in ground.
    pub gravity: Vec3<f64>,
    /// Bodies; the first is ground.
    pub bodies: Vec<Body>,
    /// Frames fixed to bodies, including the bodies' own.
    pub frames: Vec<Frame>,
    /// Joints in file order.
    pub joints: Vec<Joint>,
    /// Coordinates, joint by joint in file order.
    pub coordinates: Vec<Coordinate>,
    /// Constraints in file order.
    pub constraints: Vec<Constraint>,
    /// Markers in file order.
    pub markers: Vec<Marker>,
    /// `Station`s that are separate components, in file order.
    pub stations: Vec<Marker>,
    /// Inertial sensors in order of traversal.
    pub imus: Vec<Imu>,
    /// Named groups of the model's sets.
    pub groups: Vec<ObjectGroup>,
    /// Components of the file that are not in the model.
    pub unsupported: Vec<Unsupported>,
    /// Wrap objects, body by body.
    pub wraps: Vec<WrapObject>,
    /// Contact geometries in file order.
    pub contact_geometries: Vec<ContactGeometry>,
    /// Forces, muscles and actuators, in the order of OpenSim's component list.
    pub forces: Vec<Force>,
    /// Controllers in file order.
    pub controllers: Vec<Controller>,
    /// Probes and metabolics in order of traversal.
    pub probes: Vec<Probe>,
    /// Line of each component in the file, from 1, by absolute path; for messages only.
    pub lines: BTreeMap<String, u32>,
}

/// An inertial sensor: `IMU`.
#[derive(Clone, Debug, PartialEq)]
pub struct Imu {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// The frame whose orientation and acceleration it measures.
    pub frame: FrameId,
}

/// A named group of members of a set: `ObjectGroup`.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectGroup {
    /// The set it belongs to, `ForceSet`.
    pub set: String,
    /// Name in the file.
    pub name: String,
    /// Names of the members.
    pub members: Vec<String>,
}

/// A component of the file that is not in the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// Absolute component path.
    pub path: String,
    /// Class name in the file.
    pub class: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Description of the effect of its absence.
    pub effect: String,
}

impl Model {
    /// Sum of the bodies' masses, kg.
    pub fn total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.mass).sum()
    }

    /// Line of the component with that absolute path, from 1; that of the nearest parent component if it has no line of
    /// its own, and 0 if the model does not come from a file.
    pub fn line_of(&self, path: &str) -> u32 {
        let mut path = path;
        loop {
            match (self.lines.get(path), path.rfind('/')) {
                (Some(&line), _) if line > 0 => return line,
                (_, Some(end)) => path = &path[..end],
                (_, None) => return 0,
            }
        }
    }

    /// Whether an enforced coupler makes a coordinate dependent on others.
    pub fn is_dependent(&self, id: CoordinateId) -> bool {
        let couples = |k: &ConstraintKind| matches!(k, ConstraintKind::CoordinateCoupler { dependent, .. } if *dependent == id);
        self.constraints.iter().any(|c| c.enforced && couples(&c.kind))
    }

    /// Whether a coordinate cannot move independently: locked, prescribed, or coupled to others.
    pub fn is_constrained(&self, id: CoordinateId) -> bool {
        let c = &self.coordinates[id.0];
        c.locked || c.prescribed || self.is_dependent(id)
    }

    /// The coordinate with that name or absolute path.
    pub fn coordinate(&self, name: &str) -> Option<CoordinateId> {
        self.coordinates.iter().position(|c| c.path == name || c.name == name).map(CoordinateId)
    }
}

/// Default gravity of OpenSim, m/s².
pub const STANDARD_GRAVITY: Vec3<f64> = vec3(0.0, -9.80665, 0.0);
