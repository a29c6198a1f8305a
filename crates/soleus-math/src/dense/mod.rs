//! Factors of small dense symmetric matrices, row by row in one slice.
//!
//! Which one: [`solve_positive_definite`] where the matrix should be positive definite and it matters when it is not,
//! [`factorize_cholesky`] where rounding alone can make it indefinite, [`solve_min_norm`] where it may be singular. Least squares are
//! in [`least_squares`](crate::least_squares).

mod cholesky;
mod min_norm;

pub use cholesky::{factorize_cholesky, solve_cholesky, solve_positive_definite};
pub use min_norm::{factorize_min_norm, solve_min_norm, solve_min_norm_factorized};
