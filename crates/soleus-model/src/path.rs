//! The line along which a muscle, ligament or spring pulls, as plain data.

use crate::id::{CoordinateId, FrameId, GeometryId, WrapId};
use soleus_math::{Function, Transform, Vec3};

/// The side of a wrap object that a path may lie on.
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
        /// The side with a positive coordinate.
        positive: bool,
    },
}

impl Quadrant {
    /// Reads the words of model files: `all`, `x`, `+x`, `-x`, …; the letter may be a capital.
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
        /// Whole length along z, m.
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

/// A surface that paths bend around.
#[derive(Clone, Debug, PartialEq)]
pub struct WrapObject {
    /// Name, as paths refer to it.
    pub name: String,
    /// Absolute path of the component.
    pub path: String,
    /// The frame it is fixed to.
    pub frame: FrameId,
    /// Its pose in that frame.
    pub pose: Transform<f64>,
    /// Whether paths see it at all.
    pub active: bool,
    /// The side a path may lie on.
    pub quadrant: Quadrant,
    /// Its surface.
    pub shape: WrapShape,
}

/// A point that a path passes through.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// Name.
    pub name: String,
    /// The frame that carries it.
    pub frame: FrameId,
    /// Where it is, and when.
    pub kind: PathPointKind,
}

/// One component of the place of a moving point.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingComponent {
    /// The component, m, as a function of the coordinate.
    pub function: Function,
    /// The coordinate; without one the function is read at 0.
    pub coordinate: Option<CoordinateId>,
}

/// Where a path point is, and when.
// Moving points are large and rare; a box would save little and get in the way of whoever builds one.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum PathPointKind {
    /// Always at the same place in its frame, m.
    Fixed(Vec3<f64>),
    /// Part of the path only while a coordinate is inside a range.
    Conditional {
        /// Place in the frame, m.
        location: Vec3<f64>,
        /// The coordinate that decides.
        coordinate: CoordinateId,
        /// Smallest and largest value (rad or m) with which the point is active.
        range: [f64; 2],
    },
    /// At a place in its frame that depends on a coordinate.
    Moving {
        /// First component.
        x: MovingComponent,
        /// Second component.
        y: MovingComponent,
        /// Third component.
        z: MovingComponent,
        /// The range of the coordinate (rad or m): the place stays put outside it.
        range: [f64; 2],
    },
}

/// How an ellipsoid finds the plane in which a path crosses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WrapMethod {
    /// A blend of the two others that stays smooth.
    #[default]
    Hybrid,
    /// Through the surface point nearest to the middle of the line inside.
    Midpoint,
    /// Through the nearest point of the section across the axis most along the line.
    Axial,
}

impl WrapMethod {
    /// Reads the words of model files.
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
    /// How an ellipsoid picks its plane; other shapes do not ask.
    pub method: WrapMethod,
    /// First and last path point, counted from 1, between which the path may wrap; a value below 1
    /// stands for the first or the last point of the path.
    pub range: [i32; 2],
}

/// A path given by points and the surfaces between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeometryPath {
    /// Points in order from origin to insertion.
    pub points: Vec<PathPoint>,
    /// Surfaces in the order they are tried.
    pub wraps: Vec<PathWrap>,
}

/// A path given by its length as a function of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionBasedPath {
    /// The coordinates the functions take, in order.
    pub coordinates: Vec<CoordinateId>,
    /// Length, m.
    pub length: Function,
    /// Moment arm for each coordinate; empty for −∂length/∂q.
    pub moment_arms: Vec<Function>,
    /// Lengthening speed, m/s, of the coordinates followed by their speeds; without it,
    /// −Σ moment arm · speed.
    pub speed: Option<Function>,
    /// Coordinates that change the length but feel no torque (`coordinates_without_torque`, not a property of OpenSim). It breaks the law of virtual
    /// work; predicted walks of Falisse et al. (2022) do it at the toes.
    pub without_torque: Vec<CoordinateId>,
}

/// A contact geometry that a path lies on where it has to go around it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathObstacle {
    /// Name.
    pub name: String,
    /// Socket `contact_geometry`: the surface.
    pub geometry: GeometryId,
    /// `contact_hint`: a place near the surface, in its frame, m, from which the search for the path starts and which thereby
    /// chooses the side. Without one the path touches the surface only if it would otherwise go through.
    pub contact_hint: Option<Vec3<f64>>,
}

/// What a path over obstacles is made of.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Scholz2015Element {
    /// A point that it passes through, fixed to its frame.
    Point(PathPoint),
    /// A surface that it may lie on.
    Obstacle(PathObstacle),
}

/// A path that is as short as it can be over obstacles between points (`Scholz2015GeometryPath`).
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

/// The line along which a force acts.
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
    /// Its points in order; a path that is a function has none.
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
