//! Reading and writing of files. Bytes become plain documents and tables that remember their
//! lines; nothing here opens a file, and nothing here interprets what a model means.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_BG.

pub mod c3d;
pub mod iterate;
pub mod mat;
pub mod mesh;
pub mod osim;
pub mod pipeline;
mod plain;
pub mod setup;
pub mod solution;
pub mod states;
pub mod study;
pub mod table;
