//! Tools of the library, run on files in memory.

mod analysis;
mod common;
mod optimal_control;
mod prediction;
mod simulation;
