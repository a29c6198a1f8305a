//! `MocoMarkerTrackingGoal`.

use super::references::{Given, naming_hint, spline};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::read_markers;
use soleus_control::Goal;
use soleus_control::goal::marker_tracking;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::study::{self, GoalKind};
use std::path::Path;

/// Reads the measured markers and matches them with those of the model by name.
pub fn build(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    given: &Given,
) -> Result<Goal, Error> {
    let GoalKind::MarkerTracking { file, weights, default_weight, allow_unused } = &g.kind else {
        return Err(Error::content(path, g.line, &g.name, "not a marker-tracking goal", ""));
    };
    let refuse = |message: String, hint: &str| Error::content(path, g.line, &g.name, message, hint);
    let (table, source) = match (given.known(&g.name), given.source(&g.name), file) {
        (Some(table), ..) => (table.packed().map_err(|e| refuse(e.to_string(), ""))?, path.to_path_buf()),
        (None, Some(source), _) => (read_markers(cx, source)?.0, source.path().to_path_buf()),
        (None, None, Some(name)) => {
            let file = beside(path, name);
            (read_markers(cx, &file.as_path().into())?.0, file)
        }
        _ => {
            let hint = naming_hint(path, &g.name, "MARKERS.trc");
            return Err(refuse("the markers to track are not in the file".to_string(), &hint));
        }
    };
    let mut list = Vec::new();
    for (i, label) in table.labels().iter().enumerate() {
        let Some(m) = base.model.markers.iter().position(|m| m.name == *label || m.path == *label) else {
            if *allow_unused {
                continue;
            }
            let message = format!("the reference has a marker `{label}`, which the model does not have");
            return Err(refuse(message, "set `allow_unused_references` to ignore it"));
        };
        let mut functions = Vec::new();
        for axis in 0..3 {
            functions.push(spline(&source, &table, &table.columns()[3 * i + axis])?);
        }
        let Ok(functions) = <[_; 3]>::try_from(functions) else { continue };
        let weight = weights.iter().find(|w| w.name == *label).map_or(*default_weight, |w| w.weight);
        list.push((base.system.markers[m], functions, weight));
    }
    if list.is_empty() {
        return Err(refuse("the reference and the model have no marker in common".into(), ""));
    }
    Ok(marker_tracking(&g.name, g.weight, &base.system, list))
}
