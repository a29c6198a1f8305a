//! Copies of a model that are stepped together.

use crate::evaluation::{Evaluation, Layout, Refusal};
use crate::parameters::BatchParameter;
use crate::step::Step;
use crate::{Agreement, Mismatch};
use soleus_dynamics::System;
use soleus_graph::lanes::{Lanes, Steps};
use soleus_math::Random;
use soleus_model::Model;
use std::ops::Range;
use std::sync::OnceLock;

/// Why there is no batch of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// The model cannot be recorded.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The recorded program does not agree with the engine.
    #[error(transparent)]
    Wrong(#[from] Mismatch),
}

/// Options of the computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchOptions {
    /// Single precision (32-bit numbers): faster, accurate to about 1e-5.
    pub single: bool,
    /// Method of a step.
    pub step: Step,
    /// Number of threads.
    pub threads: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        BatchOptions { single: false, step: Step::LinearlyImplicit, threads }
    }
}

/// Compiled programs for copies of a model on this CPU, verified against the engine. The caller owns states and
/// controls: number i of copy k of n is at `[i * n + k]`, in the order of [`Layout`], followed by one more row for the
/// length of a step.
pub struct BatchPrograms {
    evaluation: Evaluation,
    evaluate: Lanes,
    step: Lanes,
    step_gradient: OnceLock<Lanes>,
    system: System,
    options: BatchOptions,
    agreement: Agreement,
    start: Vec<f64>,
}

impl BatchPrograms {
    /// Records a model, and verifies the programs against the engine at random states.
    pub fn new(
        model: &Model,
        system: &System,
        parameters: &[BatchParameter],
        options: BatchOptions,
    ) -> Result<BatchPrograms, BatchError> {
        let evaluation = match parameters {
            [] => Evaluation::record(model, system)?,
            list => Evaluation::record_with(model, list)?,
        };
        // In 64 bits first: what is traced wrongly must not hide behind the rounding of 32.
        let program = evaluation.program();
        evaluation.check_reference(model, system, &program)?;
        let evaluate = Lanes::new(program, options.single);
        let tolerance = if options.single { 1e-4 } else { 1e-12 };
        let agreement = evaluation.check(model, system, tolerance, &mut |states| {
            let n = states.len();
            let x: Vec<f64> = (0..evaluate.inputs()).flat_map(|i| states.iter().map(move |s| s[i])).collect();
            let mut y = vec![f64::NAN; evaluate.outputs() * n];
            evaluate.run(&x, &mut y, n, options.threads);
            (0..n).map(|k| (0..evaluate.outputs()).map(|i| y[i * n + k]).collect()).collect()
        })?;
        let step = Lanes::new(evaluation.step_program(system, options.step), options.single);
        let d = &system.default_state;
        let mut start: Vec<f64> = d.q.iter().chain(&d.u).chain(&d.z).copied().collect();
        start.resize(evaluation.layout.inputs() + 1, 0.0);
        start[evaluation.layout.time] = d.time;
        start[evaluation.layout.p.clone()].fill(1.0);
        Ok(BatchPrograms {
            evaluate,
            step,
            step_gradient: OnceLock::new(),
            evaluation,
            system: system.clone(),
            options,
            agreement,
            start,
        })
    }

    /// Agreement of the programs with the engine.
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// Description of the backend.
    pub fn backend(&self) -> &'static str {
        self.evaluate.backend()
    }

    /// Layout of the inputs.
    pub fn layout(&self) -> &Layout {
        &self.evaluation.layout
    }

    /// Number of values per copy: inputs, and the length of a step.
    pub fn rows(&self) -> usize {
        self.layout().inputs() + 1
    }

    /// Inputs of a copy in the default state of the model.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Accelerations, then rates of the states of forces, then an indicator (not 0 if a pivot of the mass matrix
    /// vanishes), of all copies.
    pub fn evaluate(&self, x: &[f64], copies: usize) -> Vec<f64> {
        let mut y = vec![0.0; self.evaluate.outputs() * copies];
        self.evaluate.run(&x[..self.layout().inputs() * copies], &mut y, copies, self.options.threads);
        y
    }

    /// Advances all copies by steps of `h` seconds, in place. A copy whose state is not finite after a step, or with a
    /// vanishing pivot, keeps its state before that step and is marked in `failed`.
    pub fn step(&self, x: &mut [f64], copies: usize, h: f64, count: usize, failed: &mut [bool]) {
        self.step_while(x, copies, h, count, failed, &|| true);
    }

    /// Advances copies as [`step`](Self::step) does while `going_on`, which every thread asks before it takes some copies. Those that
    /// are not taken stay as they are; their times tell which.
    pub fn step_while(
        &self,
        x: &mut [f64],
        copies: usize,
        h: f64,
        count: usize,
        failed: &mut [bool],
        going_on: &(dyn Fn() -> bool + Sync),
    ) {
        x[self.layout().inputs() * copies..].fill(h);
        let steps = Steps { count, time: self.layout().time, length: h };
        self.step.advance_while(x, copies, self.options.threads, steps, failed, going_on);
    }

    /// Gradient of Σ wᵢ x⁺ᵢ, where x⁺ are coordinates, speeds and states of forces after a step of `h` seconds from
    /// here, with respect to all inputs of the step and to h. Weights are stored like the states.
    pub fn step_gradients(&self, x: &[f64], copies: usize, h: f64, weights: &[f64]) -> Vec<f64> {
        let lanes = self.step_gradient.get_or_init(|| {
            let program = self.evaluation.step_gradient_program(&self.system, self.options.step);
            Lanes::new(program, self.options.single)
        });
        let mut x = x.to_vec();
        x[self.layout().inputs() * copies..].fill(h);
        x.extend(weights);
        let mut y = vec![0.0; lanes.outputs() * copies];
        lanes.run(&x, &mut y, copies, self.options.threads);
        y
    }
}

/// Copies of a model: their states, excitations and results, number i of copy k at `[i * n + k]`.
///
/// ```
/// # use {soleus_dynamics::System, soleus_model::Model};
/// # fn run(model: &Model, system: &System) -> Result<(), Box<dyn std::error::Error>> {
/// let mut batch = soleus_batch::Batch::new(model, system, 1024, Default::default())?;
/// batch.add_noise(7, 0.01);
/// for _ in 0..500 {
///     batch.step(0.002);
/// }
/// # Ok(()) }
/// ```
pub struct Batch {
    programs: BatchPrograms,
    copies: usize,
    /// Inputs of all copies: coordinates, speeds, states of forces, controls, time; one more for the length of a step.
    x: Vec<f64>,
    failed: Vec<bool>,
}

impl Batch {
    /// `copies` copies of a model in its default state, verified against the engine at random states.
    pub fn new(
        model: &Model,
        system: &System,
        copies: usize,
        options: BatchOptions,
    ) -> Result<Batch, BatchError> {
        Batch::with_parameters(model, system, &[], copies, options)
    }

    /// The same with parameters that differ between copies; factors are 1 by default.
    pub fn with_parameters(
        model: &Model,
        system: &System,
        parameters: &[BatchParameter],
        copies: usize,
        options: BatchOptions,
    ) -> Result<Batch, BatchError> {
        let programs = BatchPrograms::new(model, system, parameters, options)?;
        let x = programs.start.iter().flat_map(|&v| std::iter::repeat_n(v, copies)).collect();
        Ok(Batch { programs, copies, x, failed: vec![false; copies] })
    }

    /// Number of copies.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// The compiled programs.
    pub fn programs(&self) -> &BatchPrograms {
        &self.programs
    }

    /// Agreement of the programs with the engine.
    pub fn agreement(&self) -> Agreement {
        self.programs.agreement
    }

    /// Description of the backend.
    pub fn backend(&self) -> &'static str {
        self.programs.backend()
    }

    /// Layout of the inputs.
    pub fn layout(&self) -> &Layout {
        self.programs.layout()
    }

    fn rows(&self, r: &Range<usize>) -> Range<usize> {
        r.start * self.copies..r.end * self.copies
    }

    /// Coordinates, speeds and states of forces of all copies.
    pub fn states(&self) -> &[f64] {
        &self.x[..self.layout().z.end * self.copies]
    }

    /// The same, mutable.
    pub fn states_mut(&mut self) -> &mut [f64] {
        let end = self.layout().z.end * self.copies;
        &mut self.x[..end]
    }

    /// Excitations of all copies.
    pub fn controls_mut(&mut self) -> &mut [f64] {
        let rows = self.rows(&self.layout().e);
        &mut self.x[rows]
    }

    /// Factors of the parameters of all copies, in the order given.
    pub fn parameters_mut(&mut self) -> &mut [f64] {
        let rows = self.rows(&self.layout().p);
        &mut self.x[rows]
    }

    /// Resets one copy to the initial state. Its parameters are kept.
    pub fn reset(&mut self, copy: usize) {
        for i in 0..=self.layout().time {
            self.x[i * self.copies + copy] = self.programs.start[i];
        }
    }

    /// Adds normally distributed noise with a standard deviation to coordinates and speeds. The noise of a copy does
    /// not depend on the size of the batch.
    pub fn add_noise(&mut self, seed: u64, deviation: f64) {
        for k in 0..self.copies {
            let mut random = Random::new(seed ^ (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for i in 0..self.layout().u.end {
                self.x[i * self.copies + k] += deviation * random.normal();
            }
        }
    }

    /// Accelerations, then rates of the states of forces, then an indicator (not 0 if a pivot of the mass matrix
    /// vanishes), of all copies.
    pub fn evaluate(&self) -> Vec<f64> {
        self.programs.evaluate(&self.x, self.copies)
    }

    /// Advances all copies by one step of `h` seconds. Returns the number of copies that could not continue and kept
    /// their state: see [`failed`](Self::failed).
    pub fn step(&mut self, h: f64) -> usize {
        self.failed.fill(false);
        self.programs.step(&mut self.x, self.copies, h, 1, &mut self.failed);
        self.failed.iter().filter(|f| **f).count()
    }

    /// Copies that failed in the last step: their state is not finite, or a pivot vanishes.
    pub fn failed(&self) -> &[bool] {
        &self.failed
    }

    /// Advances by several steps of `h` seconds; `each` is called with the number of each step before it and may change
    /// states and controls.
    pub fn rollout(&mut self, h: f64, steps: usize, each: &mut dyn FnMut(usize, &mut Batch)) -> usize {
        let mut failures = 0;
        for k in 0..steps {
            each(k, self);
            failures += self.step(h);
        }
        failures
    }

    /// Gradient of Σ wᵢ x⁺ᵢ with respect to all inputs of a step of `h` seconds, and to h: see
    /// [`BatchPrograms::step_gradients`].
    pub fn step_gradients(&self, h: f64, weights: &[f64]) -> Vec<f64> {
        self.programs.step_gradients(&self.x, self.copies, h, weights)
    }
}
