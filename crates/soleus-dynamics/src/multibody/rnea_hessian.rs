//! Second derivatives of inverse dynamics, weighted: the Hessian of φ = yᵀ τ(q, u, u̇) by recursion along the tree.
//!
//! With W_b = Σ S_j y_j the velocity of body b for speeds y, φ = Σ_b W_b · F_b. Like any power it does not change under
//! a rigid motion of all bodies, so only changes *in the frames of the bodies* matter. A change of coordinate j then
//! changes W by ω_j = ν^W_j − T_j × W, V by η_j and A by ζ_j + η_j × V, the same for all bodies outboard (notation and
//! equations (1) to (5) of `rnea_derivatives`), and
//!
//!   ∂φ/∂q_j = ω_j · F + ζ_j · M + η_j · Z,   ∂φ/∂u_j = ξ_j · M + S_j · Z,   ∂φ/∂u̇_j = S_j · M        (1)
//!
//! with F, the momentum M = I W and Z = Bᵀ W summed over the subtree. The vectors of an inboard joint do not depend on
//! coordinates outboard of it. For i outboard of j the second derivatives are therefore again (1), with
//!
//!   ∂F/∂q_i = T_i ×* F + I ζ_i + B η_i,   ∂M/∂q_i = T_i ×* M + I ω_i,   ∂Z/∂q_i = T_i ×* Z + Bᵀ ω_i + Ψ η_i   (2)
//!   ∂F/∂u_i = I ξ_i + B S_i,   ∂Z/∂u_i = Ψ S_i,   ∂F/∂u̇_i = I S_i                                        (3)
//!
//! where a · Ψ V = W · B(V) a collects how B depends on V: with P_W the linear momentum of W = (w, x),
//!
//!   Ψ V = Qᵀ ω + 2 v × P_W,   Q = −[w]× (2J − tr J) + 2 [h]× [x]×                                     (4)
//!
//! Each pair takes a few products, so the whole Hessian costs little more than the first derivatives: O(N·depth).
//! Within one joint the second derivatives of its own motion come from jets over its own coordinates and speeds.

use super::rnea_derivatives::{
    InverseDynamicsDerivatives, coriolis_block, cross, cross_force, to_origin, twice_without_trace,
};
use super::{Tree, TreeKinematics};
use crate::joint::JointMotion;
use soleus_math::{Jet, Mat33, Real, Rotation, SpatialVec, Transform, Vec3, vec3};

/// Gradient and Hessian of φ = yᵀ τ, with scratch memory.
#[derive(Clone, Debug)]
pub struct InverseDynamicsHessian {
    n: usize,
    /// ∂²φ/∂q∂q, n × n, symmetric; zero between mobilities on different branches.
    pub qq: Vec<f64>,
    /// ∂²φ/∂q∂u, row by coordinate, column by speed.
    pub qu: Vec<f64>,
    /// ∂²φ/∂u∂u, symmetric.
    pub uu: Vec<f64>,
    /// ∂²φ/∂q∂u̇, row by coordinate, column by acceleration.
    pub qa: Vec<f64>,
    /// ∂φ/∂q.
    pub q: Vec<f64>,
    /// ∂φ/∂u.
    pub u: Vec<f64>,
    /// ∂φ/∂u̇ = M y.
    pub a: Vec<f64>,
    /// Velocity of each body if the speeds were y, about the origin of ground.
    pub(crate) W: Vec<SpatialVec<f64>>,
    /// What a coordinate changes in W as seen from the bodies outboard.
    pub(crate) omega: Vec<SpatialVec<f64>>,
    /// Second derivatives within each joint, if asked for.
    pub(crate) second: Vec<JointSecond>,
    M: Vec<SpatialVec<f64>>,
    Z: Vec<Vec3<f64>>,
    Q: Vec<Mat33<f64>>,
}

/// Second derivatives within one joint as seen from its body, about the origin of ground. Variables are the coordinates,
/// then the speeds; pair (i, j ≤ i) at i(i+1)/2 + j.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointSecond {
    /// Of the twist that brings the body from where it is, in exponential coordinates.
    pub twist: Vec<SpatialVec<f64>>,
    /// Of the velocity.
    pub V: Vec<SpatialVec<f64>>,
}

impl JointSecond {
    /// Takes them from a joint of `nu` mobilities, if they are to be kept.
    fn keep<const D: usize, const H: usize>(
        &mut self,
        nu: usize,
        X_GF: &Transform<f64>,
        seen: &Seen<Jet<D, H>>,
    ) {
        if self.V.is_empty() {
            return;
        }
        let turn = |x: &SpatialVec<Jet<D, H>>, p: usize| {
            let pick = |v: &Vec3<Jet<D, H>>| vec3(v.x.h[p], v.y.h[p], v.z.h[p]);
            to_origin(SpatialVec::new(X_GF.R * pick(&x.w), X_GF.R * pick(&x.v)), X_GF.p)
        };
        for p in 0..nu * (2 * nu + 1) {
            self.V[p] = turn(&seen.V, p);
            self.twist[p] = turn(&seen.twist, p);
        }
    }
}

/// What the subtree outboard of a joint makes of changes of the joint: the factors of (1), in the joint's frame F.
struct Factors {
    F: SpatialVec<f64>,
    M: SpatialVec<f64>,
    Z: Vec3<f64>,
}

impl InverseDynamicsHessian {
    /// Memory for the second derivatives of `tree`; `keep_second`: those of each joint's motion are stored as well.
    pub fn new(tree: &Tree, keep_second: bool) -> Self {
        let (n, nb) = (tree.num_mobilities, tree.nodes.len());
        let (z, square) = (SpatialVec::zero(), vec![0.0; n * n]);
        let second = tree.nodes.iter().map(|node| {
            let pairs = if keep_second { node.nu * (2 * node.nu + 1) } else { 0 };
            JointSecond { twist: vec![z; pairs], V: vec![z; pairs] }
        });
        InverseDynamicsHessian {
            n,
            qq: square.clone(),
            qu: square.clone(),
            uu: square.clone(),
            qa: square,
            q: vec![0.0; n],
            u: vec![0.0; n],
            a: vec![0.0; n],
            W: vec![z; nb],
            omega: vec![z; n],
            second: second.collect(),
            M: vec![z; nb],
            Z: vec![Vec3::zero(); nb],
            Q: vec![Mat33::default(); nb],
        }
    }

    /// Second derivatives of yᵀ τ at the motion of the first derivatives `d`. Loads are assumed to move with their
    /// bodies.
    pub fn compute(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        udot: &[f64],
        y: &[f64],
    ) {
        for m in [&mut self.qq, &mut self.qu, &mut self.uu, &mut self.qa] {
            m.fill(0.0);
        }
        // Outwards: the weights' motion, and what each body makes of it.
        self.W[0] = SpatialVec::zero();
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            let range = node.u0..node.u0 + node.nu;
            let mut W = self.W[node.parent];
            for j in range.clone() {
                W += d.S[j] * y[j];
            }
            for (c, j) in range.clone().enumerate() {
                let mut nu = SpatialVec::zero();
                for l in range.clone() {
                    nu += d.sigma[6 * l + c] * y[l];
                }
                self.omega[j] = nu - cross(d.twist[j], W);
            }
            let I = k.inertia[i].shifted(k.X_GB[i].p);
            let (V, N) = (d.V[i], coriolis_block(&I, d.V[i]));
            self.W[i] = W;
            self.M[i] = I.momentum(W);
            self.Z[i] = N.tmul(W.w) + I.momentum(V).v.cross(W.v) * 2.0;
            let K = twice_without_trace(&I.inertia);
            let column = |c: usize| I.moment.cross(W.v.cross(Vec3::unit(c))) * 2.0 - W.w.cross(K.col[c]); // (4)
            self.Q[i] = Mat33::from_cols(column(0), column(1), column(2));
        }
        // Inwards: sums over subtrees, and every pair.
        for (i, node) in tree.nodes.iter().enumerate().skip(1).rev() {
            self.pairs(tree, d, i);
            self.within_joint(tree, k, d, udot, y, i);
            if node.parent != 0 {
                let (M, Z, Q) = (self.M[i], self.Z[i], self.Q[i]);
                self.M[node.parent] += M;
                self.Z[node.parent] += Z;
                for c in 0..3 {
                    self.Q[node.parent].col[c] += Q.col[c];
                }
            }
        }
    }

    /// Of all that, only the second derivatives within the joints of these nodes, which are to be kept.
    pub(crate) fn compute_joints(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        nodes: &[usize],
    ) {
        for &i in nodes {
            match tree.nodes[i].nu {
                0 => {}
                1 => self.joint_sized::<2, 3>(tree, k, d, i),
                2 | 3 => self.joint_sized::<6, 21>(tree, k, d, i),
                _ => self.joint_sized::<12, 78>(tree, k, d, i),
            }
        }
    }

    fn joint_sized<const D: usize, const H: usize>(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        i: usize,
    ) {
        let node = &tree.nodes[i];
        let X_GF = joint_frame(tree, k, i);
        let range = node.u0..node.u0 + node.nu;
        let V = motion_in(&X_GF, d.V[node.parent]);
        let seen = seen_from_body::<D, H>(tree, i, [&k.q[range.clone()], &k.u[range]], V, None);
        self.second[i].keep(node.nu, &X_GF, &seen);
    }

    /// Gradient by the joint of node `i`, and all pairs in which it is the outboard one.
    fn pairs(&mut self, tree: &Tree, d: &InverseDynamicsDerivatives<f64>, i: usize) {
        let n = self.n;
        let node = &tree.nodes[i];
        let (F, I, M, Z) = (d.F[i], &d.inertia[i], self.M[i], self.Z[i]);
        for j in node.u0..node.u0 + node.nu {
            let (T, S, eta, omega) = (d.twist[j], d.S[j], d.eta[j], self.omega[j]);
            self.q[j] = omega.dot(F) + d.zeta[j].dot(M) + eta.w.dot(Z); // (1)
            self.u[j] = d.xi[j].dot(M) + S.w.dot(Z);
            self.a[j] = S.dot(M);
            if node.parent == 0 {
                continue;
            }
            // (2) and (3).
            let F_q = cross_force(T, F) + I.momentum(d.zeta[j]) + b(d, i, eta);
            let F_u = I.momentum(d.xi[j]) + b(d, i, S);
            let F_a = I.momentum(S);
            let M_q = cross_force(T, M) + I.momentum(omega);
            let Z_q = T.w.cross(Z) + b_transposed(d, i, omega) + self.psi(i, eta);
            let Z_u = self.psi(i, S);
            let mut up = node.parent;
            while up != 0 {
                let above = &tree.nodes[up];
                for l in above.u0..above.u0 + above.nu {
                    let (w, eta, S) = (self.omega[l], d.eta[l].w, d.S[l]);
                    let qq = w.dot(F_q) + d.zeta[l].dot(M_q) + eta.dot(Z_q);
                    let uu = S.w.dot(Z_u);
                    (self.qq[j * n + l], self.qq[l * n + j]) = (qq, qq);
                    (self.uu[j * n + l], self.uu[l * n + j]) = (uu, uu);
                    self.qu[l * n + j] = w.dot(F_u) + eta.dot(Z_u);
                    self.qu[j * n + l] = d.xi[l].dot(M_q) + S.w.dot(Z_q);
                    self.qa[l * n + j] = w.dot(F_a);
                    self.qa[j * n + l] = S.dot(M_q);
                }
                up = above.parent;
            }
        }
    }

    /// Ψ V of (4), over the subtree of node `i`.
    #[inline(always)]
    fn psi(&self, i: usize, V: SpatialVec<f64>) -> Vec3<f64> {
        self.Q[i].tmul(V.w) + V.v.cross(self.M[i].v) * 2.0
    }

    /// Pairs within the joint of node `i`. As seen from the body, W, V and A − η × V become W + δW, … and
    ///
    ///   φ = δW·F + δζ·M + δV·Z + δW·(I δζ + B δV) + ½ δV·Ψ δV                                        (5)
    ///
    /// to second order: the first three terms with second derivatives of the joint, the others with first ones.
    fn within_joint(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        udot: &[f64],
        y: &[f64],
        i: usize,
    ) {
        match tree.nodes[i].nu {
            0 => {}
            1 => self.within_sized::<2, 3>(tree, k, d, udot, y, i),
            2 | 3 => self.within_sized::<6, 21>(tree, k, d, udot, y, i),
            _ => self.within_sized::<12, 78>(tree, k, d, udot, y, i),
        }
    }

    fn within_sized<const D: usize, const H: usize>(
        &mut self,
        tree: &Tree,
        k: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        udot: &[f64],
        y: &[f64],
        i: usize,
    ) {
        let (n, node) = (self.n, &tree.nodes[i]);
        let (u0, nu) = (node.u0, node.nu);
        let X_GF = joint_frame(tree, k, i);
        let factors = Factors {
            F: wrench_in(&X_GF, d.F[i]),
            M: wrench_in(&X_GF, self.M[i]),
            Z: X_GF.R.inverse_mul(self.Z[i]),
        };
        let [V_p, A_p, W_p] =
            [d.V[node.parent], d.A[node.parent], self.W[node.parent]].map(|x| motion_in(&X_GF, x));
        let range = u0..u0 + nu;
        let own = [&k.q[range.clone()], &k.u[range.clone()]];
        let others = Others { udot: &udot[range.clone()], y: &y[range.clone()], A_p, W_p };
        let seen = seen_from_body::<D, H>(tree, i, own, V_p, Some(others));
        let V_k = motion_in(&X_GF, d.V[i]);
        let zeta = seen.A - cross(seen.V, constant(V_k));
        let linear = dot(seen.W, factors.F) + dot(zeta, factors.M) + dot3(seen.V.w, factors.Z); // (5), first part
        self.second[i].keep(nu, &X_GF, &seen);

        // The rest of (5).
        let I = &d.inertia[i];
        for (r, j) in range.clone().enumerate() {
            let (eta, S, omega) = (d.eta[j], d.S[j], self.omega[j]);
            let F_q = I.momentum(d.zeta[j]) + b(d, i, eta);
            let (psi_q, psi_u) = (self.psi(i, eta), self.psi(i, S));
            for (c, l) in range.clone().enumerate() {
                let (eta_l, S_l, omega_l) = (d.eta[l], d.S[l], self.omega[l]);
                let F_ql = I.momentum(d.zeta[l]) + b(d, i, eta_l);
                let half =
                    |a: Vec3<f64>, b: Vec3<f64>, c: Vec3<f64>, d: Vec3<f64>| 0.5 * (a.dot(b) + c.dot(d));
                self.qq[j * n + l] = linear.second(r, c)
                    + omega.dot(F_ql)
                    + omega_l.dot(F_q)
                    + half(psi_q, eta_l.w, self.psi(i, eta_l), eta.w);
                let F_ul = I.momentum(d.xi[l]) + b(d, i, S_l);
                let psi_ul = self.psi(i, S_l);
                self.qu[j * n + l] =
                    linear.second(r, nu + c) + omega.dot(F_ul) + half(psi_q, S_l.w, psi_ul, eta.w);
                self.uu[j * n + l] = linear.second(nu + r, nu + c) + half(psi_u, S_l.w, psi_ul, S.w);
                let S_q = d.sigma[6 * l + r] - cross(d.twist[j], S_l);
                self.qa[j * n + l] = S_q.dot(self.M[i]) + S_l.dot(I.momentum(omega));
            }
        }
    }
}

/// B x of the subtree of node `i`.
#[inline(always)]
fn b(d: &InverseDynamicsDerivatives<f64>, i: usize, x: SpatialVec<f64>) -> SpatialVec<f64> {
    SpatialVec::new(d.N[i] * x.w, x.w.cross(d.P[i]) * 2.0)
}

/// Bᵀ x of the subtree of node `i`, which has an angular part only.
#[inline(always)]
fn b_transposed(d: &InverseDynamicsDerivatives<f64>, i: usize, x: SpatialVec<f64>) -> Vec3<f64> {
    d.N[i].tmul(x.w) + d.P[i].cross(x.v) * 2.0
}

/// A wrench about the origin of ground, in a frame and about its origin.
fn wrench_in(X: &Transform<f64>, f: SpatialVec<f64>) -> SpatialVec<f64> {
    SpatialVec::new(X.R.inverse_mul(f.w - X.p.cross(f.v)), X.R.inverse_mul(f.v))
}

/// A motion about the origin of ground, in a frame and about its origin.
fn motion_in(X: &Transform<f64>, x: SpatialVec<f64>) -> SpatialVec<f64> {
    SpatialVec::new(X.R.inverse_mul(x.w), X.R.inverse_mul(x.v - X.p.cross(x.w)))
}

fn constant<T: Real>(x: SpatialVec<f64>) -> SpatialVec<T> {
    SpatialVec::new(Vec3::cst(x.w), Vec3::cst(x.v))
}

fn dot3<T: Real>(a: Vec3<T>, b: Vec3<f64>) -> T {
    a.x * b.x + a.y * b.y + a.z * b.z
}

fn dot<T: Real>(a: SpatialVec<T>, b: SpatialVec<f64>) -> T {
    dot3(a.w, b.w) + dot3(a.v, b.v)
}

/// The motion of a joint's body as seen from the body, in axes of F where the body is now.
struct Seen<T> {
    /// Exponential coordinates of the displacement.
    twist: SpatialVec<T>,
    V: SpatialVec<T>,
    A: SpatialVec<T>,
    W: SpatialVec<T>,
}

/// What the accelerations and weights of a joint need: u̇ and y of the joint, A and W of its parent in F.
struct Others<'a> {
    udot: &'a [f64],
    y: &'a [f64],
    A_p: SpatialVec<f64>,
    W_p: SpatialVec<f64>,
}

/// Frame F of the joint of node `i` in ground.
fn joint_frame(tree: &Tree, k: &TreeKinematics<f64>, i: usize) -> Transform<f64> {
    let node = &tree.nodes[i];
    let X_GP = k.X_GB[node.parent];
    Transform::new(X_GP.R * node.X_PF.R, X_GP * node.X_PF.p)
}

/// By the joint's own coordinates (variables 0 ..) and speeds (after them), q and u; `V_p`: velocity of the parent, in F. Without
/// `others`, A and W stay zero.
fn seen_from_body<const D: usize, const H: usize>(
    tree: &Tree,
    i: usize,
    [q0, u_0]: [&[f64]; 2],
    V_p: SpatialVec<f64>,
    others: Option<Others<'_>>,
) -> Seen<Jet<D, H>> {
    type J<const D: usize, const H: usize> = Jet<D, H>;
    let node = &tree.nodes[i];
    let nu = node.nu;
    let mut q = [J::<D, H>::zero(); 6];
    let mut u = [J::<D, H>::zero(); 6];
    for c in 0..nu {
        q[c] = Jet::variable(q0[c], c);
        u[c] = Jet::variable(u_0[c], nu + c);
    }
    let mut m = JointMotion::rest();
    node.joint.compute(&q[..nu], &u[..nu], &mut m);
    if node.reversed {
        m = m.reversed(nu);
    }
    // About F's origin; the bias from the acceleration of M's origin to a spatial one.
    let p = m.X_FM.p;
    let about_F = |x: SpatialVec<J<D, H>>| SpatialVec::new(x.w, x.v + p.cross(x.w));
    let V_J = about_F(m.V);
    let V = constant(V_p) + V_J;

    // The displacement from where the joint is, and everything brought back along it.
    let X0 = Transform::new(value_of(m.X_FM.R), p.value());
    let R = m.X_FM.R * Rotation::cst(X0.inverse().R);
    let moved = p - R * Vec3::cst(X0.p);
    let back =
        |x: SpatialVec<J<D, H>>| SpatialVec::new(R.inverse_mul(x.w), R.inverse_mul(x.v - moved.cross(x.w)));
    let (mut A, mut W) = (SpatialVec::zero(), SpatialVec::zero());
    if let Some(Others { udot, y, A_p, W_p }) = others {
        A = constant(A_p)
            + about_F(SpatialVec::new(m.A.w, m.A.v - m.V.w.cross(m.V.v)))
            + cross(constant(V_p), V_J);
        W = constant(W_p);
        for c in 0..nu {
            let S = about_F(m.H[c]);
            A += S * Jet::cst(udot[c]);
            W += S * Jet::cst(y[c]);
        }
        (A, W) = (back(A), back(W));
    }
    // To second order the rotation vector is the skew part of R, and the translation loses half of φ × p.
    let axis = |c: usize| R.axis(c);
    let half = Jet::cst(0.5);
    let phi = vec3(axis(1).z - axis(2).y, axis(2).x - axis(0).z, axis(0).y - axis(1).x) * half;
    Seen { twist: SpatialVec::new(phi, moved - phi.cross(moved) * half), V: back(V), A, W }
}

/// The rotation without its derivatives.
fn value_of<T: Real>(R: Rotation<T>) -> Rotation<f64> {
    let mut out = Rotation::identity();
    for c in 0..3 {
        out.0.col[c] = R.axis(c).value();
    }
    out
}
