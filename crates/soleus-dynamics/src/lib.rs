//! What a musculoskeletal model does: kinematics, paths, muscles, forces and motion.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB, H_FM.

pub mod assembly;
pub mod constraint;
pub mod contact;
pub mod force;
pub mod joint;
pub mod kinematics;
pub mod moment_arm;
pub mod multibody;
pub mod muscle;
pub mod path;
pub mod system;
#[cfg(test)]
mod testing;

pub use force::{CompiledForce, ForceError, ForceResolve, PathForce};
pub use kinematics::{BodyFrame, Kinematics, Loads, Resolve};
