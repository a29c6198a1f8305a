//! Every tool as a function call, on files in memory.

mod analysis;
mod common;
mod conversion;
mod equilibrium;
mod evaluation;
mod invariance;
mod jacobian;
mod model_info;
mod models;
mod motion_capture;
mod muscle_control;
mod optimal_control;
mod path_fitting;
mod plotting;
mod prediction;
mod reference_headings;
mod residuals;
mod simulation;
mod states;
mod subject;
mod upgrade;
mod viewing;
