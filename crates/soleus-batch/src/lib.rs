#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Parallel evaluation of many copies of one model.
//!
//! [`Evaluation::record`] traces the engine's own kernels once with a recording scalar, so there is no second
//! implementation of the physics. Models that cannot be traced are refused with component, file and line, and traced
//! programs are verified against the engine at random states before use ([`Evaluation::check`]).

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
