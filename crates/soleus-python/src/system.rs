//! Systems: everything that is computed from states, one or thousands.

use crate::batch::PyBatch;
#[cfg(unix)]
use crate::device::PyDeviceBatch;
use crate::error::raise;
use crate::lanes::PyLanesBatch;
use crate::watch::{Interrupt, Writing, threads};
use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use soleus::Document;
use soleus::engine::dynamics::implicit::SparseMatrix;
use soleus::states::{Derivatives, Evaluator, Quantity, Rows, States, Troubles};
use std::sync::{Arc, OnceLock};

/// A model that is ready for computing; it never changes.
#[pyclass(frozen, name = "System", module = "soleus._soleus")]
pub struct PySystem {
    pub evaluator: Arc<Evaluator>,
    pub document: Arc<Document>,
    derivatives: OnceLock<Arc<Derivatives>>,
}

impl PySystem {
    /// Of a compiled model, and the document that it was built of.
    pub fn new(evaluator: Evaluator, document: Arc<Document>) -> Self {
        PySystem { evaluator: Arc::new(evaluator), document, derivatives: OnceLock::new() }
    }

    fn derivatives(&self, py: Python<'_>) -> Arc<Derivatives> {
        let make = || Arc::new(Derivatives::new(self.evaluator.clone()));
        py.detach(|| self.derivatives.get_or_init(make).clone())
    }

    /// Numbers of a part of the state: an array, what can be made one, or values by name in place of the default ones.
    fn part<'py>(
        &self,
        name: &str,
        value: &Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<PyReadonlyArrayDyn<'py, f64>>> {
        Ok(self.array(name, value)?.map(|array| array.try_readonly()).transpose()?)
    }

    /// The array itself, before it is borrowed.
    fn array<'py>(
        &self,
        name: &str,
        value: &Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyArrayDyn<f64>>>> {
        let Some(value) = value else { return Ok(None) };
        if let Ok(array) = value.cast::<PyArrayDyn<f64>>()
            && array.is_c_contiguous()
        {
            return Ok(Some(array.clone()));
        }
        let py = value.py();
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.by_name(py, name, dict).map(Some);
        }
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("ascontiguousarray", (value, numpy.getattr("float64")?))?;
        let array = array
            .cast_into::<PyArrayDyn<f64>>()
            .map_err(|_| PyTypeError::new_err(format!("`{name}` is not an array of numbers")))?;
        // A single number counts for itself, and not as a row of one state.
        Ok(Some(array))
    }

    fn by_name<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        dict: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (s, l) = (&self.evaluator.system, self.evaluator.layout());
        let mut values = match name {
            "q" => s.default_state.q.clone(),
            "u" => s.default_state.u.clone(),
            "z" => s.default_state.z.clone(),
            "e" => vec![0.0; s.num_controls],
            _ => return Err(PyTypeError::new_err(format!("`{name}` must be an array, not values by name"))),
        };
        for (key, value) in dict {
            let (key, value): (String, f64) = (key.extract()?, value.extract()?);
            let at = match name {
                "q" | "u" => self.evaluator.coordinate(&key).map_err(|e| raise(py, "input", &e))?,
                _ => {
                    let list = if name == "z" { &l.states } else { &l.controls };
                    let ending = format!("/{key}");
                    let found = list
                        .iter()
                        .position(|n| *n == key)
                        .or_else(|| list.iter().position(|n| n.ends_with(&ending)));
                    found.ok_or_else(|| {
                        let near =
                            soleus::engine::model::nearest_name(&key, list.iter().map(String::as_str), 2);
                        let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                        PyValueError::new_err(format!("`{name}` has no `{key}`{near}"))
                    })?
                }
            };
            values[at] = value;
        }
        Ok(values.into_pyarray(py).to_dyn().clone())
    }
}

/// Rows of an array: one for all states if it has one axis, else one for each.
fn rows<'a>(name: &str, array: &'a Option<PyReadonlyArrayDyn<'_, f64>>) -> PyResult<Option<Rows<'a>>> {
    let Some(array) = array else { return Ok(None) };
    rows_of(name, array.as_slice()?, array.shape()).map(Some)
}

fn rows_of<'a>(name: &str, values: &'a [f64], shape: &[usize]) -> PyResult<Rows<'a>> {
    Ok(match (name, shape) {
        // Times have no axis of their own for columns.
        ("t", []) => Rows::all(values),
        ("t", [n]) => Rows::each(values, *n),
        (_, [_]) => Rows::all(values),
        (_, [n, _]) => Rows::each(values, *n),
        (_, axes) => {
            let n = axes.len();
            let message = format!("`{name}` has {n} axes; give one state (1) or many (2)");
            return Err(PyValueError::new_err(message));
        }
    })
}

/// Warns of what went less than well.
fn warn(py: Python<'_>, t: Troubles) -> PyResult<()> {
    if t == Troubles::default() {
        return Ok(());
    }
    let mut words = Vec::new();
    if t.undetermined > 0 {
        words.push(format!("accelerations of {} states are undetermined: they are NaN", t.undetermined));
    }
    if t.not_in_equilibrium > 0 {
        words.push(format!("a muscle had no equilibrium {} times and kept its state", t.not_in_equilibrium));
    }
    py.import("soleus.errors")?.call_method1("_warn", (words.join("; "),))?;
    Ok(())
}

/// The shape of an array of results: states first, if there are many.
fn shape_of(count: Option<usize>, one: &[usize]) -> Vec<usize> {
    count.into_iter().chain(one.iter().copied()).collect()
}

/// How many states arrays have, if they have an axis for it.
fn axis(all: &[Option<Rows<'_>>]) -> Option<usize> {
    all.iter().flatten().find_map(Rows::count)
}

fn sparse<'py>(
    py: Python<'py>,
    m: &SparseMatrix,
    values: Vec<f64>,
    count: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let n = m.num_entries();
    let list = |x: &[usize]| x.iter().map(|&i| i as i32).collect::<Vec<i32>>().into_pyarray(py);
    let values = values.into_pyarray(py).reshape(shape_of(count, &[n]))?;
    Ok((values, list(&m.row), list(&m.start), (m.rows, m.columns)).into_pyobject(py)?.into_any())
}

#[pymethods]
impl PySystem {
    /// Names of the columns of arrays.
    fn layout(&self, what: &str) -> PyResult<Vec<String>> {
        let l = self.evaluator.layout();
        Ok(match what {
            "q" | "u" | "coordinates" => l.coordinates.clone(),
            "z" | "states" => l.states.clone(),
            "e" | "controls" => l.controls.clone(),
            "bodies" => l.bodies.clone(),
            "muscles" => l.muscles.clone(),
            "paths" => l.paths.clone(),
            "markers" => l.markers.clone(),
            other => return Err(PyValueError::new_err(format!("unknown layout `{other}`"))),
        })
    }

    /// The default state: q, u and z.
    fn default_state<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 3] {
        let x = &self.evaluator.system.default_state;
        [&x.q, &x.u, &x.z].map(|list| PyArray1::from_slice(py, list))
    }

    /// Names of everything that can be asked of a state.
    #[staticmethod]
    fn quantities() -> Vec<String> {
        Evaluator::quantity_names()
    }

    /// What the values of a quantity belong to.
    fn labels(&self, py: Python<'_>, quantity: &str) -> PyResult<Vec<String>> {
        let q = self.evaluator.quantity(quantity).map_err(|e| raise(py, "input", &e))?;
        Ok(q.labels(&self.evaluator))
    }

    /// Quantities of one state, or of many.
    #[pyo3(signature = (q=None, u=None, z=None, e=None, *, want=None, t=None, udot=None, equilibrate=false, threads=None))]
    #[allow(clippy::too_many_arguments)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        q: Option<Bound<'py, PyAny>>,
        u: Option<Bound<'py, PyAny>>,
        z: Option<Bound<'py, PyAny>>,
        e: Option<Bound<'py, PyAny>>,
        want: Option<Bound<'py, PyAny>>,
        t: Option<Bound<'py, PyAny>>,
        udot: Option<Bound<'py, PyAny>>,
        equilibrate: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let evaluator = &*self.evaluator;
        let quantity = |name: &str| evaluator.quantity(name).map_err(|e| raise(py, "input", &e));
        let is_single = want.as_ref().is_none_or(|w| w.is_instance_of::<PyString>());
        let (names, quantities): (Vec<Bound<'py, PyAny>>, Vec<Quantity>) = match &want {
            None => (Vec::new(), vec![Quantity::Accelerations]),
            Some(w) if is_single => (Vec::new(), vec![quantity(w.cast::<PyString>()?.to_str()?)?]),
            Some(w) => {
                let names: Vec<Bound<'py, PyAny>> = w.try_iter()?.collect::<PyResult<_>>()?;
                let of = |n: &Bound<'py, PyAny>| quantity(n.cast::<PyString>()?.to_str()?);
                let quantities = names.iter().map(of).collect::<PyResult<_>>()?;
                (names, quantities)
            }
        };
        const NAMES: [&str; 6] = ["t", "q", "u", "z", "e", "udot"];
        let given = [&t, &q, &u, &z, &e, &udot];
        let mut arrays = [const { None }; 6];
        for (array, (name, value)) in arrays.iter_mut().zip(NAMES.iter().zip(given)) {
            *array = self.array(name, value)?;
        }
        // Recording that an array is being read costs more than reading one state; only others that write without the lock make it necessary.
        let is_alone = Writing::is_nobody();
        let mut reads = [const { None }; 6];
        if !is_alone || arrays.iter().flatten().any(|a| a.ndim() > 1) || t.is_some() {
            for (read, array) in reads.iter_mut().zip(&arrays) {
                *read = array.as_ref().map(|a| a.try_readonly()).transpose()?;
            }
        }
        let mut found = [None; 6];
        for (i, rows) in found.iter_mut().enumerate() {
            let Some(array) = &arrays[i] else { continue };
            let values = match &reads[i] {
                Some(read) => read.as_slice()?,
                // SAFETY: the array is contiguous, we hold the interpreter's lock until the values are read, and nobody writes without it: whoever
                // begins to has to take the lock first. (The extension is built for the limited API, which interpreters without a lock do not load.)
                None => unsafe { array.as_slice() }?,
            };
            *rows = Some(rows_of(NAMES[i], values, array.shape())?);
        }
        let many = axis(&found);
        let [time, q, u, z, e, udot] = found;
        let states = States { time, q, u, z, e, udot, equilibrate };
        // NumPy's own memory is written into: nothing is copied.
        let mut made: Vec<Bound<'py, PyArrayDyn<f64>>> = Vec::with_capacity(quantities.len());
        for q in &quantities {
            let shape = q.shape(evaluator);
            made.push(match (many, &shape[..]) {
                (None, [n]) => PyArray1::zeros(py, [*n], false).to_dyn().clone(),
                _ => PyArrayDyn::zeros(py, shape_of(many, &shape), false),
            });
        }
        {
            // SAFETY: the arrays are contiguous and new: nobody else knows of them.
            let mut out: Vec<&mut [f64]> =
                made.iter().map(|a| unsafe { a.as_slice_mut() }).collect::<Result<_, _>>()?;
            let found = match many {
                // One state is done sooner than the lock is given back and taken again.
                None => evaluator.evaluate(&states, &quantities, &mut out, 1),
                Some(_) => {
                    let (threads, interrupt) = (self::threads(threads), Interrupt::new());
                    let going_on = || interrupt.going_on();
                    let found = py.detach(|| {
                        evaluator.evaluate_while(&states, &quantities, &mut out, threads, &going_on)
                    });
                    interrupt.raised()?;
                    found
                }
            };
            warn(py, found.map_err(|e| raise(py, "input", &e))?)?;
        }
        if is_single {
            let array =
                made.into_iter().next().ok_or_else(|| PyValueError::new_err("no quantity is requested"))?;
            return Ok(array.into_any());
        }
        let dict = PyDict::new(py);
        for (name, array) in names.iter().zip(made) {
            dict.set_item(name, array)?;
        }
        Ok(dict.into_any())
    }

    /// The implicit equations and their sparse Jacobians: residual, and values, rows, starts of columns and shape of each matrix.
    #[pyo3(signature = (q=None, u=None, z=None, e=None, *, t=None, xdot=None, multipliers=None, equilibrate=false, threads=None))]
    #[allow(clippy::too_many_arguments)]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        q: Option<Bound<'py, PyAny>>,
        u: Option<Bound<'py, PyAny>>,
        z: Option<Bound<'py, PyAny>>,
        e: Option<Bound<'py, PyAny>>,
        t: Option<Bound<'py, PyAny>>,
        xdot: Option<Bound<'py, PyAny>>,
        multipliers: Option<Bound<'py, PyAny>>,
        equilibrate: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let [q, u, z, e] =
            [self.part("q", &q)?, self.part("u", &u)?, self.part("z", &z)?, self.part("e", &e)?];
        let [t, xdot, lambda] =
            [self.part("t", &t)?, self.part("xdot", &xdot)?, self.part("multipliers", &multipliers)?];
        let states = States {
            time: rows("t", &t)?,
            q: rows("q", &q)?,
            u: rows("u", &u)?,
            z: rows("z", &z)?,
            e: rows("e", &e)?,
            udot: None,
            equilibrate,
        };
        let (xdot, lambda) = (rows("xdot", &xdot)?, rows("multipliers", &lambda)?);
        let derivatives = self.derivatives(py);
        let (threads, interrupt) = (self::threads(threads), Interrupt::new());
        let going_on = || interrupt.going_on();
        let found = py.detach(|| derivatives.jacobians_while(&states, xdot, lambda, threads, &going_on));
        interrupt.raised()?;
        let (values, troubles) = found.map_err(|e| raise(py, "input", &e))?;
        warn(py, troubles)?;
        let many = axis(&[states.time, states.q, states.u, states.z, states.e]);
        let [dx, dxdot, de, dlambda] = derivatives.pattern();
        let residual = values.residual.into_pyarray(py).reshape(shape_of(many, &[dx.rows]))?;
        let all = (
            residual,
            sparse(py, dx, values.dx, many)?,
            sparse(py, dxdot, values.dxdot, many)?,
            sparse(py, de, values.de, many)?,
            sparse(py, dlambda, values.dlambda, many)?,
        );
        Ok(all.into_pyobject(py)?.into_any())
    }

    /// Names of the equations and of the states of the Jacobians.
    fn equations(&self, py: Python<'_>) -> (Vec<String>, Vec<String>) {
        let d = self.derivatives(py);
        (d.equations(), d.states())
    }

    /// The motion ẋ = f(x, e) and its derivatives ∂f/∂x and ∂f/∂e.
    #[pyo3(signature = (q=None, u=None, z=None, e=None, *, t=None, equilibrate=false, threads=None))]
    #[allow(clippy::too_many_arguments)]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        q: Option<Bound<'py, PyAny>>,
        u: Option<Bound<'py, PyAny>>,
        z: Option<Bound<'py, PyAny>>,
        e: Option<Bound<'py, PyAny>>,
        t: Option<Bound<'py, PyAny>>,
        equilibrate: bool,
        threads: Option<usize>,
    ) -> PyResult<[Bound<'py, PyArrayDyn<f64>>; 3]> {
        let [q, u, z, e] =
            [self.part("q", &q)?, self.part("u", &u)?, self.part("z", &z)?, self.part("e", &e)?];
        let t = self.part("t", &t)?;
        let states = States {
            time: rows("t", &t)?,
            q: rows("q", &q)?,
            u: rows("u", &u)?,
            z: rows("z", &z)?,
            e: rows("e", &e)?,
            udot: None,
            equilibrate,
        };
        let derivatives = self.derivatives(py);
        let (threads, interrupt) = (self::threads(threads), Interrupt::new());
        let going_on = || interrupt.going_on();
        let found = py.detach(|| derivatives.linearize_while(&states, threads, &going_on));
        interrupt.raised()?;
        let ([f, a, b], troubles) = found.map_err(|e| raise(py, "input", &e))?;
        warn(py, troubles)?;
        let many = axis(&[states.time, states.q, states.u, states.z, states.e]);
        let s = &self.evaluator.system;
        let (nx, ne) = (2 * s.tree.num_mobilities + s.num_aux, s.num_controls);
        let shaped = |list: Vec<f64>, shape: &[usize]| list.into_pyarray(py).reshape(shape_of(many, shape));
        Ok([shaped(f, &[nx])?, shaped(a, &[nx, nx])?, shaped(b, &[nx, ne])?])
    }

    /// Many simulations side by side.
    #[pyo3(signature = (n, method="rosenbrock", accuracy=1e-3, threads=None))]
    fn batch(
        slf: &Bound<'_, Self>,
        n: usize,
        method: &str,
        accuracy: f64,
        threads: Option<usize>,
    ) -> PyResult<PyBatch> {
        PyBatch::new(slf.py(), slf.get(), n, method, accuracy, self::threads(threads))
    }

    /// Many simulations side by side, on the lanes of this CPU.
    #[pyo3(signature = (n, method="rosenbrock", single=false, threads=None))]
    fn lanes_batch(
        slf: &Bound<'_, Self>,
        n: usize,
        method: &str,
        single: bool,
        threads: Option<usize>,
    ) -> PyResult<PyLanesBatch> {
        PyLanesBatch::new(slf.py(), slf.get(), n, method, single, self::threads(threads))
    }

    /// Many simulations side by side, on a CUDA device: NVRTC is looked for under these names, and kernels are kept in a folder.
    #[cfg(unix)]
    #[pyo3(signature = (n, method, single, libraries, folder))]
    fn device_batch(
        slf: &Bound<'_, Self>,
        n: usize,
        method: &str,
        single: bool,
        libraries: Vec<String>,
        folder: std::path::PathBuf,
    ) -> PyResult<PyDeviceBatch> {
        PyDeviceBatch::new(slf.py(), slf.get(), n, method, single, &libraries, &folder)
    }

    /// What it takes to make the same system elsewhere.
    fn document_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
        let text = py.detach(|| soleus::engine::io::osim::write_document(&self.document));
        pyo3::types::PyBytes::new(py, text.as_bytes())
    }

    /// The file of the model.
    #[getter]
    fn file(&self) -> String {
        self.document.file.clone()
    }
}
