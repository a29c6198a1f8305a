//! Nonlinear programs: what a problem must say of itself.
//!
//!   minimize f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U

mod pattern;
mod problem;

pub use pattern::SparsityPattern;
pub use problem::{NonlinearProgram, Stages};
