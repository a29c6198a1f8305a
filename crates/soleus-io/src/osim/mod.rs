//! OpenSim's XML files: models, setup files, marker and force sets.
//!
//! ```text
//! bytes ──read_document──▶ Document ──upgrade──▶ Document (40600) ──write_document──▶ text
//! ```

mod reader;
pub mod upgrade;
mod writer;

pub use reader::{MAX_DEPTH, read_document};
pub use upgrade::{LATEST_VERSION, UpgradeOptions, upgrade, upgrade_with};
pub use writer::write_document;

/// Reads, upgrades and builds a model in one go. `None` when the file has errors, which are in the
/// diagnostics.
pub fn read_model(bytes: &[u8], file: &str) -> (Option<soleus_model::Model>, soleus_model::Diagnostics) {
    let (doc, mut diagnostics) = read_document(bytes, file);
    let Some(mut doc) = doc else { return (None, diagnostics) };
    upgrade(&mut doc, &mut diagnostics);
    let model = soleus_model::build::build(&doc, &mut diagnostics);
    (model, diagnostics)
}
