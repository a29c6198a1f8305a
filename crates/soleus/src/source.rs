//! Inputs of a request: a file, or the thing itself.

use serde::{Deserialize, Deserializer, Serialize};
use soleus_math::Table;
use soleus_model::{Document, Model};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input of a request: a file by name, or what would be in it.
///
/// As text (JSON, TOML) it is the name of the file; a value that is in memory only cannot be written so.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Source<T> {
    /// A file.
    File(PathBuf),
    /// The thing itself.
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
    /// The name of the file; that of nothing on disk for a value.
    pub fn path(&self) -> &Path {
        match self {
            Source::File(path) => path,
            Source::Value(_) => Path::new("(in memory)"),
        }
    }

    /// Whether a file is named, or a value given.
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

/// The model of a request: a file, its elements, or what was built of them.
///
/// Tools that change a model before they use it (scaling, force sets of a setup file) need its elements.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ModelSource {
    /// A file (.osim).
    File(PathBuf),
    /// The elements of a file, in the newest form.
    #[serde(skip)]
    Document(Arc<Document>),
    /// A model.
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
    /// The name of the file, also of one that a document was read from; that of nothing on disk for what is in memory.
    pub fn path(&self) -> &Path {
        match self {
            ModelSource::File(path) => path,
            ModelSource::Document(document) if !document.file.is_empty() => Path::new(&document.file),
            _ => Path::new("(model in memory)"),
        }
    }

    /// The folder from which names in the model are taken.
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
