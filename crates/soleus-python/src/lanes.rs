//! Batches on the lanes of this CPU: states are one NumPy array, of which those that users see are views.

use crate::batch::method_of;
use crate::error::raise;
use crate::system::PySystem;
use crate::watch::{Interrupt, Writing};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use soleus::states::{LanesBatch, lanes};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Whether to take more copies, or to stop.
type GoingOn<'a> = dyn Fn() -> bool + Sync + 'a;

/// Many simulations of one model on the lanes of this CPU.
#[pyclass(frozen, name = "LanesBatch", module = "soleus._soleus")]
pub struct PyLanesBatch {
    batch: Mutex<LanesBatch>,
    /// A row for each number of the state, with all copies beside each other.
    x: Py<PyArray2<f64>>,
    /// Copies that could not go on.
    #[pyo3(get)]
    failed: Py<PyArray1<bool>>,
    varied: Mutex<Vec<Py<PyArray1<f64>>>>,
    #[pyo3(get)]
    backend: String,
    count: usize,
}

impl PyLanesBatch {
    /// Copies in the default state of the model, muscles in equilibrium.
    pub fn new(
        py: Python<'_>,
        system: &PySystem,
        n: usize,
        method: &str,
        single: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let Some(step) = lanes::step_of(method_of(method)?) else {
            let message = format!(
                "the back end `lanes` has no method `{method}`; choose rosenbrock or semi-explicit-euler"
            );
            return Err(PyValueError::new_err(message));
        };
        let options = lanes::BatchOptions { single, step, threads };
        let (evaluator, document) = (system.evaluator.clone(), system.document.clone());
        let batch = py.detach(|| LanesBatch::new(evaluator, document, n, options));
        let batch = batch.map_err(|e| raise(py, "input", &e))?;
        let made = PyLanesBatch {
            x: PyArray2::<f64>::zeros(py, [batch.rows(), n], false).unbind(),
            failed: PyArray1::<bool>::zeros(py, [n], false).unbind(),
            varied: Mutex::default(),
            backend: batch.backend().to_string(),
            batch: Mutex::new(batch),
            count: n,
        };
        made.reset(py, None)?;
        Ok(made)
    }

    fn alone(&self) -> PyResult<MutexGuard<'_, LanesBatch>> {
        match self.batch.try_lock() {
            Ok(batch) => Ok(batch),
            Err(TryLockError::Poisoned(e)) => Ok(e.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread is stepping this batch"))
            }
        }
    }

    /// Some rows as an array with a row for each copy.
    fn view<'py>(&self, py: Python<'py>, rows: Range<usize>) -> PyResult<Bound<'py, PyAny>> {
        let rows = PySlice::new(py, rows.start as isize, rows.end as isize, 1);
        self.x.bind(py).as_any().get_item(rows)?.getattr("T")
    }

    /// Calls `work` with the batch, all states, the numbers that differ and what says whether to go on, the lock released. With its result
    /// what stopped it, if something did.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut LanesBatch, &mut [f64], &[&[f64]], &GoingOn) -> Result<T, soleus::Error> + Send,
    ) -> PyResult<(T, PyResult<()>)> {
        let mut batch = self.alone()?;
        let varied = self.varied.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<_> = varied.iter().map(|a| a.bind(py).try_readonly()).collect::<Result<_, _>>()?;
        let numbers: Vec<&[f64]> = numbers.iter().map(|a| a.as_slice()).collect::<Result<_, _>>()?;
        let mut x = self.x.bind(py).try_readwrite()?;
        let (x, batch) = (x.as_slice_mut()?, &mut *batch);
        let _writing = Writing::begin(py);
        let interrupt = Interrupt::new();
        let done = py.detach(|| work(batch, x, &numbers, &|| interrupt.going_on()));
        Ok((done.map_err(|e| raise(py, "input", &e))?, interrupt.raised()))
    }
}

#[pymethods]
impl PyLanesBatch {
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.alone()?.layout().q.clone();
        self.view(py, rows)
    }

    #[getter]
    fn u<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.alone()?.layout().u.clone();
        self.view(py, rows)
    }

    #[getter]
    fn z<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.alone()?.layout().z.clone();
        self.view(py, rows)
    }

    #[getter]
    fn e<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.alone()?.layout().e.clone();
        self.view(py, rows)
    }

    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let row = self.alone()?.layout().time;
        self.x.bind(py).as_any().get_item(row)
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// Puts copies back to the default state of the model at time 0, muscles in equilibrium; all of them, or those that a mask names.
    #[pyo3(signature = (mask=None))]
    fn reset(&self, py: Python<'_>, mask: Option<PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let batch = self.alone()?;
        let wanted: Option<Vec<bool>> = mask.map(|m| m.as_array().to_vec());
        if wanted.as_ref().is_some_and(|w| w.len() != self.count) {
            return Err(PyValueError::new_err(format!("the mask must have {} entries", self.count)));
        }
        let is_wanted = |k: usize| wanted.as_ref().is_none_or(|w| w[k]);
        let (start, controls) = (batch.start(), batch.layout().e.clone());
        let (mut x, mut failed) = (self.x.bind(py).try_readwrite()?, self.failed.bind(py).try_readwrite()?);
        let rows = x.as_slice_mut()?.chunks_exact_mut(self.count.max(1));
        // Controls are the caller's.
        for (_, (row, v)) in rows.zip(&start).enumerate().filter(|(i, _)| !controls.contains(i)) {
            row.iter_mut().enumerate().filter(|(k, _)| is_wanted(*k)).for_each(|(_, x)| *x = *v);
        }
        let failed = failed.as_slice_mut()?.iter_mut().enumerate();
        failed.filter(|(k, _)| is_wanted(*k)).for_each(|(_, f)| *f = false);
        Ok(())
    }

    /// Takes every copy `dt` further. Returns how many could not go on, and why the first could not.
    #[pyo3(signature = (dt, steps=1))]
    fn step(&self, py: Python<'_>, dt: f64, steps: usize) -> PyResult<(usize, Option<String>)> {
        let (failures, stopped) =
            self.with(py, |batch, x, numbers, going_on| batch.step_while(x, numbers, dt, steps, going_on))?;
        let mut failed = self.failed.bind(py).try_readwrite()?;
        let mut failed = failed.as_array_mut();
        failures.iter().for_each(|f| failed[f.copy] = true);
        stopped?;
        Ok((failures.len(), failures.first().map(|f| format!("copy {}: {}", f.copy, f.why))))
    }

    /// Accelerations and rates of the states of forces of all copies.
    fn rates<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (y, _) = self.with(py, |batch, x, numbers, _| batch.evaluate(x, numbers))?;
        let n = self.alone()?.layout().u.len();
        let y = y.into_pyarray(py);
        let count = self.count;
        let y = y.reshape([y.len().checked_div(count).unwrap_or(0), count])?;
        let part = |from: usize, to: isize| {
            y.as_any().get_item(PySlice::new(py, from as isize, to, 1))?.getattr("T")
        };
        Ok((part(0, n as isize)?, part(n, isize::MAX)?))
    }

    /// How weighted sums of the states after a step would change with the states now and with the controls, as for a batch of the engine.
    #[pyo3(signature = (weights, dt, steps=1))]
    #[allow(clippy::type_complexity)]
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray3<'py, f64>,
        dt: f64,
        steps: usize,
    ) -> PyResult<(Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, usize, Option<String>)> {
        let (sums, nx, w) = (weights.shape()[1], weights.shape()[2], weights.as_slice()?);
        let (found, stopped) = self.with(py, |batch, x, numbers, going_on| {
            batch.gradients_while(x, numbers, dt, steps, w, sums, going_on)
        })?;
        stopped?;
        let ne = self.alone()?.layout().e.len();
        let why = found.failures.first().map(|f| format!("copy {}: {}", f.copy, f.why));
        let by_x = found.x.into_pyarray(py).reshape([self.count, sums, nx])?;
        let by_e = found.e.into_pyarray(py).reshape([self.count, sums, ne])?;
        Ok((by_x, by_e, found.failures.len(), why))
    }

    /// Lets a number of the model differ from copy to copy; returns the live array of its values.
    fn vary(&self, py: Python<'_>, path: &str) -> PyResult<Py<PyArray1<f64>>> {
        let mut batch = self.alone()?;
        let (i, value) = batch.vary(path).map_err(|e| raise(py, "input", &e))?;
        let mut varied = self.varied.lock().unwrap_or_else(PoisonError::into_inner);
        if i == varied.len() {
            let array = PyArray1::<f64>::zeros(py, [self.count], false);
            array.try_readwrite()?.as_array_mut().fill(value);
            varied.push(array.unbind());
        }
        Ok(varied[i].clone_ref(py))
    }
}
