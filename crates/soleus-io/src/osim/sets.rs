//! Changes to the sets of a model document before the model is built.

use soleus_model::{Document, Element};

/// The model of a document.
fn model(document: &mut Document) -> Option<&mut Element> {
    if document.root.tag == "Model" { Some(&mut document.root) } else { document.root.child_mut("Model") }
}

/// Members of the set `tag` (`ForceSet`, …) in a file or in its model; `None` if there is no such set.
pub fn set_members(document: &Document, tag: &str) -> Option<Vec<Element>> {
    let root = &document.root;
    let set = match root.tag == tag {
        true => root,
        false => root.child(tag).or_else(|| root.child("Model").and_then(|m| m.child(tag)))?,
    };
    let objects = set.child("objects");
    Some(objects.into_iter().flat_map(Element::children).cloned().collect())
}

/// Removes all members of a set of the model.
pub fn clear_set(document: &mut Document, tag: &str) {
    let objects = model(document).and_then(|m| m.child_mut(tag)).and_then(|s| s.child_mut("objects"));
    if let Some(objects) = objects {
        objects.content.clear();
    }
}

/// Adds members to a set of the model, which is created if necessary. Both must be of the same version: upgrade first.
///
/// The new members lose their line numbers, which refer to another file; members without a name get one.
pub fn add_to_set(document: &mut Document, tag: &str, members: Vec<Element>) {
    let Some(model) = model(document) else { return };
    if model.child(tag).is_none() {
        let mut set = Element::new(tag, 0);
        set.set_attribute("name", tag.to_ascii_lowercase());
        model.push(set);
    }
    let Some(set) = model.child_mut(tag) else { return };
    if set.child("objects").is_none() {
        set.push(Element::new("objects", 0));
    }
    let Some(objects) = set.child_mut("objects") else { return };
    for mut member in members {
        forget_lines(&mut member);
        if member.name().is_empty() {
            let number = objects.children().count();
            let name = format!("{}_{number}", member.tag.to_ascii_lowercase());
            member.set_attribute("name", name);
        }
        objects.push(member);
    }
}

fn forget_lines(e: &mut Element) {
    e.line = 0;
    e.children_mut().for_each(forget_lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::osim::read_document;

    #[test]
    fn analytic_members_move_from_file_to_model() {
        let read = |text: &str| read_document(text.as_bytes(), "x").0.unwrap();
        let mut model = read(
            "<OpenSimDocument Version=\"40600\"><Model><ForceSet><objects><A name=\"a\"/></objects></ForceSet></Model>\
             </OpenSimDocument>",
        );
        let file = read(
            "<OpenSimDocument Version=\"40600\"><ForceSet><objects><B/></objects></ForceSet></OpenSimDocument>",
        );
        assert_eq!(set_members(&file, "ControllerSet"), None);
        let new = set_members(&file, "ForceSet").unwrap();
        add_to_set(&mut model, "ForceSet", new.clone());
        let names = |d: &Document, tag| -> Vec<String> {
            set_members(d, tag).unwrap().iter().map(|e| e.name().to_string()).collect()
        };
        assert_eq!(names(&model, "ForceSet"), ["a", "b_1"]);
        clear_set(&mut model, "ForceSet");
        assert!(names(&model, "ForceSet").is_empty());
        add_to_set(&mut model, "ControllerSet", new);
        assert_eq!(names(&model, "ControllerSet"), ["b_0"]);
    }
}
