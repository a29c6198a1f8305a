//! Copies of a model that are stepped together.

use crate::evaluation::{Evaluation, Layout, Refusal};
use crate::parameters::BatchParameter;
use crate::step::Step;
use crate::{Agreement, Mismatch};
use soleus_dynamics::System;
use soleus_graph::lanes::Lanes;
use soleus_math::Random;
use soleus_model::Model;
use std::ops::Range;
use std::sync::OnceLock;

/// Why there is no batch of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// It cannot be recorded.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What was recorded does not agree with the engine.
    #[error(transparent)]
    Wrong(#[from] Mismatch),
}

/// How copies are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchOptions {
    /// Numbers of 32 bits: faster, good to about 1e-5.
    pub single: bool,
    /// How a step goes.
    pub step: Step,
    /// Threads.
    pub threads: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        BatchOptions { single: false, step: Step::LinearlyImplicit, threads }
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
    layout: Layout,
    copies: usize,
    threads: usize,
    /// Inputs of all copies: coordinates, speeds, states of forces, controls, time; one more for the length of a step.
    x: Vec<f64>,
    evaluation: Evaluation,
    evaluate: Lanes,
    step: Lanes,
    step_gradient: OnceLock<Lanes>,
    system: System,
    options: BatchOptions,
    agreement: Agreement,
    start: Vec<f64>,
}

impl Batch {
    /// `copies` copies of a model in its default state, after a comparison with the engine on random states.
    pub fn new(
        model: &Model,
        system: &System,
        copies: usize,
        options: BatchOptions,
    ) -> Result<Batch, BatchError> {
        Batch::of(Evaluation::record(model, system)?, model, system, copies, options)
    }

    /// The same with parameters that differ from copy to copy; factors are 1 until they are written.
    pub fn with_parameters(
        model: &Model,
        system: &System,
        parameters: &[BatchParameter],
        copies: usize,
        options: BatchOptions,
    ) -> Result<Batch, BatchError> {
        Batch::of(Evaluation::record_with(model, parameters)?, model, system, copies, options)
    }

    fn of(
        evaluation: Evaluation,
        model: &Model,
        system: &System,
        copies: usize,
        options: BatchOptions,
    ) -> Result<Batch, BatchError> {
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
        let x = start.iter().flat_map(|&v| std::iter::repeat_n(v, copies)).collect();
        Ok(Batch {
            layout: evaluation.layout.clone(),
            copies,
            threads: options.threads,
            x,
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

    /// How many copies there are.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// How well the programs agree with the engine.
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// How copies are computed, in words.
    pub fn backend(&self) -> &'static str {
        self.evaluate.backend()
    }

    /// Where inputs are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self, r: &Range<usize>) -> Range<usize> {
        r.start * self.copies..r.end * self.copies
    }

    /// Coordinates, speeds and states of forces of all copies.
    pub fn states(&self) -> &[f64] {
        &self.x[..self.layout.z.end * self.copies]
    }

    /// The same, to write to.
    pub fn states_mut(&mut self) -> &mut [f64] {
        &mut self.x[..self.layout.z.end * self.copies]
    }

    /// Excitations of all copies.
    pub fn controls_mut(&mut self) -> &mut [f64] {
        let rows = self.rows(&self.layout.e);
        &mut self.x[rows]
    }

    /// Factors of the parameters of all copies, in the order in which they were asked for.
    pub fn parameters_mut(&mut self) -> &mut [f64] {
        let rows = self.rows(&self.layout.p);
        &mut self.x[rows]
    }

    /// Puts one copy back to the start. Its parameters stay.
    pub fn reset(&mut self, copy: usize) {
        let states = self.start.iter().enumerate().take(self.layout.time + 1);
        for (i, v) in states {
            self.x[i * self.copies + copy] = *v;
        }
    }

    /// Adds normal noise of a standard deviation to coordinates and speeds. A copy has the same noise in a batch of any size.
    pub fn add_noise(&mut self, seed: u64, deviation: f64) {
        for k in 0..self.copies {
            let mut random = Random::new(seed ^ (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for i in 0..self.layout.u.end {
                self.x[i * self.copies + k] += deviation * random.normal();
            }
        }
    }

    /// Accelerations, then rates of the states of forces, then the doubt (not 0 where a pivot of the mass matrix vanishes), of all copies.
    pub fn evaluate(&self) -> Vec<f64> {
        let n = self.layout.inputs() * self.copies;
        let mut y = vec![0.0; self.evaluate.outputs() * self.copies];
        self.evaluate.run(&self.x[..n], &mut y, self.copies, self.threads);
        y
    }

    /// One step of `h` seconds of all copies; how many of them are in doubt.
    pub fn step(&mut self, h: f64) -> usize {
        let n = self.copies;
        let last = (self.layout.inputs()) * n;
        self.x[last..].fill(h);
        let mut y = vec![0.0; self.step.outputs() * n];
        self.step.run(&self.x, &mut y, n, self.threads);
        let states = self.layout.z.end * n;
        self.x[..states].copy_from_slice(&y[..states]);
        let time = self.layout.time * n;
        self.x[time..time + n].iter_mut().for_each(|t| *t += h);
        y[states..].iter().filter(|d| **d != 0.0).count()
    }

    /// Steps of `h` seconds; `each` is told the number of a step before it and may change states and controls.
    pub fn rollout(&mut self, h: f64, steps: usize, each: &mut dyn FnMut(usize, &mut Batch)) -> usize {
        let mut doubts = 0;
        for k in 0..steps {
            each(k, self);
            doubts += self.step(h);
        }
        doubts
    }

    /// The gradient of Σ wᵢ x⁺ᵢ, where x⁺ are coordinates, speeds and states of forces after a step of `h` seconds from here, by all inputs
    /// of the step and by h. Weights of all copies, as states are.
    pub fn step_gradients(&self, h: f64, weights: &[f64]) -> Vec<f64> {
        let lanes = self.step_gradient.get_or_init(|| {
            let program = self.evaluation.step_gradient_program(&self.system, self.options.step);
            Lanes::new(program, self.options.single)
        });
        let n = self.copies;
        let mut x = self.x.clone();
        x[self.layout.inputs() * n..].fill(h);
        x.extend(weights);
        let mut y = vec![0.0; lanes.outputs() * n];
        lanes.run(&x, &mut y, n, self.threads);
        y
    }
}
