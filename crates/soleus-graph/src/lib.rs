#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Records evaluations as a graph of operations and computes them for many states at once.
//!
//! [`Recorded`] is a scalar for kernels that are generic over [`Real`](soleus_math::Real): it records each operation.
//! Constants are folded, equal operations share a node, and unused nodes are dropped ([`Program`]). The graph has exact
//! derivatives ([`Graph::reverse`], [`Graph::forward`]), which are also graphs, and is evaluated by an interpreter, by
//! SIMD code ([`lanes`]), or written as C or CUDA ([`source`]).
//!
//! Kernels that branch on values use [`Real::where_below`](soleus_math::Real::where_below), so that both branches are
//! recorded with a selection. Any other access to the value of a recorded number would fix a branch that depends on the
//! state: [`record`] then fails, with file and line of each access.

#[cfg(unix)]
pub mod cuda;
mod derivative;
mod graph;
pub mod lanes;
mod program;
mod scalar;
pub mod source;
mod structure;

pub use graph::{Graph, NONE, Node, Op, Table};
pub use program::Program;
pub use scalar::{Look, Recorded, Recording, record, resume};
pub use structure::{Found, Operand, Structured, Template, TemplateNode};
