//! Many parallel simulations of one model on the SIMD lanes of the CPU: code is generated for the model at run time and
//! verified against the engine.

use super::batch::{Failure, Number};
use super::{Evaluator, StepGradients};
use crate::error::Error;
use soleus_batch::{BatchError, BatchParameter, BatchPrograms, Refusal};
pub use soleus_batch::{BatchOptions, Layout, Step};
use soleus_dynamics::System;
use soleus_model::components::set_property;
use soleus_model::force::ForceKind;
use soleus_model::{Diagnostics, Document, Model};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of model parameters that may differ between copies.
pub const MOST_VARIED: usize = 64;

/// Many parallel simulations of one model. The caller owns their states: rows with one number per copy; see
/// [`layout`](Self::layout).
pub struct LanesBatch {
    evaluator: Arc<Evaluator>,
    document: Arc<Document>,
    count: usize,
    options: BatchOptions,
    /// Numbers that differ, with the values that the model has.
    varied: Vec<(String, Number, f64)>,
    /// Which of them each parameter of the programs is.
    order: Vec<usize>,
    programs: BatchPrograms,
}

impl LanesBatch {
    /// `count` copies. `document` is the document of the model.
    pub fn new(
        evaluator: Arc<Evaluator>,
        document: Arc<Document>,
        count: usize,
        options: BatchOptions,
    ) -> Result<Self, Error> {
        let programs = BatchPrograms::new(&evaluator.model, &evaluator.system, &[], options)
            .map_err(|e| refused(&evaluator, &e))?;
        Ok(LanesBatch {
            evaluator,
            document,
            count,
            options,
            varied: Vec::new(),
            order: Vec::new(),
            programs,
        })
    }

    /// Number of copies.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The model.
    pub fn evaluator(&self) -> &Arc<Evaluator> {
        &self.evaluator
    }

    /// Description of the instruction set: `AVX-512, 8 lanes of f64`.
    pub fn backend(&self) -> &'static str {
        self.programs.backend()
    }

    /// Rows of coordinates, speeds, states of forces, controls and time.
    pub fn layout(&self) -> &Layout {
        self.programs.layout()
    }

    /// Number of rows that the caller must allocate: those named in [`layout`](Self::layout), and some for internal
    /// use.
    pub fn rows(&self) -> usize {
        self.layout().time + 1 + MOST_VARIED + 1
    }

    /// Declares a model parameter that differs between copies, as [`Batch::vary`](super::Batch::vary). The model is
    /// recorded again before the next step.
    pub fn vary(&mut self, path: &str) -> Result<(usize, f64), Error> {
        if let Some(i) = self.varied.iter().position(|v| v.0 == path) {
            return Ok((i, self.varied[i].2));
        }
        if self.varied.len() == MOST_VARIED {
            let message = format!("at most {MOST_VARIED} numbers can differ between copies");
            return Err(self.evaluator.wrong(message, "use the back end `engine`, which has no such limit"));
        }
        let (number, value) = Number::find(&self.evaluator, &self.document, path)?;
        if value == 0.0 {
            let message = format!("`{path}` is zero; the back end `lanes` varies numbers by a factor");
            return Err(self.evaluator.wrong(message, "use the back end `engine`, which accepts any value"));
        }
        self.varied.push((path.to_string(), number, value));
        Ok((self.varied.len() - 1, value))
    }

    /// Records the model with the numbers that differ.
    fn refresh(&mut self) -> Result<(), Error> {
        if self.order.len() == self.varied.len() {
            return Ok(());
        }
        // A property builds the model anew and changes the numbers of muscles back, so muscles come after all of them.
        let mut order: Vec<usize> = (0..self.varied.len()).collect();
        order.sort_by_key(|&i| matches!(self.varied[i].1, Number::Muscle(..)));
        let changed = Arc::new(Mutex::new((*self.document).clone()));
        let parameters: Vec<BatchParameter> = order.iter().map(|&i| self.parameter(i, &changed)).collect();
        let e = &self.evaluator;
        let made = BatchPrograms::new(&e.model, &e.system, &parameters, self.options);
        self.programs = made.map_err(|why| refused(e, &why))?;
        self.order = order;
        Ok(())
    }

    fn parameter(&self, i: usize, changed: &Arc<Mutex<Document>>) -> BatchParameter {
        let (path, number, value) = &self.varied[i];
        match number.clone() {
            Number::Muscle(force, of) => BatchParameter::new(path, move |model: &mut Model, factor| {
                if let ForceKind::Muscle(m) = &mut model.forces[force].kind {
                    *of(m) *= factor;
                }
            }),
            Number::Property(place, name) => {
                let (changed, value) = (changed.clone(), *value);
                BatchParameter::new(path, move |model: &mut Model, factor| {
                    let mut document = changed.lock().unwrap_or_else(PoisonError::into_inner);
                    set_property(&mut document, &place, &name, &format!("{:?}", value * factor));
                    // A model that cannot be built is as it was, and the number is refused since nothing follows it.
                    if let Some(built) = soleus_model::build(&document, &mut Diagnostics::new(String::new()))
                    {
                        *model = built;
                    }
                })
            }
        }
    }

    /// Factors of the numbers that differ.
    fn write_factors(&self, x: &mut [f64], values: &[&[f64]]) {
        let n = self.count;
        for (row, &i) in self.layout().p.clone().zip(&self.order) {
            let value = self.varied[i].2;
            for (x, v) in x[row * n..(row + 1) * n].iter_mut().zip(values[i]) {
                *x = v / value;
            }
        }
    }

    fn checked(&self, found: usize, dt: f64, steps: usize) -> Result<(), Error> {
        if !(dt > 0.0 && dt.is_finite()) || steps == 0 {
            let message = format!("a step of {dt} s in {steps} parts is not valid");
            return Err(self.evaluator.wrong(message, "give a time above zero"));
        }
        if found < self.rows() * self.count {
            let message = "the array sizes do not match the number of copies".to_string();
            return Err(self.evaluator.wrong(message, ""));
        }
        Ok(())
    }

    /// Advances all copies by `dt` in `steps` steps; `values` are those declared by [`vary`](Self::vary), in order. A
    /// copy that cannot continue keeps its last valid state.
    pub fn step(
        &mut self,
        x: &mut [f64],
        values: &[&[f64]],
        dt: f64,
        steps: usize,
    ) -> Result<Vec<Failure>, Error> {
        self.step_while(x, values, dt, steps, &|| true)
    }

    /// Advances copies as [`step`](Self::step) does while `going_on`, which every thread, the calling one among them, asks before it takes
    /// some copies. Those that are not taken stay as they are; their times tell which.
    pub fn step_while(
        &mut self,
        x: &mut [f64],
        values: &[&[f64]],
        dt: f64,
        steps: usize,
        going_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Failure>, Error> {
        self.checked(x.len(), dt, steps)?;
        self.refresh()?;
        self.write_factors(x, values);
        let mut failed = vec![false; self.count];
        let rows = self.programs.rows() * self.count;
        self.programs.step_while(&mut x[..rows], self.count, dt / steps as f64, steps, &mut failed, going_on);
        let why = "a state after the step is not a number, or a pivot vanishes";
        let failures = failed.iter().enumerate().filter(|(_, f)| **f);
        Ok(failures.map(|(copy, _)| Failure { copy, why: why.to_string() }).collect())
    }

    /// Accelerations, then rates of the states of forces: one row of all copies for each.
    pub fn evaluate(&mut self, x: &mut [f64], values: &[&[f64]]) -> Result<Vec<f64>, Error> {
        self.checked(x.len(), 1.0, 1)?;
        self.refresh()?;
        self.write_factors(x, values);
        let rows = self.programs.rows() * self.count;
        let mut y = self.programs.evaluate(&x[..rows], self.count);
        y.truncate(self.layout().outputs() * self.count);
        Ok(y)
    }

    /// Exact gradients of weighted sums of the states after a step, as [`Batch::gradients`](super::Batch::gradients),
    /// by reverse differentiation of the same steps.
    pub fn gradients(
        &mut self,
        x: &mut [f64],
        values: &[&[f64]],
        dt: f64,
        steps: usize,
        weights: &[f64],
        sums: usize,
    ) -> Result<StepGradients, Error> {
        self.gradients_while(x, values, dt, steps, weights, sums, &|| true)
    }

    /// [`gradients`](Self::gradients) while `going_on`, which is asked before each step forwards and backwards. Gradients that were not
    /// computed to the end have no meaning.
    #[allow(clippy::too_many_arguments)]
    pub fn gradients_while(
        &mut self,
        x: &mut [f64],
        values: &[&[f64]],
        dt: f64,
        steps: usize,
        weights: &[f64],
        sums: usize,
        going_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<StepGradients, Error> {
        self.checked(x.len(), dt, steps)?;
        self.refresh()?;
        self.write_factors(x, values);
        let (n, h) = (self.count, dt / steps as f64);
        let (nx, e) = (self.layout().z.end, self.layout().e.clone());
        if weights.len() != n * sums * nx {
            return Err(self.evaluator.wrong("weights and states differ in size".to_string(), ""));
        }
        let rows = self.programs.rows() * n;
        let mut course = vec![x[..rows].to_vec()];
        let mut failed = vec![false; n];
        for k in 1..=steps {
            if !going_on() {
                return Ok(StepGradients::default());
            }
            let mut next = course[k - 1].clone();
            self.programs.step(&mut next, n, h, 1, &mut failed);
            course.push(next);
        }
        let mut found = StepGradients {
            x: vec![0.0; n * sums * nx],
            e: vec![0.0; n * sums * e.len()],
            failures: Vec::new(),
        };
        for sum in 0..sums {
            let mut w: Vec<f64> =
                (0..nx).flat_map(|i| (0..n).map(move |k| weights[(k * sums + sum) * nx + i])).collect();
            for at in course[..steps].iter().rev() {
                if !going_on() {
                    return Ok(StepGradients::default());
                }
                let g = self.programs.step_gradients(at, n, h, &w);
                w.copy_from_slice(&g[..nx * n]);
                for k in 0..n {
                    for (j, row) in e.clone().enumerate() {
                        found.e[(k * sums + sum) * e.len() + j] += g[row * n + k];
                    }
                }
            }
            for k in 0..n {
                for i in 0..nx {
                    found.x[(k * sums + sum) * nx + i] = w[i * n + k];
                }
            }
        }
        for copy in (0..n).filter(|&k| failed[k]) {
            found.x[copy * sums * nx..(copy + 1) * sums * nx].fill(f64::NAN);
            found.e[copy * sums * e.len()..(copy + 1) * sums * e.len()].fill(f64::NAN);
            let why = "a state after the step is not a number, or a pivot vanishes".to_string();
            found.failures.push(Failure { copy, why });
        }
        Ok(found)
    }

    /// Initial values of a copy, by row: the default state of the model with muscles in equilibrium, controls and time
    /// zero.
    pub fn start(&self) -> Vec<f64> {
        start(&self.evaluator.system, self.layout())
    }
}

/// Rows of a copy at its start.
pub(super) fn start(system: &System, layout: &Layout) -> Vec<f64> {
    let mut state = system.default_state.clone();
    system.solve_equilibrium(&mut state, &vec![0.0; system.num_controls], &mut system.workspace());
    let mut x: Vec<f64> = state.q.iter().chain(&state.u).chain(&state.z).copied().collect();
    x.resize(layout.time + 1, 0.0);
    x
}

/// Why a model has no programs.
pub(super) fn refused(evaluator: &Evaluator, e: &BatchError) -> Error {
    let component = match e {
        BatchError::Refused(Refusal::Look { component, .. }) => component.rsplit(' ').next().unwrap_or(""),
        _ => "",
    };
    let line = evaluator.model.line_of(component);
    let hint = "use the back end `engine`, which supports all models";
    Error::content(evaluator.source(), line, component, e.to_string(), hint)
}

/// The step of the generated programs for a method.
pub fn step_of(method: super::BatchMethod) -> Option<Step> {
    match method {
        super::BatchMethod::Rosenbrock => Some(Step::LinearlyImplicit),
        super::BatchMethod::SemiExplicitEuler => Some(Step::SemiImplicit),
        super::BatchMethod::Rkm => None,
    }
}
