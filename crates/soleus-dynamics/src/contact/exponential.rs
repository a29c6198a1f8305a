//! A point above a plane on an exponential spring, with stick-slip friction.

use super::Touch;
use crate::Kinematics;
use crate::force::coordinate_limit::quintic_step;
use soleus_math::{Over, Real, Transform, Vec3, vec3};

/// Memory of a contact between steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactMemory {
    /// Anchor of the friction spring, in the plane's frame, m (z = 0).
    pub anchor: Vec3<f64>,
    /// 1 sliding … 0 sticking.
    pub sliding: f64,
}

impl Default for ContactMemory {
    /// Sliding: friction is a damper and the anchor does not matter.
    fn default() -> Self {
        ContactMemory { anchor: Vec3::zero(), sliding: 1.0 }
    }
}

/// Exponential contact of a station with a plane fixed in ground, whose z axis is the normal.
///
/// With height z and velocity v of the station in the plane's frame, K the sliding of the
/// memory, p₀ its anchor:
///
///   f_e = d₁ exp(−d₂ (z − d₀)),   f_z = f_e (1 − c_z v_z) in [0, f_max]           (1)
///   μ = μ_s − K (μ_s − μ_k),   limit L = μ f_z                                   (2)
///   damping alone:   D₁ = −c v_xy, cut to L                                      (3)
///   spring, damping: E₂ = −k (p_xy − p₀), D₂ = −c v_xy, both scaled so |E₂ + D₂| ≤ L   (4)
///   friction = (1 − K) E₂ + D₂ + K (D₁ − D₂)                                     (5)
///
/// After a step the anchor moves to p_xy + (1 − K) E₂/k, and K becomes the quintic step of the
/// anchor's speed over the settling velocity.
///
/// Source: Simbody's ExponentialSpringForce (Anderson 2021). Here a force is a function of its arguments, so the memory
/// is an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct ExponentialContact<P: Real = f64> {
    pub(crate) body: usize,
    pub(crate) p_BS: Vec3<P>,
    /// Pose of the plane in ground.
    pub(crate) X_GP: Transform<P>,
    /// d₀ (m), d₁ (N), d₂ (1/m).
    pub(crate) shape: [P; 3],
    /// c_z, s/m.
    pub(crate) normal_viscosity: P,
    /// N.
    pub(crate) max_normal_force: P,
    /// k, N/m.
    pub(crate) elasticity: P,
    /// c, N·s/m.
    pub(crate) viscosity: P,
    /// m/s.
    pub(crate) settle_velocity: f64,
    pub(crate) mu_static: P,
    pub(crate) mu_kinetic: P,
}

// Friction limits below this many newtons are taken as no contact (Simbody: ε^(7/8)).
const NO_FRICTION_BELOW_N: f64 = 2.0e-14;

/// The force, and the data for the update of the memory.
#[derive(Clone, Copy, Debug)]
pub struct ExponentialForce<T: Real> {
    /// Force on the body; its opposite on ground.
    pub touch: Touch<T>,
    /// Energy of the springs, J.
    pub energy: T,
    /// Anchor after the step, in the plane's frame.
    pub anchor: Vec3<T>,
    /// Friction limit L, N.
    pub limit: T,
}

impl<P: Real> ExponentialContact<P> {
    /// Equations (1) to (5).
    #[inline]
    pub fn force<T: Over<P>>(&self, kin: &Kinematics<T>, memory: &ContactMemory) -> ExponentialForce<T> {
        let p_G = kin.point(self.body, self.p_BS);
        let X_GP = Transform::lift(self.X_GP);
        let p = X_GP.inverse_mul(p_G);
        let v = X_GP.R.inverse_mul(kin.velocity_at(self.body, p_G));
        let flat = |a: Vec3<T>| vec3(a.x, a.y, T::zero());
        let (p_xy, v_xy) = (flat(p), flat(v));

        // (1) The elastic part absorbs what the upper bound takes away.
        let [d0, d1, d2] = self.shape;
        let mut elastic = ((p.z - d0) * -d2).exp() * d1;
        let damping = v.z * elastic * -self.normal_viscosity;
        let mut fz = elastic + damping;
        if fz.value() < 0.0 {
            fz = T::zero();
        }
        if fz.value() > self.max_normal_force.value() {
            fz = T::lift(self.max_normal_force);
            elastic = fz - damping;
        }

        // (2)
        let K = memory.sliding;
        let limit = fz * (self.mu_static - (self.mu_static - self.mu_kinetic) * K);
        let mut energy = elastic / d2;
        let mut friction = Vec3::zero();
        let mut anchor = p_xy;
        if limit.value() >= NO_FRICTION_BELOW_N {
            let limit_sq = limit.value() * limit.value();
            // (3)
            let drag = v_xy * T::lift(-self.viscosity);
            let mut d1 = drag;
            let d1_sq = d1.norm_sq();
            if d1_sq.value() > limit_sq {
                d1 = d1 * (limit / d1_sq.sqrt());
            }
            // (4)
            let mut d2 = drag;
            let mut e2 = (p_xy - Vec3::cst(memory.anchor)) * T::lift(-self.elasticity);
            let sum_sq = (e2 + d2).norm_sq();
            if sum_sq.value() > limit_sq {
                let scale = limit / sum_sq.sqrt();
                (e2, d2) = (e2 * scale, d2 * scale);
            }
            // (5)
            let spring = e2 * T::cst(1.0 - K);
            friction = spring + d2 + (d1 - d2) * T::cst(K);
            let stretch = spring / T::lift(self.elasticity);
            anchor = p_xy + stretch;
            energy += stretch.norm_sq() * (self.elasticity * 0.5);
        }
        let force = X_GP.R * vec3(friction.x, friction.y, fz);
        ExponentialForce {
            touch: Touch { body1: 0, body2: self.body, point: p_G, force, normal: X_GP.R.axis(2) },
            energy,
            anchor,
            limit,
        }
    }
}

impl ExponentialContact {
    /// The memory after a step of `dt` seconds that ended at `kin`.
    pub fn remember(&self, kin: &Kinematics<f64>, memory: &ContactMemory, dt: f64) -> ContactMemory {
        let f = self.force(kin, memory);
        let anchor = f.anchor;
        let mut sliding = 1.0;
        if dt > NO_FRICTION_BELOW_N && f.limit > NO_FRICTION_BELOW_N {
            sliding = quintic_step((anchor - memory.anchor).norm() / dt / self.settle_velocity);
        }
        ContactMemory { anchor, sliding }
    }

    /// Body of the station.
    pub fn body(&self) -> usize {
        self.body
    }
}
