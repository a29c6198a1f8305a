//! Evaluations recorded as a graph of operations, and computed for many states at once.
//!
//! [`Recorded`] is a scalar for kernels that are generic over [`Real`](soleus_math::Real): it computes nothing, and writes down each
//! operation. Constants fold, equal operations are one node, what no result needs is dropped ([`Program`]). The graph has exact
//! derivatives ([`Graph::reverse`], [`Graph::forward`]), which are graphs too, and is evaluated by an interpreter, over lanes
//! ([`lanes`]), or written out as C or CUDA ([`source`]).
//!
//! Where a kernel decides by values it says so ([`Real::where_below`](soleus_math::Real::where_below)), and both ways are recorded
//! with a selection. Any other look at a recorded number would fix a decision that belongs to the state: it makes
//! [`record`] fail, with file and line of each look.

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
