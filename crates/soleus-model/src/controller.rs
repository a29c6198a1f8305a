//! Controllers as a modeller writes them: what sets the controls of actuators.

use crate::id::ForceId;
use soleus_math::Function;
use soleus_math::formula::Expr;

/// A controller of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// Name as the file gives it.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// Class name in the file.
    pub class: String,
    /// `enabled`: disabled controllers are kept but set nothing. Default true.
    pub enabled: bool,
    /// The actuators it sets, in the order of the file.
    pub actuators: Vec<ForceId>,
    /// How it sets them.
    pub kind: ControllerKind,
}

/// How a controller sets the controls of its actuators. Several controllers of one actuator add up.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerKind {
    /// `PrescribedController`: functions of time.
    Prescribed {
        /// `ControlFunctions`, one for each actuator.
        functions: Vec<Function>,
        /// `controls_file`, a table whose columns are named after actuators; it gives functions to
        /// actuators that have none.
        controls_file: Option<String>,
        /// `interpolation_method` for columns of the file: 0 for a piecewise constant, 1 for straight lines,
        /// 3 or 5 for a spline of that degree.
        interpolation_method: Option<i64>,
    },
    /// `ControlSetController`: a file of control nodes.
    ControlSet {
        /// `controls_file`.
        controls_file: Option<String>,
    },
    /// `CorrectionController`: keeps coordinates near a recorded motion, with an actuator for each.
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
    /// A class that is kept by its name only; the warning about it names what it would do.
    Other,
}
