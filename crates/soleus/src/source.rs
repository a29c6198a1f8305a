//! Inputs of a request: a file, or a value in memory.

use serde::{Deserialize, Deserializer, Serialize};
use soleus_math::Table;
use soleus_model::{Document, Model};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input of a request: a file by name, or its content in memory.
///
/// It is serialized (JSON, TOML) as the file name; a value in memory cannot be serialized.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Source<T> {
    /// A file.
    File(PathBuf),
    /// A value in memory.
    #[serde(skip)]
    Value(Arc<T>),
}

impl<'de, T> Deserialize<'de> for Source<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(Source::File)
    }
}

impl<T> Default for Source<T> {
    fn default() -> Self {
        Source::File(PathBuf::new())
    }
}

impl<T> Source<T> {
    /// File name; a placeholder for a value in memory.
    pub fn path(&self) -> &Path {
        match self {
            Source::File(path) => path,
            Source::Value(_) => Path::new("(in memory)"),
        }
    }

    /// Whether a file or a value is given.
    pub fn is_given(&self) -> bool {
        !matches!(self, Source::File(path) if path.as_os_str().is_empty())
    }
}

impl<T> From<PathBuf> for Source<T> {
    fn from(path: PathBuf) -> Self {
        Source::File(path)
    }
}

impl<T> From<&Path> for Source<T> {
    fn from(path: &Path) -> Self {
        Source::File(path.to_path_buf())
    }
}

impl<T> From<&str> for Source<T> {
    fn from(path: &str) -> Self {
        Source::File(PathBuf::from(path))
    }
}

impl<T> From<Arc<T>> for Source<T> {
    fn from(value: Arc<T>) -> Self {
        Source::Value(value)
    }
}

impl From<Table> for Source<Table> {
    fn from(table: Table) -> Self {
        Source::Value(Arc::new(table))
    }
}

/// The model of a request: a file, its document, or a built model.
///
/// Tools that change a model before use (scaling, force sets in a setup file) need its document.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ModelSource {
    /// A file (.osim).
    File(PathBuf),
    /// The document of a file, upgraded to the newest version.
    #[serde(skip)]
    Document(Arc<Document>),
    /// A built model.
    #[serde(skip)]
    Model(Arc<Model>),
}

impl<'de> Deserialize<'de> for ModelSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(ModelSource::File)
    }
}

impl Default for ModelSource {
    fn default() -> Self {
        ModelSource::File(PathBuf::new())
    }
}

impl ModelSource {
    /// File name, also of the file that a document was read from; a placeholder for values in memory.
    pub fn path(&self) -> &Path {
        match self {
            ModelSource::File(path) => path,
            ModelSource::Document(document) if !document.file.is_empty() => Path::new(&document.file),
            _ => Path::new("(model in memory)"),
        }
    }

    /// Folder to which file names in the model are relative.
    pub fn folder(&self) -> &Path {
        match self {
            ModelSource::File(path) => path.parent().unwrap_or(Path::new("")),
            ModelSource::Document(document) => Path::new(&document.file).parent().unwrap_or(Path::new("")),
            _ => Path::new(""),
        }
    }
}

impl From<PathBuf> for ModelSource {
    fn from(path: PathBuf) -> Self {
        ModelSource::File(path)
    }
}

impl From<&Path> for ModelSource {
    fn from(path: &Path) -> Self {
        ModelSource::File(path.to_path_buf())
    }
}

impl From<&str> for ModelSource {
    fn from(path: &str) -> Self {
        ModelSource::File(PathBuf::from(path))
    }
}

impl From<Model> for ModelSource {
    fn from(model: Model) -> Self {
        ModelSource::Model(Arc::new(model))
    }
}

impl From<Arc<Model>> for ModelSource {
    fn from(model: Arc<Model>) -> Self {
        ModelSource::Model(model)
    }
}

impl From<Document> for ModelSource {
    fn from(document: Document) -> Self {
        ModelSource::Document(Arc::new(document))
    }
}
