//! Programs with known solutions.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod collocation;
mod common;
mod hock_schittkowski;
mod qp_clarabel;
mod robustness;
mod separable_clarabel;
mod sequential;
