//! Frames: what used to name a body, or a place on a body, is a socket to a frame.

use soleus_model::{Content, Element};

use super::Upgrade;
use super::classes::{is_contact_geometry, is_two_frame_linker};
use super::tree::{
    body_path, child_numbers, child_or_new, format_numbers, into_children, position, remove, visit,
};

/// Adds a `PhysicalOffsetFrame` to the `frames` of a component. Translation in meters,
/// orientation as body-fixed X-Y-Z angles in radians.
pub fn add_offset_frame(
    owner: &mut Element,
    up: &mut Upgrade<'_>,
    name: &str,
    parent: &str,
    translation: [f64; 3],
    orientation: [f64; 3],
    line: u32,
) {
    let translation = translation.map(|v| up.as_opensim_keeps(v, line));
    let orientation = orientation.map(|v| up.as_opensim_keeps(v, line));
    let mut frame = Element::new("PhysicalOffsetFrame", line);
    frame.set_attribute("name", name);
    frame.push(Element::with_text("socket_parent", parent, line));
    frame.push(Element::with_text("translation", format_numbers(&translation), line));
    frame.push(Element::with_text("orientation", format_numbers(&orientation), line));
    if let Some(frames) = child_or_new(owner, "frames") {
        frames.push(frame);
    }
}

/// Properties that named a body, by class, and the version in which each became a socket.
/// Source: the classes' `updateFromXMLNode` in OpenSim 4.6.
const BODY_NAMES: &[(u32, &str, &str, &str)] = &[
    (30500, "PointConstraint", "body_1", "socket_body_1"),
    (30500, "PointConstraint", "body_2", "socket_body_2"),
    (30500, "ConstantDistanceConstraint", "body_1", "socket_body_1"),
    (30500, "ConstantDistanceConstraint", "body_2", "socket_body_2"),
    (30500, "PointOnLineConstraint", "line_body", "socket_line_body"),
    (30500, "PointOnLineConstraint", "follower_body", "socket_follower_body"),
    (30500, "RollingOnSurfaceConstraint", "rolling_body", "socket_rolling_body"),
    (30500, "RollingOnSurfaceConstraint", "surface_body", "socket_surface_body"),
    (30500, "PointToPointSpring", "body1", "socket_body1"),
    (30500, "PointToPointSpring", "body2", "socket_body2"),
    (30501, "Marker", "body", "socket_parent_frame"),
    (30506, "PrescribedForce", "body", "socket_frame"),
];

/// Turns names of bodies into sockets: constraints, springs, markers, contact geometry,
/// bushings, prescribed forces (30500 to 30506); and lists of geometry into components.
pub fn references(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        let version = up.version;
        for (until, class, old, new) in BODY_NAMES {
            if e.tag == *class && version < *until {
                name_to_socket(e, old, new);
            }
        }
        if version < 30505 && is_contact_geometry(&e.tag) {
            name_to_socket(e, "body_name", "socket_frame");
        }
        if version < 30505 && is_two_frame_linker(&e.tag) {
            link_frames(e, up);
        }
        // Version 30506 gave up lists of geometry; a body's drawings became its components.
        if matches!(e.tag.as_str(), "Body" | "Ground" | "Model")
            && let Some(i) = position(e, "geometry")
            && let Content::Element(list) = e.content.remove(i)
            && let Some(components) = child_or_new(e, "components")
        {
            components.content.extend(into_children(list).map(Content::Element));
        }
    });
}

/// Replaces a property that names a body by a socket that holds its path.
pub fn name_to_socket(e: &mut Element, old: &str, new: &str) {
    if let Some(name) = e.child_mut(old) {
        let path = body_path(&name.text());
        name.tag = new.to_string();
        name.set_text(path);
    }
}

/// Bushings and weld constraints: frames of their own where they were placed off the origin of
/// their body.
fn link_frames(e: &mut Element, up: &mut Upgrade<'_>) {
    for i in ["1", "2"] {
        let Some(body) = remove(e, &format!("body_{i}")) else { continue };
        let (location, orientation) = (format!("location_body_{i}"), format!("orientation_body_{i}"));
        let p = child_numbers::<3>(e, &location).unwrap_or_default();
        let angles = child_numbers::<3>(e, &orientation).unwrap_or_default();
        remove(e, &location);
        remove(e, &orientation);
        let name = super::tree::clean_name(&body.text());
        let path = body_path(&name);
        let at_origin = p.iter().chain(&angles).all(|v| *v == 0.0);
        let connectee = match at_origin {
            true => path,
            false => {
                let frame = format!("{name}_offset");
                add_offset_frame(e, up, &frame, &path, p, angles, body.line);
                frame
            }
        };
        e.push(Element::with_text(format!("socket_frame{i}"), connectee, body.line));
    }
}

/// Moves the frames of a model's `FrameSet` to its `components` (30512).
pub fn frame_sets(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |model| {
        if model.tag != "Model" {
            return;
        }
        let Some(mut set) = remove(model, "FrameSet") else { return };
        let Some(objects) = set.take_child("objects") else { return };
        if let Some(components) = child_or_new(model, "components") {
            components.content.extend(into_children(objects).map(Content::Element));
        }
    });
}
