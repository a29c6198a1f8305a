//! Force plates and feet: which columns of a table are a plate, which bodies of a model are feet, and which foot stood on which
//! plate when.
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
