//! What was computed from what: a step is done again only if its input, its settings or the program changed.

use crate::failure::Failure;
use crate::load;
use serde::{Deserialize, Serialize};
use soleus_model::Element;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A digest of bytes: FNV-1a with 128 bits (Fowler, Noll, Vo). It tells files apart; it protects nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u128);

impl Digest {
    /// The digest of nothing.
    pub fn new() -> Self {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
    /// The digest with these bytes, and their number, appended.
    pub fn with(mut self, bytes: &[u8]) -> Self {
        for b in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(*b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
        self
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// What is remembered of a step.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// Digest of input and settings.
    input: String,
    /// Digest of each file that was written.
    output: BTreeMap<String, String>,
}

/// The memory of a study, a folder of small files.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// In the folder of results.
    pub fn new(results: &Path) -> Self {
        Cache { folder: results.join(".soleus") }
    }

    /// Whether a step with that input was done, and all it wrote is still there as it was.
    pub fn has(&self, step: &str, input: Digest) -> bool {
        let Ok(text) = std::fs::read_to_string(self.file(step)) else { return false };
        let Ok(memory) = serde_json::from_str::<Memory>(&text) else { return false };
        memory.input == input.to_string()
            && !memory.output.is_empty()
            && memory.output.iter().all(|(file, digest)| {
                std::fs::read(file).is_ok_and(|bytes| Digest::new().with(&bytes).to_string() == *digest)
            })
    }

    /// Remembers that a step was done.
    pub fn remember(&self, step: &str, input: Digest, output: &[PathBuf]) -> Result<(), Failure> {
        let mut memory = Memory { input: input.to_string(), ..Memory::default() };
        for file in output {
            let bytes = std::fs::read(file).map_err(|e| Failure::read(file, e))?;
            memory.output.insert(file.display().to_string(), Digest::new().with(&bytes).to_string());
        }
        std::fs::create_dir_all(&self.folder).map_err(|e| Failure::write(&self.folder, e))?;
        let text = serde_json::to_string_pretty(&memory).unwrap_or_default();
        load::write_whole(&self.file(step), &text)
    }

    /// Forgets a step, before it is done anew.
    pub fn forget(&self, step: &str) {
        // If it was never known, nothing is to be forgotten.
        let _ = std::fs::remove_file(self.file(step));
    }

    fn file(&self, step: &str) -> PathBuf {
        self.folder.join(format!("{}.json", step.replace(['/', ' '], "_")))
    }
}

/// The digest of the program's version, a step's settings, and its input files with all files that XML files among them
/// name.
pub fn digest(settings: &str, files: &[&Path]) -> Result<Digest, Failure> {
    let mut d = Digest::new().with(env!("CARGO_PKG_VERSION").as_bytes()).with(settings.as_bytes());
    for file in files {
        d = with_file(d, file, 2)?;
    }
    Ok(d)
}

fn with_file(d: Digest, file: &Path, depth: usize) -> Result<Digest, Failure> {
    let bytes = std::fs::read(file).map_err(|e| Failure::read(file, e))?;
    let mut d = d.with(file.as_os_str().as_encoded_bytes()).with(&bytes);
    let is_setup = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("xml"));
    if is_setup && depth > 0 {
        let (document, _) = soleus_io::osim::read_document(&bytes, &file.display().to_string());
        let mut named = Vec::new();
        if let Some(document) = &document {
            collect(&document.root, file, &mut named);
        }
        for other in named {
            d = with_file(d, &other, depth - 1)?;
        }
    }
    Ok(d)
}

/// Files that exist under a name that an element holds, relative to the folder of the file.
fn collect(e: &Element, file: &Path, named: &mut Vec<PathBuf>) {
    let mut any = false;
    for child in e.children() {
        any = true;
        collect(child, file, named);
    }
    // Results are no input.
    if any || e.tag.starts_with("output") || e.tag == "results_directory" {
        return;
    }
    for word in e.text().split_whitespace().filter(|w| w.contains('.')) {
        let other = crate::setup::beside(file, word);
        if other.is_file() && !named.contains(&other) {
            named.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_digest() {
        // The offset basis, and that order and borders count.
        assert_eq!(Digest::new().to_string(), "6c62272e07bb014262b821756295c58d");
        assert_ne!(Digest::new().with(b"ab").with(b"c"), Digest::new().with(b"a").with(b"bc"));
        assert_eq!(Digest::new().with(b"abc"), Digest::new().with(b"abc"));
    }
}
