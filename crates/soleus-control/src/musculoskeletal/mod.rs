//! Musculoskeletal models as optimal control problems.

mod constraints;
mod dynamics;
mod over_parameters;
mod prescribed;
mod problem;
mod samples;

pub use dynamics::{ParameterRange, SystemDynamics};
pub use over_parameters::{Demands, Node, Samples, vary};
pub(crate) use prescribed::MotionPoints;
pub use prescribed::PrescribedDynamics;
pub use problem::{ModelProblem, state_names};
pub use samples::lagrange;
