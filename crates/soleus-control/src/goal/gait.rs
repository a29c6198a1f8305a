//! Goals for steps.

use super::model_function::{Make, ModelFunction};
use super::quantity::{FrameMotion, Quantity};
use crate::function::SmoothFunction;
use crate::problem::{EndpointFunction, EndpointVariable, Goal, PointVariable};
use soleus_dynamics::{BodyFrame, System};
use soleus_math::{Function, Real, Vec3};
use std::sync::Arc;

/// factor · (I / duration − target)² or factor · I², of t₀, t_f and an integral I.
struct OfIntegral {
    factor: f64,
    target: f64,
    per_duration: bool,
}

impl SmoothFunction for OfIntegral {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        3
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let mean = if self.per_duration { z[2] / (z[1] - z[0]) } else { z[2] };
        values[0] = (mean - self.target).sq() * self.factor;
    }
}

fn of_integral(name: &str, weight: f64, f: ModelFunction, of: OfIntegral) -> Goal {
    let inputs = vec![
        EndpointVariable::Initial(PointVariable::Time),
        EndpointVariable::Last(PointVariable::Time),
        EndpointVariable::Integral(0),
    ];
    Goal {
        integrals: vec![vec![f.term()]],
        ..Goal::endpoint(name, weight, EndpointFunction::new(inputs, of))
    }
}

/// A foot: its contacts, as (force, body), and a frame for its position.
#[derive(Clone, Debug)]
pub struct Foot {
    /// Contacts, with the body on which each acts.
    pub contacts: Vec<(usize, usize)>,
    /// Frame of the foot.
    pub frame: BodyFrame,
}

/// Settings of [`step_time_asymmetry`].
#[derive(Clone, Debug, PartialEq)]
pub struct StepTimeSettings {
    /// Target asymmetry, −1 to 1.
    pub target: f64,
    /// Minimum load for contact, N.
    pub threshold: f64,
    /// Direction of the load.
    pub up: Vec3<f64>,
    /// Direction of walking.
    pub forward: Vec3<f64>,
    /// Steepness of contact detection, 1/N.
    pub contact_smoothing: f64,
    /// Steepness of the step indicator.
    pub asymmetry_smoothing: f64,
}

/// 100 (∫ s dt / duration − target)², where s is close to 1 during a left step and close to −1 during a right step.
///
/// With contact l = ½ + ½ tanh(c (F − threshold)) of the left foot, r = −(the same) of the right, and f = tanh(100 d),
/// with d the distance by which the right foot is ahead, s = tanh(k (l + r + 2 l r f)). Source: OpenSim's
/// MocoStepTimeAsymmetryGoal.
pub fn step_time_asymmetry(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    left: Foot,
    right: Foot,
    s: &StepTimeSettings,
) -> Goal {
    let position = |f: BodyFrame| Quantity::Frame(f, FrameMotion::Position);
    let quantities = vec![
        Quantity::Contact(right.contacts),
        Quantity::Contact(left.contacts),
        position(right.frame),
        position(left.frame),
    ];
    let make = Make::StepTime {
        direction: s.forward,
        up: s.up,
        threshold: s.threshold,
        contact: s.contact_smoothing,
        sharpness: s.asymmetry_smoothing,
    };
    let f = ModelFunction::new(system, quantities, make);
    of_integral(name, weight, f, OfIntegral { factor: 100.0, target: s.target, per_duration: true })
}

/// 100 ∫ (r + l) dt, where r is close to 1 while the right foot is ahead by more than (1 + target)/2 of the stride, and
/// l while the left foot is ahead by more than (1 − target)/2; both are smooth steps (tanh) with steepness 100 ·
/// smoothing, 1/m.
///
/// Source: OpenSim's MocoStepLengthAsymmetryGoal.
#[allow(clippy::too_many_arguments)]
pub fn step_length_asymmetry(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    [left, right]: [BodyFrame; 2],
    forward: Vec3<f64>,
    stride: f64,
    target: f64,
    smoothing: f64,
) -> Goal {
    let position = |f: BodyFrame| Quantity::Frame(f, FrameMotion::Position);
    let make = Make::StepLength {
        direction: forward,
        thresholds: [0.5 * (1.0 + target) * stride, 0.5 * (1.0 - target) * stride],
        sharpness: 100.0 * smoothing,
    };
    let f = ModelFunction::new(system, vec![position(right), position(left)], make);
    Goal::integral(name, 100.0 * weight, vec![f.term()])
}

/// (∫ (Σ f − r(t)) dt)² / per along one axis of ground: difference between contact impulse and measured impulse; `per`
/// is the weight of the model in Moco, N.
pub fn contact_impulse_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    contacts: Vec<(usize, usize)>,
    axis: usize,
    reference: Function,
    per: f64,
) -> Goal {
    use super::model_function::{Scalar, Shape};
    let scalar = Scalar { index: Some(axis), operation: None, exponent: 1.0, shape: Shape::Minus(reference) };
    let f = ModelFunction::new(system, vec![Quantity::Contact(contacts)], Make::Scalar(scalar));
    of_integral(name, weight, f, OfIntegral { factor: 1.0 / per, target: 0.0, per_duration: false })
}
