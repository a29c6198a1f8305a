//! Files in memory.

use super::{Files, plain};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files in memory. Relative names start at the root; a folder exists as soon as it contains a file.
#[derive(Debug, Default)]
pub struct Memory {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Memory {
    /// Without files.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Adds a file.
    pub fn with(self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files().insert(key(path.as_ref()), bytes.into());
        self
    }

    /// Names of all files, sorted.
    pub fn names(&self) -> Vec<PathBuf> {
        self.files().keys().cloned().collect()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        // A map is whole at every moment, whatever the thread that held it did.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one name of a file.
fn key(path: &Path) -> PathBuf {
    plain(&Path::new("/").join(path))
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let kind = if self.is_folder(path) { io::ErrorKind::IsADirectory } else { io::ErrorKind::NotFound };
        self.files().get(&key(path)).cloned().ok_or_else(|| kind.into())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.is_folder(path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.files().insert(key(path), bytes.to_vec());
        Ok(())
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        if self.is_folder(path) { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    }

    fn make_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(&key(path));
        Ok(())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files().contains_key(&key(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        let folder = key(path);
        folder == Path::new("/") || self.files().keys().any(|k| *k != folder && k.starts_with(&folder))
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        let folder = key(folder);
        let files = self.files();
        let inside = files.keys().filter(|k| k.parent() == Some(&folder));
        inside.filter_map(|k| Some(k.file_name()?.to_string_lossy().into_owned())).collect()
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        key(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_names_of_one_file() {
        let files = Memory::new().with("a/b.mot", "x");
        assert_eq!(files.read(Path::new("/a/./c/../b.mot")).unwrap(), b"x");
        assert_eq!(files.read(Path::new("a")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(files.read(Path::new("b")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(files.is_folder(Path::new("a")) && !files.is_folder(Path::new("a/b.mot")));
        assert_eq!(files.names_in(Path::new("a")), ["b.mot"]);
        files.remove(Path::new("a/b.mot")).unwrap();
        assert!(!files.is_file(Path::new("a/b.mot")));
    }
}
