//! Measured loads: an `ExternalLoads` file with its data, or a table of force plates.

use super::paths::{beside, native};
use super::setup;
use super::table::{self, Take};
use crate::context::Context;
use crate::error::Error;
use crate::load_assignment::{AssignLoads, is_table};
use crate::source::Source;
use soleus_math::Table;
use soleus_model::external_loads::ExternalLoads;
use soleus_model::force::{Force, ForceKind};
use soleus_model::{Diagnostics, Model};
use soleus_tools::external_forces;
use soleus_tools::quality::check_ground_reactions;
use std::path::Path;

/// Reads the forces of an `ExternalLoads` file. Its data file is searched next to it, then in the current folder; with the
/// `folder` of a setup file, there first, as in OpenSim. For a table, plates are assigned to the feet that are on them during the motion.
pub fn read(
    cx: &Context,
    model: &Model,
    loads: Option<&Path>,
    folder: Option<&Path>,
    motion: Option<&Source<Table>>,
) -> Result<Vec<Force>, Error> {
    let Some(path) = loads else { return Ok(Vec::new()) };
    if is_table(path) {
        let Some(motion) = motion else {
            let message = "plates cannot be assigned to feet without a motion";
            let hint = "use `soleus loads` to create an ExternalLoads file from a motion and a table";
            return Err(Error::content(path, 0, "", message, hint));
        };
        let request = AssignLoads { motion: motion.clone(), loads: path.into(), ..AssignLoads::default() };
        let forces = request.run_with(cx, model)?.forces;
        let mut log = Diagnostics::new(path.display().to_string());
        check_ground_reactions(model, &forces, &mut log);
        cx.report(&log);
        return Ok(forces);
    }
    let (document, mut log) = setup::document(cx, path)?;
    let loads = document.and_then(|mut d| {
        soleus_io::osim::upgrade(&mut d, &mut log);
        soleus_model::build_external_loads(&d, model, &mut log)
    });
    let loads = cx.settle(path, loads, log)?;
    let forces = forces_of(cx, &loads, path, folder)?;
    let mut log = Diagnostics::new(path.display().to_string());
    check_ground_reactions(model, &forces, &mut log);
    cx.report(&log);
    Ok(forces)
}

/// Removes contact forces with ground from a model, because measured loads already include them; reports this.
pub fn leave_out_contacts(cx: &Context, model: &mut Model) {
    let on_ground = |g: &soleus_model::id::GeometryId| {
        let geometry = model.contact_geometries.get(g.0);
        geometry.is_some_and(|g| model.frames[g.frame.0].body.0 == 0)
    };
    let of_materials = |list: &[soleus_model::force::ContactParameters]| {
        list.iter().flat_map(|p| &p.geometry).any(on_ground)
    };
    let is_ground = |f: &Force| match &f.kind {
        ForceKind::Bogert2011Contact(_) | ForceKind::ExponentialContactForce(_) => true,
        ForceKind::SmoothSphereHalfSpaceForce(s) => on_ground(&s.half_space) || on_ground(&s.sphere),
        ForceKind::HuntCrossleyForce(h) => of_materials(&h.contact_parameters),
        ForceKind::ElasticFoundationForce(e) => of_materials(&e.contact_parameters),
        _ => false,
    };
    let kept: Vec<bool> = model.forces.iter().map(|f| !(f.enabled && is_ground(f))).collect();
    let n = kept.iter().filter(|k| !**k).count();
    if n > 0 {
        let mut kept = kept.into_iter();
        model.forces.retain(|_| kept.next().unwrap_or(true));
        let s = if n == 1 { "" } else { "s" };
        cx.note(format!("ground forces are measured: {n} ground contact{s} of the model ignored"));
    }
}

/// The forces of loads in the file `path`, with their data.
pub fn forces_of(
    cx: &Context,
    loads: &ExternalLoads,
    path: &Path,
    folder: Option<&Path>,
) -> Result<Vec<Force>, Error> {
    let mut read: Vec<(String, Table)> = Vec::new();
    let names = loads.forces.iter().filter_map(|f| f.data_source_name.as_ref());
    for name in loads.datafile.iter().chain(names) {
        if read.iter().any(|(n, _)| n == name)
            || (loads.datafile.is_some() && loads.datafile.as_ref() != Some(name))
        {
            continue;
        }
        // A file of this name in the current folder may belong to another trial.
        let own = beside(path, name);
        let other = folder.unwrap_or(Path::new("")).join(native(name));
        let order = if folder.is_some() { [&other, &own] } else { [&own, &other] };
        let file = order.into_iter().find(|f| cx.files.is_file(f)).unwrap_or(&own).clone();
        read.push((name.clone(), table::read_in_order(cx, &Source::File(file), Take::Forces)?));
    }
    let table_of = |name: &str| read.iter().find(|(n, _)| n == name).map(|(_, t)| t);
    external_forces(loads, &table_of).map_err(|e| {
        Error::content(path, 0, "", e.to_string(), "compare the identifiers with the labels of the data")
    })
}
