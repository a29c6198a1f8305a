//! What is done to a model before a problem is stated with it.

use crate::context::Context;
use serde::{Deserialize, Serialize};
use soleus_io::setup::moco::{ModelStep, ModelStepKind};
use soleus_model::ModelOperator;
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{Reserves, Residuals};
use std::path::{Path, PathBuf};

/// Changes of a model, made in the order of the fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelChanges {
    /// Measured loads (ExternalLoads file).
    pub loads: Option<PathBuf>,
    /// Joints that become welds, by name or path.
    pub weld: Vec<String>,
    /// Actuators at joints with ground: optimal moment (N m), optimal force (N) and, if wanted, the bound of their controls.
    pub residuals: Vec<f64>,
    /// Takes all muscles out.
    pub remove_muscles: bool,
    /// Tendons do not stretch.
    pub rigid_tendons: bool,
    /// Activation is the excitation.
    pub no_activation_dynamics: bool,
    /// Replaces muscles by those of De Groote and Fregly (2016).
    pub degroote_fregly: bool,
    /// The force balance of stretching tendons is an equation of the problem, not solved for the fiber velocity.
    pub implicit_tendons: bool,
    /// [`Inverse`](super::Inverse) leaves stretching tendons as the model has them, and does not make their force balance an equation of
    /// the problem.
    pub explicit_tendons: bool,
    /// Fibers have no passive force (muscles of De Groote and Fregly).
    pub no_passive_force: bool,
    /// Factor of the width of the active force–length curve (muscles of De Groote and Fregly).
    pub curve_width: Option<f64>,
    /// Factor of the maximum isometric force of all muscles.
    pub strength: Option<f64>,
    /// File of FunctionBasedPath definitions that replace paths of the model.
    pub function_paths: Option<PathBuf>,
    /// An actuator for every coordinate that has none: optimal force (N m or N) and, if wanted, the bound of their controls.
    pub reserves: Vec<f64>,
}

impl ModelChanges {
    /// As steps of a `ModelProcessor`; file names are made absolute, as a setup file takes names from its own folder.
    pub fn steps(&self, cx: &Context) -> Vec<ModelStep> {
        use ModelOperator as O;
        let mut list = Vec::new();
        let mut add = |kind| list.push(ModelStep { kind, line: 0 });
        let plain = ModelStepKind::Operator;
        let absolute = |file: &Path| cx.files.absolute(file).display().to_string();
        if let Some(file) = &self.loads {
            add(ModelStepKind::ExternalLoads(absolute(file)));
        }
        if !self.weld.is_empty() {
            add(plain(O::ReplaceJointsWithWelds(self.weld.clone())));
        }
        if let Some(residuals) = Residuals::from_numbers(&self.residuals) {
            add(plain(O::AddResiduals(residuals)));
        }
        let simple = [
            (self.remove_muscles, O::RemoveMuscles),
            (self.rigid_tendons, O::IgnoreTendonCompliance),
            (self.no_activation_dynamics, O::IgnoreActivationDynamics),
            (self.degroote_fregly, O::ReplaceMusclesWithDeGrooteFregly2016),
            (self.implicit_tendons, O::TendonComplianceDynamicsMode(TendonDynamicsMode::Implicit)),
            (self.no_passive_force, O::IgnorePassiveFiberForces),
        ];
        for (wanted, operator) in simple {
            if wanted {
                add(plain(operator));
            }
        }
        if let Some(x) = self.curve_width {
            add(plain(O::ScaleActiveFiberForceCurveWidth(x)));
        }
        if let Some(x) = self.strength {
            add(plain(O::ScaleMaxIsometricForce(x)));
        }
        if let Some(file) = &self.function_paths {
            add(ModelStepKind::FunctionBasedPaths(absolute(file)));
        }
        if let Some(reserves) = Reserves::from_numbers(&self.reserves) {
            add(plain(O::AddReserves(reserves)));
        }
        list
    }
}
