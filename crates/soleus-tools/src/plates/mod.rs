//! Force plates and feet: finds plates in a table and feet in a model, and assigns loads to feet.
//!
//! ```text
//! labels ──find_plates──▶ plates ─┐
//! model ──find_feet──▶ feet ──────┼──assign──▶ contacts ──loads──▶ forces on feet
//! motion ─────────────────────────┘
//! ```

mod assign;
mod columns;
mod feet;
mod frame;
mod ground;

pub use assign::{Contact, FAR_M, ZERO_N, assign, force_at_rest, loads};
pub use columns::{Plate, find_plates};
pub use feet::{Foot, FootPaths, Side, find_feet};
pub use frame::{Fitted, fit_to_feet};
pub use ground::{Unmeasured, complete, unmeasured, weighed};
