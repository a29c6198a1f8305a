//! Record of the files that a tool opens, and of their content.

use super::{Files, Lock};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Digest of the content of a file (BLAKE3), as text.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Records all accesses to files, so that the dependencies of a result are the files actually opened.
pub struct Opened<'a> {
    files: &'a dyn Files,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    read: BTreeMap<PathBuf, Option<String>>,
    written: BTreeMap<PathBuf, String>,
}

impl<'a> Opened<'a> {
    /// Starts with an empty record.
    pub fn new(files: &'a dyn Files) -> Self {
        Opened { files, seen: Mutex::default() }
    }

    /// Digest of each file that was read, by absolute path; `None` for missing files. Files that were written before
    /// they were read are not inputs and are left out.
    pub fn read_files(&self) -> BTreeMap<PathBuf, Option<String>> {
        self.seen().read.clone()
    }

    /// Digest of each file that was written.
    pub fn written_files(&self) -> BTreeMap<PathBuf, String> {
        self.seen().written.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // Maps are whole at every moment, whatever the thread that held them did.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, path: &Path, digest: Option<String>) {
        let path = self.files.absolute(path);
        let mut seen = self.seen();
        if !seen.written.contains_key(&path) {
            seen.read.insert(path, digest);
        }
    }
}

impl Files for Opened<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.files.read(path);
        self.note(path, bytes.as_ref().ok().map(|b| digest(b)));
        bytes
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.files.write(path, bytes)?;
        self.seen().written.insert(self.files.absolute(path), digest(bytes));
        Ok(())
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        self.files.check_writable(path)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.files.make_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        let is_file = self.files.is_file(path);
        // A file that would be taken were it there.
        if !is_file {
            self.note(path, None);
        }
        is_file
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

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn analytic_what_was_opened() {
        let disk = Memory::new().with("a b.mot", "x");
        let files = Opened::new(&disk);
        files.read(Path::new("a b.mot")).unwrap();
        assert!(!files.is_file(Path::new("c.mot")));
        files.write(Path::new("out.mot"), b"y").unwrap();
        files.read(Path::new("out.mot")).unwrap();
        let read = files.read_files();
        assert_eq!(read[Path::new("/a b.mot")], Some(digest(b"x")));
        assert_eq!(read[Path::new("/c.mot")], None);
        assert_eq!(read.len(), 2);
        assert_eq!(files.written_files()[Path::new("/out.mot")], digest(b"y"));
    }
}
