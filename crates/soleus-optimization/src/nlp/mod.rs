//! Nonlinear programs: interface of problems, and solvers.
//!
//!   minimize f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U
//!
//! [`solve`] is for single problems, [`solve_from`] for the next problem of a series. Both always return a [`Solution`]
//! with a [`Certificate`].

mod along_time;
mod interior_point;
mod kkt;
mod options;
mod pattern;
mod problem;
mod sequential;
mod solution;

pub use interior_point::solve;
pub use kkt::{KktPattern, KktSolver};
pub use options::{KktOrdering, Options};
pub use pattern::SparsityPattern;
pub use problem::{NonlinearProgram, Stages};
pub use sequential::solve_from;
pub use solution::{Certificate, Counts, Duals, Iteration, NlpError, Solution, Status, WarmStart};
