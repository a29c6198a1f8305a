//! Small dense convex quadratic programs, one after the other.
//!
//!   minimize ½ xᵀH x + gᵀx   subject to   c_L ≤ A x ≤ c_U,   x_L ≤ x ≤ x_U

mod program;
mod solver;

pub use program::QuadraticProgram;
pub use solver::{QpSolution, QpSolver};
