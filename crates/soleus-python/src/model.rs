//! Models: the document of a file, looked at and changed by OpenSim's paths and names.

use crate::error::{DiagnosticFields, diagnostic_fields, make, raise};
use crate::files::Layered;
use crate::system::PySystem;
use pyo3::exceptions::{PyAttributeError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString, PyTuple};
use soleus::engine::dynamics::Options;
use soleus::engine::io::osim::{add_to_set, read_document, upgrade, write_document};
use soleus::engine::model::components::{Components, PropertyValue, element, set_property};
use soleus::engine::model::{ForceKind, nearest_name};
use soleus::error::nearest_hint;
use soleus::inputs::model::{compile, read_meshes};
use soleus::model_info::ModelSummary;
use soleus::states::Evaluator;
use soleus::{Context, Diagnostics, Document, Error, Files, Model};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A model: what its file says, and what was changed since.
#[pyclass(frozen, name = "Model", module = "soleus._soleus")]
pub struct PyModel {
    inner: Mutex<Inner>,
}

struct Inner {
    document: Arc<Document>,
    components: Option<Arc<Components>>,
    /// The model of the document as it is now.
    built: Option<Arc<Model>>,
    /// What was odd about the file.
    diagnostics: Vec<DiagnosticFields>,
}

impl Inner {
    /// Builds what is not built yet. `None` if the document has errors, which are in the list then.
    fn build(&mut self) -> Result<Arc<Model>, Error> {
        if let Some(model) = &self.built {
            return Ok(model.clone());
        }
        let mut log = Diagnostics::new(self.document.file.clone());
        let (model, components) = Components::build(&self.document, &mut log);
        if self.components.is_none() || model.is_some() {
            self.components = Some(Arc::new(components));
        }
        let mut model = model.ok_or_else(|| Error::input(Path::new(&self.document.file), log.clone()))?;
        model.file_version = self.document.version;
        self.diagnostics = log.list.iter().map(diagnostic_fields).collect();
        Ok(self.built.insert(Arc::new(model)).clone())
    }

    /// The components, also of a document that has errors.
    fn components(&mut self) -> Arc<Components> {
        if self.components.is_none() {
            // Errors are told by who wants the model.
            let _ = self.build();
        }
        self.components.clone().unwrap_or_default()
    }
}

impl PyModel {
    /// Of a document of the newest version.
    pub fn from_document(document: Document) -> Self {
        let document = Arc::new(document);
        PyModel {
            inner: Mutex::new(Inner { document, components: None, built: None, diagnostics: Vec::new() }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The document as it is now.
    pub fn document(&self) -> Arc<Document> {
        self.inner().document.clone()
    }

    fn read(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<PyModel> {
        let registry = crate::registry(py);
        let read = || {
            let (document, mut log) = read_document(bytes, name);
            let document = document.map(|mut d| {
                upgrade(&mut d, &mut log);
                registry.iter().for_each(|r| r.expand(&mut d, &mut log));
                d.file = name.to_string();
                d
            });
            match document.filter(|_| !log.has_errors()) {
                None => Err(Error::input(Path::new(name), log)),
                Some(document) => {
                    let model = PyModel::from_document(document);
                    let mut inner = model.inner();
                    inner.build()?;
                    let more = log.list.iter().map(diagnostic_fields).collect::<Vec<_>>();
                    inner.diagnostics.splice(0..0, more);
                    drop(inner);
                    Ok(model)
                }
            }
        };
        py.detach(read).map_err(|e| raise(py, "model", &e))
    }

    fn place(&self, path: &str) -> PyResult<(Arc<Document>, Arc<Components>, Vec<usize>)> {
        let mut inner = self.inner();
        let (components, document) = (inner.components(), inner.document.clone());
        drop(inner);
        match components.find_part(&document, path) {
            Some(place) => Ok((document, components, place)),
            None => {
                let hint = nearest_hint("component", path, components.list.iter().map(|c| c.path.as_str()));
                let hint = if hint.is_empty() { hint } else { format!("; {hint}") };
                Err(PyKeyError::new_err(format!("the model has no component `{path}`{hint}")))
            }
        }
    }
}

/// A property that is not there, with the names nearest to it.
fn no_property(path: &str, class: &str, name: &str, names: &[String]) -> PyErr {
    let near = nearest_name(name, names.iter().map(String::as_str), 2);
    let near = near.map_or(".".to_string(), |n| format!("; did you mean `{n}`?"));
    let list = names.join(", ");
    PyAttributeError::new_err(format!("{class} `{path}` has no property `{name}`{near} It has: {list}"))
}

/// The text of a property in a file.
fn text_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(b) = value.cast::<PyBool>() {
        return Ok(b.is_true().to_string());
    }
    if let Ok(s) = value.cast::<PyString>() {
        return Ok(s.to_str()?.to_string());
    }
    if let Ok(x) = value.extract::<f64>() {
        return Ok(format!("{x:?}"));
    }
    let Ok(items) = value.try_iter() else {
        let what = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a property cannot be a {what}")));
    };
    let words: PyResult<Vec<String>> = items.map(|item| text_of(&item?)).collect();
    Ok(words?.join(" "))
}

#[pymethods]
impl PyModel {
    /// Reads a model file.
    #[staticmethod]
    fn read_file(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
        let files = Layered::default();
        let bytes = py.detach(|| Context::new(&files).read(&path)).map_err(|e| raise(py, "model", &e))?;
        // Names in the model are taken from its folder, wherever the program goes.
        PyModel::read(py, &bytes, &files.absolute(&path).display().to_string())
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn read_bytes(py: Python<'_>, bytes: &[u8], name: &str) -> PyResult<PyModel> {
        PyModel::read(py, bytes, name)
    }

    /// The model as the text of a file of version 40600.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let document = self.document();
        let text = py.detach(|| write_document(&document));
        PyBytes::new(py, text.as_bytes())
    }

    /// Writes a model file.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let document = self.document();
        let files = Layered::default();
        let done = py.detach(|| files.write(&path, write_document(&document).as_bytes()));
        done.map_err(|e| raise(py, "model", &Error::write(&files, &path, e)))
    }

    /// Another model that is the same.
    fn copy(&self) -> PyModel {
        let inner = self.inner();
        let copy = Inner {
            document: inner.document.clone(),
            components: inner.components.clone(),
            built: inner.built.clone(),
            diagnostics: inner.diagnostics.clone(),
        };
        PyModel { inner: Mutex::new(copy) }
    }

    /// The file that the model was read from.
    #[getter]
    fn file(&self) -> String {
        self.document().file.clone()
    }

    /// What was odd about the file.
    #[getter]
    fn diagnostics(&self) -> Vec<DiagnosticFields> {
        self.inner().diagnostics.clone()
    }

    /// What the model contains, in words.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.inner().build().map_err(|e| raise(py, "model", &e))?;
        Ok(ModelSummary::new(&model).to_text())
    }

    /// What the model contains, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.inner().build().map_err(|e| raise(py, "model", &e))?;
        Ok(ModelSummary::new(&model).to_json())
    }

    /// Mass of all bodies, kg.
    fn mass(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.inner().build().map_err(|e| raise(py, "model", &e))?.total_mass())
    }

    /// Path and class of every component, in OpenSim's order.
    fn components(&self) -> Vec<(String, String)> {
        let components = self.inner().components();
        components.list.iter().map(|c| (c.path.clone(), c.class.clone())).collect()
    }

    /// Paths of the components of a kind.
    fn paths(&self, py: Python<'_>, kind: &str) -> PyResult<Vec<String>> {
        let m = self.inner().build().map_err(|e| raise(py, "model", &e))?;
        let is_muscle = |f: &&soleus::engine::model::Force| matches!(f.kind, ForceKind::Muscle(_));
        Ok(match kind {
            "bodies" => m.bodies.iter().skip(1).map(|b| b.path.clone()).collect(),
            "joints" => m.joints.iter().map(|j| j.path.clone()).collect(),
            "coordinates" => m.coordinates.iter().map(|c| c.path.clone()).collect(),
            "constraints" => m.constraints.iter().map(|c| c.path.clone()).collect(),
            "muscles" => m.forces.iter().filter(is_muscle).map(|f| f.path.clone()).collect(),
            "forces" => m.forces.iter().map(|f| f.path.clone()).collect(),
            "markers" => m.markers.iter().map(|k| k.path.clone()).collect(),
            "controllers" => m.controllers.iter().map(|c| c.path.clone()).collect(),
            "probes" => m.probes.iter().map(|p| p.path.clone()).collect(),
            "contacts" => m.contact_geometries.iter().map(|g| g.path.clone()).collect(),
            other => return Err(PyKeyError::new_err(format!("unknown kind of component: {other}"))),
        })
    }

    /// The path of the component that a path or a name means.
    fn find(&self, path: &str) -> PyResult<String> {
        if path.starts_with('/') || path.is_empty() {
            self.place(path)?;
            return Ok(path.to_string());
        }
        let components = self.inner().components();
        let ending = format!("/{path}");
        let mut found = components.list.iter().filter(|c| c.path.ends_with(&ending));
        match (found.next(), found.next()) {
            (Some(c), None) => Ok(c.path.clone()),
            (Some(a), Some(b)) => Err(PyKeyError::new_err(format!(
                "`{path}` is ambiguous: {} or {}; give the full path",
                a.path, b.path
            ))),
            _ => self.place(path).map(|_| path.to_string()),
        }
    }

    /// Class and name of what is at a path.
    fn class_at(&self, path: &str) -> PyResult<(String, String)> {
        let (document, components, place) = self.place(path)?;
        let class = components.list.iter().find(|c| c.place == place).map(|c| c.class.clone());
        let e = element(&document, &place);
        let tag = e.map_or(String::new(), |e| e.tag.clone());
        let name = e.map(|e| e.name().to_string()).filter(|n| !n.is_empty());
        Ok((
            class.unwrap_or(tag),
            name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or(path).to_string()),
        ))
    }

    /// Line of what is at a path; 0 for what no file has.
    fn line_at(&self, path: &str) -> PyResult<u32> {
        let (document, _, place) = self.place(path)?;
        Ok(element(&document, &place).map_or(0, |e| e.line))
    }

    /// Names of the properties at a path.
    fn properties(&self, path: &str) -> PyResult<Vec<String>> {
        let (document, components, place) = self.place(path)?;
        Ok(components.property_names(&document, &place))
    }

    /// Names of the objects inside what is at a path, members of a list among them.
    fn parts(&self, path: &str) -> PyResult<Vec<String>> {
        let (document, _, place) = self.place(path)?;
        let Some(e) = element(&document, &place) else { return Ok(Vec::new()) };
        let named = |e: &soleus::engine::model::Element| match e.name() {
            "" => e.tag.clone(),
            name => name.to_string(),
        };
        let own = e.children().filter(|c| c.children().next().is_some() && c.tag != "objects").map(named);
        let members = e.child("objects").into_iter().flat_map(|o| o.children()).map(named);
        Ok(own.chain(members).collect())
    }

    /// The value of a property: whether it is a part with properties of its own, and the value if it is not.
    fn get<'py>(&self, py: Python<'py>, path: &str, name: &str) -> PyResult<(bool, Bound<'py, PyAny>)> {
        let (document, components, place) = self.place(path)?;
        let value = match components.value(&document, &place, name) {
            Some(value) => value,
            // A part by its name.
            None if components.find_part(&document, &format!("{path}/{name}")).is_some() => {
                PropertyValue::Other
            }
            None => {
                let names = components.property_names(&document, &place);
                let class = element(&document, &place).map_or("", |e| e.tag.as_str());
                return Err(no_property(path, class, name, &names));
            }
        };
        let none = || py.None().into_bound(py);
        Ok(match value {
            PropertyValue::Number(Some(x)) => (false, x.into_pyobject(py)?.into_any()),
            PropertyValue::Number(None) => (false, none()),
            PropertyValue::Boolean(b) => (false, PyBool::new(py, b).to_owned().into_any()),
            PropertyValue::Numbers(list) => (false, PyTuple::new(py, list)?.into_any()),
            PropertyValue::Text(s) => (false, s.into_pyobject(py)?.into_any()),
            PropertyValue::Words(list) => (false, PyTuple::new(py, list)?.into_any()),
            PropertyValue::Other => match element(&document, &place).and_then(|e| e.child(name)) {
                None if components.find_part(&document, &format!("{path}/{name}")).is_none() => {
                    (false, none())
                }
                _ => (true, none()),
            },
        })
    }

    /// Changes a property. Whether the value makes sense is seen when the model is compiled.
    fn set(&self, path: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = text_of(value)?;
        let (document, components, place) = self.place(path)?;
        let names = components.property_names(&document, &place);
        let owner = element(&document, &place);
        let class = owner.map_or("", |e| e.tag.as_str());
        if !names.iter().any(|n| n == name) {
            return Err(no_property(path, class, name, &names));
        }
        if owner.and_then(|e| e.child(name)).is_some_and(|e| e.children().next().is_some()) {
            return Err(PyTypeError::new_err(format!(
                "`{name}` of {class} `{path}` is not a number or text; change its parts"
            )));
        }
        drop(document);
        let mut inner = self.inner();
        set_property(Arc::make_mut(&mut inner.document), &place, name, &text);
        inner.built = None;
        Ok(())
    }

    /// Adds a component, the text of an element as in a model file, to a set: `ForceSet`, `ControllerSet`, `MarkerSet`. Whether it makes sense
    /// is seen when the model is compiled.
    fn add(&self, py: Python<'_>, set: &str, text: &str) -> PyResult<()> {
        let name = "(an element to add)";
        let (document, mut log) = read_document(text.as_bytes(), name);
        let document = document.filter(|_| !log.has_errors());
        let mut document =
            document.ok_or_else(|| raise(py, "input", &Error::input(Path::new(name), log.clone())))?;
        let mut set_of = soleus::engine::model::Element::new(set, 0);
        set_of.push(document.root.clone());
        document.root = set_of;
        crate::registry(py).iter().for_each(|r| r.expand(&mut document, &mut log));
        if log.has_errors() {
            return Err(raise(py, "input", &Error::input(Path::new(name), log)));
        }
        let mut inner = self.inner();
        let members = document.root.children().cloned().collect();
        add_to_set(Arc::make_mut(&mut inner.document), set, members);
        (inner.built, inner.components) = (None, None);
        Ok(())
    }

    /// Makes the model ready for computing.
    #[pyo3(signature = (opensim_faults=false))]
    fn compile(&self, py: Python<'_>, opensim_faults: bool) -> PyResult<PySystem> {
        let made = py.detach(|| {
            let mut inner = self.inner();
            let (model, document) = (inner.build()?, inner.document.clone());
            drop(inner);
            let path = Path::new(&document.file);
            let files = Layered::default();
            let mut model = (*model).clone();
            read_meshes(&Context::new(&files), path, &mut model)?;
            let system = compile(path, &model, &Options { opensim_faults })?;
            Ok(PySystem::new(Evaluator::new(Arc::new(model), Arc::new(system)), document))
        });
        made.map_err(|e| raise(py, "model", &e))
    }

    /// Errors of the model as it is now, as an exception; nothing if it has none.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.inner().build() {
            Ok(_) => Ok(()),
            Err(e) => Err(make(
                py,
                "model",
                &e.to_string(),
                e.diagnostics().iter().map(diagnostic_fields).collect(),
                None,
            )),
        }
    }
}
