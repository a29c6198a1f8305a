//! Inverse dynamics by the recursive Newton–Euler algorithm (Luh, Walker, Paul 1980).

use super::passes::{Moved, gyroscopic, inertia_in_ground, move_body};
use super::{InertiaForm, Tree, TreeKinematics, compute_accelerations};
use crate::joint::JointMotion;
use soleus_math::{Part, Real, Rotation, SpatialVec, Vec3};

/// Generalized forces τ = Hᵀ Σ F over the subtree, for a wrench on each body; `F` is overwritten with the wrenches
/// transmitted by the joints. Adds to `tau`.
pub fn compute_generalized_forces<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    F: &mut [SpatialVec<T>],
    tau: &mut [T],
) {
    for i in (1..tree.nodes.len()).rev() {
        T::enter(Part::Motion, i);
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
/// `A` and `F` have one entry per body; on return they contain the accelerations and the wrenches transmitted by the
/// joints.
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
        T::enter(Part::Motion, i);
        F[i] = k.inertia[i].momentum(A[i]) + k.gyro[i] - applied[i];
    }
    tau.fill(T::zero());
    compute_generalized_forces(tree, k, F, tau);
}

/// Scratch memory of [`compute_newton_euler`], one entry per body; index 0 is ground.
#[derive(Clone, Debug)]
pub struct NewtonEuler<T: Real> {
    bodies: Vec<Carried<T>>,
    H: Vec<SpatialVec<T>>,
}

/// Motion of one body and the wrench that its joint carries.
#[derive(Clone, Copy, Debug)]
struct Carried<T> {
    R_GB: Rotation<T>,
    p_PB: Vec3<T>,
    V: SpatialVec<T>,
    A: SpatialVec<T>,
    F: SpatialVec<T>,
}

impl<T: Real> NewtonEuler<T> {
    /// Memory for `tree`.
    pub fn new(tree: &Tree) -> Self {
        let zero = SpatialVec::zero();
        let rest = Carried { R_GB: Rotation::identity(), p_PB: Vec3::zero(), V: zero, A: zero, F: zero };
        NewtonEuler { bodies: vec![rest; tree.nodes.len()], H: vec![zero; tree.num_mobilities] }
    }
}

/// τ = M u̇ + c(q, u) − Jᵀ m g directly from coordinates, speeds and accelerations, if nothing else is needed: one
/// outward and one inward pass. Gravity (m/s², in ground) is included as an acceleration −g of ground (Luh, Walker,
/// Paul 1980). For applied forces or several u̇ at one pose see [`compute_inverse_dynamics`].
pub fn compute_newton_euler<T: Real>(
    tree: &Tree,
    gravity: Vec3<f64>,
    q: &[T],
    u: &[T],
    udot: &[T],
    ws: &mut NewtonEuler<T>,
    tau: &mut [T],
) {
    let NewtonEuler { bodies, H } = ws;
    bodies[0].A.v = -Vec3::cst(gravity);
    let mut m = JointMotion::rest();
    for (i, node) in tree.nodes.iter().enumerate().skip(1) {
        let parent = &bodies[node.parent];
        let Moved { R_GB, p_PB, V_GB: V, coriolis } = move_body(node, parent.R_GB, parent.V, q, u, &mut m, H);
        let mut A = parent.A.velocity_shifted(p_PB) + coriolis;
        for j in node.u0..node.u0 + node.nu {
            A += H[j] * udot[j];
        }
        let F = if node.form == InertiaForm::Zero {
            SpatialVec::zero()
        } else {
            let inertia = inertia_in_ground(node, R_GB);
            inertia.momentum(A) + gyroscopic(&inertia, V.w)
        };
        bodies[i] = Carried { R_GB, p_PB, V, A, F };
    }
    for (i, node) in tree.nodes.iter().enumerate().skip(1).rev() {
        let Carried { F, p_PB, .. } = bodies[i];
        for j in node.u0..node.u0 + node.nu {
            tau[j] = H[j].dot(F);
        }
        bodies[node.parent].F += F.wrench_shifted(p_PB);
    }
}
