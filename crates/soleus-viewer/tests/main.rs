//! Pages and pictures.
//!
//! One program holds all of them: to link one for each file took most of the time of a build.

mod page;
