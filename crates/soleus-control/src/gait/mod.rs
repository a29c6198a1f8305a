//! Walking and running as periodic optimal control problems.
//!
//! A [`GaitCycle`] is a periodic motion with forward progress that tracks measured signals with minimum effort:
//!
//!   J = W_track (1/n) Σᵢ mean over the cycle of ((sᵢ − mᵢ)/σᵢ)²  +  W_effort (1/M) Σ_k mean of e_k^p
//!
//! van den Bogert, Blana and Heinrich (2011), eq. 20. Without signals the motion is predicted from effort alone.

mod cycle;
mod mirror;
mod planar;
mod signal;
mod walker;

pub use cycle::{Duration, Effort, GaitCycle, NoContact, Symmetry};
pub use mirror::{Mirror, NoMirror, other_side};
pub use planar::{LegData, NoWalker, Planar, fit_prosthesis};
pub use signal::{Course, Signal, Source};
pub use walker::{NoLegs, Walker};
