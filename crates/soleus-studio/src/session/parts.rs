//! Parts that are added to a model that is open, and taken out of it.

use super::model::OpenModel;
use super::{Fields, Refusal, Session, wrong};
use crate::message::Answer;
use serde_json::{Value, json};
use soleus::addition::{Add, Part};
use soleus::engine::model::components::{element, element_mut};
use soleus::engine::model::{Content, Element};
use soleus::{Context, Document, Error, ModelSource};
use std::sync::Arc;

/// How far from a point of a path, m, another one is put where the way to the next is not in its frame.
const APART_M: f64 = 0.01;

impl Session {
    /// Adds to a model: a `part` as `soleus add` takes it, a `marker`, or another one `like` a component. The answer has the model, the path of
    /// what is new where it is one component, and the versions before and after.
    pub(super) fn add_part(&mut self, cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let (document, path) = if let Some(part) = f.0.get("part") {
            let part: Part = serde_json::from_value(part.clone())
                .map_err(|e| Error::content(&m.path, 0, "", e.to_string(), "docs/guide/add.md"))?;
            let model = ModelSource::Document(m.document.clone());
            (Add { model, parts: vec![part], ..Add::default() }.run(cx)?.document, None)
        } else if let Some(marker) = f.0.get("marker") {
            with_marker(m, marker)?
        } else {
            another(m, f.text("like")?)?
        };
        self.keep(f, document, path)
    }

    /// Takes a component out, or a part of one that is in a list. What others need is refused.
    pub(super) fn remove_part(&mut self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let path = f.text("path")?;
        let (owner, at) = listed(m, path)?;
        let mut document: Document = (*m.document).clone();
        if let Some(list) = element_mut(&mut document, &owner) {
            remove_child(list, at);
        }
        self.keep(f, document, None)
    }

    /// Takes a version of before or after a change of parts.
    pub(super) fn restore(&mut self, f: &Fields) -> Result<Answer, Refusal> {
        let Some(document) = self.model(f)?.versions.get(f.index("version")?).cloned() else {
            return wrong("no such version");
        };
        Ok(json!({ "model": self.exchange(f.index("model")?, document)? }).into())
    }

    fn keep(&mut self, f: &Fields, document: Document, path: Option<String>) -> Result<Answer, Refusal> {
        let index = f.index("model")?;
        let (before, after) = (self.model(f)?.document.clone(), Arc::new(document));
        let model = self.exchange(index, after.clone())?;
        let versions = &mut self.models[index].versions;
        let first = versions.len();
        versions.extend([before, after]);
        Ok(json!({ "model": model, "path": path, "version": [first, first + 1] }).into())
    }
}

/// The list that a component is in, and its number among the children of the list.
fn listed(m: &OpenModel, path: &str) -> Result<(Vec<usize>, usize), Refusal> {
    let Some(mut owner) = m.components.find_part(&m.document, path) else {
        return wrong(format!("the model has no component `{path}`"));
    };
    let at = owner.pop();
    match (element(&m.document, &owner), at) {
        (Some(list), Some(at)) if list.tag == "objects" || list.tag == "components" => Ok((owner, at)),
        _ => {
            wrong(format!("`{path}` is part of another component and cannot be removed or copied on its own"))
        }
    }
}

fn remove_child(list: &mut Element, at: usize) {
    let elements = list.content.iter().enumerate().filter(|(_, c)| matches!(c, Content::Element(_)));
    if let Some((i, _)) = { elements }.nth(at) {
        list.content.remove(i);
    }
}

fn insert_after(list: &mut Element, at: usize, new: Element) {
    let elements = list.content.iter().enumerate().filter(|(_, c)| matches!(c, Content::Element(_)));
    let place = { elements }.nth(at).map_or(list.content.len(), |(i, _)| i + 1);
    list.content.insert(place, Content::Element(new));
}

/// The model with a copy of a component behind it, under a name of its own. A point of a path comes between its original and the next.
fn another(m: &OpenModel, path: &str) -> Result<(Document, Option<String>), Refusal> {
    let (owner, at) = listed(m, path)?;
    let mut document: Document = (*m.document).clone();
    let Some(list) = element_mut(&mut document, &owner) else { return wrong("no such list") };
    let Some(old) = list.children().nth(at) else { return wrong("no such component") };
    let name = free_name(list, old.name());
    let mut new = old.clone();
    new.set_attribute("name", &name);
    if let Some(place) = between(old, list.children().nth(at + 1)) {
        let text: Vec<String> = place.iter().map(f64::to_string).collect();
        match new.child_mut("location") {
            Some(e) => e.set_text(text.join(" ")),
            None => new.push(Element::with_text("location", text.join(" "), 0)),
        }
    }
    insert_after(list, at, new);
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    Ok((document, Some(format!("{parent}/{name}"))))
}

/// A name that no other child has: the old one with a number.
fn free_name(list: &Element, old: &str) -> String {
    let stem = if old.is_empty() { "part" } else { old };
    let is_free = |name: &String| list.children().all(|e| e.name() != name);
    (2..).map(|k| format!("{stem}_{k}")).find(is_free).unwrap_or_default()
}

/// The place of a new point of a path after `point`; nothing for other components.
fn between(point: &Element, next: Option<&Element>) -> Option<[f64; 3]> {
    if !point.tag.ends_with("PathPoint") || point.tag == "MovingPathPoint" {
        return None;
    }
    let numbers = |e: &Element| -> Option<[f64; 3]> {
        let list: Vec<f64> =
            e.child_text("location")?.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        list.try_into().ok()
    };
    let frame = |e: &Element| e.child_text("socket_parent_frame");
    let here = numbers(point)?;
    match next.filter(|n| frame(n) == frame(point)).and_then(numbers) {
        Some(there) => Some(std::array::from_fn(|k| 0.5 * (here[k] + there[k]))),
        None => Some([here[0], here[1] - APART_M, here[2]]),
    }
}

/// The model with one more marker.
fn with_marker(m: &OpenModel, marker: &Value) -> Result<(Document, Option<String>), Refusal> {
    let text = |key: &str| marker.get(key).and_then(Value::as_str).unwrap_or_default();
    let (name, body) = (text("name"), text("body"));
    let refuse = |message: String| Err(Error::content(&m.path, 0, name, message, "").into());
    if name.is_empty() || name.contains(['/', ' ']) {
        return refuse("a marker needs a name without spaces or slashes".into());
    }
    let Some(body) = m.model.bodies.iter().find(|b| b.name == body) else {
        return refuse(format!("the model has no body `{body}`"));
    };
    if m.model.markers.iter().any(|k| k.name == name) {
        return refuse("a marker with this name already exists".into());
    }
    let mut document: Document = (*m.document).clone();
    let root = &mut document.root;
    let model = if root.tag == "Model" { Some(root) } else { root.child_mut("Model") };
    let Some(model) = model else { return wrong("the file contains no `Model`") };
    if model.child("MarkerSet").is_none() {
        model.push(Element::new("MarkerSet", 0));
    }
    let set = model.child_mut("MarkerSet");
    let Some(set) = set else { return wrong("the file contains no markers") };
    if set.child("objects").is_none() {
        set.push(Element::new("objects", 0));
    }
    let Some(list) = set.child_mut("objects") else { return wrong("the file contains no markers") };
    let mut new = Element::new("Marker", 0);
    new.set_attribute("name", name);
    new.push(Element::with_text("socket_parent_frame", &body.path, 0));
    new.push(Element::with_text("location", "0 0 0", 0));
    list.push(new);
    Ok((document, Some(format!("/markerset/{name}"))))
}
