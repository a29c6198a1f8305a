//! Path constraints.

use super::output::OutputSource;
use crate::plain::{is_zero, usual};
use serde::{Deserialize, Serialize};
use soleus_math::Function;

/// A constraint along the motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathConstraint {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: PathConstraintKind,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// `lower_bound`, `upper_bound` and `equality_with_lower`: functions of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionBounds {
    /// `lower_bound`.
    #[serde(with = "crate::plain")]
    pub lower: Option<Function>,
    /// `upper_bound`.
    #[serde(with = "crate::plain")]
    pub upper: Option<Function>,
    /// `equality_with_lower`. Default false.
    pub equality_with_lower: bool,
}

/// A pair of `MocoFrameDistanceConstraint`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FramePair {
    /// `frame1_path`, `frame2_path`.
    pub frames: [String; 2],
    /// `minimum_distance`, `maximum_distance`, m. Default 0 and infinite.
    #[serde(with = "crate::plain")]
    pub distance: [f64; 2],
}

/// Path constraints, by class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathConstraintKind {
    /// `MocoControlBoundConstraint`.
    ControlBound {
        /// `control_paths`.
        #[serde(default)]
        paths: Vec<String>,
        /// Bounds.
        #[serde(default)]
        bounds: FunctionBounds,
    },
    /// `MocoStateBoundConstraint`.
    StateBound {
        /// `state_paths`.
        #[serde(default)]
        paths: Vec<String>,
        /// Bounds.
        #[serde(default)]
        bounds: FunctionBounds,
    },
    /// `MocoOutputBoundConstraint`.
    OutputBound {
        /// The output.
        output: OutputSource,
        /// Bounds.
        #[serde(default)]
        bounds: FunctionBounds,
    },
    /// `MocoOutputConstraint`.
    Output {
        /// The output.
        output: OutputSource,
        /// Bounds of `MocoConstraintInfo`.
        #[serde(with = "crate::plain")]
        bounds: [f64; 2],
    },
    /// A formula of model quantities; not in Moco.
    Formula {
        /// The formula, in the syntax of `soleus_math::formula`.
        formula: String,
        /// Bounds.
        #[serde(default)]
        bounds: FunctionBounds,
    },
    /// `MocoFrameDistanceConstraint`.
    FrameDistance {
        /// `frame_pairs`.
        #[serde(default)]
        pairs: Vec<FramePair>,
        /// `projection`: `none`, `vector` or `plane`.
        #[serde(default = "usual::none_word")]
        projection: String,
        /// `projection_vector`.
        #[serde(default, with = "crate::plain")]
        vector: [f64; 3],
    },
}
