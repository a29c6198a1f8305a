//! Python's values as requests, and results as Python's values.

use crate::model::PyModel;
use crate::table::PyTable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Value};
use soleus::source::{ModelSource, Source};
use soleus::{Document, Table};
use std::cell::RefCell;
use std::sync::Arc;

/// Begins a word that stands for something in memory; no file has such a name.
const MARK: &str = "\u{1}soleus:";

/// What a request holds that is in memory: tables and models, by number.
#[derive(Default)]
pub struct Given {
    things: Vec<(Thing, String)>,
    /// Which have found their place.
    placed: RefCell<Vec<usize>>,
}

#[derive(Clone)]
enum Thing {
    Table(Arc<Table>),
    Model(Arc<Document>),
}

impl Given {
    /// A Python value as JSON; what is in memory becomes a word that stands for it.
    pub fn json(&mut self, value: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
        if value.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(b) = value.cast::<PyBool>() {
            return Ok(Value::Bool(b.is_true()));
        }
        if value.is_instance_of::<PyInt>() {
            return Ok(Value::from(value.extract::<i64>()?));
        }
        if let Ok(x) = value.cast::<PyFloat>() {
            return number(x.value(), key);
        }
        if let Ok(s) = value.cast::<PyString>() {
            return Ok(Value::String(s.to_str()?.to_string()));
        }
        if let Ok(t) = value.cast::<PyTable>() {
            return Ok(self.add(Thing::Table(t.get().table.clone()), key));
        }
        if let Ok(m) = value.cast::<PyModel>() {
            return Ok(self.add(Thing::Model(m.get().document()), key));
        }
        if let Ok(d) = value.cast::<PyDict>() {
            let mut map = Map::new();
            for (k, v) in d {
                let k: String = k.extract()?;
                let v = self.json(&v, &k)?;
                map.insert(k, v);
            }
            return Ok(Value::Object(map));
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let list: PyResult<Vec<Value>> = value.try_iter()?.map(|v| self.json(&v?, key)).collect();
            return Ok(Value::Array(list?));
        }
        // Paths, numbers of NumPy, arrays.
        if let Ok(path) = value.call_method0("__fspath__") {
            return self.json(&path, key);
        }
        if let Ok(list) = value.call_method0("tolist") {
            return self.json(&list, key);
        }
        if let Ok(x) = value.extract::<f64>() {
            return number(x, key);
        }
        let what = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("`{key}` cannot be a {what}")))
    }

    fn add(&mut self, thing: Thing, key: &str) -> Value {
        self.things.push((thing, key.to_string()));
        Value::String(format!("{MARK}{}", self.things.len() - 1))
    }

    fn thing(&self, path: &std::path::Path) -> Option<(usize, Thing)> {
        let i: usize = path.to_str()?.strip_prefix(MARK)?.parse().ok()?;
        Some((i, self.things.get(i)?.0.clone()))
    }

    /// Puts a model where a word stands for it.
    pub fn model(&self, source: &mut ModelSource) {
        if let ModelSource::File(path) = source
            && let Some((i, Thing::Model(document))) = self.thing(path)
        {
            *source = ModelSource::Document(document);
            self.placed.borrow_mut().push(i);
        }
    }

    /// Puts a table where a word stands for it.
    pub fn table(&self, source: &mut Source<Table>) {
        if let Source::File(path) = source
            && let Some((i, Thing::Table(table))) = self.thing(path)
        {
            *source = Source::Value(table);
            self.placed.borrow_mut().push(i);
        }
    }

    /// The same where there need not be any.
    pub fn tables<'a>(&self, sources: impl IntoIterator<Item = &'a mut Source<Table>>) {
        sources.into_iter().for_each(|s| self.table(s));
    }

    /// An error if something did not find its place: a file was wanted there.
    pub fn check(&self) -> PyResult<()> {
        let placed = self.placed.borrow();
        match self.things.iter().enumerate().find(|(i, _)| !placed.contains(i)) {
            None => Ok(()),
            Some((_, (thing, key))) => {
                let what = match thing {
                    Thing::Table(_) => "table",
                    Thing::Model(_) => "model",
                };
                Err(PyTypeError::new_err(format!("`{key}` cannot be a {what}: give a file")))
            }
        }
    }
}

fn number(x: f64, key: &str) -> PyResult<Value> {
    serde_json::Number::from_f64(x)
        .map(Value::Number)
        .ok_or_else(|| PyValueError::new_err(format!("`{key}` cannot be {x}")))
}

/// A value of a result. Made in the thread of the work, turned into Python's values afterwards.
pub enum Out {
    None,
    Bool(bool),
    Integer(usize),
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
    Table(Box<Table>),
    Model(Box<Document>),
    List(Vec<Out>),
    Map(Vec<(String, Out)>),
}

impl Out {
    /// As Python's value.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Out::None => py.None(),
            Out::Bool(b) => PyBool::new(py, b).to_owned().into_any().unbind(),
            Out::Integer(n) => n.into_pyobject(py)?.into_any().unbind(),
            Out::Number(x) => x.into_pyobject(py)?.into_any().unbind(),
            Out::Text(s) => s.into_pyobject(py)?.into_any().unbind(),
            Out::Bytes(b) => PyBytes::new(py, &b).into_any().unbind(),
            Out::Table(t) => Py::new(py, PyTable::from(*t))?.into_any(),
            Out::Model(d) => Py::new(py, PyModel::from_document(*d))?.into_any(),
            Out::List(list) => {
                let items: PyResult<Vec<_>> = list.into_iter().map(|x| x.into_python(py)).collect();
                PyList::new(py, items?)?.into_any().unbind()
            }
            Out::Map(pairs) => {
                let dict = PyDict::new(py);
                for (key, value) in pairs {
                    dict.set_item(key, value.into_python(py)?)?;
                }
                dict.into_any().unbind()
            }
        })
    }
}

impl From<f64> for Out {
    fn from(x: f64) -> Self {
        Out::Number(x)
    }
}
impl From<usize> for Out {
    fn from(n: usize) -> Self {
        Out::Integer(n)
    }
}
impl From<bool> for Out {
    fn from(b: bool) -> Self {
        Out::Bool(b)
    }
}
impl From<String> for Out {
    fn from(s: String) -> Self {
        Out::Text(s)
    }
}
impl From<&str> for Out {
    fn from(s: &str) -> Self {
        Out::Text(s.to_string())
    }
}
impl From<Table> for Out {
    fn from(t: Table) -> Self {
        Out::Table(Box::new(t))
    }
}
impl From<&Table> for Out {
    fn from(t: &Table) -> Self {
        Out::Table(Box::new(t.clone()))
    }
}
impl From<Document> for Out {
    fn from(d: Document) -> Self {
        Out::Model(Box::new(d))
    }
}
impl<T: Into<Out>> From<Option<T>> for Out {
    fn from(x: Option<T>) -> Self {
        x.map_or(Out::None, Into::into)
    }
}
impl<T: Into<Out>> From<Vec<T>> for Out {
    fn from(list: Vec<T>) -> Self {
        Out::List(list.into_iter().map(Into::into).collect())
    }
}
impl<const N: usize> From<[f64; N]> for Out {
    fn from(list: [f64; N]) -> Self {
        Out::List(list.into_iter().map(Into::into).collect())
    }
}
