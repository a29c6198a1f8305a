//! Goals: costs and endpoint constraints.

use super::output::{OutputSource, OutputUse};
use crate::plain::{is_zero, usual};
use serde::{Deserialize, Serialize};

/// One goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Name.
    pub name: String,
    /// `weight`. Default 1.
    #[serde(default = "usual::one", with = "crate::plain")]
    pub weight: f64,
    /// `mode`: whether it is an endpoint constraint; `None` for the default of its class.
    #[serde(default)]
    pub constraint: Option<bool>,
    /// Bounds of an endpoint constraint: the same for all values, or one pair each.
    #[serde(default, with = "crate::plain")]
    pub bounds: Vec<[f64; 2]>,
    /// `divide_by_displacement`.
    #[serde(default)]
    pub divide_by_displacement: bool,
    /// `divide_by_duration`.
    #[serde(default)]
    pub divide_by_duration: bool,
    /// `divide_by_mass`.
    #[serde(default)]
    pub divide_by_mass: bool,
    /// Kind of goal.
    pub kind: GoalKind,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl Goal {
    /// A goal of weight 1 with default settings.
    pub fn new(name: impl Into<String>, kind: GoalKind) -> Goal {
        Goal {
            name: name.into(),
            weight: 1.0,
            constraint: None,
            bounds: Vec::new(),
            divide_by_displacement: false,
            divide_by_duration: false,
            divide_by_mass: false,
            kind,
            line: 0,
        }
    }
}

/// A name or pattern with a weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// Name or regular expression.
    pub name: String,
    /// The weight.
    #[serde(with = "crate::plain")]
    pub weight: f64,
}

/// Weights by name and by regular expression; names take precedence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WeightedSet {
    /// By name.
    pub names: Vec<Weight>,
    /// By regular expression; later ones take precedence.
    pub patterns: Vec<Weight>,
}

/// An operator on a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableOperator {
    /// `TabOpLowPassFilter`, Hz.
    LowPass(#[serde(with = "crate::plain")] f64),
    /// `TabOpConvertDegreesToRadians`.
    Radians,
    /// `TabOpUseAbsoluteStateNames`.
    AbsoluteStateNames,
    /// `TabOpAppendCoupledCoordinateValues`.
    CoupledCoordinates,
    /// `TabOpAppendCoordinateValueDerivativesAsSpeeds`.
    Speeds,
}

/// A `TableProcessor`. There is no path if the table was in memory only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSource {
    /// `filepath`.
    pub file: Option<String>,
    /// Operators on the table, in order.
    pub operators: Vec<TableOperator>,
}

/// A pair of `MocoPeriodicityGoal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodicPair {
    /// Variable at the initial time.
    pub initial: String,
    /// Variable at the final time.
    pub last: String,
    /// Whether one is the negative of the other.
    #[serde(default)]
    pub negate: bool,
}

/// A group of `MocoContactTrackingGoal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactGroup {
    /// `contact_force_paths`.
    #[serde(default)]
    pub forces: Vec<String>,
    /// `external_force_name`.
    pub external_force: String,
    /// `alternative_frame_paths`.
    #[serde(default)]
    pub alternative_frames: Vec<String>,
}

/// Tracked quantity of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameTracking {
    /// Positions of their origins.
    Translation,
    /// Orientations.
    Orientation,
    /// Angular velocities.
    AngularVelocity,
    /// Accelerations of their origins.
    Acceleration {
        /// `gravity_offset`: minus gravity.
        #[serde(default)]
        gravity_offset: bool,
        /// `express_accelerations_in_tracking_frames`.
        #[serde(default)]
        in_frames: bool,
    },
}

/// Goals, by class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalKind {
    /// `MocoFinalTimeGoal`.
    FinalTime,
    /// `MocoAverageSpeedGoal`: m/s.
    AverageSpeed(#[serde(with = "crate::plain")] f64),
    /// `MocoControlGoal`.
    Control {
        /// Weights of controls; default: 1.
        #[serde(default)]
        weights: WeightedSet,
        /// `exponent`. Default 2.
        #[serde(default = "usual::two", with = "crate::plain")]
        exponent: f64,
    },
    /// `MocoSumSquaredStateGoal`.
    SumSquaredState {
        /// `pattern`.
        #[serde(default)]
        pattern: Option<String>,
        /// Weights of states; default: 1.
        #[serde(default)]
        weights: WeightedSet,
    },
    /// `MocoStateTrackingGoal`.
    StateTracking {
        /// `reference`.
        #[serde(default)]
        reference: TableSource,
        /// `pattern`.
        #[serde(default)]
        pattern: Option<String>,
        /// Weights of states; default: 1.
        #[serde(default)]
        weights: WeightedSet,
        /// `scale_weights_with_range`.
        #[serde(default)]
        scale_weights_with_range: bool,
        /// `allow_unused_references`.
        #[serde(default)]
        allow_unused: bool,
    },
    /// `MocoControlTrackingGoal`.
    ControlTracking {
        /// `reference`.
        #[serde(default)]
        reference: TableSource,
        /// Weights of controls.
        #[serde(default)]
        weights: WeightedSet,
        /// `allow_unused_references`.
        #[serde(default)]
        allow_unused: bool,
    },
    /// `MocoMarkerFinalGoal`.
    MarkerFinal {
        /// `point_name`.
        point: String,
        /// `reference_location`, m, in ground.
        #[serde(default, with = "crate::plain")]
        location: [f64; 3],
    },
    /// `MocoMarkerTrackingGoal`.
    MarkerTracking {
        /// `marker_file` of `MarkersReference`.
        #[serde(default)]
        file: Option<String>,
        /// `marker_weights`.
        #[serde(default)]
        weights: Vec<Weight>,
        /// `default_weight`. Default 1.
        #[serde(default = "usual::one", with = "crate::plain")]
        default_weight: f64,
        /// `allow_unused_references`.
        #[serde(default)]
        allow_unused: bool,
    },
    /// `MocoInitialActivationGoal`.
    InitialActivation,
    /// `MocoInitialVelocityEquilibriumDGFGoal`.
    InitialVelocityEquilibrium,
    /// `MocoInitialForceEquilibriumDGFGoal`.
    InitialForceEquilibrium,
    /// `MocoPeriodicityGoal`.
    Periodicity {
        /// Pairs of states.
        #[serde(default)]
        states: Vec<PeriodicPair>,
        /// Pairs of controls.
        #[serde(default)]
        controls: Vec<PeriodicPair>,
    },
    /// `MocoOutputGoal` and similar goals.
    Output {
        /// The output.
        output: OutputSource,
        /// Use of the output.
        of: OutputUse,
    },
    /// `MocoTranslationTrackingGoal`, `MocoOrientationTrackingGoal`, `MocoAngularVelocityTrackingGoal` and
    /// `MocoAccelerationTrackingGoal`.
    FrameTracking {
        /// Tracked quantity.
        what: FrameTracking,
        /// `states_reference`, from which the motion of the frames is computed.
        #[serde(default)]
        states: TableSource,
        /// Table of the frames themselves.
        #[serde(default)]
        file: Option<String>,
        /// `frame_paths`; default: all frames in the table.
        #[serde(default)]
        frames: Vec<String>,
        /// Weights of frames.
        #[serde(default)]
        weights: Vec<Weight>,
    },
    /// `MocoJointReactionGoal`.
    JointReaction {
        /// `joint_path`.
        joint: String,
        /// `loads_frame` is `child`. Default parent.
        #[serde(default)]
        on_child: bool,
        /// `expressed_in_frame_path`.
        #[serde(default)]
        expressed_in: Option<String>,
        /// `reaction_measures`: `moment-x` … `force-z`; default: all.
        #[serde(default)]
        measures: Vec<String>,
        /// `reaction_weights`.
        #[serde(default)]
        weights: Vec<Weight>,
    },
    /// `MocoGeneralizedForceTrackingGoal`.
    GeneralizedForceTracking {
        /// `reference`.
        #[serde(default)]
        reference: TableSource,
        /// `force_paths`: patterns of applied forces.
        #[serde(default)]
        forces: Vec<String>,
        /// Weights.
        #[serde(default)]
        weights: WeightedSet,
        /// `allow_unused_references`.
        #[serde(default)]
        allow_unused: bool,
        /// `normalize_tracking_error`.
        #[serde(default)]
        normalize: bool,
        /// `ignore_constrained_coordinates`. Default true.
        #[serde(default = "usual::yes")]
        ignore_constrained: bool,
    },
    /// `MocoContactImpulseTrackingGoal`.
    ContactImpulse {
        /// The group of contacts; one is allowed.
        #[serde(default)]
        groups: Vec<ContactGroup>,
        /// `external_loads_file`.
        #[serde(default)]
        loads_file: Option<String>,
        /// `impulse_axis`: 0, 1 or 2.
        #[serde(with = "crate::plain")]
        axis: f64,
    },
    /// `MocoStepTimeAsymmetryGoal`.
    StepTimeAsymmetry {
        /// `contact_force_paths` of the left and the right group.
        #[serde(default)]
        contacts: [Vec<String>; 2],
        /// `foot_position_contact_force_path` of both.
        feet: [String; 2],
        /// `target_asymmetry`.
        #[serde(default, with = "crate::plain")]
        target: f64,
        /// `contact_force_threshold`, N.
        #[serde(default = "threshold", with = "crate::plain")]
        threshold: f64,
        /// `contact_force_direction`.
        #[serde(default = "usual::up")]
        up: String,
        /// `walking_direction`.
        #[serde(default = "usual::forward")]
        forward: String,
        /// `contact_detection_smoothing`.
        #[serde(default = "contact_smoothing", with = "crate::plain")]
        contact_smoothing: f64,
        /// `asymmetry_smoothing`.
        #[serde(default = "step_time_smoothing", with = "crate::plain")]
        smoothing: f64,
    },
    /// `MocoStepLengthAsymmetryGoal`.
    StepLengthAsymmetry {
        /// `left_foot_frame`, `right_foot_frame`.
        feet: [String; 2],
        /// `walking_direction`.
        #[serde(default = "usual::forward")]
        forward: String,
        /// `asymmetry_smoothing`.
        #[serde(default = "step_length_smoothing", with = "crate::plain")]
        smoothing: f64,
        /// `target_asymmetry`.
        #[serde(default, with = "crate::plain")]
        target: f64,
        /// `stride_length`, m.
        #[serde(default = "stride", with = "crate::plain")]
        stride: f64,
    },
    /// A formula of model quantities; not in Moco.
    Formula {
        /// The formula, in the syntax of `soleus_math::formula`.
        formula: String,
        /// Evaluation if the formula does not specify it: its `integral`, `initial` or `final` value. Default
        /// `integral`.
        #[serde(default = "integral")]
        when: String,
    },
    /// `MocoExpressionBasedParameterGoal`.
    ParameterExpression {
        /// `expression`.
        expression: String,
        /// Names of the parameters.
        #[serde(default)]
        parameters: Vec<String>,
        /// `variables`: their names in the expression.
        #[serde(default)]
        variables: Vec<String>,
    },
    /// `MocoContactTrackingGoal`.
    ContactTracking {
        /// Groups of contacts.
        #[serde(default)]
        groups: Vec<ContactGroup>,
        /// `external_loads_file`.
        #[serde(default)]
        loads_file: Option<String>,
        /// `projection`: `none`, `vector` or `plane`.
        #[serde(default = "usual::none_word")]
        projection: String,
        /// `projection_vector`.
        #[serde(default, with = "crate::plain")]
        vector: [f64; 3],
        /// `normalize_tracking_error`.
        #[serde(default)]
        normalize: bool,
    },
}

fn integral() -> String {
    "integral".into()
}

fn threshold() -> f64 {
    25.0
}

fn contact_smoothing() -> f64 {
    0.25
}

fn step_time_smoothing() -> f64 {
    10.0
}

fn step_length_smoothing() -> f64 {
    5.0
}

fn stride() -> f64 {
    -1.0
}
