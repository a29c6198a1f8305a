//! Solves a problem with reserves that are gradually removed.
//!
//! From a poor initial guess the equations of motion are far from satisfied, and a solver that first tries to satisfy
//! them may fail. With [reserves](crate::problem::Reserve) they are satisfied from the start, at a cost. A series of
//! problems with increasing cost, each started from the previous solution, leads to the problem without reserves.

use crate::problem::{Problem, ProblemError, Reserve};
use crate::solution::Trajectory;
use crate::transcription::{Collocation, Settings, StatesReader};
use soleus_optimization::nlp::{self, Iteration, NlpError, Options, Solution, WarmStart};
use std::ops::ControlFlow;

/// How reserves are removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fading {
    /// The reserves.
    pub reserves: Vec<Reserve>,
    /// Weights of the reserves in each problem before the last, which has none; increasing.
    pub prices: Vec<f64>,
    /// Tolerance of the problems before the last.
    pub tolerance: f64,
    /// Maximum number of iterations of each of them. The result is then used as the next initial guess.
    pub max_iterations: usize,
    /// Initial barrier parameter of the first problem, and of the others.
    pub barriers: [f64; 2],
}

impl Fading {
    /// Weights of 10 and 100, which work for gaits with a cost of the order of 1.
    pub fn new(reserves: Vec<Reserve>) -> Fading {
        Fading {
            reserves,
            prices: vec![10.0, 100.0],
            tolerance: 1e-3,
            max_iterations: 300,
            barriers: [1e-2, 1e-3],
        }
    }

    /// No reserves: the problem itself, from a good initial guess.
    pub fn none() -> Fading {
        Fading { prices: Vec::new(), barriers: [1e-3; 2], ..Fading::new(Vec::new()) }
    }
}

/// Result.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The last program's solution.
    pub solution: Solution,
    /// The motion.
    pub trajectory: Trajectory,
    /// Cost of each goal.
    pub goals: Vec<(String, f64)>,
    /// Iterations of all programs together.
    pub iterations: usize,
    /// Description of the constraints of the last program with the largest violation.
    pub worst: Option<String>,
}

impl Outcome {
    /// Cost of a goal; 0 if there is none with that name.
    pub fn goal(&self, name: &str) -> f64 {
        self.goals.iter().filter(|g| g.0 == name).map(|g| g.1).sum()
    }
}

/// A problem that cannot be formulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ContinuationError {
    /// The problem is inconsistent.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Problem(Vec<ProblemError>),
    /// The nonlinear program is invalid.
    #[error(transparent)]
    Program(#[from] NlpError),
}

/// Solves `problem` after solving it with reserves at each weight. `options` are those of the last program. `progress`
/// is called with the weight, 0 in the last program, and every iteration; it may stop the solve.
pub fn solve_fading(
    problem: &Problem,
    settings: &Settings,
    fading: &Fading,
    guess: &Trajectory,
    options: &Options,
    progress: &mut dyn FnMut(f64, &Iteration<'_>) -> ControlFlow<()>,
) -> Result<Outcome, ContinuationError> {
    let mut told = |price: f64, i: &Iteration<'_>, _: &mut StatesReader| progress(price, i);
    solve_fading_seen(problem, settings, fading, guess, options, &mut told)
}

/// Called with the weight, every iteration, and a reader for its motion.
pub type Seen<'a> = dyn FnMut(f64, &Iteration<'_>, &mut StatesReader) -> ControlFlow<()> + 'a;

/// As [`solve_fading`], with access to the motion of each iteration.
pub fn solve_fading_seen(
    problem: &Problem,
    settings: &Settings,
    fading: &Fading,
    guess: &Trajectory,
    options: &Options,
    progress: &mut Seen<'_>,
) -> Result<Outcome, ContinuationError> {
    let mut guess = guess.clone();
    let mut iterations = 0;
    let mut stopped = false;
    for (k, &price) in fading.prices.iter().enumerate() {
        let mut helped = problem.clone();
        helped.add_reserves(&fading.reserves, price);
        let options = Options {
            tolerance: fading.tolerance,
            max_iterations: fading.max_iterations,
            initial_barrier: fading.barriers[k.min(1)],
            ..options.clone()
        };
        let outcome = solve_one(helped, settings, &guess, &options, &mut |i, motion| {
            let flow = progress(price, i, motion);
            stopped |= flow.is_break();
            flow
        })?;
        iterations += outcome.iterations;
        if stopped {
            return Ok(Outcome { iterations, ..outcome });
        }
        guess = outcome.trajectory;
    }
    let barrier = if fading.prices.is_empty() { fading.barriers[0] } else { fading.barriers[1] };
    let options = Options { initial_barrier: barrier, ..options.clone() };
    let outcome =
        solve_one(problem.clone(), settings, &guess, &options, &mut |i, motion| progress(0.0, i, motion))?;
    Ok(Outcome { iterations: iterations + outcome.iterations, ..outcome })
}

fn solve_one(
    problem: Problem,
    settings: &Settings,
    guess: &Trajectory,
    options: &Options,
    progress: &mut dyn FnMut(&Iteration<'_>, &mut StatesReader) -> ControlFlow<()>,
) -> Result<Outcome, ContinuationError> {
    let mut program = Collocation::new(problem, settings).map_err(ContinuationError::Problem)?;
    program.set_guess(guess);
    let mut reader = program.states_reader();
    finish(program, options, None, &mut |i| progress(i, &mut reader))
}

/// Solves `program` from the solution of a similar program `before`, with other values or another mesh: its motion and
/// multipliers are the initial guess. `options` are used with
/// [`near_solution`](soleus_optimization::nlp::Options::near_solution).
pub fn solve_next(
    mut program: Collocation,
    (before, known): (&mut Collocation, &Solution),
    options: &Options,
    progress: &mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
) -> Result<Outcome, ContinuationError> {
    let warm = program.warm_start(before, &known.warm_start());
    finish(program, &options.clone().near_solution(), Some(&warm), progress)
}

fn finish(
    mut program: Collocation,
    options: &Options,
    warm: Option<&WarmStart>,
    progress: &mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
) -> Result<Outcome, ContinuationError> {
    program.set_threads(options.threads);
    let solution = nlp::solve(&mut program, options, warm, progress)?;
    let outcome = Outcome {
        trajectory: program.trajectory(&solution.x),
        goals: program.objective_by_goal(&solution.x),
        iterations: solution.counts.iterations,
        worst: program.violations(&solution.x, options.constraint_tolerance).first().map(|v| v.name.clone()),
        solution,
    };
    Ok(outcome)
}
