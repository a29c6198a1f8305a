//! Forces without a path: springs, actuators, contacts.
//!
//! Such a force sees a displacement θ and a velocity ν of each of its bodies, coordinates and speeds, its controls and its
//! states. As seen from the bodies, with W̃ the weights' motion and F̃ the wrenches,
//!
//!   φ = −Σ W̃·F̃(θ, ν, …) − Σ y τ(q, u, …) − Σ y_z ż                                                    (1)
//!
//! of which the tree has counted −W̃·F̃ at constant F̃. Jets over what the force sees give the rest; the chain rule
//! brings it to coordinates and speeds. For i outboard of j, in the notation of `rnea_hessian`,
//!
//!   ∂θ/∂q_j = T_j,  ∂²θ/∂q_i∂q_j = ½ T_j × T_i,   ∂ν/∂q_j = η_j,  ∂²ν/∂q_i∂q_j = −T_i × η_j,
//!   ∂ν/∂u_j = S_j,  ∂²ν/∂q_i∂u_j = −T_i × S_j,  zero for i inboard of j,   ∂W̃/∂q_j = ω_j                (2)

use super::super::sparse::SparseMatrix;
use super::super::{ImplicitSystem, jacobian::MAX_STATES, to_ground};
use super::scratch::{FEW, ForceJets};
use super::{HessianWorkspace, ImplicitHessian, rounds};
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{InverseDynamicsDerivatives, InverseDynamicsHessian, cross};
use crate::system::{Actor, State, System, Workspace};
use soleus_math::{Jet, Real, Rotation, SpatialVec, Transform, Vec3, vec3};

/// Displacement and velocity of a body.
const PER_BODY: usize = 12;
/// Most controls of one force.
const MAX_CONTROLS: usize = 6;

/// What one force needs, found once.
#[derive(Clone, Debug)]
pub(super) struct ForcePlan {
    force: usize,
    /// Bodies that move, and others that it reads.
    bodies: Vec<usize>,
    still: Vec<usize>,
    mobilities: Vec<usize>,
    /// Mobilities that matter: those of `mobilities` and those that move `bodies`.
    list: Vec<usize>,
    /// For each body and each of `list`: whether it moves.
    moves: Vec<bool>,
    rounds: Vec<Vec<usize>>,
    /// Position in w of each control, then each state.
    extra: Vec<usize>,
    /// Places of (coordinates of the list, then speeds; extra), and of (extra, extra′ ≤ extra).
    with_extra: Vec<usize>,
    among_extra: Vec<usize>,
}

impl ForcePlan {
    /// What the force sees: displacements and velocities, coordinates and speeds, controls and states.
    fn num_seen(&self) -> usize {
        PER_BODY * self.bodies.len() + 2 * self.mobilities.len() + self.extra.len()
    }
    fn num_variables(&self) -> usize {
        2 * self.list.len() + self.extra.len()
    }
    /// Whether small jets hold all that it sees.
    pub fn sees_few(&self) -> bool {
        self.num_seen() <= FEW
    }
}

/// Derivatives of one force by what it sees, and of all forces by the motion of each body.
#[derive(Clone, Debug)]
pub(super) struct BodyGradient {
    /// ∂φ/∂θ and ∂φ/∂ν of each body, all forces together; summed over subtrees in the end.
    theta: Vec<SpatialVec<f64>>,
    nu: Vec<SpatialVec<f64>>,
    // Of the present force: φ by what it sees, and F̃ of each body.
    g: Vec<f64>,
    h: Vec<f64>,
    F: Vec<SpatialVec<f64>>,
    /// What it sees by the variables, one row per variable, and the same times h.
    by: Vec<f64>,
    product: Vec<f64>,
    /// F̃ of each body by the variables.
    F_by: Vec<SpatialVec<f64>>,
}

impl BodyGradient {
    pub fn new(s: &System, plans: &[ForcePlan]) -> Self {
        let most = |size: &dyn Fn(&ForcePlan) -> usize| plans.iter().map(size).max().unwrap_or(0);
        let seen = most(&|p| p.num_seen());
        let table = most(&|p| p.num_seen() * p.num_variables());
        let zero = SpatialVec::zero();
        let bodies = if plans.is_empty() { 0 } else { s.tree.nodes.len() };
        BodyGradient {
            theta: vec![zero; bodies],
            nu: vec![zero; bodies],
            g: vec![0.0; seen],
            h: vec![0.0; seen * seen],
            F: vec![zero; most(&|p| p.num_seen() * p.bodies.len())],
            by: vec![0.0; table],
            product: vec![0.0; table],
            F_by: vec![zero; most(&|p| p.num_variables() * p.bodies.len())],
        }
    }
}

impl ImplicitSystem<'_> {
    pub(super) fn force_plans(&self, lower: &SparseMatrix) -> Vec<ForcePlan> {
        let (s, w) = (&*self.system, self.layout());
        let mut plans = Vec::new();
        for &i in &self.pattern.plain {
            let f = &s.forces[i];
            let Actor::Force(law) = &f.actor else { continue };
            let (mut bodies, mut mobilities) = law.touches();
            let mut still = Vec::new();
            for list in [&mut bodies, &mut mobilities] {
                list.sort_unstable();
                list.dedup();
            }
            bodies.retain(|&b| {
                let moves = !s.tree.supports(b).is_empty();
                if !moves {
                    still.push(b);
                }
                moves
            });
            let mut list = mobilities.clone();
            list.extend(bodies.iter().flat_map(|&b| s.tree.supports(b)));
            list.sort_unstable();
            list.dedup();
            let moves = bodies.iter().flat_map(|&b| {
                let by = s.tree.supports(b);
                list.iter().map(move |j| by.contains(j)).collect::<Vec<_>>()
            });
            let moves = moves.collect();
            let extra: Vec<usize> =
                f.controls.clone().map(|e| w.e + e).chain(f.states.clone().map(|z| w.z + z)).collect();
            let place = |a: usize, b: usize| lower.position(a.max(b), a.min(b)).unwrap_or(usize::MAX);
            let mut with_extra = Vec::new();
            for x in list.iter().copied().chain(list.iter().map(|j| w.u + j)) {
                with_extra.extend(extra.iter().map(|&e| place(x, e)));
            }
            let mut among_extra = Vec::new();
            for (a, &x) in extra.iter().enumerate() {
                among_extra.extend(extra[..=a].iter().map(|&y| place(x, y)));
            }
            let mut plan = ForcePlan {
                force: i,
                bodies,
                still,
                mobilities,
                list,
                moves,
                rounds: Vec::new(),
                extra,
                with_extra,
                among_extra,
            };
            plan.rounds = rounds(plan.num_seen());
            plans.push(plan);
        }
        plans
    }

    /// Adds the forces without a path.
    pub(super) fn force_hessians(
        &self,
        x: &State<f64>,
        controls: &[f64],
        y_u: &[f64],
        y_z: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let HessianWorkspace { ws, first, tree, forces, loads, jets, .. } = hw;
        if forces.is_empty() {
            return;
        }
        loads.theta.fill(SpatialVec::zero());
        loads.nu.fill(SpatialVec::zero());
        jets.many_forces.lifted.fill(None);
        for plan in forces.iter() {
            let (y, parts) = ((y_u, y_z), (&*first, &*tree));
            if plan.sees_few() {
                self.seen_by_force(plan, x, controls, y, ws, parts, &mut jets.few_forces, loads);
            } else {
                self.seen_by_force(plan, x, controls, y, ws, parts, &mut jets.many_forces, loads);
            }
            chain(plan, first, tree, loads, hessian);
        }
        self.second_of_bodies(first, tree, loads);
    }

    /// φ of (1) and F̃ to second and first order in what the force sees.
    #[allow(clippy::too_many_arguments)]
    fn seen_by_force<const N: usize, const H: usize>(
        &self,
        plan: &ForcePlan,
        x: &State<f64>,
        controls: &[f64],
        (y_u, y_z): (&[f64], &[f64]),
        ws: &Workspace<f64>,
        (first, tree): (&InverseDynamicsDerivatives<f64>, &InverseDynamicsHessian),
        jets: &mut ForceJets<N, H>,
        out: &mut BodyGradient,
    ) {
        let f = &self.system.forces[plan.force];
        let Actor::Force(law) = &f.actor else { return };
        let (nb, seen) = (plan.bodies.len(), plan.num_seen());
        let one_round = plan.rounds.len() == 1;
        for &b in &plan.still {
            let (X, V) = (ws.kin.X_GB[b], ws.kin.V_GB[b]);
            jets.X_GB[b] = Transform::cst(X);
            jets.V_GB[b] = SpatialVec::new(Vec3::cst(V.w), Vec3::cst(V.v));
            jets.body[b] = SpatialVec::zero();
        }
        for round in &plan.rounds {
            // Variable number `v` of what the force sees, about `value`.
            let variable = |v: usize, value: f64| match round.iter().position(|&r| r == v) {
                Some(d) => Jet::<N, H>::variable(value, d),
                None => Jet::cst(value),
            };
            for (i, &b) in plan.bodies.iter().enumerate() {
                let at = PER_BODY * i;
                jets.body[b] = SpatialVec::zero();
                if jets.lifted[b] == Some(at) && one_round {
                    continue;
                }
                let three = |v: usize, x: Vec3<f64>| {
                    vec3(variable(v, x.x), variable(v + 1, x.y), variable(v + 2, x.z))
                };
                let theta = SpatialVec::new(three(at, Vec3::zero()), three(at + 3, Vec3::zero()));
                let V = SpatialVec::new(three(at + 6, first.V[b].w), three(at + 9, first.V[b].v));
                let X = displacement(theta);
                (jets.X_GB[b], jets.V_GB[b]) = moved_along(X, ws.kin.X_GB[b], V);
                jets.moved[b] = X;
                jets.lifted[b] = one_round.then_some(at);
            }
            for (i, &m) in plan.mobilities.iter().enumerate() {
                let at = PER_BODY * nb + 2 * i;
                jets.q[m] = variable(at, x.q[m]);
                jets.u[m] = variable(at + 1, x.u[m]);
                jets.mobility[m] = Jet::zero();
            }
            let at = seen - plan.extra.len();
            let (ne, nz) = (f.controls.len(), f.states.len());
            let mut e = [Jet::zero(); MAX_CONTROLS];
            let mut z = [Jet::zero(); MAX_STATES];
            let mut rate = [Jet::zero(); MAX_STATES];
            for (i, c) in f.controls.clone().enumerate() {
                e[i] = variable(at + i, controls[c]);
            }
            for (i, k) in f.states.clone().enumerate() {
                z[i] = variable(at + ne + i, x.z[k]);
            }
            let kin = Kinematics {
                time: Jet::cst(x.time),
                X_GB: &jets.X_GB,
                V_GB: &jets.V_GB,
                q: &jets.q,
                u: &jets.u,
            };
            let mut loads = Loads { body: &mut jets.body, mobility: &mut jets.mobility };
            law.apply(&kin, &e[..ne], &z[..nz], &mut rate[..nz], &mut loads);

            // (1).
            let mut phi = Jet::<N, H>::zero();
            for (i, &b) in plan.bodies.iter().enumerate() {
                let (F, X, W) = (to_ground(jets.body[b], jets.X_GB[b].p), jets.moved[b], tree.W[b]);
                let (w, v) = (X.R.inverse_mul(F.w - X.p.cross(F.v)), X.R.inverse_mul(F.v));
                phi -= w.x * W.w.x + w.y * W.w.y + w.z * W.w.z + v.x * W.v.x + v.y * W.v.y + v.z * W.v.z;
                for (d, &r) in round.iter().enumerate() {
                    let part = |x: Vec3<Jet<N, H>>| vec3(x.x.g[d], x.y.g[d], x.z.g[d]);
                    out.F[r * nb + i] = SpatialVec::new(part(w), part(v));
                }
            }
            for &m in &plan.mobilities {
                phi -= jets.mobility[m] * y_u[m];
            }
            for (r, k) in rate[..nz].iter().zip(f.states.clone()) {
                phi -= *r * y_z[k];
            }
            for (a, &r) in round.iter().enumerate() {
                out.g[r] = phi.g[a];
                for (b, &c) in round.iter().enumerate() {
                    out.h[r * seen + c] = phi.second(a, b);
                }
            }
        }
    }

    /// Second derivatives (2) of the motion of the bodies, with the gradients of all forces.
    fn second_of_bodies(
        &self,
        first: &InverseDynamicsDerivatives<f64>,
        tree: &mut InverseDynamicsHessian,
        loads: &mut BodyGradient,
    ) {
        let nodes = &self.system.tree.nodes;
        let n = self.system.tree.num_mobilities;
        for (i, node) in nodes.iter().enumerate().skip(1).rev() {
            let (theta, nu) = (loads.theta[i], loads.nu[i]);
            let range = node.u0..node.u0 + node.nu;
            for j in range.clone() {
                let T = first.twist[j];
                let mut up = node.parent;
                while up != 0 {
                    let above = &nodes[up];
                    for l in above.u0..above.u0 + above.nu {
                        let h = 0.5 * theta.dot(cross(first.twist[l], T)) - nu.dot(cross(T, first.eta[l]));
                        tree.qq[j * n + l] += h;
                        tree.qq[l * n + j] += h;
                        tree.qu[j * n + l] -= nu.dot(cross(T, first.S[l]));
                    }
                    up = above.parent;
                }
            }
            // Within the joint.
            let second = &tree.second[i];
            let at = |a: usize, b: usize| {
                let (a, b) = (a.max(b), a.min(b));
                let p = a * (a + 1) / 2 + b;
                theta.dot(second.twist[p]) + nu.dot(second.V[p])
            };
            for (r, j) in range.clone().enumerate() {
                for (c, l) in range.clone().enumerate() {
                    tree.qq[j * n + l] += at(r, c);
                    tree.qu[j * n + l] += at(r, node.nu + c);
                    tree.uu[j * n + l] += at(node.nu + r, node.nu + c);
                }
            }
            if node.parent != 0 {
                loads.theta[node.parent] += theta;
                loads.nu[node.parent] += nu;
            }
        }
    }
}

/// exp θ to second order, θ = (φ, t) a twist about the origin of ground:
///
///   R = 1 + [φ]× + ½ (φ φᵀ − φ² 1),   p = t + ½ φ × t
pub(super) fn displacement<T: Real>(theta: SpatialVec<T>) -> Transform<T> {
    let (phi, t) = (theta.w, theta.v);
    let [x, y, z] = phi.to_array();
    let [xx, yy, zz] = [x, y, z].map(|a| a * a * 0.5);
    let [xy, xz, yz] = [x * y, x * z, y * z].map(|a| a * 0.5);
    let mut R = Rotation::identity();
    R.0.col[0] = vec3(-(yy + zz) + 1.0, xy + z, xz - y);
    R.0.col[1] = vec3(xy - z, -(xx + zz) + 1.0, yz + x);
    R.0.col[2] = vec3(xz + y, yz - x, -(xx + yy) + 1.0);
    Transform::new(R, t + phi.cross(t) * T::cst(0.5))
}

/// Pose of a body displaced by X, and its own velocity V (about the origin of ground), moved along, about its origin.
pub(super) fn moved_along<T: Real>(
    X: Transform<T>,
    X_GB: Transform<f64>,
    V: SpatialVec<T>,
) -> (Transform<T>, SpatialVec<T>) {
    // Products with plain numbers are much cheaper than with jets.
    let turned = |a: Vec3<f64>| {
        let along = |c: usize, k: f64| {
            let e = X.R.axis(c);
            vec3(e.x * k, e.y * k, e.z * k)
        };
        along(0, a.x) + along(1, a.y) + along(2, a.z)
    };
    let mut R = Rotation::identity();
    for c in 0..3 {
        R.0.col[c] = turned(X_GB.R.axis(c));
    }
    let pose = Transform::new(R, X.p + turned(X_GB.p));
    let w = X.R * V.w;
    let v = X.R * V.v + X.p.cross(w);
    (pose, SpatialVec::new(w, v + w.cross(pose.p)))
}

/// Brings the second derivatives of one force from what it sees to the variables.
fn chain(
    plan: &ForcePlan,
    first: &InverseDynamicsDerivatives<f64>,
    tree: &mut InverseDynamicsHessian,
    loads: &mut BodyGradient,
    hessian: &mut ImplicitHessian,
) {
    let (nb, k, n) = (plan.bodies.len(), plan.list.len(), tree.q.len());
    let (seen, variables) = (plan.num_seen(), plan.num_variables());
    for (i, &b) in plan.bodies.iter().enumerate() {
        let g = &loads.g[PER_BODY * i..];
        let at = |c: usize| vec3(g[c], g[c + 1], g[c + 2]);
        loads.theta[b] += SpatialVec::new(at(0), at(3));
        loads.nu[b] += SpatialVec::new(at(6), at(9));
    }
    // First derivatives of what it sees, one row per variable.
    let by = &mut loads.by[..variables * seen];
    by.fill(0.0);
    for (a, &j) in plan.list.iter().enumerate() {
        for i in 0..nb {
            if plan.moves[i * k + a] {
                let put = |row: &mut [f64], at: usize, x: SpatialVec<f64>| {
                    row[at..at + 3].copy_from_slice(&x.w.to_array());
                    row[at + 3..at + 6].copy_from_slice(&x.v.to_array());
                };
                put(&mut by[a * seen..(a + 1) * seen], PER_BODY * i, first.twist[j]);
                put(&mut by[a * seen..(a + 1) * seen], PER_BODY * i + 6, first.eta[j]);
                put(&mut by[(k + a) * seen..(k + a + 1) * seen], PER_BODY * i + 6, first.S[j]);
            }
        }
        if let Some(m) = plan.mobilities.iter().position(|&m| m == j) {
            by[a * seen + PER_BODY * nb + 2 * m] = 1.0;
            by[(k + a) * seen + PER_BODY * nb + 2 * m + 1] = 1.0;
        }
    }
    for c in 0..plan.extra.len() {
        by[(2 * k + c) * seen + seen - plan.extra.len() + c] = 1.0;
    }
    for a in 0..variables {
        let row = &by[a * seen..(a + 1) * seen];
        let product = &mut loads.product[a * seen..(a + 1) * seen];
        product.fill(0.0);
        loads.F_by[a * nb..(a + 1) * nb].fill(SpatialVec::zero());
        for (l, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            for (p, h) in product.iter_mut().zip(&loads.h[l * seen..(l + 1) * seen]) {
                *p += x * h;
            }
            for i in 0..nb {
                loads.F_by[a * nb + i] += loads.F[l * nb + i] * x;
            }
        }
        let g: f64 = row.iter().zip(&loads.g).map(|(x, g)| x * g).sum();
        match a {
            a if a < k => tree.q[plan.list[a]] += g,
            a if a < 2 * k => tree.u[plan.list[a - k]] += g,
            a => hessian.gradient[plan.extra[a - 2 * k]] += g,
        }
    }
    // Products of first derivatives, W̃ with F̃ among them.
    let mixed = |tree: &InverseDynamicsHessian, a: usize, b: usize| -> f64 {
        if a >= k {
            return 0.0;
        }
        let omega = tree.omega[plan.list[a]];
        (0..nb).filter(|i| plan.moves[i * k + a]).map(|i| omega.dot(loads.F_by[b * nb + i])).sum()
    };
    for a in 0..variables {
        for b in 0..=a {
            let product = &loads.product[a * seen..(a + 1) * seen];
            let mut h: f64 = product.iter().zip(&by[b * seen..(b + 1) * seen]).map(|(x, y)| x * y).sum();
            h -= mixed(tree, a, b) + mixed(tree, b, a);
            let place = match (a, b) {
                (a, b) if a < k => {
                    let (i, j) = (plan.list[a], plan.list[b]);
                    tree.qq[i * n + j] += h;
                    if a != b {
                        tree.qq[j * n + i] += h;
                    }
                    continue;
                }
                (a, b) if a < 2 * k && b < k => {
                    tree.qu[plan.list[b] * n + plan.list[a - k]] += h;
                    continue;
                }
                (a, b) if a < 2 * k => {
                    let (i, j) = (plan.list[a - k], plan.list[b - k]);
                    tree.uu[i * n + j] += h;
                    if a != b {
                        tree.uu[j * n + i] += h;
                    }
                    continue;
                }
                (a, b) if b < 2 * k => plan.with_extra[b * plan.extra.len() + a - 2 * k],
                (a, b) => {
                    let (a, b) = (a - 2 * k, b - 2 * k);
                    plan.among_extra[a * (a + 1) / 2 + b]
                }
            };
            if let Some(value) = hessian.lower.value.get_mut(place) {
                *value += h;
            }
        }
    }
}
