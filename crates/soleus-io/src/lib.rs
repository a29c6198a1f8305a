#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Reading and writing of files. Bytes are converted to plain documents and tables that keep their line numbers. This
//! crate does not open files and does not interpret models.

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
