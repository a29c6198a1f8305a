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
