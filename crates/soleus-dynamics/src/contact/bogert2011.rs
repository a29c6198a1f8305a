//! A point on level ground with a force that is smooth in height and velocity: the feet of the planar gait model.

use super::Touch;
use crate::Kinematics;
use soleus_math::{Over, Real, Vec3, vec3};

/// A point P of a body above the plane y = 0 of ground, with velocity v:
///
///   d = ½ (√(y² + y₀²) − y)                              (1)  depth, never quite zero
///   f_y = k d (1 − b v_y) − κ y                           (2)
///   f_t = −μ f_y v_t/√(|v_t|² + v₀²)                      (3)  v_t: the part of v along the plane
///
/// with stiffness k (N/m), damping b (s/m), height of the transition y₀ (m), friction μ and the speed v₀ (m/s) at which
/// friction reaches 0.7 of its limit. The small stiffness κ (N/m) acts at any height, so that an optimizer gets a
/// gradient above the ground; a foot at a height of 0.3 m is pulled down by 0.3 N. At upward velocities above 1/b the
/// ground pulls, as in the source.
///
/// Source: Ackermann and van den Bogert (2010), van den Bogert, Blana and Heinrich (2011), section 4.3, where the model
/// is planar and v_t is a number. The papers do not give κ; the solutions in the release of 2011 satisfy the equations
/// of motion to 5e-7 N with κ = 1 N/m, and only to 0.35 N without. Smooth for y₀, v₀ > 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Bogert2011Contact<P: Real = f64> {
    /// Body of the point.
    pub(crate) body: usize,
    /// The point on it, m.
    pub(crate) p_BP: Vec3<P>,
    pub(crate) stiffness: P,
    pub(crate) damping: P,
    /// κ.
    pub(crate) linear_stiffness: P,
    /// y₀².
    pub(crate) height2: P,
    pub(crate) friction: P,
    /// v₀².
    pub(crate) speed2: P,
}

impl<P: Real> Bogert2011Contact<P> {
    /// The contact; its force is the one on the ground.
    #[inline]
    pub fn touch<T: Over<P>>(&self, kin: &Kinematics<T>) -> Touch<T> {
        let P = kin.point(self.body, self.p_BP);
        let v = kin.velocity_at(self.body, P);
        let d = ((P.y * P.y + self.height2).sqrt() - P.y) * 0.5; // (1)
        let fy = d * self.stiffness * (v.y * -self.damping + 1.0) - P.y * self.linear_stiffness; // (2)
        let slip2 = v.x * v.x + v.z * v.z + self.speed2;
        let per_speed = fy * -self.friction / slip2.sqrt(); // (3)
        let force = -vec3(v.x * per_speed, fy, v.z * per_speed);
        Touch { body1: self.body, body2: 0, point: P, force, normal: vec3(T::zero(), T::cst(1.0), T::zero()) }
    }
}

impl Bogert2011Contact {
    /// Energy stored, J: −dV/dy is (2) at rest.
    ///
    ///   V = ¼ k (y² − y √(y² + y₀²) − y₀² asinh(y/y₀)) + ½ κ y²
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let y = kin.point(self.body, self.p_BP).y;
        let root = (y * y + self.height2).sqrt();
        let per_height = 1.0 / self.height2.sqrt();
        // asinh(x) = ln(x + √(x² + 1)), written without cancellation on either side.
        let asinh =
            if y.value() < 0.0 { -((root - y) * per_height).ln() } else { ((root + y) * per_height).ln() };
        (y * y - y * root - asinh * self.height2) * (0.25 * self.stiffness)
            + y * y * (0.5 * self.linear_stiffness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::{Dual, SpatialVec, Transform};

    fn contact() -> Bogert2011Contact {
        Bogert2011Contact {
            body: 1,
            p_BP: Vec3::zero(),
            stiffness: 2e4,
            damping: 1.0,
            linear_stiffness: 1.0,
            height2: 1e-6,
            friction: 1.0,
            speed2: 0.01,
        }
    }

    /// A value at place p and velocity v of the point.
    fn at<T: Real, R>(p: Vec3<T>, v: Vec3<T>, f: impl FnOnce(&Kinematics<T>) -> R) -> R {
        let mut X = [Transform::identity(); 2];
        X[1].p = p;
        let V = [SpatialVec::zero(), SpatialVec::new(Vec3::zero(), v)];
        f(&Kinematics { time: T::zero(), X_GB: &X, V_GB: &V, q: &[], u: &[] })
    }

    /// Deep in the ground a spring with friction; high above little but κ y.
    #[test]
    fn analytic_limits() {
        let c = contact();
        let f = at(vec3(0.0, -0.01, 0.0), vec3(100.0, 0.0, 0.0), |k| c.touch(k).force);
        // d is 0.01 and y₀²/(4·0.01) more; friction is at μ up to v₀²/(2 v²).
        assert!((f.y + 2e4 * 0.010025 + 0.01).abs() < 0.01 && (f.x + f.y).abs() < 1e-3, "{f:?}");
        let f = at(vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 0.0), |k| c.touch(k).force);
        assert!((f.y + 2e4 * 0.25e-6 - 1.0).abs() < 1e-8, "{f:?}");
        let f = at(vec3(0.0, -0.01, 0.0), vec3(0.3, 0.0, 0.4), |k| c.touch(k).force);
        assert!((f.x * 0.4 - f.z * 0.3).abs() < 1e-12, "friction is not along the slip: {f:?}");
    }

    /// Duals against central differences in place and velocity, and the force at rest against the energy.
    #[test]
    fn deriv_force_and_energy() {
        let c = contact();
        type D = Dual<f64, 4>;
        fn value<T: Real>(c: &Bogert2011Contact, z: [T; 4]) -> [T; 3] {
            at(vec3(T::zero(), z[0], T::zero()), vec3(z[1], z[2], z[3]), |k| c.touch(k).force.to_array())
        }
        for z in [[-0.004, 0.05, -0.2, 0.1], [0.0005, -0.3, 0.1, 0.0], [0.01, 1.0, 0.5, -0.2]] {
            let dual = value(&c, std::array::from_fn(|i| D::variable(z[i], i)));
            for i in 0..4 {
                let h = 1e-7;
                let (mut hi, mut lo) = (z, z);
                hi[i] += h;
                lo[i] -= h;
                let (hi, lo) = (value(&c, hi), value(&c, lo));
                for k in 0..3 {
                    let fd = (hi[k] - lo[k]) / (2.0 * h);
                    // Forces to 100 N: roundoff 1e-7; third derivatives to k/y₀² = 2e10 N/m³: truncation 1e-4.
                    assert!(
                        (dual[k].d[i] - fd).abs() < 1e-3 + 1e-7 * fd.abs(),
                        "{k} {i} {} {fd}",
                        dual[k].d[i]
                    );
                }
            }
            let energy =
                at(vec3(D::zero(), D::variable(z[0], 0), D::zero()), Vec3::zero(), |k| c.potential_energy(k));
            let still = value(&c, [z[0], 0.0, 0.0, 0.0]);
            assert!((energy.d[0] - still[1]).abs() < 1e-10 * (1.0 + still[1].abs()));
        }
    }
}
