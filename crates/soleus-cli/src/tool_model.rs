//! The model of a tool: forces, controllers and loads of its setup file added.

use crate::failure::Failure;
use crate::{id, load, setup};
use soleus_io::setup::ToolSetup;
use soleus_model::Model;
use soleus_model::operator::{ModelOperator, Reserves, Residuals, apply_all};
use std::path::Path;

/// The model with the forces, controllers and loads that the setup adds.
pub fn model(
    path: &Path,
    model_path: &Path,
    tool: &ToolSetup,
    warnings: load::Warnings,
) -> Result<Model, Failure> {
    let files: Vec<_> = tool.force_set_files.iter().map(|f| setup::beside(path, f)).collect();
    let change = load::Change {
        replace_forces: tool.replace_force_set,
        force_sets: &files,
        controllers: &tool.controllers,
        setup: Some(path),
    };
    let mut model = load::changed_model(model_path, &change, warnings)?;
    let loads = tool.external_loads_file.as_ref().map(|f| setup::beside(path, f));
    model.forces.extend(id::measured(&model, loads.as_deref(), parent(path))?);
    load::contact_meshes(model_path, &mut model)?;
    Ok(model)
}

/// Actuators without a file: at joints with ground, of an optimal moment (N m) and an optimal force (N), which is the same if there is
/// but one number, and for every coordinate that has none.
pub fn helpers(residuals: &[f64], reserves: &[f64]) -> Vec<ModelOperator> {
    let mut list = Vec::new();
    if let [moment, ..] = *residuals {
        list.push(ModelOperator::AddResiduals(Residuals {
            rotational_optimal_force: moment,
            translational_optimal_force: residuals.get(1).copied().unwrap_or(moment),
            ..Residuals::default()
        }));
    }
    for &optimal_force in reserves {
        list.push(ModelOperator::AddReserves(Reserves { optimal_force, ..Reserves::default() }));
    }
    list
}

/// Adds them to the model of a file.
pub fn add_helpers(path: &Path, model: &mut Model, helpers: &[ModelOperator]) -> Result<(), Failure> {
    apply_all(model, helpers).map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))
}

/// The folder of a file.
pub fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
