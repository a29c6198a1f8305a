//! Semismooth Newton on the dual of the quadratic program, with proximal steps.
//!
//! For given multipliers λ, the minimizer of the Lagrangian is known in closed form,
//!
//!   xᵢ(λ) = clamp(½ aᵢᵀ λ, lᵢ, uᵢ)                                              (1)
//!
//! and the equations become F(λ) = A x(λ) − b = 0, the gradient of a convex function of λ. F is piecewise linear, so
//! that Newton's method ends after few steps, and the multipliers at one time are a good initial guess for the next.
//! Each proximal step solves
//!
//!   F(λ) + (λ − λₖ)/ρ = 0                                                      (2)
//!
//! whose Newton matrix ½ Σ_free aᵢ aᵢᵀ + 1/ρ is never singular (Rockafellar 1976). If the equations can be satisfied,
//! λₖ converges, within two steps for large ρ. Otherwise (λₖ − λₖ₊₁)/ρ converges to the smallest possible b − A x.

use super::{FEASIBLE, PowerProgram, SharingError, largest};
use soleus_math::dense::{factorize_cholesky, solve_cholesky};

/// 1/ρ as a part of the diagonal of ½ A Aᵀ. Smaller, and rounding spoils the Newton matrix; larger, and more proximal steps
/// are needed.
const PROXIMITY: f64 = 1e-9;
/// The same for careful steps, which keep the multipliers small where equations cannot be met.
const CAREFUL: f64 = 1e-3;
/// Newton steps of one proximal step at most. Four or five are usual without a start.
const MAX_NEWTON: usize = 200;
/// Steps of the search along a Newton step at most; halving alone would take 50.
const MAX_SEARCH: usize = 60;
/// The gradient counts as zero at this part of the largest term in the equations.
const ROUNDING: f64 = 1e-14;
/// Below this part it may stop falling: terms that cancel leave no more digits.
const SMALL: f64 = 1e-10;
/// Proximal steps at most; two are usual.
const MAX_PROXIMAL: usize = 6;
/// What careful steps leave of an equation that can be met, as a part of the largest term.
const ALMOST: f64 = 1e-3;
/// Careful proximal steps at most.
const MAX_CAREFUL: usize = 300;
/// Newton steps times the cube of the number of equations at most, once the first proximal step is done: a second or two. With a hundred
/// equations it is never reached; with five hundred that cannot be met, steps without end would gain a digit of what is missing.
const MAX_WORK: f64 = 3e9;

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    center: Vec<f64>,
    before: Vec<f64>,
    gradient: Vec<f64>,
    step: Vec<f64>,
    start: Vec<f64>,
    matrix: Vec<f64>,
    diagonal: Vec<f64>,
    /// 1/ρ of each equation.
    weight: Vec<f64>,
    x: Vec<f64>,
    /// aᵢᵀ λ and aᵢᵀ d of each unknown.
    along: Vec<[f64; 2]>,
    /// Unknowns and multipliers to go back to.
    kept: (Vec<f64>, Vec<f64>),
}

impl Scratch {
    pub fn new(m: usize, n: usize) -> Self {
        let v = vec![0.0; m];
        Scratch {
            center: v.clone(),
            before: v.clone(),
            gradient: v.clone(),
            step: v.clone(),
            start: v.clone(),
            matrix: vec![0.0; m * m],
            diagonal: v.clone(),
            kept: (vec![0.0; n], v.clone()),
            weight: v,
            x: vec![0.0; n],
            along: vec![[0.0; 2]; n],
        }
    }
}

/// Sets x, multipliers and missing; returns the number of Newton steps.
pub(super) fn solve(p: &mut PowerProgram) -> Result<usize, SharingError> {
    let mut s = std::mem::replace(&mut p.newton, Scratch::new(0, 0));
    if !p.multipliers.iter().all(|l| l.is_finite()) {
        p.multipliers.fill(0.0);
    }
    s.diagonal.fill(0.0);
    for i in 0..p.n {
        for (r, a) in p.columns.entries(i) {
            s.diagonal[r] += 0.5 * a * a;
        }
    }
    // Equations that no unknown enters hold or do not, whatever x; their multipliers stay zero.
    for (r, d) in s.diagonal.iter().enumerate() {
        if *d == 0.0 {
            p.multipliers[r] = 0.0;
        }
    }

    // Large steps, from the multipliers at hand: two of them do if the equations can be met.
    for (w, d) in s.weight.iter_mut().zip(&s.diagonal) {
        *w = PROXIMITY * d;
    }
    let mut iterations = 0;
    let mut done = proximal(p, &mut s, (MAX_PROXIMAL, 0.1), &mut iterations);
    if done.is_err() {
        // A start may be worse than none.
        p.multipliers.fill(0.0);
        done = proximal(p, &mut s, (MAX_PROXIMAL, 0.1), &mut iterations);
    }
    if done.is_err() || largest(&p.missing) > FEASIBLE * p.scale() {
        // They cannot, or the start was poor: short steps of equal length in all equations, from zero, which find the
        // smallest missing part.
        let mean =
            s.diagonal.iter().sum::<f64>() / s.diagonal.iter().filter(|d| **d > 0.0).count().max(1) as f64;
        s.weight.fill(CAREFUL * mean);
        p.multipliers.fill(0.0);
        done = proximal(p, &mut s, (MAX_CAREFUL, 1e-9), &mut iterations);
        if done.is_ok() && is_almost_met(p) {
            // Short steps crawl near the end; large ones from there tell whether anything is missing at all.
            for (w, d) in s.weight.iter_mut().zip(&s.diagonal) {
                *w = PROXIMITY * d;
            }
            s.kept.0.copy_from_slice(&p.x);
            s.kept.1.copy_from_slice(&p.multipliers);
            let again = proximal(p, &mut s, (MAX_PROXIMAL, 0.1), &mut iterations);
            if again.is_err() || largest(&p.missing) > FEASIBLE * p.scale() {
                p.x.copy_from_slice(&s.kept.0);
                p.multipliers.copy_from_slice(&s.kept.1);
                p.compute_missing();
            }
        }
        if done.is_ok() && largest(&p.missing) > FEASIBLE * p.scale() {
            // Multipliers that run away are no start for anything.
            p.multipliers.fill(0.0);
        }
    }
    p.newton = s;
    done.map(|()| iterations)
}

/// Whether the equations are off by so little that it may be for lack of steps.
fn is_almost_met(p: &PowerProgram) -> bool {
    let (missing, scale) = (largest(&p.missing), p.scale());
    missing > FEASIBLE * scale && missing <= ALMOST * scale
}

/// Proximal steps until the equations are met or what is missing changes by no more than a part `still` of it.
fn proximal(
    p: &mut PowerProgram,
    s: &mut Scratch,
    (most, still): (usize, f64),
    iterations: &mut usize,
) -> Result<(), SharingError> {
    s.before.fill(f64::INFINITY);
    for _ in 0..most {
        s.center.copy_from_slice(&p.multipliers);
        *iterations += newton(p, s)?;
        p.compute_missing();
        let missing = largest(&p.missing);
        let change = s.before.iter().zip(&p.missing).fold(0.0, |c: f64, (a, b)| c.max((a - b).abs()));
        let work = *iterations as f64 * (p.m as f64).powi(3);
        if missing <= 1e-3 * FEASIBLE * p.scale() || change <= still * missing || work > MAX_WORK {
            break;
        }
        s.before.copy_from_slice(&p.missing);
    }
    Ok(())
}

/// Solves (2) from the multipliers at hand; x follows.
fn newton(p: &mut PowerProgram, s: &mut Scratch) -> Result<usize, SharingError> {
    let (m, n) = (p.m, p.n);
    let mut value = evaluate(p, s);
    let mut before = f64::INFINITY;
    for k in 0..MAX_NEWTON {
        let error = largest(&s.gradient);
        let scale = s.x.iter().enumerate().fold(largest(&p.rhs), |scale, (i, x)| {
            p.columns.entries(i).fold(scale, |scale, (_, a)| scale.max((a * x).abs()))
        });
        // Zero to rounding, or small and no longer falling.
        if error <= ROUNDING * scale || (error <= SMALL * scale && error > 0.5 * before) {
            p.x.copy_from_slice(&s.x);
            return Ok(k);
        }
        before = error;

        // Newton matrix over the unknowns that are off their bounds.
        s.matrix.fill(0.0);
        for r in 0..m {
            s.matrix[r * m + r] = if s.diagonal[r] > 0.0 { s.weight[r] } else { 1.0 };
        }
        for i in 0..n {
            if s.x[i] > p.lower[i] && s.x[i] < p.upper[i] {
                p.columns.add_outer(i, 0.5, &mut s.matrix, m);
            }
        }
        let floor = s.weight.iter().fold(f64::INFINITY, |f, w| if *w > 0.0 { f.min(*w) } else { f });
        factorize_cholesky(&mut s.matrix, m, 1e-3 * floor.min(1.0));
        for (d, g) in s.step.iter_mut().zip(&s.gradient) {
            *d = -g;
        }
        solve_cholesky(&s.matrix, m, &mut s.step);
        let slope: f64 = s.step.iter().zip(&s.gradient).map(|(d, g)| d * g).sum();

        // The function is convex: a step that does not make it fall as it should ends where it is least along its way. Halving instead
        // takes hundreds of steps where some unknowns do a hundred times more than others, which a step frees or stops one by one. Where
        // the change is lost in rounding the gradient decides, by the test above.
        s.start.copy_from_slice(&p.multipliers);
        let mut length = 1.0;
        for tried in 0..2 {
            for r in 0..m {
                p.multipliers[r] = s.start[r] + length * s.step[r];
            }
            let next = evaluate(p, s);
            let lost = slope.abs() <= 1e-11 * value.abs().max(next.abs());
            if lost || tried == 1 || next <= value + 1e-4 * length * slope {
                value = next;
                break;
            }
            length = least(p, s);
        }
    }
    let error = largest(&s.gradient);
    p.x.copy_from_slice(&s.x);
    Err(SharingError::NotConverged { iterations: MAX_NEWTON, error, wanted: ROUNDING })
}

/// The part of a step, from `start` along `step`, at which the dual function is least. Its slope
///
///   φ'(t) = Σ zᵢ clamp(½ (yᵢ + t zᵢ)) − bᵀ d + Σ w d (λ₀ + t d − λₖ),   y = Aᵀ λ₀,   z = Aᵀ d
///
/// rises in straight pieces, so that Newton's method between an end where it is negative and one where it is positive is exact after few
/// steps.
fn least(p: &PowerProgram, s: &mut Scratch) -> f64 {
    for i in 0..p.n {
        s.along[i] = [p.columns.dot(i, &s.start), p.columns.dot(i, &s.step)];
    }
    let slopes = |t: f64| {
        let (mut first, mut second) = (0.0, 0.0);
        for (i, &[y, z]) in s.along.iter().enumerate() {
            let x = 0.5 * (y + t * z);
            first += z * x.max(p.lower[i]).min(p.upper[i]);
            if x > p.lower[i] && x < p.upper[i] {
                second += 0.5 * z * z;
            }
        }
        for r in (0..p.m).filter(|&r| s.diagonal[r] > 0.0) {
            let d = s.step[r];
            first += s.weight[r] * d * (s.start[r] + t * d - s.center[r]) - p.rhs[r] * d;
            second += s.weight[r] * d * d;
        }
        (first, second)
    };
    let (mut low, mut high, mut t) = (0.0, 1.0, 0.5);
    for _ in 0..MAX_SEARCH {
        let (first, second) = slopes(t);
        if first < 0.0 {
            low = t;
        } else {
            high = t;
        }
        let next = t - first / second;
        if (next - t).abs() <= 1e-15 * t || high - low <= 1e-15 * high {
            break;
        }
        t = if next > low && next < high { next } else { 0.5 * (low + high) };
    }
    t
}

/// x(λ), the gradient of the dual function with its proximal term, and its value
/// Σ (aᵢᵀλ xᵢ − xᵢ²) − bᵀ λ + ½ |λ − λₖ|²/ρ.
fn evaluate(p: &PowerProgram, s: &mut Scratch) -> f64 {
    let mut value = 0.0;
    for (g, b) in s.gradient.iter_mut().zip(&p.rhs) {
        *g = -b;
    }
    for i in 0..p.n {
        let y = p.columns.dot(i, &p.multipliers);
        let x = (0.5 * y).max(p.lower[i]).min(p.upper[i]);
        s.x[i] = x;
        value += (y - x) * x;
        for (r, a) in p.columns.entries(i) {
            s.gradient[r] += a * x;
        }
    }
    for r in 0..p.m {
        if s.diagonal[r] == 0.0 {
            s.gradient[r] = 0.0;
            continue;
        }
        let d = p.multipliers[r] - s.center[r];
        s.gradient[r] += s.weight[r] * d;
        value += 0.5 * s.weight[r] * d * d - p.rhs[r] * p.multipliers[r];
    }
    value
}
