//! Primal–dual interior-point method for exponents 1 ≤ p < 2.
//!
//! The cost is not smooth at zero, so unknowns of either sign are split, x = x⁺ − x⁻, and every part y has 0 ≤ l ≤ y ≤ u.
//! With barrier parameter μ and duals z, w of the bounds:
//!
//!   p yᵖ⁻¹ − Âᵀ λ − z + w = 0,   Â y = b,   z (y − l) = μ,   w (u − y) = μ                  (1)
//!
//! Newton steps on (1) reduce to a system of the order of the equations, Â D⁻¹ Âᵀ, where
//!
//!   D = p (p − 1) yᵖ⁻² + z/(y − l) + w/(u − y)                                             (2)
//!
//! Predictor and corrector after Mehrotra (1992).

use super::{PowerProgram, SharingError, largest};
use soleus_math::dense::{factorize_cholesky, solve_cholesky};
use soleus_math::elementary;

/// Steps at most; twenty are usual.
const MAX_STEPS: usize = 120;
/// Complementarity and optimality to reach, relative to the cost's gradient.
const WANTED: f64 = 1e-11;
/// Part of the way to the nearest bound that a step may take.
const TO_BOUNDARY: f64 = 0.995;

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    parts: Vec<Part>,
    lambda: Vec<f64>,
    step: Vec<f64>,
    rhs: Vec<f64>,
    residual: Vec<f64>,
    matrix: Vec<f64>,
}

/// One part of an unknown.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// The unknown.
    index: usize,
    /// x = sign · y.
    sign: f64,
    lower: f64,
    upper: f64,
    y: f64,
    z: f64,
    w: f64,
    /// Diagonal D, right-hand side and step of y.
    d: f64,
    r: f64,
    dy: f64,
    dz: f64,
    dw: f64,
}

impl Scratch {
    pub fn new(m: usize, n: usize) -> Self {
        let v = vec![0.0; m];
        Scratch {
            parts: Vec::with_capacity(2 * n),
            lambda: v.clone(),
            step: v.clone(),
            rhs: v.clone(),
            residual: v,
            matrix: vec![0.0; m * m],
        }
    }
}

impl Scratch {
    /// Multipliers of the equations.
    #[cfg(test)]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }
}

/// Improves on the x of the quadratic program; returns the number of steps.
pub(super) fn solve(p: &mut PowerProgram) -> Result<usize, SharingError> {
    let Some(mut s) = p.interior.take() else { return Ok(0) };
    let result = iterate(p, &mut s);
    for x in &mut p.x {
        *x = 0.0;
    }
    for part in &s.parts {
        p.x[part.index] += part.sign * part.y;
    }
    p.compute_missing();
    p.interior = Some(s);
    result
}

fn iterate(p: &mut PowerProgram, s: &mut Scratch) -> Result<usize, SharingError> {
    let (m, e) = (p.m, p.exponent);
    split(p, &mut s.parts);
    // What can be met at all: the quadratic program found it.
    for r in 0..m {
        s.rhs[r] = p.rhs[r] - p.missing[r];
    }
    // Multipliers as if the quadratic cost were the cost.
    s.lambda.fill(0.0);
    let scale = 1.0 + s.parts.iter().fold(0.0, |g: f64, q| g.max(slope(e, q.y)));
    for q in &mut s.parts {
        q.z = if q.lower.is_finite() { 0.1 * scale } else { 0.0 };
        q.w = if q.upper.is_finite() { 0.1 * scale } else { 0.0 };
    }
    let free = |q: &Part| q.upper > q.lower;

    for k in 0..MAX_STEPS {
        // Residuals of (1).
        s.residual.copy_from_slice(&s.rhs);
        let (mut gap, mut count, mut error) = (0.0, 0.0, 0.0_f64);
        for q in &s.parts {
            for (r, a) in p.columns.entries(q.index) {
                s.residual[r] -= a * q.sign * q.y;
            }
            if free(q) {
                let reduced = slope(e, q.y) - q.sign * p.columns.dot(q.index, &s.lambda);
                error = error.max((reduced - q.z + q.w).abs());
                if q.lower.is_finite() {
                    gap += q.z * (q.y - q.lower);
                    count += 1.0;
                }
                if q.upper.is_finite() {
                    gap += q.w * (q.upper - q.y);
                    count += 1.0;
                }
            }
        }
        let mu = gap / f64::max(count, 1.0);
        let off = largest(&s.residual) / (1.0 + largest(&s.rhs));
        if mu <= WANTED * scale && error <= 1e3 * WANTED * scale && off <= 1e-11 {
            return Ok(k);
        }
        if !mu.is_finite() || !error.is_finite() {
            return Err(SharingError::NotConverged { iterations: k, error, wanted: WANTED * scale });
        }

        // The matrix is the same for predictor and corrector.
        s.matrix.fill(0.0);
        for q in s.parts.iter_mut().filter(|q| free(q)) {
            q.d = 0.0; // (2)
            if e > 1.0 {
                q.d += e * (e - 1.0) * elementary::powf(q.y, e - 2.0);
            }
            // A part without bounds must not make the matrix infinite.
            q.d = q.d.max(1e-12);
            if q.lower.is_finite() {
                q.d += q.z / (q.y - q.lower);
            }
            if q.upper.is_finite() {
                q.d += q.w / (q.upper - q.y);
            }
            p.columns.add_outer(q.index, 1.0 / q.d, &mut s.matrix, m);
        }
        let most = (0..m).fold(0.0, |x: f64, r| x.max(s.matrix[r * m + r]));
        for r in 0..m {
            s.matrix[r * m + r] += 1e-15 * most;
        }
        factorize_cholesky(&mut s.matrix, m, 1e-16 * most.max(f64::MIN_POSITIVE));

        // Predictor: straight for the solution. How far it gets tells how much to center.
        direction(p, s, |_| (0.0, 0.0));
        let length = longest(s, 1.0);
        let mut ahead = 0.0;
        for q in s.parts.iter().filter(|q| free(q)) {
            if q.lower.is_finite() {
                ahead += (q.z + length * q.dz) * (q.y + length * q.dy - q.lower);
            }
            if q.upper.is_finite() {
                ahead += (q.w + length * q.dw) * (q.upper - q.y - length * q.dy);
            }
        }
        let part = if mu > 0.0 { (ahead / f64::max(count, 1.0) / mu).clamp(0.0, 1.0) } else { 0.0 };
        // Curved costs leave an error in the gradients that only more steps remove; the barrier waits for it.
        let pace = if error > mu { 0.1 } else { 0.0 };
        let target = (f64::max(part * part * part, pace) * mu).max(0.1 * WANTED * scale);
        direction(p, s, |q| (target - q.dy * q.dz, target + q.dy * q.dw));
        let length = longest(s, TO_BOUNDARY);
        for q in s.parts.iter_mut().filter(|q| free(q)) {
            q.y += length * q.dy;
            q.z += length * q.dz;
            q.w += length * q.dw;
        }
        for r in 0..m {
            s.lambda[r] += length * s.step[r];
        }
    }
    Err(SharingError::NotConverged { iterations: MAX_STEPS, error: f64::NAN, wanted: WANTED * scale })
}

/// p yᵖ⁻¹.
fn slope(p: f64, y: f64) -> f64 {
    p * elementary::powf(y, p - 1.0)
}

/// Parts of all unknowns, each started well inside its bounds.
fn split(p: &PowerProgram, parts: &mut Vec<Part>) {
    parts.clear();
    let mut add = |index: usize, sign: f64, lower: f64, upper: f64, y: f64| {
        // Wide bounds are no reason to start far away.
        let margin = 0.05 * (upper - lower).min(1.0);
        let y = y.max(lower + margin).min(upper - margin);
        parts.push(Part { index, sign, lower, upper, y, ..Part::default() });
    };
    for (index, &x) in p.x.iter().enumerate() {
        let (l, u) = (p.lower[index], p.upper[index]);
        if l >= 0.0 {
            add(index, 1.0, l, u, x);
            continue;
        }
        if u > 0.0 {
            add(index, 1.0, 0.0, u, x.max(0.0));
        }
        add(index, -1.0, (-u).max(0.0), -l, (-x).max(0.0));
    }
}

/// Newton direction for the given targets of z (y − l) and w (u − y).
fn direction(p: &PowerProgram, s: &mut Scratch, target: impl Fn(&Part) -> (f64, f64)) {
    let (m, e) = (p.m, p.exponent);
    s.step.copy_from_slice(&s.residual);
    for q in s.parts.iter_mut().filter(|q| q.upper > q.lower) {
        let (tz, tw) = target(q);
        q.r = q.sign * p.columns.dot(q.index, &s.lambda) - slope(e, q.y);
        if q.lower.is_finite() {
            q.r += tz / (q.y - q.lower);
        }
        if q.upper.is_finite() {
            q.r -= tw / (q.upper - q.y);
        }
        let x = q.sign * q.r / q.d;
        for (r, a) in p.columns.entries(q.index) {
            s.step[r] -= a * x;
        }
    }
    solve_cholesky(&s.matrix, m, &mut s.step);
    for q in s.parts.iter_mut().filter(|q| q.upper > q.lower) {
        let (tz, tw) = target(q);
        q.dy = (q.r + q.sign * p.columns.dot(q.index, &s.step)) / q.d;
        q.dz = if q.lower.is_finite() { (tz - q.z * q.dy) / (q.y - q.lower) - q.z } else { 0.0 };
        q.dw = if q.upper.is_finite() { (tw + q.w * q.dy) / (q.upper - q.y) - q.w } else { 0.0 };
    }
}

/// The longest step, up to 1, that stays inside the bounds by the given part.
fn longest(s: &Scratch, part: f64) -> f64 {
    let mut length = 1.0;
    let mut bound = |value: f64, change: f64| {
        if change < 0.0 {
            length = f64::min(length, -part * value / change);
        }
    };
    for q in s.parts.iter().filter(|q| q.upper > q.lower) {
        if q.lower.is_finite() {
            bound(q.y - q.lower, q.dy);
            bound(q.z, q.dz);
        }
        if q.upper.is_finite() {
            bound(q.upper - q.y, -q.dy);
            bound(q.w, q.dw);
        }
    }
    length
}
