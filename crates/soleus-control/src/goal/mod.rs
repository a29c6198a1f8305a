//! Goals. Each is made from functions written once; derivatives come by themselves.

mod basic;
mod contact;
mod displacement;
mod initial;
mod kinematic;
pub(crate) mod reaction;
mod tracking;

pub use basic::{control_effort, final_time, periodicity, sum_of_squares};
pub use contact::{ContactGroup, Projection, contact_tracking};
pub use displacement::{average_speed, divided};
pub use initial::{initial_activation, initial_velocity_equilibrium};
pub use kinematic::{marker_final, marker_tracking};
pub use tracking::{Reference, tracking};
