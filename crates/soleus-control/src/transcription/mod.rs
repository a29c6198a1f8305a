//! From a problem to a nonlinear program: collocation.

mod assembly;
mod collocation;
mod evaluation;
pub(crate) mod layout;
mod legendre;
mod scheme;
mod settings;

pub use collocation::Collocation;
pub use evaluation::Violation;
pub use scheme::Scheme;
pub use settings::{ConstraintMethod, Settings};
