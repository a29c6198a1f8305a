//! The `ConstantCurvatureJoint`: M at the end of an arc of constant length that starts at F along y.
//!
//! Body-fixed angles x, z, y rotate M; the arc bends towards the y axis n of M, by the angle θ between it and that of
//! F:
//!
//!   n = R ŷ = (−s_z, c_x c_z, s_x c_z),   cos θ = n_y                          (1)
//!   p = l (n_x g, f, n_z g),   f = sin θ / θ,   g = (1 − cos θ)/(θ sin θ)      (2)
//!
//! Source: Werling's joint in OpenSim 4.6 (`ConstantCurvatureJoint`), whose angles stay below a right angle. OpenSim
//! gives (2) for 0.001 < sin θ < 0.999 and p = l n elsewhere, which is not continuous; f and g are smooth functions of
//! cos θ, also at θ = 0.

use super::JointMotion;
use soleus_math::elementary;
use soleus_math::{Dual, Over, Real, Rotation, SpatialVec, Transform, Vec3, vec3};

/// A compiled joint of constant curvature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantCurvature<P: Real = f64> {
    /// Angles x, z, y at coordinates of zero, rad.
    pub neutral: Vec3<P>,
    /// Length of the arc, m.
    pub length: P,
    /// Whether to compute as OpenSim does: columns of H in M used as if in F, no bias, and no bend near θ = 0.
    pub as_opensim: bool,
}

impl<P: Real> ConstantCurvature<P> {
    /// Pose, motion subspace, velocity and bias; see the module text.
    pub fn compute<T: Over<P>>(&self, q: &[T], u: &[T], m: &mut JointMotion<T>) {
        let (o, one) = (T::zero(), T::one());
        let ((sx, cx), (sz, cz)) = ((q[0] + self.neutral[0]).sin_cos(), (q[1] + self.neutral[1]).sin_cos());
        let n = vec3(-sz, cx * cz, sx * cz); // (1)
        let (x, z) = (vec3(one, o, o), vec3(o, -sx, cx));
        let about = |i: usize| q[i] + self.neutral[i];
        let R = Rotation::about_x(about(0)) * Rotation::about_z(about(1)) * Rotation::about_y(about(2));

        // Slopes of n by the two angles that bend, then its rate and its second rate at constant speeds.
        let (nx, nz) = (vec3(o, -sx * cz, cx * cz), vec3(-cz, -cx * sz, -sx * sz));
        let (nxx, nxz) = (vec3(o, -cx * cz, -sx * cz), vec3(o, sx * sz, -cx * sz));
        let ndot = nx * u[0] + nz * u[1];
        let nddot = nxx * u[0].sq() + nxz * (u[0] * u[1] * 2.0) - n * u[1].sq();

        let l = T::lift(self.length);
        let c = n.y;
        let ([f, f1, f2], [g, g1, g2]) = bend(c);
        let slope = |d: Vec3<T>| vec3(d.x * g + n.x * g1 * d.y, f1 * d.y, d.z * g + n.z * g1 * d.y) * l;
        let across =
            |n: T, n1: T, n2: T| n2 * g + n1 * g1 * ndot.y * 2.0 + n * (g2 * ndot.y.sq() + g1 * nddot.y);
        m.X_FM = Transform::new(R, vec3(n.x * g, f, n.z * g) * l); // (2)
        m.H[0] = SpatialVec::new(x, slope(nx));
        m.H[1] = SpatialVec::new(z, slope(nz));
        m.H[2] = SpatialVec::new(n, Vec3::zero());
        let (w0, w1, w2) = (x * u[0], z * u[1], n * u[2]);
        let a =
            vec3(across(n.x, ndot.x, nddot.x), f2 * ndot.y.sq() + f1 * nddot.y, across(n.z, ndot.z, nddot.z));
        m.A = SpatialVec::new(w0.cross(w1) + (w0 + w1).cross(w2), a * l);
        if self.as_opensim {
            let straight = !(1e-3..=0.999).contains(&sine(n));
            for h in &mut m.H[..3] {
                let w = R.inverse_mul(h.w);
                let v = if straight { w.cross(n * l) * T::cst(0.5) } else { R.inverse_mul(h.v) };
                *h = SpatialVec::new(w, v);
            }
            if straight {
                m.X_FM.p = n * l;
            }
            m.A = SpatialVec::zero();
        }
        m.V = m.H[0] * u[0] + m.H[1] * u[1] + m.H[2] * u[2];
    }
}

/// sin θ of the y axis n.
fn sine<T: Real>(n: Vec3<T>) -> f64 {
    elementary::hypot(n.x.value(), n.z.value())
}

/// f and g of (2) with their first two derivatives by cos θ.
///
/// They are computed in plain numbers, with two more derivatives, so that one copy of [`arc`] serves all scalars:
///
///   f⁽ᵏ⁾(c) = Σⱼ f⁽ᵏ⁺ʲ⁾(c₀) (c − c₀)ʲ / j!,  j ≤ 2
///
/// where c₀ is the value of c, so that c − c₀ has the value 0 and the derivatives of c: exact to second order.
fn bend<T: Real>(c: T) -> ([T; 3], [T; 3]) {
    if const { T::RECORDS || T::ORDER > 2 } {
        return bend_in_scalar(c);
    }
    let (f, g) = bend_plain(c.value());
    let h = c - c.value();
    let lift = |d: [f64; 5]| {
        std::array::from_fn(|k| match T::ORDER {
            0 => T::cst(d[k]),
            1 => h * d[k + 1] + d[k],
            _ => h * (h * (0.5 * d[k + 2]) + d[k + 1]) + d[k],
        })
    };
    (lift(f), lift(g))
}

/// The same for scalars that record, and for third derivatives.
fn bend_in_scalar<T: Real>(c: T) -> ([T; 3], [T; 3]) {
    let c = Dual::<Dual<T, 1>, 1>::new(Dual::variable(c, 0), [Dual::cst(1.0)]);
    let (f, g) = arc(c);
    let all = |x: Dual<Dual<T, 1>, 1>| [x.v.v, x.v.d[0], x.d[0].d[0]];
    (all(f), all(g))
}

/// f and g with four derivatives.
#[inline(never)]
fn bend_plain(c: f64) -> ([f64; 5], [f64; 5]) {
    type D<T> = Dual<T, 1>;
    let one = |c: f64| D::new(c, [1.0]);
    let two = D::new(one(c), [D::cst(1.0)]);
    let three = D::new(two, [D::cst(1.0)]);
    let (f, g) = arc(D::new(three, [D::cst(1.0)]));
    let all = |x: D<D<D<D<f64>>>>| {
        [x.v.v.v.v, x.v.v.v.d[0], x.v.v.d[0].d[0], x.v.d[0].d[0].d[0], x.d[0].d[0].d[0].d[0]]
    };
    (all(f), all(g))
}

/// f and g of (2) as functions of c = cos θ.
///
/// Near c = 1 by series in x = θ² = 2 Σ (2w)ᵏ / (k² (2k choose k)), w = 1 − c; below w = 0.02 nine terms leave less than
/// rounding.
fn arc<S: Real>(c: S) -> (S, S) {
    const BELOW: f64 = 0.02;
    // 2ᵏ⁺¹ / (k² (2k choose k)) for k = 1, 2, …
    const X: [f64; 9] = [
        2.0,
        1.0 / 3.0,
        4.0 / 45.0,
        1.0 / 35.0,
        16.0 / 1575.0,
        8.0 / 2079.0,
        32.0 / 21021.0,
        4.0 / 6435.0,
        256.0 / 984_555.0,
    ];
    // (−1)ᵏ / (2k + 1)!
    const SINC: [f64; 7] = [
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5040.0,
        1.0 / 362_880.0,
        -1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
    ];
    // tan y / y in powers of y².
    const TANC: [f64; 8] = [
        1.0,
        1.0 / 3.0,
        2.0 / 15.0,
        17.0 / 315.0,
        62.0 / 2835.0,
        1382.0 / 155_925.0,
        21844.0 / 6_081_075.0,
        929_569.0 / 638_512_875.0,
    ];
    let sum = |list: &[f64], x: S| list.iter().rev().fold(S::zero(), |s, &a| s * x + a);
    let w = -c + 1.0;
    let near = || {
        let x = sum(&X, w) * w;
        (sum(&SINC, x), sum(&TANC, x * 0.25) * 0.5)
    };
    let far = || {
        let (theta, s) = (c.acos(), (w * (c + 1.0)).sqrt());
        (s / theta, w / (theta * s))
    };
    w.where_below(S::cst(BELOW), near, far)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Derivatives through the expansion about the value are those through the formulas, near straight and bent.
    #[test]
    fn deriv_expansion_is_formula() {
        type DD = Dual<Dual<f64, 1>, 1>;
        for c in [0.999, 0.7, -0.2] {
            let c = DD::new(Dual::variable(c, 0), [Dual::cst(0.8)]);
            let ((f, g), (f2, g2)) = (bend(c), bend_in_scalar(c));
            for (a, b) in f.into_iter().chain(g).zip(f2.into_iter().chain(g2)) {
                assert_eq!(a.v.v, b.v.v);
                // Rounding of fourth derivatives of the series and of the closed form.
                for (a, b) in [(a.v.d[0], b.v.d[0]), (a.d[0].v, b.d[0].v), (a.d[0].d[0], b.d[0].d[0])] {
                    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} {b}");
                }
            }
        }
    }

    /// The series meets the closed form where one takes over from the other, with two derivatives.
    #[test]
    fn identity_series_and_closed_form() {
        for w in [0.019_999, 0.015, 0.01] {
            let c = 1.0 - w;
            let (f, g) = bend(c);
            // sin θ/θ and tan(θ/2)/θ, and their derivatives by cos θ from those by θ.
            let t = f64::acos(c);
            let (s, th) = (t.sin(), (t / 2.0).tan());
            let by_t = |f1: f64, f2: f64| [-f1 / s, (f2 - f1 * c / s) / (s * s)];
            let f1 = (t * c - s) / (t * t);
            let f2 = -s / t - 2.0 * f1 / t;
            let half = 0.5 * (1.0 + th * th);
            let g1 = (half - th / t) / t;
            let g2 = (half * th - 2.0 * g1) / t;
            let ([f1, f2], [g1, g2]) = (by_t(f1, f2), by_t(g1, g2));
            // The closed form loses digits: 1e-16/θ² at θ = 0.14 in the first derivatives, 1e-16/θ⁴ in the second.
            let pairs = [(f[0], s / t), (g[0], th / t), (f[1], f1), (g[1], g1), (f[2], f2), (g[2], g2)];
            for (k, (a, b)) in pairs.into_iter().enumerate() {
                assert!((a - b).abs() < [1e-15, 1e-13, 1e-10][k / 2], "{w} {k}: {a} {b}");
            }
        }
    }
}
