//! Formulas with names of their own, and tables that formulas read.

use super::TableSource;
use crate::plain::is_zero;
use serde::{Deserialize, Serialize};

/// A formula with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFormula {
    /// Name.
    pub name: String,
    /// The formula, as `soleus_math::formula` reads it.
    pub formula: String,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// A table over time with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedSource {
    /// Name.
    pub name: String,
    /// The table.
    pub source: TableSource,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}
