//! From measured motion to joint angles and joint loads.
//!
//! Tables in, tables out: nothing here opens a file, prints or reads the clock.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, p_BS.

pub mod inverse_kinematics;

pub use inverse_kinematics::InverseKinematics;
