//! Aerodynamic drag on a body.

use crate::{Kinematics, Loads};
use soleus_math::{Over, Real, Vec3};

/// A force at a point of a body, opposite to its velocity v (m/s) in still air:
///
///   F = −½ ρ C_d A √(|v|² + v₀²) v          (1)
///
/// with the density ρ (kg/m³) and the drag area C_d A (m²). For v₀ = 0 its second derivative is discontinuous at rest;
/// for v₀ > 0 it is smooth and larger by the fraction v₀²/(2|v|²).
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticDrag<P: Real = f64> {
    /// Body of the point.
    pub(crate) body: usize,
    /// The point on it, m.
    pub(crate) p_BP: Vec3<P>,
    /// ½ ρ C_d A, kg/m.
    pub(crate) factor: P,
    /// v₀², m²/s².
    pub(crate) speed2: P,
}

impl<P: Real> QuadraticDrag<P> {
    /// The force, N, in ground.
    #[inline]
    pub fn force<T: Over<P>>(&self, kin: &Kinematics<T>) -> Vec3<T> {
        let v = kin.velocity_at(self.body, kin.point(self.body, self.p_BP));
        v * ((v.dot(v) + self.speed2).sqrt() * -self.factor) // (1)
    }

    /// Adds it.
    #[inline]
    pub fn apply<T: Over<P>>(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        loads.add_force_at(kin, self.body, kin.point(self.body, self.p_BP), self.force(kin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::{Dual, SpatialVec, Transform, vec3};

    fn drag() -> QuadraticDrag {
        QuadraticDrag { body: 1, p_BP: vec3(0.0, 0.3, 0.0), factor: 0.5 * 1.2 * 0.35, speed2: 1e-4 }
    }

    /// The force on a body with velocity v of its origin and angular velocity w about z.
    fn at<T: Real>(d: &QuadraticDrag, v: Vec3<T>, w: T) -> Vec3<T> {
        let X = [Transform::identity(); 2];
        let V = [SpatialVec::zero(), SpatialVec::new(vec3(T::zero(), T::zero(), w), v)];
        d.force(&Kinematics { time: T::zero(), X_GB: &X, V_GB: &V, q: &[], u: &[] })
    }

    /// ½ ρ C_d A v² against the motion; the point's own velocity counts.
    #[test]
    fn analytic_drag() {
        let d = drag();
        // v₀²/(2 v²) of 84 N is 1e-5 N.
        let f = at(&d, vec3(20.0, 0.0, 0.0), 0.0);
        assert!((f.x + 84.0).abs() < 2e-5 && f.y == 0.0, "{f:?}");
        // w × (0, 0.3, 0) takes 0.3 w from the forward speed.
        let f = at(&d, vec3(3.0, 0.0, 4.0), 0.0);
        assert!((f.x / f.z - 0.75).abs() < 1e-12 && (f.norm() - 0.21 * 25.0).abs() < 2e-5);
        assert_eq!(at(&d, vec3(6.0, 0.0, 0.0), 20.0), Vec3::zero());
    }

    #[test]
    fn deriv_drag() {
        let d = drag();
        let z = [12.0, -3.0, 0.4, 1.7];
        fn value<T: Real>(d: &QuadraticDrag, z: [T; 4]) -> [T; 3] {
            at(d, vec3(z[0], z[1], z[2]), z[3]).to_array()
        }
        let dual = value(&d, std::array::from_fn(|i| Dual::<f64, 4>::variable(z[i], i)));
        for i in 0..4 {
            // Truncation h²/6 of a third derivative of about 0.01, roundoff 1e-14/h.
            let h = 1e-5;
            let (mut hi, mut lo) = (z, z);
            hi[i] += h;
            lo[i] -= h;
            let (hi, lo) = (value(&d, hi), value(&d, lo));
            for k in 0..3 {
                let fd = (hi[k] - lo[k]) / (2.0 * h);
                assert!((dual[k].d[i] - fd).abs() < 1e-8, "{k} {i}: {} {fd}", dual[k].d[i]);
            }
        }
    }
}
