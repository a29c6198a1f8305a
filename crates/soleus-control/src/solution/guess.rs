//! Rates that fit a guess.

use crate::problem::Problem;
use crate::transcription::layout::{Input, Layout};

/// Newton steps for the rates of one point; f is linear in most rates, so one step often ends it.
const STEPS: usize = 5;

/// Sets the rates ẋ of every point so that f(x, ẋ, e, λ) = 0 in the rows of the states, where that works;
/// elsewhere they stay.
pub(crate) fn consistent_rates(problem: &Problem, layout: &Layout, full: &mut [f64]) {
    let f = &problem.dynamics.function;
    let mut scratch = f.scratch();
    let (mut z, mut r) = (vec![0.0; f.num_inputs()], vec![0.0; f.num_outputs()]);
    let mut first = vec![0.0; f.jacobian_places().len()];
    let nx = problem.states.len();
    let all = problem.point_variables();
    for p in layout.points.iter().chain(&layout.projected) {
        let inputs = layout.inputs(p, &all);
        // Rates that are unknowns of their own, and where they stand among the inputs.
        let own: Vec<usize> = (0..nx)
            .filter(|&i| !p.states.contains(&p.rates[i]) && !problem.prescribed.iter().any(|m| m.state == i))
            .collect();
        let m = own.len();
        let mut row_of = vec![usize::MAX; nx];
        own.iter().enumerate().for_each(|(k, &i)| row_of[i] = k);
        let before: Vec<f64> = own.iter().map(|&i| full[p.rates[i]]).collect();
        let mut norm = f64::INFINITY;
        for step in 0..=STEPS {
            for (z, input) in z.iter_mut().zip(&inputs) {
                *z = match *input {
                    Input::Variable(v) => full[v],
                    Input::Time(tau) => (1.0 - tau) * full[layout.times[0]] + tau * full[layout.times[1]],
                    Input::Constant(c) => c,
                };
            }
            f.compute_values(&z, &mut r, &mut scratch);
            let now = own.iter().map(|&i| r[i].abs()).fold(0.0, f64::max);
            if !(now < norm) {
                // No progress: what was there before is as good a guess.
                if step > 0 && !now.is_finite() {
                    own.iter().zip(&before).for_each(|(&i, &x)| full[p.rates[i]] = x);
                }
                break;
            }
            norm = now;
            if norm < 1e-10 || step == STEPS {
                break;
            }
            f.compute_jacobian(&z, &mut first, &mut scratch);
            let mut a = vec![0.0; m * m];
            for (&(o, i), &v) in f.jacobian_places().iter().zip(&first) {
                if o < nx && row_of[o] != usize::MAX && (1 + nx..1 + 2 * nx).contains(&i) {
                    let column = row_of[i - 1 - nx];
                    if column != usize::MAX {
                        a[row_of[o] * m + column] += v;
                    }
                }
            }
            let mut step: Vec<f64> = own.iter().map(|&i| r[i]).collect();
            if !solve_dense(&mut a, &mut step) {
                break;
            }
            own.iter().zip(&step).for_each(|(&i, s)| full[p.rates[i]] -= s);
        }
    }
}

/// Solves A x = b in place by elimination with row exchange; false if A is singular.
fn solve_dense(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        if !(a[pivot * n + k].abs() > 0.0) {
            return false;
        }
        if pivot != k {
            (0..n).for_each(|c| a.swap(pivot * n + c, k * n + c));
            b.swap(pivot, k);
        }
        for i in k + 1..n {
            let f = a[i * n + k] / a[k * n + k];
            if f != 0.0 {
                (k..n).for_each(|c| a[i * n + c] -= f * a[k * n + c]);
                b[i] -= f * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let s: f64 = (k + 1..n).map(|c| a[k * n + c] * b[c]).sum();
        b[k] = (b[k] - s) / a[k * n + k];
    }
    b.iter().all(|x| x.is_finite())
}
