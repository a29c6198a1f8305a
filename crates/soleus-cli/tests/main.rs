//! The command, run on files.
//!
//! One program holds all of them, so that one is linked.

mod analyses;
mod bad_input;
mod bad_motion;
mod commands;
mod common;
mod convert_and_plot;
mod docs;
mod forward_tool;
mod hostile_input;
mod imu;
mod library;
mod moco_goals;
mod motion_tools;
mod pipeline;
mod scale;
mod simulation;
mod solve;
mod study;
mod view;
