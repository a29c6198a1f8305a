//! Every tool as a function call, on files in memory.

mod common;
mod conversion;
mod equilibrium;
mod evaluation;
mod jacobian;
mod model_info;
mod path_fitting;
mod plotting;
mod upgrade;
mod viewing;
