//! Every tool as a function call, on files in memory.

mod conversion;
mod equilibrium;
mod evaluation;
mod jacobian;
mod model_info;
mod models;
mod path_fitting;
mod plotting;
mod upgrade;
mod viewing;
