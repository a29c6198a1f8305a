//! Files on disk, with some that are in memory alone.

use soleus::files::{Disk, Files, Lock, Memory};
use std::io;
use std::path::{Path, PathBuf};

/// Folder of the files in memory; nobody has one of this name.
pub const FOLDER: &str = "/(memory)";

/// Files in memory under [`FOLDER`], and the disk.
#[derive(Default)]
pub struct Layered {
    /// Those in memory.
    pub memory: Memory,
    disk: Disk,
}

impl Layered {
    /// With these files in memory.
    pub fn new(files: Vec<(String, Vec<u8>)>) -> Self {
        let memory = files.into_iter().fold(Memory::new(), |m, (name, bytes)| m.with(name, bytes));
        Layered { memory, disk: Disk::new() }
    }

    fn of(&self, path: &Path) -> &dyn Files {
        if path.starts_with(FOLDER) { &self.memory } else { &self.disk }
    }
}

impl Files for Layered {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.of(path).read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.of(path).write(path, bytes)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        self.of(path).check_writable(path)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.of(folder).make_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.of(path).remove(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.of(path).is_file(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.of(path).is_folder(path)
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        self.of(folder).names_in(folder)
    }

    fn lock(&self, path: &Path, lock: Lock) -> io::Result<Box<dyn Send>> {
        self.of(path).lock(path, lock)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.of(path).absolute(path)
    }
}
