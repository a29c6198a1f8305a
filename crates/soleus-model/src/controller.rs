//! Controllers as plain data.

use crate::id::ForceId;
use soleus_math::Function;
use soleus_math::formula::Expr;

/// A controller of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// Class name in the file.
    pub class: String,
    /// `enabled`: disabled controllers are kept but have no effect. Default true.
    pub enabled: bool,
    /// The controlled actuators, in the order of the file.
    pub actuators: Vec<ForceId>,
    /// Kind of controller.
    pub kind: ControllerKind,
}

/// Kinds of controllers. Several controllers of one actuator are added.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerKind {
    /// `PrescribedController`: functions of time.
    Prescribed {
        /// `ControlFunctions`, one for each actuator.
        functions: Vec<Function>,
        /// `controls_file`, a table with columns named after actuators, for actuators without a function.
        controls_file: Option<String>,
        /// `interpolation_method` for columns of the file: 0 piecewise constant, 1 linear, 3 or 5 splines of that
        /// degree.
        interpolation_method: Option<i64>,
    },
    /// `ControlSetController`: a file of control nodes.
    ControlSet {
        /// `controls_file`.
        controls_file: Option<String>,
    },
    /// `CorrectionController`: keeps coordinates near a recorded motion, with one actuator for each.
    Correction {
        /// `kp`. Default 100.
        kp: f64,
        /// `kv`. Default 20.
        kv: f64,
    },
    /// `ToyReflexController`: excites muscles that lengthen.
    ToyReflex {
        /// `gain`. Default 1.
        gain: f64,
    },
    /// `FormulaController`: the same formula for the control of each actuator; not an OpenSim class.
    Formula {
        /// `formula`.
        formula: Expr,
        /// `constants`: numbers by name.
        constants: Vec<(String, f64)>,
    },
    /// An unsupported class; only its name is kept, and a warning describes its effect.
    Other,
}
