#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Tools for musculoskeletal models: from measured motion to joint angles, loads and muscle forces, and path fitting.
//!
//! Inputs and outputs are tables: this crate does not open files, print, or read the clock.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, p_BS.

pub mod analysis;
pub mod consistent_motion;
pub mod emg;
pub mod external_loads;
pub mod fit_paths;
pub mod free_motion;
pub mod gait;
pub mod inverse_dynamics;
pub mod inverse_kinematics;
pub mod motion_splines;
pub mod place_imus;
pub mod plates;
pub mod quality;
pub mod residual_elimination;
pub mod scale;
pub mod static_optimization;
#[cfg(test)]
mod testing;
pub mod tracking;

pub use external_loads::external_forces;
pub use inverse_dynamics::inverse_dynamics;
pub use inverse_kinematics::InverseKinematics;
