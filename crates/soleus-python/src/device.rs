//! Batches on a CUDA device: their numbers stay there, and other libraries share them by DLPack.

use crate::batch::method_of;
use crate::error::raise;
use crate::system::PySystem;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use soleus::Disk;
use soleus::states::{DeviceBatch, lanes};
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Kinds of devices, as DLPack counts them.
const CPU: i32 = 1;
const CUDA: i32 = 2;

/// Numbers on a device, a row for each copy. PyTorch, JAX and CuPy take it by `from_dlpack` without a copy.
#[pyclass(frozen, name = "DeviceArray", module = "soleus._soleus")]
pub struct PyDeviceArray {
    /// Who holds the memory.
    owner: Py<PyAny>,
    address: u64,
    shape: [i64; 2],
    /// Numbers from one row to the next, and from one column to the next.
    strides: [i64; 2],
    single: bool,
    device: i32,
    /// What to wait for before others read.
    batch: Option<Py<PyDeviceBatch>>,
}

/// A tensor as DLPack lays it out, and who frees it.
#[repr(C)]
struct Managed {
    data: *mut c_void,
    device: [i32; 2],
    axes: i32,
    /// Kind of number (2: floating point), bits, lanes.
    kind: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
    context: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// What lives as long as a tensor.
struct Held {
    shape: [i64; 2],
    strides: [i64; 2],
    _owner: Py<PyAny>,
}

const NAME: &CStr = c"dltensor";

unsafe extern "C" fn free(tensor: *mut Managed) {
    // SAFETY: both were leaked from boxes by `__dlpack__`, and a consumer calls this once.
    let (tensor, held) = unsafe {
        let tensor = Box::from_raw(tensor);
        let held = Box::from_raw(tensor.context.cast::<Held>());
        (tensor, held)
    };
    drop(tensor);
    Python::attach(|_| drop(held));
}

unsafe extern "C" fn forget(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is one of ours; a consumer has given it another name, and frees the tensor itself.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            free(ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast());
        }
    }
}

#[pymethods]
impl PyDeviceArray {
    /// How many copies, and how many numbers of each.
    #[getter]
    fn shape(&self) -> (i64, i64) {
        (self.shape[0], self.shape[1])
    }

    /// `float32` or `float64`.
    #[getter]
    fn dtype(&self) -> &'static str {
        if self.single { "float32" } else { "float64" }
    }

    /// Where the memory is: the kind of device, and its number.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (self.device, 0)
    }

    /// The numbers for another library; steps that are on their way are waited for.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<Bound<'_, PyAny>>,
        max_version: Option<Bound<'_, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = (stream, max_version);
        if dl_device.is_some_and(|d| d != (self.device, 0)) || copy == Some(true) {
            return Err(PyBufferError::new_err("the array can be shared but not copied"));
        }
        if let Some(batch) = &self.batch {
            batch.get().wait(py)?;
        }
        let held = Box::into_raw(Box::new(Held {
            shape: self.shape,
            strides: self.strides,
            _owner: self.owner.clone_ref(py),
        }));
        // SAFETY: `held` was just made, and lives until `free`.
        let (shape, strides) = unsafe { ((*held).shape.as_mut_ptr(), (*held).strides.as_mut_ptr()) };
        let tensor = Box::into_raw(Box::new(Managed {
            data: self.address as *mut c_void,
            device: [self.device, 0],
            axes: 2,
            kind: 2,
            bits: if self.single { 32 } else { 64 },
            lanes: 1,
            shape,
            strides,
            offset: 0,
            context: held.cast(),
            free: Some(free),
        }));
        // SAFETY: the capsule owns the tensor until a consumer takes it; the name lives for ever.
        unsafe {
            let capsule = ffi::PyCapsule_New(tensor.cast(), NAME.as_ptr(), Some(forget));
            if capsule.is_null() {
                free(tensor);
                return Err(PyErr::fetch(py));
            }
            Ok(Bound::from_owned_ptr(py, capsule).unbind())
        }
    }

    fn __repr__(&self) -> String {
        let place = if self.device == CUDA { "a CUDA device" } else { "this machine" };
        format!("{} × {} numbers ({}) on {place}", self.shape[0], self.shape[1], self.dtype())
    }
}

/// A NumPy array as if it were on a device: what shares arrays of devices can be tried without one.
#[pyfunction]
pub fn _host_array(py: Python<'_>, array: Bound<'_, PyArray2<f64>>) -> PyResult<PyDeviceArray> {
    let strides: Vec<i64> = array.strides().iter().map(|s| (*s / 8) as i64).collect();
    let shape = [array.shape()[0] as i64, array.shape()[1] as i64];
    let address = array.data() as u64;
    let owner = array.into_any().unbind();
    let _ = py;
    Ok(PyDeviceArray {
        owner,
        address,
        shape,
        strides: [strides[0], strides[1]],
        single: false,
        device: CPU,
        batch: None,
    })
}

/// Many simulations of one model on a CUDA device.
#[pyclass(frozen, name = "DeviceBatch", module = "soleus._soleus")]
pub struct PyDeviceBatch {
    batch: Mutex<DeviceBatch>,
}

// SAFETY: handles of CUDA's driver belong to the process, and the lock lets one thread at a time use them.
unsafe impl Send for PyDeviceBatch {}
// SAFETY: as above.
unsafe impl Sync for PyDeviceBatch {}

impl PyDeviceBatch {
    /// Copies at their start; the compiler is looked for under the names given, and kernels are kept in a folder.
    pub fn new(
        py: Python<'_>,
        system: &PySystem,
        n: usize,
        method: &str,
        single: bool,
        libraries: &[String],
        folder: &Path,
    ) -> PyResult<Self> {
        let Some(step) = lanes::step_of(method_of(method)?) else {
            let message = format!(
                "the back end `cuda` has no method `{method}`; choose rosenbrock or semi-explicit-euler"
            );
            return Err(PyValueError::new_err(message));
        };
        let files = Disk::new();
        let batch = DeviceBatch::new(system.evaluator.clone(), n, single, step, libraries, (&files, folder));
        Ok(PyDeviceBatch { batch: Mutex::new(batch.map_err(|e| raise(py, "input", &e))?) })
    }

    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner).wait().map_err(|e| raise(py, "input", &e))
    }
}

#[pymethods]
impl PyDeviceBatch {
    fn __len__(&self) -> usize {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner).count()
    }

    /// Coordinates (`q`), speeds (`u`), states of forces (`z`), controls (`e`) or times (`time`), on the device.
    fn array(slf: &Bound<'_, Self>, name: &str) -> PyResult<PyDeviceArray> {
        let batch = slf.get().batch.lock().unwrap_or_else(PoisonError::into_inner);
        let layout = batch.layout();
        let rows = match name {
            "q" => layout.q.clone(),
            "u" => layout.u.clone(),
            "z" => layout.z.clone(),
            "e" => layout.e.clone(),
            "time" => layout.time..layout.time + 1,
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown array `{other}`; choose q, u, z, e or time"
                )));
            }
        };
        let n = batch.count() as i64;
        Ok(PyDeviceArray {
            owner: slf.clone().into_any().unbind(),
            address: batch.address(rows.start),
            shape: [n, rows.len() as i64],
            strides: [1, n],
            single: batch.is_single(),
            device: CUDA,
            batch: Some(slf.clone().unbind()),
        })
    }

    /// Takes every copy `dt` further, in `steps` steps; they are on their way when this returns.
    #[pyo3(signature = (dt, steps=1))]
    fn step(&self, py: Python<'_>, dt: f64, steps: usize) -> PyResult<()> {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        batch.step(dt, steps).map_err(|e| raise(py, "input", &e))
    }

    /// Puts all copies back to the start.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        batch.reset().map_err(|e| raise(py, "input", &e))
    }
}
