//! Paths of muscles, ligaments and springs, as plain data.

use crate::id::{CoordinateId, FrameId, GeometryId, WrapId};
use soleus_math::{Function, Transform, Vec3};

/// The side of a wrap object on which a path may lie.
///
/// The half space axis·sign ≥ 0 of the object's own frame, or the whole surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quadrant {
    /// The whole surface (`all`).
    #[default]
    All,
    /// One half: the axis (0, 1, 2 for x, y, z) and whether its positive side.
    Half {
        /// 0, 1, 2 for x, y, z.
        axis: u8,
        /// Whether it is the side with a positive coordinate.
        positive: bool,
    },
}

impl Quadrant {
    /// Reads the names in model files: `all`, `x`, `+x`, `-x`, …, ignoring case.
    pub fn from_word(word: &str) -> Option<Quadrant> {
        if matches!(word, "all" | "All" | "ALL" | "Unassigned") {
            return Some(Quadrant::All);
        }
        let (positive, letter) = match word.strip_prefix('-') {
            Some(rest) => (false, rest),
            None => (true, word.strip_prefix('+').unwrap_or(word)),
        };
        let axis = match letter {
            "x" | "X" => 0,
            "y" | "Y" => 1,
            "z" | "Z" => 2,
            _ => return None,
        };
        Some(Quadrant::Half { axis, positive })
    }
}

/// The surface of a wrap object, in the object's own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WrapShape {
    /// A cylinder about z, centred at the origin.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Total length along z, m.
        length: f64,
    },
    /// A sphere about the origin.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// An ellipsoid about the origin with its axes along x, y, z.
    Ellipsoid {
        /// The three semi-axes, m.
        dimensions: Vec3<f64>,
    },
    /// A torus about z; a path passes through its hole.
    Torus {
        /// Radius of the tube, m.
        inner_radius: f64,
        /// Radius of the circle at the centre of the tube, m.
        outer_radius: f64,
    },
}

/// A surface around which paths wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct WrapObject {
    /// Name, as used in paths.
    pub name: String,
    /// Absolute path of the component.
    pub path: String,
    /// The frame it is fixed to.
    pub frame: FrameId,
    /// Its pose in that frame.
    pub pose: Transform<f64>,
    /// Whether it is active.
    pub active: bool,
    /// Side on which a path may lie.
    pub quadrant: Quadrant,
    /// Surface.
    pub shape: WrapShape,
}

/// A point that a path passes through.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// Name.
    pub name: String,
    /// Frame of the point.
    pub frame: FrameId,
    /// Location and condition.
    pub kind: PathPointKind,
}

/// One component of the location of a moving point.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingComponent {
    /// The component, m, as a function of the coordinate.
    pub function: Function,
    /// The coordinate; if `None`, the function is evaluated at 0.
    pub coordinate: Option<CoordinateId>,
}

/// Location and condition of a path point.
// Moving points are large and rare; a box would save little and get in the way of whoever builds one.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum PathPointKind {
    /// At a fixed location in its frame, m.
    Fixed(Vec3<f64>),
    /// Part of the path only while a coordinate is in a range.
    Conditional {
        /// Location in the frame, m.
        location: Vec3<f64>,
        /// The coordinate.
        coordinate: CoordinateId,
        /// Range of the coordinate (rad or m) in which the point is active.
        range: [f64; 2],
    },
    /// At a location in its frame that depends on a coordinate.
    Moving {
        /// First component.
        x: MovingComponent,
        /// Second component.
        y: MovingComponent,
        /// Third component.
        z: MovingComponent,
        /// Range of the coordinate (rad or m); the location is constant outside it.
        range: [f64; 2],
    },
}

/// How the plane in which a path crosses an ellipsoid is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrapMethod {
    /// A smooth blend of the other two.
    #[default]
    Hybrid,
    /// Through the surface point nearest to the middle of the line inside.
    Midpoint,
    /// Through the nearest point of the section across the axis most along the line.
    Axial,
}

impl WrapMethod {
    /// Reads the names in model files.
    pub fn from_word(word: &str) -> Option<WrapMethod> {
        match word {
            "hybrid" | "Hybrid" | "HYBRID" | "Unassigned" => Some(WrapMethod::Hybrid),
            "midpoint" | "Midpoint" | "MIDPOINT" => Some(WrapMethod::Midpoint),
            "axial" | "Axial" | "AXIAL" => Some(WrapMethod::Axial),
            _ => None,
        }
    }
}

/// A path's use of a wrap object.
#[derive(Clone, Debug, PartialEq)]
pub struct PathWrap {
    /// The wrap object.
    pub wrap: WrapId,
    /// Method for ellipsoids; not used for other shapes.
    pub method: WrapMethod,
    /// First and last path point, counted from 1, between which the path may wrap; a value below 1 means the first or
    /// the last point of the path.
    pub range: [i32; 2],
}

/// A path defined by points and wrap surfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeometryPath {
    /// Points in order from origin to insertion.
    pub points: Vec<PathPoint>,
    /// Surfaces in the order in which they are tried.
    pub wraps: Vec<PathWrap>,
}

/// A path defined by its length as a function of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionBasedPath {
    /// Arguments of the functions, in order.
    pub coordinates: Vec<CoordinateId>,
    /// Length, m.
    pub length: Function,
    /// Moment arm for each coordinate; empty for −∂length/∂q.
    pub moment_arms: Vec<Function>,
    /// Lengthening speed, m/s, as a function of the coordinates followed by their speeds; default: −Σ moment arm ·
    /// speed.
    pub speed: Option<Function>,
    /// Coordinates that change the length but get no torque (`coordinates_without_torque`, not a property of OpenSim).
    /// This violates the principle of virtual work; the predicted gaits of Falisse et al. (2022) do so at the toes.
    pub without_torque: Vec<CoordinateId>,
}

/// A contact geometry over which a path may wrap.
#[derive(Clone, Debug, PartialEq)]
pub struct PathObstacle {
    /// Name.
    pub name: String,
    /// Socket `contact_geometry`: the surface.
    pub geometry: GeometryId,
    /// `contact_hint`: a point near the surface, in its frame, m, from which the search for the path starts, which
    /// determines the side. Without it the path touches the surface only if it would otherwise pass through.
    pub contact_hint: Option<Vec3<f64>>,
}

/// Elements of a path over obstacles.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Scholz2015Element {
    /// A path point, fixed to its frame.
    Point(PathPoint),
    /// A surface over which it may wrap.
    Obstacle(PathObstacle),
}

/// The shortest path over obstacles between points (`Scholz2015GeometryPath`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scholz2015Path {
    /// Points and obstacles in order from origin to insertion; the first and the last are points.
    pub elements: Vec<Scholz2015Element>,
}

impl Scholz2015Path {
    /// Its points in order.
    pub fn points(&self) -> impl Iterator<Item = &PathPoint> {
        self.elements.iter().filter_map(|e| match e {
            Scholz2015Element::Point(p) => Some(p),
            Scholz2015Element::Obstacle(_) => None,
        })
    }
    /// Its obstacles in order.
    pub fn obstacles(&self) -> impl Iterator<Item = &PathObstacle> {
        self.elements.iter().filter_map(|e| match e {
            Scholz2015Element::Point(_) => None,
            Scholz2015Element::Obstacle(o) => Some(o),
        })
    }
}

/// Path of a force.
#[derive(Clone, Debug, PartialEq)]
pub enum Path {
    /// Points and surfaces.
    Geometry(GeometryPath),
    /// A length function.
    FunctionBased(FunctionBasedPath),
    /// Geodesics over obstacles.
    Scholz2015(Scholz2015Path),
}

impl Path {
    /// Points in order; empty for a function-based path.
    pub fn points(&self) -> Vec<&PathPoint> {
        match self {
            Path::Geometry(p) => p.points.iter().collect(),
            Path::FunctionBased(_) => Vec::new(),
            Path::Scholz2015(p) => p.points().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_quadrant_words() {
        assert_eq!(Quadrant::from_word("all"), Some(Quadrant::All));
        assert_eq!(Quadrant::from_word("-Y"), Some(Quadrant::Half { axis: 1, positive: false }));
        assert_eq!(Quadrant::from_word("z"), Some(Quadrant::Half { axis: 2, positive: true }));
        assert_eq!(Quadrant::from_word("+x"), Some(Quadrant::Half { axis: 0, positive: true }));
        assert_eq!(Quadrant::from_word("+-x"), None);
        assert_eq!(Quadrant::from_word(""), None);
    }
}
