//! Files of which one name is redirected, such as `-` for standard output.

use super::{Files, Lock};
use std::io;
use std::path::{Path, PathBuf};

/// Files with one name redirected.
pub struct Redirected<F> {
    files: F,
    name: &'static str,
    write: fn(&[u8]) -> io::Result<()>,
}

impl<F: Files> Redirected<F> {
    /// Passes data written to `name` to `write`; all other names refer to `files`.
    pub fn new(files: F, name: &'static str, write: fn(&[u8]) -> io::Result<()>) -> Self {
        Redirected { files, name, write }
    }
}

impl<F: Files> Files for Redirected<F> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if path == Path::new(self.name) { (self.write)(bytes) } else { self.files.write(path, bytes) }
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        if path == Path::new(self.name) { Ok(()) } else { self.files.check_writable(path) }
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.files.make_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.files.is_folder(path)
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        self.files.names_in(folder)
    }

    fn lock(&self, path: &Path, lock: Lock) -> io::Result<Box<dyn Send>> {
        self.files.lock(path, lock)
    }

    fn geometry_folders(&self) -> Vec<PathBuf> {
        self.files.geometry_folders()
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }
}
