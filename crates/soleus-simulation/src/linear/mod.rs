//! Linear systems in implicit steps.

mod complex;
mod dense_lu;
mod eigenvalues;
mod pattern;
mod sparse_lu;

pub use complex::Complex;
pub use dense_lu::DenseLu;
pub use eigenvalues::solve_eigenvalues;
pub use pattern::Pattern;
pub use sparse_lu::SparseLu;

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Scalar of a linear system: real or complex.
pub trait Field:
    Copy
    + Debug
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// One.
    fn one() -> Self;
    /// A cheap magnitude for the choice of pivots: |re| + |im|.
    fn size(self) -> f64;
}

impl Field for f64 {
    fn one() -> Self {
        1.0
    }
    fn size(self) -> f64 {
        self.abs()
    }
}

/// A singular matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular in column {column}")]
pub struct Singular {
    /// First column without a pivot.
    pub column: usize,
}

/// Factorizes matrices with a fixed pattern and solves linear systems.
pub trait LinearSolver<S: Field> {
    /// Factorizes the matrix with `values` at the positions of `pattern`.
    fn factorize(&mut self, pattern: &Pattern, values: &[S]) -> Result<(), Singular>;

    /// Solves A x = b in place with the last factors.
    fn solve(&mut self, b: &mut [S]);
}
