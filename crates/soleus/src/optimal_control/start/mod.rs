//! Where a solve starts: a guess, or the iterate that a stopped solve left.

pub mod fingerprint;
pub mod gait;
pub mod guess;
pub mod iterate;
