//! `MocoCasADiSolver`.

use crate::setup::properties::Properties;
use crate::study::Solver;
use soleus_model::{Diagnostics, Element};

pub(super) fn read(e: &Element, log: &mut Diagnostics) -> Solver {
    // Bounds are written as objects that carry the name of their property.
    let mut bounds = |name: &str, default: [f64; 2]| {
        let found = e.children().find(|c| c.tag == name || c.name() == name);
        found.and_then(|b| super::bounds(b, log)).unwrap_or(default)
    };
    let velocity_correction_bounds = bounds("velocity_correction_bounds", [-0.1, 0.1]);
    let projection_slack_variable_bounds = bounds("projection_slack_variable_bounds", [-1e-3, 1e-3]);
    let implicit_multibody_acceleration_bounds =
        bounds("implicit_multibody_acceleration_bounds", [-1000.0, 1000.0]);
    let implicit_auxiliary_derivative_bounds =
        bounds("implicit_auxiliary_derivative_bounds", [-1000.0, 1000.0]);

    let mut p = Properties::new(e, log);
    // How derivatives are found, on how many cores, and how much is printed, changes nothing in the answer.
    p.skip(&[
        "verbosity",
        "optim_solver",
        "optim_hessian_approximation",
        "optim_ipopt_print_level",
        "optim_sparsity_detection",
        "optim_write_sparsity",
        "optim_finite_difference_scheme",
        "parallel",
        "output_interval",
        "parameters_require_initsystem",
        "MocoBounds",
        "velocity_correction_bounds",
        "projection_slack_variable_bounds",
        "implicit_multibody_acceleration_bounds",
        "implicit_auxiliary_derivative_bounds",
    ]);
    let weighted = |p: &mut Properties, flag, weight, default: bool, value: f64| {
        let w = p.number(weight, value);
        if p.boolean(flag, default) { w } else { 0.0 }
    };
    let mesh = p.words("mesh").iter().filter_map(|w| w.parse().ok()).collect();
    let solver = Solver {
        num_mesh_intervals: p.number("num_mesh_intervals", 100.0).max(1.0) as usize,
        mesh,
        transcription_scheme: p.text("transcription_scheme").unwrap_or_else(|| "hermite-simpson".into()),
        interpolate_control_mesh_interior_points: p.boolean("interpolate_control_mesh_interior_points", true),
        enforce_path_constraint_mesh_interior_points: p
            .boolean("enforce_path_constraint_mesh_interior_points", false),
        scale_variables_using_bounds: p.boolean("scale_variables_using_bounds", false),
        enforce_constraint_derivatives: p.boolean("enforce_constraint_derivatives", true),
        implicit: p.text("multibody_dynamics_mode").is_some_and(|m| m == "implicit"),
        kinematic_constraint_method: p
            .text("kinematic_constraint_method")
            .unwrap_or_else(|| "Posa2016".into()),
        optim_max_iterations: p.number("optim_max_iterations", -1.0),
        optim_convergence_tolerance: p.number("optim_convergence_tolerance", -1.0),
        optim_constraint_tolerance: p.number("optim_constraint_tolerance", -1.0),
        guess_file: p.text("guess_file"),
        multiplier_weight: weighted(
            &mut p,
            "minimize_lagrange_multipliers",
            "lagrange_multiplier_weight",
            false,
            1.0,
        ),
        acceleration_weight: weighted(
            &mut p,
            "minimize_implicit_multibody_accelerations",
            "implicit_multibody_accelerations_weight",
            false,
            1.0,
        ),
        auxiliary_weight: weighted(
            &mut p,
            "minimize_implicit_auxiliary_derivatives",
            "implicit_auxiliary_derivatives_weight",
            false,
            1.0,
        ),
        projection_weight: weighted(
            &mut p,
            "minimize_state_projection_distance",
            "state_projection_distance_weight",
            true,
            1e-6,
        ),
        velocity_correction_bounds,
        projection_slack_variable_bounds,
        implicit_multibody_acceleration_bounds,
        implicit_auxiliary_derivative_bounds,
    };
    p.finish();
    solver
}
