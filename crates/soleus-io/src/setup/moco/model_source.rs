//! `ModelProcessor`: a model and operations on it.

use super::goal::table_named;
use crate::setup::properties::Properties;
use crate::study::{ModelStep, ModelStepKind};
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{ModelOperator, Reserves, Residuals};
use soleus_model::{Diagnostics, Element};

/// Where a model comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ModelSource {
    pub model: Option<Element>,
    pub file: Option<String>,
    pub steps: Vec<ModelStep>,
}

/// The model a `ModelProcessor` starts from, and what it does to it.
pub(super) fn read(processor: &Element, log: &mut Diagnostics) -> ModelSource {
    let model = processor.child("model").and_then(|m| m.child("Model")).or_else(|| processor.child("Model"));
    let file = processor.child_text("filepath").filter(|t| !t.is_empty());
    let steps = processor.child("operators").map_or(Vec::new(), |o| {
        let mut list = Vec::new();
        for e in o.children() {
            match step(e, log) {
                Some(kind) => list.push(ModelStep { kind, line: e.line }),
                None => {
                    let message = format!("operators of class `{}` are not supported", e.tag);
                    log.error(e.line, e.name(), message, "");
                }
            }
        }
        list
    });
    ModelSource { model: model.cloned(), file, steps }
}

fn step(e: &Element, log: &mut Diagnostics) -> Option<ModelStepKind> {
    let mut p = Properties::new(e, log);
    let operator = match e.tag.as_str() {
        "ModOpAddExternalLoads" => {
            let file = p.text("filepath").unwrap_or_default();
            p.finish();
            return Some(ModelStepKind::ExternalLoads(file));
        }
        "ModOpReplacePathsWithFunctionBasedPaths" => {
            let file = p.text("paths_file").unwrap_or_default();
            p.finish();
            return Some(ModelStepKind::FunctionBasedPaths(file));
        }
        "ModOpPrescribeCoordinateValues" => {
            return Some(ModelStepKind::PrescribeCoordinates(table_named(e, "coordinate_values")));
        }
        "ModOpReplaceJointsWithWelds" => ModelOperator::ReplaceJointsWithWelds(p.words("joint_paths")),
        "ModOpAddReserves" => {
            let d = Reserves::default();
            ModelOperator::AddReserves(Reserves {
                optimal_force: p.number("optimal_force", d.optimal_force),
                bound: p.numbers::<1>("bound").map(|[b]| b),
                skip_coordinates_with_actuators: p
                    .boolean("skip_coordinates_with_actuators", d.skip_coordinates_with_actuators),
                skip_residual_coordinates: p
                    .boolean("skip_residual_coordinates", d.skip_residual_coordinates),
            })
        }
        "ModOpAddResiduals" => {
            let d = Residuals::default();
            ModelOperator::AddResiduals(Residuals {
                rotational_optimal_force: p.number("rotational_optimal_force", d.rotational_optimal_force),
                translational_optimal_force: p
                    .number("translational_optimal_force", d.translational_optimal_force),
                bound: p.numbers::<1>("bound").map(|[b]| b),
                skip_coordinates_with_actuators: p
                    .boolean("skip_coordinates_with_actuators", d.skip_coordinates_with_actuators),
            })
        }
        "ModOpRemoveMuscles" => ModelOperator::RemoveMuscles,
        "ModOpIgnoreActivationDynamics" => ModelOperator::IgnoreActivationDynamics,
        "ModOpIgnoreTendonCompliance" => ModelOperator::IgnoreTendonCompliance,
        "ModOpScaleMaxIsometricForce" => ModelOperator::ScaleMaxIsometricForce(p.number("scale_factor", 1.0)),
        "ModOpReplaceMusclesWithPathActuators" => ModelOperator::ReplaceMusclesWithPathActuators,
        "ModOpReplaceMusclesWithDeGrooteFregly2016" => ModelOperator::ReplaceMusclesWithDeGrooteFregly2016,
        "ModOpTendonComplianceDynamicsModeDGF" => {
            let mode = match p.text("mode").as_deref() {
                Some("implicit") => TendonDynamicsMode::Implicit,
                _ => TendonDynamicsMode::Explicit,
            };
            ModelOperator::TendonComplianceDynamicsMode(mode)
        }
        "ModOpUseImplicitTendonComplianceDynamicsDGF" => {
            ModelOperator::TendonComplianceDynamicsMode(TendonDynamicsMode::Implicit)
        }
        "ModOpIgnorePassiveFiberForcesDGF" => ModelOperator::IgnorePassiveFiberForces,
        "ModOpPassiveFiberStrainAtOneNormForceDGF" => ModelOperator::PassiveFiberStrainAtOneNormForce(
            p.number("passive_fiber_strain_at_one_norm_force", 0.6),
        ),
        "ModOpScaleActiveFiberForceCurveWidthDGF" => {
            ModelOperator::ScaleActiveFiberForceCurveWidth(p.number("scale_factor", 1.0))
        }
        "ModOpFiberDampingDGF" => ModelOperator::FiberDamping(p.number("fiber_damping", 0.0)),
        _ => return None,
    };
    p.finish();
    Some(ModelStepKind::Operator(operator))
}
