//! Settings of transcription and solver.

use serde::{Deserialize, Serialize};

/// Settings of transcription and solver. A tolerance of −1 is the default of the solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// `num_mesh_intervals`. Default 100.
    pub num_mesh_intervals: usize,
    /// `mesh`: points from 0 to 1; if given, it replaces the number of intervals.
    #[serde(with = "crate::plain")]
    pub mesh: Vec<f64>,
    /// `transcription_scheme`. Default hermite-simpson.
    pub transcription_scheme: String,
    /// `interpolate_control_mesh_interior_points`. Default true.
    pub interpolate_control_mesh_interior_points: bool,
    /// `enforce_path_constraint_mesh_interior_points`. Default false.
    pub enforce_path_constraint_mesh_interior_points: bool,
    /// `scale_variables_using_bounds`. Default false.
    pub scale_variables_using_bounds: bool,
    /// `enforce_constraint_derivatives`. Default true.
    pub enforce_constraint_derivatives: bool,
    /// `multibody_dynamics_mode` is implicit. Default explicit.
    pub implicit: bool,
    /// `kinematic_constraint_method`. Default Posa2016.
    pub kinematic_constraint_method: String,
    /// `optim_max_iterations`.
    #[serde(with = "crate::plain")]
    pub optim_max_iterations: f64,
    /// `optim_convergence_tolerance`.
    #[serde(with = "crate::plain")]
    pub optim_convergence_tolerance: f64,
    /// `optim_constraint_tolerance`.
    #[serde(with = "crate::plain")]
    pub optim_constraint_tolerance: f64,
    /// `guess_file`.
    pub guess_file: Option<String>,
    /// `minimize_lagrange_multipliers` with `lagrange_multiplier_weight`; 0 if not.
    #[serde(with = "crate::plain")]
    pub multiplier_weight: f64,
    /// `minimize_implicit_multibody_accelerations` with its weight; 0 if not.
    #[serde(with = "crate::plain")]
    pub acceleration_weight: f64,
    /// `minimize_implicit_auxiliary_derivatives` with its weight; 0 if not.
    #[serde(with = "crate::plain")]
    pub auxiliary_weight: f64,
    /// `minimize_state_projection_distance` with its weight; 0 if not.
    #[serde(with = "crate::plain")]
    pub projection_weight: f64,
    /// `velocity_correction_bounds`. Default ±0.1.
    #[serde(with = "crate::plain")]
    pub velocity_correction_bounds: [f64; 2],
    /// `projection_slack_variable_bounds`. Default ±0.001.
    #[serde(with = "crate::plain")]
    pub projection_slack_variable_bounds: [f64; 2],
    /// `implicit_multibody_acceleration_bounds`. Default ±1000.
    #[serde(with = "crate::plain")]
    pub implicit_multibody_acceleration_bounds: [f64; 2],
    /// `implicit_auxiliary_derivative_bounds`. Default ±1000.
    #[serde(with = "crate::plain")]
    pub implicit_auxiliary_derivative_bounds: [f64; 2],
}

impl Default for Solver {
    /// Moco's.
    fn default() -> Self {
        Solver {
            num_mesh_intervals: 100,
            mesh: Vec::new(),
            transcription_scheme: "hermite-simpson".into(),
            interpolate_control_mesh_interior_points: true,
            enforce_path_constraint_mesh_interior_points: false,
            scale_variables_using_bounds: false,
            enforce_constraint_derivatives: true,
            implicit: false,
            kinematic_constraint_method: "Posa2016".into(),
            optim_max_iterations: -1.0,
            optim_convergence_tolerance: -1.0,
            optim_constraint_tolerance: -1.0,
            guess_file: None,
            multiplier_weight: 0.0,
            acceleration_weight: 0.0,
            auxiliary_weight: 0.0,
            projection_weight: 1e-6,
            velocity_correction_bounds: [-0.1, 0.1],
            projection_slack_variable_bounds: [-1e-3, 1e-3],
            implicit_multibody_acceleration_bounds: [-1000.0, 1000.0],
            implicit_auxiliary_derivative_bounds: [-1000.0, 1000.0],
        }
    }
}
