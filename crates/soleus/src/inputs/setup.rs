//! Reads setup files of OpenSim's tools and files with lists of tasks or measurements.

use crate::context::{Context, Silent};
use crate::error::Error;
use soleus_io::setup::{IkTask, MeasurementSetup, Setup, read_ik_tasks};
use soleus_model::{Diagnostics, Document, Element};
use std::path::Path;

/// Reads a setup file.
pub fn read(cx: &Context, path: &Path) -> Result<Setup, Error> {
    let (document, mut log) = upgraded(cx, path)?;
    let setup = soleus_io::setup::read(&document, &mut log);
    cx.settle(path, setup, log)
}

/// The measurements in a setup file of the scale tool, or in a file with a `MeasurementSet`.
pub fn measurements(cx: &Context, path: &Path) -> Result<Vec<MeasurementSetup>, Error> {
    let (document, mut log) = upgraded(cx, path)?;
    let list = soleus_io::setup::read_measurements(&document, &mut log);
    cx.settle(path, list, log)
}

/// The tasks in a file with an `IKTaskSet`, or in a setup file of inverse kinematics or scaling.
pub fn tasks(cx: &Context, path: &Path) -> Result<Vec<IkTask>, Error> {
    let (document, mut log) = document(cx, path)?;
    let tasks = document.and_then(|d| {
        let is_setup = ["InverseKinematicsTool", "ScaleTool"].iter().any(|t| d.root.child(t).is_some());
        match is_setup.then(|| soleus_io::setup::read(&d, &mut log)) {
            Some(Some(Setup::InverseKinematics(s))) => Some(s.tasks),
            Some(Some(Setup::Scale(s))) => s.placer.map(|p| p.tasks),
            Some(_) => None,
            None => read_ik_tasks(&d, &mut log),
        }
    });
    cx.settle(path, tasks, log)
}

/// Reads any XML file of OpenSim.
pub fn document(cx: &Context, path: &Path) -> Result<(Option<Document>, Diagnostics), Error> {
    Ok(soleus_io::osim::read_document(&cx.read(path)?, &path.display().to_string()))
}

/// Reads any XML file of OpenSim and upgrades it to the newest version.
pub fn upgraded(cx: &Context, path: &Path) -> Result<(Document, Diagnostics), Error> {
    let (document, mut log) = document(cx, path)?;
    match document {
        Some(mut d) => {
            soleus_io::osim::upgrade(&mut d, &mut log);
            cx.registry.into_iter().for_each(|r| r.expand(&mut d, &mut log));
            Ok((d, log))
        }
        None => Err(Error::input(path, log)),
    }
}

/// Line of the first element of a setup file with a tag; 0 if there is none.
pub fn line_of(cx: &Context, path: &Path, tag: &str) -> u32 {
    fn find(e: &Element, tag: &str) -> Option<u32> {
        match e.tag == tag {
            true => Some(e.line),
            false => e.children().find_map(|c| find(c, tag)),
        }
    }
    let quiet = cx.with_monitor(&Silent);
    upgraded(&quiet, path).ok().and_then(|(d, _)| find(&d.root, tag)).unwrap_or(0)
}
