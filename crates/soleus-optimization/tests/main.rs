//! Programs with known solutions.
//!
//! One program holds all of them, so that one is linked.

mod collocation;
mod common;
mod cops;
mod hock_schittkowski;
mod literature;
mod robustness;
mod separable_clarabel;
mod sequential;
