//! A custom goal: an arm that reaches with minimum mechanical power, by optimal control.
//!
//! usage: cargo run --release -p soleus --example custom_goal
//!
//! The goal is written once, for any scalar; its derivatives come from dual numbers.

use soleus::engine::control::goal::control_effort;
use soleus::engine::control::musculoskeletal::ModelProblem;
use soleus::engine::control::problem::Term;
use soleus::engine::control::{
    Bounds, Collocation, Goal, PointVariable, Problem, Scheme, Settings, SmoothFunction, Trajectory,
};
use soleus::engine::dynamics::System;
use soleus::engine::math::Real;
use soleus::engine::optimization::nlp::{Options, solve};
use soleus::{Context, Memory};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The square of the power of a moment, W²: (m e u)², with the largest moment m, its control e and the speed u.
struct SquaredPower {
    /// N m.
    largest_moment: f64,
}

impl SmoothFunction for SquaredPower {
    type Scratch<T: Real> = ();

    fn num_inputs(&self) -> usize {
        2
    }

    fn scratch<T: Real>(&self) {}

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let power = z[0] * z[1] * self.largest_moment;
        values[0] = power * power;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = Memory::new().with("reach.osim", include_bytes!("../../models/reach.osim"));
    let model = soleus::inputs::model::read(&Context::new(&files), &"reach.osim".into())?;
    let system = System::compile(&model)?;
    let arm = ModelProblem::new(Arc::new(model), Arc::new(system));

    let effort = control_effort("effort", 1.0, &[(0, 1.0), (1, 1.0)], 2.0);
    let power = |joint: usize, largest_moment: f64| {
        // States are the two angles and their speeds.
        let inputs = vec![PointVariable::Control(joint), PointVariable::State(2 + joint)];
        Term::new(inputs, SquaredPower { largest_moment })
    };
    let power = Goal::integral("power", 1e-3, vec![power(0, 60.0), power(1, 40.0)]);
    for goals in [vec![effort.clone()], vec![effort, power]] {
        let names: Vec<&str> = goals.iter().map(|g| g.name.as_str()).collect();
        let names = names.join(" and ");
        let mut problem = reach(&arm);
        problem.goals = goals;
        let (objective, motion) = solved(problem)?;
        let fastest = motion.states.rows.iter().map(|x| x[2].abs()).fold(0.0, f64::max);
        println!("minimum {names}: objective {objective:.4}, shoulder at most {fastest:.2} rad/s");
    }
    Ok(())
}

/// From hanging to bent in 0.6 s, at rest at both ends.
fn reach(arm: &ModelProblem) -> Problem {
    let mut problem = arm.problem(Bounds::new(-20.0, 20.0), &[]);
    problem.final_time = Bounds::fixed(0.6);
    for (i, [from, to]) in [[0.0, 1.0], [0.1, 1.4], [0.0, 0.0], [0.0, 0.0]].into_iter().enumerate() {
        problem.states[i].initial = Bounds::fixed(from);
        problem.states[i].last = Bounds::fixed(to);
    }
    problem
}

/// The minimum objective, and its motion.
fn solved(problem: Problem) -> Result<(f64, Trajectory), Box<dyn std::error::Error>> {
    let settings = Settings::uniform(Scheme::HermiteSimpson, 20);
    let mut program = Collocation::new(problem, &settings).map_err(|e| format!("{e:?}"))?;
    let found =
        solve(&mut program, &Options::with_tolerance(1e-8), None, &mut |_| ControlFlow::Continue(()))?;
    if !found.status.is_solved() {
        return Err(found.to_string().into());
    }
    Ok((found.objective, program.trajectory(&found.x)))
}
