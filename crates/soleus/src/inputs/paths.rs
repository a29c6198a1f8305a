//! File names as given by users and in setup files.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// A file named in a setup file, relative to its folder.
pub fn beside(setup: &Path, name: &str) -> PathBuf {
    folder_of(setup).join(native(name))
}

/// A file name with the separators of this operating system; names may come from Windows.
pub fn native(name: &str) -> String {
    if cfg!(windows) { name.to_string() } else { name.replace('\\', "/") }
}

/// A file name that is required in a setup file.
pub fn required(setup: &Path, property: &str, name: Option<&str>) -> Result<PathBuf, Error> {
    match name {
        Some(name) => Ok(beside(setup, name)),
        None => Err(Error::content(setup, 0, "", format!("the tool needs a `{property}`"), "")),
    }
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// File name without folder and extension.
pub fn stem_of(path: &Path, otherwise: &str) -> String {
    path.file_stem().map_or(otherwise.to_string(), |s| s.to_string_lossy().into_owned())
}

/// Whether a file name has this extension, ignoring case.
pub fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// The result name of a setup file as part of a file name, without folders.
pub fn file_part(name: &str) -> String {
    name.replace(['/', '\\'], "_")
}
