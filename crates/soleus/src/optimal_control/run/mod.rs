//! A solve from its problem to its result: what is told and saved on the way.

pub mod progress;
pub mod session;
pub mod starts;
pub mod watch;
