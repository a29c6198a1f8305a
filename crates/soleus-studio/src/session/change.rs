//! Changes of a model that is open. Who undoes them keeps what was there before.

use super::model::{OpenModel, described};
use super::{Fields, Refusal, Session, wrong};
use crate::message::Answer;
use serde_json::{Value, json};
use soleus::Context;
use soleus::Document;
use soleus::engine::io::osim::write_document;
use soleus::engine::model::components::{PropertyValue, element, element_mut, set_property};
use std::path::Path;
use std::sync::Arc;

impl Session {
    /// Properties of what is at a path: name, kind, text, and whether the file has it; and the parts inside that have properties of their own.
    pub(super) fn properties(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let path = f.text("path")?;
        let Some(place) = m.components.find_part(&m.document, path) else {
            return wrong(format!("the model has no component `{path}`"));
        };
        let mut list = Vec::new();
        let mut parts = Vec::new();
        let owner = element(&m.document, &place);
        for name in m.components.property_names(&m.document, &place) {
            let child = owner.and_then(|e| e.child(&name));
            let (kind, text) = match m.components.value(&m.document, &place, &name) {
                Some(PropertyValue::Number(x)) => ("number", x.map_or(String::new(), |x| x.to_string())),
                Some(PropertyValue::Boolean(b)) => ("boolean", b.to_string()),
                Some(PropertyValue::Numbers(x)) => {
                    ("numbers", x.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
                }
                Some(PropertyValue::Text(s)) => ("text", s),
                Some(PropertyValue::Words(w)) => ("words", w.join(" ")),
                Some(PropertyValue::Other) | None => {
                    if let Some(e) = child {
                        // A list has its members as parts; an object is one itself.
                        let members = e.child("objects").map_or_else(Vec::new, |o| o.children().collect());
                        match members.is_empty() {
                            false => parts.extend(
                                members
                                    .iter()
                                    .map(|p| json!([named(p), format!("{path}/{name}/{}", named(p)), p.tag])),
                            ),
                            true if e.children().next().is_some() => {
                                parts.push(json!([named(e), format!("{path}/{name}"), e.tag]))
                            }
                            true => {}
                        }
                    }
                    continue;
                }
            };
            // What the file says, digit by digit, where it says something.
            let text =
                child.filter(|e| e.children().next().is_none()).map_or(text, |e| e.text().trim().to_string());
            list.push(json!({ "name": name, "kind": kind, "text": text, "given": child.is_some() }));
        }
        let class = m.components.component(path).map(|c| c.class.clone());
        let class = class.unwrap_or_else(|| owner.map_or(String::new(), |e| e.tag.clone()));
        Ok(json!({ "class": class, "properties": list, "parts": parts, "line": owner.map_or(0, |e| e.line) })
            .into())
    }

    /// Changes a property, or takes it out (`text` is null); the answer has what was there before, and the model as it is now. A value that
    /// makes no sense is refused, and nothing is changed.
    pub(super) fn set(&mut self, f: &Fields) -> Result<Answer, Refusal> {
        let index = f.index("model")?;
        let m = self.model(f)?;
        let (path, name) = (f.text("path")?, f.text("name")?);
        let Some(place) = m.components.find_part(&m.document, path) else {
            return wrong(format!("the model has no component `{path}`"));
        };
        if !m.components.property_names(&m.document, &place).iter().any(|n| n == name) {
            return wrong(format!("`{path}` has no property `{name}`"));
        }
        let before = element(&m.document, &place).and_then(|e| e.child(name)).map(|e| e.text());
        let mut document: Document = (*m.document).clone();
        match f.optional_text("text") {
            Some(text) => {
                set_property(&mut document, &place, name, text);
            }
            None => {
                if let Some(owner) = element_mut(&mut document, &place) {
                    owner.take_child(name);
                }
            }
        }
        let model = self.exchange(index, Arc::new(document))?;
        Ok(json!({ "before": before, "model": model }).into())
    }

    /// Puts another document in the place of that of a model; what it holds then. Nothing is changed where it cannot be built.
    pub(super) fn exchange(&mut self, index: usize, document: Arc<Document>) -> Result<Value, Refusal> {
        let Some(m) = self.models.get(index) else { return wrong("this model is not open") };
        let files = self.files.clone();
        let cx = Context::new(&*files).without_model_warnings();
        let mut changed = OpenModel::build(&cx, &m.path, document)?;
        changed.original = m.original.clone();
        changed.versions = m.versions.clone();
        let value = described(&changed);
        self.models[index] = changed;
        Ok(value)
    }

    /// The model as the text of a file; with `file` it is put among the files.
    pub(super) fn write_model(&mut self, f: &Fields) -> Result<Answer, Refusal> {
        let text = write_document(&self.model(f)?.document);
        if let Some(file) = f.optional_text("file") {
            self.add(Path::new(file), text.as_bytes())?;
        }
        Ok(json!({ "text": text }).into())
    }

    /// Lines of the file that changes made different: those before and those after, with numbers of the lines.
    pub(super) fn difference(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let (before, after) = (write_document(&m.original), write_document(&m.document));
        let lines: Vec<Value> = differing(&before, &after).into_iter().map(Value::from).collect();
        Ok(json!({ "lines": lines }).into())
    }
}

/// Name of an element, or its class.
fn named(e: &soleus::engine::model::Element) -> String {
    if e.name().is_empty() { e.tag.clone() } else { e.name().to_string() }
}

/// Lines that differ, `-` before what is gone and `+` before what is new. Changes of properties alter, add or remove single lines, so
/// that looking a few lines ahead finds where both texts go on together.
fn differing(before: &str, after: &str) -> Vec<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let (mut i, mut k, mut out) = (0, 0, Vec::new());
    while i < a.len() || k < b.len() {
        if i < a.len() && k < b.len() && a[i] == b[k] {
            (i, k) = (i + 1, k + 1);
            continue;
        }
        // The nearest place where both are equal again.
        let meet = (1..AHEAD).flat_map(|s| (0..=s).map(move |d| (d, s - d))).find(|&(d, e)| {
            match (a.get(i + d), b.get(k + e)) {
                (Some(x), Some(y)) => x == y && a.get(i + d + 1) == b.get(k + e + 1),
                (None, None) => true,
                _ => false,
            }
        });
        let (d, e) = meet.unwrap_or((1, 1));
        out.push(format!("@ line {}", i + 1));
        out.extend(a.iter().skip(i).take(d).map(|l| format!("- {}", l.trim())));
        out.extend(b.iter().skip(k).take(e).map(|l| format!("+ {}", l.trim())));
        (i, k) = (i + d, k + e);
    }
    out
}

/// Lines that are looked ahead.
const AHEAD: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_lines_that_differ() {
        assert!(differing("a\nb\nc", "a\nb\nc").is_empty());
        assert_eq!(differing("a\nb\nc", "a\nx\nc"), ["@ line 2", "- b", "+ x"]);
        assert_eq!(differing("a\nb\nc", "a\nb\nx\nc"), ["@ line 3", "+ x"]);
        assert_eq!(differing("a\nb\nc\nd", "a\nc\nd"), ["@ line 2", "- b"]);
        assert_eq!(differing("a", "a\nb"), ["@ line 2", "+ b"]);
    }
}
