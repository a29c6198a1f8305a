//! Linear algebra of sparse symmetric matrices that need not be definite.
//!
//!   A = L D Lᵀ,   L unit lower triangular, D with blocks of one or two
//!
//! [`ordering`] chooses in which order unknowns go, [`SymbolicFactorization`] finds from the pattern which
//! unknowns go together in one dense front, and [`SparseLdlt`] fills and factorises the fronts.

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
