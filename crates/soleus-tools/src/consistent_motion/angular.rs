//! Joints whose speeds are an angular velocity (ball and free joints), in terms of their angles.
//!
//! With body-fixed angles x, y, z of M in F, and s and c their sines and cosines, the angular velocity in F and its rate are
//!
//!   ω = N(q) q̇,   N = [1 0 s₁; 0 c₀ −s₀ c₁; 0 s₀ c₀ c₁],   ω̇ = N q̈ + Ṅ q̇                    (1)
//!
//! N is singular where the second angle is a quarter turn.

use soleus_math::elementary;
use soleus_math::{Dual, Real};

/// The columns of N.
pub(super) fn columns(q: [f64; 3]) -> [[f64; 3]; 3] {
    let ((s0, c0), (s1, c1)) = (elementary::sin_cos(q[0]), elementary::sin_cos(q[1]));
    [[1.0, 0.0, 0.0], [0.0, c0, s0], [s1, -s0 * c1, c0 * c1]]
}

/// ω and ω̇ of (1).
pub(super) fn speeds<T: Real>(q: [T; 3], v: [T; 3], a: [T; 3]) -> [[T; 3]; 2] {
    let (s0, c0, s1, c1) = (q[0].sin(), q[0].cos(), q[1].sin(), q[1].cos());
    let omega = [v[0] + s1 * v[2], c0 * v[1] - s0 * c1 * v[2], s0 * v[1] + c0 * c1 * v[2]];
    let rate = [
        a[0] + s1 * a[2] + c1 * v[1] * v[2],
        c0 * a[1] - s0 * c1 * a[2] - s0 * v[0] * v[1] - (c0 * c1 * v[0] - s0 * s1 * v[1]) * v[2],
        s0 * a[1] + c0 * c1 * a[2] + c0 * v[0] * v[1] - (s0 * c1 * v[0] + c0 * s1 * v[1]) * v[2],
    ];
    [omega, rate]
}

/// Turns derivatives of an equation by q, ω and ω̇ of a joint into those by q, q̇ and q̈.
pub(super) fn chain(q: [f64; 3], v: [f64; 3], a: [f64; 3], by: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    type D = Dual<f64, 9>;
    let variable = |x: [f64; 3], k: usize| [0, 1, 2].map(|i| D::variable(x[i], k + i));
    let [omega, rate] = speeds(variable(q, 0), variable(v, 3), variable(a, 6));
    let mut out = [by[0], [0.0; 3], [0.0; 3]];
    for i in 0..3 {
        for (part, out) in out.iter_mut().enumerate() {
            for (k, out) in out.iter_mut().enumerate() {
                *out += by[1][i] * omega[i].d[3 * part + k] + by[2][i] * rate[i].d[3 * part + k];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ω̇ is the slope of ω along a motion, and N its part by q̇.
    #[test]
    fn deriv_angular_velocity_along_a_motion() {
        let q = |t: f64| [0.4 * (3.0 * t).sin(), 0.7 * (2.0 * t + 0.3).cos(), 1.1 * t - t * t];
        let v = |t: f64| [1.2 * (3.0 * t).cos(), -1.4 * (2.0 * t + 0.3).sin(), 1.1 - 2.0 * t];
        let a = |t: f64| [-3.6 * (3.0 * t).sin(), -2.8 * (2.0 * t + 0.3).cos(), -2.0];
        let (t, h) = (0.37, 1e-5);
        let omega = |t: f64| speeds(q(t), v(t), a(t))[0];
        let [now, rate] = speeds(q(t), v(t), a(t));
        let columns = columns(q(t));
        for i in 0..3 {
            let slope = (omega(t + h)[i] - omega(t - h)[i]) / (2.0 * h);
            // Truncation h², rounding 1e-16 / h.
            assert!((slope - rate[i]).abs() < 1e-8, "{slope} and {}", rate[i]);
            let sum: f64 = (0..3).map(|k| columns[k][i] * v(t)[k]).sum();
            assert!((sum - now[i]).abs() < 1e-14);
        }
    }
}
