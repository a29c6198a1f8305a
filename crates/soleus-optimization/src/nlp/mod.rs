//! Nonlinear programs: what a problem must say of itself.
//!
//!   minimize f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U

mod interior_point;
mod kkt;
mod options;
mod pattern;
mod problem;
mod sequential;
mod solution;

pub use interior_point::solve;
pub use kkt::{KktPattern, KktSolver};
pub use options::{BarrierStrategy, KktOrdering, Options};
pub use pattern::SparsityPattern;
pub use problem::{NonlinearProgram, Stages};
pub use sequential::solve_from;
pub use solution::{Certificate, Counts, Iteration, NlpError, Solution, Status, WarmStart};
