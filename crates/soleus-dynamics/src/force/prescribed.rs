//! Forces that are functions of time: prescribed by the model, or measured.

use crate::{BodyFrame, Kinematics, Loads};
use soleus_math::{Function, Over, Real, Rotation, Vec3, vec3};

/// A force F(t), a point of application p(t) and a torque M(t) on a body.
///
///   f_G = R_GA F(t),   m_G = R_GA M(t),   p_G = X_GP p(t)
///
/// A is the frame of force and torque, P that of the point. The torque is a free moment: it does not depend on the
/// point. Without point functions the force acts at the origin of the frame to which it is applied.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedForce<P: Real = f64> {
    /// Frame to which it is applied; points are reported in it.
    pub applied_to: BodyFrame<P>,
    /// Frame A, `None` for ground.
    pub force_frame: Option<BodyFrame<P>>,
    /// Frame P, `None` for ground.
    pub point_frame: Option<BodyFrame<P>>,
    /// F(t), N.
    pub force: Option<Box<[Function; 3]>>,
    /// p(t), m.
    pub point: Option<Box<[Function; 3]>>,
    /// M(t), N·m.
    pub torque: Option<Box<[Function; 3]>>,
}

#[inline]
fn at<T: Real>(f: &[Function; 3], time: T) -> Vec3<T> {
    let t = [time];
    vec3(f[0].value(&t), f[1].value(&t), f[2].value(&t))
}

impl<P: Real> TimedForce<P> {
    #[inline]
    fn reexpress<T: Over<P>>(&self, kin: &Kinematics<T>, v: Vec3<T>) -> Vec3<T> {
        match &self.force_frame {
            Some(a) => kin.X_GB[a.body].R * (Rotation::lift(a.X_BF.R) * v),
            None => v,
        }
    }
    /// Whether all functions are constants.
    pub fn is_constant(&self) -> bool {
        let mut all = [&self.force, &self.point, &self.torque].into_iter().flatten().flat_map(|f| f.iter());
        all.all(|f| matches!(f, Function::Constant(_)))
    }
    /// Force in ground, N.
    #[inline]
    pub fn force<T: Over<P>>(&self, kin: &Kinematics<T>) -> Option<Vec3<T>> {
        self.force.as_ref().map(|f| self.reexpress(kin, at(f, kin.time)))
    }
    /// Torque in ground, N·m.
    #[inline]
    pub fn torque<T: Over<P>>(&self, kin: &Kinematics<T>) -> Option<Vec3<T>> {
        self.torque.as_ref().map(|f| self.reexpress(kin, at(f, kin.time)))
    }
    /// Point of application in ground, m.
    #[inline]
    pub fn point<T: Over<P>>(&self, kin: &Kinematics<T>) -> Vec3<T> {
        match (&self.point, &self.point_frame) {
            (None, _) => kin.point(self.applied_to.body, self.applied_to.X_BF.p),
            (Some(p), None) => at(p, kin.time),
            (Some(p), Some(frame)) => kin.pose(frame) * at(p, kin.time),
        }
    }
    /// Adds force and torque.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        if let Some(f) = self.force(kin) {
            loads.add_force_at(kin, self.applied_to.body, self.point(kin), f);
        }
        if let Some(m) = self.torque(kin) {
            loads.add_moment(self.applied_to.body, m);
        }
    }
    /// Force and torque in ground and the point in the frame to which it is applied, as OpenSim reports them; the point
    /// only together with a force.
    pub fn record<T: Over<P>>(&self, kin: &Kinematics<T>, out: &mut Vec<T>) {
        if let Some(f) = self.force(kin) {
            out.extend(f.to_array());
            if self.point.is_some() {
                out.extend(kin.pose(&self.applied_to).inverse_mul(self.point(kin)).to_array());
            }
        }
        if let Some(m) = self.torque(kin) {
            out.extend(m.to_array());
        }
    }
}
