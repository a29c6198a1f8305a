//! Compiled joints: pose, velocity and bias acceleration of frame M in frame F.
//!
//! Each joint computes a [`JointMotion`]: the pose X_FM(q), the columns of H_FM(q) with V_FM = H u, and the bias
//! acceleration Ḣ u. Angular parts first; everything is expressed in F, the linear part is that of M's origin.

mod constant_curvature;
mod custom;
mod rotational;

pub use constant_curvature::ConstantCurvature;
pub use custom::{Axis, AxisMotion, CustomJoint};
pub use rotational::{angles_rate, speeds_from_rates};

use soleus_math::{Jet, Over, Real, Rotation, SpatialVec, Transform, Vec3, same, same_mut, vec3};

/// Motion of a compiled joint.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKernel<P: Real = f64> {
    /// None.
    Weld,
    /// Rotation about z.
    Pin,
    /// Translation along x.
    Slider,
    /// Rotation about z, translation along x and y of F.
    Planar,
    /// Rotation about x of F, then y of M.
    Universal,
    /// Body-fixed rotations x, y, z, with their rates as speeds.
    Gimbal,
    /// Body-fixed angles x, y, z, with ω_FM in F as speeds.
    Ball,
    /// `Ball`, then translation along x, y, z of F.
    Free,
    /// M's origin on an ellipsoid of these radii with z along `R_FM ẑ`; angles and speeds of `Ball`.
    Ellipsoid(Vec3<P>),
    /// M at the end of an arc of constant length.
    ConstantCurvature(Box<ConstantCurvature<P>>),
    /// M at the end of a bent beam of this length; angles and speeds of `Gimbal`.
    CantileverFreeBeam(P),
    /// Functions of the coordinates along six axes.
    Custom(Box<CustomJoint<P>>),
}

/// Pose, motion subspace and bias of M in F; see the module text.
#[derive(Clone, Copy, Debug)]
pub struct JointMotion<T: Real> {
    /// Pose of M in F.
    pub X_FM: Transform<T>,
    /// Columns of H_FM, one per mobility.
    pub H: [SpatialVec<T>; 6],
    /// H u.
    pub V: SpatialVec<T>,
    /// Ḣ u.
    pub A: SpatialVec<T>,
}

impl<T: Real> JointMotion<T> {
    /// M coincides with F, at rest.
    #[inline]
    pub fn rest() -> Self {
        JointMotion {
            X_FM: Transform::identity(),
            H: [SpatialVec::zero(); 6],
            V: SpatialVec::zero(),
            A: SpatialVec::zero(),
        }
    }

    /// The reversed relative motion: F in M, expressed in M, of F's origin.
    ///
    ///   R_MF = R_FMᵀ,  p_MF = −R_FMᵀ p,   ω′ = −Rᵀ ω,   v′ = Rᵀ(ω × p − v),
    ///   α′ = −Rᵀ α,   a′ = Rᵀ(α × p + ω × v − a − ω × (ω × p − v))
    pub fn reversed(&self, nu: usize) -> Self {
        let (R, p) = (self.X_FM.R, self.X_FM.p);
        let flip = |h: SpatialVec<T>| SpatialVec::new(-R.inverse_mul(h.w), R.inverse_mul(h.w.cross(p) - h.v));
        let (w, v) = (self.V.w, self.V.v);
        let a = self.A.w.cross(p) + w.cross(v) - self.A.v - w.cross(w.cross(p) - v);
        let mut H = self.H;
        for h in &mut H[..nu] {
            *h = flip(*h);
        }
        JointMotion {
            X_FM: self.X_FM.inverse(),
            H,
            V: flip(self.V),
            A: SpatialVec::new(-R.inverse_mul(self.A.w), R.inverse_mul(a)),
        }
    }
}

/// The jets of a joint of up to three coordinates. Other crates share this copy of [`JointKernel::compute`].
type Jets = Jet<6, 21>;

#[inline(never)]
fn compute_in_jets(joint: &JointKernel, n: usize, q: &[Jets; 6], u: &[Jets; 6], m: &mut JointMotion<Jets>) {
    joint.compute_any(&q[..n], &u[..n], m);
}

impl<P: Real> JointKernel<P> {
    /// Number of coordinates, and of speeds.
    pub fn num_mobilities(&self) -> usize {
        match self {
            JointKernel::Weld => 0,
            JointKernel::Pin | JointKernel::Slider => 1,
            JointKernel::Universal => 2,
            JointKernel::Planar | JointKernel::Gimbal | JointKernel::Ball | JointKernel::Ellipsoid(_) => 3,
            JointKernel::ConstantCurvature(_) | JointKernel::CantileverFreeBeam(_) => 3,
            JointKernel::Free => 6,
            JointKernel::Custom(c) => c.num_coordinates,
        }
    }

    /// Whether the first three speeds are an angular velocity instead of rates of angles.
    pub fn speeds_are_angular_velocity(&self) -> bool {
        matches!(self, JointKernel::Ball | JointKernel::Free | JointKernel::Ellipsoid(_))
    }

    /// Whether M can accelerate in F at zero u̇. This is assumed for custom joints unless they have at most one
    /// rotation and every axis is proportional to a coordinate.
    pub fn has_bias(&self) -> bool {
        match self {
            JointKernel::Weld | JointKernel::Pin | JointKernel::Slider | JointKernel::Planar => false,
            JointKernel::Ball | JointKernel::Free => false,
            JointKernel::Universal | JointKernel::Gimbal | JointKernel::Ellipsoid(_) => true,
            JointKernel::ConstantCurvature(_) | JointKernel::CantileverFreeBeam(_) => true,
            JointKernel::Custom(c) => c.has_bias(),
        }
    }

    /// Pose and motion subspace at `q`, velocity and bias at `u`; overwrites `m`.
    #[inline]
    pub fn compute<T: Over<P>>(&self, q: &[T], u: &[T], m: &mut JointMotion<T>) {
        if const { matches!((T::SHAPE, P::SHAPE), (Some([2, 6]), Some([0, _]))) } {
            let (mut own_q, mut own_u) = ([T::zero(); 6], [T::zero(); 6]);
            own_q[..q.len()].copy_from_slice(q);
            own_u[..u.len()].copy_from_slice(u);
            return compute_in_jets(same(self), q.len(), same(&own_q), same(&own_u), same_mut(m));
        }
        self.compute_any(q, u, m);
    }

    #[inline]
    fn compute_any<T: Over<P>>(&self, q: &[T], u: &[T], m: &mut JointMotion<T>) {
        let (o, l) = (T::zero(), T::one());
        let zero = Vec3::zero();
        match self {
            JointKernel::Custom(c) => return c.compute(q, u, m),
            JointKernel::ConstantCurvature(c) => return c.compute(q, u, m),
            _ => {}
        }
        m.X_FM = Transform::identity();
        (m.V, m.A) = (SpatialVec::zero(), SpatialVec::zero());
        match self {
            JointKernel::Weld => {}
            JointKernel::Pin => {
                m.X_FM.R = Rotation::about_z(q[0]);
                m.H[0] = SpatialVec::new(vec3(o, o, l), zero);
                m.V = m.H[0] * u[0];
            }
            JointKernel::Slider => {
                m.X_FM.p = vec3(q[0], o, o);
                m.H[0] = SpatialVec::new(zero, vec3(l, o, o));
                m.V = m.H[0] * u[0];
            }
            JointKernel::Planar => {
                m.X_FM = Transform::new(Rotation::about_z(q[0]), vec3(q[1], q[2], o));
                m.H[0] = SpatialVec::new(vec3(o, o, l), zero);
                m.H[1] = SpatialVec::new(zero, vec3(l, o, o));
                m.H[2] = SpatialVec::new(zero, vec3(o, l, o));
                m.V = SpatialVec::new(vec3(o, o, u[0]), vec3(u[1], u[2], o));
            }
            JointKernel::Universal => {
                let Rx = Rotation::about_x(q[0]);
                m.X_FM.R = Rx * Rotation::about_y(q[1]);
                let y = Rx.axis(1);
                m.H[0] = SpatialVec::new(vec3(l, o, o), zero);
                m.H[1] = SpatialVec::new(y, zero);
                m.V.w = vec3(u[0], o, o) + y * u[1];
                m.A.w = vec3(u[0], o, o).cross(y * u[1]);
            }
            JointKernel::Gimbal => {
                let Rx = Rotation::about_x(q[0]);
                let Rxy = Rx * Rotation::about_y(q[1]);
                m.X_FM.R = Rxy * Rotation::about_z(q[2]);
                let (x, y, z) = (vec3(l, o, o), Rx.axis(1), Rxy.axis(2));
                m.H[0] = SpatialVec::new(x, zero);
                m.H[1] = SpatialVec::new(y, zero);
                m.H[2] = SpatialVec::new(z, zero);
                let (w1, w2, w3) = (x * u[0], y * u[1], z * u[2]);
                m.V.w = w1 + w2 + w3;
                m.A.w = w1.cross(w2) + (w1 + w2).cross(w3);
            }
            JointKernel::CantileverFreeBeam(length) => {
                // The end of a beam under a load across its end, small deflections (Euler and Bernoulli): a slope q there goes
                // with a deflection of 2/3 q l, and the end comes nearer by ½ ∫ y′² dz = 4/15 q² l. Simbody's
                // `MobilizedBody::CantileverFreeBeam` (2026).
                JointKernel::<P>::Gimbal.compute(q, u, m);
                let (across, along) = (T::lift(*length) * (2.0 / 3.0), T::lift(*length) * (-4.0 / 15.0));
                m.X_FM.p = vec3(across * q[1], -(across * q[0]), along * (q[0].sq() + q[1].sq()) + *length);
                m.H[0].v = vec3(o, -across, along * q[0] * 2.0);
                m.H[1].v = vec3(across, o, along * q[1] * 2.0);
                m.V.v = m.H[0].v * u[0] + m.H[1].v * u[1];
                m.A.v = vec3(o, o, along * (u[0].sq() + u[1].sq()) * 2.0);
            }
            JointKernel::Ball => {
                m.X_FM.R = Rotation::body_fixed_xyz(vec3(q[0], q[1], q[2]));
                for i in 0..3 {
                    m.H[i] = SpatialVec::new(Vec3::unit(i), zero);
                }
                m.V.w = vec3(u[0], u[1], u[2]);
            }
            JointKernel::Free => {
                m.X_FM.R = Rotation::body_fixed_xyz(vec3(q[0], q[1], q[2]));
                m.X_FM.p = vec3(q[3], q[4], q[5]);
                for i in 0..3 {
                    m.H[i] = SpatialVec::new(Vec3::unit(i), zero);
                    m.H[i + 3] = SpatialVec::new(zero, Vec3::unit(i));
                }
                m.V = SpatialVec::new(vec3(u[0], u[1], u[2]), vec3(u[3], u[4], u[5]));
            }
            JointKernel::Ellipsoid(radii) => {
                // p = r ∘ n with n = R ẑ, so ṗ = r ∘ (ω × n) and p̈ = r ∘ (ω × (ω × n)) at constant ω.
                let R = Rotation::body_fixed_xyz(vec3(q[0], q[1], q[2]));
                let r = Vec3::lift(*radii);
                let n = R.axis(2);
                m.X_FM = Transform::new(R, r.mul_elem(n));
                for i in 0..3 {
                    let e = Vec3::unit(i);
                    m.H[i] = SpatialVec::new(e, r.mul_elem(e.cross(n)));
                }
                let w = vec3(u[0], u[1], u[2]);
                m.V = SpatialVec::new(w, r.mul_elem(w.cross(n)));
                m.A.v = r.mul_elem(w.cross(w.cross(n)));
            }
            JointKernel::Custom(_) | JointKernel::ConstantCurvature(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::{Dual, Function};

    fn custom() -> JointKernel {
        let axis = |v: Vec3<f64>, motion| Axis { axis: v.normalized(), motion, change: None };
        let line = Function::Linear { slope: 0.7, intercept: 0.1 };
        JointKernel::Custom(Box::new(CustomJoint {
            num_coordinates: 2,
            as_simbody: false,
            axes: [
                axis(vec3(0.1, 0.2, 1.0), AxisMotion::Direct(0)),
                axis(vec3(1.0, 0.0, 0.3), AxisMotion::One(1, line.clone())),
                axis(vec3(0.0, 1.0, 0.0), AxisMotion::Fixed(0.4)),
                axis(vec3(1.0, 0.0, 0.0), AxisMotion::One(0, line)),
                axis(vec3(0.0, 1.0, 0.2), AxisMotion::Direct(1)),
                axis(vec3(0.0, 0.0, 1.0), AxisMotion::Fixed(0.03)),
            ],
        }))
    }

    fn curved(neutral: Vec3<f64>) -> JointKernel {
        JointKernel::ConstantCurvature(Box::new(ConstantCurvature {
            neutral,
            length: 0.4,
            as_opensim: false,
        }))
    }

    fn kernels() -> Vec<JointKernel> {
        vec![
            JointKernel::Weld,
            JointKernel::Pin,
            JointKernel::Slider,
            JointKernel::Planar,
            JointKernel::Universal,
            JointKernel::Gimbal,
            JointKernel::Ball,
            JointKernel::Free,
            JointKernel::Ellipsoid(vec3(0.1, 0.2, 0.3)),
            curved(vec3(0.2, -0.1, 0.3)),
            // Straight but for rounding: the angles of the test are these.
            curved(vec3(-0.3, 0.5 + 1e-9, 0.0)),
            JointKernel::CantileverFreeBeam(0.4),
            custom(),
        ]
    }

    /// Along a motion with constant speeds, H u is the derivative of the pose and Ḣ u that of
    /// H u, both taken by a dual in time; the same for the reversed joint.
    #[test]
    fn deriv_velocity_and_bias_follow_from_the_pose() {
        type D = Dual<f64, 1>;
        let (q0, u0) = ([0.3, -0.5, 0.8, 0.1, -0.2, 0.4], [0.7, -1.1, 0.4, 0.9, 0.2, -0.3]);
        for kernel in kernels() {
            for reverse in [false, true] {
                let nu = kernel.num_mobilities();
                // q̇ follows from u: they differ where speeds are an angular velocity.
                let mut qdot = u0;
                if kernel.speeds_are_angular_velocity() {
                    let rate = angles_rate(vec3(q0[0], q0[1], q0[2]), vec3(u0[0], u0[1], u0[2]));
                    qdot[..3].copy_from_slice(&rate.to_array());
                }
                let q: [D; 6] = std::array::from_fn(|i| D::new(q0[i], [qdot[i]]));
                let u: [D; 6] = u0.map(D::cst);
                let mut m = JointMotion::rest();
                kernel.compute(&q, &u, &mut m);
                let m = if reverse { m.reversed(nu) } else { m };

                let d = |x: Vec3<D>| vec3(x.x.d[0], x.y.d[0], x.z.d[0]);
                // Ṙ Rᵀ = [ω]×: check on the columns, ċ = ω × c.
                for i in 0..3 {
                    let c = m.X_FM.R.axis(i);
                    let err = d(c) - m.V.w.value().cross(c.value());
                    assert!(err.norm() < 1e-14, "{kernel:?} reverse {reverse}: {err:?}");
                }
                assert!((d(m.X_FM.p) - m.V.v.value()).norm() < 1e-14, "{kernel:?} reverse {reverse}");
                assert!((d(m.V.w) - m.A.w.value()).norm() < 1e-14, "{kernel:?} reverse {reverse}");
                assert!((d(m.V.v) - m.A.v.value()).norm() < 1e-14, "{kernel:?} reverse {reverse}");
                let mut sum = SpatialVec::zero();
                for (h, u) in m.H[..nu].iter().zip(&u) {
                    sum += *h * *u;
                }
                assert!((sum.w - m.V.w).value().norm() + (sum.v - m.V.v).value().norm() < 1e-14);
            }
        }
    }

    /// The end of the arc lies where a walk along it comes to: small steps along a direction that turns evenly from y to the
    /// y axis of M.
    #[test]
    fn analytic_constant_curvature_is_an_arc() {
        let kernel = curved(Vec3::zero());
        for (x, z) in [(0.7, -0.4), (-1.2, 0.9), (0.05, 0.02), (1e-5, 2e-5)] {
            let mut m = JointMotion::<f64>::rest();
            kernel.compute(&[x, z, 0.6], &[0.0; 3], &mut m);
            let n = m.X_FM.R.axis(1);
            let theta = n.x.hypot(n.z).atan2(n.y);
            let out = vec3(n.x, 0.0, n.z) * (1.0 / n.x.hypot(n.z));
            let steps = 1000;
            let mut p = Vec3::zero();
            for k in 0..steps {
                let (s, c) = (theta * (k as f64 + 0.5) / steps as f64).sin_cos();
                p += (vec3(0.0, c, 0.0) + out * s) * (0.4 / steps as f64);
            }
            // The midpoint rule errs by θ²/24/steps² of the length, at most 1e-7 · 0.4 m here.
            assert!((p - m.X_FM.p).norm() < 4e-8 * theta * theta.max(1e-3), "{x} {z}: {p:?} {:?}", m.X_FM.p);
        }
    }

    /// Slope and place of the free end agree with the beam they come from: y = q z² (3 l − z) / (3 l²), and the end comes
    /// nearer by half the integral of the slope squared.
    #[test]
    fn analytic_cantilever_free_beam() {
        let (l, q): (f64, f64) = (0.4, 0.3);
        let mut m = JointMotion::<f64>::rest();
        JointKernel::CantileverFreeBeam(l).compute(&[0.0, q, 0.0], &[0.0; 3], &mut m);
        let slope = |z: f64| q * (6.0 * l * z - 3.0 * z * z) / (3.0 * l * l);
        assert!((slope(l) - q).abs() < 1e-15);
        let steps = 1000;
        let (mut deflection, mut nearer) = (0.0, 0.0);
        for k in 0..steps {
            let s = slope(l * (k as f64 + 0.5) / steps as f64);
            deflection += s * l / steps as f64;
            nearer += 0.5 * s * s * l / steps as f64;
        }
        // Midpoint rule with 1000 steps: 1e-7 of the integrals.
        let want = vec3(deflection, 0.0, l - nearer);
        assert!((m.X_FM.p - want).norm() < 3e-8, "{:?} {want:?}", m.X_FM.p);
    }
}
