//! From few nodes to many: a series of meshes and schemes, each started where the last one ended.

use crate::failure::Failure;
use crate::walk::Teller;
use soleus_control::continuation::{Fading, Outcome, solve_fading};
use soleus_control::problem::Reserve;
use soleus_control::{Problem, Scheme, Settings, Trajectory};
use soleus_optimization::nlp::Options;

/// One problem of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Collocation scheme.
    pub scheme: Scheme,
    /// Intervals.
    pub nodes: usize,
    /// Prices of reserves before the problem without any; none for a start that nearly satisfies the equations.
    pub prices: Vec<f64>,
    /// First barrier parameter.
    pub barrier: f64,
    /// Tolerance of the problem without reserves.
    pub tolerance: f64,
}

/// Solves the stages one after another; `problem` states the problem for the nodes of a stage.
pub fn solve_stages(
    stages: &[Stage],
    reserves: &[Reserve],
    guess: Trajectory,
    problem: &dyn Fn(usize) -> Result<Problem, Failure>,
) -> Result<Outcome, Failure> {
    let fail = |message: String| Failure::NotSolved { message };
    let mut teller = Teller::new();
    let (mut trajectory, mut iterations, mut last) = (guess, 0, None);
    for s in stages {
        let fading = Fading {
            prices: s.prices.clone(),
            max_iterations: 80,
            barriers: [s.barrier, s.barrier.min(1e-3)],
            ..Fading::new(reserves.to_vec())
        };
        let settings = Settings { interpolate_controls: false, ..Settings::uniform(s.scheme, s.nodes) };
        let options = Options {
            threads: 2,
            constraint_tolerance: 1e-6,
            max_iterations: 300,
            ..Options::with_tolerance(s.tolerance)
        };
        let o =
            solve_fading(&problem(s.nodes)?, &settings, &fading, &trajectory, &options, &mut |price, i| {
                teller.tell(price, i)
            })
            .map_err(|e| fail(e.to_string()))?;
        iterations += o.iterations;
        trajectory.clone_from(&o.trajectory);
        last = Some(o);
    }
    teller.finish();
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
