//! Versions 30509 and 30511: `isDisabled` became a positive statement, named after the class.

use soleus_model::Element;

use super::Upgrade;
use super::tree::{truth, visit};

/// Replaces `isDisabled` by its opposite: `isEnforced` for constraints, `enabled` for
/// controllers and probes, `appliesForce` for forces.
pub fn negate(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        let is_probe = e.tag.ends_with("Probe");
        // Probes followed two versions later.
        if !is_probe && up.version >= 30509 {
            return;
        }
        let new = match e.tag.as_str() {
            tag if tag.ends_with("Constraint") => "isEnforced",
            tag if is_probe || tag.ends_with("Controller") || tag == "CMC" => "enabled",
            _ => "appliesForce",
        };
        if let Some(switch) = e.child_mut("isDisabled") {
            let disabled = truth(&switch.text());
            switch.tag = new.to_string();
            switch.set_text(if disabled { "false" } else { "true" });
        }
    });
}
