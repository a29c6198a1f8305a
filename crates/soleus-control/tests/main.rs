//! Optimal control: problems with known solutions, derivatives, models.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod analytic;
mod common;
mod derivatives;
mod estimation;
mod gait_cycle;
mod goals;
mod models;
mod phases;
mod refinement;
mod threads;
