//! From what a request names to what a tool computes with: models, tables, setup files, measured loads, numbers that make sense.

pub mod loads;
pub mod model;
pub mod numbers;
pub mod paths;
pub mod setup;
pub mod table;
pub mod tool_model;
