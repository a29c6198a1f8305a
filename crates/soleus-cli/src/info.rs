//! `soleus info`: what a model contains.

use crate::failure::Failure;
use crate::load;
use serde_json::{Value, json};
use soleus_model::force::ForceKind;
use soleus_model::joint::MotionType;
use soleus_model::{Model, Printable};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Reads the model and prints what it contains.
pub fn run(path: &Path, as_json: bool) -> Result<(), Failure> {
    let model = load::model(path)?;
    let text = if as_json {
        serde_json::to_string_pretty(&to_json(&model)).unwrap_or_default() + "\n"
    } else {
        to_text(&model)
    };
    load::write_whole(Path::new("-"), &text)
}

/// How often each class occurs, in the order of the names.
fn count<'a>(classes: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for c in classes {
        *counts.entry(c).or_insert(0) += 1;
    }
    counts
}

fn muscles(model: &Model) -> impl Iterator<Item = &soleus_model::Force> {
    model.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_)))
}

fn others(model: &Model) -> impl Iterator<Item = &soleus_model::Force> {
    model.forces.iter().filter(|f| !matches!(f.kind, ForceKind::Muscle(_)))
}

fn motion(m: MotionType) -> &'static str {
    match m {
        MotionType::Rotational => "rotational",
        MotionType::Translational => "translational",
        MotionType::Coupled => "coupled",
    }
}

fn to_json(m: &Model) -> Value {
    let frame_body = |f: soleus_model::id::FrameId| &m.bodies[m.frames[f.0].body.0].name;
    json!({
        "name": m.name,
        "credits": m.credits,
        "publications": m.publications,
        "file_version": m.file_version,
        "length_units": m.length_units,
        "force_units": m.force_units,
        "gravity": m.gravity.to_array(),
        "mass": m.total_mass(),
        "bodies": m.bodies.iter().skip(1).map(|b| json!({
            "path": b.path, "mass": b.mass, "mass_center": b.mass_center.to_array(),
            "inertia": [b.inertia.xx, b.inertia.yy, b.inertia.zz, b.inertia.xy, b.inertia.xz, b.inertia.yz],
        })).collect::<Vec<_>>(),
        "joints": m.joints.iter().map(|j| json!({
            "path": j.path, "class": j.kind.class(), "parent": frame_body(j.parent), "child": frame_body(j.child),
            "coordinates": j.coordinates.iter().map(|c| &m.coordinates[c.0].name).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "coordinates": m.coordinates.iter().map(|c| json!({
            "path": c.path, "motion": motion(c.motion_type), "default": c.default_value, "range": c.range,
            "clamped": c.clamped, "locked": c.locked, "prescribed": c.prescribed,
        })).collect::<Vec<_>>(),
        "constraints": m.constraints.iter().map(|c| json!({
            "path": c.path, "class": c.kind.class(), "enforced": c.enforced,
        })).collect::<Vec<_>>(),
        "muscles": muscles(m).map(|f| json!({"path": f.path, "class": f.class, "enabled": f.enabled})).collect::<Vec<_>>(),
        "forces": others(m).map(|f| json!({"path": f.path, "class": f.class, "enabled": f.enabled})).collect::<Vec<_>>(),
        "wrap_objects": m.wraps.len(),
        "markers": m.markers.iter().map(|k| &k.name).collect::<Vec<_>>(),
        "controllers": m.controllers.iter().map(|c| json!({"path": c.path, "class": c.class})).collect::<Vec<_>>(),
        "probes": m.probes.iter().map(|p| json!({"path": p.path, "class": p.class})).collect::<Vec<_>>(),
        "contact_geometry": m.contact_geometries.iter().map(|g| &g.name).collect::<Vec<_>>(),
        "unsupported": m.unsupported.iter().map(|u| json!({
            "path": u.path, "class": u.class, "line": u.line, "effect": u.effect,
        })).collect::<Vec<_>>(),
    })
}

/// "3 Thelen2003Muscle, 1 PathSpring".
fn counted(counts: &BTreeMap<&str, usize>) -> String {
    counts.iter().map(|(class, n)| format!("{n} {class}")).collect::<Vec<_>>().join(", ")
}

/// Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
fn to_text(m: &Model) -> String {
    let mut s = String::new();
    let title = if m.name.is_empty() { "(no name)" } else { &m.name };
    let _ = writeln!(s, "{}", Printable(title));
    let mut line = |label: &str, text: String| {
        if !text.is_empty() {
            let _ = writeln!(s, "  {label:<14}{}", Printable(&text));
        }
    };
    line("file version", m.file_version.to_string());
    line("credits", one_line(&m.credits));
    line("publications", one_line(&m.publications));
    line("gravity", format!("{} {} {} m/s²", m.gravity.x, m.gravity.y, m.gravity.z));
    line("bodies", format!("{}, {:.4} kg", m.bodies.len() - 1, m.total_mass()));
    line("joints", with_total(&count(m.joints.iter().map(|j| j.kind.class()))));
    line("constraints", with_total(&count(m.constraints.iter().map(|c| c.kind.class()))));
    line("muscles", with_total(&count(muscles(m).map(|f| f.class.as_str()))));
    line("other forces", with_total(&count(others(m).map(|f| f.class.as_str()))));
    line("wrap objects", nonzero(m.wraps.len()));
    line("contact", with_total(&count(m.contact_geometries.iter().map(|g| g.shape.class()))));
    line("markers", nonzero(m.markers.len()));
    line("controllers", with_total(&count(m.controllers.iter().map(|c| c.class.as_str()))));
    line("probes", with_total(&count(m.probes.iter().map(|p| p.class.as_str()))));
    let off = m.forces.iter().filter(|f| !f.enabled).map(|f| f.name.as_str()).collect::<Vec<_>>();
    line("switched off", off.join(", "));

    let _ = writeln!(s, "  coordinates");
    for c in &m.coordinates {
        let (factor, unit) = match c.motion_type {
            MotionType::Rotational => (180.0 / std::f64::consts::PI, "°"),
            _ => (1.0, " m"),
        };
        let mut notes = Vec::new();
        for (on, word) in [(c.locked, "locked"), (c.clamped, "clamped"), (c.prescribed, "prescribed")] {
            if on {
                notes.push(word);
            }
        }
        let line = format!(
            "    {:<28} {:>9.3} … {:>9.3}{unit:<2}  default {:>9.3}  {}",
            c.name,
            c.range[0] * factor,
            c.range[1] * factor,
            c.default_value * factor,
            notes.join(", ")
        );
        let _ = writeln!(s, "{}", Printable(line.trim_end()));
    }
    if m.unsupported.is_empty() {
        let _ = writeln!(s, "  everything in the file is supported");
    } else {
        let _ = writeln!(s, "  not supported");
        for u in &m.unsupported {
            let (class, path) = (Printable(&u.class), Printable(&u.path));
            let _ = writeln!(s, "    line {}: {class} {path}: {}", u.line, u.effect);
        }
    }
    s
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn nonzero(n: usize) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn with_total(counts: &BTreeMap<&str, usize>) -> String {
    match counts.len() {
        0 => String::new(),
        1 => counted(counts),
        _ => format!("{} ({})", counts.values().sum::<usize>(), counted(counts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_21_names_hold_no_control_characters() {
        let text = "<OpenSimDocument Version=\"40000\"><Model name=\"\u{1b}[2Ja\"><Ground name=\"ground\"/><BodySet><objects>\
            <Body name=\"b\"><mass>1</mass></Body></objects></BodySet><JointSet><objects><PinJoint name=\"j\">\
            <socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b</socket_child_frame>\
            <coordinates><Coordinate name=\"q\u{7}\"/></coordinates></PinJoint></objects></JointSet></Model></OpenSimDocument>";
        let (model, log) = soleus_io::osim::read_model(text.as_bytes(), "m.osim");
        let shown = to_text(&model.unwrap_or_else(|| panic!("{:?}", log.list)));
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        assert!(shown.starts_with("\\u{1b}[2Ja\n") && shown.contains("q\\u{7}"), "{shown}");
    }
}
