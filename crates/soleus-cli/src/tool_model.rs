//! The model of a tool: forces, controllers and loads of its setup file added.

use crate::failure::Failure;
use crate::{id, load, setup};
use soleus_io::setup::ToolSetup;
use soleus_model::Model;
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
    };
    let mut model = load::changed_model(model_path, &change, warnings)?;
    let loads = tool.external_loads_file.as_ref().map(|f| setup::beside(path, f));
    model.forces.extend(id::measured(&model, loads.as_deref(), parent(path))?);
    load::contact_meshes(model_path, &mut model)?;
    Ok(model)
}

/// The folder of a file.
pub fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
