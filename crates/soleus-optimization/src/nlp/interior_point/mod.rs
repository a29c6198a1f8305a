//! Primal–dual interior-point method with a filter line search.
//!
//! The method is that of Wächter & Biegler (2006), *On the implementation of an interior-point filter line-search
//! algorithm for large-scale nonlinear programming*; equation and section numbers in this folder are theirs. Names of
//! constants in brackets are options of Ipopt, the program by the same authors, with the same defaults.
//!
//! For a barrier parameter μ → 0 the method takes Newton steps on
//!
//!   ∇f(x) + Jᵀy − z_L + z_U = 0,   g(x) = 0,   (x − x_L) z_L = μ,   (x_U − x) z_U = μ         (eq. 4)
//!
//! Inequalities have slacks, which are eliminated explicitly from every linear system, so the size of the matrix is
//! that of variables and constraints, also in restoration.

mod approach;
pub(in crate::nlp) mod driver;
mod filter;
pub(in crate::nlp) mod iterate;
pub(in crate::nlp) mod layer;
mod line_search;
mod method;
mod restoration;
pub(in crate::nlp) mod scaled;
pub(in crate::nlp) mod system;

pub use driver::solve;
