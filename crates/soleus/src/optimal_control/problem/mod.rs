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
mod symmetry;

use super::model::StudyModel;
use super::transcription::meshes::Neighbour;
use crate::context::Context;
use crate::emg::EmgCurve;
use crate::error::Error;
use references::Given;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Bounds, Collocation, Problem, Trajectory};
use soleus_io::study::{self, PrescribedCoordinate};
use std::path::Path;

/// Inputs of a study in addition to its file.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Prescribed coordinates.
    pub motions: Vec<PrescribedCoordinate>,
    /// Whether splines interpolate the angles of the root, as in Moco, instead of its pose; muscles over several wrap
    /// objects then also act on joints that move the whole muscle, as in OpenSim.
    pub root_angles: bool,
    /// Tables that goals track.
    pub given: Given,
    /// Initial guess, if no file is named.
    pub guess: Option<Trajectory>,
    /// The solution of a similar problem, with its multipliers, as initial guess.
    pub neighbour: Option<Neighbour>,
    /// Measured EMG, for the page.
    pub(crate) emg: Vec<EmgCurve>,
}

/// Builds the problem of a study.
pub fn build(
    cx: &Context,
    source: &StudyModel,
    s: &study::Problem,
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
    forward_in_time(&mut problem);
    Ok(problem)
}

/// Holds the final time after the initial one where bounds would allow a motion backwards in time.
fn forward_in_time(problem: &mut Problem) {
    let (first, last) = (&mut problem.initial_time, &mut problem.final_time);
    if first.upper <= last.lower {
        return;
    }
    if first.is_fixed() {
        last.lower = first.lower.min(last.upper);
    } else if last.is_fixed() {
        first.upper = last.lower.max(first.lower);
    } else {
        problem.goals.push(soleus_control::goal::duration_at_least("duration", 0.0));
    }
}

/// Widths of bounds that differ by more than this are told: beyond it, solvers were seen to stop at points that are not optima.
const SIZES_APART: f64 = 1e6;

/// Warns if bounds of variables have very different widths, unless the solver scales variables by these widths.
pub fn warn_of_sizes(cx: &Context, path: &Path, s: &study::Problem, problem: &Problem) {
    if s.solver.scale_variables_using_bounds {
        return;
    }
    let all = problem.states.iter().chain(&problem.controls).chain(&problem.parameters);
    let wide = |v: &&soleus_control::Variable| {
        let width = v.bounds.upper - v.bounds.lower;
        width > 0.0 && width.is_finite()
    };
    let width = |v: &soleus_control::Variable| v.bounds.upper - v.bounds.lower;
    let by_width =
        |a: &&soleus_control::Variable, b: &&soleus_control::Variable| width(a).total_cmp(&width(b));
    let list: Vec<_> = all.filter(wide).collect();
    let (Some(least), Some(most)) =
        (list.iter().copied().min_by(by_width), list.iter().copied().max_by(by_width))
    else {
        return;
    };
    if width(most) > SIZES_APART * width(least) {
        let message = format!(
            "the bounds of `{}` are {:.3e} apart, those of `{}` {:.3e}: such different scales may slow the solver down",
            most.name,
            width(most),
            least.name,
            width(least)
        );
        cx.warn(path, message, "give tighter bounds, or `scale_variables = true` under [solver]");
    }
}

/// Reports a constraint that is violated and does not depend on any variable.
pub fn refuse_impossible(path: &Path, program: &mut Collocation) -> Result<(), Error> {
    let list = program.impossible(1e-6);
    let Some(first) = list.first() else { return Ok(()) };
    let message =
        format!("{first} cannot be satisfied: the violation is at least {:.3e} for any values", first.amount);
    Err(Error::content(path, 0, "", message, "check the bounds at the initial and final time"))
}

/// Converts a pair of numbers to bounds.
pub fn pair(b: [f64; 2]) -> Bounds {
    Bounds::new(b[0], b[1])
}
