//! Collocation: transcription of a problem to a nonlinear program.

mod assembly;
mod collocation;
mod evaluation;
mod interpolation;
pub(crate) mod layout;
mod legendre;
mod matching;
mod program;
mod refinement;
mod scheme;
mod settings;
mod states_reader;
mod warm_start;

pub use collocation::Collocation;
pub use evaluation::Violation;
pub use refinement::{MeshError, NoRates, refined_mesh};
pub use scheme::Scheme;
pub use settings::{ConstraintMethod, Settings};
pub use states_reader::StatesReader;
