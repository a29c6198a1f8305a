//! What a musculoskeletal model does: kinematics, paths, muscles, forces and motion.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB, H_FM.

pub mod kinematics;
pub mod metabolics;
pub mod muscle;

pub use kinematics::{BodyFrame, Kinematics, Loads, Resolve};
