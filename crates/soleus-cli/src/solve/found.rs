//! A study solved in memory: for those who want its numbers and no files.

use super::progress::Progress;
use super::session::Session;
use super::{Arguments, Inputs, model, posed, settings};
use crate::failure::Failure;
use crate::load;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::study::{self, Study};
use soleus_model::Diagnostics;
use soleus_optimization::nlp::{self, Solution};
use std::ops::ControlFlow;
use std::path::Path;

/// Where a solve ended; whether it succeeded is in `solution.status`.
pub struct Found {
    /// The model, with everything done to it.
    pub base: ModelProblem,
    pub trajectory: Trajectory,
    pub solution: Solution,
    /// Cost of each goal.
    pub goals: Vec<(String, f64)>,
    /// Time it took, s.
    pub seconds: f64,
}

/// Reads a study in TOML that is part of the program.
pub fn read(name: &str, text: &str) -> Result<Study, Failure> {
    let mut log = Diagnostics::new(name);
    study::read(text, &mut log).ok_or_else(|| load::errors(Path::new(name), &log))
}

/// The model of a study, ready to be asked. File names are taken from the folder of `path`.
pub fn pose<'a>(path: &'a Path, study: &'a Study) -> Result<(model::Source<'a>, ModelProblem), Failure> {
    let source = model::Source::of_study(path, &study.setup);
    Ok((source, posed(&source)?))
}

/// Solves a study on its mesh.
pub fn find(
    model: (model::Source<'_>, ModelProblem),
    study: &Study,
    is_toml: bool,
    inputs: Inputs,
) -> Result<Found, Failure> {
    let path = model.0.path;
    let a = Arguments { quiet: true, ..Arguments::default() };
    let session = Session::new(model, study, is_toml, &a, inputs)?;
    let mut program = session.program(&settings::transcription(path, study, &a)?)?;
    session.check_first(&mut program)?;
    let mut progress = Progress::new(a.quiet, session.options.tolerance, &program);
    let solution = nlp::solve(&mut program, &session.options, None, &mut |i| {
        progress.tell(i);
        ControlFlow::Continue(())
    })
    .map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
    let seconds = progress.finish(&solution);
    let (trajectory, goals) = (program.trajectory(&solution.x), program.objective_by_goal(&solution.x));
    Ok(Found { base: session.base, trajectory, solution, goals, seconds })
}
