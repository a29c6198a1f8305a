//! How a problem is transcribed.

use super::Scheme;
use crate::problem::Bounds;

/// How kinematic constraints hold along the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConstraintMethod {
    /// Corrections Gᵀ γ of the speeds at midpoints (Posa et al. 2016); Hermite–Simpson only.
    #[default]
    Posa2016,
    /// States projected onto the constraints at the end of every interval (Bordalba et al. 2023).
    Bordalba2023,
}

/// Choices of the transcription. Defaults are Moco's.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Collocation scheme.
    pub scheme: Scheme,
    /// Mesh points from 0 to 1.
    pub mesh: Vec<f64>,
    /// Controls inside an interval lie on the line between those at its ends.
    pub interpolate_controls: bool,
    /// Controls keep one value in each interval; those inside it do not count as interpolated then.
    pub constant_controls: bool,
    /// The dynamics hold at the initial point too, where Radau's scheme does not ask for rates. Without them that point has neither controls
    /// nor path constraints.
    pub dynamics_at_start: bool,
    /// Path constraints hold inside intervals too.
    pub constrain_interior: bool,
    /// Variables are counted in the width of their bounds, where these are finite; of several phases the first decides.
    pub scale_variables: bool,
    /// How kinematic constraints hold.
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
