//! Passes from ground outwards: poses, velocities, accelerations.

use super::Tree;
use crate::joint::JointMotion;
use crate::kinematics::Kinematics;
use soleus_math::{Real, Rotation, SpatialInertia, SpatialVec, Transform, Vec3};

/// Everything about the motion of the tree at one instant; index 0 is ground.
#[derive(Clone, Debug)]
pub struct TreeKinematics<T: Real> {
    /// Pose of each body in ground.
    pub X_GB: Vec<Transform<T>>,
    /// Velocity of each body's origin frame.
    pub V_GB: Vec<SpatialVec<T>>,
    /// From the parent's origin to the body's, in ground.
    pub p_PB: Vec<Vec3<T>>,
    /// The part of the body's acceleration that its own joint adds at zero u̇ (Coriolis).
    pub coriolis: Vec<SpatialVec<T>>,
    /// Inertia of each body about its origin, in ground.
    pub inertia: Vec<SpatialInertia<T>>,
    /// Velocity-dependent wrench (ω × I ω, ω × (ω × h)).
    pub gyro: Vec<SpatialVec<T>>,
    /// Column of the motion subspace of each mobility: velocity of the body's origin per unit speed, in ground.
    pub H: Vec<SpatialVec<T>>,
    /// Coordinate values, as last given.
    pub q: Vec<T>,
    /// Speeds, as last given.
    pub u: Vec<T>,
}

impl<T: Real> TreeKinematics<T> {
    /// Room for the motion of `tree`.
    pub fn new(tree: &Tree) -> Self {
        let (nb, nu) = (tree.nodes.len(), tree.num_mobilities);
        TreeKinematics {
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            p_PB: vec![Vec3::zero(); nb],
            coriolis: vec![SpatialVec::zero(); nb],
            inertia: vec![SpatialInertia::default(); nb],
            gyro: vec![SpatialVec::zero(); nb],
            H: vec![SpatialVec::zero(); nu],
            q: vec![T::zero(); nu],
            u: vec![T::zero(); nu],
        }
    }

    /// The view that forces and paths take.
    #[inline]
    pub fn view(&self, time: T) -> Kinematics<'_, T> {
        Kinematics { time, X_GB: &self.X_GB, V_GB: &self.V_GB, q: &self.q, u: &self.u }
    }
}

/// Poses, velocities, Coriolis accelerations and inertias of all bodies.
///
/// With P the parent, F and M the joint frames, everything in ground:
///
///   X_GB = X_GP X_PF X_FM X_MB                                              (1)
///   V_B  = shift(V_P) + H u                                                 (2)
///   c    = ω_P × (ω_P × p_PB) + 2 ω_P × v_J + a_J   (linear),  ω_P × ω_J + α_J  (angular)   (3)
///
/// where ω_J, v_J, α_J, a_J are the joint's velocity and bias at the body's origin.
pub fn compute_kinematics<T: Real>(tree: &Tree, q: &[T], u: &[T], k: &mut TreeKinematics<T>) {
    k.q.copy_from_slice(q);
    k.u.copy_from_slice(u);
    for i in 1..tree.nodes.len() {
        let node = &tree.nodes[i];
        let range = node.u0..node.u0 + node.nu;
        let mut m = JointMotion::rest();
        node.joint.compute(&q[range.clone()], &u[range.clone()], &mut m);
        if node.reversed {
            m = m.reversed(node.nu);
        }

        // (1), keeping the pieces that H needs.
        let X_GP = k.X_GB[node.parent];
        let R_GF = if node.F_is_aligned { X_GP.R } else { X_GP.R * Rotation::cst(node.X_PF.R) };
        let p_PF = X_GP.R * Vec3::cst(node.X_PF.p);
        let R_GM = R_GF * m.X_FM.R;
        let p_MB = R_GM * Vec3::cst(node.X_MB.p);
        let R_GB = if node.M_is_aligned { R_GM } else { R_GM * Rotation::cst(node.X_MB.R) };
        let p_PB = p_PF + R_GF * m.X_FM.p + p_MB;
        k.X_GB[i] = Transform::new(R_GB, X_GP.p + p_PB);
        k.p_PB[i] = p_PB;

        // Motion subspace in ground, at the body's origin.
        for (h, j) in m.H.iter().zip(range) {
            let w = R_GF * h.w;
            k.H[j] = SpatialVec::new(w, R_GF * h.v + w.cross(p_MB));
        }

        // (2) and (3).
        let V_P = k.V_GB[node.parent];
        let (w_P, w_J) = (V_P.w, R_GF * m.V.w);
        let v_J = R_GF * m.V.v + w_J.cross(p_MB);
        let (alpha_J, a_M) = (R_GF * m.A.w, R_GF * m.A.v);
        let a_J = a_M + alpha_J.cross(p_MB) + w_J.cross(w_J.cross(p_MB));
        let wxp = w_P.cross(p_PB);
        k.V_GB[i] = SpatialVec::new(w_P + w_J, V_P.v + wxp + v_J);
        k.coriolis[i] = SpatialVec::new(w_P.cross(w_J) + alpha_J, w_P.cross(wxp + v_J + v_J) + a_J);

        // Inertia about the body's origin, and its gyroscopic wrench.
        let inertia = SpatialInertia {
            mass: T::cst(node.mass),
            moment: R_GB * Vec3::cst(node.moment),
            inertia: R_GB.reexpress(soleus_math::SymMat33::cst(node.inertia)),
        };
        let w = k.V_GB[i].w;
        k.gyro[i] = SpatialVec::new(w.cross(inertia.inertia * w), w.cross(w.cross(inertia.moment)));
        k.inertia[i] = inertia;
    }
}

/// Accelerations A_B = shift(A_P) + H u̇ + c of all bodies. `A[0]`, ground's, is taken as
/// given: set it to zero, or to −g to let gravity in as Luh, Walker and Paul (1980) do.
pub fn compute_accelerations<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    udot: &[T],
    A: &mut [SpatialVec<T>],
) {
    for i in 1..tree.nodes.len() {
        let node = &tree.nodes[i];
        let mut a = A[node.parent].velocity_shifted(k.p_PB[i]) + k.coriolis[i];
        for j in node.u0..node.u0 + node.nu {
            a += k.H[j] * udot[j];
        }
        A[i] = a;
    }
}
