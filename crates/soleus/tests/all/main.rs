//! Every tool as a function call, on files in memory.

mod analysis;
mod common;
mod conversion;
mod equilibrium;
mod evaluation;
mod formulas;
mod file_info;
mod gait;
mod invariance;
mod jacobian;
mod load_assignment;
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
mod sizes;
mod subject;
mod upgrade;
mod viewing;
