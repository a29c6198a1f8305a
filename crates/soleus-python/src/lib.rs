//! Soleus for Python: what the extension `soleus._soleus` of the package `soleus` contains.
//!
//! A door like the command: it turns Python's values into requests, runs them with the interpreter lock released, and turns results into
//! Python's values. What users see is in `python/soleus`.
//!
//! A laboratory with forces and goals of its own ([`soleus::extension`]) builds the same extension with them: [`fill`] a module with its registry.

mod arrow;
mod batch;
#[cfg(unix)]
mod device;
mod error;
mod files;
mod lanes;
mod model;
mod request;
mod system;
mod table;
mod tools;
mod watch;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use soleus::extension::Registry;
use std::ffi::OsString;
use std::sync::Arc;

/// Runs the `soleus` command with these arguments, the name of the program first, and returns its exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| soleus_cli::run_command(arguments))
}

/// Models that the package holds.
const EXAMPLES: [(&str, &[u8]); 4] = [
    ("gait2d", include_bytes!("../../../models/gait2d.osim")),
    ("leg_swing", include_bytes!("../../../models/leg_swing.osim")),
    ("reach", include_bytes!("../../../models/reach.osim")),
    ("suspended_mass", include_bytes!("../../../models/suspended_mass.osim")),
];

/// The bytes of a model that the package holds.
#[pyfunction]
fn example_model<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let found = EXAMPLES.iter().find(|(n, _)| *n == name);
    let names = || EXAMPLES.map(|(n, _)| n).join(", ");
    let (_, bytes) = found.ok_or_else(|| {
        PyKeyError::new_err(format!("no built-in model is called `{name}`; available: {}", names()))
    })?;
    Ok(PyBytes::new(py, bytes))
}

/// Laws that a laboratory brought along.
#[pyclass(frozen, name = "Registry", module = "soleus._soleus")]
struct PyRegistry(Arc<Registry>);

/// Those of the module that was imported.
pub(crate) fn registry(py: Python<'_>) -> Option<Arc<Registry>> {
    let found = py.import("soleus._soleus").and_then(|m| m.getattr("_registry")).ok()?;
    let found = found.cast::<PyRegistry>().ok()?;
    Some(found.get().0.clone()).filter(|r| !r.is_empty())
}

/// Fills an extension module that is called `soleus._soleus`, with these laws beside those that are built in.
pub fn fill(m: &Bound<'_, PyModule>, registry: Registry) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("_registry", PyRegistry(Arc::new(registry)))?;
    m.add_class::<model::PyModel>()?;
    m.add_class::<system::PySystem>()?;
    m.add_class::<batch::PyBatch>()?;
    m.add_class::<lanes::PyLanesBatch>()?;
    #[cfg(unix)]
    {
        m.add_class::<device::PyDeviceArray>()?;
        m.add_class::<device::PyDeviceBatch>()?;
        m.add_function(wrap_pyfunction!(device::_host_array, m)?)?;
    }
    m.add_class::<table::PyTable>()?;
    m.add_function(wrap_pyfunction!(table::read_table, m)?)?;
    m.add_function(wrap_pyfunction!(table::read_table_bytes, m)?)?;
    m.add_function(wrap_pyfunction!(arrow::stream_of_columns, m)?)?;
    m.add_function(wrap_pyfunction!(tools::run, m)?)?;
    m.add_function(wrap_pyfunction!(tools::fields, m)?)?;
    m.add_function(wrap_pyfunction!(tools::names, m)?)?;
    m.add_function(wrap_pyfunction!(tools::read_study, m)?)?;
    m.add_function(wrap_pyfunction!(tools::write_study, m)?)?;
    m.add_function(wrap_pyfunction!(run_command, m)?)?;
    m.add_function(wrap_pyfunction!(example_model, m)?)?;
    Ok(())
}
