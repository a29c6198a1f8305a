//! `soleus upgrade`: any version in, 40600 out.

use crate::failure::Failure;
use crate::load;
use soleus_io::osim::{read_document, upgrade, write_document};
use std::path::Path;

/// Reads `old`, upgrades it, and writes it whole.
pub fn run(old: &Path, out: &Path) -> Result<(), Failure> {
    let bytes = std::fs::read(old).map_err(|e| Failure::read(old, e))?;
    let (doc, mut diagnostics) = read_document(&bytes, &old.display().to_string());
    let Some(mut doc) = doc else {
        load::report(&diagnostics);
        return Err(load::errors(old, &diagnostics));
    };
    let before = doc.version;
    upgrade(&mut doc, &mut diagnostics);
    load::report(&diagnostics);
    if diagnostics.has_errors() {
        return Err(load::errors(old, &diagnostics));
    }
    load::write_whole(out, &write_document(&doc))?;
    eprintln!("{}: version {before} -> {} in {}", old.display(), doc.version, out.display());
    Ok(())
}
