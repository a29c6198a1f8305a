//! Goals about contacts: `MocoContactTrackingGoal`, `MocoContactImpulseTrackingGoal`, `MocoStepTimeAsymmetryGoal`.

use super::constraints::projected;
use super::frames::{direction, heaviness};
use super::references::spline;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::required;
use crate::inputs::setup;
use crate::inputs::table::{Take, read_rows};
use soleus_control::Goal;
use soleus_control::goal::{
    ContactGroup, Foot, StepTimeSettings, contact_impulse_tracking, contact_tracking, step_time_asymmetry,
};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{BodyFrame, Resolve};
use soleus_io::study::{self, GoalKind};
use soleus_math::Transform;
use soleus_model::id::FrameId;
use std::path::Path;

/// Reads the measured forces and matches them with contacts of the model.
pub fn build(cx: &Context, path: &Path, g: &study::Goal, base: &ModelProblem) -> Result<Goal, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let (name, weight, per) = (g.name.as_str(), g.weight, heaviness(base));
    match &g.kind {
        GoalKind::ContactTracking { groups, loads_file, projection, vector, normalize } => {
            let groups = measured(cx, path, g, base, groups, loads_file.as_deref(), *normalize)?;
            let projection = projected(projection, *vector).map_err(refuse)?;
            contact_tracking(name, weight, &base.system, groups, projection, per)
                .ok_or_else(|| refuse("only forces of contacts can be tracked".to_string()))
        }
        GoalKind::ContactImpulse { groups, loads_file, axis } => {
            let axis = [0.0, 1.0, 2.0].iter().position(|a| a == axis);
            let axis = axis.ok_or_else(|| refuse("`impulse_axis` must be 0, 1 or 2".to_string()))?;
            let mut groups = measured(cx, path, g, base, groups, loads_file.as_deref(), false)?;
            match (groups.pop(), groups.is_empty()) {
                (Some(ContactGroup { contacts, force, .. }), true) => {
                    let reference = force[axis].clone();
                    Ok(contact_impulse_tracking(name, weight, &base.system, contacts, axis, reference, per))
                }
                _ => Err(refuse("one contact group is needed".to_string())),
            }
        }
        GoalKind::StepTimeAsymmetry {
            contacts,
            feet,
            target,
            threshold,
            up,
            forward,
            contact_smoothing,
            smoothing,
        } => {
            let foot = |side: usize| -> Result<Foot, String> {
                let mut list = Vec::new();
                for name in &contacts[side] {
                    list.push(sphere(base, name)?);
                }
                let (_, body) = sphere(base, &feet[side])?;
                Ok(Foot { contacts: list, frame: BodyFrame { body, X_BF: Transform::identity() } })
            };
            let settings = StepTimeSettings {
                target: *target,
                threshold: *threshold,
                up: direction(up).map_err(refuse)?,
                forward: direction(forward).map_err(refuse)?,
                contact_smoothing: *contact_smoothing,
                asymmetry_smoothing: *smoothing,
            };
            let (left, right) = (foot(0).map_err(refuse)?, foot(1).map_err(refuse)?);
            Ok(step_time_asymmetry(name, weight, &base.system, left, right, &settings))
        }
        _ => Err(refuse("not a contact goal".to_string())),
    }
}

/// A contact by name, and the body of its sphere.
fn sphere(base: &ModelProblem, name: &str) -> Result<(usize, usize), String> {
    let i = contact_named(base, name).ok_or_else(|| format!("no contact is called `{name}`"))?;
    let Actor::Force(c) = &base.system.forces[i].actor else {
        return Err(format!("`{name}` is not a contact"));
    };
    match c.kernel() {
        Kernel::SmoothSphereHalfSpace(s) => Ok((i, s.bodies()[0])),
        _ => Err(format!("`{name}` is not a SmoothSphereHalfSpaceForce")),
    }
}

fn contact_named(base: &ModelProblem, name: &str) -> Option<usize> {
    let forces = &base.model.forces;
    forces.iter().position(|f| f.path == *name || f.name == *name || f.path == format!("/{name}"))
}

/// Groups of contacts with the measured forces of a file of loads.
fn measured(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    groups: &[soleus_io::study::ContactGroup],
    loads_file: Option<&str>,
    normalize: bool,
) -> Result<Vec<ContactGroup>, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let file = required(path, "external_loads_file", loads_file)?;
    let (document, mut log) = setup::document(cx, &file)?;
    let loads = document.and_then(|mut d| {
        soleus_io::osim::upgrade(&mut d, &mut log);
        soleus_model::build_external_loads(&d, &base.model, &mut log)
    });
    let loads = cx.settle(&file, loads, log)?;
    let data = required(&file, "datafile", loads.datafile.as_deref())?;
    let table = read_rows(cx, &data.as_path().into(), Take::Forces)?;

    let mut made = Vec::new();
    for group in groups {
        let force = loads.forces.iter().find(|f| f.name == group.external_force);
        let force =
            force.ok_or_else(|| refuse(format!("no external force is called `{}`", group.external_force)))?;
        let Some(identifier) = &force.force_identifier else {
            return Err(refuse(format!("external force `{}` has no force_identifier", group.external_force)));
        };
        let mut functions = Vec::new();
        let mut scale = [1.0; 3];
        for (axis, k) in ["x", "y", "z"].into_iter().zip(0..) {
            let label = format!("{identifier}{axis}");
            let column =
                table.column(&label).ok_or_else(|| refuse(format!("no column `{label}` in the data")))?;
            if normalize {
                scale[k] = column.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            }
            functions.push(spline(&data, &table, column)?);
        }
        let [x, y, z]: [_; 3] =
            functions.try_into().map_err(|_| refuse("three axes are needed".to_string()))?;
        let mut contacts = Vec::new();
        for name in &group.forces {
            let i =
                contact_named(base, name).ok_or_else(|| refuse(format!("no contact is called `{name}`")))?;
            contacts.push((
                i,
                counted_body(base, i, force.applied_to_body).ok_or_else(|| {
                    refuse(format!("`{name}` is not on a body on which the measured force acts"))
                })?,
            ));
        }
        made.push(ContactGroup { contacts, force: [x, y, z], scale });
    }
    Ok(made)
}

/// The body of a contact on which a measured force acts; the moving one, if names do not tell.
fn counted_body(base: &ModelProblem, force: usize, applied_to: FrameId) -> Option<usize> {
    let Actor::Force(c) = &base.system.forces[force].actor else { return None };
    let bodies = c.touches().0;
    let wanted = base.system.tree.frame(applied_to).body;
    let named = bodies.iter().copied().find(|&b| b == wanted);
    named.or_else(|| bodies.into_iter().find(|&b| b != 0))
}
