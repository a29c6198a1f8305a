//! Files of the experiments, and what is said about them.

use soleus::files::{Disk, Files};
use soleus::inputs::{model, table};
use soleus::{Context, Error, Monitor};
use soleus_dynamics::{Options, System};
use soleus_math::Table;
use soleus_model::{Diagnostic, Diagnostics, Model};
use std::path::Path;
use std::time::Instant;

/// Says what is odd on stderr.
struct Stderr {
    start: Instant,
    quiet: bool,
}

impl Monitor for Stderr {
    fn diagnostic(&self, d: &Diagnostic) {
        eprintln!("{d}\n");
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            eprintln!("{line}");
        }
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.start.elapsed().as_secs_f64())
    }
}

/// Runs work of the library on files on disk, with as many threads as there are cores unless told otherwise.
pub fn enter<T>(threads: Option<usize>, quiet: bool, work: impl FnOnce(&Context) -> T) -> T {
    let (files, monitor) = (Disk::new(), Stderr { start: Instant::now(), quiet });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    work(&Context::new(&files).with_monitor(&monitor).with_threads(threads.unwrap_or(cores)))
}

/// All bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    enter(None, false, |cx| cx.read(path))
}

/// A file of text.
pub fn read_text(path: &Path) -> Result<String, Error> {
    enter(None, false, |cx| cx.read_text(path))
}

/// Writes a whole file or none.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let disk = Disk::new();
    disk.write(path, text.as_bytes()).map_err(|e| Error::write(&disk, path, e))
}

/// Makes a folder, and those above it.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    let disk = Disk::new();
    disk.make_folder(folder).map_err(|e| Error::write(&disk, folder, e))
}

/// Reads and builds a model.
pub fn model(path: &Path) -> Result<Model, Error> {
    enter(None, false, |cx| model::read(cx, &path.into()))
}

/// Makes a model ready for computing.
pub fn compile(path: &Path, m: &Model, options: &Options) -> Result<System, Error> {
    model::compile(path, m, options)
}

/// Markers in meters.
pub fn markers(path: &Path) -> Result<Table, Error> {
    enter(None, false, |cx| Ok(table::read_markers(cx, &path.into())?.0))
}

/// A file with errors.
pub fn errors(path: &Path, log: &Diagnostics) -> Error {
    Error::input(path, log.clone())
}

/// A table of numbers over time.
pub fn table(path: &Path) -> Result<Table, Error> {
    enter(None, false, |cx| table::read_numbers(cx, &path.into()))
}
