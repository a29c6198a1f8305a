//! Exact derivatives of inverse dynamics by recursion along the tree.
//!
//! All vectors are about the origin of ground, so that no shifts are needed. A change of coordinate j, of the joint of
//! body k, moves all bodies outboard of that joint by the twist T_j. For a body b outboard of it (Carpentier and
//! Mansard 2018; here with joints whose motion subspace S depends on q):
//!
//!   ∂V_b/∂q_j = T_j × V_b + η_j            η_j = ν_j − T_j × V_k                                   (1)
//!   ∂A_b/∂q_j = T_j × A_b + η_j × V_b + ζ_j  ζ_j = α_j + V_p × ν_j − T_j × A_k − η_j × V_k         (2)
//!   ∂A_b/∂u_j = S_j × V_b + ξ_j            ξ_j = κ_j + V_p × S_j − S_j × V_k                       (3)
//!
//! with V_p the parent's velocity and ν_j = ∂(S u)/∂q_j, α_j = ∂(S u̇ + Ṡ u)/∂q_j, κ_j = ∂(Ṡ u)/∂u_j within the joint.
//! The wrench F_b = I A + V ×* I V then changes by
//!
//!   ∂F_b/∂q_j = T_j ×* F_b + I ζ_j + B η_j,   ∂F_b/∂u_j = I ξ_j + B S_j                            (4)
//!
//! where B η = I(η × V) + η ×* (I V) + V ×* (I η) needs only the angular part a of η: with J the inertia about
//! the origin, h = m c, P the linear momentum, and V = (ω, v),
//!
//!   B η = (N a, 2 a × P),   N = [ω]× (2J − tr J) + 2((h·v) 1 − v hᵀ)                               (5)
//!
//! I, N, P and F are summed over subtrees, so each derivative takes a few products.

use super::{Tree, TreeKinematics};
use crate::joint::{JointMotion, speeds_from_rates};
use crate::system::LANES;
use soleus_math::{Dual, Mat33, Real, Rotation, SpatialInertia, SpatialVec, SymMat33, Vec3, vec3};

/// ∂τ/∂q, ∂τ/∂u and M = ∂τ/∂u̇ of inverse dynamics, with scratch memory.
#[derive(Clone, Debug)]
pub struct InverseDynamicsDerivatives<T: Real> {
    n: usize,
    /// ∂τ/∂q, row by row. Entries between mobilities on different branches are zero.
    pub dtau_dq: Vec<T>,
    /// ∂τ/∂u, row by row.
    pub dtau_du: Vec<T>,
    /// The mass matrix, row by row.
    pub mass: Vec<T>,
    /// Generalized forces.
    pub tau: Vec<T>,
    /// Twist T_j of a unit change of each coordinate, about the origin of ground.
    pub twist: Vec<SpatialVec<T>>,
    // Per mobility, about the origin of ground.
    pub(crate) S: Vec<SpatialVec<T>>,
    pub(crate) eta: Vec<SpatialVec<T>>,
    pub(super) zeta: Vec<SpatialVec<T>>,
    pub(super) xi: Vec<SpatialVec<T>>,
    /// ∂S_i/∂q_j within a joint: entry 6 i + (j − u0).
    pub(super) sigma: Vec<SpatialVec<T>>,
    // Per body, about the origin of ground; sums over subtrees once the pass inwards is done.
    pub(crate) V: Vec<SpatialVec<T>>,
    pub(super) A: Vec<SpatialVec<T>>,
    pub(super) F: Vec<SpatialVec<T>>,
    pub(super) inertia: Vec<SpatialInertia<T>>,
    pub(super) N: Vec<Mat33<T>>,
    pub(super) P: Vec<Vec3<T>>,
}

/// Motion cross product (ω, v) × (a, b) = (ω × a, ω × b + v × a).
#[inline(always)]
pub(crate) fn cross<T: Real>(x: SpatialVec<T>, y: SpatialVec<T>) -> SpatialVec<T> {
    SpatialVec::new(x.w.cross(y.w), x.w.cross(y.v) + x.v.cross(y.w))
}

/// Force cross product (ω, v) ×* (n, f) = (ω × n + v × f, ω × f).
#[inline(always)]
pub(super) fn cross_force<T: Real>(x: SpatialVec<T>, f: SpatialVec<T>) -> SpatialVec<T> {
    SpatialVec::new(x.w.cross(f.w) + x.v.cross(f.v), x.w.cross(f.v))
}

/// A velocity about point p moved to the origin of ground.
#[inline(always)]
pub(super) fn to_origin<T: Real>(V: SpatialVec<T>, p: Vec3<T>) -> SpatialVec<T> {
    SpatialVec::new(V.w, V.v + p.cross(V.w))
}

/// Derivatives of a joint's own motion by its own coordinates and speeds, expressed in F about F's origin.
struct Local<T> {
    /// ∂H_i/∂q_j.
    dH: [[SpatialVec<T>; 6]; 6],
    /// ∂(H u)/∂q_j.
    dV: [SpatialVec<T>; 6],
    /// ∂(H u̇ + Ḣ u)/∂q_j.
    dA_dq: [SpatialVec<T>; 6],
    /// ∂(Ḣ u)/∂u_j.
    dA_du: [SpatialVec<T>; 6],
}

impl<T: Real> InverseDynamicsDerivatives<T> {
    /// Memory for the derivatives of `tree`.
    pub fn new(tree: &Tree) -> Self {
        let (n, nb) = (tree.num_mobilities, tree.nodes.len());
        let z = SpatialVec::zero();
        InverseDynamicsDerivatives {
            n,
            dtau_dq: vec![T::zero(); n * n],
            dtau_du: vec![T::zero(); n * n],
            mass: vec![T::zero(); n * n],
            tau: vec![T::zero(); n],
            twist: vec![z; n],
            S: vec![z; n],
            eta: vec![z; n],
            zeta: vec![z; n],
            xi: vec![z; n],
            sigma: vec![z; 6 * n],
            V: vec![z; nb],
            A: vec![z; nb],
            F: vec![z; nb],
            inertia: vec![SpatialInertia::default(); nb],
            N: vec![Mat33::default(); nb],
            P: vec![Vec3::zero(); nb],
        }
    }

    /// τ = M u̇ + c − Jᵀ F_applied and its derivatives at the motion `k` and accelerations `udot`, under `gravity`.
    ///
    /// `applied` are wrenches about the bodies' origins. They are assumed to move with their body: the caller adds
    /// changes of a load in the frame of its body.
    pub fn compute(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        udot: &[T],
        gravity: Vec3<f64>,
        applied: &[SpatialVec<T>],
    ) {
        self.dtau_dq.fill(T::zero());
        self.dtau_du.fill(T::zero());
        // Outwards: velocities and accelerations about the origin; gravity as an acceleration of ground.
        self.V[0] = SpatialVec::zero();
        self.A[0] = SpatialVec::new(Vec3::zero(), Vec3::cst(gravity) * T::cst(-1.0));
        for i in 1..tree.nodes.len() {
            self.outwards(tree, k, udot, i);
            let V = self.V[i];
            let p = k.X_GB[i].p;
            let I = k.inertia[i].shifted(p);
            let h = I.momentum(V);
            let applied = applied[i];
            let applied = SpatialVec::new(applied.w + p.cross(applied.v), applied.v);
            self.F[i] = I.momentum(self.A[i]) + cross_force(V, h) - applied;
            self.N[i] = coriolis_block(&I, V);
            self.P[i] = h.v;
            self.inertia[i] = I;
        }
        // Inwards: sums over subtrees, and the derivatives of every pair that they give.
        for i in (1..tree.nodes.len()).rev() {
            self.inwards(tree, i);
            let parent = tree.nodes[i].parent;
            if parent != 0 {
                let (F, I, N, P) = (self.F[i], self.inertia[i], self.N[i], self.P[i]);
                self.F[parent] += F;
                self.inertia[parent] = self.inertia[parent] + I;
                for c in 0..3 {
                    self.N[parent].col[c] += N.col[c];
                }
                self.P[parent] += P;
            }
        }
    }

    /// V, A and the vectors (1) to (3) of the joint of node `i`.
    fn outwards(&mut self, tree: &Tree, k: &TreeKinematics<T>, udot: &[T], i: usize) {
        let node = &tree.nodes[i];
        let (V_p, A_p) = (self.V[node.parent], self.A[node.parent]);
        let p = k.X_GB[i].p;
        let range = node.u0..node.u0 + node.nu;
        let mut V_J = SpatialVec::zero();
        let mut A_J = SpatialVec::zero();
        for j in range.clone() {
            self.S[j] = to_origin(k.H[j], p);
            V_J += self.S[j] * k.u[j];
            A_J += self.S[j] * udot[j];
        }

        // The joint's own derivatives, turned from F to ground.
        let local =
            (node.nu > 0 && !node.has_constant_subspace()).then(|| local_derivatives(tree, k, udot, i));
        let X_GP = k.X_GB[node.parent];
        let R_GF = X_GP.R * Rotation::cst(node.X_PF.R);
        let p_GF = X_GP * Vec3::cst(node.X_PF.p);
        let turn = |x: SpatialVec<T>| to_origin(SpatialVec::new(R_GF * x.w, R_GF * x.v), p_GF);

        // Ḣ u as motion about the origin, from the linear acceleration of M's origin in F:
        // the spatial acceleration of F-fixed axes is (α, a_M − ω × v_M) about M.
        if let Some(l) = &local {
            A_J += turn(l.bias);
        }
        let V = V_p + V_J;
        let A = A_p + A_J + cross(V_p, V_J);
        self.V[i] = V;
        self.A[i] = A;

        for j in range.clone() {
            self.twist[j] = self.S[j];
        }
        if node.joint.speeds_are_angular_velocity() {
            // Coordinates are angles: the twist of angle j is S N⁻¹ e_j.
            let q = vec3(k.q[node.u0], k.q[node.u0 + 1], k.q[node.u0 + 2]);
            for j in 0..3 {
                let w = speeds_from_rates(q, Vec3::unit(j));
                let mut t = SpatialVec::zero();
                for c in 0..3 {
                    t += self.S[node.u0 + c] * w[c];
                }
                self.twist[node.u0 + j] = t;
            }
        }
        for (c, j) in range.clone().enumerate() {
            let (T, S) = (self.twist[j], self.S[j]);
            let (mut nu, mut alpha, mut kappa) = (SpatialVec::zero(), SpatialVec::zero(), SpatialVec::zero());
            if let Some(l) = &local {
                nu = turn(l.d.dV[c]);
                alpha = turn(l.d.dA_dq[c]);
                kappa = turn(l.d.dA_du[c]);
                for (r, i) in range.clone().enumerate() {
                    self.sigma[6 * i + c] = turn(l.d.dH[r][c]);
                }
            }
            let eta = nu - cross(T, V); // (1)
            self.eta[j] = eta;
            self.zeta[j] = alpha + cross(V_p, nu) - cross(T, A) - cross(eta, V); // (2)
            self.xi[j] = kappa + cross(V_p, S) - cross(S, V); // (3)
        }
    }

    /// Derivatives of all pairs in which the joint of node `i` is the outboard one.
    fn inwards(&mut self, tree: &Tree, i: usize) {
        let n = self.n;
        let node = &tree.nodes[i];
        let (F, I, N, P) = (self.F[i], self.inertia[i], self.N[i], self.P[i]);
        let range = node.u0..node.u0 + node.nu;
        let b = |x: SpatialVec<T>| {
            let p = x.w.cross(P);
            SpatialVec::new(N * x.w, p + p)
        };
        for j in range.clone() {
            let S = self.S[j];
            self.tau[j] = S.dot(F);
            // What a change of j does to the wrench of the subtree (4): felt by j's own joint and all inboard.
            let fq = cross_force(self.twist[j], F) + I.momentum(self.zeta[j]) + b(self.eta[j]);
            let fu = I.momentum(self.xi[j]) + b(S);
            let fa = I.momentum(S);
            // What the subtree makes of a change inboard: S_j·(I ζ + B η) = a·ζ + c·η.
            let a = fa;
            let c = N.tmul(S.w) + (P.cross(S.v)) * T::cst(2.0);

            // Within the joint.
            for (col, l) in range.clone().enumerate() {
                let constant = node.has_constant_subspace();
                let own = if constant { T::zero() } else { self.sigma[6 * j + col].dot(F) };
                let full = cross_force(self.twist[l], F) + I.momentum(self.zeta[l]) + b(self.eta[l]);
                self.dtau_dq[j * n + l] = S.dot(full) + own;
                self.dtau_du[j * n + l] = a.dot(self.xi[l]) + c.dot(self.S[l].w);
                self.mass[j * n + l] = a.dot(self.S[l]);
            }
            // With every joint inboard.
            let mut up = node.parent;
            while up != 0 {
                let above = &tree.nodes[up];
                for l in above.u0..above.u0 + above.nu {
                    let S_l = self.S[l];
                    self.dtau_dq[l * n + j] = S_l.dot(fq);
                    self.dtau_du[l * n + j] = S_l.dot(fu);
                    let m = S_l.dot(fa);
                    self.mass[l * n + j] = m;
                    self.mass[j * n + l] = m;
                    self.dtau_dq[j * n + l] = a.dot(self.zeta[l]) + c.dot(self.eta[l].w);
                    self.dtau_du[j * n + l] = a.dot(self.xi[l]) + c.dot(S_l.w);
                }
                up = above.parent;
            }
        }
    }
}

/// N of (5).
pub(super) fn coriolis_block<T: Real>(I: &SpatialInertia<T>, V: SpatialVec<T>) -> Mat33<T> {
    let two = T::cst(2.0);
    let K = twice_without_trace(&I.inertia);
    let (w, v, h) = (V.w, V.v, I.moment);
    let hv = h.dot(v) * two;
    let column = |c: usize| {
        let mut x = w.cross(K.col[c]) - v * (h[c] * two);
        x[c] += hv;
        x
    };
    Mat33::from_cols(column(0), column(1), column(2))
}

/// 2J − tr J.
pub(super) fn twice_without_trace<T: Real>(J: &SymMat33<T>) -> Mat33<T> {
    let trace = J.xx + J.yy + J.zz;
    SymMat33 {
        xx: J.xx * 2.0 - trace,
        yy: J.yy * 2.0 - trace,
        zz: J.zz * 2.0 - trace,
        xy: J.xy * 2.0,
        xz: J.xz * 2.0,
        yz: J.yz * 2.0,
    }
    .full()
}

/// A joint's bias and its derivatives.
struct JointDerivatives<T> {
    bias: SpatialVec<T>,
    d: Local<T>,
}

/// Derivatives within the joint of node `i` by dual numbers over its own coordinates and speeds.
fn local_derivatives<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    udot: &[T],
    i: usize,
) -> JointDerivatives<T> {
    // Two directions for a joint of one coordinate, the most common, and otherwise as many as the whole motion has; joints of more
    // than three coordinates go twice. Every size compiles all joints again.
    match tree.nodes[i].nu {
        1 => local_with::<T, 2>(tree, k, udot, i, [Some(0), Some(1)]),
        nu @ 2..=3 => local_with::<T, LANES>(tree, k, udot, i, [Some(0), Some(nu)]),
        _ => {
            let mut all = local_with::<T, LANES>(tree, k, udot, i, [Some(0), None]);
            all.d.dA_du = local_with::<T, LANES>(tree, k, udot, i, [None, Some(0)]).d.dA_du;
            all
        }
    }
}

/// With the directions of the first coordinate and the first speed; none where they are constants.
fn local_with<T: Real, const D: usize>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    udot: &[T],
    i: usize,
    [by_q, by_u]: [Option<usize>; 2],
) -> JointDerivatives<T> {
    let node = &tree.nodes[i];
    let (u0, nu) = (node.u0, node.nu);
    let mut q = [Dual::<T, D>::zero(); 6];
    let mut u = [Dual::<T, D>::zero(); 6];
    let variable = |x: T, c: usize, first: Option<usize>| match first {
        Some(first) => Dual::variable(x, first + c),
        None => Dual::new(x, [T::zero(); D]),
    };
    for c in 0..nu {
        q[c] = variable(k.q[u0 + c], c, by_q);
        u[c] = variable(k.u[u0 + c], c, by_u);
    }
    // A joint whose coordinates are angles and speeds an angular velocity has H(q), V(q, u) as they stand:
    // its columns are taken at fixed u, which is what the partial derivatives mean.
    let mut m = JointMotion::rest();
    node.joint.compute(&q[..nu], &u[..nu], &mut m);
    if node.reversed {
        m = m.reversed(nu);
    }

    // From (H, V, A of M's origin) to spatial vectors about F's origin.
    let p = m.X_FM.p;
    let about_F = |x: SpatialVec<Dual<T, D>>| SpatialVec::new(x.w, x.v + p.cross(x.w));
    let H: [SpatialVec<Dual<T, D>>; 6] = std::array::from_fn(|c| about_F(m.H[c]));
    let V = about_F(m.V);
    // Material to spatial acceleration: subtract ω × v of M's origin, then move the point.
    let bias = about_F(SpatialVec::new(m.A.w, m.A.v - m.V.w.cross(m.V.v)));
    let mut A = bias;
    for c in 0..nu {
        A += SpatialVec::new(
            H[c].w * Dual::new(udot[u0 + c], [T::zero(); D]),
            H[c].v * Dual::new(udot[u0 + c], [T::zero(); D]),
        );
    }

    let part = |x: SpatialVec<Dual<T, D>>, d: usize| {
        let f = |v: Vec3<Dual<T, D>>| vec3(v.x.d[d], v.y.d[d], v.z.d[d]);
        SpatialVec::new(f(x.w), f(x.v))
    };
    let value = |v: Vec3<Dual<T, D>>| vec3(v.x.v, v.y.v, v.z.v);
    let z = SpatialVec::zero();
    let mut d = Local { dH: [[z; 6]; 6], dV: [z; 6], dA_dq: [z; 6], dA_du: [z; 6] };
    for j in 0..nu {
        if let Some(first) = by_q {
            for (r, h) in H.iter().enumerate().take(nu) {
                d.dH[r][j] = part(*h, first + j);
            }
            d.dV[j] = part(V, first + j);
            d.dA_dq[j] = part(A, first + j);
        }
        if let Some(first) = by_u {
            d.dA_du[j] = part(bias, first + j);
        }
    }
    JointDerivatives { bias: SpatialVec::new(value(bias.w), value(bias.v)), d }
}
