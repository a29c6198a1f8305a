//! `import soleus` with the laws of a laboratory: `sl.read` knows `<StiffeningSpring>`, and studies know `knee_jerk`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule(gil_used = false)]
fn _soleus(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let registry = my_lab::registry().map_err(|e| PyValueError::new_err(e.to_string()))?;
    soleus_python::fill(m, registry)
}
