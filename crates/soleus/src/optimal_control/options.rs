//! How a study is solved and which files are written, in place of what the study says.

use crate::error::Error;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_math::Table;
use std::path::{Path, PathBuf};

/// How a study is solved and which files are written. What is not given is as the study says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SolveOptions {
    /// File of the solution (.sto); by default the one that the study names, else `NAME_solution.sto`.
    pub solution: Option<PathBuf>,
    /// Page to write too: costs, quality, plots and an animated figure of the solution (.html).
    pub report: Option<PathBuf>,
    /// Motion to start from (.sto), in place of the one that the study names.
    pub guess: Option<Source<Table>>,
    /// Number of equal mesh intervals, in place of the study's mesh.
    pub intervals: Option<usize>,
    /// Meshes of so many intervals to solve first, each the start of the next; by default those of the study.
    pub coarse: Vec<usize>,
    /// Number of starts; by default that of the study, else one.
    pub starts: Option<usize>,
    /// Makes the mesh finer where needed, until the error of the states over an interval is below this.
    pub refine: Option<f64>,
    /// Collocation scheme: trapezoidal, hermite-simpson, hermite-simpson-compressed, midpoint, backward-euler,
    /// legendre-gauss-N, legendre-gauss-radau-N.
    pub scheme: Option<String>,
    /// Tolerance of the optimality conditions.
    pub tolerance: Option<f64>,
    /// Maximum number of iterations on each mesh.
    pub max_iterations: Option<usize>,
    /// First barrier parameter; smaller ones stay closer to the guess.
    pub barrier: Option<f64>,
    /// Number of threads; by default that of the study, else that of the context. Results do not depend on it.
    pub threads: Option<usize>,
    /// Simulates the solution from its first state under its controls, and tells how far that ends from it.
    pub simulate: bool,
    /// Keeps the iterate in a file while solving and when the solve is stopped, so that `resume` can go on from it.
    pub save_iterates: bool,
    /// File of the iterate; by default the one that the study names, else the name of the solution with `.iterate` at its end.
    pub iterate: Option<PathBuf>,
    /// Time between two iterates on disk, s.
    pub save_every_s: Option<f64>,
    /// Goes on from the iterate that a stopped solve left.
    pub resume: bool,
}

impl SolveOptions {
    /// Refuses numbers that no solver can use.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let positive = [
            ("tolerance", self.tolerance),
            ("barrier", self.barrier),
            ("refine", self.refine),
            ("save_every_s", self.save_every_s),
        ];
        for (name, value) in positive {
            if let Some(x) = value.filter(|x| !(*x > 0.0)) {
                let message = format!("`{name}` must be a number above zero, not {x}");
                return Err(Error::content(path, 0, "", message, "omit it to use the value in the study"));
            }
        }
        let meshes = self.intervals.iter().chain(&self.coarse);
        if meshes.into_iter().any(|n| *n == 0) {
            let message = "a mesh needs at least one interval, not 0";
            return Err(Error::content(path, 0, "", message, "20 to 100 intervals suit most problems"));
        }
        if self.threads == Some(0) {
            let message = "at least one thread is needed, not 0";
            return Err(Error::content(path, 0, "", message, "omit the number of threads to use all cores"));
        }
        Ok(())
    }

    /// Whether iterates are kept in a file.
    pub fn keeps_iterates(&self) -> bool {
        self.save_iterates || self.resume
    }
}
