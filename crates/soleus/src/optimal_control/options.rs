//! Solver settings and output files, which replace those of the study.

use crate::error::Error;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_math::Table;
use std::path::{Path, PathBuf};

/// Solver settings and output files. Settings that are not given are taken from the study.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SolveOptions {
    /// Output file for the solution (.sto); default: the one named in the study, otherwise `NAME_solution.sto`.
    pub solution: Option<PathBuf>,
    /// Output page (.html) with costs, quality, plots and an animation of the solution.
    pub report: Option<PathBuf>,
    /// Initial guess (.sto), instead of the one named in the study.
    pub guess: Option<Source<Table>>,
    /// Number of equal mesh intervals, in place of the study's mesh.
    pub intervals: Option<usize>,
    /// Numbers of intervals of coarser meshes to solve first, each the initial guess for the next; default: those of
    /// the study.
    pub coarse: Vec<usize>,
    /// Number of initial guesses; default: that of the study, otherwise one.
    pub starts: Option<usize>,
    /// Refines the mesh until the error of the states over an interval is below this value.
    pub refine: Option<f64>,
    /// Collocation scheme: trapezoidal, hermite-simpson, hermite-simpson-compressed, midpoint, backward-euler,
    /// legendre-gauss-N, legendre-gauss-radau-N.
    pub scheme: Option<String>,
    /// Tolerance of the optimality conditions.
    pub tolerance: Option<f64>,
    /// Maximum number of iterations on each mesh.
    pub max_iterations: Option<usize>,
    /// Initial barrier parameter; smaller values stay closer to the initial guess.
    pub barrier: Option<f64>,
    /// Number of threads; default: that of the study, otherwise that of the context. Results do not depend on it.
    pub threads: Option<usize>,
    /// Whether to simulate the solution from its initial state with its controls, and to report the difference at the
    /// end.
    pub simulate: bool,
    /// Whether to save the iterate to a file during the solve and when it is stopped, so that `resume` can continue
    /// from it.
    pub save_iterates: bool,
    /// File of the iterate; default: the one named in the study, otherwise the name of the solution with `.iterate`
    /// appended.
    pub iterate: Option<PathBuf>,
    /// Time between saved iterates, s.
    pub save_every_s: Option<f64>,
    /// Whether to continue from the saved iterate of a stopped solve.
    pub resume: bool,
}

impl SolveOptions {
    /// Checks the values of the settings.
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

    /// Whether iterates are saved.
    pub fn keeps_iterates(&self) -> bool {
        self.save_iterates || self.resume
    }
}
