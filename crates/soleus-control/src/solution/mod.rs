//! Solutions and initial guesses.

mod guess;
mod trajectory;

pub(crate) use guess::set_slopes;
pub use trajectory::{Columns, Trajectory};
