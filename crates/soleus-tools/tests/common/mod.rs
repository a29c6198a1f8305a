//! OpenSim's recorded results, which lie beside the checkout or not at all.
#![allow(dead_code)] // Each test file uses a part of this.

use soleus_math::Table;
use std::path::{Path, PathBuf};

/// The folder of recorded pipelines; says so if it is not there.
pub fn pipelines() -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/pipelines"));
    if !root.is_dir() {
        println!("skipped: ../shared not found");
    }
    root.is_dir().then(|| root.to_path_buf())
}

/// Reads a file.
pub fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads a table.
pub fn table(path: &Path) -> Table {
    soleus_io::table::read(&bytes(path), &path.display().to_string()).0.expect("a table")
}
