//! Abstraction of the file system.
//!
//! All tools read files through [`Files`], so they also run without a disk: in tests, in a browser, in other programs.

mod disk;
mod memory;
mod opened;
mod redirected;

pub use disk::Disk;
pub use memory::Memory;
pub use opened::{Opened, digest};
pub use redirected::Redirected;

use std::io;
use std::path::{Component, Path, PathBuf};

/// Kind of lock, and whether to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Exclusive; fails if it is not available immediately.
    Exclusive,
    /// Shared; fails if it is not available immediately.
    Shared,
    /// Exclusive; waits until it is available.
    Turn,
}

/// Files by name. Shared by all threads of a tool.
pub trait Files: Sync {
    /// Reads a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Writes a file atomically, without creating its folder. A reader sees either the old or the new content.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Why a file cannot be written, as far as this is known in advance: its folder is missing, or there is a folder
    /// with its name.
    fn check_writable(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Creates a folder and its parents, unless they exist.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file; a missing file is not an error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file with this name.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is a folder with this name.
    fn is_folder(&self, path: &Path) -> bool;

    /// Names of the files in a folder, in any order; none if it cannot be read.
    fn names_in(&self, folder: &Path) -> Vec<String>;

    /// Holds a lock until the returned value is dropped. The error kind is `WouldBlock` if another process holds it,
    /// unless the lock waits. Files that no other process can access need no lock.
    fn lock(&self, _: &Path, _: Lock) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }

    /// Folders of the meshes that are installed with OpenSim.
    fn geometry_folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Absolute path of a file.
    fn absolute(&self, path: &Path) -> PathBuf;
}

/// A name without `.` and `..`, as far as the name alone tells.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if plain.components().next_back().is_some_and(|c| matches!(c, Component::Normal(_))) =>
            {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_plain_names() {
        assert_eq!(plain(Path::new("a/./b/../c.mot")), Path::new("a/c.mot"));
        assert_eq!(plain(Path::new("../a")), Path::new("../a"));
        assert_eq!(plain(Path::new("/a/../../b")), Path::new("/../b"));
    }
}
