//! Whole models and their parts, against OpenSim and against themselves.
//!
//! One program holds all of them, so that one is linked.

mod common;
mod forces_of_models;
mod forces_opensim;
mod gait2d;
mod given_motion;
mod implicit;
mod joints_opensim;
mod metabolics_opensim;
mod muscle_derivatives;
mod muscle_opensim;
mod parameters;
mod path;
mod path_and_load_forces;
mod path_opensim;
mod reference_models;
mod rolling;
mod scholz2015;
mod scholz2015_opensim;
mod unusual_models;
mod used_workspace;
