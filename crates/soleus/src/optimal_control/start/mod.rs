//! Starting point of a solve: an initial guess, or the saved iterate of a stopped solve.

pub mod fingerprint;
pub mod gait;
pub mod guess;
pub mod iterate;
