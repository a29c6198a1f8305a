//! Tracking of measured motions of frames.

use super::model_function::{Make, ModelFunction};
use super::quantity::{FrameMotion, Quantity};
use crate::problem::Goal;
use soleus_dynamics::{BodyFrame, System};
use soleus_math::Function;
use std::sync::Arc;

/// ∫ Σ w |v − r(t)|² dt, where v is a vector of a frame: its position, angular velocity or acceleration.
///
/// Moco's translation, angular velocity and acceleration tracking.
pub fn frame_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    motion: FrameMotion,
    frames: Vec<(BodyFrame, [Function; 3], f64)>,
) -> Goal {
    let term = |(frame, references, weight): (BodyFrame, [Function; 3], f64)| {
        let make = Make::SquaredErrors { references: references.to_vec(), weights: vec![weight; 3] };
        ModelFunction::new(system, vec![Quantity::Frame(frame, motion)], make).term()
    };
    Goal::integral(name, weight, frames.into_iter().map(term).collect())
}

/// ∫ Σ w θ² dt, with θ the angle (rad) between a frame and a quaternion (w, x, y, z) over time, which need not be
/// normalized.
pub fn orientation_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    frames: Vec<(BodyFrame, [Function; 4], f64)>,
) -> Goal {
    let term = |(frame, quaternion, weight): (BodyFrame, [Function; 4], f64)| {
        let quantity = Quantity::Frame(frame, FrameMotion::Rotation);
        let make = Make::SquaredAngle(Box::new(quaternion), weight);
        ModelFunction::new(system, vec![quantity], make).term()
    };
    Goal::integral(name, weight, frames.into_iter().map(term).collect())
}
