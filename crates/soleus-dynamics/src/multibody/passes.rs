//! Outward passes: poses, velocities, accelerations.

use super::{InertiaForm, Node, Tree};
use crate::joint::JointMotion;
use crate::kinematics::Kinematics;
use crate::system::{Along, JET_LANES, Jets, LANES};
use soleus_math::{Part, Real, Rotation, SpatialInertia, SpatialVec, SymMat33, Transform, Vec3, same_mut};

/// Motion of the tree at one time; index 0 is ground.
#[derive(Clone, Debug)]
pub struct TreeKinematics<T: Real> {
    /// Pose of each body in ground.
    pub X_GB: Vec<Transform<T>>,
    /// Velocity of each body's origin frame.
    pub V_GB: Vec<SpatialVec<T>>,
    /// Vector from the parent's origin to the body's, in ground.
    pub p_PB: Vec<Vec3<T>>,
    /// Contribution of the body's joint to its acceleration at zero u̇ (Coriolis).
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
    /// Memory for the motion of `tree`.
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

    /// The view for forces and paths.
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
    if const { matches!(T::SHAPE, Some([1, LANES]) | Some([2, JET_LANES])) } {
        k.q.copy_from_slice(q);
        k.u.copy_from_slice(u);
        if const { matches!(T::SHAPE, Some([1, LANES])) } {
            compute_kinematics_along(tree, same_mut(k));
        } else {
            compute_kinematics_in_jets(tree, same_mut(k));
        }
        return;
    }
    T::choose(
        k,
        |k| compute_plain_kinematics(tree, T::plain_list(q), T::plain_list(u), same_mut(k)),
        |k| compute_any_kinematics(tree, q, u, k),
    );
}

#[inline(never)]
fn compute_plain_kinematics(tree: &Tree, q: &[f64], u: &[f64], k: &mut TreeKinematics<f64>) {
    compute_any_kinematics(tree, q, u, k);
}

/// The same for the coordinates and speeds that are in `k`, along several directions at once.
#[inline(never)]
fn compute_kinematics_along(tree: &Tree, k: &mut TreeKinematics<Along>) {
    compute_held_kinematics(tree, k);
}

/// The same in jets.
#[inline(never)]
fn compute_kinematics_in_jets(tree: &Tree, k: &mut TreeKinematics<Jets>) {
    compute_held_kinematics(tree, k);
}

#[inline(always)]
fn compute_held_kinematics<T: Real>(tree: &Tree, k: &mut TreeKinematics<T>) {
    let (q, u) = (std::mem::take(&mut k.q), std::mem::take(&mut k.u));
    compute_kinematics_by_joints(tree, &q, &u, k);
    (k.q, k.u) = (q, u);
}

#[inline(never)]
fn compute_any_kinematics<T: Real>(tree: &Tree, q: &[T], u: &[T], k: &mut TreeKinematics<T>) {
    k.q.copy_from_slice(q);
    k.u.copy_from_slice(u);
    compute_kinematics_by_joints(tree, q, u, k);
}

#[inline(always)]
fn compute_kinematics_by_joints<T: Real>(tree: &Tree, q: &[T], u: &[T], k: &mut TreeKinematics<T>) {
    compute_kinematics_between(
        tree,
        q,
        u,
        k,
        |_, node| JointFrames::of(node),
        |_, node, q, u, m| node.joint.compute(q, u, m),
    );
}

/// The same with joint frames as `frames` and motions of joints as `joint` says, by the number of the node. Leaves `k.q` and `k.u` alone.
#[inline(always)]
pub(crate) fn compute_kinematics_between<T: Real>(
    tree: &Tree,
    q: &[T],
    u: &[T],
    k: &mut TreeKinematics<T>,
    frames: impl Fn(usize, &Node) -> JointFrames<T>,
    joint: impl Fn(usize, &Node, &[T], &[T], &mut JointMotion<T>),
) {
    let mut m = JointMotion::rest();
    for (i, node) in tree.nodes.iter().enumerate().skip(1) {
        T::enter(Part::Body, i);
        let X_GP = k.X_GB[node.parent];
        let range = node.u0..node.u0 + node.nu;
        joint(i, node, &q[range.clone()], &u[range], &mut m);
        let Moved { R_GB, p_PB, V_GB, coriolis } =
            move_body_between(node, &frames(i, node), X_GP.R, k.V_GB[node.parent], u, &mut m, &mut k.H);
        k.X_GB[i] = Transform::new(R_GB, X_GP.p + p_PB);
        k.p_PB[i] = p_PB;
        k.V_GB[i] = V_GB;
        k.coriolis[i] = coriolis;

        // Inertia about the body's origin, and its gyroscopic wrench; without mass both stay zero.
        if node.form != InertiaForm::Zero {
            let inertia = inertia_in_ground(node, R_GB);
            k.gyro[i] = gyroscopic(&inertia, V_GB.w);
            k.inertia[i] = inertia;
        }
    }
}

/// Where a joint is on its two bodies, and what is special about it.
pub(crate) struct JointFrames<T: Real> {
    pub X_PF: Transform<T>,
    pub X_MB: Transform<T>,
    /// Whether R_PF is exactly the identity, R_MB is, p_MB is exactly zero.
    F_is_aligned: bool,
    M_is_aligned: bool,
    M_is_at_origin: bool,
}

impl<T: Real> JointFrames<T> {
    /// Those of a node.
    #[inline(always)]
    pub fn of(node: &Node) -> Self {
        JointFrames {
            X_PF: Transform::cst(node.X_PF),
            X_MB: Transform::cst(node.X_MB),
            F_is_aligned: node.F_is_aligned,
            M_is_aligned: node.M_is_aligned,
            M_is_at_origin: node.M_is_at_origin,
        }
    }

    /// Any others.
    pub fn new(X_PF: Transform<T>, X_MB: Transform<T>) -> Self {
        JointFrames { X_PF, X_MB, F_is_aligned: false, M_is_aligned: false, M_is_at_origin: false }
    }
}

/// What one joint does to its body; see (1) to (3) of [`compute_kinematics`].
pub(crate) struct Moved<T> {
    pub R_GB: Rotation<T>,
    pub p_PB: Vec3<T>,
    pub V_GB: SpatialVec<T>,
    pub coriolis: SpatialVec<T>,
}

/// Carries the motion of a parent over a joint. Writes the joint's columns of `H`; `m` is scratch.
#[inline(always)]
pub(crate) fn move_body<T: Real>(
    node: &Node,
    R_GP: Rotation<T>,
    V_P: SpatialVec<T>,
    q: &[T],
    u: &[T],
    m: &mut JointMotion<T>,
    H: &mut [SpatialVec<T>],
) -> Moved<T> {
    let range = node.u0..node.u0 + node.nu;
    node.joint.compute(&q[range.clone()], &u[range], m);
    move_body_between(node, &JointFrames::of(node), R_GP, V_P, u, m, H)
}

/// The same with the joint's own motion in `m`.
#[inline(always)]
fn move_body_between<T: Real>(
    node: &Node,
    at: &JointFrames<T>,
    R_GP: Rotation<T>,
    V_P: SpatialVec<T>,
    u: &[T],
    m: &mut JointMotion<T>,
    H: &mut [SpatialVec<T>],
) -> Moved<T> {
    let range = node.u0..node.u0 + node.nu;
    let u = &u[range.clone()];
    if node.reversed {
        *m = m.reversed(node.nu);
    }

    // (1), keeping the pieces that H needs.
    let R_GF = if at.F_is_aligned { R_GP } else { R_GP * at.X_PF.R };
    let p_PF = R_GP * at.X_PF.p;
    let R_GM = R_GF * m.X_FM.R;
    let p_MB = if at.M_is_at_origin { Vec3::zero() } else { R_GM * at.X_MB.p };
    let R_GB = if at.M_is_aligned { R_GM } else { R_GM * at.X_MB.R };
    let p_PB = p_PF + R_GF * m.X_FM.p + p_MB;

    // Motion subspace in ground, at the body's origin, and the velocity it adds.
    let (mut w_J, mut v_J) = (Vec3::zero(), Vec3::zero());
    for ((h, H), &u) in m.H.iter().zip(&mut H[range]).zip(u) {
        let (w, mut v) = (R_GF * h.w, R_GF * h.v);
        if !at.M_is_at_origin {
            v += w.cross(p_MB);
        }
        *H = SpatialVec::new(w, v);
        w_J += w * u;
        v_J += v * u;
    }

    // (2) and (3).
    let w_P = V_P.w;
    let wxp = w_P.cross(p_PB);
    let V_GB = SpatialVec::new(w_P + w_J, V_P.v + wxp + v_J);
    let mut coriolis = SpatialVec::new(w_P.cross(w_J), w_P.cross(wxp + v_J + v_J));
    if !at.M_is_at_origin {
        coriolis.v += w_J.cross(w_J.cross(p_MB));
    }
    if node.has_bias {
        let alpha_J = R_GF * m.A.w;
        coriolis.w += alpha_J;
        coriolis.v += R_GF * m.A.v + alpha_J.cross(p_MB);
    }
    Moved { R_GB, p_PB, V_GB, coriolis }
}

/// The wrench (ω × I ω, ω × (ω × h)) that it takes to keep a body turning.
#[inline(always)]
pub(super) fn gyroscopic<T: Real>(inertia: &SpatialInertia<T>, w: Vec3<T>) -> SpatialVec<T> {
    SpatialVec::new(w.cross(inertia.inertia * w), w.cross(w.cross(inertia.moment)))
}

/// Inertia about the body's origin, in ground.
///
/// In principal axes c₀, c₁, c₂, with h the first moment and m the mass,
///
///   I = d₀ 1 + (d₁−d₀) c₁c₁ᵀ + (d₂−d₀) c₂c₂ᵀ + (h·h 1 − h hᵀ)/m
///
/// which takes half the products of R I Rᵀ.
#[inline(always)]
pub(super) fn inertia_in_ground<T: Real>(node: &Node, R_GB: Rotation<T>) -> SpatialInertia<T> {
    let h = R_GB * Vec3::cst(node.moment);
    let inertia = match node.form {
        InertiaForm::Principal { central: d, per_mass } => {
            let (b, c, k) = (R_GB.axis(1), R_GB.axis(2), h * T::cst(per_mass));
            let (db, dc) = (b * T::cst(d.y - d.x), c * T::cst(d.z - d.x));
            let (kx, ky, kz) = (h.x * k.x + d.x, h.y * k.y, h.z * k.z);
            SymMat33 {
                xx: ky + kz + d.x + b.x * db.x + c.x * dc.x,
                yy: kx + kz + b.y * db.y + c.y * dc.y,
                zz: kx + ky + b.z * db.z + c.z * dc.z,
                xy: b.x * db.y + c.x * dc.y - h.x * k.y,
                xz: b.x * db.z + c.x * dc.z - h.x * k.z,
                yz: b.y * db.z + c.y * dc.z - h.y * k.z,
            }
        }
        _ => R_GB.reexpress(SymMat33::cst(node.inertia)),
    };
    SpatialInertia { mass: T::cst(node.mass), moment: h, inertia }
}

/// Accelerations A_B = shift(A_P) + H u̇ + c of all bodies. `A[0]`, that of ground, is an input: set it to zero, or to
/// −g to include gravity as in Luh, Walker and Paul (1980).
pub fn compute_accelerations<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    udot: &[T],
    A: &mut [SpatialVec<T>],
) {
    for i in 1..tree.nodes.len() {
        T::enter(Part::Motion, i);
        let node = &tree.nodes[i];
        let mut a = A[node.parent].velocity_shifted(k.p_PB[i]) + k.coriolis[i];
        for j in node.u0..node.u0 + node.nu {
            a += k.H[j] * udot[j];
        }
        A[i] = a;
    }
}
