//! Newton's method on the unknowns that are not at a bound, for exponents p > 2.
//!
//! It starts from an x that satisfies the equations, and keeps them satisfied. With g = |x|ᵖ⁻¹ sgn x, the gradient of
//! Σ |xᵢ|ᵖ/p, the step minimizes g d + ½ H d² subject to the equations ([`Basis`]), with
//!
//!   H = (p − 1) ηᵖ⁻²,   η = max(|x|, |x̂|),   |x̂|ᵖ⁻¹ sgn x̂ = aᵀλ                                (1)
//!
//! where x̂ is the value that corresponds to the multipliers λ of the last step, equal to x at the solution: the cost
//! is flat at zero, and with |x| alone an unknown there would take any load. No step moves an unknown past its x̂, so
//! that the reduced cost of each decreases. An unknown that reaches a bound is fixed there; when d is zero, unknowns
//! whose multipliers have the wrong sign are released. Exponents increase from 2 to p, each starting from the previous
//! solution, because a step far from the solution reduces an unknown only by the fraction 1/(p − 1).
//!
//! Gradients differ by many orders of magnitude: at p = 50 that of a reserve at 5 is 1e60 times that of a muscle at
//! 0.3. Their size is therefore not used as a criterion: the basis keeps significant digits for each, x̂ represents
//! aᵀλ, and the iteration ends when x no longer changes.

use super::basis::{Basis, Costs};
use super::{PowerProgram, SharingError};
use soleus_math::elementary;

/// An exponent is at most so many times the last.
const GROWTH: f64 = 1.5;
/// Steps at one exponent p at most, and for each unknown. Ten and as many as bounds change are usual; a few times p may be needed for an
/// unknown that ends far below where it began.
const MAX_STEPS: f64 = 200.0;
const MAX_STEPS_BY_EXPONENT: f64 = 10.0;
const MAX_STEPS_PER_UNKNOWN: usize = 5;
/// At the last exponent: a step that counts as none, in parts of 1 + |x|. The next would be of the order of its square.
const STILL: f64 = 2e-6;
/// The same before.
const STILL_BEFORE: f64 = 1e-2;
/// Up to this many times the size of such a step x̂ may be beyond x without making H too large to believe it.
const BEYOND: f64 = 10.0;
/// Smaller unknowns cost nothing that could be seen.
const SMALLEST: f64 = 1e-4;
/// Rounding of an unknown: it does not move.
const UNMOVED: f64 = 1e-12;
/// A multiplier pulls if it does so by more than this part of its terms, and off a bound if by more than this part of 1 + |x|.
const PULLS: f64 = 1e-8;
/// A step of which less than this part can be taken before an unknown is what it is asked to be is computed anew.
const LEFT: f64 = 0.3;
/// Times in a row that this is done at most.
const MAX_STAYS: usize = 3;
/// Equations that are off by no more than this part of the load count as met.
const MET: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    x: Vec<f64>,
    step: Vec<f64>,
    is_held: Vec<bool>,
    /// h and γ of the basis, and what comes of them: h d and the pull of the multipliers.
    h: Vec<f64>,
    gamma: Vec<f64>,
    hd: Vec<f64>,
    pull: Vec<f64>,
    /// The x that the multipliers ask for.
    asked: Vec<f64>,
    /// b − A x.
    off: Vec<f64>,
    /// What can be met of b.
    reachable: Vec<f64>,
    /// By equation the first of those that it shares unknowns with, directly or through others; by unknown that of its equations.
    group: Vec<usize>,
    group_of: Vec<usize>,
    /// By group the least and the largest η, and the unit of its unknowns between them.
    range: Vec<(f64, f64)>,
    unit: Vec<f64>,
    basis: Basis,
    /// Steps since x last changed.
    stays: usize,
}

impl Scratch {
    pub fn new(m: usize, n: usize) -> Self {
        let (v, w) = (vec![0.0; m], vec![0.0; n]);
        Scratch {
            x: w.clone(),
            step: w.clone(),
            is_held: vec![false; n],
            h: w.clone(),
            gamma: w.clone(),
            hd: w.clone(),
            pull: w.clone(),
            asked: w,
            off: v.clone(),
            reachable: v,
            group: vec![0; m],
            group_of: vec![0; n],
            unit: vec![1.0; m],
            range: vec![(0.0, 0.0); m],
            basis: Basis::new(m, n),
            stays: 0,
        }
    }

    /// x̂, once solved.
    #[cfg(test)]
    pub fn asked(&self) -> &[f64] {
        &self.asked
    }
}

/// Improves on the x of the quadratic program; returns the number of steps.
pub(super) fn solve(p: &mut PowerProgram) -> Result<usize, SharingError> {
    let Some(mut s) = p.active_set.take() else { return Ok(0) };
    s.x.copy_from_slice(&p.x);
    for (r, b) in s.reachable.iter_mut().enumerate() {
        *b = p.rhs[r] - p.missing[r];
    }
    find_groups(p, &mut s);
    for i in 0..p.n {
        let is_idle = has_no_effect(p, i);
        if is_idle {
            s.x[i] = f64::clamp(0.0, p.lower[i], p.upper[i]);
        }
        s.is_held[i] = is_idle || s.x[i] <= p.lower[i] || s.x[i] >= p.upper[i];
    }
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

/// The least Σ |xᵢ|ᵉ from the x at hand.
fn minimize(p: &PowerProgram, s: &mut Scratch, e: f64, steps: &mut usize) -> Result<(), SharingError> {
    let wanted = if e == p.exponent { STILL } else { STILL_BEFORE };
    // Multipliers of another exponent would ask for something else.
    s.asked.fill(0.0);
    s.stays = 0;
    let mut moved = f64::INFINITY;
    let most = (MAX_STEPS + MAX_STEPS_BY_EXPONENT * e) as usize + MAX_STEPS_PER_UNKNOWN * p.n;
    for _ in 0..most {
        *steps += 1;
        // Where H is that of an x̂ far too large, a step is short without reason.
        let is_telling = (0..p.n).all(|i| {
            let x = s.x[i].abs().max(SMALLEST);
            s.is_held[i] || s.asked[i].abs() - x <= BEYOND * wanted * (1.0 + x)
        });
        compute_step(p, s, e);
        moved = s.x.iter().zip(&s.step).fold(0.0, |m: f64, (x, d)| {
            // A step that is not a number is none.
            if d.is_finite() { m.max(part(*x, *d)) } else { f64::INFINITY }
        });
        if !moved.is_finite() {
            break;
        }
        advance(p, s);
        if moved <= wanted && is_telling && !release(p, s, e) {
            compute_off(p, s);
            if is_met(s) {
                return Ok(());
            }
            // Rounding has come between: these means do not lead any further.
            break;
        }
    }
    Err(SharingError::NotConverged { iterations: *steps, error: moved, wanted })
}

/// Whether an unknown enters no equation.
fn has_no_effect(p: &PowerProgram, i: usize) -> bool {
    p.columns.entries(i).next().is_none()
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
    for i in 0..p.n {
        s.group_of[i] = p.columns.entries(i).next().map_or(0, |(r, _)| s.group[r]);
    }
}

/// Sets the step and what the multipliers ask for.
fn compute_step(p: &PowerProgram, s: &mut Scratch, e: f64) {
    compute_off(p, s);
    // Units in the middle of what there is keep powers within the numbers.
    s.range.fill((f64::INFINITY, 0.0));
    for i in (0..p.n).filter(|i| !s.is_held[*i]) {
        let most = p.lower[i].abs().max(p.upper[i].abs());
        let eta = s.x[i].abs().max(s.asked[i].abs().min(most)).max(SMALLEST);
        s.h[i] = eta;
        let (low, high) = &mut s.range[s.group_of[i]];
        (*low, *high) = (low.min(eta), high.max(eta));
    }
    for (unit, (low, high)) in s.unit.iter_mut().zip(&s.range) {
        *unit = if *high > 0.0 { (low * high).sqrt() } else { 1.0 };
    }
    for i in 0..p.n {
        s.step[i] = 0.0;
        if s.is_held[i] {
            continue;
        }
        let unit = s.unit[s.group_of[i]];
        s.h[i] = (e - 1.0).sqrt() * elementary::powf(s.h[i] / unit, 0.5 * e - 1.0);
        s.gamma[i] = gradient(s.x[i], s.h[i], unit, e);
    }
    let Scratch { off, unit, group, is_held, h, gamma, hd, pull, basis, .. } = s;
    off.iter_mut().zip(group.iter()).for_each(|(f, g)| *f /= unit[*g]);
    basis.solve(&p.columns, off, &Costs { is_held, h, gamma, group }, hd, pull);
    off.iter_mut().zip(group.iter()).for_each(|(f, g)| *f *= unit[*g]);
    for i in (0..p.n).filter(|i| !s.is_held[*i]) {
        let unit = s.unit[s.group_of[i]];
        s.step[i] = unit * s.hd[i] / s.h[i];
        s.asked[i] = asked(s.pull[i], s.h[i], unit, e);
    }
}

/// The x̂ of a pull that is given in units of h; by logarithms, as the power might be no number.
fn asked(pull: f64, h: f64, unit: f64, e: f64) -> f64 {
    if pull == 0.0 {
        0.0
    } else {
        unit * elementary::exp((elementary::ln(pull.abs()) + elementary::ln(h)) / (e - 1.0)).copysign(pull)
    }
}

/// g/h, likewise.
fn gradient(x: f64, h: f64, unit: f64, e: f64) -> f64 {
    if x == 0.0 {
        0.0
    } else {
        elementary::exp((e - 1.0) * elementary::ln(x.abs() / unit) - elementary::ln(h)).copysign(x)
    }
}

/// Goes along the step until an unknown is what it is asked to be, beyond which it would cost more, or meets its bound, which then holds
/// it. Where too little of the step is left, x stays, and the next step is shorter, as H follows what is asked.
fn advance(p: &PowerProgram, s: &mut Scratch) {
    let moves = |x: f64, d: f64| part(x, d) > UNMOVED;
    let room = |x: f64, d: f64, i: usize| {
        let bound = if d < 0.0 { p.lower[i] } else { p.upper[i] };
        ((bound - x) / d).max(0.0)
    };
    let (mut length, mut left): (f64, f64) = (1.0, 1.0);
    for i in (0..p.n).filter(|i| !s.is_held[*i]) {
        let (x, d) = (s.x[i], s.step[i]);
        if !moves(x, d) {
            continue;
        }
        length = length.min(room(x, d, i));
        let until = (s.asked[i] - x) / d;
        if until > 0.0 {
            left = left.min(until);
        }
    }
    if left < LEFT.min(length) && s.stays < MAX_STAYS {
        s.stays += 1;
        return;
    }
    s.stays = 0;
    length = length.min(left);
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
        if !s.is_held[i] || p.upper[i] <= p.lower[i] || has_no_effect(p, i) {
            continue;
        }
        let (sum, size, h) = s.basis.pull_on_held(i, &s.h);
        let sum = if sum.abs() <= PULLS * size { 0.0 } else { sum };
        let (asked, x) = (asked(sum, h, s.unit[s.group_of[i]], e), s.x[i]);
        s.asked[i] = asked;
        let inwards = if x <= p.lower[i] { asked - x } else { x - asked };
        if inwards > PULLS * (1.0 + x.abs()) {
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
