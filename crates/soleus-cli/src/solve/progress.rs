//! What a user sees of a solve.

use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Iteration, Solution};
use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Least time between two lines when nobody watches.
const BETWEEN: Duration = Duration::from_secs(2);

/// Iterations that the estimate of the time left looks back on.
const MEMORY: usize = 12;

/// Tells of iterations on stderr: one line that is kept up to date on a terminal, else a line every two seconds.
pub struct Progress {
    quiet: bool,
    live: bool,
    start: Instant,
    last: Option<Instant>,
    tolerance: f64,
    /// Times and errors of the last iterations.
    history: VecDeque<(Instant, f64)>,
}

impl Progress {
    pub fn new(quiet: bool, tolerance: f64, program: &impl NonlinearProgram) -> Progress {
        let live = std::io::stderr().is_terminal();
        if !quiet {
            eprintln!(
                "{} variables, {} constraints, {} places in the Jacobian, {} in the Hessian",
                program.num_variables(),
                program.num_constraints(),
                program.jacobian_pattern().len(),
                program.hessian_pattern().len()
            );
            eprintln!(
                "{:>5} {:>15} {:>11} {:>11} {:>8} {:>8} {:>8}",
                "iter", "objective", "violation", "dual", "barrier", "s", "s left"
            );
        }
        Progress { quiet, live, start: Instant::now(), last: None, tolerance, history: VecDeque::new() }
    }

    pub fn tell(&mut self, i: &Iteration) {
        if self.history.len() == MEMORY {
            self.history.pop_front();
        }
        let error = i.constraint_violation.max(i.dual_infeasibility).max(i.barrier);
        self.history.push_back((Instant::now(), error));
        let due = self.live || self.last.is_none_or(|t| t.elapsed() >= BETWEEN);
        if self.quiet || !due {
            return;
        }
        self.last = Some(Instant::now());
        let left = self.seconds_left().map_or("?".to_string(), |s| format!("{s:.1}"));
        let line = format!(
            "{:>5} {:>15.8e} {:>11.2e} {:>11.2e} {:>8.1e} {:>8.1} {:>8}{}",
            i.iteration,
            i.objective,
            i.constraint_violation,
            i.dual_infeasibility,
            i.barrier,
            self.start.elapsed().as_secs_f64(),
            left,
            if i.in_restoration { "  restoring feasibility" } else { "" }
        );
        if self.live {
            // Back to the start of the line, which is cleared first; a closed stderr is no reason to stop.
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        } else {
            eprintln!("{line}");
        }
    }

    /// Time until the error, which falls by a factor per iteration, reaches the tolerance: at the mean factor and the
    /// mean time of the last iterations. None while the error does not fall.
    fn seconds_left(&self) -> Option<f64> {
        seconds_left(&self.history, self.tolerance)
    }

    /// The last word; returns the seconds it took.
    pub fn finish(&self, s: &Solution) -> f64 {
        let seconds = self.start.elapsed().as_secs_f64();
        let c = &s.certificate;
        if self.live && !self.quiet {
            eprintln!();
        }
        eprintln!(
            "{}: objective {:.10e}, violation {:.2e}, dual {:.2e}, {} iterations, {seconds:.2} s",
            s.status.describe(),
            s.objective,
            c.constraint_violation,
            c.dual_infeasibility,
            s.counts.iterations
        );
        seconds
    }
}

fn seconds_left(history: &VecDeque<(Instant, f64)>, tolerance: f64) -> Option<f64> {
    let (first, last) = (history.front()?, history.back()?);
    let steps = history.len() as f64 - 1.0;
    let fall = (first.1 / last.1).ln();
    if steps < 3.0 || !(fall > 0.0) || !(last.1 > 0.0) {
        return None;
    }
    let needed = (last.1 / tolerance).ln().max(0.0) / (fall / steps);
    Some(needed * (last.0 - first.0).as_secs_f64() / steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that falls tenfold every 0.1 s and is 1e-3 now reaches 1e-6 in 0.3 s.
    #[test]
    fn analytic_time_left() {
        let start = Instant::now();
        let at = |k: u32| (start + Duration::from_millis(100) * k, 10f64.powi(2 - k as i32));
        let history: VecDeque<_> = (0..6).map(at).collect();
        let left = seconds_left(&history, 1e-6);
        assert!(left.is_some_and(|s| (s - 0.3).abs() < 1e-9), "{left:?}");
        let rising: VecDeque<_> = (0..6).map(|k| (at(k).0, f64::from(k + 1))).collect();
        assert_eq!(seconds_left(&rising, 1e-6), None);
    }
}
