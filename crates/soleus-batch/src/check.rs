//! What was recorded beside the engine.

use crate::evaluation::Evaluation;
use soleus_dynamics::System;
use soleus_graph::Program;
use soleus_math::Random;
use soleus_model::Model;

/// How well a program agrees with the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// States that were compared.
    pub states: usize,
    /// States in which a pivot would have vanished, or where rounding of the state's own numbers moves the engine by more than 1e-11.
    pub left_out: usize,
    /// Worst ‖difference‖/‖engine‖ of a state, accelerations and rates each by themselves.
    pub norm_error: f64,
    /// Half of the states are below this error.
    pub median_error: f64,
}

/// A program that is not what the engine computes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// Other numbers.
    #[error(
        "`{output}` is {found:.17e} and should be {wanted:.17e} (state {state} of the comparison with the engine)"
    )]
    Differs {
        /// The output that is furthest off.
        output: String,
        /// What it is.
        found: f64,
        /// What the engine gives.
        wanted: f64,
        /// Which state.
        state: usize,
    },
    /// Too few states in which the engine itself keeps its digits.
    #[error(
        "only {compared} of {states} random states can be compared: the engine itself loses its digits in the others"
    )]
    TooFew {
        /// States that could be compared.
        compared: usize,
        /// States that were tried.
        states: usize,
    },
}

/// Outputs of states, each a row.
type Runner<'a> = &'a mut dyn FnMut(&[Vec<f64>]) -> Vec<Vec<f64>>;

/// Rates beyond this, in their units per second, say only that a state cannot be computed with.
const BEYOND: f64 = 1e6;

/// A program rounds some thousand times, in another order than the engine: by so much more than the inputs are rounded.
const ROUNDINGS: f64 = 100.0;

/// A state in which rounding of its numbers moves the engine by more than this has no digits to compare, and is left out.
const SENSITIVE: f64 = 1e-11;

impl Evaluation {
    /// Random states: coordinates over their ranges and a fifth beyond, speeds to ±5, activations and controls in and beyond [0, 1],
    /// other states of forces around their defaults.
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
                x
            })
            .collect()
    }

    /// Compares what `run` gives for states (accelerations, rates, doubt) with the engine. A state may be off by `tolerance`, or by what
    /// rounding of its own numbers makes of it in the engine.
    pub fn check(
        &self,
        model: &Model,
        system: &System,
        tolerance: f64,
        run: Runner,
    ) -> Result<Agreement, Mismatch> {
        let states = Evaluation::random_states(model, system, 64, 20_261_116);
        let found = run(&states);
        let mut ws = system.workspace::<f64>();
        let n = self.layout.u.len();
        let mut agreement =
            Agreement { states: states.len(), left_out: 0, norm_error: 0.0, median_error: 0.0 };
        let mut errors = Vec::new();
        let mut random = Random::new(1);
        let mut worst: Option<Mismatch> = None;
        for (state, (x, y)) in states.iter().zip(&found).enumerate() {
            let (s, e) = self.layout.state(x);
            let moved = system.compute_motion(&s, &e, &mut ws);
            let outputs = self.layout.outputs();
            let wanted: Vec<f64> = ws.udot.iter().chain(&ws.zdot).copied().collect();
            if moved.is_err() || y[outputs] != 0.0 || wanted[..n].iter().any(|w| !w.is_finite()) {
                agreement.left_out += 1;
                continue;
            }
            // Rates of muscles whose explicit form is next to its singularity: they need only be as far out.
            let beyond = |w: f64| !(w.abs() <= BEYOND);
            if let Some(at) = (0..outputs).find(|&i| beyond(wanted[i]) && y[i].abs() < 0.1 * BEYOND) {
                return Err(Mismatch::Differs {
                    output: self.name(system, at),
                    found: y[at],
                    wanted: wanted[at],
                    state,
                });
            }
            // What rounding of the inputs alone does to the engine: no program can agree better where it is much.
            let rounded: Vec<f64> =
                x.iter().map(|x| x * (1.0 + f64::EPSILON * random.signed().signum())).collect();
            let (s, e) = self.layout.state(&rounded);
            let shifted: Vec<f64> = match system.compute_motion(&s, &e, &mut ws) {
                Ok(()) => ws.udot.iter().chain(&ws.zdot).copied().collect(),
                Err(_) => wanted.clone(),
            };
            let mut sensitive = false;
            for range in [0..n, n..outputs].into_iter().filter(|r| !r.is_empty()) {
                let norm = |f: &dyn Fn(usize) -> f64| {
                    let counted = range.clone().filter(|&i| !beyond(wanted[i]));
                    counted.map(|i| f(i) * f(i)).sum::<f64>().sqrt()
                };
                let size = norm(&|i| wanted[i]);
                let error = norm(&|i| y[i] - wanted[i]) / size.max(f64::MIN_POSITIVE);
                let sensitivity = norm(&|i| shifted[i] - wanted[i]) / size.max(f64::MIN_POSITIVE);
                if !(sensitivity <= SENSITIVE) {
                    sensitive = true;
                    continue;
                }
                errors.push(error);
                // Numbers of 32 bits are rounded by so much more.
                let coarser = if tolerance > 1e-6 { f64::from(f32::EPSILON) / f64::EPSILON } else { 1.0 };
                let allowed = tolerance + ROUNDINGS * sensitivity * coarser;
                // Written so that NaN counts as wrong.
                if !(error <= agreement.norm_error) {
                    agreement.norm_error = error;
                    if !(error <= allowed) {
                        let off = |i: &usize| (y[*i] - wanted[*i]).abs();
                        let counted = range.clone().filter(|&i| !beyond(wanted[i]));
                        let at = counted.max_by(|i, k| off(i).total_cmp(&off(k))).unwrap_or(0);
                        let output = self.name(system, at);
                        worst = Some(Mismatch::Differs { output, found: y[at], wanted: wanted[at], state });
                    }
                }
            }
            agreement.left_out += usize::from(sensitive);
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
}
