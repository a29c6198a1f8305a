//! The point where a line in a plane touches an ellipsoid.

use soleus_math::{Real, Vec3};

/// Sum of squared residuals at which the search stops (OpenSim 4.6).
const RESIDUAL_SQ: f64 = 1e-8;
/// Most outer iterations (OpenSim 4.6).
const MAX_ITERATIONS: usize = 50;
/// Most steps of each kind within an iteration (OpenSim 4.6).
const MAX_STEPS: usize = 1000;

/// Residuals of the touching conditions at a trial point.
///
///   E₀ = n·r + n₄            r is in the plane
///   E₁ = Σ (rᵢ/aᵢ)² − 1      r is on the ellipsoid
///   E₂ = N·r + d,  N = 2 rᵢ/aᵢ²    N·x + d = 0 is the tangent plane at r …
///   E₃ = N·p + d             … and p is in it
#[derive(Clone, Copy)]
struct Trial<T> {
    r: Vec3<T>,
    d: T,
    E: [T; 4],
    sum_sq: T,
}

/// The tangent point in the plane n·x + n₄ = 0 of the line from `p`, sought from `start`.
///
/// Source: the damped least-squares search of OpenSim 4.6, `WrapEllipsoid`: steps of a sixteenth of the
/// damped Gauss–Newton step, shortened more as the line becomes normal to the surface, and then
/// stretched by doubling while the residual falls. It stops when the sum of squares is below 1e-8,
/// that is with an error of about 1e-4 in r; lengths agree with OpenSim's only if it is stopped at the
/// same step. The steps are taken in `T`, so that the derivatives are those of the value returned.
pub(super) fn tangent_point<T: Real>(
    inv_a: Vec3<f64>,
    n: Vec3<T>,
    n4: T,
    p: Vec3<T>,
    start: Vec3<T>,
) -> Vec3<T> {
    let w = Vec3::<T>::cst(inv_a.mul_elem(inv_a)); // 1/a²
    let evaluate = |r: Vec3<T>, d: T| {
        let rw = r.mul_elem(w);
        let r_sq = rw.dot(r);
        let E = [n.dot(r) + n4, r_sq - 1.0, r_sq * 2.0 + d, rw.dot(p) * 2.0 + d];
        Trial { r, d, E, sum_sq: E[0].sq() + E[1].sq() + E[2].sq() + E[3].sq() }
    };
    let mut at = evaluate(start, -(start.mul_elem(w).dot(start) * 2.0));
    let mut previous = at.sum_sq.value();
    let mut damping = 0.01;
    let p_hat = super::unit_or_zero(p);
    let pw = p.mul_elem(w) * T::cst(2.0);

    // What stays of the square of the Jacobian.
    let mut fixed = [[T::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..=i {
            fixed[i][j] = n[i] * n[j] + pw[i] * pw[j];
        }
    }
    for _ in 0..MAX_ITERATIONS {
        if at.sum_sq.value().is_nan() || at.sum_sq.value() <= RESIDUAL_SQ {
            break;
        }
        let rw = at.r.mul_elem(w) * T::cst(2.0);
        let cos = super::unit_or_zero(p - at.r).dot(p_hat);
        let shorten = if cos.value() > 0.1 { T::one() - cos.powi(100) } else { T::one() };
        // Of the Jacobian (n, 0), (N, 0), (2N, 1), (P, 1) by residual over (r, d), with N = 2 rᵢ/aᵢ² and P = 2 pᵢ/aᵢ²:
        // minus its transpose times the residuals, and the lower half of its square.
        let E = at.E;
        let g = -(n * E[0] + rw * (E[1] + E[2] * 2.0) + pw * E[3]);
        let gradient = [g.x, g.y, g.z, -(E[2] + E[3])];
        let mut JtJ = [[T::zero(); 4]; 4];
        for i in 0..3 {
            for j in 0..=i {
                JtJ[i][j] = fixed[i][j] + rw[i] * rw[j] * 5.0;
            }
            JtJ[3][i] = rw[i] * 2.0 + pw[i];
        }
        JtJ[3][3] = T::cst(2.0);
        // Damped steps, each on top of the last, until one brings the residual down.
        let mut step = [T::zero(); 4];
        let mut count = 0;
        while at.sum_sq.value() >= previous && count < MAX_STEPS {
            let x = solve_damped(&JtJ, 1.0 + damping, gradient);
            step = x.map(|x| shorten * x / 16.0);
            previous = at.sum_sq.value();
            at = evaluate(at.r + Vec3 { x: step[0], y: step[1], z: step[2] }, at.d + step[3]);
            damping *= 4.0;
            count += 1;
        }
        damping /= 8.0;
        // Ever longer steps the same way until the residual rises; the last one is taken back.
        let mut stretch = 0.5;
        let mut last = at;
        count = 0;
        while at.sum_sq.value() <= previous && count < MAX_STEPS {
            stretch *= 2.0;
            last = at;
            let k = T::cst(stretch);
            let r = at.r + Vec3 { x: step[0] * k, y: step[1] * k, z: step[2] * k };
            previous = at.sum_sq.value();
            at = evaluate(r, at.d + step[3] * k);
            count += 1;
        }
        if count == 0 {
            // Nothing to take back in full: half a step is, as in the original.
            let k = T::cst(stretch);
            let back = Vec3 { x: step[0] * k, y: step[1] * k, z: step[2] * k };
            last = evaluate(at.r - back, at.d - step[3] * k);
        }
        at = last;
        previous = at.sum_sq.value();
    }
    at.r
}

/// Solves (M + (damping factor − 1) diag M) x = b for symmetric positive M, given by its lower half.
fn solve_damped<T: Real>(M: &[[T; 4]; 4], factor: f64, b: [T; 4]) -> [T; 4] {
    // L D Lᵀ without square roots.
    let mut L = [[T::zero(); 4]; 4];
    let mut inv_D = [T::zero(); 4];
    let mut y = b;
    for i in 0..4 {
        let mut pivot = M[i][i] * factor;
        for j in 0..i {
            // This row of L holds L·D until its pivot is done.
            let (above, row) = L.split_at(i);
            let done = row[0].iter().zip(above[j]).take(j).fold(M[i][j], |sum, (c, l)| sum - *c * l);
            L[i][j] = done;
        }
        for j in 0..i {
            let l = L[i][j] * inv_D[j];
            pivot -= l * L[i][j];
            let below = l * y[j];
            y[i] -= below;
        }
        inv_D[i] = pivot.recip();
        for j in 0..i {
            L[i][j] *= inv_D[j];
        }
    }
    for i in (0..4).rev() {
        let mut x = y[i] * inv_D[i];
        for k in i + 1..4 {
            x -= L[k][i] * y[k];
        }
        y[i] = x;
    }
    y
}
