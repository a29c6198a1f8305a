//! Changes of a model. The types are those of `soleus_model`, which does not know serde.

use serde::{Deserialize, Serialize};
use soleus_math::Function;
use soleus_model::Element;
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{ModelOperator, Reserves, Residuals};

#[derive(Serialize, Deserialize)]
#[serde(remote = "ModelOperator", rename_all = "snake_case")]
pub(crate) enum ModelOperatorForm {
    ReplaceJointsWithWelds(Vec<String>),
    ReplacePaths(#[serde(with = "crate::plain")] Vec<Element>),
    AddReserves(#[serde(with = "ReservesForm")] Reserves),
    AddResiduals(#[serde(with = "ResidualsForm")] Residuals),
    RemoveMuscles,
    IgnoreActivationDynamics,
    IgnoreTendonCompliance,
    ScaleMaxIsometricForce(#[serde(with = "crate::plain")] f64),
    ReplaceMusclesWithPathActuators,
    ReplaceMusclesWithDeGrooteFregly2016,
    TendonComplianceDynamicsMode(#[serde(with = "TendonDynamicsModeForm")] TendonDynamicsMode),
    IgnorePassiveFiberForces,
    PassiveFiberStrainAtOneNormForce(#[serde(with = "crate::plain")] f64),
    ScaleActiveFiberForceCurveWidth(#[serde(with = "crate::plain")] f64),
    FiberDamping(#[serde(with = "crate::plain")] f64),
    Slope(#[serde(with = "crate::plain")] f64),
    PrescribeCoordinateValues(#[serde(with = "crate::plain")] Vec<(String, Function)>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "TendonDynamicsMode", rename_all = "snake_case")]
enum TendonDynamicsModeForm {
    Explicit,
    Implicit,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Reserves", default = "Reserves::default", deny_unknown_fields)]
struct ReservesForm {
    #[serde(with = "crate::plain")]
    optimal_force: f64,
    #[serde(with = "crate::plain")]
    bound: Option<f64>,
    skip_coordinates_with_actuators: bool,
    skip_residual_coordinates: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Residuals", default = "Residuals::default", deny_unknown_fields)]
struct ResidualsForm {
    #[serde(with = "crate::plain")]
    rotational_optimal_force: f64,
    #[serde(with = "crate::plain")]
    translational_optimal_force: f64,
    #[serde(with = "crate::plain")]
    bound: Option<f64>,
    skip_coordinates_with_actuators: bool,
}
