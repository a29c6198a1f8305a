//! Bodies: one inertia property, joints in a set of their own, ground no longer a body.

use soleus_model::{Content, Element};

use super::Upgrade;
use super::tree::{body_path, format_numbers, into_children, position, remove, visit};

/// The order of the numbers in `inertia`, and what OpenSim takes for a missing one [kg m²].
const INERTIA: [(&str, f64); 6] = [
    ("inertia_xx", 1.0),
    ("inertia_yy", 1.0),
    ("inertia_zz", 1.0),
    ("inertia_xy", 0.0),
    ("inertia_xz", 0.0),
    ("inertia_yz", 0.0),
];

/// Gathers the six moments and products of inertia of a body in one property (30500).
pub fn inertia(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if e.tag != "Body" || e.child("inertia").is_some() {
            return;
        }
        let mut line = e.line;
        let mut at = None;
        let values = INERTIA.map(|(tag, default)| {
            let here = position(e, tag);
            match remove(e, tag) {
                Some(old) => {
                    line = if at.is_none() { old.line } else { line };
                    at = at.or(here);
                    let v = old.text().parse().unwrap_or(default);
                    up.as_opensim_keeps(v, old.line)
                }
                None => default,
            }
        });
        let new = Element::with_text("inertia", format_numbers(&values), line);
        let at = at.unwrap_or(e.content.len()).min(e.content.len());
        e.content.insert(at, Content::Element(new));
    });
}

/// Moves the joint of every body to the model's `JointSet`, and turns the body named ground
/// into `Ground` (30501).
pub fn ground_and_joints(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |model| {
        if model.tag == "Model" {
            split_bodies(model);
        }
    });
}

fn split_bodies(model: &mut Element) {
    let Some(at) = position(model, "BodySet") else { return };
    let Some(set) = model.child_mut("BodySet") else { return };
    let line = set.line;
    let Some(objects) = set.child_mut("objects") else { return };

    // Ground keeps what is drawn and wrapped on it; it has no mass.
    let is_ground = |c: &Content| matches!(c, Content::Element(e) if e.tag == "Body" && e.name() == "ground");
    let ground = match objects.content.iter().position(is_ground).map(|i| objects.content.remove(i)) {
        Some(Content::Element(body)) => {
            let mut ground = Element::new("Ground", body.line);
            ground.set_attribute("name", "ground");
            let kept = ["geometry", "VisibleObject", "WrapObjectSet", "attached_geometry", "components"];
            for part in into_children(body).filter(|e| kept.contains(&e.tag.as_str())) {
                ground.push(part);
            }
            Some(ground)
        }
        _ => None,
    };

    // Each body held the joint to its parent.
    let mut joints = Element::new("objects", line);
    for body in objects.children_mut().filter(|e| e.tag == "Body") {
        let child = body_path(body.name());
        let Some(holder) = remove(body, "Joint") else { continue };
        let Some(mut joint) = into_children(holder).next() else { continue };
        let parent = remove(&mut joint, "parent_body");
        let parent_line = parent.as_ref().map_or(joint.line, |e| e.line);
        let parent = parent.map_or("ground".to_string(), |e| e.text());
        let sockets = [("socket_parent_frame", body_path(&parent)), ("socket_child_frame", child)];
        for (i, (tag, path)) in sockets.into_iter().enumerate() {
            joint.content.insert(i, Content::Element(Element::with_text(tag, path, parent_line)));
        }
        joints.push(joint);
    }

    // Files of this age have no `JointSet`; one that is there all the same keeps its joints.
    match model.child_mut("JointSet").and_then(|s| s.child_mut("objects")) {
        Some(present) => {
            let both = joints.content.into_iter().chain(std::mem::take(&mut present.content));
            present.content = both.collect();
        }
        None => {
            let mut set = Element::new("JointSet", line);
            set.set_attribute("name", "jointset");
            set.push(joints);
            model.content.insert(at + 1, Content::Element(set));
        }
    }
    if let Some(ground) = ground {
        model.content.insert(at, Content::Element(ground));
    }
}
