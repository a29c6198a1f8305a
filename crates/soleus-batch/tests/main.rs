//! Recorded evaluations against the engine.

mod agreement;
mod source;
mod steps;
