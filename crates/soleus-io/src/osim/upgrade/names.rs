//! Version 30500: every component has a name, and names hold no white space.

use soleus_model::Element;

use super::Upgrade;
use super::classes::is_component;
use super::tree::{clean_name, visit};

/// Removes white space from the names of components, and names those without one after their
/// class.
pub fn complete(root: &mut Element, up: &mut Upgrade<'_>) {
    visit(root, &mut |e| {
        if !is_component(&e.tag) {
            return;
        }
        let name = e.name();
        if name.is_empty() {
            let name = e.tag.to_ascii_lowercase();
            e.set_attribute("name", name);
            return;
        }
        let clean = clean_name(name);
        if clean != name {
            up.diags.warn(
                e.line,
                "",
                format!("the name `{name}` contains white space; it was changed to `{clean}`"),
                "",
            );
            e.set_attribute("name", clean);
        }
    });
}
