//! Motions over time.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod common;
mod forward_opensim;
mod implicit_models;
mod models;
mod muscle;
mod order;
mod realtime;
mod rest;
mod stiff;
