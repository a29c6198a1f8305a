//! `MocoInverse` and `MocoTrack`.

use super::goal::{table_named, weights};
use super::model_source;
use crate::setup::properties::Properties;
use crate::study::{ModelStep, TableSource, Weight};
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// Common properties of both tools: OpenSim's `MocoTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MocoToolSetup {
    /// Name of the tool.
    pub name: String,
    /// The `Model` contained in the file, if any.
    #[serde(with = "crate::plain")]
    pub model: Option<Element>,
    /// `filepath` of the model, if the file does not contain it.
    pub model_file: Option<String>,
    /// Changes to the model, in order.
    pub model_steps: Vec<ModelStep>,
    /// `initial_time`, s. Default: start of the data.
    #[serde(with = "crate::plain")]
    pub initial_time: Option<f64>,
    /// `final_time`, s. Default: end of the data.
    #[serde(with = "crate::plain")]
    pub final_time: Option<f64>,
    /// `mesh_interval`, s. Default 0.02.
    #[serde(with = "crate::plain")]
    pub mesh_interval: f64,
    /// `clip_time_range`: removes one millisecond at both ends. Default false.
    pub clip_time_range: bool,
}

impl Default for MocoToolSetup {
    fn default() -> Self {
        MocoToolSetup {
            name: String::new(),
            model: None,
            model_file: None,
            model_steps: Vec::new(),
            initial_time: None,
            final_time: None,
            mesh_interval: 0.02,
            clip_time_range: false,
        }
    }
}

/// Setup of a `MocoInverse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MocoInverseSetup {
    /// Model and times.
    pub tool: MocoToolSetup,
    /// `kinematics`.
    pub kinematics: TableSource,
    /// `kinematics_allow_extra_columns`. Default false.
    pub kinematics_allow_extra_columns: bool,
    /// `minimize_sum_squared_activations`. Default false.
    pub minimize_sum_squared_activations: bool,
    /// `max_iterations`.
    #[serde(with = "crate::plain")]
    pub max_iterations: Option<f64>,
    /// `convergence_tolerance`. Default 1e-3.
    #[serde(with = "crate::plain")]
    pub convergence_tolerance: f64,
    /// `constraint_tolerance`. Default 1e-3.
    #[serde(with = "crate::plain")]
    pub constraint_tolerance: f64,
    /// `output_paths`: patterns of outputs to report.
    pub output_paths: Vec<String>,
    /// `reserves_weight`. Default 1.
    #[serde(with = "crate::plain")]
    pub reserves_weight: f64,
}

impl Default for MocoInverseSetup {
    fn default() -> Self {
        MocoInverseSetup {
            tool: MocoToolSetup::default(),
            kinematics: TableSource::default(),
            kinematics_allow_extra_columns: false,
            minimize_sum_squared_activations: false,
            max_iterations: None,
            convergence_tolerance: 1e-3,
            constraint_tolerance: 1e-3,
            output_paths: Vec::new(),
            reserves_weight: 1.0,
        }
    }
}

/// Setup of a `MocoTrack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MocoTrackSetup {
    /// Model and times.
    pub tool: MocoToolSetup,
    /// `states_reference`, if there is one.
    pub states_reference: Option<TableSource>,
    /// `states_global_tracking_weight`. Default 1.
    #[serde(with = "crate::plain")]
    pub states_global_tracking_weight: f64,
    /// `states_weight_set`.
    pub states_weights: Vec<Weight>,
    /// `scale_state_weights_with_range`. Default false.
    pub scale_state_weights_with_range: bool,
    /// `track_reference_position_derivatives`. Default false.
    pub track_reference_position_derivatives: bool,
    /// `markers_reference`, if there is one.
    pub markers_reference: Option<TableSource>,
    /// `markers_global_tracking_weight`. Default 1.
    #[serde(with = "crate::plain")]
    pub markers_global_tracking_weight: f64,
    /// `markers_weight_set`.
    pub markers_weights: Vec<Weight>,
    /// `allow_unused_references`. Default false.
    pub allow_unused_references: bool,
    /// `guess_file`.
    pub guess_file: Option<String>,
    /// `apply_tracked_states_to_guess`. Default false.
    pub apply_tracked_states_to_guess: bool,
    /// `minimize_control_effort`. Default true.
    pub minimize_control_effort: bool,
    /// `control_effort_weight`. Default 0.001.
    #[serde(with = "crate::plain")]
    pub control_effort_weight: f64,
    /// `controls_weight_set`.
    pub controls_weights: Vec<Weight>,
}

impl Default for MocoTrackSetup {
    fn default() -> Self {
        MocoTrackSetup {
            tool: MocoToolSetup::default(),
            states_reference: None,
            states_global_tracking_weight: 1.0,
            states_weights: Vec::new(),
            scale_state_weights_with_range: false,
            track_reference_position_derivatives: false,
            markers_reference: None,
            markers_global_tracking_weight: 1.0,
            markers_weights: Vec::new(),
            allow_unused_references: false,
            guess_file: None,
            apply_tracked_states_to_guess: false,
            minimize_control_effort: true,
            control_effort_weight: 0.001,
            controls_weights: Vec::new(),
        }
    }
}

/// Model and times; `p` reads the rest of the same element afterwards.
fn tool(e: &Element, p: &mut Properties) -> MocoToolSetup {
    let d = MocoToolSetup::default();
    let processor = p.find("ModelProcessor").or_else(|| p.find("model"));
    p.skip(&["ModelProcessor", "model", "TableProcessor", "MocoWeightSet"]);
    let source = processor.map(|m| model_source::read(m, p.log())).unwrap_or_default();
    let mut prescribed = source.model;
    if let Some(model) = &mut prescribed {
        // What the tool prescribes replaces what the model may bring along.
        super::position_motion::take(model, p.log());
    }
    MocoToolSetup {
        name: e.name().to_string(),
        model: prescribed,
        model_file: source.file,
        model_steps: source.steps,
        initial_time: p.numbers::<1>("initial_time").map(|[t]| t),
        final_time: p.numbers::<1>("final_time").map(|[t]| t),
        mesh_interval: p.number("mesh_interval", d.mesh_interval),
        clip_time_range: p.boolean("clip_time_range", d.clip_time_range),
    }
}

pub(in crate::setup) fn read_inverse(e: &Element, log: &mut Diagnostics) -> MocoInverseSetup {
    let d = MocoInverseSetup::default();
    let mut p = Properties::new(e, log);
    p.skip(&["kinematics"]);
    let setup = MocoInverseSetup {
        tool: tool(e, &mut p),
        kinematics: table_named(e, "kinematics"),
        kinematics_allow_extra_columns: p
            .boolean("kinematics_allow_extra_columns", d.kinematics_allow_extra_columns),
        minimize_sum_squared_activations: p
            .boolean("minimize_sum_squared_activations", d.minimize_sum_squared_activations),
        max_iterations: p.numbers::<1>("max_iterations").map(|[n]| n),
        convergence_tolerance: p.number("convergence_tolerance", d.convergence_tolerance),
        constraint_tolerance: p.number("constraint_tolerance", d.constraint_tolerance),
        output_paths: p.words("output_paths"),
        reserves_weight: p.number("reserves_weight", d.reserves_weight),
    };
    p.finish();
    setup
}

pub(in crate::setup) fn read_track(e: &Element, log: &mut Diagnostics) -> MocoTrackSetup {
    let d = MocoTrackSetup::default();
    let given = |name: &str| Some(table_named(e, name)).filter(|t| t.file.is_some());
    let set = |name: &str| weights(e, name).names;
    let mut p = Properties::new(e, log);
    p.skip(&["states_reference", "markers_reference", "states_weight_set", "markers_weight_set"]);
    p.skip(&["controls_weight_set"]);
    let setup = MocoTrackSetup {
        tool: tool(e, &mut p),
        states_reference: given("states_reference"),
        states_global_tracking_weight: p
            .number("states_global_tracking_weight", d.states_global_tracking_weight),
        states_weights: set("states_weight_set"),
        scale_state_weights_with_range: p
            .boolean("scale_state_weights_with_range", d.scale_state_weights_with_range),
        track_reference_position_derivatives: p
            .boolean("track_reference_position_derivatives", d.track_reference_position_derivatives),
        markers_reference: given("markers_reference"),
        markers_global_tracking_weight: p
            .number("markers_global_tracking_weight", d.markers_global_tracking_weight),
        markers_weights: set("markers_weight_set"),
        allow_unused_references: p.boolean("allow_unused_references", d.allow_unused_references),
        guess_file: p.text("guess_file"),
        apply_tracked_states_to_guess: p
            .boolean("apply_tracked_states_to_guess", d.apply_tracked_states_to_guess),
        minimize_control_effort: p.boolean("minimize_control_effort", d.minimize_control_effort),
        control_effort_weight: p.number("control_effort_weight", d.control_effort_weight),
        controls_weights: set("controls_weight_set"),
    };
    p.finish();
    setup
}
