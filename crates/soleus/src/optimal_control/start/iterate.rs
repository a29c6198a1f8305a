//! Saved iterates of stopped solves, as initial guesses.

use super::fingerprint;
use crate::context::Context;
use crate::error::Error;
use crate::source::Source;
use soleus_control::Collocation;
use soleus_io::iterate::{self, Fingerprint, Iterate, PhaseMesh};
use soleus_math::Table;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::WarmStart;
use std::path::Path;

/// Ending of the names of iterates.
const ENDING: &str = "iterate";

/// Whether a guess is an iterate instead of a motion.
pub fn is_file(guess: &Source<Table>) -> bool {
    matches!(guess, Source::File(file) if file.extension().is_some_and(|e| e == ENDING))
}

/// What to do about an iterate of another problem.
const CHANGED: &str = "the study has changed; start from the solution file with --guess";

/// Creates an iterate from `w`; `reached` is its iteration, objective and constraint violation.
pub fn of_warm_start(
    phases: Vec<PhaseMesh>,
    problem: Fingerprint,
    w: WarmStart,
    reached: (usize, f64, f64),
) -> Iterate {
    let (iteration, objective, constraint_violation) = reached;
    Iterate {
        phases,
        problem,
        iteration,
        objective,
        constraint_violation,
        barrier: w.barrier,
        x: w.x,
        multipliers: w.multipliers,
        lower_multipliers: w.lower_multipliers,
        upper_multipliers: w.upper_multipliers,
    }
}

/// Reads a file.
pub fn read(cx: &Context, path: &Path) -> Result<Iterate, Error> {
    let hint = "an iterate is written by `soleus solve`; a solution (.sto) is for --guess";
    iterate::read(&cx.read_text(path)?).map_err(|message| Error::content(path, 0, "", message, hint))
}

/// Writes the file atomically.
pub fn write(iterate: &Iterate, cx: &Context, path: &Path) -> Result<(), Error> {
    let text = iterate::write(iterate).map_err(|message| Error::content(path, 0, "", message, ""))?;
    cx.files.write(path, text.as_bytes()).map_err(|e| Error::write(cx.files, path, e))
}

/// Refuses an iterate of a study with a different number of phases.
pub fn refuse_phases(iterate: &Iterate, path: &Path, phases: usize) -> Result<(), Error> {
    let found = iterate.phases.len();
    if found == phases {
        return Ok(());
    }
    let message = format!("the iterate has {found} phase(s), the study {phases}");
    Err(Error::content(path, 0, "", message, CHANGED))
}

/// The warm start from an iterate, if it belongs to this program.
pub fn warm_start(iterate: &Iterate, path: &Path, program: &mut Collocation) -> Result<WarmStart, Error> {
    let (n, m) = (iterate.x.len(), iterate.multipliers.len());
    let (variables, constraints) = (program.num_variables(), program.num_constraints());
    if (n, m) != (variables, constraints) {
        let message = format!(
            "the iterate has {n} variables and {m} constraints, the study {variables} and {constraints}"
        );
        return Err(Error::content(path, 0, "", message, CHANGED));
    }
    if let Some(what) = iterate.problem.difference(&fingerprint::of_program(program)) {
        let message = format!("the iterate belongs to a different problem: {what}");
        return Err(Error::content(path, 0, "", message, CHANGED));
    }
    Ok(WarmStart {
        x: iterate.x.clone(),
        multipliers: iterate.multipliers.clone(),
        lower_multipliers: iterate.lower_multipliers.clone(),
        upper_multipliers: iterate.upper_multipliers.clone(),
        barrier: iterate.barrier,
    })
}

/// The point of an iterate with its multipliers, without the barrier parameter of its problem.
pub fn without_barrier(iterate: Iterate) -> WarmStart {
    WarmStart {
        x: iterate.x,
        multipliers: iterate.multipliers,
        lower_multipliers: iterate.lower_multipliers,
        upper_multipliers: iterate.upper_multipliers,
        barrier: None,
    }
}
