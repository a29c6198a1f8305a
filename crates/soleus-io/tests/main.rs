//! Files read and written.
//!
//! One program holds all of them, so that one is linked.

mod c3d;
mod common;
mod hostile;
mod mesh;
mod moco_operators;
mod osim_build;
mod osim_read;
mod osim_upgrade;
mod setup_values;
mod signal_opensim;
mod study_files;
mod tables;
