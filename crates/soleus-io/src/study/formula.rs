//! Named formulas, tables for formulas, and forces defined by formulas.

use super::{TableSource, Weight};
use crate::plain::is_zero;
use serde::{Deserialize, Serialize};
use soleus_model::Element;

/// A named formula.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFormula {
    /// Name.
    pub name: String,
    /// The formula, in the syntax of `soleus_math::formula`.
    pub formula: String,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// A named table over time.
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

/// A force defined by formulas: a `FormulaForce` in a model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FormulaForce {
    /// Name.
    pub name: String,
    /// Coordinate on which it acts.
    pub coordinate: Option<String>,
    /// Frame on which it acts, if it does not act on a coordinate.
    pub frame: Option<String>,
    /// Point of application in the frame, m.
    #[serde(with = "crate::plain")]
    pub point: [f64; 3],
    /// Generalized force, N or N·m, or a vector in ground, N.
    pub formula: String,
    /// Constants by name.
    pub constants: Vec<Weight>,
    /// Rates of additional states.
    pub states: Vec<NamedFormula>,
    /// Initial values of these states in the default state; default: 0.
    pub start: Vec<Weight>,
    /// Bounds of its control, if a formula uses `control`.
    #[serde(with = "crate::plain")]
    pub control: Option<[f64; 2]>,
    /// Line in the file.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl FormulaForce {
    /// As an element of a model file.
    pub fn element(&self) -> Element {
        let text = |tag: &str, text: String| Element::with_text(tag, text, self.line);
        let mut e = Element::new("FormulaForce", self.line);
        e.attributes.push(("name".into(), self.name.clone()));
        if let Some(c) = &self.coordinate {
            e.push(text("coordinate", c.clone()));
        }
        if let Some(f) = &self.frame {
            let [x, y, z] = self.point;
            e.push(text("frame", f.clone()));
            e.push(text("point", format!("{x:?} {y:?} {z:?}")));
        }
        if !self.formula.is_empty() {
            e.push(text("formula", self.formula.clone()));
        }
        let mut constants = Element::new("constants", self.line);
        for c in &self.constants {
            constants.push(text(&c.name, format!("{:?}", c.weight)));
        }
        let mut states = Element::new("states", self.line);
        for s in &self.states {
            let mut state = Element::new(s.name.as_str(), self.line);
            state.push(text("rate", s.formula.clone()));
            if let Some(start) = self.start.iter().find(|w| w.name == s.name) {
                state.push(text("default_value", format!("{:?}", start.weight)));
            }
            states.push(state);
        }
        e.push(constants);
        e.push(states);
        if let Some([min, max]) = self.control {
            e.push(text("min_control", min.to_string()));
            e.push(text("max_control", max.to_string()));
        }
        e
    }
}
