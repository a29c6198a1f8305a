//! OpenSim's recorded pipelines.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod common;
mod opensim_id;
mod opensim_ik;
mod opensim_so;
