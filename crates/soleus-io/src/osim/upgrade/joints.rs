//! Joints: offset frames instead of locations, a list of coordinates, no reversed joints.

use soleus_model::{Content, Element};

use super::Upgrade;
use super::classes::is_joint;
use super::frames::add_offset_frame;
use super::tree::{body_path, child_numbers, into_children, position, remove, truth, visit};

/// Replaces the location and orientation of a joint in its two bodies by two frames that the
/// joint owns, each named after its body (30505).
pub fn offset_frames(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |joint| {
        if !is_joint(&joint.tag) {
            return;
        }
        joint.rename_child("location", "location_in_child");
        joint.rename_child("orientation", "orientation_in_child");
        joint.rename_child("socket_parent_body", "socket_parent_frame");
        joint.rename_child("socket_child_body", "socket_child_frame");
        for side in ["parent", "child"] {
            let socket = format!("socket_{side}_frame");
            // Without a socket this is a sample in a `defaults` section; it has no bodies yet.
            let Some(path) = joint.child_text(&socket) else { continue };
            let body = path.rsplit('/').next().unwrap_or_default().to_string();
            let (location, orientation) = (format!("location_in_{side}"), format!("orientation_in_{side}"));
            let p = child_numbers::<3>(joint, &location).unwrap_or_default();
            let angles = child_numbers::<3>(joint, &orientation).unwrap_or_default();
            let line = joint.child(&location).map_or(joint.line, |e| e.line);
            remove(joint, &location);
            remove(joint, &orientation);
            let name = format!("{body}_offset");
            add_offset_frame(joint, up, &name, &body_path(&body), p, angles, line);
            if let Some(socket) = joint.child_mut(&socket) {
                socket.set_text(name);
            }
        }
    });
}

/// Replaces `CoordinateSet/objects` by `coordinates` (30507).
pub fn coordinates(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |joint| {
        if !is_joint(&joint.tag) {
            return;
        }
        let Some(at) = position(joint, "CoordinateSet") else { return };
        let Content::Element(mut set) = joint.content.remove(at) else { return };
        let Some(objects) = set.take_child("objects") else { return };
        let mut list = Element::new("coordinates", set.line);
        for coordinate in into_children(objects).filter(|e| e.tag == "Coordinate") {
            list.push(coordinate);
        }
        if !list.content.is_empty() {
            joint.content.insert(at, Content::Element(list));
        }
    });
}

/// Swaps the frames of reversed joints; drops `reverse`, and with it the `motion_type` of
/// coordinates, which the joint decides since (30514).
pub fn reverse(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if e.tag == "Coordinate" {
            remove(e, "motion_type");
        }
        if !is_joint(&e.tag) {
            return;
        }
        let Some(reverse) = remove(e, "reverse") else { return };
        if !truth(&reverse.text()) {
            return;
        }
        let parent = e.child_text("socket_parent_frame").unwrap_or_default();
        let child = e.child_text("socket_child_frame").unwrap_or_default();
        if let Some(s) = e.child_mut("socket_parent_frame") {
            s.set_text(child);
        }
        if let Some(s) = e.child_mut("socket_child_frame") {
            s.set_text(parent);
        }
    });
}
