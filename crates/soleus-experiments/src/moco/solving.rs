//! Studies that are part of the program, solved without files.

use crate::desk::enter;
use soleus::Error;
use soleus::optimal_control::model::StudyModel;
use soleus::optimal_control::{PosedStudy, Solution, Solve, SolveOptions, StudySource, study};
use soleus_io::study::Study;
use soleus_model::Element;
use std::path::Path;

/// Reads a study in TOML.
pub fn read(name: &str, text: &str) -> Result<Study, Error> {
    enter(None, true, |cx| study::parse(cx, Path::new(name), text))
}

/// The elements of the model of a study, before anything is done to it. File names are taken from the folder of `path`.
pub fn element(path: &Path, study: &Study) -> Result<Element, Error> {
    enter(None, true, |cx| StudyModel::of_study(path, &study.setup).element(cx))
}

/// A study with its model and its data.
pub fn pose(path: &Path, study: &Study) -> Result<PosedStudy, Error> {
    let request = Solve { study: StudySource::of_study(path, study.clone()), ..Solve::default() };
    enter(None, true, |cx| request.pose(cx))
}

/// Solves a study on its mesh; whether it succeeded is in `solver.status`.
pub fn find(posed: &PosedStudy) -> Result<Solution, Error> {
    enter(None, true, |cx| posed.solve(cx, &SolveOptions::default()))
}
