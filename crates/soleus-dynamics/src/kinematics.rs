//! Interface of kinematics and loads for forces, paths and contacts.

use soleus_math::{Over, Real, SpatialVec, Transform, Vec3};
use soleus_model::id::{CoordinateId, FrameId};

/// A compiled frame fixed to a body: the body's index in [`Kinematics`] and the frame's constant pose on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyFrame<P: Real = f64> {
    /// Index of the body; 0 is ground.
    pub body: usize,
    /// Pose of the frame in the body.
    pub X_BF: Transform<P>,
}

/// Converts the handles of a model to indices. Passed to every `compile`.
pub trait Resolve {
    /// The body that carries a frame, and the frame's pose on it.
    fn frame(&self, id: FrameId) -> BodyFrame;
    /// The mobility (index into `q` and `u` of [`Kinematics`]) of a coordinate.
    fn mobility(&self, id: CoordinateId) -> usize;
}

/// Positions and velocities at one time.
#[derive(Clone, Copy, Debug)]
pub struct Kinematics<'a, T: Real> {
    /// Time, s.
    pub time: T,
    /// Pose of each body in ground; index 0 is ground itself.
    pub X_GB: &'a [Transform<T>],
    /// Velocity (ω, v of the body origin) of each body, in ground.
    pub V_GB: &'a [SpatialVec<T>],
    /// Coordinate values by mobility.
    pub q: &'a [T],
    /// Speeds by mobility.
    pub u: &'a [T],
}

impl<T: Real> Kinematics<'_, T> {
    /// Position in ground of a point given in a body.
    #[inline(always)]
    pub fn point<P: Real>(&self, body: usize, p_BS: Vec3<P>) -> Vec3<T>
    where
        T: Over<P>,
    {
        self.X_GB[body] * Vec3::lift(p_BS)
    }
    /// Velocity in ground of the body-fixed point at position `p_GS` in ground.
    #[inline(always)]
    pub fn velocity_at(&self, body: usize, p_GS: Vec3<T>) -> Vec3<T> {
        let V = self.V_GB[body];
        V.v + V.w.cross(p_GS - self.X_GB[body].p)
    }
    /// Pose in ground of a frame.
    #[inline]
    pub fn pose<P: Real>(&self, frame: &BodyFrame<P>) -> Transform<T>
    where
        T: Over<P>,
    {
        self.X_GB[frame.body] * Transform::lift(frame.X_BF)
    }
}

/// Accumulated loads: a wrench on each body and a generalized force on each mobility.
#[derive(Debug)]
pub struct Loads<'a, T: Real> {
    /// Wrench on each body about the body's origin, in ground; index 0 is ground.
    pub body: &'a mut [SpatialVec<T>],
    /// Generalized force on each mobility.
    pub mobility: &'a mut [T],
}

impl<T: Real> Loads<'_, T> {
    /// Adds a force `f` (in ground) at position `p_GS` in ground of a body.
    #[inline(always)]
    pub fn add_force_at(&mut self, kin: &Kinematics<T>, body: usize, p_GS: Vec3<T>, f: Vec3<T>) {
        let r = p_GS - kin.X_GB[body].p;
        self.body[body] += SpatialVec::new(r.cross(f), f);
    }
    /// Adds a pure moment (in ground) to a body.
    #[inline(always)]
    pub fn add_moment(&mut self, body: usize, moment: Vec3<T>) {
        self.body[body].w += moment;
    }
}
