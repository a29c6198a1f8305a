//! OpenSim's recorded results, which lie beside the checkout or not at all.

use std::path::{Path, PathBuf};

/// The folder of the reference data; says so if it is not there.
pub fn reference() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    if !folder.is_dir() {
        println!("skipped: ../shared not found");
    }
    folder.is_dir().then_some(folder)
}
