//! A musculoskeletal model as a problem for integrators.

mod controls;
mod implicit;
mod labels;
mod ode;
mod project;

pub use controls::{Constant, Controls, Feedback, ModelControls, PendingFile};
pub use implicit::ImplicitSystemOde;
pub use labels::{control_labels, state_labels, state_name};
pub use ode::SystemOde;
