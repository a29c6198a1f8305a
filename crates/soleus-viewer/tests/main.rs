//! Pages and pictures.
//!
//! One program holds all of them, so that one is linked.

mod page;
