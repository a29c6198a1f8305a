//! Settings of the transcription.

use super::Scheme;
use crate::problem::Bounds;

/// How kinematic constraints are enforced along the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstraintMethod {
    /// Velocity corrections Gᵀ γ at midpoints (Posa et al. 2016); Hermite–Simpson only.
    #[default]
    Posa2016,
    /// States projected onto the constraints at the end of every interval (Bordalba et al. 2023).
    Bordalba2023,
}

/// Settings of the transcription. Defaults are those of Moco.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Collocation scheme.
    pub scheme: Scheme,
    /// Mesh points from 0 to 1.
    pub mesh: Vec<f64>,
    /// Whether controls inside an interval are interpolated linearly between its ends.
    pub interpolate_controls: bool,
    /// Whether controls are constant in each interval; they are then not interpolated.
    pub constant_controls: bool,
    /// Whether the dynamics are also enforced at the initial point, where Radau's scheme does not need rates. Otherwise
    /// that point has neither controls nor path constraints.
    pub dynamics_at_start: bool,
    /// Whether path constraints are also enforced inside intervals.
    pub constrain_interior: bool,
    /// Whether variables are scaled by the width of their bounds, if finite; with several phases, the setting of the
    /// first is used.
    pub scale_variables: bool,
    /// How kinematic constraints are enforced.
    pub constraint_method: ConstraintMethod,
    /// Enforce the first and second time derivatives of kinematic constraints.
    pub constraint_derivatives: bool,
    /// Bounds of velocity corrections γ.
    pub correction_bounds: Bounds,
    /// Bounds of the multipliers μ of projections.
    pub projection_bounds: Bounds,
    /// Weight of the squared distance between states and projected states; 0 for none.
    pub projection_weight: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            scheme: Scheme::default(),
            mesh: Settings::uniform_mesh(100),
            interpolate_controls: true,
            constant_controls: false,
            dynamics_at_start: true,
            constrain_interior: false,
            scale_variables: false,
            constraint_method: ConstraintMethod::default(),
            constraint_derivatives: true,
            correction_bounds: Bounds::new(-0.1, 0.1),
            projection_bounds: Bounds::new(-1e-3, 1e-3),
            projection_weight: 1e-6,
        }
    }
}

impl Settings {
    /// A scheme on `intervals` equal intervals.
    pub fn uniform(scheme: Scheme, intervals: usize) -> Settings {
        Settings { scheme, mesh: Settings::uniform_mesh(intervals), ..Settings::default() }
    }

    /// Mesh points of `intervals` equal intervals; at least one.
    pub fn uniform_mesh(intervals: usize) -> Vec<f64> {
        let n = intervals.max(1);
        (0..=n).map(|i| i as f64 / n as f64).collect()
    }
}
