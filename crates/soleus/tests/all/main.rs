//! Tools of the library, run on files in memory.

mod analysis;
mod common;
mod conversion;
mod equilibrium;
mod evaluation;
mod jacobian;
mod model_info;
mod models;
mod path_fitting;
mod plotting;
mod simulation;
mod upgrade;
mod viewing;
