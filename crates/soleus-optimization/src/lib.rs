#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Optimization: nonlinear programs with exact sparse derivatives, solved by an interior-point method.
//!
//! A problem is a [`NonlinearProgram`] with values and derivatives in fixed sparsity patterns; [`nlp::solve`] returns a
//! point and its quality. This crate is independent of biomechanics and does not read a clock, print, or open files.

pub mod linear;
pub mod nelder_mead;
pub mod nlp;
pub mod separable;

pub use nelder_mead::{NelderMeadMinimum, NelderMeadOptions, nelder_mead};
pub use nlp::{NonlinearProgram, SparsityPattern, Stages};
