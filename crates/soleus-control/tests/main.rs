//! Optimal control: problems with known solutions, derivatives, models.
//!
//! One program holds all of them, so that one is linked.

mod analytic;
mod common;
mod derivatives;
mod estimation;
mod formulas;
mod gait_cycle;
mod goals;
mod models;
mod phases;
mod refinement;
mod threads;
