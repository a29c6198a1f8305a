//! Images, plots and pages of models and motions. Pages are self-contained and open from disk without a network.
//!
//! This crate does not open files, print, or read the clock. The same input gives the same output.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB.

mod drawing;
pub mod figure;
pub mod plot;
pub mod report;
pub mod scene;
mod text;

pub use figure::Camera;
pub use plot::{Band, Dash, Event, Line, Plot, Style};
pub use report::{
    Card, Light, Report, Table, Verdict, activation_plots, coordinate_plots, force_plots, grouped_plots,
};
pub use scene::{
    Activations, Animation, Frame, Layer, Motion, MotionError, Recorder, Scene, SceneOptions,
    attached_geometry,
};
pub use text::{escape, significant};
