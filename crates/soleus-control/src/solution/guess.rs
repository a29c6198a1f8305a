//! Rates consistent with an initial guess.

use crate::problem::Problem;
use crate::transcription::Scheme;
use crate::transcription::layout::Layout;

/// Sets the rates ẋ of every point to the slopes of the states there, so that a smooth guess nearly satisfies the
/// scheme, and the equations of motion say what controls are missing. Slopes of a given motion are moderate; rates
/// that satisfy the equations of motion instead may be huge where a guess presses a foot into the ground.
pub(crate) fn set_slopes(problem: &Problem, scheme: Scheme, layout: &Layout, full: &mut [f64]) {
    let n = layout.points.len();
    let duration = full[layout.times[1]] - full[layout.times[0]];
    if !(duration > 0.0) || n < 2 {
        return;
    }
    let slope = |full: &[f64], k: usize, i: usize| {
        // Backward Euler takes the slope behind a point, the others have no reason to prefer a side.
        let ahead = if scheme == Scheme::BackwardEuler && k > 0 { k } else { (k + 1).min(n - 1) };
        let (a, b) = (&layout.points[k.saturating_sub(1)], &layout.points[ahead]);
        (full[b.states[i]] - full[a.states[i]]) / ((b.tau - a.tau) * duration)
    };
    for i in 0..problem.states.len() {
        if problem.prescribed.iter().any(|m| m.state == i) {
            continue;
        }
        for (k, p) in layout.points.iter().enumerate() {
            // The rate of a state may be a state of its own.
            if !p.states.contains(&p.rates[i]) {
                full[p.rates[i]] = slope(full, k, i);
            }
        }
        for (interval, p) in layout.projected.iter().enumerate() {
            if !p.states.contains(&p.rates[i]) {
                full[p.rates[i]] = slope(full, layout.mesh[interval + 1], i);
            }
        }
    }
}
