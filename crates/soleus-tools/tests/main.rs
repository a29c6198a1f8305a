//! Invariances of the tools, and OpenSim's recorded pipelines.
//!
//! One program holds all of them, so that one is linked.

mod common;
mod consistency;
mod ik_invariance;
mod opensim_id;
mod opensim_ik;
mod opensim_so;
