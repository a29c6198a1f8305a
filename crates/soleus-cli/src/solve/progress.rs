//! What a user sees of a solve.

use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Iteration, Solution};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Least time between two lines when nobody watches.
const BETWEEN: Duration = Duration::from_secs(2);

/// Tells of iterations on stderr: all of them on a terminal, else one every two seconds.
pub struct Progress {
    quiet: bool,
    all: bool,
    start: Instant,
    last: Option<Instant>,
}

impl Progress {
    pub fn new(quiet: bool, program: &impl NonlinearProgram) -> Progress {
        if !quiet {
            eprintln!(
                "{} variables, {} constraints, {} places in the Jacobian, {} in the Hessian",
                program.num_variables(),
                program.num_constraints(),
                program.jacobian_pattern().len(),
                program.hessian_pattern().len()
            );
            eprintln!(
                "{:>5} {:>15} {:>11} {:>11} {:>8} {:>8}",
                "iter", "objective", "violation", "dual", "barrier", "s"
            );
        }
        Progress { quiet, all: std::io::stderr().is_terminal(), start: Instant::now(), last: None }
    }

    pub fn tell(&mut self, i: &Iteration) -> ControlFlow<()> {
        let due = self.all || self.last.is_none_or(|t| t.elapsed() >= BETWEEN);
        if !self.quiet && due {
            self.last = Some(Instant::now());
            eprintln!(
                "{:>5} {:>15.8e} {:>11.2e} {:>11.2e} {:>8.1e} {:>8.1}{}",
                i.iteration,
                i.objective,
                i.constraint_violation,
                i.dual_infeasibility,
                i.barrier,
                self.start.elapsed().as_secs_f64(),
                if i.in_restoration { "  restoring feasibility" } else { "" }
            );
        }
        ControlFlow::Continue(())
    }

    /// The last word; returns the seconds it took.
    pub fn finish(&self, s: &Solution) -> f64 {
        let seconds = self.start.elapsed().as_secs_f64();
        let c = &s.certificate;
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
