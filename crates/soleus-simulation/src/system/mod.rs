//! A musculoskeletal model as a problem for integrators.

mod control_nodes;
mod controls;
mod correction;
mod damped;
mod formula_controls;
mod implicit;
mod labels;
pub mod methods;
mod ode;
mod project;
mod reflex;
mod rest;

pub use control_nodes::ControlNodes;
pub use controls::{Constant, Controls, Feedback, ModelControls, PendingFile};
pub use correction::Correction;
pub use implicit::ImplicitSystemOde;
pub use labels::{control_labels, state_column, state_labels, state_name};
pub use ode::SystemOde;
pub use reflex::Reflexes;
pub use rest::{Rest, RestError, RestOptions, solve_rest, solve_rest_while};
