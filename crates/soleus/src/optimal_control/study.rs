//! Source of a study.

use crate::context::Context;
use crate::error::Error;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use soleus_io::study::{self, Study};
use soleus_model::Diagnostics;
use std::path::{Path, PathBuf};

/// A study that needs no other file.
pub const EXAMPLE: &str = include_str!("example.toml");

/// A study: a file, text in TOML, or a study in memory.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum StudySource {
    /// A study file (.toml), or a MocoStudy (.omoco, .xml).
    File(PathBuf),
    /// A study in TOML.
    Text {
        /// Name for messages; names in the study are relative to its folder.
        path: PathBuf,
        /// The study.
        text: String,
    },
    /// A study in memory.
    Study {
        /// Name for messages; names in the study are relative to its folder.
        path: PathBuf,
        /// The study.
        study: Box<Study>,
        /// Whether it has the defaults of Moco's files instead of those of TOML studies.
        is_moco: bool,
    },
}

/// By way of a JSON value: what decides between the forms is a word, and the code that reads a study is compiled for one format only.
impl<'de> Deserialize<'de> for StudySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let mut fields = match value {
            Value::String(path) => return Ok(StudySource::File(path.into())),
            Value::Object(fields) => fields,
            _ => {
                return Err(D::Error::custom("a study is a file name, {path, text} or {path, study}"));
            }
        };
        let path = match fields.remove("path") {
            Some(Value::String(path)) => Some(PathBuf::from(path)),
            Some(_) => return Err(D::Error::custom("`path` of a study must be a file name")),
            None => None,
        };
        match (fields.remove("text"), fields.remove("study")) {
            (Some(Value::String(text)), None) => {
                let path = path.ok_or_else(|| D::Error::missing_field("path"))?;
                Ok(StudySource::Text { path, text })
            }
            (None, Some(study)) => {
                let study = serde_json::from_value(study).map_err(D::Error::custom)?;
                let is_moco = fields.remove("is_moco").is_some_and(|is_moco| is_moco == Value::Bool(true));
                Ok(StudySource::Study { path: path.unwrap_or_default(), study, is_moco })
            }
            _ => Err(D::Error::custom("a study needs either `text` (TOML) or `study` (its fields)")),
        }
    }
}

impl Default for StudySource {
    fn default() -> Self {
        StudySource::File(PathBuf::new())
    }
}

impl From<&str> for StudySource {
    fn from(path: &str) -> Self {
        StudySource::File(path.into())
    }
}

impl From<PathBuf> for StudySource {
    fn from(path: PathBuf) -> Self {
        StudySource::File(path)
    }
}

impl StudySource {
    /// The built-in example.
    pub fn example() -> Self {
        StudySource::Text { path: "example.toml".into(), text: EXAMPLE.to_string() }
    }

    /// The study of a setup file in memory.
    pub fn of_setup(path: &Path, setup: &study::Problem) -> Self {
        let study = Box::new(Study::from(setup.clone()));
        StudySource::Study { path: path.to_path_buf(), study, is_moco: true }
    }

    /// A TOML study in memory; names in it are relative to the folder of `path`.
    pub fn of_study(path: &Path, study: Study) -> Self {
        StudySource::Study { path: path.to_path_buf(), study: Box::new(study), is_moco: false }
    }

    /// File name, for messages; names in the study are relative to its folder.
    pub fn path(&self) -> &Path {
        match self {
            StudySource::File(path) | StudySource::Text { path, .. } | StudySource::Study { path, .. } => {
                path
            }
        }
    }

    /// The study, and whether it has the defaults of Moco's files.
    pub fn read(&self, cx: &Context) -> Result<(Study, bool), Error> {
        let (mut study, is_moco) = match self {
            StudySource::File(path) => {
                let (found, log) = study::read_file(&cx.read(path)?, &path.display().to_string());
                cx.settle(path, found, log).map(|f| (f.study, f.is_moco))?
            }
            StudySource::Text { path, text } => (parse(cx, path, text)?, false),
            StudySource::Study { study, is_moco, .. } => (Study::clone(study), *is_moco),
        };
        // Words that others brought along are definitions, which the study's own precede.
        for (name, formula) in cx.registry.into_iter().flat_map(|r| r.words()) {
            if study.setup.definitions.iter().all(|d| d.name != name) {
                let (name, formula) = (name.to_string(), formula.to_string());
                study.setup.definitions.push(study::NamedFormula { name, formula, line: 0 });
            }
        }
        Ok((study, is_moco))
    }
}

/// Reads a study in TOML.
pub fn parse(cx: &Context, path: &Path, text: &str) -> Result<Study, Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    let study = study::read(text, &mut log);
    cx.settle(path, study, log)
}
