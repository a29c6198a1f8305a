//! The model of a tool: forces, controllers and loads of its setup file added.

use super::loads;
use super::model::{Change, read_changed, read_meshes};
use super::paths::{beside, folder_of};
use crate::context::Context;
use crate::error::Error;
use crate::source::ModelSource;
use soleus_io::setup::ToolSetup;
use soleus_model::Model;
use soleus_model::operator::{ModelOperator, Reserves, Residuals, apply_all};
use std::path::Path;

/// The model with the forces, controllers and loads that the setup adds.
pub fn read(cx: &Context, path: &Path, source: &ModelSource, tool: &ToolSetup) -> Result<Model, Error> {
    let files: Vec<_> = tool.force_set_files.iter().map(|f| beside(path, f)).collect();
    let change = Change {
        replace_forces: tool.replace_force_set,
        force_sets: &files,
        controllers: &tool.controllers,
        setup: Some(path),
    };
    let mut model = read_changed(cx, source, &change)?;
    let file = tool.external_loads_file.as_ref().map(|f| beside(path, f));
    model.forces.extend(loads::read(cx, &model, file.as_deref(), folder_of(path))?);
    read_meshes(cx, source.path(), &mut model)?;
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
pub fn add_helpers(path: &Path, model: &mut Model, helpers: &[ModelOperator]) -> Result<(), Error> {
    apply_all(model, helpers).map_err(|e| Error::content(path, 0, "", e.to_string(), ""))
}
