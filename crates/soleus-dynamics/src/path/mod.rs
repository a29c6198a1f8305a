//! Paths of muscles and ligaments: length, speed, and the loads of a tension.
//!
//! A [`CompiledPath`] is the constant, shared part; a [`PathState`] is the scratch memory of one evaluation. Results
//! depend only on the given pose (and speeds), not on earlier poses.

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

/// Why a path is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PathError {
    /// A geometry path has fewer than two points.
    #[error("a path needs at least two points, this one has {count}")]
    TooFewPoints {
        /// Number of points.
        count: usize,
    },
    /// A wrap object that does not exist.
    #[error("the path refers to wrap object number {index}, but there are {count}")]
    NoSuchWrapObject {
        /// Index of the wrap object, from 0.
        index: usize,
        /// Number of wrap objects.
        count: usize,
    },
    /// A wrap object with invalid dimensions.
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
        /// Number of points of the path.
        count: usize,
    },
    /// The three components of a moving point depend on different coordinates.
    #[error("the components of moving path point `{name}` must depend on the same coordinate")]
    MixedCoordinates {
        /// The point.
        name: String,
    },
    /// A path over obstacles that starts or ends with an obstacle.
    #[error("a path over obstacles must begin and end with a point")]
    ObstacleAtEnd,
    /// A path over obstacles has a point that is not fixed to its frame.
    #[error("point `{name}` of a path over obstacles must be fixed to its frame")]
    NotFixed {
        /// The point.
        name: String,
    },
    /// A contact geometry that does not exist.
    #[error("the path refers to contact geometry number {index}, but there are {count}")]
    NoSuchContactGeometry {
        /// Index of the contact geometry, from 0.
        index: usize,
        /// Number of contact geometries.
        count: usize,
    },
    /// An obstacle over which a path cannot wrap.
    #[error(
        "a path cannot lie on `{name}`, a {class}: obstacles must be spheres, cylinders, ellipsoids or tori of positive size (the tube of a torus smaller than its circle)"
    )]
    BadObstacle {
        /// The contact geometry.
        name: String,
        /// Its class.
        class: &'static str,
    },
    /// A contact hint that is at the centre or on the axis of its obstacle, or not a number.
    #[error("the contact hint for `{name}` has no nearest point on it: move it off the centre or axis")]
    BadContactHint {
        /// The contact geometry.
        name: String,
    },
    /// A function with a wrong number of variables.
    #[error("{what} takes {found} variables, expected {expected}")]
    BadFunction {
        /// Name of the function.
        what: String,
        /// Expected number of variables.
        expected: usize,
        /// Number of variables of the function.
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

/// A compiled path.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledPath {
    /// Points and wrap surfaces.
    Geometry(CompiledGeometryPath),
    /// A length function.
    Function(CompiledFunctionPath),
    /// Geodesics over obstacles.
    Scholz2015(CompiledScholz2015Path),
}

/// Origin of a point of the current path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointOrigin {
    /// A path point of the model, by index.
    Point(usize),
    /// Start of the curve on a path wrap or obstacle, by its index in the path.
    WrapStart(usize),
    /// End of the curve on a path wrap or obstacle, by its index in the path.
    WrapEnd(usize),
}

/// A point of the current path.
#[derive(Clone, Copy, Debug)]
pub struct CurrentPoint<T> {
    /// Position in ground, m, used for length, direction and reports.
    ///
    /// With two or more path wraps this is the position of a wrap point when it first became part of the path, in the
    /// first of up to eight iterations: OpenSim 4.6 stores the ground position of a point at first access, and later
    /// iterations do not change it.
    pub p_G: Vec3<T>,
    /// Position in ground, m, at which the point is attached to its body, for force and velocity.
    pub held_G: Vec3<T>,
    /// Body of the point; 0 is ground.
    pub body: usize,
    /// Origin.
    pub origin: PointOrigin,
    /// Length of the path from here to the next point, m: straight, or over the surface between the two ends of a wrap.
    /// Zero at the last point.
    pub to_next: T,
    /// For a moving point, ∂(place on the body)/∂q, in ground; otherwise zero.
    pub(crate) dp_dq_G: Vec3<T>,
}

/// Scratch memory and results of one path, allocated once.
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
    /// Memory for a path.
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
    /// The state for forces without a path: length and speed are zero.
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
    /// The points of the current path in order, including wrap points; empty for a function-based path.
    #[inline]
    pub fn points(&self) -> &[CurrentPoint<T>] {
        &self.points
    }
}

impl CompiledPath {
    /// Compiles a path of a model.
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

    /// Bodies of the path.
    pub fn bodies(&self) -> Vec<usize> {
        match self {
            CompiledPath::Geometry(p) => p.bodies(),
            CompiledPath::Function(_) => Vec::new(),
            CompiledPath::Scholz2015(p) => p.bodies(),
        }
    }

    /// Mobilities on which the path depends directly, by functions or conditions.
    pub fn coordinates(&self) -> Vec<usize> {
        match self {
            CompiledPath::Geometry(p) => p.coordinates(),
            CompiledPath::Function(p) => p.coordinates().to_vec(),
            CompiledPath::Scholz2015(_) => Vec::new(),
        }
    }

    /// Whether the loads of a tension are in balance. With several surfaces, OpenSim's iterations leave a tension that
    /// is not exactly along the path, and a small net moment.
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

    /// Whether the load of a unit tension is exactly minus the gradient of the length, and the speed exactly its rate.
    /// This is not the case with wrap objects, whose curves are not geodesics, and with moving points, which are
    /// clamped to their range.
    pub fn is_consistent(&self) -> bool {
        match self {
            CompiledPath::Geometry(p) => p.is_straight(),
            CompiledPath::Function(p) => p.is_consistent(),
            CompiledPath::Scholz2015(_) => true,
        }
    }

    /// Computes the points of the path and its length, from poses and coordinates.
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

    /// Computes the lengthening speed, after [`compute_position`](Self::compute_position).
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
