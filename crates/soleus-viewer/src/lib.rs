//! Pictures, plots and pages of models and motions. A page holds everything it shows and opens from disk, without a
//! network.
//!
//! Text in, text out: nothing here opens a file, prints or reads the clock. The same input gives the same bytes.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB.

pub mod plot;
mod text;

pub use plot::{Band, Dash, Event, Line, Plot, Style};
pub use text::{escape, significant};
