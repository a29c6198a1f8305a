//! Changes of the model before it is used.

use super::goal::TableSource;
use crate::plain::{ModelOperatorForm, is_zero};
use serde::{Deserialize, Serialize};
use soleus_model::operator::ModelOperator;

/// A step of a `ModelProcessor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelStep {
    /// What is done.
    pub kind: ModelStepKind,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// What a step of a `ModelProcessor` does. Those that need other files name them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelStepKind {
    /// A change that needs no other file.
    Operator(#[serde(with = "ModelOperatorForm")] ModelOperator),
    /// `ModOpAddExternalLoads`: file of an `ExternalLoads`.
    ExternalLoads(String),
    /// `ModOpReplacePathsWithFunctionBasedPaths`: file of a set of `FunctionBasedPath`s.
    FunctionBasedPaths(String),
    /// `ModOpPrescribeCoordinateValues`.
    PrescribeCoordinates(TableSource),
}
