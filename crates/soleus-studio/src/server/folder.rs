//! Files of a page with a program behind it: those that were opened and what lies in their folders, read only; results stay in memory.

use soleus::files::{Disk, Files, Memory};
use soleus::{Context, Error};
use std::io;
use std::path::{Path, PathBuf};

/// Files that were opened, and memory over them.
pub struct OpenedFiles {
    memory: Memory,
    disk: Disk,
    /// Folders of what was opened, all links followed.
    roots: Vec<PathBuf>,
}

/// Files that a page can open by itself.
const SHOWN: &[&str] = &["osim", "trc", "c3d", "mot", "sto", "csv", "parquet", "xml", "toml", "omoco"];

impl OpenedFiles {
    /// Opens files; of folders, all files in them that a page can open. The names are those that it sees.
    pub fn open(paths: &[PathBuf]) -> Result<(Self, Vec<PathBuf>), Error> {
        let disk = Disk::new();
        let (mut roots, mut names) = (Vec::new(), Vec::new());
        for path in paths {
            let folder = if disk.is_folder(path) {
                let mut found = disk.names_in(path);
                found.sort();
                let is_shown = |n: &String| {
                    Path::new(n)
                        .extension()
                        .and_then(|e| e.to_str())
                        .is_some_and(|e| SHOWN.contains(&e.to_ascii_lowercase().as_str()))
                };
                names.extend(found.into_iter().filter(is_shown).map(|n| path.join(n)));
                path.clone()
            } else {
                Context::new(&disk).read(path)?;
                names.push(path.clone());
                path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_path_buf()
            };
            let root = std::fs::canonicalize(&folder).map_err(|e| Error::read(&disk, &folder, e))?;
            roots.push(root);
        }
        Ok((OpenedFiles { memory: Memory::new(), disk, roots }, names))
    }

    /// The file on disk, if it lies in a folder that was opened. Links are followed first, so that none leads out.
    fn allowed(&self, path: &Path) -> io::Result<PathBuf> {
        let real = std::fs::canonicalize(path)?;
        match self.roots.iter().any(|r| real.starts_with(r)) {
            true => Ok(real),
            false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it was not opened")),
        }
    }
}

/// A file has one name, whether it is called from where the program was started or from the root.
impl Files for OpenedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = &self.absolute(path);
        if self.memory.is_file(path) {
            return self.memory.read(path);
        }
        self.disk.read(&self.allowed(path)?)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.memory.write(&self.absolute(path), bytes)
    }

    fn make_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.memory.remove(&self.absolute(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        let path = &self.absolute(path);
        self.memory.is_file(path) || self.allowed(path).is_ok_and(|p| self.disk.is_file(&p))
    }

    fn is_folder(&self, path: &Path) -> bool {
        let path = &self.absolute(path);
        self.memory.is_folder(path) || self.allowed(path).is_ok_and(|p| self.disk.is_folder(&p))
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        let folder = &self.absolute(folder);
        let mut names = self.memory.names_in(folder);
        names.extend(self.allowed(folder).map(|p| self.disk.names_in(&p)).unwrap_or_default());
        names.sort();
        names.dedup();
        names
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.disk.absolute(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that makes names absolute finds what was opened, and the page finds what the tool wrote.
    #[test]
    fn analytic_relative_and_absolute_names_are_one_file() {
        let (files, _) = OpenedFiles::open(&[]).unwrap();
        files.write(Path::new("results/a.mot"), b"x").unwrap();
        let whole = files.absolute(Path::new("results/a.mot"));
        assert!(whole.is_absolute() && files.is_file(&whole) && !files.is_file(Path::new("/results/a.mot")));
        assert_eq!(files.read(&whole).unwrap(), b"x");
        assert_eq!(files.names_in(Path::new("results")), ["a.mot"]);
    }
}
