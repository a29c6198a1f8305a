//! Reads, changes, builds and compiles models.

use super::paths::folder_of;
use super::setup;
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::source::ModelSource;
use soleus_dynamics::system::MotionError;
use soleus_dynamics::{Options, System};
use soleus_io::mesh::read_contact_meshes;
use soleus_io::osim;
use soleus_model::{Diagnostics, Document, Element, Force, Model};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads and builds a model.
pub fn read(cx: &Context, source: &ModelSource) -> Result<Model, Error> {
    match source {
        ModelSource::File(path) => {
            if cx.registry.is_some() {
                let (document, log) = read_upgraded(cx, path)?;
                let document = settle(cx, path, document, log)?;
                return build(cx, path, &document);
            }
            let (model, log) = osim::read_model(&cx.read(path)?, &path.display().to_string());
            settle(cx, path, model, log)
        }
        ModelSource::Document(document) => build(cx, source.path(), document),
        ModelSource::Model(model) => Ok(Arc::unwrap_or_clone(model.clone())),
    }
}

/// Builds a model from a document.
pub fn build(cx: &Context, path: &Path, document: &Document) -> Result<Model, Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    let expanded = cx.registry.map(|r| {
        let mut d = document.clone();
        r.expand(&mut d, &mut log);
        d
    });
    let model = soleus_model::build(expanded.as_ref().unwrap_or(document), &mut log);
    let mut model = settle(cx, path, model, log)?;
    model.file_version = document.version;
    Ok(model)
}

/// As [`Context::settle`]; warnings about models may have been told before.
fn settle<T>(cx: &Context, path: &Path, value: Option<T>, mut log: Diagnostics) -> Result<T, Error> {
    if !cx.model_warnings && !log.has_errors() {
        log.list.clear();
    }
    cx.settle(path, value, log)
}

/// Changes to a model before it is built.
#[derive(Default)]
pub struct Change<'a> {
    /// Whether the model's own forces are removed.
    pub replace_forces: bool,
    /// Files whose `ForceSet` is added.
    pub force_sets: &'a [PathBuf],
    /// Controllers to add, of version 40600, and the file that contains them.
    pub controllers: &'a [Element],
    /// Setup file that specifies the changes.
    pub setup: Option<&'a Path>,
}

impl Change<'_> {
    fn is_none(&self) -> bool {
        !self.replace_forces && self.force_sets.is_empty() && self.controllers.is_empty()
    }
}

/// Reads a model, changes it, and builds it.
pub fn read_changed(cx: &Context, source: &ModelSource, change: &Change) -> Result<Model, Error> {
    let path = source.path();
    if change.is_none() && !matches!(source, ModelSource::File(_)) {
        return read(cx, source);
    }
    let mut document = match source {
        // What is only built needs no comments.
        ModelSource::File(path) => {
            let (document, log) = read_upgraded(cx, path)?;
            settle(cx, path, document, log)?
        }
        _ => document(cx, source)?,
    };
    let version = document.version;
    let mut added = Vec::new();
    if change.replace_forces {
        osim::clear_set(&mut document, "ForceSet");
    }
    let mut names = names_in_set(&document, "ForceSet");
    for file in change.force_sets {
        let Some(members) = osim::set_members(&upgraded(cx, file)?, "ForceSet") else {
            return Err(Error::content(file, 0, "", "the file contains no `ForceSet`", ""));
        };
        let members = without_repeated(cx, file, members, &mut names);
        added.extend(members.iter().map(|m| Added::new("forceset", m, file)));
        osim::add_to_set(&mut document, "ForceSet", members);
    }
    added.extend(
        change.controllers.iter().map(|c| Added::new("controllerset", c, change.setup.unwrap_or(path))),
    );
    osim::add_to_set(&mut document, "ControllerSet", change.controllers.to_vec());
    let mut log = Diagnostics::new(path.display().to_string());
    let model = soleus_model::build(&document, &mut log);
    for d in log.list.iter_mut().filter(|d| d.line == 0) {
        if let Some(from) = added.iter().find(|a| a.holds(&d.component)) {
            (d.file, d.line) = (from.file.clone(), from.line);
        }
    }
    let mut model = settle(cx, path, model, log)?;
    model.file_version = version;
    Ok(model)
}

/// Line of an external force in an `ExternalLoads` file; 0 if not found.
pub fn line_of_load(cx: &Context, file: &Path, name: &str) -> u32 {
    let quiet = cx.with_monitor(&Silent);
    let members = upgraded(&quiet, file).ok().and_then(|d| osim::set_members(&d, "ExternalLoads"));
    members.iter().flatten().find(|m| m.name() == name).map_or(0, |m| m.line)
}

/// File and line of a force: the first of the added files that contains its name, otherwise the model file.
pub fn place_of_force(
    cx: &Context,
    source: &ModelSource,
    files: &[PathBuf],
    force: &Force,
    model: &Model,
) -> (PathBuf, u32) {
    let own = model.line_of(&force.path);
    let quiet = cx.with_monitor(&Silent);
    for file in files.iter().filter(|_| own <= model.line_of("/forceset")) {
        // It was read before without an error.
        let members = upgraded(&quiet, file).ok().and_then(|d| osim::set_members(&d, "ForceSet"));
        if let Some(m) = members.iter().flatten().find(|m| m.name() == force.name) {
            return (file.clone(), m.line);
        }
    }
    (source.path().to_path_buf(), own)
}

/// The first of some forces whose element has no `property`, with its file and line: a default of OpenSim acts where the class has
/// none in `<defaults>`. A force that no file contains has all of them.
pub fn force_without<'a>(
    cx: &Context,
    source: &ModelSource,
    change: &Change,
    forces: &[&'a Force],
    property: &str,
) -> Option<(&'a Force, PathBuf, u32)> {
    let quiet = cx.with_monitor(&Silent);
    // They were read before without an error. Of forces with one name the first acts, the model's own before those of files.
    let of_model = match source {
        ModelSource::Model(_) => None,
        _ if change.replace_forces => None,
        _ => document(&quiet, source).ok(),
    };
    let added = change.force_sets.iter().filter_map(|f| Some((f.as_path(), upgraded(&quiet, f).ok()?)));
    let mut seen = HashSet::new();
    for (file, document) in of_model.map(|d| (source.path(), d)).into_iter().chain(added) {
        let model = document.root.child("Model").unwrap_or(&document.root);
        let defaults = [document.root.child("defaults"), model.child("defaults")];
        for m in osim::set_members(&document, "ForceSet").unwrap_or_default() {
            let Some(force) = forces.iter().find(|f| f.name == m.name()) else { continue };
            let by_class = || {
                defaults
                    .iter()
                    .flatten()
                    .any(|d| d.child(&m.tag).is_some_and(|c| c.child(property).is_some()))
            };
            if seen.insert(m.name().to_string()) && m.child(property).is_none() && !by_class() {
                return Some((force, file.to_path_buf(), m.line));
            }
        }
    }
    None
}

/// Names of the members of a set.
fn names_in_set(document: &Document, tag: &str) -> HashSet<String> {
    let members = osim::set_members(document, tag).unwrap_or_default();
    members.iter().map(|m| m.name().to_string()).collect()
}

/// Members whose name is not taken yet. Of forces with one name the first is kept, the model's own before those of files, as in
/// OpenSim 4.6 (`ForceSet::append`); those left out are told.
fn without_repeated(
    cx: &Context,
    file: &Path,
    members: Vec<Element>,
    names: &mut HashSet<String>,
) -> Vec<Element> {
    let mut log = Diagnostics::new(file.display().to_string());
    let mut kept = Vec::with_capacity(members.len());
    for m in members {
        if m.name().is_empty() || names.insert(m.name().to_string()) {
            kept.push(m);
            continue;
        }
        let message =
            format!("force `{}` is skipped: the model already has a force with this name", m.name());
        let hint = "rename it, or replace the forces of the model (`replace_force_set`)";
        log.warn(m.line, "", message, hint);
    }
    cx.report(&log);
    kept
}

/// Where a component came from that was added to a model.
struct Added {
    path: String,
    file: String,
    line: u32,
}

impl Added {
    fn new(set: &str, member: &Element, file: &Path) -> Self {
        let path = format!("/{set}/{}", member.name());
        Added { path, file: file.display().to_string(), line: member.line }
    }

    /// Whether a component is this one or a part of it.
    fn holds(&self, component: &str) -> bool {
        component.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The document of a model, upgraded to the newest version, with the comments of the file.
pub fn document(cx: &Context, source: &ModelSource) -> Result<Document, Error> {
    match source {
        ModelSource::File(path) => {
            let (document, log) = setup::upgraded(cx, path)?;
            settle(cx, path, Some(document), log)
        }
        ModelSource::Document(document) => Ok(Arc::unwrap_or_clone(document.clone())),
        ModelSource::Model(_) => {
            let hint = "give the model as a file or a document";
            let message = "a model in memory cannot be scaled or extended with force files";
            Err(Error::content(source.path(), 0, "", message, hint))
        }
    }
}

/// The elements of a file with a part of a model, in the newest form.
fn upgraded(cx: &Context, path: &Path) -> Result<Document, Error> {
    let (document, log) = read_upgraded(cx, path)?;
    cx.settle(path, document, log)
}

fn read_upgraded(cx: &Context, path: &Path) -> Result<(Option<Document>, Diagnostics), Error> {
    let (document, mut log) = osim::read_elements(&cx.read(path)?, &path.display().to_string());
    let document = document.map(|mut d| {
        osim::upgrade(&mut d, &mut log);
        cx.registry.into_iter().for_each(|r| r.expand(&mut d, &mut log));
        d
    });
    Ok((document, log))
}

/// Reads, builds and compiles a model, including contact meshes.
pub fn system(cx: &Context, source: &ModelSource, options: &Options) -> Result<(Model, System), Error> {
    let mut model = read(cx, source)?;
    read_meshes(cx, source.path(), &mut model)?;
    let system = compile(source.path(), &model, options)?;
    Ok((model, system))
}

/// Reads the meshes for contacts. Their names are relative to the folder of the model.
pub fn read_meshes(cx: &Context, path: &Path, model: &mut Model) -> Result<(), Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    let folder = folder_of(path);
    read_contact_meshes(model, &mut log, &|name| match cx.files.read(&folder.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        // A folder may have the name of a file in another place.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Ok(None),
        Err(e) => Err(e.to_string()),
    });
    cx.settle(path, Some(()), log)
}

/// A message of the engine with the name of the coordinate that it is about.
pub fn with_coordinate(message: &str, e: &MotionError, model: &Model, system: &System) -> String {
    let mobility = e.mobility();
    let coordinate = system.tree.coordinate_of_mobility.get(mobility).copied().flatten();
    match coordinate.and_then(|c| model.coordinates.get(c.0)) {
        Some(c) => message.replacen(&format!("mobility {mobility}"), &format!("coordinate `{}`", c.name), 1),
        None => message.to_string(),
    }
}

/// Compiles a model; errors contain the line of the component.
pub fn compile(path: &Path, model: &Model, options: &Options) -> Result<System, Error> {
    System::compile_with(model, options).map_err(|e| {
        let component = e.component();
        Error::content(path, model.line_of(component), component, e.to_string(), "")
    })
}
