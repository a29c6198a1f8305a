//! The lines along which muscles and ligaments pull: their length, speed, and the loads of a tension.
//!
//! A [`CompiledPath`] is the constant part, shared by everyone; a [`PathState`] is the scratch of one
//! evaluation. Everything is a function of the pose (and speeds) given: nothing is remembered from
//! the pose before.

pub mod function_path;
pub mod geometry_path;
pub mod scholz2015;
pub mod wrap;

pub use function_path::CompiledFunctionPath;
pub(crate) use geometry_path::COINCIDENT_M;
pub use geometry_path::CompiledGeometryPath;
pub use scholz2015::CompiledScholz2015Path;

use crate::kinematics::{Kinematics, Loads, Resolve};
use soleus_math::{Real, Vec3};
use soleus_model::contact::ContactGeometry;
use soleus_model::path::{Path, WrapObject};

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PathError {
    /// A geometry path has fewer than two points.
    #[error("a path needs at least two points, this one has {count}")]
    TooFewPoints {
        /// How many it has.
        count: usize,
    },
    /// A path names a wrap object that is not there.
    #[error("the path refers to wrap object number {index}, but there are {count}")]
    NoSuchWrapObject {
        /// The number it names, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A wrap object has sizes that make no surface.
    #[error("wrap object `{name}` has an invalid size (negative, zero, or not a number)")]
    BadWrapSize {
        /// The wrap object.
        name: String,
    },
    /// The range of a path wrap is outside the path.
    #[error("the path wrap over `{name}` covers points {first} to {last}, but the path has {count}")]
    BadWrapRange {
        /// The wrap object.
        name: String,
        /// First point, from 1.
        first: i32,
        /// Last point, from 1.
        last: i32,
        /// How many points the path has.
        count: usize,
    },
    /// The three components of a moving point depend on different coordinates.
    #[error("the components of moving path point `{name}` must depend on the same coordinate")]
    MixedCoordinates {
        /// The point.
        name: String,
    },
    /// A path over obstacles begins or ends with one.
    #[error("a path over obstacles must begin and end with a point")]
    ObstacleAtEnd,
    /// A path over obstacles has a point that is not fixed to its frame.
    #[error("point `{name}` of a path over obstacles must be fixed to its frame")]
    NotFixed {
        /// The point.
        name: String,
    },
    /// A path names a contact geometry that is not there.
    #[error("the path refers to contact geometry number {index}, but there are {count}")]
    NoSuchContactGeometry {
        /// The number it names, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// An obstacle is not a surface that a path can lie on.
    #[error(
        "a path cannot lie on `{name}`, a {class}: obstacles must be spheres, cylinders, ellipsoids or tori of positive size (the tube of a torus smaller than its circle)"
    )]
    BadObstacle {
        /// The contact geometry.
        name: String,
        /// Its class.
        class: &'static str,
    },
    /// A contact hint is at the centre or on the axis of its obstacle, or not a number.
    #[error("the contact hint for `{name}` has no nearest point on it: move it off the centre or axis")]
    BadContactHint {
        /// The contact geometry.
        name: String,
    },
    /// A function takes another number of variables than the path gives it.
    #[error("{what} takes {found} variables, expected {expected}")]
    BadFunction {
        /// Which function.
        what: String,
        /// How many variables it gets.
        expected: usize,
        /// How many it takes.
        found: usize,
    },
    /// A function-based path has no coordinates, or not one moment arm per coordinate.
    #[error("a function-based path with {coordinates} coordinates cannot have {moment_arms} moment arms")]
    BadMomentArms {
        /// Number of coordinates.
        coordinates: usize,
        /// Number of moment-arm functions.
        moment_arms: usize,
    },
}

/// A path ready for computing.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledPath {
    /// Points and surfaces.
    Geometry(CompiledGeometryPath),
    /// A length function.
    Function(CompiledFunctionPath),
    /// Geodesics over obstacles.
    Scholz2015(CompiledScholz2015Path),
}

/// Where a point of the current path comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointOrigin {
    /// A path point of the model, by its number.
    Point(usize),
    /// Where the path meets the surface of a path wrap or obstacle, by its number in the path.
    WrapStart(usize),
    /// Where the path leaves the surface of a path wrap or obstacle, by its number in the path.
    WrapEnd(usize),
}

/// A point of the current path.
#[derive(Clone, Copy, Debug)]
pub struct CurrentPoint<T> {
    /// Place in ground, m, as length, direction and reports take it.
    ///
    /// With two or more path wraps this is the place a wrap point had when it first became part of the
    /// path, in the first of up to eight rounds: OpenSim 4.6 stores the ground place of a point when it
    /// is first asked for, and later rounds do not change what is stored.
    pub p_G: Vec3<T>,
    /// Place in ground, m, at which the point is held to its body and takes its force and velocity.
    pub held_G: Vec3<T>,
    /// The body that carries it; 0 is ground.
    pub body: usize,
    /// Where it comes from.
    pub origin: PointOrigin,
    /// Length of the path from here to the next point, m: straight, or over the surface between the
    /// two ends of a wrap. Zero at the last point.
    pub to_next: T,
    /// For a moving point, ∂(place on the body)/∂q, in ground; otherwise zero.
    pub(crate) dp_dq_G: Vec3<T>,
}

/// The scratch and the results of one path, sized once.
#[derive(Clone, Debug)]
pub struct PathState<T: Real> {
    pub(crate) points: Vec<CurrentPoint<T>>,
    pub(crate) geometry: geometry_path::Scratch<T>,
    pub(crate) scholz2015: scholz2015::Scratch<T>,
    /// Coordinates, then their speeds, of a function-based path.
    pub(crate) x: Vec<T>,
    /// Moment arms of a function-based path.
    pub(crate) arms: Vec<T>,
    pub(crate) length: T,
    pub(crate) speed: T,
}

impl<T: Real> PathState<T> {
    /// Room for a path.
    pub fn new(path: &CompiledPath) -> Self {
        let (points, wraps, coordinates) = match path {
            CompiledPath::Geometry(g) => (g.max_points(), g.num_wraps(), 0),
            CompiledPath::Function(f) => (0, 0, f.num_coordinates()),
            CompiledPath::Scholz2015(p) => (p.max_points(), 0, 0),
        };
        let scholz2015 = match path {
            CompiledPath::Scholz2015(p) => scholz2015::Scratch::new(p),
            _ => scholz2015::Scratch::empty(),
        };
        PathState {
            points: Vec::with_capacity(points),
            geometry: geometry_path::Scratch::new(wraps),
            scholz2015,
            x: vec![T::zero(); 2 * coordinates],
            arms: vec![T::zero(); coordinates],
            length: T::zero(),
            speed: T::zero(),
        }
    }
    /// The state of no path at all: length and speed are zero.
    pub fn empty() -> Self {
        PathState {
            points: Vec::new(),
            geometry: geometry_path::Scratch::new(0),
            scholz2015: scholz2015::Scratch::empty(),
            x: Vec::new(),
            arms: Vec::new(),
            length: T::zero(),
            speed: T::zero(),
        }
    }
    /// Length, m.
    #[inline]
    pub fn length(&self) -> T {
        self.length
    }
    /// Lengthening speed, m/s.
    #[inline]
    pub fn speed(&self) -> T {
        self.speed
    }
    /// Puts a speed back that was found before.
    pub(crate) fn set_speed(&mut self, speed: T) {
        self.speed = speed;
    }
    /// The points of the current path in order, wrap points included; empty for a function-based path.
    #[inline]
    pub fn points(&self) -> &[CurrentPoint<T>] {
        &self.points
    }
}

impl CompiledPath {
    /// Prepares a path of a model for computing.
    pub fn compile(
        path: &Path,
        wraps: &[WrapObject],
        geometries: &[ContactGeometry],
        resolve: &dyn Resolve,
    ) -> Result<Self, PathError> {
        Ok(match path {
            Path::Geometry(p) => CompiledPath::Geometry(CompiledGeometryPath::compile(p, wraps, resolve)?),
            Path::FunctionBased(p) => CompiledPath::Function(CompiledFunctionPath::compile(p, resolve)?),
            Path::Scholz2015(p) => {
                CompiledPath::Scholz2015(CompiledScholz2015Path::compile(p, geometries, resolve)?)
            }
        })
    }

    /// Bodies that the path touches.
    pub fn bodies(&self) -> Vec<usize> {
        match self {
            CompiledPath::Geometry(p) => p.bodies(),
            CompiledPath::Function(_) => Vec::new(),
            CompiledPath::Scholz2015(p) => p.bodies(),
        }
    }

    /// Mobilities that the path depends on directly, by functions or conditions.
    pub fn coordinates(&self) -> Vec<usize> {
        match self {
            CompiledPath::Geometry(p) => p.coordinates(),
            CompiledPath::Function(p) => p.coordinates().to_vec(),
            CompiledPath::Scholz2015(_) => Vec::new(),
        }
    }

    /// Whether the loads of a tension add up to nothing. With several surfaces OpenSim's rounds leave a tension that
    /// does not point along the path, and a small moment on the whole.
    pub fn is_balanced(&self) -> bool {
        match self {
            CompiledPath::Geometry(p) => p.num_wraps() <= 1,
            CompiledPath::Function(_) | CompiledPath::Scholz2015(_) => true,
        }
    }

    /// Whether a mobility whose motion changes the length feels a torque: always but where a function-based path says otherwise.
    pub(crate) fn pulls(&self, mobility: usize) -> bool {
        match self {
            CompiledPath::Function(p) => p.pulls(mobility),
            _ => true,
        }
    }

    /// Whether the load of a unit tension is exactly minus the gradient of the length, and the speed exactly the
    /// rate of the length. Wrap objects do not give geodesics and moving points are held at their range, so there it is not.
    pub fn is_consistent(&self) -> bool {
        match self {
            CompiledPath::Geometry(p) => p.is_straight(),
            CompiledPath::Function(p) => p.is_consistent(),
            CompiledPath::Scholz2015(_) => true,
        }
    }

    /// Finds the points of the path and its length; reads poses and coordinates only.
    pub fn compute_position<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        match self {
            CompiledPath::Geometry(p) => p.compute_position(kin, st),
            CompiledPath::Function(p) => p.compute_position(kin, st),
            CompiledPath::Scholz2015(p) => p.compute_position(kin, st),
        }
    }

    /// The same with a change of the path.
    pub(crate) fn compute_position_changed<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &mut PathState<T>,
        change: &geometry_path::Change<T>,
    ) {
        match self {
            CompiledPath::Geometry(p) => p.compute_position_changed(kin, st, change),
            CompiledPath::Function(p) => p.compute_position(kin, st),
            CompiledPath::Scholz2015(p) => p.compute_position_changed(kin, st, change),
        }
    }

    /// Finds the lengthening speed, after [`compute_position`](Self::compute_position).
    pub fn compute_speed<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        match self {
            CompiledPath::Geometry(p) => p.compute_speed(kin, st),
            CompiledPath::Function(p) => p.compute_speed(kin, st),
            CompiledPath::Scholz2015(p) => p.compute_speed(kin, st),
        }
    }

    /// Adds the loads of a tension (N), after [`compute_position`](Self::compute_position).
    pub fn apply_tension<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &PathState<T>,
        tension: T,
        loads: &mut Loads<T>,
    ) {
        match self {
            CompiledPath::Geometry(p) => p.apply_tension(kin, st, tension, loads),
            CompiledPath::Function(p) => p.apply_tension(st, tension, loads),
            CompiledPath::Scholz2015(p) => p.apply_tension(kin, st, tension, loads),
        }
    }
}
