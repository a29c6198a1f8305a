//! Functions and signals.
//!
//! One program holds all of them, so that one is linked.

mod formula;
mod functions;
mod signal;
