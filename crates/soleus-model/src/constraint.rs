//! Constraints between bodies and between coordinates.

use crate::id::{CoordinateId, FrameId};
use soleus_math::{Function, Vec3};

/// A kinematic constraint of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// `isEnforced`: disabled constraints are kept but have no effect.
    pub enforced: bool,
    /// Kind of constraint.
    pub kind: ConstraintKind,
}

/// Kinds of constraints. Points are given in the frame's **body**, as in OpenSim, where the field says so.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// scale · f(independent…) − dependent = 0.
    CoordinateCoupler {
        /// `independent_coordinate_names`.
        independent: Vec<CoordinateId>,
        /// `dependent_coordinate_name`.
        dependent: CoordinateId,
        /// `coupled_coordinates_function`.
        function: Function,
        /// `scale_factor`.
        scale: f64,
    },
    /// Two points coincide (three equations).
    Point {
        /// `socket_body_1`.
        body_1: FrameId,
        /// `socket_body_2`.
        body_2: FrameId,
        /// `location_body_1`, in body 1, m.
        location_1: Vec3<f64>,
        /// `location_body_2`, in body 2, m.
        location_2: Vec3<f64>,
    },
    /// Two frames coincide (six equations).
    Weld {
        /// `socket_frame1`.
        frame_1: FrameId,
        /// `socket_frame2`.
        frame_2: FrameId,
    },
    /// Two points at a constant distance (one equation).
    ConstantDistance {
        /// `socket_body_1`.
        body_1: FrameId,
        /// `socket_body_2`.
        body_2: FrameId,
        /// `location_body_1`, in body 1, m.
        location_1: Vec3<f64>,
        /// `location_body_2`, in body 2, m.
        location_2: Vec3<f64>,
        /// `constant_distance`, m.
        distance: f64,
    },
    /// A point of the follower stays on a line (two equations).
    PointOnLine {
        /// `socket_line_body`.
        line_body: FrameId,
        /// `socket_follower_body`.
        follower_body: FrameId,
        /// `line_direction_vec`, in the line body.
        direction: Vec3<f64>,
        /// `point_on_line`, in the line body, m.
        point_on_line: Vec3<f64>,
        /// `point_on_follower`, in the follower body, m.
        point_on_follower: Vec3<f64>,
    },
    /// A frame origin rolls without slipping on a plane (two holonomic, two speed equations).
    RollingOnSurface {
        /// `socket_rolling_body`.
        rolling_body: FrameId,
        /// `socket_surface_body`.
        surface_body: FrameId,
        /// `surface_normal`, in the surface body.
        normal: Vec3<f64>,
        /// `surface_height`, m.
        height: f64,
        /// `friction_coefficient`.
        friction: f64,
        /// `contact_radius`, m.
        radius: f64,
    },
}

impl ConstraintKind {
    /// Class name in OpenSim files.
    pub fn class(&self) -> &'static str {
        match self {
            ConstraintKind::CoordinateCoupler { .. } => "CoordinateCouplerConstraint",
            ConstraintKind::Point { .. } => "PointConstraint",
            ConstraintKind::Weld { .. } => "WeldConstraint",
            ConstraintKind::ConstantDistance { .. } => "ConstantDistanceConstraint",
            ConstraintKind::PointOnLine { .. } => "PointOnLineConstraint",
            ConstraintKind::RollingOnSurface { .. } => "RollingOnSurfaceConstraint",
        }
    }
}
