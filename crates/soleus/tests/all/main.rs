//! Tools as function calls, on files in memory.

mod optimal_control;
mod prediction;
