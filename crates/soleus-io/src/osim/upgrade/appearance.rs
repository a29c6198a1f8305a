//! How things are drawn: `VisibleObject`, `color` and `display_preference` became attached
//! meshes and `Appearance`.

use soleus_math::{Transform, Vec3};
use soleus_model::{Content, Element};

use super::Upgrade;
use super::classes::{is_contact_geometry, is_muscle, is_wrap_object};
use super::tree::{child_numbers, child_or_new, format_numbers, into_children, remove, visit};

/// The colors OpenSim gives to what has none: muscles; wrap objects and contact geometry.
const MUSCLE_COLOR: &str = ".8 .1 .1";
const CYAN: &str = "0 1 1";

/// Turns the `VisibleObject` of bodies and ground into attached meshes (30502), and drops it
/// where OpenSim no longer draws anything for it.
pub fn visible_objects(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if !matches!(e.tag.as_str(), "Body" | "Ground") {
            // Wrap objects and paths take their color from it later.
            if !is_wrap_object(&e.tag) && e.tag != "GeometryPath" {
                remove(e, "VisibleObject");
            }
            return;
        }
        let Some(shown) = remove(e, "VisibleObject") else { return };
        match up.version < 20101 {
            true => mesh_files(e, &shown, up),
            false => display_geometry(e, shown, up),
        }
    });
}

/// Before 20101: a list of mesh files with one scale.
fn mesh_files(body: &mut Element, shown: &Element, up: &mut Upgrade<'_>) {
    let scale = child_numbers::<3>(shown, "scale_factors").unwrap_or([1.0; 3]);
    let scale = scale.map(|v| up.as_opensim_keeps(v, shown.line));
    let files = shown.child_text("geometry_files").unwrap_or_default();
    let line = shown.child("geometry_files").map_or(shown.line, |e| e.line);
    let mut attached = Element::new("attached_geometry", line);
    for (i, file) in files.split_whitespace().enumerate() {
        let name = format!("{}_geom_{i}", body.name());
        attached.push(mesh(&name, scale, file, line));
    }
    body.push(attached);
}

fn mesh(name: &str, scale: [f64; 3], file: &str, line: u32) -> Element {
    let mut mesh = Element::new("Mesh", line);
    mesh.set_attribute("name", name);
    mesh.push(Element::with_text("socket_frame", "..", line));
    mesh.push(Element::with_text("scale_factors", format_numbers(&scale), line));
    mesh.push(Element::with_text("mesh_file", file, line));
    mesh
}

/// From 20101: `GeometrySet` of `DisplayGeometry`, each with its own place, scale and color.
fn display_geometry(body: &mut Element, mut shown: Element, up: &mut Upgrade<'_>) {
    let outer_scale = child_numbers::<3>(&shown, "scale_factors").unwrap_or([1.0; 3]);
    let outer = child_numbers::<6>(&shown, "transform").unwrap_or_default();
    let Some(objects) = shown.take_child("GeometrySet").and_then(|mut s| s.take_child("objects")) else {
        return;
    };
    let mut attached = Element::new("attached_geometry", objects.line);
    let body_name = body.name().to_string();
    for (i, old) in into_children(objects).filter(|e| e.tag == "DisplayGeometry").enumerate() {
        let count = i + 1;
        let line = old.line;
        let inner_scale = child_numbers::<3>(&old, "scale_factors").unwrap_or([1.0; 3]);
        let scale: [f64; 3] =
            std::array::from_fn(|k| up.as_opensim_keeps(inner_scale[k] * outer_scale[k], line));
        let file = old.child_text("geometry_file").unwrap_or_default();
        let mut mesh = mesh(&format!("{body_name}_geom_{count}"), scale, &file, line);
        mesh.push(mesh_appearance(&old));
        // A mesh that was moved against its body hangs on a frame of its own.
        let inner = child_numbers::<6>(&old, "transform").unwrap_or_default();
        let moved = |t: &[f64; 6]| t.iter().map(|v| v * v).sum::<f64>().sqrt() >= f64::EPSILON;
        if !moved(&inner) && !moved(&outer) {
            attached.push(mesh);
            continue;
        }
        let X_BG = pose(&outer) * pose(&inner);
        let translation = X_BG.p.to_array().map(|v| up.as_opensim_keeps(v, line));
        let orientation = X_BG.R.to_body_fixed_xyz().to_array().map(|v| up.as_opensim_keeps(v, line));
        let mut frame = Element::new("PhysicalOffsetFrame", line);
        frame.set_attribute("name", format!("{body_name}_geom_frame_{count}"));
        frame.push(Element::with_text("socket_parent", "..", line));
        frame.push(Element::with_text("translation", format_numbers(&translation), line));
        frame.push(Element::with_text("orientation", format_numbers(&orientation), line));
        let mut on_frame = Element::new("attached_geometry", line);
        on_frame.push(mesh);
        frame.push(on_frame);
        if let Some(components) = child_or_new(body, "components") {
            components.push(frame);
        }
    }
    body.push(attached);
}

/// Three body-fixed X-Y-Z angles [rad] and three translations [m], as a pose.
fn pose(t: &[f64; 6]) -> Transform<f64> {
    let [a, b, c, x, y, z] = *t;
    Transform::from_offset(Vec3::from_array([x, y, z]), Vec3::from_array([a, b, c]))
}

/// Color, opacity and visibility of one mesh.
fn mesh_appearance(old: &Element) -> Element {
    let mut appearance = Element::new("Appearance", old.line);
    for tag in ["color", "opacity"] {
        if let Some(e) = old.child(tag) {
            appearance.push(e.clone());
        }
    }
    if let Some(preference) = old.child("display_preference") {
        show(&mut appearance, &preference.text(), preference.line);
    }
    appearance
}

/// Applies an old `display_preference`: 0 hidden, 1 points, 2 wires, 3 and 4 surface. Surface is
/// the default and is not written.
fn show(appearance: &mut Element, preference: &str, line: u32) {
    match preference.trim() {
        "0" => appearance.push(Element::with_text("visible", "false", line)),
        p @ ("1" | "2") => {
            let mut surface = Element::new("SurfaceProperties", line);
            surface.push(Element::with_text("representation", p, line));
            appearance.push(surface);
        }
        _ => {}
    }
}

/// Gives contact geometry (30507), wrap objects (30515) and paths (30516) an `Appearance`.
pub fn colors(root: &mut Element, up: &mut Upgrade<'_>) {
    let version = up.version;
    visit(root, &mut |e| {
        if is_contact_geometry(&e.tag) && version < 30507 {
            contact_appearance(e);
        } else if is_wrap_object(&e.tag) && version < 30515 {
            wrap_appearance(e);
        } else if e.tag == "GeometryPath" {
            path_appearance(e);
        } else if is_muscle(&e.tag)
            && let Some(path) = e.child_mut("GeometryPath")
            && path.child("default_color").is_none()
        {
            // Parents come before children: the path itself is next.
            let line = path.line;
            path.push(Element::with_text("default_color", MUSCLE_COLOR, line));
        }
    });
}

fn contact_appearance(e: &mut Element) {
    let color = remove(e, "color");
    let preference = remove(e, "display_preference");
    if color.is_none() && preference.is_none() {
        return;
    }
    let mut appearance = Element::new("Appearance", e.line);
    let line = e.line;
    appearance.push(color.unwrap_or_else(|| Element::with_text("color", CYAN, line)));
    match preference.map(|p| (p.text(), p.line)) {
        Some((p, line)) if p == "0" => appearance.push(Element::with_text("visible", "false", line)),
        Some((p, line)) => {
            let representation = if p == "4" { "3".to_string() } else { p };
            let mut surface = Element::new("SurfaceProperties", line);
            surface.push(Element::with_text("representation", representation, line));
            appearance.push(surface);
        }
        None => {}
    }
    e.push(appearance);
}

fn wrap_appearance(e: &mut Element) {
    let color = remove(e, "color");
    let own = remove(e, "display_preference").map(|p| p.text());
    let shown = remove(e, "VisibleObject").and_then(|v| v.child_text("display_preference"));
    // The object's own preference counts; the one of its `VisibleObject` can still hide it, and
    // decides where the first says nothing.
    let hidden = own.as_deref() == Some("0") || shown.as_deref() == Some("0");
    let wires = |p: &Option<String>| p.clone().filter(|p| matches!(p.as_str(), "1" | "2" | "3"));
    let own = wires(&own);
    let representation = own.clone().filter(|p| p != "3").or_else(|| wires(&shown)).or(own);
    if color.is_none() && !hidden && representation.is_none() {
        return;
    }
    let line = color.as_ref().map_or(e.line, |c| c.line);
    let mut appearance = Element::new("Appearance", line);
    if hidden {
        appearance.push(Element::with_text("visible", "false", line));
    }
    appearance.push(color.unwrap_or_else(|| Element::with_text("color", CYAN, line)));
    appearance.push(Element::with_text("opacity", "0.5", line));
    let mut surface = Element::new("SurfaceProperties", line);
    surface.push(Element::with_text("representation", representation.unwrap_or("3".to_string()), line));
    appearance.push(surface);
    e.push(appearance);
}

fn path_appearance(e: &mut Element) {
    let hidden =
        remove(e, "VisibleObject").and_then(|v| v.child_text("display_preference")).as_deref() == Some("0");
    let color = remove(e, "default_color");
    if !hidden && color.is_none() {
        return;
    }
    let line = e.line;
    let mut appearance = Element::new("Appearance", line);
    if hidden {
        appearance.push(Element::with_text("visible", "false", line));
    }
    if let Some(mut color) = color {
        color.tag = "color".to_string();
        appearance.push(color);
    }
    e.content.push(Content::Element(appearance));
}
