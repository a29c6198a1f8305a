//! Musculoskeletal models as optimal control problems.

mod constraints;
mod dynamics;
mod problem;

pub use dynamics::{ParameterRange, SystemDynamics};
pub use problem::{ModelProblem, state_names};
