//! Changes to the model before use.

use super::goal::TableSource;
use crate::plain::{ModelOperatorForm, is_zero};
use serde::{Deserialize, Serialize};
use soleus_model::operator::ModelOperator;

/// A step of a `ModelProcessor`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelStep {
    /// The operation.
    pub kind: ModelStepKind,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// Operation of a step of a `ModelProcessor`, with the names of the files it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelStepKind {
    /// An operation without files.
    Operator(#[serde(with = "ModelOperatorForm")] ModelOperator),
    /// `ModOpAddExternalLoads`: file of an `ExternalLoads`.
    ExternalLoads(String),
    /// `ModOpReplacePathsWithFunctionBasedPaths`: file of a set of `FunctionBasedPath`s.
    FunctionBasedPaths(String),
    /// `ModOpPrescribeCoordinateValues`.
    PrescribeCoordinates(TableSource),
}
