//! Inertia of a scaled body.

use soleus_math::{SymMat33, Vec3};

/// Below this mass (kg) OpenSim takes the inertia for zero.
const MASSLESS_BELOW_KG: f64 = f64::EPSILON;

/// Factors this close together, relatively, count as one: ε^(7/8), Simbody's `SignificantReal`.
const EQUAL_WITHIN: f64 = 2.0e-14;

/// Inertia about the mass center, kg·m², of a body whose mass changes from m₀ to m, kg, and whose size changes by
/// factors s along x, y, z.
///
/// With one factor for all axes all moments are proportional to m s²:
///
///   I ← (m/m₀) s² I                                     (1)
///
/// Otherwise the body is approximated by a cylinder along the axis a of its smallest moment, whose radius r and length
/// l are computed from two of the moments (b is x, or y if a is x):
///
///   r² = 2 Iₐₐ/m₀,   l² = 12 (I_bb − m₀ r²/4)/m₀        (2)  both at least zero
///   r² ← r² s_b s_c,   l ← l sₐ                         (3)  b and c across a
///   Iₐₐ = m r²/2,   I_bb = I_cc = m (l²/12 + r²/4)      (4)
///   Iᵢⱼ ← (m/m₀) sᵢ sⱼ Iᵢⱼ                               (5)  products of inertia
///
/// Source: `Body::scaleInertialProperties` of OpenSim 4.6.
pub fn scale_inertia(m0: f64, m: f64, inertia: SymMat33<f64>, s: Vec3<f64>) -> SymMat33<f64> {
    if m <= MASSLESS_BELOW_KG {
        return SymMat33::zero();
    }
    let same = |a: f64, b: f64| (a - b).abs() <= EQUAL_WITHIN * a.abs().max(b.abs()).max(1.0);
    let heavier = m / m0;
    if same(s.x, s.y) && same(s.y, s.z) {
        return inertia.scale(heavier * s.x * s.x); // (1)
    }
    let moments = [inertia.xx, inertia.yy, inertia.zz];
    let f = s.to_array();
    // The first of equal moments counts.
    let mut a = 0;
    for i in 1..3 {
        if moments[i] < moments[a] {
            a = i;
        }
    }
    let b = usize::from(a == 0);
    let r2 = (2.0 * moments[a] / m0).max(0.0); // (2)
    let l2 = (12.0 * (moments[b] - 0.25 * m0 * r2) / m0).max(0.0);
    let across: f64 = (0..3).filter(|i| *i != a).map(|i| f[i]).product();
    let (r2, l2) = (r2 * across, l2 * f[a] * f[a]); // (3)
    let mut new = [m * (l2 / 12.0 + 0.25 * r2); 3]; // (4)
    new[a] = 0.5 * m * r2;
    SymMat33 {
        xx: new[0],
        yy: new[1],
        zz: new[2],
        xy: heavier * s.x * s.y * inertia.xy, // (5)
        xz: heavier * s.x * s.z * inertia.xz,
        yz: heavier * s.y * s.z * inertia.yz,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    /// A homogeneous cylinder along y.
    fn cylinder(m: f64, r: f64, l: f64) -> SymMat33<f64> {
        let across = m * (l * l / 12.0 + r * r / 4.0);
        SymMat33 { xx: across, yy: 0.5 * m * r * r, zz: across, xy: 0.0, xz: 0.0, yz: 0.0 }
    }

    #[test]
    fn analytic_cylinder_scales_as_cylinder() {
        let (m, r, l) = (3.0, 0.05, 0.4);
        let s = vec3(1.1, 0.9, 1.1);
        let m1 = m * s.x * s.y * s.z;
        let (new, exact) = (scale_inertia(m, m1, cylinder(m, r, l), s), cylinder(m1, r * 1.1, l * 0.9));
        for (a, b) in [(new.xx, exact.xx), (new.yy, exact.yy), (new.zz, exact.zz)] {
            assert!((a - b).abs() < 1e-15, "{new:?} {exact:?}");
        }
    }

    #[test]
    fn analytic_uniform_factors_scale_every_entry() {
        let i = SymMat33 { xx: 0.3, yy: 0.2, zz: 0.4, xy: 0.01, xz: -0.02, yz: 0.03 };
        let new = scale_inertia(2.0, 2.0 * 1.331, i, vec3(1.1, 1.1, 1.1));
        // Mass grows by 1.1³, squared lengths by 1.1².
        let k = 1.1f64.powi(5);
        for (a, b) in [(new.xx, i.xx), (new.xy, i.xy), (new.yz, i.yz)] {
            assert!((a - k * b).abs() < 1e-15);
        }
    }

    #[test]
    fn analytic_massless_body_has_no_inertia() {
        let i = SymMat33 { xx: 1.0, yy: 1.0, zz: 1.0, xy: 0.0, xz: 0.0, yz: 0.0 };
        assert_eq!(scale_inertia(0.0, 0.0, i, vec3(2.0, 1.0, 1.0)), SymMat33::zero());
    }
}
