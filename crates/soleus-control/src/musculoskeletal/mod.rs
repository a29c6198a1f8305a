//! Musculoskeletal models as optimal control problems.

mod constraints;
mod dynamics;
mod prescribed;
mod problem;

pub use dynamics::{ParameterRange, SystemDynamics};
pub(crate) use prescribed::MotionPoints;
pub use prescribed::PrescribedDynamics;
pub use problem::{ModelProblem, state_names};
