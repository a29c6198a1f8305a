//! Version 20301: external loads name columns of a table, not functions of time.

use soleus_model::{Content, Element};

use super::Upgrade;
use super::tree::{position, visit};

/// The function sets of a prescribed force, and the identifier each became.
const IDENTIFIERS: [(&str, &str); 3] = [
    ("forceFunctions", "force_identifier"),
    ("pointFunctions", "point_identifier"),
    ("torqueFunctions", "torque_identifier"),
];

/// Turns the `PrescribedForce`s of external loads into `ExternalForce`s.
///
/// An identifier is the common beginning of three column labels; it is the name of the first
/// function without its last letter (`ground_force_vx` gives `ground_force_v`).
pub fn identifiers(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |loads| {
        if loads.tag != "ExternalLoads" {
            return;
        }
        if let Some(kinematics) = loads.child("external_loads_model_kinematics_file")
            && !matches!(kinematics.text().as_str(), "" | "Unassigned")
        {
            let line = kinematics.line;
            up.diags.warn(
                line,
                "",
                "external_loads_model_kinematics_file has no effect since OpenSim 4.0",
                "",
            );
        }
        let Some(objects) = loads.child_mut("objects") else { return };
        for force in objects.children_mut().filter(|e| e.tag == "PrescribedForce") {
            *force = external_force(force, up);
        }
    });
}

fn external_force(old: &Element, up: &mut Upgrade<'_>) -> Element {
    let mut new = Element::new("ExternalForce", old.line);
    new.set_attribute("name", old.name());
    // The body may be a socket already: its last part is the name.
    let body = old.child_text("body").or_else(|| old.child_text("socket_frame")).unwrap_or_default();
    let body = body.rsplit('/').next().unwrap_or_default();
    new.push(Element::with_text("applied_to_body", body, old.line));
    new.push(Element::with_text("force_expressed_in_body", "ground", old.line));
    new.push(Element::with_text("point_expressed_in_body", "ground", old.line));
    for (set, tag) in IDENTIFIERS {
        let Some(name) = first_function(old, set) else { continue };
        if name.starts_with('#') {
            up.diags.error(
                old.line,
                "",
                format!(
                    "`{}` refers to column {name} of its table by number; only labels are supported",
                    old.name()
                ),
                &format!("give the common prefix of the three column labels in <{tag}>"),
            );
            continue;
        }
        let mut identifier = name;
        identifier.pop();
        new.push(Element::with_text(tag, identifier, old.line));
    }
    new
}

/// The name of the first function of a set, which may stand under its property's name or carry
/// it.
fn first_function(force: &Element, set: &str) -> Option<String> {
    let held = match position(force, set).map(|i| &force.content[i]) {
        Some(Content::Element(property)) => property.child("FunctionSet").or(Some(property)),
        _ => force.children().find(|e| e.tag == "FunctionSet" && e.name() == set),
    };
    held?.child("objects")?.children().next().map(|f| f.name().to_string())
}
