//! Gait: when feet touch and leave the ground, the cycles that follow, how long and wide steps are, and curves over the cycle.

mod cycles;
mod events;
mod feet;
mod laboratory;
mod signs;

pub use cycles::{Cycle, Parameters, Stat, cycles, mean_curve, over_cycle, parameters};
pub use events::{EventCandidates, FootEvents, event_candidates, events_from_markers, merge_contacts};
pub use feet::{FootMarkers, GaitMarkers, Walk};
pub use laboratory::{LaboratoryTurn, laboratory_turn};

/// Points of a curve over the cycle: 0, 1, … 100 %.
pub const POINTS: usize = 101;
