//! OpenSim's recorded results, which lie beside the checkout or not at all.

use soleus_math::Table;
use std::path::{Path, PathBuf};

/// The folder of recorded pipelines.
pub fn pipelines() -> PathBuf {
    PathBuf::from(soleus_testing::shared!("reference/pipelines"))
}

/// Reads a file.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads a table.
pub fn table(path: &Path) -> Table {
    soleus_io::table::read(&bytes(path), &path.display().to_string()).0.expect("a table")
}
