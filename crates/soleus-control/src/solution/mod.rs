//! What comes out, and where to start.

mod guess;
mod trajectory;

pub(crate) use guess::set_slopes;
pub use trajectory::{Columns, Trajectory};
