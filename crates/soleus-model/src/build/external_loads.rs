//! Measured loads.

use super::context::Context;
use super::properties::PropertyReader;
use crate::diagnostic::Diagnostics;
use crate::document::{Document, Element};
use crate::external_loads::{ExternalForceSource, ExternalLoads};
use crate::id::FrameId;
use crate::model::Model;

/// Reads an `ExternalLoads` document for a model.
///
/// Bodies are found by absolute path or by name. `None` if and only if `diags` contains an error; the table itself is
/// not opened.
pub fn build_external_loads(doc: &Document, model: &Model, diags: &mut Diagnostics) -> Option<ExternalLoads> {
    let root = &doc.root;
    let found = if root.tag == "ExternalLoads" { Some(root) } else { root.child("ExternalLoads") };
    let Some(element) = found else {
        diags.error(root.line, "", format!("expected `ExternalLoads` in the file, found `{}`", root.tag), "");
        return None;
    };
    let cx = Context::without_components(std::mem::take(diags));
    let p = PropertyReader::new(&cx, element, "");
    let text = |p: &PropertyReader, tag| {
        Some(p.string(tag, "")).filter(|s| !s.is_empty() && !s.eq_ignore_ascii_case("unassigned"))
    };
    let mut loads = ExternalLoads {
        name: element.name().to_string(),
        datafile: text(&p, "datafile"),
        forces: Vec::new(),
    };
    for e in p.objects("objects") {
        if e.tag != "ExternalForce" {
            let hint = "write it as an ExternalForce with column identifiers";
            p.error(e.line, format!("`{}` is not an external force", e.tag), hint);
            continue;
        }
        loads.forces.extend(external_force(&cx, e, model));
    }
    p.skip(&[
        "groups",
        "external_loads_model_kinematics_file",
        "lowpass_cutoff_frequency_for_load_kinematics",
    ]);
    p.finish();
    *diags = cx.into_diagnostics();
    (!diags.has_errors()).then_some(loads)
}

fn external_force(cx: &Context, e: &Element, model: &Model) -> Option<ExternalForceSource> {
    let path = format!("/{}", e.name());
    let p = PropertyReader::new(cx, e, &path);
    let text =
        |tag| Some(p.string(tag, "")).filter(|s| !s.is_empty() && !s.eq_ignore_ascii_case("unassigned"));
    let frame = |tag, default: &str| {
        let name = p.string(tag, default);
        let last = name.rsplit('/').next().unwrap_or(&name);
        let by_path = model.frames.iter().position(|f| f.path == name);
        let found = by_path.or_else(|| model.frames.iter().position(|f| f.name == last));
        if found.is_none() {
            p.error(p.line_of(tag), format!("`{tag}`: the model has no body `{name}`"), "");
        }
        found.map(FrameId)
    };
    let applied_to_body = frame("applied_to_body", "");
    let force_expressed_in_body = frame("force_expressed_in_body", "ground");
    let point_expressed_in_body = frame("point_expressed_in_body", "ground");
    let force_identifier = text("force_identifier");
    let torque_identifier = text("torque_identifier");
    if force_identifier.is_none() && torque_identifier.is_none() {
        p.error(e.line, "neither `force_identifier` nor `torque_identifier` names columns", "");
    }
    let (point_identifier, data_source_name) = (text("point_identifier"), text("data_source_name"));
    let enabled = p.boolean("appliesForce", true);
    let applied_to_body_label = p.string("applied_to_body", "");
    p.finish();
    Some(ExternalForceSource {
        name: e.name().to_string(),
        line: e.line,
        enabled,
        applied_to_body: applied_to_body?,
        applied_to_body_label,
        force_expressed_in_body: force_expressed_in_body?,
        point_expressed_in_body: point_expressed_in_body?,
        force_identifier,
        point_identifier,
        torque_identifier,
        data_source_name,
    })
}
