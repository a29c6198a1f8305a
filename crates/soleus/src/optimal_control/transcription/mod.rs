//! From a problem in continuous time to nonlinear programs: schemes, meshes, phases.

pub mod help;
pub mod meshes;
pub mod phases;
pub mod settings;
