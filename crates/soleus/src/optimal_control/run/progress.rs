//! Progress reports of a solve.

use crate::context::{Context, Progress, Reached};
use soleus_control::transcription::{Collocation, StatesReader};
use soleus_math::elementary;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Iteration, Solution};
use std::collections::VecDeque;

/// Iterations that the estimate of the time left looks back on.
const MEMORY: usize = 12;

/// Guesses in a row that have to agree before one is told.
const AGREEING: usize = 5;

/// Reports iterations and the estimated remaining time.
pub struct IterationProgress<'a> {
    cx: &'a Context<'a>,
    /// When the solve began, s, where there is a clock.
    start: Option<f64>,
    tolerance: f64,
    /// Times (s) and errors of the last iterations.
    history: VecDeque<(f64, f64)>,
    /// The last guesses of the time left, s.
    guesses: VecDeque<Option<f64>>,
    motion: StatesReader,
}

impl<'a> IterationProgress<'a> {
    /// Starts the clock.
    pub fn new(cx: &'a Context<'a>, tolerance: f64, program: &Collocation) -> Self {
        cx.note(format!(
            "{} variables, {} constraints, {} entries in the Jacobian, {} in the Hessian",
            program.num_variables(),
            program.num_constraints(),
            program.jacobian_pattern().len(),
            program.hessian_pattern().len()
        ));
        IterationProgress {
            cx,
            start: cx.monitor.seconds(),
            tolerance,
            history: VecDeque::new(),
            guesses: VecDeque::new(),
            motion: program.states_reader(),
        }
    }

    /// Reports an iteration.
    pub fn tell(&mut self, i: &Iteration) {
        if self.history.len() == MEMORY {
            self.history.pop_front();
        }
        let error = i.constraint_violation.max(i.dual_infeasibility).max(i.barrier);
        self.history.extend(self.cx.monitor.seconds().map(|now| (now, error)));
        if self.guesses.len() == MEMORY {
            self.guesses.pop_front();
        }
        self.guesses.push_back(seconds_left(&self.history, self.tolerance));
        let detail = format!(
            "objective {:.5e}, violation {:.2e}, dual {:.2e}, barrier {:.1e}{}",
            i.objective,
            i.constraint_violation,
            i.dual_infeasibility,
            i.barrier,
            if i.in_restoration { ", restoring feasibility" } else { "" }
        );
        self.cx.monitor.progress(&Progress {
            what: "iterations",
            done: i.iteration as f64,
            total: None,
            left_s: agreed(&self.guesses),
            detail: &detail,
        });
        tell_motion(self.cx, &mut self.motion, i);
    }

    /// Reports the end; returns the elapsed time, s, 0 without a clock.
    pub fn finish(&self, s: &Solution) -> f64 {
        let seconds = self.start.zip(self.cx.monitor.seconds()).map_or(0.0, |(start, now)| now - start);
        let c = &s.certificate;
        self.cx.note(format!(
            "{}: objective {:.5e}, violation {:.2e}, dual {:.2e}, {} iterations, {seconds:.2} s",
            s.status.describe(),
            s.objective,
            c.constraint_violation,
            c.dual_infeasibility,
            s.counts.iterations
        ));
        if let Some(weakness) = c.weakness().filter(|_| s.status.is_solved()) {
            self.cx.note(weakness);
        }
        if let Some(inaccuracy) = c.inaccuracy(s.objective).filter(|_| s.status.is_solved()) {
            self.cx.note(inaccuracy);
        }
        seconds
    }
}

/// Passes the motion of an iteration to the monitor, if it wants it.
pub fn tell_motion(cx: &Context, motion: &mut StatesReader, i: &Iteration) {
    if !i.in_restoration && cx.monitor.wants_motion() {
        let (times, rows) = motion.read(i.x);
        cx.monitor.motion(&Reached { names: &motion.names, times: &times, rows: &rows, marker_error: None });
    }
}

/// The time left that the last guesses agree on: all within a factor of two. What jumps is not an estimate, and is not told.
fn agreed(guesses: &VecDeque<Option<f64>>) -> Option<f64> {
    let all: Vec<f64> = guesses.iter().rev().take(AGREEING).copied().collect::<Option<_>>()?;
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0f64), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
    (all.len() == AGREEING && high <= 2.0 * low).then(|| all.iter().sum::<f64>() / AGREEING as f64)
}

/// Time until the error, which falls by a factor per iteration, reaches the tolerance: at the mean factor and the
/// mean time of the last iterations. None while the error does not fall.
fn seconds_left(history: &VecDeque<(f64, f64)>, tolerance: f64) -> Option<f64> {
    let (first, last) = (history.front()?, history.back()?);
    let steps = history.len() as f64 - 1.0;
    let fall = elementary::ln(first.1 / last.1);
    if steps < 3.0 || !(fall > 0.0) || !(last.1 > 0.0) {
        return None;
    }
    let needed = elementary::ln(last.1 / tolerance).max(0.0) / (fall / steps);
    Some(needed * (last.0 - first.0) / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1223 s left, then 23725 s.
    #[test]
    fn issue_everyday_time_left_does_not_jump() {
        let of = |list: &[f64]| agreed(&list.iter().map(|x| Some(*x)).collect());
        assert_eq!(of(&[1223.0, 23725.0, 800.0, 40.0, 50.0]), None);
        assert_eq!(of(&[50.0, 49.0]), None, "too early to tell");
        assert_eq!(of(&[9000.0, 60.0, 55.0, 50.0, 45.0, 40.0]), Some(50.0));
        let mut with_gap: VecDeque<Option<f64>> = [50.0; 5].map(Some).into();
        with_gap[3] = None;
        assert_eq!(agreed(&with_gap), None);
    }

    /// An error that falls tenfold every 0.1 s and is 1e-3 now reaches 1e-6 in 0.3 s.
    #[test]
    fn analytic_time_left() {
        let at = |k: i32| (0.1 * f64::from(k), 10f64.powi(2 - k));
        let history: VecDeque<_> = (0..6).map(at).collect();
        let left = seconds_left(&history, 1e-6);
        assert!(left.is_some_and(|s| (s - 0.3).abs() < 1e-9), "{left:?}");
        let rising: VecDeque<_> = (0..6).map(|k| (at(k).0, f64::from(k + 1))).collect();
        assert_eq!(seconds_left(&rising, 1e-6), None);
    }
}
