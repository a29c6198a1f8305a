//! Optimization: nonlinear programs with exact sparse derivatives, solved by interior points.
//!
//! A problem is a [`NonlinearProgram`]; whoever states it gives values and derivatives over fixed patterns, and
//! [`nlp::solve`] answers with a point and how good it is.
//! Nothing here knows biomechanics, reads a clock, prints or opens a file.

pub mod linear;
pub mod nelder_mead;
pub mod nlp;
pub mod separable;

pub use nelder_mead::{NelderMeadMinimum, NelderMeadOptions, nelder_mead};
pub use nlp::{NonlinearProgram, SparsityPattern, Stages};
