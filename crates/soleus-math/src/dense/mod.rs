//! Factorization of small dense symmetric matrices, stored row by row in one slice.
//!
//! Use [`solve_positive_definite`] if the matrix should be positive definite and failure must be detected,
//! [`factorize_cholesky`] if only rounding can make it indefinite, and [`solve_min_norm`] if it may be singular. Least
//! squares are in [`least_squares`](crate::least_squares).

mod cholesky;
mod min_norm;

pub use cholesky::{factorize_cholesky, solve_cholesky, solve_positive_definite};
pub use min_norm::{factorize_min_norm, solve_min_norm, solve_min_norm_factorized};
