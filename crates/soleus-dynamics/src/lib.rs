#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Dynamics of musculoskeletal models: kinematics, paths, muscles, forces and motion.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB, H_FM.

pub mod assembly;
pub mod constants;
pub mod constraint;
pub mod contact;
pub mod force;
pub mod implicit;
pub mod joint;
pub mod kinematics;
pub mod metabolics;
pub mod moment_arm;
pub mod multibody;
pub mod muscle;
pub mod path;
pub mod system;
#[cfg(test)]
mod testing;

pub use force::{CompiledForce, ForceError, ForceResolve, PathForce};
pub use kinematics::{BodyFrame, Kinematics, Loads, Resolve};
pub use system::{State, System, SystemRef, Workspace};

/// Options of model compilation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Reproduces known errors of OpenSim 4.6, for comparison; they are listed in `docs/differences-from-opensim.md`.
    pub opensim_faults: bool,
}
