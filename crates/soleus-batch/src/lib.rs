//! Many copies of one model at once.
//!
//! [`Evaluation::record`] traces the engine's own kernels once with a scalar that records: there is no second implementation of the
//! physics. What cannot be traced is refused with component, file and line, and what was traced is compared with the engine on
//! random states before it is used ([`Evaluation::check`]).

mod batch;
mod check;
#[cfg(unix)]
mod device;
mod evaluation;
mod implicit;
mod parameters;
mod step;
mod stiffness;

pub use batch::{Batch, BatchError, BatchOptions, BatchPrograms};
pub use check::{Agreement, Mismatch};
#[cfg(unix)]
pub use device::{DeviceBatch, DevicePrograms};
pub use evaluation::{Evaluation, Layout, Refusal};
pub use implicit::ImplicitEvaluation;
pub use parameters::BatchParameter;
#[cfg(unix)]
pub use soleus_graph::cuda;
pub use step::Step;
