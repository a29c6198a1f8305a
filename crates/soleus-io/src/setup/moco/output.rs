//! What `MocoOutputGoal` and its kin, and constraints on outputs, have in common.

use crate::setup::properties::Properties;
use soleus_math::Function;
use soleus_model::{Diagnostics, Element};

/// An output of a component, or two joined by an operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputSource {
    /// `output_path`: `/forceset/soleus_r|tendon_force`.
    pub path: String,
    /// `second_output_path`.
    pub second_path: Option<String>,
    /// `operation`: `addition`, `subtraction`, `multiplication` or `division`.
    pub operation: Option<String>,
    /// `exponent`. Default 1.
    pub exponent: f64,
    /// `output_index`: which component of a vector; its norm without one.
    pub index: Option<usize>,
}

pub(super) fn read(p: &mut Properties) -> OutputSource {
    let index = p.number("output_index", -1.0);
    OutputSource {
        path: p.text("output_path").unwrap_or_default(),
        second_path: p.text("second_output_path"),
        operation: p.text("operation"),
        exponent: p.number("exponent", 1.0),
        index: (index >= 0.0).then_some(index as usize),
    }
}

/// What becomes of an output in a goal.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputUse {
    /// `MocoOutputGoal`: its integral.
    Integral,
    /// `MocoInitialOutputGoal`.
    Initial,
    /// `MocoFinalOutputGoal`.
    Final,
    /// `MocoOutputExtremumGoal`.
    Extremum {
        /// `extremum_type` is `maximum`. Default minimum.
        maximum: bool,
        /// `smoothing_factor`. Default 1.
        smoothing: f64,
    },
    /// `MocoOutputTrackingGoal`: `tracking_function`.
    Tracking(Option<Function>),
    /// `MocoOutputPeriodicityGoal`.
    Periodicity,
}

/// The use that a class of goals makes of an output; `None` if the class is none of these.
pub(super) fn use_of(e: &Element, p: &mut Properties) -> Option<OutputUse> {
    Some(match e.tag.as_str() {
        "MocoOutputGoal" => OutputUse::Integral,
        "MocoInitialOutputGoal" => OutputUse::Initial,
        "MocoFinalOutputGoal" => OutputUse::Final,
        "MocoOutputExtremumGoal" => OutputUse::Extremum {
            maximum: p.text("extremum_type").is_some_and(|t| t == "maximum"),
            smoothing: p.number("smoothing_factor", 1.0),
        },
        "MocoOutputTrackingGoal" => {
            let f = p.find("tracking_function");
            OutputUse::Tracking(f.and_then(|f| function(f, p.log())))
        }
        "MocoOutputPeriodicityGoal" => OutputUse::Periodicity,
        _ => return None,
    })
}

/// The function that a property holds, if it holds one.
pub(super) fn function(property: &Element, log: &mut Diagnostics) -> Option<Function> {
    property.children().next().and_then(|f| soleus_model::build_function(f, log))
}
