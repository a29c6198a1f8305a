//! Studies with a model: each takes a system and data and returns values; none opens a file or prints.

#![allow(non_snake_case)] // Kernel symbols follow the literature.

pub mod fit_paths;
mod least_squares;
