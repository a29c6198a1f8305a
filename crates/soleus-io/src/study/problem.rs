//! An optimal control problem of one phase, and how to solve it.

use super::{FormulaForce, Goal, ModelStep, NamedFormula, NamedSource, PathConstraint, Solver};
use crate::plain::is_zero;
use serde::{Deserialize, Serialize};
use soleus_model::Element;

/// What a `MocoStudy` asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Problem {
    /// Name of the study.
    pub name: String,
    /// The `Model` that the file holds, if it does.
    #[serde(with = "crate::plain")]
    pub model: Option<Element>,
    /// Motions of coordinates that a `PositionMotion` in the model prescribes; it is no longer in `model`.
    pub prescribed: Vec<PrescribedCoordinate>,
    /// `ExternalLoads` among the model's components; no longer in `model`.
    #[serde(with = "crate::plain")]
    pub external_loads: Option<Element>,
    /// `filepath` of the model, if the file does not hold it.
    pub model_file: Option<String>,
    /// Changes of the model, in their order.
    pub model_steps: Vec<ModelStep>,
    /// Whether the motion repeats itself while the model moves forward: `left-right` (half a cycle, at whose end each side is where the
    /// other one was) or `cycle`.
    pub symmetry: Option<String>,
    /// `time_initial_bounds`, s.
    #[serde(with = "crate::plain")]
    pub initial_time: Option<[f64; 2]>,
    /// `time_final_bounds`, s.
    #[serde(with = "crate::plain")]
    pub final_time: Option<[f64; 2]>,
    /// `default_speed_bounds`. Default ±50.
    #[serde(with = "crate::plain")]
    pub default_speed_bounds: [f64; 2],
    /// `bound_activation_from_excitation`. Default true.
    pub bound_activation_from_excitation: bool,
    /// `multiplier_bounds`. Default ±1000.
    #[serde(with = "crate::plain")]
    pub multiplier_bounds: [f64; 2],
    /// Whether an entry of `states` or `controls` takes back all that earlier ones said of the same variable, as in Moco, not only what it
    /// says itself. Default false.
    pub replace_entries: bool,
    /// `state_infos_pattern`, then `state_infos`: later ones win.
    pub states: Vec<VariableInfo>,
    /// `control_infos_pattern`, then `control_infos`.
    pub controls: Vec<VariableInfo>,
    /// `parameters`.
    pub parameters: Vec<Parameter>,
    /// `goals`, those that are enabled.
    pub goals: Vec<Goal>,
    /// `path_constraints`.
    pub path_constraints: Vec<PathConstraint>,
    /// Forces by formulas that the model gets.
    pub forces: Vec<FormulaForce>,
    /// Tables that formulas read by name.
    pub tables: Vec<NamedSource>,
    /// Formulas that other formulas may use by name.
    pub definitions: Vec<NamedFormula>,
    /// Formulas whose values along the solution are wanted.
    pub derived: Vec<NamedFormula>,
    /// `MocoCasADiSolver`.
    pub solver: Solver,
}

impl Default for Problem {
    /// No model, no goals, Moco's bounds.
    fn default() -> Self {
        Problem {
            name: String::new(),
            model: None,
            prescribed: Vec::new(),
            external_loads: None,
            model_file: None,
            model_steps: Vec::new(),
            symmetry: None,
            initial_time: None,
            final_time: None,
            default_speed_bounds: [-50.0, 50.0],
            bound_activation_from_excitation: true,
            multiplier_bounds: [-1000.0, 1000.0],
            replace_entries: false,
            states: Vec::new(),
            controls: Vec::new(),
            parameters: Vec::new(),
            goals: Vec::new(),
            path_constraints: Vec::new(),
            forces: Vec::new(),
            tables: Vec::new(),
            definitions: Vec::new(),
            derived: Vec::new(),
            solver: Solver::default(),
        }
    }
}

/// Bounds of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariableInfo {
    /// Name, or a regular expression for names.
    pub name: String,
    /// Whether the name is a regular expression.
    #[serde(default)]
    pub is_pattern: bool,
    /// `bounds`.
    #[serde(default, with = "crate::plain")]
    pub bounds: Option<[f64; 2]>,
    /// `initial_bounds`.
    #[serde(default, with = "crate::plain")]
    pub initial: Option<[f64; 2]>,
    /// `final_bounds`.
    #[serde(default, with = "crate::plain")]
    pub last: Option<[f64; 2]>,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl VariableInfo {
    /// A variable of that name without bounds of its own.
    pub fn new(name: impl Into<String>) -> VariableInfo {
        VariableInfo {
            name: name.into(),
            is_pattern: false,
            bounds: None,
            initial: None,
            last: None,
            line: 0,
        }
    }
}

fn unbounded() -> [f64; 2] {
    [f64::NEG_INFINITY, f64::INFINITY]
}

/// A property of components to be found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Bounds.
    #[serde(default = "unbounded", with = "crate::plain")]
    pub bounds: [f64; 2],
    /// Paths of the components that share the value.
    #[serde(default)]
    pub component_paths: Vec<String>,
    /// Name of the property.
    pub property_name: String,
    /// Which element of a vector.
    #[serde(default)]
    pub property_element: Option<usize>,
    /// Line in the file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl Default for Parameter {
    fn default() -> Self {
        Parameter {
            name: String::new(),
            bounds: unbounded(),
            component_paths: Vec::new(),
            property_name: String::new(),
            property_element: None,
            line: 0,
        }
    }
}

/// A coordinate that follows a spline through points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrescribedCoordinate {
    /// Absolute path of the coordinate.
    pub path: String,
    /// Degree of the spline.
    pub degree: usize,
    /// Times, s.
    #[serde(default, with = "crate::plain")]
    pub x: Vec<f64>,
    /// Values, rad or m.
    #[serde(default, with = "crate::plain")]
    pub y: Vec<f64>,
}

impl Default for PrescribedCoordinate {
    /// No points; degree 5, as Moco's.
    fn default() -> Self {
        PrescribedCoordinate { path: String::new(), degree: 5, x: Vec::new(), y: Vec::new() }
    }
}
