//! Time integration: from a state and controls to a motion.
//!
//! A problem is an [`ExplicitOde`] ẋ = f(t, x) or an [`ImplicitOde`] f(t, x, ẋ) = 0. An [`Integrator`] takes
//! it one accepted step at a time; [`integrate()`] drives it to an end, finds events on the way, and always
//! returns how far it came and why it stopped. [`SystemOde`] and [`ImplicitSystemOde`] make problems of a
//! musculoskeletal model, [`MuscleOde`] of one muscle in a testing machine.
//!
//! | integrator | problem | order | step |
//! |---|---|---|---|
//! | [`ExplicitRungeKutta::merson`] | explicit | 4(3) | controlled as Simbody does |
//! | [`ExplicitRungeKutta::dormand_prince`] | explicit | 5(4) | controlled |
//! | [`SemiExplicitEuler`] | mechanical | 1 | fixed |
//! | [`RosenbrockEuler`] | implicit, index 0 or 1 | 1 | fixed |
//! | [`ImplicitMidpoint`] | implicit, index 0 or 1 | 2 | fixed |
//! | [`RadauIIA5`] | implicit, index 0 or 1 | 5 | controlled |
//!
//! Nothing here reads a clock, prints or opens a file.

#![allow(non_snake_case)] // Kernel symbols follow the literature: M, J, G.

pub mod error_norm;
pub mod event;
pub mod explicit;
mod hermite;
pub mod implicit;
pub mod integrate;
pub mod linear;
pub mod muscle;
pub mod ode;
pub mod realtime;
pub mod stop;
pub mod system;
pub mod trajectory;

pub use error_norm::ErrorNorm;
pub use event::{Direction, Event};
pub use explicit::{ExplicitRungeKutta, SemiExplicitEuler};
pub use implicit::{ImplicitMidpoint, RadauIIA5, RosenbrockEuler};
pub use integrate::{End, Integrator, Outcome, Statistics, StepOptions, View, integrate};
pub use muscle::{MuscleInput, MuscleOde};
pub use ode::{ExplicitOde, ImplicitOde, MechanicalOde, Projected, RhsError};
pub use stop::{Quantity, Stop};
pub use system::{Controls, ImplicitSystemOde, ModelControls, SystemOde};
pub use trajectory::Trajectory;
