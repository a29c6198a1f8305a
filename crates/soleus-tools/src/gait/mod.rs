//! Gait: foot strikes and toe-offs, cycles, step lengths and widths, and curves over the cycle.

mod cycles;
mod events;
mod feet;
mod laboratory;
mod signs;

pub use cycles::{Cycle, Parameters, Stat, cycles, mean_curve, over_cycle, parameters};
pub use events::{EventCandidates, FootEvents, event_candidates, events_from_markers, merge_contacts};
pub use feet::{FootMarkers, GaitMarkers, Walk};
pub use laboratory::{LaboratoryTurn, laboratory_turn};

/// Number of points of a curve over the cycle: 0, 1, … 100 %.
pub const POINTS: usize = 101;
