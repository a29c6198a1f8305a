//! Comparison of recorded programs with the engine.

use crate::evaluation::Evaluation;
use crate::implicit::ImplicitEvaluation;
use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_graph::Program;
use soleus_math::{Dual, Random, Real};
use soleus_model::Model;

/// Agreement of a program with the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Number of random states.
    pub states: usize,
    /// States without valid results of the engine itself: a pivot vanishes, or an acceleration exceeds 1e9.
    pub left_out: usize,
    /// Rates above 1e9, of muscles at the singularity of their explicit form; those of the program only need to be
    /// similarly large.
    pub singular_rates: usize,
    /// States whose accelerations and rates agree directly. In the others, rounding of the state itself changes them by
    /// more than the tolerance, in the engine as well, and they were compared in the implicit equations.
    pub as_they_are: usize,
    /// Maximum relative error of a state: ‖difference‖/‖engine‖ of accelerations and of rates, separately; for states
    /// that are not counted in [`as_they_are`](Self::as_they_are), of the residuals of the implicit equations.
    pub norm_error: f64,
    /// Median error of the states, compared directly.
    pub median_error: f64,
    /// Maximum error of a state, compared directly.
    pub worst_as_they_are: f64,
}

/// A program that does not agree with the engine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// Different values.
    #[error(
        "`{output}` is {found:.17e}, but the engine gives {wanted:.17e} (state {state} of the comparison, error {error:.1e})"
    )]
    Differs {
        /// Output with the largest error.
        output: String,
        /// Value of the program.
        found: f64,
        /// Value of the engine.
        wanted: f64,
        /// Index of the state.
        state: usize,
        /// The error of the state.
        error: f64,
    },
    /// Too few states in which the engine itself is accurate.
    #[error(
        "only {compared} of {states} random states can be compared: in the others the engine itself is inaccurate"
    )]
    TooFew {
        /// Number of states that could be compared.
        compared: usize,
        /// Number of states tried.
        states: usize,
    },
}

/// Accelerations and rates beyond this, in their units, say that a muscle is at a singularity: no body has them.
const BEYOND: f64 = 1e9;

/// The larger of two errors; NaN is the largest.
fn larger(a: f64, b: f64) -> f64 {
    if b <= a { a } else { b }
}

/// Outputs of states, each a row.
type Runner<'a> = &'a mut dyn FnMut(&[Vec<f64>]) -> Vec<Vec<f64>>;

impl Evaluation {
    /// Random states: coordinates over their ranges and a fifth beyond, speeds up to ±5, activations and controls
    /// within and outside [0, 1], other states of forces around their defaults.
    pub fn random_states(model: &Model, system: &System, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let d = &system.default_state;
        let mut ranges: Vec<[f64; 2]> = d.q.iter().map(|&q| [q - 0.5, q + 0.5]).collect();
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            if m < ranges.len() {
                let [low, high] = c.range;
                let (low, high) = (low.max(d.q[m] - 1.5), high.min(d.q[m] + 1.5));
                if low < high {
                    let more = 0.2 * (high - low);
                    ranges[m] = [low - more, high + more];
                }
            }
        }
        let mut random = Random::new(seed);
        (0..count)
            .map(|k| {
                // Every other state is near the usual ones.
                let wide = if k % 2 == 0 { 1.0 } else { 0.3 };
                let mut x: Vec<f64> = Vec::new();
                for (&[low, high], &q) in ranges.iter().zip(&d.q) {
                    x.push(q + wide * (low + (high - low) * random.unit() - q));
                }
                x.extend(d.u.iter().map(|u| u + 5.0 * wide * random.signed()));
                for (name, z) in system.aux_names.iter().zip(&d.z) {
                    x.push(if name.ends_with("/activation") {
                        0.5 + 0.55 * random.signed()
                    } else {
                        z * (1.0 + 0.4 * wide * random.signed())
                    });
                }
                x.extend((0..system.num_controls).map(|_| 0.5 + 0.6 * random.signed()));
                x.push(d.time + random.unit());
                // Numbers that 32 bits hold, so that all programs are given the same ones.
                x.iter_mut().for_each(|x| *x = f64::from(*x as f32));
                x
            })
            .collect()
    }

    /// Compares the results of `run` for states (accelerations, rates, indicator) with the engine, in norm, separately
    /// for accelerations and rates.
    ///
    /// A muscle near the singularity of its explicit form, or a mass matrix with a large condition number, amplifies
    /// rounding errors of the state, so that no two implementations agree there. Results that differ by more than
    /// `tolerance` are therefore compared in the implicit equations f(x, u̇, ż) of the engine, which are not singular:
    ///
    ///   ‖f(x, y) − f(x, y*)‖ ≤ tolerance ‖f(x, y*) − f(x, 0)‖
    ///
    /// with y from the program and y* from the engine.
    pub fn check(
        &self,
        model: &Model,
        system: &System,
        tolerance: f64,
        run: Runner,
    ) -> Result<Agreement, Mismatch> {
        let mut states = Evaluation::random_states(model, system, 64, 20_261_116);
        states.iter_mut().for_each(|x| x.extend(self.layout.p.clone().map(|_| 1.0)));
        let found = run(&states);
        let mut ws = system.workspace::<f64>();
        let implicit = ImplicitSystem::new(system);
        let (n, outputs) = (self.layout.u.len(), self.layout.outputs());
        let mut agreement = Agreement {
            states: states.len(),
            left_out: 0,
            singular_rates: 0,
            as_they_are: 0,
            norm_error: 0.0,
            median_error: 0.0,
            worst_as_they_are: 0.0,
        };
        let mut errors = Vec::new();
        let mut worst: Option<Mismatch> = None;
        for (state, (x, y)) in states.iter().zip(&found).enumerate() {
            let (s, e) = self.layout.state(x);
            let moved = system.compute_motion(&s, &e, &mut ws);
            let wanted: Vec<f64> = ws.udot.iter().chain(&ws.zdot).copied().collect();
            // Written so that NaN counts.
            let beyond = |i: usize| !(wanted[i].abs() <= BEYOND);
            if moved.is_err() || y[outputs] != 0.0 || (0..n).any(beyond) {
                agreement.left_out += 1;
                continue;
            }
            // Rates at a singularity need only be as far out.
            agreement.singular_rates += (n..outputs).filter(|&i| beyond(i)).count();
            if let Some(at) = (n..outputs).find(|&i| beyond(i) && y[i].abs() < 0.1 * BEYOND) {
                let (output, error) = (self.name(system, at), f64::INFINITY);
                worst = Some(Mismatch::Differs { output, found: y[at], wanted: wanted[at], state, error });
            }
            let mut residual = |rates: &[f64]| {
                let mut xdot = s.u.clone();
                xdot.extend((0..outputs).map(|i| if beyond(i) { 0.0 } else { rates[i] }));
                let mut r = vec![0.0; implicit.num_residuals()];
                let lambda = vec![0.0; implicit.num_multipliers()];
                implicit.compute_residual(&s, &xdot, &e, &lambda, &mut ws, &mut r);
                r.split_off(n)
            };
            let (mut plain, mut error) = (0.0, 0.0);
            for range in [0..n, n..outputs].into_iter().filter(|r| !r.is_empty()) {
                let norm = |f: &dyn Fn(usize) -> f64| {
                    let counted = range.clone().filter(|&i| !beyond(i));
                    counted.map(|i| f(i) * f(i)).sum::<f64>().sqrt()
                };
                let relative = |off: f64, size: f64| if off == 0.0 { 0.0 } else { off / size };
                let as_it_is = relative(norm(&|i| y[i] - wanted[i]), norm(&|i| wanted[i]));
                let mut kind = as_it_is;
                // Written so that NaN counts as wrong.
                if !(as_it_is <= tolerance) {
                    let (ours, engine) = (residual(y), residual(&wanted));
                    let rest = residual(&vec![0.0; outputs]);
                    kind = relative(norm(&|i| ours[i] - engine[i]), norm(&|i| engine[i] - rest[i]));
                    if !(kind <= tolerance) {
                        let off = |i: &usize| (y[*i] - wanted[*i]).abs();
                        let counted = range.clone().filter(|&i| !beyond(i));
                        let at = counted.max_by(|i, k| off(i).total_cmp(&off(k))).unwrap_or(0);
                        let output = self.name(system, at);
                        let error = kind;
                        worst = Some(Mismatch::Differs {
                            output,
                            found: y[at],
                            wanted: wanted[at],
                            state,
                            error,
                        });
                    }
                }
                (plain, error) = (larger(plain, as_it_is), larger(error, kind));
            }
            errors.push(plain);
            agreement.as_they_are += usize::from(plain <= tolerance);
            agreement.norm_error = larger(agreement.norm_error, error);
            agreement.worst_as_they_are = larger(agreement.worst_as_they_are, plain);
        }
        errors.sort_by(f64::total_cmp);
        agreement.median_error = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
        let (states, compared) = (agreement.states, agreement.states - agreement.left_out);
        match worst {
            Some(mismatch) => Err(mismatch),
            None if 2 * compared < states => Err(Mismatch::TooFew { compared, states }),
            None => Ok(agreement),
        }
    }

    /// What an output is.
    fn name(&self, system: &System, output: usize) -> String {
        match output.checked_sub(self.layout.u.len()) {
            None => format!("acceleration of mobility {output}"),
            Some(i) => format!("rate of {}", system.aux_names[i]),
        }
    }

    /// [`check`](Self::check) of the reference interpreter.
    pub fn check_reference(
        &self,
        model: &Model,
        system: &System,
        program: &Program,
    ) -> Result<Agreement, Mismatch> {
        self.check(model, system, 1e-12, &mut |states| states.iter().map(|x| program.evaluate(x)).collect())
    }

    /// Gradient of Σ wᵢ yᵢ with respect to all inputs, by the engine with dual numbers.
    pub fn engine_gradient(&self, system: &System, x: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
        let mut ws = system.workspace::<Along>();
        gradient(x, weights, |x| {
            let (s, e) = self.layout.state(x);
            system.compute_motion(&s, &e, &mut ws).ok()?;
            Some(ws.udot.iter().chain(&ws.zdot).copied().collect())
        })
    }
}

impl ImplicitEvaluation {
    /// Gradient of Σ wᵢ rᵢ with respect to all inputs, by the engine with dual numbers.
    pub fn engine_gradient(&self, system: &System, x: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
        let mut ws = system.workspace::<Along>();
        let implicit = ImplicitSystem::new(system);
        gradient(x, weights, |x| Some(self.residual(&implicit, x, &mut ws)))
    }
}

/// Directions of one sweep with dual numbers.
const DIRECTIONS: usize = 8;
type Along = Dual<f64, DIRECTIONS>;

/// Derivatives of Σ wᵢ yᵢ by all inputs, some directions at a time.
fn gradient(
    x: &[f64],
    weights: &[f64],
    mut y: impl FnMut(&[Along]) -> Option<Vec<Along>>,
) -> Option<Vec<f64>> {
    let mut gradient = Vec::with_capacity(x.len());
    for first in (0..x.len()).step_by(DIRECTIONS) {
        let mut moved: Vec<Along> = x.iter().map(|x| Along::cst(*x)).collect();
        let count = DIRECTIONS.min(x.len() - first);
        (0..count).for_each(|d| moved[first + d].d[d] = 1.0);
        let y = y(&moved)?;
        gradient.extend((0..count).map(|d| y.iter().zip(weights).map(|(y, w)| y.d[d] * w).sum::<f64>()));
    }
    Some(gradient)
}
