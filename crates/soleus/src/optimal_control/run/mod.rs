//! Solves a problem: progress, saving and results.

pub mod progress;
pub mod session;
pub mod starts;
pub mod watch;
