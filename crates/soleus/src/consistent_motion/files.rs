//! Files of a dynamically consistent motion: the changed model, the changed loads, the trade-off curve.

use soleus_math::Vec3;
use soleus_math::table::{Element as Columns, Table};
use soleus_model::force::{Force, ForceKind};
use soleus_model::{Document, Element, Model};
use std::fmt::Write as _;
use std::path::Path;

/// A model document with the masses, mass centres, inertias and marker locations of another model.
pub fn changed_document(mut document: Document, model: &Model) -> Document {
    let root = &mut document.root;
    let top = if root.tag == "Model" { Some(root) } else { root.child_mut("Model") };
    let Some(top) = top else { return document };
    let text = |v: Vec3<f64>| v.to_array().map(|x| x.to_string()).join(" ");
    for e in members(top, "BodySet") {
        let Some(b) = model.bodies.iter().find(|b| b.name == e.name()) else { continue };
        let i = b.inertia;
        let six = [i.xx, i.yy, i.zz, i.xy, i.xz, i.yz].map(|x| x.to_string()).join(" ");
        set(e, "mass", b.mass.to_string());
        set(e, "mass_center", text(b.mass_center));
        set(e, "inertia", six);
    }
    for e in members(top, "MarkerSet") {
        if let Some(m) = model.markers.iter().find(|m| m.name == e.name()) {
            set(e, "location", text(m.location));
        }
    }
    document
}

fn members<'e>(model: &'e mut Element, set: &str) -> impl Iterator<Item = &'e mut Element> {
    let objects = model.child_mut(set).and_then(|s| s.child_mut("objects"));
    objects.into_iter().flat_map(|o| o.children_mut())
}

fn set(e: &mut Element, tag: &str, text: String) {
    match e.child_mut(tag) {
        Some(child) => child.set_text(text),
        None => e.push(Element::with_text(tag, text, e.line)),
    }
}

/// Names of two loads whose times differ.
pub fn of_different_times(loads: &[Force]) -> Option<(&str, &str)> {
    let mut external = loads.iter().filter_map(|f| match &f.kind {
        ForceKind::ExternalForce(e) => Some((f.name.as_str(), &e.time)),
        _ => None,
    });
    let (first, times) = external.next()?;
    external.find(|(_, t)| *t != times).map(|(other, _)| (first, other))
}

/// Force, point and torque of all loads in one table; `None` if their times differ.
pub fn load_data(loads: &[Force]) -> Option<Table> {
    let external = loads.iter().filter_map(|f| match &f.kind {
        ForceKind::ExternalForce(e) => Some((f, e)),
        _ => None,
    });
    let (mut labels, mut columns, mut times) = (Vec::new(), Vec::new(), None);
    for (f, e) in external {
        if times.get_or_insert(&e.time) != &&e.time {
            return None;
        }
        for (kind, data) in [("v", &e.force), ("p", &e.point), ("t", &e.torque)] {
            for (axis, column) in ["x", "y", "z"].iter().zip(data.iter().flatten()) {
                labels.push(format!("{}_{kind}{axis}", f.name));
                columns.push(column.clone());
            }
        }
    }
    let mut table = Table::new(Columns::Scalar, labels, times?.clone(), columns).ok()?;
    table.name = "Loads".to_string();
    table.in_degrees = Some(false);
    Some(table)
}

/// The `ExternalLoads` file for that table.
pub fn load_setup(model: &Model, loads: &[Force], data: &Path) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<OpenSimDocument Version=\"40600\">\n\t<ExternalLoads name=\"loads\">\n\t\t<objects>\n",
    );
    let body = |frame: soleus_model::id::FrameId| {
        let f = &model.frames[frame.0];
        model.bodies[f.body.0].name.clone()
    };
    let file = data.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    for f in loads {
        let ForceKind::ExternalForce(e) = &f.kind else { continue };
        let _ = writeln!(text, "\t\t\t<ExternalForce name=\"{}\">", f.name);
        let mut line = |tag: &str, value: &str| {
            let _ = writeln!(text, "\t\t\t\t<{tag}>{value}</{tag}>");
        };
        line("applied_to_body", &body(e.applied_to_body));
        line("force_expressed_in_body", &body(e.force_expressed_in_body));
        line("point_expressed_in_body", &body(e.point_expressed_in_body));
        let parts = [("force", "v", &e.force), ("point", "p", &e.point), ("torque", "t", &e.torque)];
        for (what, kind, _) in parts.iter().filter(|(_, _, data)| data.is_some()) {
            line(&format!("{what}_identifier"), &format!("{}_{kind}", f.name));
        }
        let _ = writeln!(text, "\t\t\t</ExternalForce>");
    }
    let _ = write!(
        text,
        "\t\t</objects>\n\t\t<datafile>{file}</datafile>\n\t</ExternalLoads>\n</OpenSimDocument>\n"
    );
    text
}

/// A table as text with a given name for the first column.
pub fn csv(first: &str, table: &Table) -> String {
    let mut text = format!("{first},{}\n", table.labels().join(","));
    for (row, x) in table.times().iter().enumerate() {
        let numbers: Vec<String> = table.columns().iter().map(|c| c[row].to_string()).collect();
        let _ = writeln!(text, "{x},{}", numbers.join(","));
    }
    text
}
