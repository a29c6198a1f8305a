//! Functions of model quantities in goals and constraints.

use super::quantity::{Memory, Quantity};
use super::sensor::Reading;
use crate::function::SmoothFunction;
use crate::problem::{EndpointFunction, EndpointVariable, PointVariable, Term};
use soleus_dynamics::System;
use soleus_math::{Function, Real, Vec3, vec3};
use std::sync::Arc;

/// Function of quantities v₀, v₁, … at a time t.
#[derive(Clone, Debug)]
pub enum Make {
    /// The values, optionally minus functions of time.
    Values(Vec<Option<Function>>),
    /// Σ wᵢ (vᵢ − rᵢ(t))².
    SquaredErrors {
        /// References r, one for each value.
        references: Vec<Function>,
        /// Weights w, one for each value.
        weights: Vec<f64>,
    },
    /// Σ ((vᵢ − mᵢ(t))/σᵢ(t))² over the measured values.
    Readings(Vec<Option<Reading>>),
    /// Σ wᵢ vᵢ².
    WeightedSquares(Vec<f64>),
    /// Squared angle (rad²) between the axes in v and a quaternion (w, x, y, z) over time, times a weight.
    SquaredAngle(Box<[Function; 4]>, f64),
    /// A scalar of one or two quantities.
    Scalar(Scalar),
    /// The same minus a function of time.
    ScalarMinus(Scalar, Function),
    /// Which foot is ahead by more than its share of the stride: see
    /// [`step_length_asymmetry`](super::step_length_asymmetry).
    StepLength {
        /// Direction of walking.
        direction: Vec3<f64>,
        /// Thresholds of right and left foot, m.
        thresholds: [f64; 2],
        /// Steepness, 1/m.
        sharpness: f64,
    },
    /// Which foot is in contact: see [`step_time_asymmetry`](super::step_time_asymmetry).
    StepTime {
        /// Direction of walking.
        direction: Vec3<f64>,
        /// Direction of the load.
        up: Vec3<f64>,
        /// Minimum load for contact, N.
        threshold: f64,
        /// Steepness of contact detection, 1/N.
        contact: f64,
        /// Steepness of the step indicator.
        sharpness: f64,
    },
}

/// How two outputs are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// a + b.
    Addition,
    /// a − b.
    Subtraction,
    /// a b.
    Multiplication,
    /// a / b.
    Division,
}

/// A scalar from one output, or from two of the same type: a component or the norm, then a power.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// Component; default: the norm, if the output is a vector.
    pub index: Option<usize>,
    /// How a second output is combined.
    pub operation: Option<Operation>,
    /// Exponent: for 1 and 2 of the value, otherwise of the absolute value.
    pub exponent: f64,
    /// Operation before the power.
    pub shape: Shape,
}

/// Operation on an output before the power.
#[derive(Clone, Debug)]
pub enum Shape {
    /// None.
    Plain,
    /// Minus a function of time.
    Minus(Function),
    /// A smooth maximum (β = 1) or minimum (β = −1): ln(1 + exp(s β v))/s; the power is multiplied by β.
    Extremum {
        /// β.
        beta: f64,
        /// Time, s.
        smoothing: f64,
    },
}

impl Scalar {
    fn value<T: Real>(&self, v: &[T], t: &[T]) -> T {
        let split = if self.operation.is_some() { v.len() / 2 } else { v.len() };
        let (a, b) = v.split_at(split);
        let x = match (self.operation, self.index) {
            (None, _) => self.one(a),
            (Some(o), Some(i)) => join(o, a[i], b[i]),
            (Some(o), None) if a.len() == 1 => join(o, a[0], b[0]),
            // Vectors are joined component by component before the norm is taken.
            (Some(o), None) => a.iter().zip(b).map(|(&a, &b)| join(o, a, b).sq()).sum::<T>().sqrt(),
        };
        match &self.shape {
            Shape::Plain => power(x, self.exponent),
            Shape::Minus(f) => power(x - f.value(t), self.exponent),
            Shape::Extremum { beta, smoothing } => {
                let y = x * (*smoothing * *beta);
                // ln(1 + eʸ) without overflow.
                let soft = if y.value() > 0.0 { y + ((-y).exp() + 1.0).ln() } else { (y.exp() + 1.0).ln() };
                power(soft / *smoothing, self.exponent) * *beta
            }
        }
    }

    fn one<T: Real>(&self, v: &[T]) -> T {
        match self.index {
            Some(i) => v[i],
            None if v.len() == 1 => v[0],
            None => norm(v),
        }
    }
}

fn join<T: Real>(operation: Operation, a: T, b: T) -> T {
    match operation {
        Operation::Addition => a + b,
        Operation::Subtraction => a - b,
        Operation::Multiplication => a * b,
        Operation::Division => a / b,
    }
}

fn norm<T: Real>(v: &[T]) -> T {
    v.iter().map(|x| x.sq()).sum::<T>().sqrt()
}

pub(super) fn power<T: Real>(x: T, exponent: f64) -> T {
    if exponent == 1.0 {
        x
    } else if exponent == 2.0 {
        x * x
    } else if exponent == exponent.round() {
        x.abs().powi(exponent as i32)
    } else {
        x.abs().powf(exponent)
    }
}

/// ½ + ½ tanh(s x).
fn step<T: Real>(x: T, s: f64) -> T {
    (x * s).tanh() * 0.5 + 0.5
}

/// θ² for a rotation by θ whose matrix has the trace `trace`.
///
/// With s = 1 − cos θ = (3 − trace)/2,  θ² = 2 Σ (2 s)ⁿ/(n² C(2n, n)), smooth at s = 0, where acos is not. Beyond
/// s = 0.1 acos loses nothing; there 12 terms leave 1e-17.
fn squared_angle<T: Real>(trace: T) -> T {
    let s = (T::cst(3.0) - trace) * 0.5;
    if s.value() > 0.1 {
        return (T::one() - s).acos().sq();
    }
    let (mut sum, mut term, mut binomial) = (T::zero(), T::one(), 1.0);
    for n in 1..=12u32 {
        let n = f64::from(n);
        term *= s * 2.0;
        binomial *= 2.0 * (2.0 * n - 1.0) / n;
        sum += term / (n * n * binomial);
    }
    sum * 2.0
}

impl Make {
    fn num_outputs(&self, numbers: usize) -> usize {
        match self {
            Make::Values(_) => numbers,
            _ => 1,
        }
    }

    fn needs_time(&self) -> bool {
        match self {
            Make::Values(list) => list.iter().any(Option::is_some),
            Make::SquaredErrors { .. }
            | Make::Readings(_)
            | Make::SquaredAngle(..)
            | Make::ScalarMinus(..) => true,
            Make::Scalar(s) => matches!(s.shape, Shape::Minus(_)),
            _ => false,
        }
    }

    fn compute<T: Real>(&self, t: &[T], v: &[T], out: &mut [T]) {
        let three = |i: usize| vec3(v[3 * i], v[3 * i + 1], v[3 * i + 2]);
        match self {
            Make::Values(minus) => {
                for (i, (o, &v)) in out.iter_mut().zip(v).enumerate() {
                    *o = match minus.get(i).and_then(Option::as_ref) {
                        Some(f) => v - f.value(t),
                        None => v,
                    };
                }
            }
            Make::SquaredErrors { references, weights } => {
                let each = v.iter().zip(references).zip(weights);
                out[0] = each.map(|((&v, r), &w)| (v - r.value(t)).sq() * w).sum();
            }
            Make::Readings(list) => {
                let read = v.iter().zip(list).filter_map(|(&v, r)| r.as_ref().map(|r| (v, r)));
                out[0] = read.map(|(v, r)| r.squared_error(v, t)).sum();
            }
            Make::WeightedSquares(weights) => {
                out[0] = v.iter().zip(weights).map(|(v, &w)| v.sq() * w).sum();
            }
            Make::SquaredAngle(q, weight) => {
                let e: [T; 4] = [0, 1, 2, 3].map(|i| q[i].value(t));
                let length: T = e.iter().map(|e| e.sq()).sum::<T>().sqrt();
                let [w, x, y, z] = e.map(|e| e / length);
                // Columns of the reference's rotation matrix.
                let axes = [
                    vec3(T::one() - (y * y + z * z) * 2.0, (x * y + w * z) * 2.0, (x * z - w * y) * 2.0),
                    vec3((x * y - w * z) * 2.0, T::one() - (x * x + z * z) * 2.0, (y * z + w * x) * 2.0),
                    vec3((x * z + w * y) * 2.0, (y * z - w * x) * 2.0, T::one() - (x * x + y * y) * 2.0),
                ];
                let trace = (0..3).map(|i| three(i).dot(axes[i])).sum::<T>();
                out[0] = squared_angle(trace) * *weight;
            }
            Make::Scalar(s) => out[0] = s.value(v, t),
            Make::ScalarMinus(s, f) => out[0] = s.value(v, t) - f.value(t),
            Make::StepLength { direction, thresholds, sharpness } => {
                let ahead = (three(0) - three(1)).dot(Vec3::cst(*direction));
                let beyond = |step: T, threshold: f64| T::one() - self::step(-step + threshold, *sharpness);
                out[0] = beyond(ahead, thresholds[0]) + beyond(-ahead, thresholds[1]);
            }
            Make::StepTime { direction, up, threshold, contact, sharpness } => {
                // Right force, left force, right foot, left foot.
                let load = |i: usize| step(three(i).dot(Vec3::cst(*up)) - *threshold, *contact);
                let (right, left) = (-load(0), load(1));
                let ahead = (three(2) - three(3)).dot(Vec3::cst(*direction));
                // With both feet down, the one ahead counts.
                let both = left * right * (ahead * 100.0).tanh();
                out[0] = ((left + right + both * 2.0) * *sharpness).tanh();
            }
        }
    }
}

/// A function of quantities of a model.
pub(super) struct ModelFunction {
    system: Arc<System>,
    quantities: Vec<Quantity>,
    make: Make,
    inputs: Vec<PointVariable>,
    paths: Vec<usize>,
    accelerations: bool,
    numbers: usize,
}

impl ModelFunction {
    pub fn new(system: &Arc<System>, quantities: Vec<Quantity>, make: Make) -> ModelFunction {
        let mut inputs: Vec<PointVariable> = quantities.iter().flat_map(|q| q.variables(system)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        // Forces that follow time, where a quantity counts them, need it too.
        let timed = quantities
            .iter()
            .any(|q| matches!(q, Quantity::Reaction(_) | Quantity::GeneralizedForces { .. }))
            && system.depends_on_time();
        let own = |q: &Quantity| matches!(q, Quantity::Variable(PointVariable::Time));
        if make.needs_time() || timed || quantities.iter().any(own) {
            inputs.insert(0, PointVariable::Time);
        }
        let mut paths: Vec<usize> = quantities.iter().flat_map(|q| q.paths(system)).collect();
        paths.sort_unstable();
        paths.dedup();
        ModelFunction {
            system: system.clone(),
            paths,
            accelerations: quantities.iter().any(Quantity::needs_accelerations),
            numbers: quantities.iter().map(Quantity::len).sum(),
            quantities,
            make,
            inputs,
        }
    }

    /// As part of an integrand or a path constraint.
    pub fn term(self) -> Term {
        Term::of_model(self.inputs.clone(), self)
    }

    /// At the initial or the final time.
    pub fn at(self, end: fn(PointVariable) -> EndpointVariable) -> EndpointFunction {
        EndpointFunction::of_model(self.inputs.iter().map(|&v| end(v)).collect(), self)
    }

    /// Variables that the function depends on.
    pub fn inputs(&self) -> &[PointVariable] {
        &self.inputs
    }
}

impl SmoothFunction for ModelFunction {
    type Scratch<T: Real> = (Memory<T>, Vec<T>);

    fn num_inputs(&self) -> usize {
        self.inputs.len()
    }

    fn num_outputs(&self) -> usize {
        self.make.num_outputs(self.numbers)
    }

    fn scratch<T: Real>(&self) -> (Memory<T>, Vec<T>) {
        (Memory::new(&self.system), Vec::with_capacity(self.numbers))
    }

    fn evaluate<T: Real>(&self, z: &[T], out: &mut [T], (memory, values): &mut (Memory<T>, Vec<T>)) {
        self.inputs.iter().zip(z).for_each(|(&v, &x)| memory.set(v, x));
        memory.prepare(&self.system, &self.paths, self.accelerations);
        values.clear();
        for q in &self.quantities {
            let own = match q {
                Quantity::Variable(v) => self.inputs.iter().position(|i| i == v).map_or(T::zero(), |i| z[i]),
                _ => T::zero(),
            };
            q.compute(&self.system, memory, own, values);
        }
        let time = [memory.x.time];
        self.make.compute(&time, values, out);
    }
}
