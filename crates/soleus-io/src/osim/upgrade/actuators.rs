//! Version 10905: point and torque actuators act on the body they name, not against it.

use soleus_model::Element;

use super::Upgrade;
use super::tree::{format_numbers, numbers, visit};

/// Renames the properties of actuators before 10905 and turns their direction round.
pub fn flip_directions(root: &mut Element, _: &mut Upgrade<'_>) {
    visit(root, &mut |e| match e.tag.as_str() {
        "PointActuator" => {
            e.rename_child("body_B", "body");
            e.rename_child("point_B", "point");
            e.rename_child("direction_A", "direction");
            // The force was given in ground; the present default is the body's own frame.
            let line = e.line;
            if e.child("force_is_global").is_none() {
                e.push(Element::with_text("force_is_global", "true", line));
            }
            negate(e, "direction", "-1 -0 -0");
        }
        "TorqueActuator" => {
            // The two bodies change places: old A pushed against B.
            e.rename_child("body_A", "bodyB");
            e.rename_child("body_B", "bodyA");
            e.rename_child("direction_A", "axis");
            negate(e, "axis", "-1 -0 -0");
        }
        _ => {}
    });
}

/// Changes the sign of a vector; `default` is what a missing one becomes.
fn negate(e: &mut Element, tag: &str, default: &str) {
    let line = e.line;
    match e.child_mut(tag) {
        Some(v) => {
            let turned: Vec<f64> = numbers(&v.text()).iter().map(|x| -x).collect();
            v.set_text(format_numbers(&turned));
        }
        None => e.push(Element::with_text(tag, default, line)),
    }
}
