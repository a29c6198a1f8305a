//! The problem of a study: variables with their bounds, goals, path constraints, parameters, prescribed motions.

pub mod bounds;
mod constraints;
mod contact;
pub mod formulas;
mod frames;
mod goals;
mod markers;
pub mod outputs;
pub mod parameters;
pub mod prescribed;
pub mod references;

use super::model::StudyModel;
use crate::context::Context;
use crate::error::Error;
use references::Given;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Bounds, Collocation, Problem, Trajectory};
use soleus_io::setup::moco::{MocoStudySetup, PrescribedCoordinate};
use std::path::Path;

/// What a study is given beside its file.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Coordinates that are prescribed.
    pub motions: Vec<PrescribedCoordinate>,
    /// Whether splines go through the angles of what moves freely in ground, as in Moco, and not through its pose.
    pub root_angles: bool,
    /// Tables that goals follow.
    pub given: Given,
    /// Motion to start from, where no file is named.
    pub guess: Option<Trajectory>,
}

/// The problem of a study.
pub fn build(
    cx: &Context,
    source: &StudyModel,
    s: &MocoStudySetup,
    base: &ModelProblem,
    inputs: &Inputs,
) -> Result<Problem, Error> {
    let path = source.path;
    let ranges = parameters::ranges(cx, source, s, base)?;
    let mut problem = base.problem(pair(s.default_speed_bounds), &ranges);
    bounds::apply(path, s, base, &mut problem)?;
    // The equations are not differentiated by time.
    if base.system.depends_on_time() && !(problem.initial_time.is_fixed() && problem.final_time.is_fixed()) {
        let message = "forces or constraints of the model depend on time, so both times must be fixed";
        return Err(Error::content(path, 0, "", message, "give the time bounds one value each"));
    }
    prescribed::apply(path, inputs, base, &mut problem)?;
    problem.goals = goals::build(cx, path, s, base, inputs)?;
    problem.path_constraints = constraints::build(cx, path, s, base)?;
    parameters::vary_goals(cx, source, s, inputs, &mut problem)?;
    Ok(problem)
}

/// Names a constraint that nothing can change and that does not hold.
pub fn refuse_impossible(path: &Path, program: &mut Collocation) -> Result<(), Error> {
    let list = program.impossible(1e-6);
    let Some(first) = list.first() else { return Ok(()) };
    let message = format!("{first} cannot hold: it is off by {:.3e} whatever is chosen", first.amount);
    Err(Error::content(path, 0, "", message, "check the bounds at the initial and final time"))
}

/// Bounds of a pair of numbers.
pub fn pair(b: [f64; 2]) -> Bounds {
    Bounds::new(b[0], b[1])
}
