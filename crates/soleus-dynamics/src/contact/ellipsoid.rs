//! A point on an ellipsoid: the scapula on the rib cage.

use crate::{BodyFrame, Kinematics, Loads};
use soleus_math::{Over, Real, Vec3, vec3};

/// A point P of one body that is pushed out by an ellipsoid of another, without friction.
///
///   r = P − C,   F = Σₖ (rₖ/aₖ)² − 1                    (1)  surface function, negative inside
///   F₋ = ½ (F − √(F² + ε²))                             (2)  F inside, zero outside, smooth
///   fₖ = −k (a₀² + a₁² + a₂²) F₋ rₖ/aₖ²                  (3)  force on P, along the gradient of F
///
/// in the ellipsoid's frame, with half axes a (m), stiffness k (N/m) and smoothing ε. Near the surface of a sphere
/// of radius a, F is twice the depth over a, so k is of the order of the stiffness against depth.
///
/// Source: DAS3 (Chadwick et al. 2009; van den Bogert, Blana and Heinrich 2011), numbers of release 2 (2015).
/// Smooth for ε > 0.
#[derive(Clone, Debug, PartialEq)]
pub struct EllipsoidContact<P: Real = f64> {
    /// Body of the point.
    pub(crate) point_body: usize,
    /// The point on it, m.
    pub(crate) p_BP: Vec3<P>,
    /// Body and pose of the ellipsoid: origin at the centre, axes along the half axes.
    pub(crate) ellipsoid: BodyFrame<P>,
    /// 1/aₖ².
    pub(crate) per_radius2: Vec3<P>,
    /// k Σ a².
    pub(crate) factor: P,
    /// ε².
    pub(crate) smoothing2: P,
}

impl<P: Real> EllipsoidContact<P> {
    /// The point in ground, the force on it in the ellipsoid's frame (N) and the surface function.
    #[inline]
    pub fn force<T: Over<P>>(&self, kin: &Kinematics<T>) -> (Vec3<T>, Vec3<T>, T) {
        let P = kin.point(self.point_body, self.p_BP);
        let r = kin.pose(&self.ellipsoid).inverse_mul(P);
        let w = self.per_radius2;
        let g = vec3(r.x * w.x, r.y * w.y, r.z * w.z);
        let F = r.dot(g) - 1.0; // (1)
        let inside = (F - (F * F + self.smoothing2).sqrt()) * 0.5; // (2)
        (P, g * (inside * -self.factor), F) // (3)
    }

    /// Adds the forces on both bodies.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        let (P, f_E, _) = self.force(kin);
        let f = kin.pose(&self.ellipsoid).R * f_E;
        loads.add_force_at(kin, self.point_body, P, f);
        loads.add_force_at(kin, self.ellipsoid.body, P, -f);
    }
}

impl EllipsoidContact {
    /// Energy stored, J: the force is minus its gradient.
    ///
    ///   V = ½ k Σ a² ∫ F₋ dF,   ∫ F₋ dF = ¼ (F² − F √(F² + ε²) − ε² asinh(F/ε))
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        let F = self.force(kin).2;
        let root = (F * F + self.smoothing2).sqrt();
        let smoothing = self.smoothing2.sqrt();
        // asinh(F/ε) = ln((F + √(F² + ε²))/ε), which inside the ellipsoid is better written with √ − F.
        let asinh = if F.value() < 0.0 {
            -((root - F) * (1.0 / smoothing)).ln()
        } else {
            ((root + F) * (1.0 / smoothing)).ln()
        };
        (F * F - F * root - asinh * self.smoothing2) * (0.125 * self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::{Dual, SpatialVec, Transform};

    fn contact() -> EllipsoidContact {
        let a = vec3(0.147, 0.2079, 0.0944);
        EllipsoidContact {
            point_body: 1,
            p_BP: Vec3::zero(),
            ellipsoid: BodyFrame {
                body: 0,
                X_BF: Transform::from_offset(vec3(0.0, -0.1486, 0.0591), Vec3::zero()),
            },
            per_radius2: vec3(1.0 / (a.x * a.x), 1.0 / (a.y * a.y), 1.0 / (a.z * a.z)),
            factor: 20_000.0 * a.dot(a),
            smoothing2: 1e-4,
        }
    }

    fn at<T: Real>(p: Vec3<T>, f: impl FnOnce(&Kinematics<T>) -> T) -> T {
        let mut X = [Transform::identity(); 2];
        X[1].p = p;
        let V = [SpatialVec::zero(); 2];
        f(&Kinematics { time: T::zero(), X_GB: &X, V_GB: &V, q: &[], u: &[] })
    }

    /// The force is minus the gradient of the energy, inside, at the surface and outside; differences agree.
    #[test]
    fn deriv_ellipsoid_energy_and_force() {
        let c = contact();
        for p in [vec3(0.05, -0.1, 0.14), vec3(0.06, -0.12, 0.146), vec3(-0.1, -0.05, 0.2)] {
            let duals =
                vec3(Dual::<f64, 3>::variable(p.x, 0), Dual::variable(p.y, 1), Dual::variable(p.z, 2));
            let energy = at(duals, |k| c.potential_energy(k));
            for i in 0..3 {
                let f = at(p, |k| c.force(k).1[i]);
                assert!((f + energy.d[i]).abs() < 1e-10 * (1.0 + f.abs()), "{p:?} {i}: {f} {}", energy.d[i]);
                let h = 1e-6;
                let (mut hi, mut lo) = (p, p);
                hi[i] += h;
                lo[i] -= h;
                let df = (at(hi, |k| c.force(k).1[i]) - at(lo, |k| c.force(k).1[i])) / (2.0 * h);
                let dual = at(duals, |k| c.force(k).1[i]).d[i];
                // Forces to 1e3 N, third derivatives to 1e10 N/m³: 1e-7 from roundoff, 1e-2 from truncation.
                assert!((df - dual).abs() < 1e-6 * dual.abs() + 1e-2, "{p:?} {i}: {df} {dual}");
            }
        }
    }
}
