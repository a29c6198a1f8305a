//! Settings of transcription and solver: from the study, unless the request replaces them.

use crate::context::{Context, MOST_THREADS};
use crate::error::{Error, nearest_hint};
use crate::optimal_control::options::SolveOptions;
use crate::optimal_control::problem::pair;
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Problem, Scheme, Settings};
use soleus_io::study::Study;
use soleus_optimization::nlp;
use std::path::Path;

/// Tolerance of studies in TOML that give none; a MocoStudy has its own.
const TOLERANCE: f64 = 1e-6;

/// First barrier parameter where a motion is given to start from. From a walk at 1.2 m/s, walks at 0.8 and 1.6 m/s and on slopes of 5° took
/// 83 to 271 iterations with it, and 465 or no solution with the usual 0.1.
pub(crate) const BARRIER_OF_A_GUESS: f64 = 1e-4;

/// Scheme, mesh and other settings of the transcription.
pub fn transcription(
    path: &Path,
    study: &Study,
    a: &SolveOptions,
    problem: &Problem,
) -> Result<Settings, Error> {
    let s = &study.setup.solver;
    let scheme = scheme(path, a.scheme.as_ref().unwrap_or(&s.transcription_scheme))?;
    let uniform = a.intervals.or(s.mesh.is_empty().then_some(s.num_mesh_intervals));
    refuse_size(path, scheme, uniform.unwrap_or(s.mesh.len().saturating_sub(1)), problem)?;
    for &n in a.coarse.iter().chain(&study.coarse) {
        refuse_size(path, scheme, n, problem)?;
    }
    let mesh = uniform.map_or_else(|| s.mesh.clone(), Settings::uniform_mesh);
    let constraint_method = match s.kinematic_constraint_method.as_str() {
        "Posa2016" => ConstraintMethod::Posa2016,
        "Bordalba2023" => ConstraintMethod::Bordalba2023,
        other => {
            let message = format!("unknown method `{other}` for kinematic constraints");
            return Err(Error::content(path, 0, "", message, "choose Posa2016 or Bordalba2023"));
        }
    };
    Ok(Settings {
        scheme,
        mesh,
        interpolate_controls: s.interpolate_control_mesh_interior_points,
        constant_controls: false,
        dynamics_at_start: true,
        constrain_interior: s.enforce_path_constraint_mesh_interior_points,
        scale_variables: s.scale_variables_using_bounds,
        constraint_method,
        constraint_derivatives: s.enforce_constraint_derivatives,
        correction_bounds: pair(s.velocity_correction_bounds),
        projection_bounds: pair(s.projection_slack_variable_bounds),
        projection_weight: s.projection_weight,
    })
}

/// Most unknowns of a nonlinear program. Matrices take a few kB for each, so that a program of this size fills some 10 GB; the largest
/// problems of the literature have a tenth.
const MOST_UNKNOWNS: usize = 3_000_000;

/// Unknowns of a problem on one interval of a mesh.
fn unknowns_per_interval(scheme: Scheme, problem: &Problem) -> usize {
    let points = match scheme {
        Scheme::Trapezoidal | Scheme::BackwardEuler => 1,
        Scheme::HermiteSimpson | Scheme::HermiteSimpsonCompressed | Scheme::Midpoint => 2,
        Scheme::LegendreGauss(n) => n + 1,
        Scheme::LegendreGaussRadau(n) => n,
    };
    points * (2 * problem.states.len() + problem.controls.len() + problem.multipliers.len()).max(1)
}

/// Maximum number of mesh intervals for which a problem fits into memory.
pub fn most_intervals(scheme: Scheme, problem: &Problem) -> usize {
    (MOST_UNKNOWNS / unknowns_per_interval(scheme, problem)).max(1)
}

/// Refuses a mesh without intervals, or one that does not fit into memory.
pub fn refuse_size(path: &Path, scheme: Scheme, intervals: usize, problem: &Problem) -> Result<(), Error> {
    let most = most_intervals(scheme, problem);
    if intervals == 0 {
        let message = "a mesh needs at least one interval, not 0";
        return Err(Error::content(path, 0, "", message, "20 to 100 intervals suit most problems"));
    }
    if intervals > most {
        let message =
            format!("a mesh of {intervals} intervals is too large for this problem; the maximum is {most}");
        let hint = "use fewer intervals; mesh refinement (`--refine`) puts them where they are needed";
        return Err(Error::content(path, 0, "", message, hint));
    }
    Ok(())
}

/// The scheme with this name.
pub fn scheme(path: &Path, name: &str) -> Result<Scheme, Error> {
    Scheme::from_name(name).ok_or_else(|| {
        let names =
            ["trapezoidal", "hermite-simpson", "hermite-simpson-compressed", "midpoint", "backward-euler"];
        let families = ["legendre-gauss-3", "legendre-gauss-radau-3"];
        let hint = nearest_hint("scheme", name, names.into_iter().chain(families));
        Error::content(path, 0, "", format!("unknown scheme `{name}`"), &hint)
    })
}

/// Number of threads for evaluation and factorization.
pub fn threads(cx: &Context, study: &Study, a: &SolveOptions) -> usize {
    a.threads.or(study.threads).unwrap_or(cx.threads).clamp(1, MOST_THREADS)
}

/// Tolerances and limits of the solver.
pub fn solver(cx: &Context, study: &Study, is_moco: bool, a: &SolveOptions) -> nlp::Options {
    let s = &study.setup.solver;
    let mut o = nlp::Options { polishing_steps: 3, ..nlp::Options::default() };
    if s.optim_convergence_tolerance > 0.0 {
        // Moco sets these three together. Its studies choose them for a solver without second derivatives, which
        // ends nearer to the optimum than they ask; with them, a hundredth costs a few iterations.
        o.tolerance = (0.01 * s.optim_convergence_tolerance).max(o.tolerance);
        o.dual_tolerance = s.optim_convergence_tolerance;
        o.complementarity_tolerance = 0.01 * s.optim_convergence_tolerance;
    }
    if !is_moco && (study.tolerance.is_some() || !(s.optim_convergence_tolerance > 0.0)) {
        o.tolerance = study.tolerance.unwrap_or(TOLERANCE);
    }
    if s.optim_constraint_tolerance > 0.0 {
        o.constraint_tolerance = s.optim_constraint_tolerance;
    }
    if s.optim_max_iterations > 0.0 {
        o.max_iterations = s.optim_max_iterations as usize;
    }
    o.tolerance = a.tolerance.unwrap_or(o.tolerance);
    o.max_iterations = a.max_iterations.unwrap_or(o.max_iterations);
    // A large barrier would lead away from a guess. Moco's studies begin as Moco does.
    let is_guessed = a.guess.is_some() || s.guess_file.is_some();
    let usual = if is_guessed && !is_moco { BARRIER_OF_A_GUESS } else { o.initial_barrier };
    o.initial_barrier = a.barrier.or(study.barrier).unwrap_or(usual);
    // The linear algebra uses two threads at most.
    o.threads = threads(cx, study, a).min(2);
    o
}
