//! Outputs of components, in goals and path constraints.

use crate::plain::usual;
use serde::{Deserialize, Serialize};
use soleus_math::Function;

/// An output of a component, or two combined by an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSource {
    /// `output_path`: `/forceset/soleus_r|tendon_force`.
    pub path: String,
    /// `second_output_path`.
    pub second_path: Option<String>,
    /// `operation`: `addition`, `subtraction`, `multiplication` or `division`.
    pub operation: Option<String>,
    /// `exponent`. Default 1.
    #[serde(with = "crate::plain")]
    pub exponent: f64,
    /// `output_index`: component of a vector; default: its norm.
    pub index: Option<usize>,
}

impl Default for OutputSource {
    fn default() -> Self {
        OutputSource { path: String::new(), second_path: None, operation: None, exponent: 1.0, index: None }
    }
}

/// Use of an output in a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        #[serde(default)]
        maximum: bool,
        /// `smoothing_factor`. Default 1.
        #[serde(default = "usual::one", with = "crate::plain")]
        smoothing: f64,
    },
    /// `MocoOutputTrackingGoal`: `tracking_function`.
    Tracking(#[serde(with = "crate::plain")] Option<Function>),
    /// `MocoOutputPeriodicityGoal`.
    Periodicity,
}
