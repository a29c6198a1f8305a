//! Files read and written.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod c3d;
mod common;
mod mesh;
mod moco_operators;
mod osim_build;
mod osim_read;
mod osim_upgrade;
mod signal_opensim;
mod tables;
