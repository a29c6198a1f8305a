//! Tables over time: columns that NumPy looks at without a copy.

use crate::arrow;
use crate::error::{make, raise};
use crate::files::Layered;
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};
use soleus::conversion::{Convert, Turn};
use soleus::engine::io::table::sto::Digits;
use soleus::engine::io::table::{Format, csv, parquet, sto, trc};
use soleus::engine::math::signal;
use soleus::engine::math::table::Element;
use soleus::engine::model::nearest_name;
use soleus::inputs::table::{self as input, Take};
use soleus::{Context, Error, Files, Source, Table};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A table over time.
#[pyclass(frozen, name = "Table", module = "soleus._soleus")]
pub struct PyTable {
    /// Shared with requests and with the arrays that look at it.
    pub table: Arc<Table>,
}

impl From<Table> for PyTable {
    fn from(table: Table) -> Self {
        PyTable { table: Arc::new(table) }
    }
}

/// A list of numbers of a table, which lives as long as somebody looks at it.
#[pyclass(frozen)]
struct Owner(#[allow(dead_code)] Arc<Table>);

/// An array that looks at numbers of a table, and cannot change them.
fn view<'py>(py: Python<'py>, table: &Arc<Table>, numbers: &[f64]) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let owner = Bound::new(py, Owner(table.clone()))?.into_any();
    // SAFETY: the numbers belong to the table, which never changes and lives as long as the owner, which the array keeps.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(numbers), owner) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

/// Columns as an array with a row for each time.
fn rows_of<'py>(py: Python<'py>, rows: usize, columns: &[Vec<f64>]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let array = PyArray2::<f64>::zeros(py, [rows, columns.len()], false);
    let mut write = array.readwrite();
    for (i, row) in write.as_slice_mut()?.chunks_exact_mut(columns.len().max(1)).enumerate() {
        row.iter_mut().zip(columns).for_each(|(a, column)| *a = column[i]);
    }
    drop(write);
    Ok(array)
}

fn wrong(py: Python<'_>, e: impl std::fmt::Display) -> PyErr {
    make(py, "table", &e.to_string(), Vec::new(), None)
}

/// What a label stands for, by name.
fn element(name: &str) -> PyResult<Element> {
    Ok(match name {
        "double" => Element::Scalar,
        "UnitVec3" => Element::UnitVec3,
        "Quaternion" => Element::Quaternion,
        "SpatialVec" => Element::SpatialVec,
        other => match other.strip_prefix("Vec").and_then(|n| n.parse().ok()) {
            Some(n) => Element::Vec(n),
            None => return Err(PyValueError::new_err(format!("unknown element type `{other}`"))),
        },
    })
}

fn take_of(name: &str) -> PyResult<Take> {
    Ok(match name {
        "markers" => Take::Markers,
        "forces" => Take::Forces,
        "analog" => Take::Analog,
        other => {
            let message =
                format!("`{other}` cannot be read from a C3D file: choose markers, forces or analog");
            return Err(PyValueError::new_err(message));
        }
    })
}

/// Reads a table file.
#[pyfunction]
#[pyo3(signature = (path, take="markers", threshold=0.0))]
pub fn read_table(py: Python<'_>, path: PathBuf, take: &str, threshold: f64) -> PyResult<PyTable> {
    let (take, files) = (take_of(take)?, Layered::default());
    let read = || input::read(&Context::new(&files), &Source::File(path), take, threshold);
    py.detach(read).map(PyTable::from).map_err(|e| raise(py, "table", &e))
}

/// Reads the bytes of a table file; the name tells the format.
#[pyfunction]
#[pyo3(signature = (bytes, name, take="markers", threshold=0.0))]
pub fn read_table_bytes(
    py: Python<'_>,
    bytes: &[u8],
    name: &str,
    take: &str,
    threshold: f64,
) -> PyResult<PyTable> {
    let take = take_of(take)?;
    let files = soleus::Memory::new().with(name, bytes);
    let read = || input::read(&Context::new(&files), &Source::File(name.into()), take, threshold);
    py.detach(read).map(PyTable::from).map_err(|e| raise(py, "table", &e))
}

/// The bytes of a file.
fn to_bytes(table: &Table, name: &str, fixed_digits: bool) -> Result<Vec<u8>, String> {
    let format = Format::of(name).ok_or("the file name must end in .sto, .mot, .trc, .csv or .parquet")?;
    Ok(match format {
        Format::Trc => trc::write(table, name).map_err(|e| e.to_string())?.into_bytes(),
        Format::Csv => csv::write(table).into_bytes(),
        Format::Parquet => parquet::write(table),
        _ if table.element() != Element::Scalar => sto::write_typed(table).into_bytes(),
        _ => {
            let digits = if fixed_digits { Digits::Fixed8 } else { Digits::Shortest };
            sto::write(table, digits).into_bytes()
        }
    })
}

#[pymethods]
impl PyTable {
    /// A table of numbers: a row for each time, a column for each label, or for each of its components.
    #[new]
    #[pyo3(signature = (time, labels, values, name="", degrees=None, element="double", metadata=None, description=""))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        time: PyReadonlyArray1<'_, f64>,
        labels: Vec<String>,
        values: PyReadonlyArray2<'_, f64>,
        name: &str,
        degrees: Option<bool>,
        element: &str,
        metadata: Option<Vec<(String, String)>>,
        description: &str,
    ) -> PyResult<Self> {
        let times: Vec<f64> = time.as_array().to_vec();
        // An array without columns has no steps from one number to the next, which an array view must have.
        let columns: Vec<Vec<f64>> = match values.len() {
            0 => vec![Vec::new(); values.shape()[1]],
            _ => values.as_array().columns().into_iter().map(|c| c.to_vec()).collect(),
        };
        let mut table =
            Table::new(self::element(element)?, labels, times, columns).map_err(|e| wrong(py, e))?;
        table.name = name.to_string();
        table.description = description.to_string();
        table.metadata = metadata.unwrap_or_default();
        table.in_degrees = degrees;
        Ok(table.into())
    }

    #[getter]
    fn labels(&self) -> Vec<String> {
        self.table.labels().to_vec()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.table.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.table.description
    }

    #[getter]
    fn degrees(&self) -> Option<bool> {
        self.table.in_degrees
    }

    #[getter]
    fn element(&self) -> String {
        self.table.element().name()
    }

    #[getter]
    fn metadata(&self) -> Vec<(String, String)> {
        self.table.metadata.clone()
    }

    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        view(py, &self.table, self.table.times())
    }

    fn __len__(&self) -> usize {
        self.table.rows()
    }

    /// The numbers under a label: one for each row, or a row of components.
    fn column<'py>(&self, py: Python<'py>, label: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(i) = self.table.index_of(label) else {
            let near = nearest_name(label, self.table.labels().iter().map(String::as_str), 2);
            let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err(PyKeyError::new_err(format!("the table has no column `{label}`{near}")));
        };
        let n = self.table.element().components();
        let columns = &self.table.columns()[i * n..(i + 1) * n];
        if self.table.element() == Element::Scalar {
            return Ok(view(py, &self.table, &columns[0])?.into_any());
        }
        Ok(rows_of(py, self.table.rows(), columns)?.into_any())
    }

    /// All numbers: a row for each time, a column for each label or component.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        rows_of(py, self.table.rows(), self.table.columns())
    }

    fn __eq__(&self, other: &PyTable) -> bool {
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || (x.is_nan() && y.is_nan()))
        };
        let (a, b) = (&*self.table, &*other.table);
        a.labels() == b.labels()
            && a.element() == b.element()
            && a.in_degrees == b.in_degrees
            && same(a.times(), b.times())
            && a.columns().iter().zip(b.columns()).all(|(x, y)| same(x, y))
    }

    fn __hash__(&self) -> u64 {
        // Of what tables that are equal have in common.
        (self.table.rows() as u64) << 32 | self.table.labels().len() as u64
    }

    /// Low-pass of a third-order Butterworth filter, forwards and backwards.
    fn lowpass(&self, py: Python<'_>, cutoff_hz: f64) -> PyResult<PyTable> {
        py.detach(|| signal::lowpass(&self.table, cutoff_hz)).map(PyTable::from).map_err(|e| wrong(py, e))
    }

    /// At so many rows per second, by splines.
    fn resample(&self, py: Python<'_>, rate_hz: f64) -> PyResult<PyTable> {
        let request =
            Convert { input: Source::Value(self.table.clone()), rate: Some(rate_hz), ..Convert::default() };
        let files = Layered::default();
        let done = py.detach(|| request.run(&Context::new(&files)));
        done.map(|d| PyTable::from(d.table)).map_err(|e| raise(py, "table", &e))
    }

    /// At these times, by splines of a degree.
    fn resample_at(
        &self,
        py: Python<'_>,
        times: PyReadonlyArray1<'_, f64>,
        degree: usize,
    ) -> PyResult<PyTable> {
        let times = times.as_array().to_vec();
        py.detach(|| signal::resampled_at(&self.table, &times, degree))
            .map(PyTable::from)
            .map_err(|e| wrong(py, e))
    }

    /// The derivative by time of splines of a degree.
    fn derivative(&self, py: Python<'_>, order: usize, degree: usize) -> PyResult<PyTable> {
        py.detach(|| signal::derivative(&self.table, order, degree))
            .map(PyTable::from)
            .map_err(|e| wrong(py, e))
    }

    /// Rows with first ≤ time ≤ last.
    fn trim(&self, first: f64, last: f64) -> PyTable {
        self.table.trimmed(first, last).into()
    }

    /// The named columns alone.
    fn select(&self, py: Python<'_>, labels: Vec<String>) -> PyResult<PyTable> {
        for label in labels.iter().filter(|l| self.table.index_of(l).is_none()) {
            self.column(py, label)?;
        }
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        self.table.selected(&labels).map(PyTable::from).map_err(|e| wrong(py, e))
    }

    /// A table of numbers, a column for each component of a vector.
    fn flatten(&self) -> PyTable {
        self.table.flattened().into()
    }

    /// A table of vectors from columns in threes.
    fn pack(&self, py: Python<'_>) -> PyResult<PyTable> {
        self.table.packed().map(PyTable::from).map_err(|e| wrong(py, e))
    }

    /// Vectors in another unit of length, turned about axes: `x:-90`.
    #[pyo3(signature = (units=None, rotate=Vec::new()))]
    fn convert(&self, py: Python<'_>, units: Option<String>, rotate: Vec<String>) -> PyResult<PyTable> {
        let turns: Result<Vec<Turn>, String> = rotate.iter().map(|t| t.parse()).collect();
        let rotate = turns.map_err(PyValueError::new_err)?;
        let request =
            Convert { input: Source::Value(self.table.clone()), units, rotate, ..Convert::default() };
        let files = Layered::default();
        let done = py.detach(|| request.run(&Context::new(&files)));
        done.map(|d| PyTable::from(d.table)).map_err(|e| raise(py, "table", &e))
    }

    /// With another header.
    #[pyo3(signature = (name=None, degrees=None, metadata=None))]
    fn replace(
        &self,
        name: Option<String>,
        degrees: Option<bool>,
        metadata: Option<Vec<(String, String)>>,
    ) -> PyTable {
        let mut table = (*self.table).clone();
        table.name = name.unwrap_or(table.name);
        table.in_degrees = degrees.or(table.in_degrees);
        table.metadata = metadata.unwrap_or(table.metadata);
        table.into()
    }

    /// With other labels, in the same order.
    fn rename(&self, labels: Vec<String>) -> PyResult<PyTable> {
        if labels.len() != self.table.labels().len() {
            let message =
                format!("there are {} labels for {} columns", labels.len(), self.table.labels().len());
            return Err(PyValueError::new_err(message));
        }
        let mut table = (*self.table).clone();
        labels.into_iter().enumerate().for_each(|(i, label)| table.rename(i, label));
        Ok(table.into())
    }

    /// The bytes of a file; the ending of the name tells the format.
    #[pyo3(signature = (name, fixed_digits=false))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        fixed_digits: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| to_bytes(&self.table, name, fixed_digits)).map_err(|e| wrong(py, e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a file; the ending of its name tells the format.
    #[pyo3(signature = (path, fixed_digits=false))]
    fn write(&self, py: Python<'_>, path: PathBuf, fixed_digits: bool) -> PyResult<()> {
        let name = path.to_string_lossy().into_owned();
        let bytes = py.detach(|| to_bytes(&self.table, &name, fixed_digits)).map_err(|e| wrong(py, e))?;
        let files = Layered::default();
        let done = py.detach(|| files.write(Path::new(&path), &bytes));
        done.map_err(|e| raise(py, "table", &Error::write(&files, &path, e)))
    }

    /// Arrow's capsule interface: polars, pandas, DuckDB and pyarrow read the table by it, its numbers without a copy.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // What is asked for is best effort by the interface's own words.
        let _ = requested_schema;
        arrow::stream_of_table(py, &self.table)
    }

    /// A table of anything that has Arrow's capsule interface.
    #[staticmethod]
    #[pyo3(signature = (source, time="time", degrees=None))]
    fn from_arrow(source: &Bound<'_, PyAny>, time: &str, degrees: Option<bool>) -> PyResult<PyTable> {
        arrow::table_of(source, time, degrees)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let t = slf.get();
        let of = (
            PyArray1::from_slice(py, t.table.times()),
            t.labels(),
            t.values(py)?,
            t.name().to_string(),
            t.degrees(),
            t.element(),
            t.metadata(),
            t.description().to_string(),
        );
        Ok((slf.get_type().into_any(), of.into_pyobject(py)?))
    }
}
