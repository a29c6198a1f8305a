//! Adds parts to a model: springs, ligaments, torques, prostheses, masses, contact spheres. The result is a model file.
//!
//! ```no_run
//! use soleus::{Add, Context, Disk, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let parts = vec!["spring coordinate=ankle_angle_r stiffness=100 rest_deg=5".parse()?];
//! Add { model: "walker.osim".into(), parts, output: Some("exo.osim".into()), ..Default::default() }.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

mod elements;
mod feet;
mod part;

pub use part::{Free, Part, PartKind};

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model::{build, compile, document};
use crate::source::ModelSource;
use serde::{Deserialize, Serialize};
use soleus_control::gait::other_side;
use soleus_io::osim::write_document;
use soleus_model::{Document, Element, Model};
use std::path::{Path, PathBuf};

/// Adds parts to a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Add {
    /// The model.
    pub model: ModelSource,
    /// Parts to add, in this order.
    pub parts: Vec<Part>,
    /// File with more parts (.toml), one `[[add]]` each.
    pub file: Option<PathBuf>,
    /// Output file (.osim).
    pub output: Option<PathBuf>,
}

/// Reads the parts in a file.
pub fn read_parts(cx: &Context, path: &Path) -> Result<Vec<Part>, Error> {
    let hint = "parts are [[add]] tables: docs/guide/add.md";
    let bytes = cx.read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut file: serde_json::Value = toml::from_str(&text).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start).min(text.len());
        let line = u32::try_from(1 + text[..at].matches('\n').count()).unwrap_or(0);
        Error::content(path, line, "", e.message().to_string(), hint)
    })?;
    let other = file.as_object().and_then(|o| o.keys().find(|k| *k != "add")).cloned();
    if let Some(name) = other {
        let line = text.lines().position(|l| l.contains(&name)).map_or(0, |k| k + 1);
        let line = u32::try_from(line).unwrap_or(0);
        return Err(Error::content(path, line, "", format!("unknown field `{name}`"), hint));
    }
    let list = file.get_mut("add").and_then(|a| a.as_array_mut()).map(std::mem::take).unwrap_or_default();
    // The line of a part is that of its head.
    let heads: Vec<usize> = (0..)
        .zip(text.lines())
        .filter(|(_, l)| l.trim_start().starts_with("[[add]]"))
        .map(|(k, _)| k + 1)
        .collect();
    let part = |(k, value): (usize, serde_json::Value)| {
        serde_json::from_value::<Part>(value).map_err(|e| {
            let line = heads.get(k).map_or(0, |l| u32::try_from(*l).unwrap_or(0));
            Error::content(path, line, "", e.to_string(), hint)
        })
    };
    list.into_iter().enumerate().map(part).collect()
}

/// A model with parts added.
#[derive(Clone, Debug)]
pub struct Added {
    /// The model file.
    pub document: Document,
    /// Free properties of the parts: to be optimized within their bounds.
    pub free: Vec<Free>,
    /// Description of the changes.
    pub told: Vec<String>,
    output: Option<PathBuf>,
}

impl Outcome for Added {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        self.output.iter().map(|path| Artifact::text(path, write_document(&self.document))).collect()
    }
}

impl Add {
    /// Adds the parts and checks that the model is still valid.
    pub fn run(&self, cx: &Context) -> Result<Added, Error> {
        let mut parts = self.parts.clone();
        if let Some(file) = &self.file {
            parts.extend(read_parts(cx, file)?);
        }
        let path = self.model.path().to_path_buf();
        let mut document = document(cx, &self.model)?;
        let (mut free, mut told) = (Vec::new(), Vec::new());
        for part in &parts {
            let model = build(cx, &path, &document)?;
            let root = &mut document.root;
            let element = if root.tag == "Model" { Some(root) } else { root.child_mut("Model") };
            let element =
                element.ok_or_else(|| Error::content(&path, 0, "", "the file contains no `Model`", ""))?;
            let work = Work { path: &path, part, model: &model };
            work.add(element, &mut free, &mut told)?;
        }
        let model = build(cx, &path, &document)?;
        compile(&path, &model, &soleus_dynamics::Options::default())?;
        told.iter().for_each(|line| cx.note(line.clone()));
        Ok(Added { document, free, told, output: self.output.clone() })
    }
}

/// One part on its way into a model.
struct Work<'a> {
    path: &'a Path,
    part: &'a Part,
    /// The model before.
    model: &'a Model,
}

impl Work<'_> {
    fn refuse(&self, message: impl Into<String>, hint: &str) -> Error {
        Error::content(self.path, 0, self.part.name.as_deref().unwrap_or_default(), message, hint)
    }

    fn add(&self, element: &mut Element, free: &mut Vec<Free>, told: &mut Vec<String>) -> Result<(), Error> {
        self.part
            .check()
            .map_err(|message| self.refuse(message, "docs/guide/add.md lists the fields of each type"))?;
        if self.part.kind == PartKind::Feet {
            return self.feet(element, told);
        }
        let names = self.sides()?;
        let mut paths = Vec::new();
        for name in &names {
            let made = match self.part.kind {
                PartKind::Spring => self.spring(element, name, told)?,
                PartKind::Torque => self.torque(element, name, told)?,
                PartKind::Prosthesis => self.prosthesis(element, name, told)?,
                PartKind::Ligament => self.ligament(element, name == &names[0], told)?,
                PartKind::Mass => self.mass(element, name, told)?,
                PartKind::Feet => continue,
            };
            paths.push(made);
        }
        for (property, bounds) in &self.part.free {
            let (property, unit) = self.part.property(property).ok_or_else(|| {
                let message = format!("`{property}` of a {} cannot be optimised", self.part.kind.word());
                self.refuse(
                    message,
                    "possible: `stiffness`, `rest`, `damping` of springs and prostheses, `max` of torques",
                )
            })?;
            let name = format!("{}_{}", self.part.base_name(), property);
            let components = paths.clone();
            free.push(Free {
                name,
                components,
                property: property.into(),
                bounds: *bounds,
                unit: unit.into(),
            });
        }
        Ok(())
    }

    /// The coordinate or body that is named, and that of the other side.
    fn sides(&self) -> Result<Vec<String>, Error> {
        let named = self.part.coordinate.as_ref().or(self.part.body.as_ref());
        let Some(name) = named else {
            return Ok(match (&self.part.from, self.part.both_sides.unwrap_or(true)) {
                (Some(from), true) if other_side(&from.body).is_some() => vec![String::new(), String::new()],
                _ => vec![String::new()],
            });
        };
        let mut list = vec![name.clone()];
        let usual = self.part.kind != PartKind::Prosthesis;
        if self.part.both_sides.unwrap_or(usual) {
            list.extend(other_side(name).filter(|other| self.has(other)));
        }
        Ok(list)
    }

    fn has(&self, name: &str) -> bool {
        let m = self.model;
        m.coordinates.iter().any(|c| c.name == name) || m.bodies.iter().any(|b| b.name == name)
    }
}
