//! Changes to the markers of a model document.

use crate::document::{Content, Document, Element};
use soleus_math::Vec3;
use std::collections::HashSet;

/// The `Marker` elements of a document with a `MarkerSet`, in file order; `None` if it has none.
pub fn markers_of(doc: &Document) -> Option<Vec<Element>> {
    let set = if doc.root.tag == "MarkerSet" { Some(&doc.root) } else { doc.root.child("MarkerSet") };
    let set = set.or_else(|| doc.root.child("Model").and_then(|m| m.child("MarkerSet")))?;
    let list = set.child("objects").into_iter().flat_map(Element::children);
    Some(list.filter(|e| e.tag == "Marker").cloned().collect())
}

/// Adds markers to a model: markers with the same name are replaced, and all are moved to the end in the given order,
/// as in OpenSim's `Model::updateMarkerSet`.
pub fn update_markers(doc: &mut Document, new: Vec<Element>) {
    let Some(list) = list_mut(doc) else { return };
    let names: HashSet<&str> = new.iter().map(Element::name).collect();
    list.content.retain(|c| !matches!(c, Content::Element(e) if names.contains(e.name())));
    list.content.extend(new.into_iter().map(Content::Element));
}

/// Removes the markers whose names do not satisfy `keep`; returns the removed names.
pub fn retain_markers(doc: &mut Document, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let mut removed = Vec::new();
    let Some(list) = list_mut(doc) else { return removed };
    list.content.retain(|c| match c {
        Content::Element(e) if !keep(e.name()) => {
            removed.push(e.name().to_string());
            false
        }
        _ => true,
    });
    removed
}

/// Renames a marker.
pub fn rename_marker(doc: &mut Document, name: &str, new: &str) {
    let Some(list) = list_mut(doc) else { return };
    for marker in list.children_mut().filter(|e| e.name() == name) {
        marker.set_attribute("name", new);
    }
}

/// Moves a marker to a location in its frame, m.
pub fn move_marker(doc: &mut Document, name: &str, place: Vec3<f64>) {
    let Some(list) = list_mut(doc) else { return };
    for marker in list.children_mut().filter(|e| e.name() == name) {
        let text = format!("{} {} {}", place.x, place.y, place.z);
        match marker.child_mut("location") {
            Some(e) => e.set_text(text),
            None => {
                let line = marker.line;
                marker.push(Element::with_text("location", text, line));
            }
        }
    }
}

/// A separate document with the markers of a model.
pub fn marker_set_document(doc: &Document) -> Document {
    let mut objects = Element::new("objects", 0);
    objects.content = markers_of(doc).unwrap_or_default().into_iter().map(Content::Element).collect();
    let mut set = Element::new("MarkerSet", 0);
    set.set_attribute("name", "markerset");
    set.push(objects);
    let mut root = Element::new("OpenSimDocument", 0);
    root.set_attribute("Version", doc.version.to_string());
    root.push(set);
    Document { version: doc.version, root, ..Document::default() }
}

/// The list of markers of a model; made if the model has none.
fn list_mut(doc: &mut Document) -> Option<&mut Element> {
    let model = if doc.root.tag == "Model" { &mut doc.root } else { doc.root.child_mut("Model")? };
    if model.child("MarkerSet").is_none() {
        let mut set = Element::new("MarkerSet", model.line);
        set.set_attribute("name", "markerset");
        model.push(set);
    }
    let set = model.child_mut("MarkerSet")?;
    if set.child("objects").is_none() {
        let line = set.line;
        set.push(Element::new("objects", line));
    }
    set.child_mut("objects")
}
