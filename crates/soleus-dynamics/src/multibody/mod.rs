//! The tree of bodies: kinematics, inverse and forward dynamics in O(N) or O(N·depth).
//!
//! Spatial quantities are expressed in ground about the origin of their body, so that recursion along the tree only
//! needs shifts, not rotations.

mod crba;
mod passes;
mod rnea;
mod rnea_derivatives;
mod rnea_hessian;
mod spanning_tree;
#[cfg(test)]
mod tests;
mod tree;

pub use crba::MassFactor;
pub(crate) use passes::{JointFrames, Moved, compute_kinematics_between, move_body};
pub use passes::{TreeKinematics, compute_accelerations, compute_kinematics};
pub use rnea::{NewtonEuler, compute_generalized_forces, compute_inverse_dynamics, compute_newton_euler};
pub use rnea_derivatives::InverseDynamicsDerivatives;
pub(crate) use rnea_derivatives::cross;
pub use rnea_hessian::InverseDynamicsHessian;
pub use tree::{InertiaForm, LoopWeld, Node, Tree, TreeError};
