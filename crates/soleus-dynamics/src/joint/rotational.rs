//! Conversion between angular velocity and the rates of body-fixed X-Y-Z angles.

use soleus_math::{Real, Vec3, vec3};

/// Rates of the body-fixed X-Y-Z angles `q` for the angular velocity `w` of M in F, in F.
///
///   ω = x̂ q̇₁ + ŷ′ q̇₂ + ẑ″ q̇₃ solved for q̇:
///   q̇₁ = ω₁ + tan q₂ (s₁ ω₂ − c₁ ω₃),  q̇₂ = c₁ ω₂ + s₁ ω₃,  q̇₃ = (c₁ ω₃ − s₁ ω₂)/c₂
///
/// Singular at q₂ = ±π/2, as the angles are.
pub fn angles_rate<T: Real>(q: Vec3<T>, w: Vec3<T>) -> Vec3<T> {
    let (s1, c1) = q.x.sin_cos();
    let (s2, c2) = q.y.sin_cos();
    let r3 = (c1 * w.z - s1 * w.y) / c2;
    vec3(w.x - s2 * r3, c1 * w.y + s1 * w.z, r3)
}

/// The angular velocity of M in F, in F, for given rates of the body-fixed X-Y-Z angles; the
/// inverse of [`angles_rate`].
pub fn speeds_from_rates<T: Real>(q: Vec3<T>, qdot: Vec3<T>) -> Vec3<T> {
    let (s1, c1) = q.x.sin_cos();
    let (s2, c2) = q.y.sin_cos();
    vec3(qdot.x + s2 * qdot.z, c1 * qdot.y - s1 * c2 * qdot.z, s1 * qdot.y + c1 * c2 * qdot.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_rates_and_speeds_are_inverse() {
        let (q, w) = (vec3(0.3, -1.2, 0.8), vec3(0.5, -0.7, 1.1));
        assert!((speeds_from_rates(q, angles_rate(q, w)) - w).norm() < 1e-14);
    }
}
