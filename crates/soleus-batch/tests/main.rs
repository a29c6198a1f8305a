//! Recorded evaluations against the engine.

mod agreement;
