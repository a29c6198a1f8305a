//! The program of a window: forces that give the accelerations.

use super::actuators::Actuators;
use super::response::Response;
use super::{Effort, Settings, Target};
use soleus_math::elementary;
use soleus_optimization::separable::{PowerProgram, SharingError};

/// Forces fᵢ = f⁰ᵢ + sᵢ xᵢ, where x solves min Σ|xᵢ|ᵖ under linear equations and bounds.
///
/// Met exactly, the equations are Λ A f = Λ (a − u̇₀) with Λ the inertia of the tasks, so that what is missing is a generalized force.
/// Met by weights, there is an unknown for each task besides, yⱼ = √wⱼ (u̇ⱼ − aⱼ), which counts like a force: Λ (A f − W^(−½) y) = Λ (a − u̇₀).
/// Inertias of toes and pelvis differ by many powers of ten, so that accelerations as they are would make poor equations.
#[derive(Clone, Debug)]
pub(super) struct Sharing {
    program: PowerProgram,
    target: Target,
    /// √w of each task.
    weights: Vec<f64>,
    exponent: f64,
    /// f⁰ and s of each actuator.
    center: Vec<f64>,
    scale: Vec<f64>,
    /// What the actuators should do in each equation.
    wanted: Vec<f64>,
    columns: Vec<f64>,
    /// Columns of y.
    slack: Vec<f64>,
    column: Vec<f64>,
}

/// What is known of an actuator before a window is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Control of the window before.
    pub before: Option<f64>,
    /// Weight and value of the activation that was measured at the end.
    pub measured: Option<[f64; 2]>,
}

/// Entries of a column below this part of its largest are rounding.
const ROUNDED: f64 = 1e-11;
/// An actuator within this part of its range of a bound is at its limit.
const AT_LIMIT: f64 = 1e-6;

impl Sharing {
    pub fn new(settings: &Settings, weights: &[f64], actuators: usize) -> Result<Self, SharingError> {
        let k = weights.len();
        let unknowns = match settings.target {
            Target::Exact => actuators,
            Target::Weighted => actuators + k,
        };
        let exponent = match (settings.effort, settings.target) {
            (Effort::Activation { exponent, .. }, Target::Exact) => exponent,
            _ => 2.0,
        };
        Ok(Sharing {
            program: PowerProgram::new(k, unknowns, exponent)?,
            target: settings.target,
            weights: weights.iter().map(|w| w.sqrt()).collect(),
            exponent,
            center: vec![0.0; actuators],
            scale: vec![1.0; actuators],
            wanted: vec![0.0; k],
            columns: Vec::new(),
            slack: match settings.target {
                Target::Exact => Vec::new(),
                Target::Weighted => vec![0.0; k * k],
            },
            column: vec![0.0; k],
        })
    }

    /// The program for the accelerations that are wanted.
    pub fn load(
        &mut self,
        settings: &Settings,
        response: &mut Response,
        actuators: &Actuators,
        accelerations: &[f64],
        known: impl Iterator<Item = Known>,
    ) {
        let k = self.wanted.len();
        for (w, (a, free)) in self.wanted.iter_mut().zip(accelerations.iter().zip(&response.free)) {
            *w = a - free;
        }
        self.columns.clone_from(&response.columns);
        self.slack.fill(0.0);
        if self.target == Target::Weighted {
            for (r, w) in self.weights.iter().enumerate() {
                self.slack[r * k + r] = -1.0 / w;
            }
        }
        response.weigh(&mut [&mut self.columns, &mut self.wanted, &mut self.slack]);
        // An actuator acts on few tasks; what rounding leaves of it on the others would make its column full.
        for column in self.columns.chunks_exact_mut(k) {
            let least = ROUNDED * column.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            column.iter_mut().filter(|a| a.abs() < least).for_each(|a| *a = 0.0);
        }
        for (i, known) in known.enumerate() {
            (self.center[i], self.scale[i]) = self.cost(settings, actuators, i, known);
        }
        self.program.rhs.copy_from_slice(&self.wanted);
        self.program.clear_columns();
        for i in 0..self.scale.len() {
            let (center, scale) = (self.center[i], self.scale[i]);
            for (r, a) in self.columns[i * k..(i + 1) * k].iter().enumerate() {
                self.program.rhs[r] -= a * center;
                self.column[r] = a * scale;
            }
            self.program.push_column(&self.column);
            let [a, b] = actuators.ranges[i].force;
            self.program.lower[i] = (a.min(b) - center) / scale;
            self.program.upper[i] = (a.max(b) - center) / scale;
        }
        if self.target == Target::Weighted {
            for r in 0..k {
                let i = self.scale.len() + r;
                self.program.push_column(&self.slack[r * k..(r + 1) * k]);
                (self.program.lower[i], self.program.upper[i]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
    }

    /// Center and scale of the cost of an actuator.
    fn cost(&self, settings: &Settings, actuators: &Actuators, i: usize, known: Known) -> (f64, f64) {
        let (a, range) = (&actuators.list[i], &actuators.ranges[i]);
        let width = range.force[1] - range.force[0];
        let (center, scale) = match settings.effort {
            _ if !a.is_muscle => (0.0, a.optimal_force.abs()),
            Effort::Strength => (0.0, actuators.strengths[i]),
            Effort::Stress => (0.0, a.optimal_force),
            Effort::Activation { by_volume, .. } => {
                // Activation runs nearly straight with force between the ends of the range.
                let slope = (range.activation[1] - range.activation[0]) / width;
                let weight = if by_volume { elementary::powf(a.volume, 1.0 / self.exponent) } else { 1.0 };
                match slope > 0.0 && slope.is_finite() {
                    true => (range.force[0] - range.activation[0] / slope, 1.0 / (slope * weight)),
                    false => (0.0, a.optimal_force),
                }
            }
        };
        if !a.is_muscle || self.exponent != 2.0 || !(width > 0.0) {
            return (center, scale);
        }
        // c (f − f₀)² + ρ g² (f − f_p)² + w s² (f − f_m)²: g and s are the slopes of excitation and activation by force, f_p is the
        // force of the last excitation and f_m that of the measured activation. Their sum is one such square.
        let c = 1.0 / (scale * scale);
        let (mut weight, mut moment) = (c, c * center);
        let mut add = |price: f64, ends: [f64; 2], value: f64| {
            let slope = (ends[1] - ends[0]) / width;
            if price > 0.0 && slope > 0.0 {
                let d = price * slope * slope;
                weight += d;
                moment += d * (range.force[0] + (value - ends[0]) / slope);
            }
        };
        if let Some(last) = known.before {
            add(settings.smoothness, range.control, last);
        }
        if let Some([price, value]) = known.measured {
            add(price, range.activation, value);
        }
        (moment / weight, 1.0 / weight.sqrt())
    }

    pub fn solve(&mut self) -> Result<(), SharingError> {
        self.program.solve().map(|_| ())
    }

    /// Writes the forces.
    pub fn forces(&self, actuators: &mut Actuators) {
        for (i, f) in actuators.forces.iter_mut().enumerate() {
            *f = self.center[i] + self.scale[i] * self.program.x[i];
        }
    }

    /// What is wanted and what is missing of each task, N·m or N. Nothing is missing where accelerations are met by weights.
    pub fn missing(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let exact = self.target == Target::Exact;
        let missing = self.program.missing.iter().map(move |m| if exact { *m } else { 0.0 });
        self.wanted.iter().copied().zip(missing)
    }

    /// Actuators that would do more for an equation if they could.
    pub fn at_limit(&self, equation: usize, missing: f64) -> impl Iterator<Item = usize> + '_ {
        let k = self.wanted.len();
        (0..self.scale.len()).filter(move |&i| {
            let effect = self.columns[i * k + equation] * missing.signum();
            let (x, l, u) = (self.program.x[i], self.program.lower[i], self.program.upper[i]);
            let little = AT_LIMIT * (u - l);
            // A muscle without a moment arm at this coordinate is not help.
            effect.abs() > 1e-3 && (if effect > 0.0 { u - x <= little } else { x - l <= little })
        })
    }
}
