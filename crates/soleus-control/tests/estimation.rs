//! States from readings: the cost of van den Bogert, Blana and Heinrich (2011), eq. 21, on an arm whose motion is known.

use soleus_control::goal::{self, Channel, Reference, Sensor};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{PointVariable, Problem};
use soleus_control::{Bounds, Collocation, Goal, Scheme, Settings, Trajectory};
use soleus_dynamics::System;
use soleus_math::Function;
use soleus_math::function::{PiecewiseLinear, Sine};
use soleus_math::norm::largest;
use soleus_optimization::nlp::{self, Options};
use std::ops::ControlFlow;
use std::sync::Arc;

const INTERVALS: usize = 12;
const DURATION: f64 = 0.3;

fn arm() -> ModelProblem {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/reach.osim");
    let model = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file).0.unwrap();
    let system = System::compile(&model).unwrap();
    ModelProblem::new(Arc::new(model), Arc::new(system))
}

fn problem(base: &ModelProblem) -> Problem {
    let mut p = base.problem(Bounds::new(-30.0, 30.0), &[]);
    p.initial_time = Bounds::fixed(0.0);
    p.final_time = Bounds::fixed(DURATION);
    p
}

fn solve(p: Problem, guess: Option<&Trajectory>) -> Trajectory {
    let settings = Settings { interpolate_controls: false, ..Settings::uniform(Scheme::Midpoint, INTERVALS) };
    let mut program = Collocation::new(p, &settings).unwrap_or_else(|e| panic!("{e:?}"));
    if let Some(g) = guess {
        program.set_guess(g);
    }
    let options = Options { max_iterations: 500, ..Options::with_tolerance(1e-7) };
    let s = nlp::solve(&mut program, &options, None, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(s.status.is_solved(), "{:?}", s.status);
    program.trajectory(&s.x)
}

fn effort(base: &ModelProblem, weight: f64) -> Goal {
    let all: Vec<_> = (0..base.controls.len()).map(|i| (i, 1.0)).collect();
    goal::control_effort("effort", weight, &all, 2.0)
}

/// Readings without noise of every coordinate and speed give the motion back, from a start that knows nothing of it.
#[test]
fn identity_estimate_without_noise_is_the_truth() {
    let base = arm();
    let n = base.num_coordinates();
    // A motion: the arm follows waves, not too hard.
    let mut p = problem(&base);
    let wave = |i: usize| Sine::new(0.3, 6.0, 0.5 * i as f64, 0.2).map(Function::from).unwrap();
    let follow = |i: usize| Reference { variable: PointVariable::State(i), function: wave(i), weight: 1.0 };
    p.goals.push(goal::tracking("waves", 1.0, (0..n).map(follow).collect()));
    p.goals.push(effort(&base, 1e-3));
    let truth = solve(p, None);

    // Points are nodes and midpoints in turn; the rule integrates at midpoints.
    let middle = |rows: &[Vec<f64>], i: usize| rows.iter().skip(1).step_by(2).map(|r| r[i]).collect();
    let times: Vec<f64> = truth.times.iter().skip(1).step_by(2).copied().collect();
    let channel = |i: usize| Channel {
        sensor: Sensor::State(i),
        reading: PiecewiseLinear::new(times.clone(), middle(&truth.states.rows, i)).unwrap().into(),
        per_deviation: Function::Constant(if i < n { 1e3 } else { 1e2 }),
    };
    let mut p = problem(&base);
    let channels = (0..2 * n).map(channel).collect();
    p.goals.push(goal::sensor_tracking("tracking", 1.0, &base.system, channels));
    p.goals.push(effort(&base, 1e-6));
    let found = solve(p, None);

    let apart = |rows: std::ops::Range<usize>| {
        let pairs = truth.states.rows.iter().zip(&found.states.rows).skip(1).step_by(2);
        largest(pairs.flat_map(|(a, b)| rows.clone().map(|i| (a[i] - b[i]).abs())))
    };
    // Effort of 1e-6 against squares in units of 1e-3 rad moves angles by less than a hundredth of those.
    assert!(apart(0..n) < 1e-5, "angles differ by {} rad", apart(0..n));
    assert!(apart(n..2 * n) < 1e-3, "speeds differ by {} rad/s", apart(n..2 * n));
}
