//! An optimal control problem with one phase, and its solver settings.

use super::{FormulaForce, Goal, ModelStep, NamedFormula, NamedSource, PathConstraint, Solver};
use crate::plain::is_zero;
use serde::{Deserialize, Serialize};
use soleus_model::Element;

/// Content of a `MocoStudy`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Problem {
    /// Name of the study.
    pub name: String,
    /// The `Model` contained in the file, if any.
    #[serde(with = "crate::plain")]
    pub model: Option<Element>,
    /// Prescribed motions of coordinates, from a `PositionMotion` in the model, which is removed from `model`.
    pub prescribed: Vec<PrescribedCoordinate>,
    /// `ExternalLoads` among the model's components, which are removed from `model`.
    #[serde(with = "crate::plain")]
    pub external_loads: Option<Element>,
    /// `filepath` of the model, if the file does not contain it.
    pub model_file: Option<String>,
    /// Changes to the model, in order.
    pub model_steps: Vec<ModelStep>,
    /// Periodicity with forward motion: `left-right` (half a cycle, at whose end left and right are exchanged) or
    /// `cycle`.
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
    /// Whether an entry of `states` or `controls` replaces earlier entries for the same variable completely, as in
    /// Moco, instead of only the fields it contains. Default false.
    pub replace_entries: bool,
    /// `state_infos_pattern`, then `state_infos`: later ones take precedence.
    pub states: Vec<VariableInfo>,
    /// `control_infos_pattern`, then `control_infos`.
    pub controls: Vec<VariableInfo>,
    /// `parameters`.
    pub parameters: Vec<Parameter>,
    /// `goals`, those that are enabled.
    pub goals: Vec<Goal>,
    /// `path_constraints`.
    pub path_constraints: Vec<PathConstraint>,
    /// Forces defined by formulas that are added to the model.
    pub forces: Vec<FormulaForce>,
    /// Named tables for formulas.
    pub tables: Vec<NamedSource>,
    /// Named formulas for use in other formulas.
    pub definitions: Vec<NamedFormula>,
    /// Formulas to evaluate along the solution.
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
    /// A variable with this name without bounds.
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

/// A property of components to optimize.
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
    /// Index of the element of a vector.
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

/// A coordinate that is prescribed by a spline through points.
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
