//! Actuators on bodies: at a point, as a torque, as a wrench, between two points.

use crate::{BodyFrame, Kinematics, Loads};
use soleus_math::{Over, Real, Rotation, Vec3, vec3};

/// A point given in a frame, or in ground.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place<P: Real = f64> {
    /// Fixed to the body, in body coordinates.
    OnBody(Vec3<P>),
    /// Fixed in ground.
    InGround(Vec3<P>),
}

impl<P: Real> Place<P> {
    pub(crate) fn new(frame: &BodyFrame<P>, point: Vec3<P>, global: bool) -> Self {
        if global { Place::InGround(point) } else { Place::OnBody(frame.X_BF * point) }
    }
    #[inline]
    pub(crate) fn in_ground<T: Over<P>>(&self, kin: &Kinematics<T>, body: usize) -> Vec3<T> {
        match self {
            Place::OnBody(p_BS) => kin.point(body, *p_BS),
            Place::InGround(p_GS) => Vec3::lift(*p_GS),
        }
    }
}

/// A direction given in a body, or in ground.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Direction<P: Real = f64> {
    OnBody(Vec3<P>),
    InGround(Vec3<P>),
}

impl<P: Real> Direction<P> {
    pub(crate) fn new(frame: &BodyFrame<P>, v: Vec3<P>, global: bool) -> Self {
        if global { Direction::InGround(v) } else { Direction::OnBody(frame.X_BF.R * v) }
    }
    #[inline]
    pub(crate) fn in_ground<T: Over<P>>(&self, kin: &Kinematics<T>, body: usize) -> Vec3<T> {
        match self {
            Direction::OnBody(v_B) => kin.X_GB[body].R * Vec3::lift(*v_B),
            Direction::InGround(v_G) => Vec3::lift(*v_G),
        }
    }
}

/// A force F₀ x ê at a point of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct PointActuator<P: Real = f64> {
    pub(crate) body: usize,
    pub(crate) place: Place<P>,
    pub(crate) direction: Direction<P>,
    /// Optimal force F₀, N.
    pub optimal_force: P,
}

impl<P: Real> PointActuator<P> {
    /// Adds the force at control x.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, x: T, loads: &mut Loads<T>) {
        let f = self.direction.in_ground(kin, self.body) * (x * self.optimal_force);
        loads.add_force_at(kin, self.body, self.place.in_ground(kin, self.body), f);
    }
}

impl PointActuator {
    /// Speed of the point along the force, m/s. With `opensim_faults` its speed in any direction, as in OpenSim 4.6.
    pub fn speed<T: Real>(&self, kin: &Kinematics<T>, opensim_faults: bool) -> T {
        let v = kin.velocity_at(self.body, self.place.in_ground(kin, self.body));
        if opensim_faults { v.norm() } else { v.dot(self.direction.in_ground(kin, self.body)) }
    }
}

/// A torque F₀ x ê on body A and the opposite torque on body B; ê is given in A or in ground.
#[derive(Clone, Debug, PartialEq)]
pub struct TorqueActuator<P: Real = f64> {
    pub(crate) body_a: usize,
    pub(crate) body_b: usize,
    pub(crate) axis: Direction<P>,
    /// Optimal torque F₀, N·m.
    pub optimal_force: P,
}

impl<P: Real> TorqueActuator<P> {
    /// Adds the torques at control x.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, x: T, loads: &mut Loads<T>) {
        let m = self.axis.in_ground(kin, self.body_a) * (x * self.optimal_force);
        loads.add_moment(self.body_a, m);
        loads.add_moment(self.body_b, -m);
    }
}

impl TorqueActuator {
    /// Speed of A relative to B about the axis, rad/s. With `opensim_faults` an axis given in A is treated as if it
    /// were given in ground, as in OpenSim 4.6.
    pub fn speed<T: Real>(&self, kin: &Kinematics<T>, opensim_faults: bool) -> T {
        let axis = match (&self.axis, opensim_faults) {
            (Direction::OnBody(v), true) => Vec3::cst(*v),
            _ => self.axis.in_ground(kin, self.body_a),
        };
        (kin.V_GB[self.body_a].w - kin.V_GB[self.body_b].w).dot(axis)
    }
}

/// A wrench on a body; six controls: torque (N·m), then force (N).
#[derive(Clone, Debug, PartialEq)]
pub struct BodyActuator<P: Real = f64> {
    pub(crate) body: usize,
    pub(crate) R_BF: Rotation<P>,
    pub(crate) place: Place<P>,
    pub(crate) global: bool,
}

impl<P: Real> BodyActuator<P> {
    /// Adds the wrench at controls x.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, x: &[T], loads: &mut Loads<T>) {
        let (mut m, mut f) = (vec3(x[0], x[1], x[2]), vec3(x[3], x[4], x[5]));
        if !self.global {
            let R_GF = kin.X_GB[self.body].R * Rotation::lift(self.R_BF);
            (m, f) = (R_GF * m, R_GF * f);
        }
        loads.add_moment(self.body, m);
        loads.add_force_at(kin, self.body, self.place.in_ground(kin, self.body), f);
    }
}

/// Opposite forces F₀ x on two points along the line between them; x > 0 pushes them apart. No force if the points
/// coincide (OpenSim: NaN).
#[derive(Clone, Debug, PartialEq)]
pub struct PointToPointActuator<P: Real = f64> {
    pub(crate) body_a: usize,
    pub(crate) body_b: usize,
    pub(crate) place_a: Place<P>,
    pub(crate) place_b: Place<P>,
    /// Optimal force F₀, N.
    pub optimal_force: P,
}

impl<P: Real> PointToPointActuator<P> {
    /// Adds both forces at control x.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, x: T, loads: &mut Loads<T>) {
        let p_A = self.place_a.in_ground(kin, self.body_a);
        let p_B = self.place_b.in_ground(kin, self.body_b);
        let r = p_A - p_B;
        let d = r.norm();
        let f = T::zero().where_below(d, || r * (x * self.optimal_force / d), Vec3::zero);
        loads.add_force_at(kin, self.body_a, p_A, f);
        loads.add_force_at(kin, self.body_b, p_B, -f);
    }
}

impl PointToPointActuator {
    /// Rate of change of the distance between the two points, m/s; zero if they coincide.
    pub fn speed<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let p_A = self.place_a.in_ground(kin, self.body_a);
        let p_B = self.place_b.in_ground(kin, self.body_b);
        let v = kin.velocity_at(self.body_a, p_A) - kin.velocity_at(self.body_b, p_B);
        let (r, d) = (p_A - p_B, (p_A - p_B).norm());
        if d.value() > 0.0 { r.dot(v) / d } else { T::zero() }
    }
}
