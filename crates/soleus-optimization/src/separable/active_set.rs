//! Newton's method on the unknowns that no bound holds, for exponents p > 2.
//!
//! It starts from an x that meets the equations and stays on them. With g = |x|ᵖ⁻¹ sgn x, the gradient of Σ |xᵢ|ᵖ/p, and F the
//! unknowns off their bounds,
//!
//!   (A_F H⁻¹ A_Fᵀ) λ = A_F H⁻¹ g + b − A x,   d = H⁻¹ (A_Fᵀ λ − g),   H = (p − 1) ηᵖ⁻²          (1)
//!
//! is Newton's step, where η is the larger of |x| and the |x| that the multipliers ask for, |aᵀλ|^(1/(p−1)), which is the same at the
//! solution: the cost is flat at zero, and |x| alone would let an unknown there take every load. The cost is followed along d until it rises
//! or until an unknown meets its bound, which holds it from then on. Where d vanishes, bounds let go of the unknowns that multipliers pull
//! away from them.
//!
//! Gradients differ by many orders: at p = 6 that of a helper at 50 is 1e11 times that of a muscle at 0.3. So nothing is
//! judged by their size. Cholesky's method does not mind equations of different size if each pivot is judged by its own; the iteration
//! ends when x no longer changes; and what the cost does along a step is told by the unknowns that move. Exponents grow from 2 to p, each
//! starting where the last ended, as a step far from the solution brings an unknown down by the part 1/(p − 1) only.
//!
//! Beyond p = 6 or so the digits of a double no longer suffice where free unknowns of one equation differ by a factor of ten: what the
//! small ones should be is lost in the rounding of what the large ones cost. Then least squares with rows in order of size ([`WeightedQr`])
//! take the place of (1), and where the iteration still goes to and fro, the x counts that is closest to what no x can go below,
//!
//!   D(λ) = λᵀb − Σ max {aᵀλ x − |x|ᵖ/p : l ≤ x ≤ u}                                          (2)
//!
//! separately for equations that share no unknown, so that a helper at 50 does not hide what a muscle at 0.3 costs.

use super::weighted_qr::WeightedQr;
use super::{PowerProgram, SharingError, factorize_by, solve_factorized};

/// An exponent is at most so many times the last.
const GROWTH: f64 = 1.5;
/// Steps at one exponent at most, and for each unknown. Ten and as many as bounds change are usual.
const MAX_STEPS: usize = 200;
const MAX_STEPS_PER_UNKNOWN: usize = 5;
/// At the last exponent: a step that counts as none, in parts of 1 + |x|. The next would be of the order of its square, or of rounding,
/// which at p = 20 is 1e-6.
const STILL: f64 = 2e-6;
/// The same before.
const STILL_BEFORE: f64 = 1e-2;
/// Steps below this are taken in full: Newton's method needs no help there, and what the cost does is lost in rounding.
const NEAR: f64 = 0.3;
/// Where steps go to and fro they are shortened: from which step on, and to what.
const DAMPED: [(usize, f64); 2] = [(50, 0.5), (100, 0.25)];
/// Smaller unknowns cost nothing that could be seen.
const SMALLEST: f64 = 1e-4;
/// Rounding of an unknown: it does not move.
const UNMOVED: f64 = 1e-12;
/// A multiplier pulls if it does so by more than this part of its terms.
const PULLS: f64 = 1e-8;
/// Where steps do not end: how far the cost may be above (2), in parts of itself, and the step from which on this is looked at.
const CERTIFIED: f64 = 1e-4;
const LOOKED_AT_FROM: usize = 20;
/// Equations that are off by no more than this part of the load count as met.
const MET: f64 = 1e-9;
/// Times that a step is solved for, each with what the last left.
const PASSES: usize = 3;
/// A pivot below this part of its diagonal is rounding.
const PIVOT: f64 = 1e-14;

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    x: Vec<f64>,
    step: Vec<f64>,
    is_held: Vec<bool>,
    lambda: Vec<f64>,
    h: Vec<f64>,
    change: Vec<f64>,
    matrix: Vec<f64>,
    floor: Vec<f64>,
    /// Where an attempt began.
    start: Vec<f64>,
    held_at_start: Vec<bool>,
    /// Unknowns off their bounds in order of size, squared sizes of the columns of B, of its rows in units of those, and what is left of
    /// the equations of multipliers.
    order: Vec<usize>,
    columns: Vec<f64>,
    size: Vec<f64>,
    left: Vec<f64>,
    qr: WeightedQr,
    /// The x of the least gap, and that gap.
    best: Vec<f64>,
    gap: f64,
    /// By equation the first of those that it shares unknowns with, directly or through others; their cost and (2).
    group: Vec<usize>,
    cost: Vec<f64>,
    bound: Vec<f64>,
    /// b − A x.
    off: Vec<f64>,
    /// What can be met of b.
    reachable: Vec<f64>,
}

impl Scratch {
    pub fn new(m: usize, n: usize) -> Self {
        let v = vec![0.0; m];
        Scratch {
            x: vec![0.0; n],
            step: vec![0.0; n],
            is_held: vec![false; n],
            lambda: v.clone(),
            h: vec![0.0; n],
            change: v.clone(),
            matrix: vec![0.0; m * m],
            floor: v.clone(),
            start: vec![0.0; n],
            held_at_start: vec![false; n],
            order: Vec::with_capacity(n),
            columns: v.clone(),
            size: vec![0.0; n],
            left: vec![0.0; n],
            qr: WeightedQr::new(m, n),
            best: vec![0.0; n],
            gap: f64::INFINITY,
            group: vec![0; m],
            cost: v.clone(),
            bound: v.clone(),
            off: v.clone(),
            reachable: v,
        }
    }

    /// Multipliers of the equations, of the cost Σ |xᵢ|ᵖ/p.
    #[cfg(test)]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }
}

/// Improves on the x of the quadratic program; returns the number of steps.
pub(super) fn solve(p: &mut PowerProgram) -> Result<usize, SharingError> {
    let Some(mut s) = p.active_set.take() else { return Ok(0) };
    s.x.copy_from_slice(&p.x);
    for (r, b) in s.reachable.iter_mut().enumerate() {
        *b = p.rhs[r] - p.missing[r];
    }
    for i in 0..p.n {
        s.is_held[i] = s.x[i] <= p.lower[i] || s.x[i] >= p.upper[i];
    }
    find_groups(p, &mut s);
    let (mut e, mut steps) = (2.0, 0);
    let mut result = Ok(());
    while e < p.exponent {
        e = f64::min(GROWTH * e, p.exponent);
        // On the way it does not matter.
        result = minimize(p, &mut s, e, &mut steps);
    }
    if result.is_ok() {
        p.x.copy_from_slice(&s.x);
        p.compute_missing();
    }
    p.active_set = Some(s);
    result.map(|()| steps)
}

/// How a step is found.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StepBy {
    /// The normal equations (1): quick.
    NormalEquations,
    /// Least squares with rows in order of size: twice the digits.
    LeastSquares,
}

/// The least Σ |xᵢ|ᵉ from the x at hand; by the means that take longer where the quick ones do not get there.
fn minimize(p: &PowerProgram, s: &mut Scratch, e: f64, steps: &mut usize) -> Result<(), SharingError> {
    s.start.copy_from_slice(&s.x);
    s.held_at_start.copy_from_slice(&s.is_held);
    if attempt(p, s, e, steps, StepBy::NormalEquations).is_ok() {
        return Ok(());
    }
    s.x.copy_from_slice(&s.start);
    s.is_held.copy_from_slice(&s.held_at_start);
    attempt(p, s, e, steps, StepBy::LeastSquares)
}

/// One attempt at it.
fn attempt(
    p: &PowerProgram,
    s: &mut Scratch,
    e: f64,
    steps: &mut usize,
    by: StepBy,
) -> Result<(), SharingError> {
    let wanted = if e == p.exponent { STILL } else { STILL_BEFORE };
    // Multipliers of another exponent would ask for something else.
    s.lambda.fill(0.0);
    s.gap = f64::INFINITY;
    let (mut moved, mut before) = (f64::INFINITY, f64::INFINITY);
    for k in 0..MAX_STEPS + MAX_STEPS_PER_UNKNOWN * p.n {
        let most = DAMPED.iter().rfind(|(first, _)| k >= *first).map_or(1.0, |d| d.1);
        *steps += 1;
        before = if moved.is_finite() { moved } else { before };
        match by {
            StepBy::NormalEquations => compute_step(p, s, e),
            StepBy::LeastSquares => compute_step_by_rows(p, s, e),
        }
        moved =
            s.x.iter()
                .zip(&s.step)
                .fold(0.0, |m: f64, (x, d)| if d.is_finite() { m.max(part(*x, *d)) } else { f64::INFINITY });
        if !moved.is_finite() {
            break;
        }
        if k >= LOOKED_AT_FROM && e == p.exponent && by == StepBy::LeastSquares {
            keep_best(p, s, e);
        }
        advance(p, s, e, moved > NEAR, most);
        // Twice, as multipliers that ask for far too much make H large and one step short.
        if moved <= wanted && before <= wanted {
            if !release(p, s, e) {
                compute_off(p, s);
                if is_met(s) {
                    return Ok(());
                }
                // Rounding has come between: these means do not lead any further.
                break;
            }
            (moved, before) = (f64::INFINITY, f64::INFINITY);
        }
    }
    if s.gap <= CERTIFIED {
        s.x.copy_from_slice(&s.best);
        return Ok(());
    }
    Err(SharingError::NotConverged { iterations: *steps, error: moved.min(s.gap), wanted })
}

/// b − A x.
fn compute_off(p: &PowerProgram, s: &mut Scratch) {
    s.off.copy_from_slice(&s.reachable);
    for (i, &x) in s.x.iter().enumerate() {
        p.columns.entries(i).for_each(|(r, a)| s.off[r] -= a * x);
    }
}

/// Whether the equations hold at x.
fn is_met(s: &Scratch) -> bool {
    let load = s.reachable.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    s.off.iter().all(|off| off.abs() <= MET * load)
}

/// Which equations share unknowns.
fn find_groups(p: &PowerProgram, s: &mut Scratch) {
    s.group.iter_mut().enumerate().for_each(|(r, g)| *g = r);
    for i in 0..p.n {
        let Some(first) = p.columns.entries(i).map(|(r, _)| s.group[r]).min() else { continue };
        for (r, _) in p.columns.entries(i) {
            let old = s.group[r];
            s.group.iter_mut().filter(|g| **g == old).for_each(|g| *g = first);
        }
    }
}

/// Keeps the x at hand if its cost is closer to (2) with the multipliers at hand than any before.
fn keep_best(p: &PowerProgram, s: &mut Scratch, e: f64) {
    if !is_met(s) {
        return;
    }
    s.cost.fill(0.0);
    s.bound.fill(0.0);
    for (r, (l, b)) in s.lambda.iter().zip(&s.reachable).enumerate() {
        s.bound[s.group[r]] += l * b;
    }
    for i in 0..p.n {
        let Some((r, _)) = p.columns.entries(i).next() else { continue };
        let y = p.columns.dot(i, &s.lambda);
        let x = y.abs().powf(1.0 / (e - 1.0)).copysign(y).max(p.lower[i]).min(p.upper[i]);
        s.bound[s.group[r]] -= y * x - x.abs().powf(e) / e;
        s.cost[s.group[r]] += s.x[i].abs().powf(e) / e;
    }
    let gap = s.cost.iter().zip(&s.bound).filter(|(c, _)| **c > 0.0).fold(0.0, |m: f64, (c, b)| {
        let gap = (c - b) / c;
        if gap <= m { m } else { gap }
    });
    if gap < s.gap {
        s.gap = gap;
        s.best.copy_from_slice(&s.x);
    }
}

/// Sets the step and the multipliers (1).
fn compute_step(p: &PowerProgram, s: &mut Scratch, e: f64) {
    let m = p.m;
    s.matrix.fill(0.0);
    s.off.copy_from_slice(&s.reachable);
    for i in 0..p.n {
        let x = s.x[i];
        p.columns.entries(i).for_each(|(r, a)| s.off[r] -= a * x);
        if s.is_held[i] {
            s.h[i] = f64::INFINITY;
            s.step[i] = 0.0;
            continue;
        }
        s.h[i] = curvature(p, i, x, &s.lambda, e);
        s.step[i] = -slope(e, x) / s.h[i];
        p.columns.add_outer(i, 1.0 / s.h[i], &mut s.matrix, m);
    }
    for r in 0..m {
        let d = &mut s.matrix[r * m + r];
        // An equation that nobody can change has no multiplier.
        if *d == 0.0 {
            *d = f64::INFINITY;
        }
        s.floor[r] = PIVOT * *d;
    }
    factorize_by(&mut s.matrix, m, |r| s.floor[r]);
    s.lambda.fill(0.0);
    // The first pass solves (1), the others take rounding out of it.
    for _ in 0..PASSES {
        s.change.copy_from_slice(&s.off);
        for i in 0..p.n {
            let d = s.step[i];
            p.columns.entries(i).for_each(|(r, a)| s.change[r] -= a * d);
        }
        solve_factorized(&s.matrix, m, &mut s.change);
        for i in 0..p.n {
            s.step[i] += p.columns.dot(i, &s.change) / s.h[i];
        }
        s.lambda.iter_mut().zip(&s.change).for_each(|(l, c)| *l += c);
    }
}

/// The same by least squares: with B = H^(−½) Aᵀ and γ = H^(−½) g, H^(½) d = B λ − γ.
fn compute_step_by_rows(p: &PowerProgram, s: &mut Scratch, e: f64) {
    compute_off(p, s);
    s.order.clear();
    s.columns.fill(0.0);
    for i in 0..p.n {
        let x = s.x[i];
        s.step[i] = 0.0;
        if s.is_held[i] {
            continue;
        }
        s.h[i] = curvature(p, i, x, &s.lambda, e).sqrt();
        p.columns.entries(i).for_each(|(r, a)| s.columns[r] += (a / s.h[i]).powi(2));
        s.order.push(i);
    }
    let Scratch { order, size, h, x, step, lambda, off, qr, columns, left, .. } = s;
    for &i in order.iter() {
        size[i] = p.columns.entries(i).map(|(r, a)| (a / h[i]).powi(2) / columns[r]).sum();
    }
    order.sort_unstable_by(|a, b| size[*b].total_cmp(&size[*a]).then(a.cmp(b)));
    qr.clear();
    for &i in order.iter() {
        qr.push(p.columns.entries(i).map(|(r, a)| (r, a / h[i])), slope(e, x[i]) / h[i]);
    }
    qr.factorize();
    qr.solve(off, lambda);
    for (&i, d) in order.iter().zip(qr.residual()) {
        step[i] = d / h[i];
    }
    // The step has all digits; multipliers get theirs from it: aᵀλ = g + H d.
    for _ in 1..PASSES {
        for (&i, left) in order.iter().zip(left.iter_mut()) {
            *left = slope(e, x[i]) / h[i] + step[i] * h[i] - p.columns.dot(i, lambda) / h[i];
        }
        qr.improve(left.iter().copied().take(order.len()), lambda);
    }
}

/// H of (1) for one unknown.
fn curvature(p: &PowerProgram, i: usize, x: f64, lambda: &[f64], e: f64) -> f64 {
    let asked = p.columns.dot(i, lambda).abs().powf(1.0 / (e - 1.0));
    let asked = asked.min(p.lower[i].abs().max(p.upper[i].abs()));
    let eta = x.abs().max(asked).max(SMALLEST);
    // Squares of 1/H must be numbers.
    ((e - 1.0) * eta.powf(e - 2.0)).max(1e-250)
}

/// Goes along the step by `most` of it, until, far from the solution, the cost rises, or a bound is met, which then holds.
fn advance(p: &PowerProgram, s: &mut Scratch, e: f64, is_far: bool, most: f64) {
    let room = |x: f64, d: f64, i: usize| {
        let bound = if d < 0.0 { p.lower[i] } else { p.upper[i] };
        ((bound - x) / d).max(0.0)
    };
    let moves = |x: f64, d: f64| part(x, d) > UNMOVED;
    let mut length: f64 = most;
    for (i, (&x, &d)) in s.x.iter().zip(&s.step).enumerate().filter(|(_, (x, d))| moves(**x, **d)) {
        length = length.min(room(x, d, i));
    }
    let along = |t: f64| -> f64 {
        let moving = s.x.iter().zip(&s.step).filter(|(x, d)| moves(**x, **d));
        moving.map(|(x, d)| slope(e, x + t * d) * d).sum()
    };
    // What rounding has taken off the equations is put back whatever it costs.
    if is_far && is_met(s) && length > 0.0 && along(length) > 0.0 {
        let (mut low, mut high) = (0.0, length);
        // A thousandth is near enough.
        for _ in 0..10 {
            let middle = 0.5 * (low + high);
            *(if along(middle) > 0.0 { &mut high } else { &mut low }) = middle;
        }
        length = high;
    }
    for i in 0..p.n {
        if s.is_held[i] {
            continue;
        }
        let (x, d) = (s.x[i], s.step[i]);
        s.is_held[i] = moves(x, d) && room(x, d, i) <= length;
        s.x[i] = match s.is_held[i] {
            true if d < 0.0 => p.lower[i],
            true => p.upper[i],
            false => (x + length * d).max(p.lower[i]).min(p.upper[i]),
        };
    }
}

/// Lets go of unknowns that multipliers pull away from their bounds; whether there were any.
fn release(p: &PowerProgram, s: &mut Scratch, e: f64) -> bool {
    let mut any = false;
    for i in 0..p.n {
        if !s.is_held[i] || p.upper[i] <= p.lower[i] {
            continue;
        }
        let g = slope(e, s.x[i]);
        let pull = p.columns.dot(i, &s.lambda) - g;
        let terms = p.columns.entries(i).fold(g.abs(), |t, (r, a)| t + (a * s.lambda[r]).abs());
        let inwards = if s.x[i] <= p.lower[i] { pull } else { -pull };
        if inwards > PULLS * terms {
            s.is_held[i] = false;
            any = true;
        }
    }
    any
}

/// A change in parts of 1 + |x|.
fn part(x: f64, change: f64) -> f64 {
    change.abs() / (1.0 + x.abs())
}

/// |x|ᵖ⁻¹ sgn x.
fn slope(p: f64, x: f64) -> f64 {
    x.abs().powf(p - 1.0).copysign(x)
}
