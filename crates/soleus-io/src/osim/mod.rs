//! OpenSim's XML files: models, setup files, marker and force sets.
//!
//! ```text
//! bytes ──read_document──▶ Document ──upgrade──▶ Document (40600) ──write_document──▶ text
//! ```

mod reader;
mod sets;
pub mod upgrade;
mod writer;

pub use reader::{MAX_DEPTH, read_document, read_elements};
pub use sets::{add_to_set, clear_set, set_members};
pub use upgrade::{LATEST_VERSION, UpgradeOptions, upgrade, upgrade_with};
pub(crate) use writer::escape;
pub use writer::{write_document, write_element};

use soleus_model::{Diagnostics, Document, Element, Model};

/// Reads a model file of any version that OpenSim reads: bytes to document, document upgraded to the
/// current version, document built into a model. `file` is the name for messages; nothing is opened.
///
/// The model is `None` if and only if the diagnostics contain an error.
pub fn read_model(bytes: &[u8], file: &str) -> (Option<Model>, Diagnostics) {
    let (document, mut diagnostics) = read_elements(bytes, file);
    let Some(mut document) = document else { return (None, diagnostics) };
    let file_version = document.version;
    upgrade(&mut document, &mut diagnostics);
    let mut model = soleus_model::build(&document, &mut diagnostics);
    if let Some(model) = &mut model {
        model.file_version = file_version;
    }
    (model, diagnostics)
}

/// Builds a model from the `Model` element of another file, such as a study. `file` is the name for messages.
///
/// The model is `None` if and only if the diagnostics contain an error.
pub fn read_model_element(model: &Element, file: &str) -> (Option<Model>, Diagnostics) {
    let mut diagnostics = Diagnostics::new(file.to_string());
    let mut root = Element::new("OpenSimDocument", model.line);
    root.set_attribute("Version", LATEST_VERSION.to_string());
    root.push(model.clone());
    let document = Document { file: file.to_string(), version: LATEST_VERSION, root, ..Document::default() };
    let model = soleus_model::build(&document, &mut diagnostics);
    (model, diagnostics)
}
