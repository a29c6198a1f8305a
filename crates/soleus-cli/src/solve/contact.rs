//! `MocoContactTrackingGoal`.

use super::references::spline;
use crate::failure::Failure;
use crate::setup;
use crate::tables::{self, Take};
use soleus_control::Goal;
use soleus_control::goal::{ContactGroup, Projection, contact_tracking};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::Resolve;
use soleus_dynamics::system::Actor;
use soleus_io::setup::moco::{GoalKind, MocoGoal};
use soleus_math::vec3;
use soleus_model::id::FrameId;
use std::path::Path;

/// Reads the measured forces and pairs them with contacts of the model.
pub fn build(path: &Path, g: &MocoGoal, base: &ModelProblem) -> Result<Goal, Failure> {
    let GoalKind::ContactTracking { groups, loads_file, projection, vector, normalize } = &g.kind else {
        return Err(Failure::content(path, g.line, &g.name, "no contact tracking".into(), ""));
    };
    let refuse = |message: String| Failure::content(path, g.line, &g.name, message, "");
    let file = setup::required(path, "external_loads_file", loads_file.as_deref())?;
    let (document, mut log) = setup::document(&file)?;
    let loads = document.and_then(|mut d| {
        soleus_io::osim::upgrade(&mut d, &mut log);
        soleus_model::build_external_loads(&d, &base.model, &mut log)
    });
    crate::load::report(&log);
    let loads = loads.ok_or_else(|| crate::load::errors(&file, &log))?;
    let data = setup::required(&file, "datafile", loads.datafile.as_deref())?;
    let table = tables::read(&data, Take::Forces, 0.0)?;

    let mut made = Vec::new();
    for group in groups {
        let force = loads.forces.iter().find(|f| f.name == group.external_force);
        let force =
            force.ok_or_else(|| refuse(format!("there is no external force `{}`", group.external_force)))?;
        let Some(identifier) = &force.force_identifier else {
            return Err(refuse(format!("external force `{}` names no force", group.external_force)));
        };
        let mut functions = Vec::new();
        let mut scale = [1.0; 3];
        for (axis, k) in ["x", "y", "z"].into_iter().zip(0..) {
            let label = format!("{identifier}{axis}");
            let column =
                table.column(&label).ok_or_else(|| refuse(format!("no column `{label}` in the data")))?;
            if *normalize {
                scale[k] = column.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            }
            functions.push(spline(&data, &table, column)?);
        }
        let [x, y, z]: [_; 3] = functions.try_into().map_err(|_| refuse("three axes are needed".into()))?;
        let mut contacts = Vec::new();
        for name in &group.forces {
            let forces = &base.model.forces;
            let i = forces
                .iter()
                .position(|f| f.path == *name || f.name == *name || f.path == format!("/{name}"));
            let i = i.ok_or_else(|| refuse(format!("there is no contact `{name}`")))?;
            contacts.push((
                i,
                counted_body(base, i, force.applied_to_body).ok_or_else(|| {
                    refuse(format!("`{name}` touches no body that the measured force acts on"))
                })?,
            ));
        }
        made.push(ContactGroup { contacts, force: [x, y, z], scale });
    }
    let [x, y, z] = *vector;
    let direction = vec3(x, y, z);
    let projection = match projection.as_str() {
        "none" => Projection::None,
        "vector" => Projection::Vector(direction.normalized()),
        "plane" => Projection::Plane(direction.normalized()),
        other => return Err(refuse(format!("there is no projection `{other}`"))),
    };
    let gravity = base.model.gravity.norm();
    let per = base.model.total_mass() * if gravity > 0.0 { gravity } else { 1.0 };
    contact_tracking(&g.name, g.weight, &base.system, made, projection, per)
        .ok_or_else(|| refuse("only forces of contacts can be tracked".into()))
}

/// The body of a contact on which a measured force acts; the moving one, if names do not tell.
fn counted_body(base: &ModelProblem, force: usize, applied_to: FrameId) -> Option<usize> {
    let Actor::Force(c) = &base.system.forces[force].actor else { return None };
    let bodies = c.touches().0;
    let wanted = base.system.tree.frame(applied_to).body;
    let named = bodies.iter().copied().find(|&b| b == wanted);
    named.or_else(|| bodies.into_iter().find(|&b| b != 0))
}
