//! Sockets, by any of the four names they had.
//!
//! ```text
//! < 30508  <connectors><Connector_PhysicalFrame_ name="parent"><connectee_name>..
//! < 30510  <connector_parent_connectee_name>..
//! < 30517  <socket_parent_connectee_name>..        <input_x_connectee_names>..
//!   30517  <socket_parent>..                       <input_x>..
//! ```

use soleus_model::{Content, Element};

use super::Upgrade;
use super::tree::{into_children, position, visit};

/// Rewrites every socket and input in the form of 30517.
pub fn flatten(root: &mut Element, up: &mut Upgrade<'_>) {
    let version = up.version;
    visit(root, &mut |e| {
        if version < 30508 {
            lift_connectors(e);
        }
        for child in e.children_mut() {
            if let Some(tag) = current_tag(&child.tag) {
                child.tag = tag;
            }
        }
    });
}

/// Replaces a `connectors` list by one element for each connector.
fn lift_connectors(e: &mut Element) {
    // A list whose members name no connectee, or could not name a tag, is something else.
    let is_connector = |c: &Element| {
        let name = c.name();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(plain) && c.child("connectee_name").is_some()
    };
    let is_list = |c: &Element| c.children().all(is_connector);
    if !e.child("connectors").is_some_and(is_list) {
        return;
    }
    let Some(at) = position(e, "connectors") else { return };
    let Content::Element(list) = e.content.remove(at) else { return };
    let lifted = into_children(list).map(|connector| {
        let connectee = connector.child_text("connectee_name").unwrap_or_default();
        Content::Element(Element::with_text(
            format!("socket_{}", connector.name()),
            connectee,
            connector.line,
        ))
    });
    e.content.splice(at..at, lifted.collect::<Vec<_>>());
}

/// The present name of a socket or input tag; `None` when it is neither or already present-day.
fn current_tag(tag: &str) -> Option<String> {
    let (kind, rest) = match tag {
        _ if tag.starts_with("connector_") => ("socket_", &tag["connector_".len()..]),
        _ if tag.starts_with("socket_") => ("socket_", &tag["socket_".len()..]),
        _ if tag.starts_with("input_") => ("input_", &tag["input_".len()..]),
        _ => return None,
    };
    let name = rest
        .strip_suffix("_connectee_names")
        .or_else(|| rest.strip_suffix("_connectee_name"))
        .unwrap_or(rest);
    let current = format!("{kind}{name}");
    (current != tag).then_some(current)
}
