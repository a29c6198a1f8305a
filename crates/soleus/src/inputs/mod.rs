//! Reads and checks the inputs of requests: models, tables, setup files, measured loads, numbers.

pub mod loads;
pub mod model;
pub mod numbers;
pub mod paths;
pub mod setup;
pub mod table;
pub mod tool_model;
