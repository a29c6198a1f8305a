//! Inverse dynamics by the recursive Newton–Euler algorithm (Luh, Walker, Paul 1980).

use super::{Tree, TreeKinematics, compute_accelerations};
use soleus_math::{Real, SpatialVec};

/// Generalized forces τ = Hᵀ Σ F over the subtree, for a wrench on each body; `F` is overwritten
/// with the wrenches that the joints carry. Adds to `tau`.
pub fn compute_generalized_forces<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    F: &mut [SpatialVec<T>],
    tau: &mut [T],
) {
    for i in (1..tree.nodes.len()).rev() {
        let node = &tree.nodes[i];
        let f = F[i];
        for j in node.u0..node.u0 + node.nu {
            tau[j] += k.H[j].dot(f);
        }
        F[node.parent] += f.wrench_shifted(k.p_PB[i]);
    }
}

/// τ = M u̇ + c(q, u) − Jᵀ F_applied for accelerations `udot` and wrenches on the bodies.
///
/// `A` and `F` are scratch, one entry per body; on return they hold the accelerations and the
/// wrenches carried by the joints.
pub fn compute_inverse_dynamics<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    udot: &[T],
    applied: &[SpatialVec<T>],
    A: &mut [SpatialVec<T>],
    F: &mut [SpatialVec<T>],
    tau: &mut [T],
) {
    A[0] = SpatialVec::zero();
    compute_accelerations(tree, k, udot, A);
    for i in 0..tree.nodes.len() {
        F[i] = k.inertia[i].momentum(A[i]) + k.gyro[i] - applied[i];
    }
    tau.fill(T::zero());
    compute_generalized_forces(tree, k, F, tau);
}
