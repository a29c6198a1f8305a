//! Versions 1.x: the dynamics engine between model and bodies, and joints as lists of axes.

use soleus_math::Vec3;
use soleus_model::{Content, Element};

use super::Upgrade;
use super::tree::{child_numbers, format_numbers, into_children, position, remove, truth, visit};

/// Moves what `Model/DynamicsEngine/SimbodyEngine` holds up to the model.
pub fn lift_engine(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if e.tag != "Model" || e.child("DynamicsEngine").is_none() {
            return;
        }
        let Some(at) = position(e, "DynamicsEngine") else { return };
        let Content::Element(mut holder) = e.content.remove(at) else { return };
        match holder.take_child("SimbodyEngine") {
            Some(engine) => {
                let lifted: Vec<Content> = engine.content;
                e.content.splice(at..at, lifted);
            }
            // Another engine (SD/FAST was one): nothing here can read it, so it stays.
            None => e.content.insert(at, Content::Element(holder)),
        }
    });
}

/// The six slots of a spatial transform with the axes an empty one has.
const SLOTS: [(&str, [f64; 3]); 6] = [
    ("rotation1", [1.0, 0.0, 0.0]),
    ("rotation2", [0.0, 1.0, 0.0]),
    ("rotation3", [0.0, 0.0, 1.0]),
    ("translation1", [1.0, 0.0, 0.0]),
    ("translation2", [0.0, 1.0, 0.0]),
    ("translation3", [0.0, 0.0, 1.0]),
];

/// Turns a joint's `TransformAxisSet`, up to three rotations and three translations in any
/// order, into a `SpatialTransform` of six slots.
pub fn transform_axes(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |joint| {
        if !super::classes::is_joint(&joint.tag) || joint.child("SpatialTransform").is_some() {
            return;
        }
        let Some(mut set) = remove(joint, "TransformAxisSet") else { return };
        let line = set.line;
        let mut rotations = Vec::new();
        let mut translations = Vec::new();
        for axis in set.take_child("objects").into_iter().flat_map(into_children) {
            if axis.tag != "TransformAxis" {
                continue;
            }
            match truth(&axis.child_text("is_rotation").unwrap_or_default()) {
                true => rotations.push(axis),
                false => translations.push(axis),
            }
        }
        if rotations.len() > 3 || translations.len() > 3 {
            up.diags.error(
                line,
                joint.name(),
                format!("joint `{}` has more than three rotations or translations", joint.name()),
                "split it into two joints",
            );
        }
        let mut transform = Element::new("SpatialTransform", line);
        fill(&mut transform, rotations, &SLOTS[..3]);
        fill(&mut transform, translations, &SLOTS[3..]);
        joint.push(transform);
    });
}

/// Puts the given axes into the first of three slots and constants about independent axes into
/// the rest.
fn fill(transform: &mut Element, given: Vec<Element>, slots: &[(&str, [f64; 3])]) {
    let mut axes: [Vec3<f64>; 3] = std::array::from_fn(|i| Vec3::from_array(slots[i].1));
    let count = given.len();
    for (axis, old) in axes.iter_mut().zip(&given) {
        if let Some(given) = child_numbers::<3>(old, "axis") {
            *axis = Vec3::from_array(given);
        }
    }
    // OpenSim completes one or two given axes to three that span space: the third is the cross
    // product, of any length; a second one along the first is exchanged for the third.
    match count {
        2 => axes[2] = axes[0].cross(axes[1]),
        1 => {
            if (axes[0].dot(axes[1]).abs() - 1.0).abs() < 1e-4 {
                axes[1] = axes[2];
            }
            axes[2] = axes[1].cross(axes[0]);
        }
        _ => {}
    }
    let mut given = given.into_iter();
    for ((name, _), axis) in slots.iter().zip(axes) {
        let slot = match given.next() {
            Some(mut old) => {
                old.set_attribute("name", *name);
                remove(&mut old, "is_rotation");
                old.rename_child("coordinate", "coordinates");
                old
            }
            None => {
                let mut new = Element::new("TransformAxis", transform.line);
                new.set_attribute("name", *name);
                new.push(Element::new("coordinates", transform.line));
                new.push(Element::with_text("axis", format_numbers(&axis.to_array()), transform.line));
                let mut function = Element::new("function", transform.line);
                let mut constant = Element::new("Constant", transform.line);
                constant.push(Element::with_text("value", "0", transform.line));
                function.push(constant);
                new.push(function);
                new
            }
        };
        transform.push(slot);
    }
}
