//! Changes to a model before the problem is formulated.

use crate::context::Context;
use serde::{Deserialize, Serialize};
use soleus_io::study::{ModelStep, ModelStepKind};
use soleus_model::ModelOperator;
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{Reserves, Residuals};
use std::path::{Path, PathBuf};

/// Changes to a model, applied in the order of the fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelChanges {
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d).
    pub loads: Option<PathBuf>,
    /// Joints to replace by welds, by name or path.
    pub weld: Vec<String>,
    /// Residual actuators between ground and the model: optimal moment (N m), optimal force (N) and, optionally, the
    /// bound of their controls.
    pub residuals: Vec<f64>,
    /// Removes all muscles.
    pub remove_muscles: bool,
    /// Rigid tendons.
    pub rigid_tendons: bool,
    /// No activation dynamics: activation equals excitation.
    pub no_activation_dynamics: bool,
    /// Replaces muscles by the model of De Groote and Fregly (2016).
    pub degroote_fregly: bool,
    /// Implicit tendon dynamics: the force balance of compliant tendons is an equation of the problem, not solved for
    /// the fiber velocity.
    pub implicit_tendons: bool,
    /// [`Inverse`](super::Inverse) keeps compliant tendons as in the model, instead of making their force balance an
    /// equation of the problem.
    pub explicit_tendons: bool,
    /// No passive fiber force (muscles of De Groote and Fregly).
    pub no_passive_force: bool,
    /// Factor for the width of the active force–length curve (muscles of De Groote and Fregly).
    pub curve_width: Option<f64>,
    /// Factor for the maximum isometric force of all muscles.
    pub strength: Option<f64>,
    /// File of FunctionBasedPath definitions that replace paths in the model.
    pub function_paths: Option<PathBuf>,
    /// Reserve actuators for all free coordinates without an actuator: optimal force (N m or N) and, optionally, the
    /// bound of their controls.
    pub reserves: Vec<f64>,
}

impl ModelChanges {
    /// As steps of a `ModelProcessor`; file names are made absolute, because a setup file resolves them relative to its
    /// own folder.
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
