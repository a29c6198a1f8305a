//! The point where a line in a plane touches an ellipsoid.

use soleus_math::{Over, Real, SymMat33, Vec3};

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
struct Residuals<T> {
    E: [T; 4],
    sum_sq: T,
}

impl<T: Real> Residuals<T> {
    #[inline(always)]
    fn new(E: [T; 4]) -> Self {
        Residuals { E, sum_sq: E[0].sq() + E[1].sq() + (E[2].sq() + E[3].sq()) }
    }
}

/// The residuals k steps away from a trial point: polynomials of degree two in k.
struct Line<T> {
    from: [T; 4],
    slope: [T; 4],
    /// Of E₁; that of E₂ is twice as much, the others are straight.
    bend: T,
}

impl<T: Real> Line<T> {
    /// With steps s of r and δ of d, where N = 2 rᵢ/aᵢ², P = 2 pᵢ/aᵢ² and w = 1/a²:
    ///
    ///   E₀ + k n·s,   E₁ + k N·s + k² w s·s,   E₂ + k (2 N·s + δ) + 2 k² w s·s,   E₃ + k (P·s + δ)
    #[inline(always)]
    fn new(from: [T; 4], [n, N, P, w]: [Vec3<T>; 4], s: Vec3<T>, delta: T) -> Self {
        let on_surface = N.dot(s);
        let slope = [n.dot(s), on_surface, on_surface * 2.0 + delta, P.dot(s) + delta];
        Line { from, slope, bend: s.mul_elem(w).dot(s) }
    }

    #[inline(always)]
    fn at(&self, k: f64) -> Residuals<T> {
        let bend = self.bend * k;
        let (E, slope) = (self.from, self.slope);
        Residuals::new([
            E[0] + slope[0] * k,
            E[1] + (slope[1] + bend) * k,
            E[2] + (slope[2] + bend * 2.0) * k,
            E[3] + slope[3] * k,
        ])
    }
}

/// The tangent point in the plane n·x + n₄ = 0 of the line from `p`, sought from `start`.
///
/// Source: the damped least-squares search of OpenSim 4.6, `WrapEllipsoid`: steps of a sixteenth of the
/// damped Gauss–Newton step, shortened more as the line becomes normal to the surface, and then
/// stretched by doubling while the residual falls. It stops when the sum of squares is below 1e-8,
/// that is with an error of about 1e-4 in r; lengths agree with OpenSim's only if it is stopped at the
/// same step. The steps are taken in `T`, so that the derivatives are those of the value returned.
pub(super) fn tangent_point<P: Real, T: Over<P>>(
    inv_a: Vec3<P>,
    n: Vec3<T>,
    n4: T,
    p: Vec3<T>,
    start: Vec3<T>,
) -> Vec3<T> {
    let w = Vec3::<T>::lift(inv_a.mul_elem(inv_a)); // 1/a²
    let normal = |r: Vec3<T>| r.mul_elem(w) * T::cst(2.0);
    let P = normal(p);
    let mut r = start;
    let mut N = normal(r);
    // The search starts with d = −N·r.
    let mut at = Residuals::new([n.dot(r) + n4, N.dot(r) * 0.5 - 1.0, T::zero(), N.dot(p - r)]);
    let mut damping = 0.01;
    let p_hat = super::unit_or_zero(p);
    // What stays of the square of the Jacobian.
    let fixed = outer(n) + outer(P);

    for _ in 0..MAX_ITERATIONS {
        if at.sum_sq.value().is_nan() || at.sum_sq.value() <= RESIDUAL_SQ {
            break;
        }
        // 1 − cos¹⁰⁰ of the angle between p − r and p, where the cosine is above 0.1.
        let away = p - r;
        let (along, away_sq) = (away.dot(p_hat), away.norm_sq());
        let faces = along.value() > 0.0 && along.value().powi(2) > 0.01 * away_sq.value();
        let shorten = if faces { T::one() - (along.sq() / away_sq).powi(50) } else { T::one() };
        // Of the Jacobian (n, 0), (N, 0), (2N, 1), (P, 1) by residual over (r, d): minus its transpose times the
        // residuals, and its square, whose last row is (v, 2).
        let E = at.E;
        let gradient = -(n * E[0] + N * (E[1] + E[2] * 2.0) + P * E[3]);
        let gradient_d = -(E[2] + E[3]);
        let square = fixed + outer(N).scale(T::cst(5.0));
        let v = N * T::cst(2.0) + P;
        // Damped steps, each on top of the last, until one brings the residual down.
        let (mut count, mut previous) = (0, at.sum_sq.value());
        let (line, step) = loop {
            // The last unknown is eliminated first; its pivot is a number.
            let factor = 1.0 + damping;
            let half = 0.5 / factor;
            let mut M = square;
            (M.xx, M.yy, M.zz) = (M.xx * factor, M.yy * factor, M.zz * factor);
            let x = solve(M - outer(v).scale(T::cst(half)), gradient - v * (gradient_d * half));
            let step = x * (shorten * 0.0625);
            let step_d = (gradient_d * shorten * 0.0625 - v.dot(step)) * half;
            let line = Line::new(at.E, [n, N, P, w], step, step_d);
            at = line.at(1.0);
            damping *= 4.0;
            count += 1;
            if !(at.sum_sq.value() >= previous) || count == MAX_STEPS {
                break (line, step);
            }
            previous = at.sum_sq.value();
            r += step;
            N = normal(r);
        };
        damping /= 8.0;
        // Ever longer steps the same way until the residual rises; the last one is taken back. If the first one rises
        // already, half of it is, as in the original.
        let (mut k, mut last) = (1.0, at);
        count = 0;
        while at.sum_sq.value() <= previous && count < MAX_STEPS {
            count += 1;
            k *= 2.0;
            last = at;
            previous = at.sum_sq.value();
            at = line.at(k);
        }
        k *= 0.5;
        at = if count == 0 { line.at(k) } else { last };
        r += step * T::cst(k);
        N = normal(r);
    }
    r
}

/// x xᵀ.
#[inline(always)]
fn outer<T: Real>(x: Vec3<T>) -> SymMat33<T> {
    SymMat33 { xx: x.x * x.x, yy: x.y * x.y, zz: x.z * x.z, xy: x.x * x.y, xz: x.x * x.z, yz: x.y * x.z }
}

/// Solves M x = b for symmetric positive M, as L D Lᵀ without square roots.
#[inline(always)]
fn solve<T: Real>(M: SymMat33<T>, b: Vec3<T>) -> Vec3<T> {
    let per_x = M.xx.recip();
    let (l_yx, l_zx) = (M.xy * per_x, M.xz * per_x);
    let (yy, yz, zz) = (M.yy - l_yx * M.xy, M.yz - l_zx * M.xy, M.zz - l_zx * M.xz);
    let per_y = yy.recip();
    let l_zy = yz * per_y;
    let y = b.y - l_yx * b.x;
    let z = (b.z - l_zx * b.x - l_zy * y) / (zz - l_zy * yz);
    let y = y * per_y - l_zy * z;
    Vec3 { x: b.x * per_x - l_yx * y - l_zx * z, y, z }
}
