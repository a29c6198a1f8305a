//! Batches: many simulations of one model, whose states are NumPy arrays.

use crate::error::raise;
use crate::system::PySystem;
use crate::watch::{Interrupt, Writing};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use soleus::states::batch::Copies;
use soleus::states::{At, Batch, BatchMethod};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A method by its name.
pub fn method_of(name: &str) -> PyResult<BatchMethod> {
    match name {
        "rosenbrock" => Ok(BatchMethod::Rosenbrock),
        "semi-explicit-euler" => Ok(BatchMethod::SemiExplicitEuler),
        "rkm" => Ok(BatchMethod::Rkm),
        other => {
            let message = format!("unknown method `{other}`; choose rosenbrock, semi-explicit-euler or rkm");
            Err(PyValueError::new_err(message))
        }
    }
}

/// Many simulations of one model.
#[pyclass(frozen, name = "Batch", module = "soleus._soleus")]
pub struct PyBatch {
    batch: Mutex<Batch>,
    /// Live arrays: a row for each copy.
    #[pyo3(get)]
    q: Py<PyArray2<f64>>,
    #[pyo3(get)]
    u: Py<PyArray2<f64>>,
    #[pyo3(get)]
    z: Py<PyArray2<f64>>,
    #[pyo3(get)]
    e: Py<PyArray2<f64>>,
    #[pyo3(get)]
    time: Py<PyArray1<f64>>,
    /// Copies that could not go on.
    #[pyo3(get)]
    failed: Py<PyArray1<bool>>,
    varied: Mutex<Vec<Py<PyArray1<f64>>>>,
    count: usize,
    threads: usize,
}

impl PyBatch {
    /// Copies in the default state of the model, muscles in equilibrium.
    pub fn new(
        py: Python<'_>,
        system: &PySystem,
        n: usize,
        method: &str,
        accuracy: f64,
        threads: usize,
    ) -> PyResult<Self> {
        let method = method_of(method)?;
        let s = &system.evaluator.system;
        let (nq, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
        let two = |width: usize| PyArray2::<f64>::zeros(py, [n, width], false).unbind();
        let batch = Batch::new(system.evaluator.clone(), system.document.clone(), n, method, accuracy);
        let made = PyBatch {
            batch: Mutex::new(batch),
            q: two(nq),
            u: two(nq),
            z: two(nz),
            e: two(ne),
            time: PyArray1::<f64>::zeros(py, [n], false).unbind(),
            failed: PyArray1::<bool>::zeros(py, [n], false).unbind(),
            varied: Mutex::default(),
            count: n,
            threads,
        };
        made.reset(py, None)?;
        Ok(made)
    }

    /// The batch, if nobody else works with it. Waiting for them would not do: who steps it wants the interpreter's lock back, which we hold.
    fn alone(&self) -> PyResult<MutexGuard<'_, Batch>> {
        match self.batch.try_lock() {
            Ok(batch) => Ok(batch),
            Err(TryLockError::Poisoned(e)) => Ok(e.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread is stepping this batch"))
            }
        }
    }
}

#[pymethods]
impl PyBatch {
    /// How copies are computed.
    #[getter]
    fn backend(&self) -> &'static str {
        "engine"
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// Puts copies back to the default state of the model at time 0, muscles in equilibrium; all of them, or those that a mask names.
    #[pyo3(signature = (mask=None))]
    fn reset(&self, py: Python<'_>, mask: Option<numpy::PyReadonlyArray1<'_, bool>>) -> PyResult<()> {
        let batch = self.alone()?;
        let wanted: Option<Vec<bool>> = mask.map(|m| m.as_array().to_vec());
        if wanted.as_ref().is_some_and(|w| w.len() != batch.count()) {
            return Err(PyValueError::new_err(format!("the mask must have {} entries", batch.count())));
        }
        let s = &batch.evaluator().system;
        let x = batch.start(&vec![0.0; s.num_controls]);
        for (array, row) in [(&self.q, &x.q), (&self.u, &x.u), (&self.z, &x.z)] {
            let mut write = array.bind(py).try_readwrite()?;
            for (i, to) in write.as_slice_mut()?.chunks_exact_mut(row.len().max(1)).enumerate() {
                if wanted.as_ref().is_none_or(|w| w[i]) {
                    to.copy_from_slice(row);
                }
            }
        }
        let (mut time, mut failed) =
            (self.time.bind(py).try_readwrite()?, self.failed.bind(py).try_readwrite()?);
        for (i, (t, f)) in time.as_array_mut().iter_mut().zip(failed.as_array_mut()).enumerate() {
            if wanted.as_ref().is_none_or(|w| w[i]) {
                (*t, *f) = (0.0, false);
            }
        }
        Ok(())
    }

    /// Takes every copy `dt` further. Returns how many could not go on, and why the first could not.
    #[pyo3(signature = (dt, steps=1))]
    fn step(&self, py: Python<'_>, dt: f64, steps: usize) -> PyResult<(usize, Option<String>)> {
        let mut batch = self.alone()?;
        let varied = self.varied.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<_> = varied.iter().map(|a| a.bind(py).try_readonly()).collect::<Result<_, _>>()?;
        let numbers: Vec<&[f64]> = numbers.iter().map(|a| a.as_slice()).collect::<Result<_, _>>()?;
        let [mut q, mut u, mut z] = [
            self.q.bind(py).try_readwrite()?,
            self.u.bind(py).try_readwrite()?,
            self.z.bind(py).try_readwrite()?,
        ];
        let (mut time, e) = (self.time.bind(py).try_readwrite()?, self.e.bind(py).try_readonly()?);
        let copies = Copies {
            time: time.as_slice_mut()?,
            q: q.as_slice_mut()?,
            u: u.as_slice_mut()?,
            z: z.as_slice_mut()?,
            e: e.as_slice()?,
        };
        let threads = self.threads;
        let batch = &mut *batch;
        let _writing = Writing::begin(py);
        let interrupt = Interrupt::new();
        let failures = py.detach(|| {
            batch.update(&numbers, threads)?;
            batch.step_while(copies, dt, steps, threads, &|| interrupt.going_on())
        });
        let failures = failures.map_err(|e| raise(py, "input", &e))?;
        let mut failed = self.failed.bind(py).try_readwrite()?;
        let mut failed = failed.as_array_mut();
        failures.iter().for_each(|f| failed[f.copy] = true);
        interrupt.raised()?;
        Ok((failures.len(), failures.first().map(|f| format!("copy {}: {}", f.copy, f.why))))
    }

    /// How weighted sums of the states after a step would change with the states now and with the controls: weights are copies × sums × states
    /// (q, u, z), gradients copies × sums × states and copies × sums × controls. Nothing steps. With them how many copies could not, and why.
    #[pyo3(signature = (weights, dt, steps=1))]
    #[allow(clippy::type_complexity)]
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        weights: PyReadonlyArray3<'py, f64>,
        dt: f64,
        steps: usize,
    ) -> PyResult<(Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, usize, Option<String>)> {
        let mut batch = self.alone()?;
        let varied = self.varied.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<_> = varied.iter().map(|a| a.bind(py).try_readonly()).collect::<Result<_, _>>()?;
        let numbers: Vec<&[f64]> = numbers.iter().map(|a| a.as_slice()).collect::<Result<_, _>>()?;
        let [q, u, z, e] = [
            self.q.bind(py).try_readonly()?,
            self.u.bind(py).try_readonly()?,
            self.z.bind(py).try_readonly()?,
            self.e.bind(py).try_readonly()?,
        ];
        let time = self.time.bind(py).try_readonly()?;
        let at = At {
            time: time.as_slice()?,
            q: q.as_slice()?,
            u: u.as_slice()?,
            z: z.as_slice()?,
            e: e.as_slice()?,
        };
        let (sums, w, threads) = (weights.shape()[1], weights.as_slice()?, self.threads);
        let batch = &mut *batch;
        let interrupt = Interrupt::new();
        let found = py.detach(|| {
            batch.update(&numbers, threads)?;
            batch.gradients_while(at, dt, steps, w, sums, threads, &|| interrupt.going_on())
        });
        interrupt.raised()?;
        let found = found.map_err(|e| raise(py, "input", &e))?;
        let (count, nx) = (self.count, weights.shape()[2]);
        let ne = batch.evaluator().system.num_controls;
        let why = found.failures.first().map(|f| format!("copy {}: {}", f.copy, f.why));
        let by_x = found.x.into_pyarray(py).reshape([count, sums, nx])?;
        let by_e = found.e.into_pyarray(py).reshape([count, sums, ne])?;
        Ok((by_x, by_e, found.failures.len(), why))
    }

    /// Lets a number of the model differ from copy to copy; returns the live array of its values.
    fn vary(&self, py: Python<'_>, path: &str) -> PyResult<Py<PyArray1<f64>>> {
        let mut batch = self.alone()?;
        let (i, value) = batch.vary(path).map_err(|e| raise(py, "input", &e))?;
        let mut varied = self.varied.lock().unwrap_or_else(PoisonError::into_inner);
        if i == varied.len() {
            let array = PyArray1::<f64>::zeros(py, [batch.count()], false);
            array.try_readwrite()?.as_array_mut().fill(value);
            varied.push(array.unbind());
        }
        Ok(varied[i].clone_ref(py))
    }
}
