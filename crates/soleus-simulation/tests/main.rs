//! Motions over time.
//!
//! One program holds all of them, so that one is linked.

mod common;
mod forward_opensim;
mod implicit_models;
mod models;
mod muscle;
mod order;
mod realtime;
mod reflex;
mod rest;
mod stiff;
