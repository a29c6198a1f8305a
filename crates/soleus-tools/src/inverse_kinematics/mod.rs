//! The pose that brings the model's markers nearest to the measured ones.
//!
//! Frame by frame the weighted least squares
//!
//!   min over q   ½ Σ wᵢ |pᵢ(q) − p̂ᵢ|² / Σ wᵢ  +  ½ Σ cₖ (qₖ − q̂ₖ)²
//!   subject to   the model's constraints,  lₖ ≤ qₖ ≤ uₖ for clamped coordinates
//!
//! with markers p, m, weights w and c without unit, and coordinates q [rad or m]: the problem of OpenSim's
//! `InverseKinematicsSolver` (Seth, Sherman; Delp et al. 2007). Orientations of frames, from inertial sensors, enter alike
//! with their angles θ: ½ Σ wᵢ θᵢ² / Σ wᵢ. A marker that is not seen in a frame does not count in it.
//! Each frame starts from the pose of the one before, and is solved to rounding by Newton's method with exact first
//! derivatives and, up to the curvature of a joint's own functions, exact second ones.

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

/// What the pose should meet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Markers to follow. Empty: all markers that model and data share, with weight 1.
    pub markers: Vec<MarkerTask>,
    /// Coordinates to hold near a value.
    pub coordinates: Vec<CoordinateTask>,
    /// Weights of sensors by name; one that is not listed weighs 1.
    pub sensors: Vec<MarkerTask>,
}

/// A marker to follow.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerTask {
    /// Name in model and data.
    pub name: String,
    /// Weight w, 0 or above.
    pub weight: f64,
}

/// A coordinate to hold near a value.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateTask {
    /// Name in the model.
    pub name: String,
    /// Weight c, 0 or above.
    pub weight: f64,
    /// The value q̂.
    pub target: Target,
}

/// Where the wanted value of a coordinate comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The model's default.
    Default,
    /// This value, rad or m.
    Value(f64),
    /// This function of time, rad or m.
    Of(Box<Function>),
}

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// A step shorter than this (rad or m) is the last. Newton's steps shrink so fast that what is left after it is
    /// near rounding.
    pub step_tolerance: f64,
    /// Steps per frame at most.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { step_tolerance: 1e-7, max_iterations: 200 }
    }
}

/// How well one frame was met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Steps taken.
    pub iterations: usize,
    /// The length of the last step, rad or m.
    pub last_step: f64,
    /// Whether the last step was short enough.
    pub converged: bool,
    /// The function that is minimized; without unit.
    pub cost: f64,
    /// Σ wᵢ |rᵢ|², m².
    pub weighted_squared_error: f64,
    /// Σ |rᵢ|² without weights, m².
    pub squared_error: f64,
    /// √(Σ |rᵢ|² / N) over all markers that are followed, those not seen counting as met, as OpenSim has it, m.
    pub rms: f64,
    /// The largest |rᵢ|, m.
    pub max: f64,
    /// The marker it belongs to, as a position in [`InverseKinematics::marker_names`].
    pub worst: Option<usize>,
    /// Number of markers seen.
    pub seen: usize,
    /// √(Σ θᵢ² / N) over the sensors that are seen, rad.
    pub angle_rms: f64,
    /// The largest θᵢ, rad.
    pub angle_max: f64,
    /// The sensor it belongs to, as a position in [`InverseKinematics::sensor_names`].
    pub worst_sensor: Option<usize>,
}

/// Why a motion cannot be solved for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller did not want to wait longer.
    #[error("stopped")]
    Stopped,
    /// No column of the data is a frame of the model.
    #[error("no column is named after a frame of the model")]
    NoSensors,
    /// The data are not orientations.
    #[error("the data are not orientations: {reason}")]
    NotOrientations {
        /// What is wrong with them.
        reason: String,
    },
    /// No marker is in the tasks, the model and the data.
    #[error("no marker is in the tasks, the model and the data")]
    NoMarkers,
    /// A marker named twice.
    #[error("marker `{name}` occurs twice in {place}")]
    Twice {
        /// The marker.
        name: String,
        /// The tasks, the model or the data.
        place: &'static str,
    },
    /// A coordinate that the model does not have.
    #[error("the model has no coordinate `{name}`")]
    NoSuchCoordinate {
        /// The coordinate.
        name: String,
    },
    /// A weight that is negative or no number.
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
        /// What is wrong with them.
        reason: String,
    },
    /// An end of the range of time that is not a number.
    #[error("the time range {first} s to {last} s is not valid")]
    NoRange {
        /// Its begin.
        first: f64,
        /// Its end.
        last: f64,
    },
    /// No pose brings the markers near to where they were seen.
    #[error(
        "no pose of the model fits the markers: RMS error {:.0} mm for markers spread over {:.0} mm; largest: {}",
        1e3 * rms, 1e3 * spread, name_distances(worst)
    )]
    NotMet {
        /// RMS distance with weights, m.
        rms: f64,
        /// How far the markers are from their middle on the model, RMS, m.
        spread: f64,
        /// The markers with the largest RMS distances, and these, m.
        worst: Vec<(String, f64)>,
    },
    /// No row lies in the range of time.
    #[error(
        "the data span {first} s to {last} s: there are no frames between {wanted_first} s and {wanted_last} s"
    )]
    NoFrames {
        /// First time of the data.
        first: f64,
        /// Last time of the data.
        last: f64,
        /// Begin of the range asked for.
        wanted_first: f64,
        /// End of the range asked for.
        wanted_last: f64,
    },
}

fn name_distances(list: &[(String, f64)]) -> String {
    let named: Vec<String> = list.iter().map(|(name, d)| format!("{name} ({:.0} mm)", 1e3 * d)).collect();
    named.join(", ")
}
