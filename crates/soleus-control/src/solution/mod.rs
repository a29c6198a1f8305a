//! What comes out, and where to start.

mod guess;
mod trajectory;

pub(crate) use guess::consistent_rates;
pub use trajectory::{Columns, Trajectory};
