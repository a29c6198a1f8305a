//! From a problem to a nonlinear program: collocation.

mod assembly;
mod collocation;
pub(crate) mod layout;
mod legendre;
mod scheme;
mod settings;

pub use assembly::Violation;
pub use collocation::Collocation;
pub use scheme::Scheme;
pub use settings::{ConstraintMethod, Settings};
