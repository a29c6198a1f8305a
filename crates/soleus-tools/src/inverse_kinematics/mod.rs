//! Inverse kinematics: the pose whose markers are closest to the measured ones.
//!
//! In every frame the weighted least-squares problem
//!
//!   min over q   ½ Σ wᵢ |pᵢ(q) − p̂ᵢ|² / Σ wᵢ  +  ½ Σ cₖ (qₖ − q̂ₖ)²
//!   subject to   the model's constraints,  lₖ ≤ qₖ ≤ uₖ for clamped coordinates
//!
//! with markers p, m, weights w and c without unit, and coordinates q [rad or m]: the problem of OpenSim's
//! `InverseKinematicsSolver` (Seth, Sherman; Delp et al. 2007). Orientations of frames, from inertial sensors, are
//! treated in the same way with their angles θ: ½ Σ wᵢ θᵢ² / Σ wᵢ. A marker that is missing in a frame is ignored
//! there. Each frame starts from the pose of the previous frame and is solved to rounding error by Newton's method,
//! with exact first derivatives and, except for the curvature of joint functions, exact second derivatives.

mod chunks;
pub(crate) mod eliminate;
mod markers;
mod misplaced;
mod orientations;
mod solver;
mod starts;
#[cfg(test)]
mod tests;
mod trial;
mod trial_of_orientations;
mod watch;

pub use chunks::{Chunks, SolvedFrame};
pub use misplaced::{Misplaced, MisplacedMarkers};
pub use solver::InverseKinematics;
pub use trial::{
    Summary, Trial, WorstMarker, coordinates_in_degrees, in_view, solve_trial, solve_trial_in_chunks,
};
pub use trial_of_orientations::{OrientationSummary, OrientationTrial, solve_orientations};

use soleus_math::Function;

/// Tasks of inverse kinematics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Markers to track. Empty: all markers that occur in both model and data, with weight 1.
    pub markers: Vec<MarkerTask>,
    /// Coordinates to keep near a value.
    pub coordinates: Vec<CoordinateTask>,
    /// Weights of sensors by name; default: 1.
    pub sensors: Vec<MarkerTask>,
}

/// A marker to track.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerTask {
    /// Name in model and data.
    pub name: String,
    /// Weight w, 0 or above.
    pub weight: f64,
}

/// A coordinate to keep near a value.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateTask {
    /// Name in the model.
    pub name: String,
    /// Weight c, 0 or above.
    pub weight: f64,
    /// The value q̂.
    pub target: Target,
}

/// Target value of a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The model's default value.
    Default,
    /// A constant value, rad or m.
    Value(f64),
    /// A function of time, rad or m.
    Of(Box<Function>),
}

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Tolerance for the length of the last step, rad or m. Newton steps shrink so fast that the remaining error is
    /// near rounding error.
    pub step_tolerance: f64,
    /// Maximum number of steps per frame.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { step_tolerance: 1e-7, max_iterations: 200 }
    }
}

/// Quality of the fit in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Number of steps.
    pub iterations: usize,
    /// The length of the last step, rad or m.
    pub last_step: f64,
    /// Whether the last step was below the tolerance.
    pub converged: bool,
    /// The cost function; no unit.
    pub cost: f64,
    /// Σ wᵢ |rᵢ|², m².
    pub weighted_squared_error: f64,
    /// Σ |rᵢ|² without weights, m².
    pub squared_error: f64,
    /// √(Σ |rᵢ|² / N) over all tracked markers, where missing markers have zero error, as in OpenSim, m.
    pub rms: f64,
    /// Maximum |rᵢ|, m.
    pub max: f64,
    /// Marker with the maximum error, as an index into [`InverseKinematics::marker_names`].
    pub worst: Option<usize>,
    /// Number of visible markers.
    pub seen: usize,
    /// √(Σ θᵢ² / N) over the visible sensors, rad.
    pub angle_rms: f64,
    /// Maximum θᵢ, rad.
    pub angle_max: f64,
    /// Sensor with the maximum error, as an index into [`InverseKinematics::sensor_names`].
    pub worst_sensor: Option<usize>,
}

/// Why a motion cannot be solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run was cancelled.
    #[error("stopped")]
    Stopped,
    /// No column of the data is a frame of the model.
    #[error("no column is named after a frame of the model")]
    NoSensors,
    /// The data are not orientations.
    #[error("the data are not orientations: {reason}")]
    NotOrientations {
        /// Reason.
        reason: String,
    },
    /// No marker occurs in tasks, model and data.
    #[error("no marker is in the tasks, the model and the data")]
    NoMarkers,
    /// A duplicate marker.
    #[error("marker `{name}` occurs twice in {place}")]
    Twice {
        /// The marker.
        name: String,
        /// The tasks, the model or the data.
        place: &'static str,
    },
    /// A coordinate that is not in the model.
    #[error("the model has no coordinate `{name}`")]
    NoSuchCoordinate {
        /// The coordinate.
        name: String,
    },
    /// A weight that is negative or not a number.
    #[error("the weight of `{name}` is {weight}, but must be 0 or larger")]
    Weight {
        /// Marker or coordinate.
        name: String,
        /// Its weight.
        weight: f64,
    },
    /// The data are not markers.
    #[error("the data are not markers: {reason}")]
    NotMarkers {
        /// Reason.
        reason: String,
    },
    /// A limit of the time range is not a number.
    #[error("the time range {first} s to {last} s is not valid")]
    NoRange {
        /// Start of the range.
        first: f64,
        /// End of the range.
        last: f64,
    },
    /// No pose fits the markers.
    #[error(
        "no pose of the model fits the markers: RMS error {:.0} mm for markers spread over {:.0} mm; largest: {}",
        1e3 * rms, 1e3 * spread, name_distances(worst)
    )]
    NotMet {
        /// Weighted RMS distance, m.
        rms: f64,
        /// RMS distance of the markers from their mean on the model, m.
        spread: f64,
        /// Markers with the largest RMS distances, m.
        worst: Vec<(String, f64)>,
    },
    /// No row lies in the time range.
    #[error(
        "the data span {first} s to {last} s: there are no frames between {wanted_first} s and {wanted_last} s"
    )]
    NoFrames {
        /// First time of the data.
        first: f64,
        /// Last time of the data.
        last: f64,
        /// Start of the requested range.
        wanted_first: f64,
        /// End of the requested range.
        wanted_last: f64,
    },
}

fn name_distances(list: &[(String, f64)]) -> String {
    let named: Vec<String> = list.iter().map(|(name, d)| format!("{name} ({:.0} mm)", 1e3 * d)).collect();
    named.join(", ")
}
