//! Upgrade: converts an OpenSim file of any version to version 40600 (OpenSim 4.6).
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, Upgrade};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = Upgrade { file: "old.osim".into(), output: Some("new.osim".into()) };
//! request.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::setup;
use serde::{Deserialize, Serialize};
use soleus_io::osim::{upgrade, write_document};
use soleus_model::Document;
use std::path::PathBuf;

/// Upgrades a model or setup file to the newest version.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Upgrade {
    /// Model or setup file of any version.
    pub file: PathBuf,
    /// Output file.
    pub output: Option<PathBuf>,
}

impl Upgrade {
    /// Reads and upgrades the file.
    pub fn run(&self, cx: &Context) -> Result<Upgraded, Error> {
        let (document, mut log) = setup::document(cx, &self.file)?;
        let before = document.as_ref().map_or(0, |d| d.version);
        let document = document.map(|mut d| {
            upgrade(&mut d, &mut log);
            d
        });
        let document = cx.settle(&self.file, document, log)?;
        if let Some(out) = &self.output {
            let (file, out) = (self.file.display(), out.display());
            cx.note(format!("{file}: version {before} -> {} in {out}", document.version));
        }
        Ok(Upgraded { document, version_before: before, output: self.output.clone() })
    }
}

/// An upgraded file.
#[derive(Clone, Debug)]
pub struct Upgraded {
    /// Its elements and comments.
    pub document: Document,
    /// Original version.
    pub version_before: u32,
    output: Option<PathBuf>,
}

impl Outcome for Upgraded {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        self.output.iter().map(|path| Artifact::text(path, write_document(&self.document))).collect()
    }
}
