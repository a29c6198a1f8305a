//! Muscle paths: points and wraps gathered in a `GeometryPath`, points attached by sockets.

use std::collections::HashMap;

use soleus_model::{Content, Element};

use super::Upgrade;
use super::classes::{is_joint, is_muscle, is_path_point};
use super::frames::name_to_socket;
use super::tree::{clean_name, look, position, remove, visit};

/// Wraps the point and wrap sets of 1.x muscles in a `GeometryPath`, and renames the properties
/// of muscles and points that changed before 3.0. The class names are the new ones already.
pub fn gather(root: &mut Element, up: &mut Upgrade<'_>) {
    let version = up.version;
    visit(root, &mut |e| {
        if is_muscle(&e.tag) || e.child("PathPointSet").is_some() {
            wrap_sets(e);
        }
        if is_muscle(&e.tag) {
            e.rename_child("pennation_angle", "pennation_angle_at_optimal");
        }
        if e.tag == "ConditionalPathPoint" && version <= 20001 {
            e.rename_child("coordinates", "coordinate");
        }
    });
}

fn wrap_sets(e: &mut Element) {
    if e.tag == "GeometryPath" || e.child("GeometryPath").is_some() {
        return;
    }
    let at = position(e, "PathPointSet").or_else(|| position(e, "PathWrapSet"));
    let parts: Vec<Element> =
        ["PathPointSet", "PathWrapSet"].iter().filter_map(|tag| remove(e, tag)).collect();
    let Some(first) = parts.first() else { return };
    let mut path = Element::new("GeometryPath", first.line);
    for part in parts {
        path.push(part);
    }
    let at = at.unwrap_or(0).min(e.content.len());
    e.content.insert(at, Content::Element(path));
}

/// Attaches path points to their bodies, and conditional and moving points to their coordinates,
/// by sockets (30505).
pub fn references(root: &mut Element, up: &mut Upgrade<'_>) {
    // Where each coordinate lives: the first joint that has one of that name.
    let mut owner: HashMap<String, String> = HashMap::new();
    look(root, &mut |joint| {
        if !is_joint(&joint.tag) {
            return;
        }
        for coordinate in joint.children().filter(|e| e.tag == "coordinates").flat_map(Element::children) {
            let path = format!("/jointset/{}/{}", joint.name(), coordinate.name());
            owner.entry(coordinate.name().to_string()).or_insert(path);
        }
    });
    let version = up.version;
    visit(root, &mut |e| {
        if !is_path_point(&e.tag) {
            return;
        }
        name_to_socket(e, "body", "socket_parent_frame");
        if e.tag == "MovingPathPoint" {
            if version < 30000 {
                e.rename_child("XAttachment", "x_location");
                e.rename_child("YAttachment", "y_location");
                e.rename_child("ZAttachment", "z_location");
            }
            for axis in ["x", "y", "z"] {
                coordinate_socket(e, &format!("{axis}_coordinate"), &owner);
            }
        }
        if e.tag == "ConditionalPathPoint" {
            coordinate_socket(e, "coordinate", &owner);
        }
    });
}

/// Replaces a coordinate's name by its path; a name that no joint knows stays a name.
fn coordinate_socket(e: &mut Element, property: &str, owner: &HashMap<String, String>) {
    if let Some(named) = e.child_mut(property) {
        let name = clean_name(&named.text());
        let path = owner.get(&name).cloned().unwrap_or(name);
        named.tag = format!("socket_{property}");
        named.set_text(path);
    }
}

/// Drops the control bounds 0 and 1 of muscles, which before 30513 were written without being
/// meant: the class's own bounds apply.
pub fn control_bounds(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if !is_muscle(&e.tag) {
            return;
        }
        for (tag, unmeant) in [("min_control", 0.0), ("max_control", 1.0)] {
            if e.child_text(tag).and_then(|t| t.parse::<f64>().ok()) == Some(unmeant) {
                remove(e, tag);
            }
        }
    });
}

/// Names the path of a force `path`, the property that holds it since 40500.
pub fn name_path(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if let Some(path) = e.child_mut("GeometryPath") {
            path.set_attribute("name", "path");
        }
    });
}
