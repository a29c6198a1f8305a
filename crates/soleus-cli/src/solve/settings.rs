//! How a study is transcribed and solved: what its file says, unless the command line says otherwise.

use super::{Arguments, pair};
use crate::failure::{Failure, nearest_hint};
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Scheme, Settings};
use soleus_io::study::Study;
use soleus_optimization::nlp;
use std::path::Path;

/// Tolerance of studies in TOML that give none; a MocoStudy has its own.
const TOLERANCE: f64 = 1e-6;

/// Scheme, mesh and what else the transcription asks.
pub fn transcription(path: &Path, study: &Study, a: &Arguments) -> Result<Settings, Failure> {
    let s = &study.setup.solver;
    let scheme = scheme(path, a.scheme.as_ref().unwrap_or(&s.transcription_scheme))?;
    let mesh = match a.intervals {
        Some(n) => Settings::uniform_mesh(n),
        None if s.mesh.is_empty() => Settings::uniform_mesh(s.num_mesh_intervals),
        None => s.mesh.clone(),
    };
    let constraint_method = match s.kinematic_constraint_method.as_str() {
        "Posa2016" => ConstraintMethod::Posa2016,
        "Bordalba2023" => ConstraintMethod::Bordalba2023,
        other => {
            let message = format!("there is no method `{other}` for kinematic constraints");
            return Err(Failure::content(path, 0, "", message, "choose Posa2016 or Bordalba2023"));
        }
    };
    Ok(Settings {
        scheme,
        mesh,
        interpolate_controls: s.interpolate_control_mesh_interior_points,
        constrain_interior: s.enforce_path_constraint_mesh_interior_points,
        scale_variables: s.scale_variables_using_bounds,
        constraint_method,
        constraint_derivatives: s.enforce_constraint_derivatives,
        correction_bounds: pair(s.velocity_correction_bounds),
        projection_bounds: pair(s.projection_slack_variable_bounds),
        projection_weight: s.projection_weight,
    })
}

/// The scheme of a name.
pub fn scheme(path: &Path, name: &str) -> Result<Scheme, Failure> {
    Scheme::from_name(name).ok_or_else(|| {
        let names =
            ["trapezoidal", "hermite-simpson", "hermite-simpson-compressed", "midpoint", "backward-euler"];
        let families = ["legendre-gauss-3", "legendre-gauss-radau-3"];
        let hint = nearest_hint("scheme", name, names.into_iter().chain(families));
        Failure::content(path, 0, "", format!("there is no scheme `{name}`"), &hint)
    })
}

/// Threads that evaluate and factorise.
pub fn threads(study: &Study, a: &Arguments) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    a.threads.or(study.threads).unwrap_or_else(cores).max(1)
}

/// Tolerances and limits of the solver.
pub fn solver(study: &Study, is_toml: bool, a: &Arguments) -> nlp::Options {
    let s = &study.setup.solver;
    let mut o = nlp::Options { polishing_steps: 3, ..nlp::Options::default() };
    if s.optim_convergence_tolerance > 0.0 {
        // Moco sets these three together. Its studies choose them for a solver without second derivatives, which
        // ends nearer to the optimum than they ask; with them, a hundredth costs a few iterations.
        o.tolerance = (0.01 * s.optim_convergence_tolerance).max(o.tolerance);
        o.dual_tolerance = s.optim_convergence_tolerance;
        o.complementarity_tolerance = 0.01 * s.optim_convergence_tolerance;
    }
    if is_toml && (study.tolerance.is_some() || !(s.optim_convergence_tolerance > 0.0)) {
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
    o.initial_barrier = a.barrier.or(study.barrier).unwrap_or(o.initial_barrier);
    // The linear algebra uses two threads at most.
    o.threads = threads(study, a).min(2);
    o
}
