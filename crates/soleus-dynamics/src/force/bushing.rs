//! Bushings: six springs and dampers between two frames.

use crate::{BodyFrame, Kinematics, Loads};
use soleus_math::function::Expression;
use soleus_math::{Function, Over, Real, Transform, Vec3, vec3};

/// Deflection of frame M relative to frame F, and its rates.
///
///   θ: body-fixed X-Y-Z angles of R_FM,   δ = p_FM in F                       (1)
///   θ̇ = N(θ) \[ω_FM\]_M,   δ̇ = d/dt δ in F                                      (2)
///   N = [[c₃/c₂, −s₃/c₂, 0], [s₃, c₃, 0], [−c₃ t₂, s₃ t₂, 1]]                  (3)
///
/// with s, c, t the sine, cosine and tangent of θ₂ and θ₃. Source: Simbody's linear bushing
/// (Sherman, Seth and Delp 2011). Singular at θ₂ = ±π/2.
#[derive(Clone, Copy, Debug)]
pub struct Deflection<T: Real> {
    /// θ, rad.
    pub theta: Vec3<T>,
    /// δ, m.
    pub delta: Vec3<T>,
    /// θ̇, rad/s.
    pub theta_rate: Vec3<T>,
    /// δ̇, m/s.
    pub delta_rate: Vec3<T>,
    X_GF: Transform<T>,
    X_GM: Transform<T>,
    /// (s₃, c₃, 1/c₂, t₂) of (3).
    n: [T; 4],
}

/// The two frames of a bushing.
#[derive(Clone, Debug, PartialEq)]
pub struct TwoFrames<P: Real = f64> {
    /// Frame F, on body 1.
    pub frame1: BodyFrame<P>,
    /// Frame M, on body 2.
    pub frame2: BodyFrame<P>,
}

/// Load of a bushing on its two bodies: the force acts at the origin of M.
#[derive(Clone, Copy, Debug)]
pub struct BushingLoad<T: Real> {
    /// Moment on body 2, in ground.
    pub moment: Vec3<T>,
    /// Force on body 2 at the origin of M, in ground.
    pub force: Vec3<T>,
    /// Origin of F, in ground.
    pub p_GF: Vec3<T>,
    /// Origin of M, in ground.
    pub p_GM: Vec3<T>,
}

impl<P: Real> TwoFrames<P> {
    /// Equations (1) to (3).
    #[inline]
    pub fn deflection<T: Over<P>>(&self, kin: &Kinematics<T>) -> Deflection<T> {
        let (b1, b2) = (self.frame1.body, self.frame2.body);
        let (X_GF, X_GM) = (kin.pose(&self.frame1), kin.pose(&self.frame2));
        let R_FM = X_GF.R.inverse() * X_GM.R;
        let theta = R_FM.to_body_fixed_xyz();
        let delta = X_GF.R.inverse_mul(X_GM.p - X_GF.p);
        // (3)
        let (s2, c2) = theta.y.sin_cos();
        let (s3, c3) = theta.z.sin_cos();
        let ic2 = c2.recip();
        let n = [s3, c3, ic2, s2 * ic2];
        // (2): body 1 carried along to the origin of M gives the velocity seen from F.
        let w = X_GM.R.inverse_mul(kin.V_GB[b2].w - kin.V_GB[b1].w);
        let a = c3 * w.x - s3 * w.y;
        let theta_rate = vec3(a * ic2, s3 * w.x + c3 * w.y, w.z - a * n[3]);
        let delta_rate = X_GF.R.inverse_mul(kin.velocity_at(b2, X_GM.p) - kin.velocity_at(b1, X_GM.p));
        Deflection { theta, delta, theta_rate, delta_rate, X_GF, X_GM, n }
    }
    /// Adds the load on body 2, and the opposite load at the same point on body 1.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, load: &BushingLoad<T>, loads: &mut Loads<T>) {
        let (b1, b2) = (self.frame1.body, self.frame2.body);
        loads.add_moment(b2, load.moment);
        loads.add_force_at(kin, b2, load.p_GM, load.force);
        loads.add_moment(b1, -load.moment);
        loads.add_force_at(kin, b1, load.p_GM, -load.force);
    }
}

impl<T: Real> Deflection<T> {
    /// The load on body 2 whose power on the deflection rates is f_θ·θ̇ + f_δ·δ̇:
    /// moment Nᵀ f_θ in M and force f_δ in F.
    #[inline]
    pub fn load(&self, f_theta: Vec3<T>, f_delta: Vec3<T>) -> BushingLoad<T> {
        let [s3, c3, ic2, t2] = self.n;
        let a = f_theta.x * ic2 - f_theta.z * t2;
        let m_M = vec3(c3 * a + s3 * f_theta.y, c3 * f_theta.y - s3 * a, f_theta.z);
        BushingLoad {
            moment: self.X_GM.R * m_M,
            force: self.X_GF.R * f_delta,
            p_GF: self.X_GF.p,
            p_GM: self.X_GM.p,
        }
    }
}

/// Stiffness forces of a bushing.
#[derive(Clone, Debug, PartialEq)]
pub enum Springs<P: Real = f64> {
    /// k θ and k δ.
    Linear {
        /// Rotational stiffness, N·m/rad.
        rotational: Vec3<P>,
        /// Translational stiffness, N/m.
        translational: Vec3<P>,
    },
    /// One function of each deflection: three moments, three forces.
    Functions(Box<[Function; 6]>),
    /// Formulas of all six deflections: three moments, three forces.
    Expressions(Box<[Expression; 6]>),
}

/// A bushing with linear damping: f = −(spring(q) + c q̇), q = (θ, δ).
#[derive(Clone, Debug, PartialEq)]
pub struct Bushing<P: Real = f64> {
    /// The frames.
    pub frames: TwoFrames<P>,
    /// The springs.
    pub springs: Springs<P>,
    /// Rotational damping, N·m·s/rad.
    pub rotational_damping: Vec3<P>,
    /// Translational damping, N·s/m.
    pub translational_damping: Vec3<P>,
}

impl<P: Real> Bushing<P> {
    /// The load and the power dissipated by the dampers, W.
    #[inline]
    pub fn load<T: Over<P>>(&self, kin: &Kinematics<T>) -> (BushingLoad<T>, T) {
        let q = self.frames.deflection(kin);
        let (k_theta, k_delta) = match &self.springs {
            Springs::Linear { rotational, translational } => {
                (q.theta.mul_elem(Vec3::lift(*rotational)), q.delta.mul_elem(Vec3::lift(*translational)))
            }
            Springs::Functions(f) => (
                vec3(f[0].value(&[q.theta.x]), f[1].value(&[q.theta.y]), f[2].value(&[q.theta.z])),
                vec3(f[3].value(&[q.delta.x]), f[4].value(&[q.delta.y]), f[5].value(&[q.delta.z])),
            ),
            Springs::Expressions(f) => {
                let x = [q.theta.x, q.theta.y, q.theta.z, q.delta.x, q.delta.y, q.delta.z];
                (
                    vec3(f[0].value(&x), f[1].value(&x), f[2].value(&x)),
                    vec3(f[3].value(&x), f[4].value(&x), f[5].value(&x)),
                )
            }
        };
        let c_theta = q.theta_rate.mul_elem(Vec3::lift(self.rotational_damping));
        let c_delta = q.delta_rate.mul_elem(Vec3::lift(self.translational_damping));
        let power = c_theta.dot(q.theta_rate) + c_delta.dot(q.delta_rate);
        (q.load(-(k_theta + c_theta), -(k_delta + c_delta)), power)
    }
    /// Adds the load to both bodies and returns the power dissipated by the dampers, W.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) -> T {
        let (load, power) = self.load(kin);
        self.frames.apply(kin, &load, loads);
        power
    }
}

impl Bushing {
    /// ½ Σ k q², J, of linear springs; zero for others.
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        match &self.springs {
            Springs::Linear { rotational, translational } => {
                let q = self.frames.deflection(kin);
                (q.theta.dot(q.theta.mul_elem(Vec3::cst(*rotational)))
                    + q.delta.dot(q.delta.mul_elem(Vec3::cst(*translational))))
                    * 0.5
            }
            Springs::Functions(_) | Springs::Expressions(_) => T::zero(),
        }
    }
    /// Force and torque on each body, as OpenSim reports them: about the body origins for the
    /// linear bushing, about the frame origins for the others.
    pub fn record<T: Real>(&self, kin: &Kinematics<T>, out: &mut Vec<T>) {
        let load = self.load(kin).0;
        let (at1, at2) = match self.springs {
            Springs::Linear { .. } => {
                (kin.X_GB[self.frames.frame1.body].p, kin.X_GB[self.frames.frame2.body].p)
            }
            _ => (load.p_GF, load.p_GM),
        };
        let (f, m) = (load.force, load.moment);
        out.extend((-f).to_array());
        out.extend((-(m + (load.p_GM - at1).cross(f))).to_array());
        out.extend(f.to_array());
        out.extend((m + (load.p_GM - at2).cross(f)).to_array());
    }
}
