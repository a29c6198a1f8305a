//! Changes to a model before use: OpenSim's `ModelOperator`s.
//!
//! Some change the file ([`ModelOperator::change_element`]: joints, paths), others the built model
//! ([`ModelOperator::change`]). A list is applied by [`apply_all`]: to the file first, in order, then to the model, in
//! order.

mod actuators;
mod element;
mod muscles;

use crate::document::Element;
use crate::model::Model;
use crate::muscle::TendonDynamicsMode;
use soleus_math::elementary;
use soleus_math::{Function, vec3};

/// A change to a model. Names and defaults are those of OpenSim.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelOperator {
    /// `ModOpReplaceJointsWithWelds`: joints with these names or paths are fixed at zero.
    ReplaceJointsWithWelds(Vec<String>),
    /// `ModOpReplacePathsWithFunctionBasedPaths`: `FunctionBasedPath` elements named after the paths of forces.
    ReplacePaths(Vec<Element>),
    /// `ModOpAddReserves`: a `CoordinateActuator` for every free coordinate.
    AddReserves(Reserves),
    /// `ModOpAddResiduals`: the same for coordinates of joints with ground.
    AddResiduals(Residuals),
    /// `ModOpRemoveMuscles`.
    RemoveMuscles,
    /// `ModOpIgnoreActivationDynamics`.
    IgnoreActivationDynamics,
    /// `ModOpIgnoreTendonCompliance`.
    IgnoreTendonCompliance,
    /// `ModOpScaleMaxIsometricForce`, by this factor.
    ScaleMaxIsometricForce(f64),
    /// `ModOpReplaceMusclesWithPathActuators`.
    ReplaceMusclesWithPathActuators,
    /// `ModOpReplaceMusclesWithDeGrooteFregly2016`; Thelen's and Millard's muscles can be replaced.
    ReplaceMusclesWithDeGrooteFregly2016,
    /// `ModOpTendonComplianceDynamicsModeDGF`, `ModOpUseImplicitTendonComplianceDynamicsDGF`: of compliant tendons.
    TendonComplianceDynamicsMode(TendonDynamicsMode),
    /// `ModOpIgnorePassiveFiberForcesDGF`.
    IgnorePassiveFiberForces,
    /// `ModOpPassiveFiberStrainAtOneNormForceDGF`.
    PassiveFiberStrainAtOneNormForce(f64),
    /// `ModOpScaleActiveFiberForceCurveWidthDGF`: sets the width itself.
    ScaleActiveFiberForceCurveWidth(f64),
    /// `ModOpFiberDampingDGF`.
    FiberDamping(f64),
    /// Slope of the ground along x, degrees, positive uphill; not in OpenSim. Gravity is rotated about z, so that
    /// coordinates and contacts remain those of level ground.
    Slope(f64),
    /// `ModOpPrescribeCoordinateValues`: functions of time by path or name of the coordinate, rad or m.
    PrescribeCoordinateValues(Vec<(String, Function)>),
}

/// Settings of `ModOpAddReserves`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reserves {
    /// `optimal_force`, N or N·m. Default 1.
    pub optimal_force: f64,
    /// `bound` of the absolute control. Default none.
    pub bound: Option<f64>,
    /// `skip_coordinates_with_actuators`. Default true.
    pub skip_coordinates_with_actuators: bool,
    /// `skip_residual_coordinates`: skips joints with ground. Default false.
    pub skip_residual_coordinates: bool,
}

impl Reserves {
    /// From a list of numbers: optimal force (N m or N), and bound of the controls. `None` for an empty list.
    pub fn from_numbers(numbers: &[f64]) -> Option<Reserves> {
        let &optimal_force = numbers.first()?;
        Some(Reserves { optimal_force, bound: numbers.get(1).copied(), ..Reserves::default() })
    }
}

impl Default for Reserves {
    fn default() -> Self {
        Reserves {
            optimal_force: 1.0,
            bound: None,
            skip_coordinates_with_actuators: true,
            skip_residual_coordinates: false,
        }
    }
}

/// Settings of `ModOpAddResiduals`.
#[derive(Clone, Debug, PartialEq)]
pub struct Residuals {
    /// `rotational_optimal_force`, N·m. Default 1.
    pub rotational_optimal_force: f64,
    /// `translational_optimal_force`, N. Default 1.
    pub translational_optimal_force: f64,
    /// `bound` of the absolute control. Default none.
    pub bound: Option<f64>,
    /// `skip_coordinates_with_actuators`. Default true.
    pub skip_coordinates_with_actuators: bool,
}

impl Residuals {
    /// From a list of numbers: optimal moment (N m), optimal force (N), which by default equals the moment, and bound
    /// of the controls. `None` for an empty list.
    pub fn from_numbers(numbers: &[f64]) -> Option<Residuals> {
        let &moment = numbers.first()?;
        Some(Residuals {
            rotational_optimal_force: moment,
            translational_optimal_force: numbers.get(1).copied().unwrap_or(moment),
            bound: numbers.get(2).copied(),
            ..Residuals::default()
        })
    }
}

impl Default for Residuals {
    fn default() -> Self {
        Residuals {
            rotational_optimal_force: 1.0,
            translational_optimal_force: 1.0,
            bound: None,
            skip_coordinates_with_actuators: true,
        }
    }
}

/// Why a model cannot be changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OperatorError {
    /// A joint that does not exist.
    #[error("the model has no joint `{name}` to replace with a weld")]
    NoSuchJoint {
        /// Requested name or path.
        name: String,
    },
    /// A force that does not exist or has no path.
    #[error("the model has no path force `{name}`")]
    NoSuchForce {
        /// Requested name or path.
        name: String,
    },
    /// A coordinate that does not exist.
    #[error("the model has no coordinate `{name}`")]
    NoSuchCoordinate {
        /// Requested name or path.
        name: String,
    },
    /// A muscle of a class that cannot be replaced.
    #[error(
        "muscle `{name}` is a {class}; only Thelen2003Muscle and Millard2012EquilibriumMuscle can be replaced"
    )]
    UnsupportedMuscle {
        /// Name of the muscle.
        name: String,
        /// Its class.
        class: String,
    },
    /// An invalid value.
    #[error("{what} must be {expected}, found {value}")]
    BadNumber {
        /// Name of the property.
        what: &'static str,
        /// Expected value.
        expected: &'static str,
        /// The value.
        value: f64,
    },
}

impl ModelOperator {
    /// Changes the `Model` element of a file of version 40600; most operators have no effect here.
    pub fn change_element(&self, model: &mut Element) -> Result<(), OperatorError> {
        match self {
            ModelOperator::ReplaceJointsWithWelds(names) => {
                names.iter().try_for_each(|n| element::weld(model, n))
            }
            ModelOperator::ReplacePaths(paths) => {
                paths.iter().try_for_each(|p| element::replace_path(model, p))
            }
            _ => Ok(()),
        }
    }

    /// Changes the model; operators on files have no effect here.
    pub fn change(&self, model: &mut Model) -> Result<(), OperatorError> {
        match self {
            ModelOperator::ReplaceJointsWithWelds(_) | ModelOperator::ReplacePaths(_) => Ok(()),
            ModelOperator::AddReserves(r) => actuators::add_reserves(model, r),
            ModelOperator::AddResiduals(r) => actuators::add_residuals(model, r),
            ModelOperator::PrescribeCoordinateValues(list) => actuators::prescribe(model, list),
            ModelOperator::Slope(degrees) => {
                let (g, (sin, cos)) = (model.gravity, elementary::sin_cos(degrees.to_radians()));
                model.gravity = vec3(cos * g.x + sin * g.y, cos * g.y - sin * g.x, g.z);
                Ok(())
            }
            ModelOperator::RemoveMuscles => {
                muscles::remove(model);
                Ok(())
            }
            other => muscles::change(model, other),
        }
    }
}

/// Applies all changes to the model; those to its file must have been made before.
pub fn apply_all(model: &mut Model, operators: &[ModelOperator]) -> Result<(), OperatorError> {
    operators.iter().try_for_each(|o| o.change(model))
}

/// Applies all changes to the file.
pub fn apply_all_to_element(model: &mut Element, operators: &[ModelOperator]) -> Result<(), OperatorError> {
    operators.iter().try_for_each(|o| o.change_element(model))
}
