//! Linear algebra of sparse symmetric indefinite matrices.
//!
//!   A = L D Lᵀ,   L unit lower triangular, D with blocks of one or two
//!
//! [`ordering`] chooses the elimination order, [`SymbolicFactorization`] groups unknowns into dense fronts from the
//! pattern, and [`SparseLdlt`] assembles and factorizes the fronts.

mod dense;
mod equilibration;
mod front;
mod kernel;
mod ldlt;
pub mod ordering;
mod symbolic;

pub use dense::DenseLdlt;
pub use equilibration::equilibrate;
pub use ldlt::{Inertia, SparseLdlt};
pub use symbolic::SymbolicFactorization;
