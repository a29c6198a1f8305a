//! Names of files as users and setup files write them.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// A file as a setup file names it: relative to the folder of the setup file.
pub fn beside(setup: &Path, name: &str) -> PathBuf {
    folder_of(setup).join(native(name))
}

/// A file name as this machine writes it: files from Windows may separate folders its way.
pub fn native(name: &str) -> String {
    if cfg!(windows) { name.to_string() } else { name.replace('\\', "/") }
}

/// A file that a setup file has to name.
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

/// The name of a file without folder and ending.
pub fn stem_of(path: &Path, otherwise: &str) -> String {
    path.file_stem().map_or(otherwise.to_string(), |s| s.to_string_lossy().into_owned())
}

/// Whether a file name has this ending, in capitals or not.
pub fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// A name that a setup file gives to its results, as a part of file names: folders in it lead nowhere else.
pub fn file_part(name: &str) -> String {
    name.replace(['/', '\\'], "_")
}
