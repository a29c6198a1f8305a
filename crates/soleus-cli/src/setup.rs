//! Setup files: reading them, and finding what they name.

use crate::failure::Failure;
use crate::load;
use soleus_io::setup::{IkTask, MeasurementSetup, Setup, read_ik_tasks};
use soleus_model::{Diagnostics, Document};
use std::path::{Path, PathBuf};

/// Reads a setup file; prints its diagnostics to stderr.
pub fn read(path: &Path) -> Result<Setup, Failure> {
    let (document, mut log) = upgraded(path)?;
    let setup = soleus_io::setup::read(&document, &mut log);
    load::report(&log);
    setup.ok_or_else(|| load::errors(path, &log))
}

/// The measurements of a setup file of the scale tool, or of a file with a `MeasurementSet`.
pub fn measurements(path: &Path) -> Result<Vec<MeasurementSetup>, Failure> {
    let (document, mut log) = upgraded(path)?;
    let list = soleus_io::setup::read_measurements(&document, &mut log);
    load::report(&log);
    list.ok_or_else(|| load::errors(path, &log))
}

/// The tasks of a file with an `IKTaskSet`, or of a setup file of inverse kinematics or scaling.
pub fn tasks(path: &Path) -> Result<Vec<IkTask>, Failure> {
    let (document, mut log) = document(path)?;
    let tasks = document.and_then(|d| {
        let is_setup = ["InverseKinematicsTool", "ScaleTool"].iter().any(|t| d.root.child(t).is_some());
        match is_setup.then(|| soleus_io::setup::read(&d, &mut log)) {
            Some(Some(Setup::InverseKinematics(s))) => Some(s.tasks),
            Some(Some(Setup::Scale(s))) => s.placer.map(|p| p.tasks),
            Some(_) => None,
            None => read_ik_tasks(&d, &mut log),
        }
    });
    load::report(&log);
    tasks.ok_or_else(|| load::errors(path, &log))
}

/// Reads any XML file of OpenSim.
pub fn document(path: &Path) -> Result<(Option<Document>, Diagnostics), Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::read(path, e))?;
    Ok(soleus_io::osim::read_document(&bytes, &path.display().to_string()))
}

/// Reads any XML file of OpenSim and brings it to today's form.
pub fn upgraded(path: &Path) -> Result<(Document, Diagnostics), Failure> {
    let (document, mut log) = document(path)?;
    match document {
        Some(mut d) => {
            soleus_io::osim::upgrade(&mut d, &mut log);
            Ok((d, log))
        }
        None => {
            load::report(&log);
            Err(load::errors(path, &log))
        }
    }
}

/// A file as a setup file names it: relative to the folder of the setup file.
pub fn beside(setup: &Path, name: &str) -> PathBuf {
    setup.parent().unwrap_or(Path::new("")).join(native(name))
}

/// A file name as this machine writes it: files from Windows may separate folders its way.
pub fn native(name: &str) -> String {
    if cfg!(windows) { name.to_string() } else { name.replace('\\', "/") }
}

/// A file that a setup file has to name.
pub fn required(setup: &Path, property: &str, name: Option<&str>) -> Result<PathBuf, Failure> {
    match name {
        Some(name) => Ok(beside(setup, name)),
        None => Err(Failure::content(setup, 0, "", format!("the tool needs a `{property}`"), "")),
    }
}

/// Makes a folder for results, and those above it.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|e| Failure::write(folder, e))
}
