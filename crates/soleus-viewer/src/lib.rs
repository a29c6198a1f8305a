//! Pictures, plots and pages of models and motions. A page holds everything it shows and opens from disk, without a
//! network.
//!
//! Text in, text out: nothing here opens a file, prints or reads the clock. The same input gives the same bytes.

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
