//! The model of a tool, with the forces, controllers and loads of its request.

use super::loads;
use super::model::{Change, read_changed, read_meshes};
use super::paths::folder_of;
use crate::context::Context;
use crate::error::Error;
use crate::source::{ModelSource, Source};
use soleus_math::Table;
use soleus_model::Model;
use soleus_model::operator::{ModelOperator, Reserves, Residuals, apply_all};
use std::path::Path;

/// Additions to a model.
#[derive(Default)]
pub struct Additions<'a> {
    /// Forces and controllers from files.
    pub change: Change<'a>,
    /// Residual actuators between ground and the model: optimal moment (N m) and optimal force (N); a single number is
    /// used for both.
    pub residuals: &'a [f64],
    /// Reserve actuators for all free coordinates without an actuator: optimal force (N m or N).
    pub reserves: &'a [f64],
    /// Measured loads: a file with `ExternalLoads`, or a table of force plates.
    pub loads: Option<&'a Path>,
    /// Motion from which plates are assigned to feet.
    pub motion: Option<&'a Source<Table>>,
    /// Changes to the model, made after all other additions.
    pub operators: &'a [ModelOperator],
}

/// Reads the model with all additions.
pub fn read_with(cx: &Context, source: &ModelSource, a: &Additions) -> Result<Model, Error> {
    check_strengths(source.path(), a)?;
    let mut model = read_changed(cx, source, &a.change)?;
    add_helpers(source.path(), &mut model, &helpers(a.residuals, a.reserves))?;
    // OpenSim looks for data of loads beside the setup file first, and then beside the file of the loads.
    let folder = a.change.setup.map(folder_of);
    let forces = loads::read(cx, &model, a.loads, folder, a.motion)?;
    // A setup file gets what it names, as from OpenSim.
    if !forces.is_empty() && a.change.setup.is_none() {
        loads::leave_out_contacts(cx, &mut model);
    }
    model.forces.extend(forces);
    add_helpers(source.path(), &mut model, a.operators)?;
    read_meshes(cx, source.path(), &mut model)?;
    Ok(model)
}

/// Refuses optimal forces that give no strength.
fn check_strengths(path: &Path, a: &Additions) -> Result<(), Error> {
    let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
    if a.residuals.len() > 2 {
        let message = format!("residuals are two numbers, not {}", a.residuals.len());
        return wrong(message, "give the optimal moment (N m) and the optimal force (N)");
    }
    let strengths = a.residuals.iter().chain(a.reserves);
    match strengths.copied().find(|x| !(*x > 0.0 && x.is_finite())) {
        Some(x) => wrong(
            format!("the optimal force {x} of an actuator is not valid"),
            "give a positive number of N or N m for residuals and reserves",
        ),
        None => Ok(()),
    }
}

/// Residual actuators between ground and the model with an optimal moment (N m) and an optimal force (N), for which a
/// single number is used for both, and reserve actuators for all free coordinates without an actuator.
pub fn helpers(residuals: &[f64], reserves: &[f64]) -> Vec<ModelOperator> {
    // A third number would be a bound, which these have none of.
    let residuals = Residuals::from_numbers(&residuals[..residuals.len().min(2)]);
    let reserves = reserves.iter().filter_map(|r| Reserves::from_numbers(&[*r]));
    residuals
        .into_iter()
        .map(ModelOperator::AddResiduals)
        .chain(reserves.map(ModelOperator::AddReserves))
        .collect()
}

/// Adds these actuators to a model.
pub fn add_helpers(path: &Path, model: &mut Model, helpers: &[ModelOperator]) -> Result<(), Error> {
    apply_all(model, helpers).map_err(|e| Error::content(path, 0, "", e.to_string(), ""))
}
