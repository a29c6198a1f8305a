//! From a poor start to a solution: a series of programs, each started where the last one ended.

use crate::progress_printer::ProgressPrinter;
use soleus::Error;
use soleus_control::continuation::{Fading, Outcome, solve_fading};
use soleus_control::problem::Reserve;
use soleus_control::{Problem, Scheme, Settings, Trajectory};
use soleus_optimization::nlp::Options;

/// One program of the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// Collocation scheme.
    pub scheme: Scheme,
    /// Intervals.
    pub nodes: usize,
    /// Price of reserves; without one there are none.
    pub price: Option<f64>,
    /// Whether the curvature of the equations of motion counts; without it steps are those of Gauss and Newton.
    pub curved: bool,
    /// First barrier parameter.
    pub barrier: f64,
    /// Tolerance.
    pub tolerance: f64,
    /// Most iterations. A stage before the last may end anywhere.
    pub most: usize,
}

/// Solves the stages one after another; `problem` states the problem for the nodes of a stage.
pub fn solve_stages(
    stages: &[Stage],
    reserves: &[Reserve],
    guess: Trajectory,
    problem: &dyn Fn(usize) -> Result<Problem, Error>,
) -> Result<Outcome, Error> {
    let fail = |message: String| Error::NotSolved { message };
    let mut printer = ProgressPrinter::new();
    let (mut trajectory, mut iterations, mut last) = (guess, 0, None);
    for s in stages {
        let mut problem = problem(s.nodes)?;
        if !s.curved {
            problem.straighten_dynamics();
        }
        if let Some(price) = s.price {
            problem.add_reserves(reserves, price);
        }
        let settings = Settings { interpolate_controls: false, ..Settings::uniform(s.scheme, s.nodes) };
        let options = Options {
            threads: 2,
            constraint_tolerance: 1e-6,
            max_iterations: s.most,
            ..Options::with_tolerance(s.tolerance)
        };
        let fading = Fading { barriers: [s.barrier; 2], ..Fading::none() };
        let price = s.price.unwrap_or(0.0);
        let o = solve_fading(&problem, &settings, &fading, &trajectory, &options, &mut |_, i| {
            printer.tell(price, i)
        })
        .map_err(|e| fail(e.to_string()))?;
        iterations += o.iterations;
        trajectory.clone_from(&o.trajectory);
        last = Some(o);
    }
    printer.finish();
    last.map(|o| Outcome { iterations, ..o }).ok_or_else(|| fail("there is no stage".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_no_stage_is_no_solution() {
        let none = solve_stages(&[], &[], Trajectory::default(), &|_| unreachable!("no stage asks"));
        assert!(none.is_err());
    }
}
