//! Where files come from and go to.
//!
//! Every tool reads through [`Files`], so that it runs without a disk: in tests, in a browser, in another program.

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

/// Whom a lock keeps out, and whether it is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Everybody; now or not at all.
    Exclusive,
    /// Those who want it for themselves; now or not at all.
    Shared,
    /// Everybody; waits until the others are done.
    Turn,
}

/// Files by name. Shared by all threads of a tool.
pub trait Files: Sync {
    /// All bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Writes a whole file or none, and makes no folder for it. A reader sees the old bytes or the new ones.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Why a file of this name could not be written, as far as can be told before: no folder, or a folder of that name.
    fn check_writable(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Makes a folder and those above it, unless they are there.
    fn make_folder(&self, folder: &Path) -> io::Result<()>;

    /// Removes a file; it is not an error if it is not there.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Whether there is a file of this name.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is a folder of this name.
    fn is_folder(&self, path: &Path) -> bool;

    /// Names of the files in a folder, in any order; none if it cannot be read.
    fn names_in(&self, folder: &Path) -> Vec<String>;

    /// Keeps others who ask for the same lock out, as long as what is returned lives; an error of the kind `WouldBlock` if
    /// somebody has it, unless it is waited for. Files that nobody else can see need no lock.
    fn lock(&self, _: &Path, _: Lock) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }

    /// Folders in which OpenSim, where it is installed, keeps the meshes of its models.
    fn geometry_folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The same file by a name that does not depend on where the program was started.
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
