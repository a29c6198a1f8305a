#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Time integration: from a state and controls to a motion.
//!
//! A problem is an [`ExplicitOde`] ẋ = f(t, x) or an [`ImplicitOde`] f(t, x, ẋ) = 0. An [`Integrator`] advances it by
//! one accepted step at a time; [`integrate()`] runs it to the end time, finds events, and always returns the time
//! reached and the reason for the end. [`SystemOde`] and [`ImplicitSystemOde`] are the problems of a musculoskeletal
//! model, [`MuscleOde`] that of a single muscle with prescribed length.
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
//! This crate does not read a clock, print, or open files.

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
