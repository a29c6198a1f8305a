//! The extension module `soleus._soleus`: the function that Python calls when it imports the module. A laboratory's own wheel
//! (`examples/lab-wheel`) has another one in its place, and shares everything else.

use pyo3::prelude::*;

/// The compiled part of Soleus.
#[pymodule(gil_used = false)]
fn _soleus(m: &Bound<'_, PyModule>) -> PyResult<()> {
    soleus_python::fill(m, Default::default())
}
