//! Forces along paths: second derivatives of length, speed and load, chained with those of the law.
//!
//! With p(q) = −(power of the load of a unit tension on the weights' motion), T the tension, ρ the weighted residuals of the
//! force's states and ζ = (e, z, ż),
//!
//!   φ = p(q) T(L, L̇, ζ) + ρ(L, L̇, ζ),   L(q),   L̇(q, u)                                         (1)
//!
//! For a path that is a function of coordinates p and L̇ are derivatives of L along the weights and along the speeds, and
//! their Hessians third derivatives of L.

use super::super::jacobian::MAX_STATES;
use super::super::sparse::SparseMatrix;
use super::super::{ImplicitSystem, path_law};
use super::scratch::{FEW, PathJets};
use super::{HessianWorkspace, ImplicitHessian, rounds};
use crate::joint::JointMotion;
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{InverseDynamicsHessian, Moved, move_body};
use crate::path::CompiledPath;
use crate::system::{Actor, State, SystemForce, Workspace};
use soleus_math::{Dual, Jet, Real, SpatialVec, Transform, Vec3};

/// What one path force needs, found once.
#[derive(Clone, Debug)]
pub(super) struct PathPlan {
    pub force: usize,
    /// Mobilities that matter to it.
    list: Vec<usize>,
    how: How,
    /// Places of (variable of the path, ζ), and of (ζ, ζ′ ≤ ζ).
    with_zeta: Vec<usize>,
    zeta: Vec<usize>,
    /// Position of each ζ in w.
    variables: Vec<usize>,
}

/// How the path is differentiated.
#[derive(Clone, Debug)]
enum How {
    /// A function of coordinates; its variables as positions in the list.
    Function(Vec<usize>),
    /// Jets through its points.
    Points {
        /// Coordinates alone: load and speed follow from the length.
        consistent: bool,
        /// Nodes to move, from ground outwards, and bodies that stay.
        moving: Vec<usize>,
        still: Vec<usize>,
        /// Bodies that it pulls on, but for ground, and coordinates that it sees directly.
        bodies: Vec<usize>,
        coordinates: Vec<usize>,
        rounds: Vec<Vec<usize>>,
    },
}

impl PathPlan {
    /// Whether it needs jets through points.
    pub fn has_points(&self) -> bool {
        matches!(self.how, How::Points { .. })
    }

    /// Whether small jets hold all variables of its points.
    pub fn crosses_few(&self) -> bool {
        matches!(&self.how, How::Points { rounds, .. } if rounds.iter().all(|r| r.len() <= FEW))
    }

    pub fn num_mobilities(&self) -> usize {
        self.list.len()
    }
}

/// Length, speed and load of one path to second order in its coordinates, then speeds.
#[derive(Clone, Debug)]
pub(super) struct PathSecond {
    /// p of (1).
    p: f64,
    L_x: Vec<f64>,
    v_x: Vec<f64>,
    p_x: Vec<f64>,
    L_xx: Vec<f64>,
    v_xx: Vec<f64>,
    p_xx: Vec<f64>,
    /// Variables, gradient and Hessian of a length function, with derivatives along weights and speeds.
    variables: Vec<Dual<f64, 2>>,
    gradient: Vec<Dual<f64, 2>>,
    hessian: Vec<Dual<f64, 2>>,
}

impl PathSecond {
    pub fn new(mobilities: usize) -> Self {
        let (m, zero) = (2 * mobilities, Dual::zero());
        let (first, second) = (vec![0.0; m], vec![0.0; m * m]);
        PathSecond {
            p: 0.0,
            L_x: first.clone(),
            v_x: first.clone(),
            p_x: first,
            L_xx: second.clone(),
            v_xx: second.clone(),
            p_xx: second,
            variables: vec![zero; m],
            gradient: vec![zero; m],
            hessian: vec![zero; m * m],
        }
    }

    fn clear(&mut self) {
        self.p = 0.0;
        for x in [&mut self.L_x, &mut self.v_x, &mut self.p_x, &mut self.L_xx, &mut self.v_xx, &mut self.p_xx]
        {
            x.fill(0.0);
        }
    }
}

impl ImplicitSystem<'_> {
    pub(super) fn path_plans(&self, lower: &SparseMatrix) -> Vec<PathPlan> {
        let (s, w) = (&*self.system, self.layout());
        let mut plans = Vec::new();
        for (i, f) in s.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            let Some(path) = &f.path else { continue };
            let list = self.pattern.path[i].clone();
            let k = list.len();
            let how = match &self.plan.direct[i] {
                Some(map) => How::Function(map.clone()),
                None => {
                    let consistent =
                        self.pattern.consistent[i] && list.iter().all(|&j| s.tree.angular[j].is_none());
                    let count = if consistent { k } else { 2 * k };
                    let (mut moving, mut still) = (Vec::new(), path.bodies());
                    for body in path.bodies() {
                        let mut b = body;
                        while b != 0 {
                            moving.push(b);
                            b = s.tree.nodes[b].parent;
                        }
                    }
                    moving.sort_unstable();
                    moving.dedup();
                    still.extend(&moving);
                    still.extend(moving.iter().map(|&b| s.tree.nodes[b].parent));
                    moving.retain(|&b| s.tree.supports(b).iter().any(|j| list.contains(j)));
                    still.retain(|b| !moving.contains(b));
                    still.sort_unstable();
                    still.dedup();
                    let (mut bodies, mut coordinates) = (path.bodies(), path.coordinates());
                    for list in [&mut bodies, &mut coordinates] {
                        list.sort_unstable();
                        list.dedup();
                    }
                    bodies.retain(|&b| b != 0);
                    let rounds = rounds(count);
                    How::Points { consistent, moving, still, bodies, coordinates, rounds }
                }
            };
            // ζ in the order of the law's inputs: e, z, ż.
            let mut variables = vec![f.controls.clone().next().map_or(usize::MAX, |e| w.e + e)];
            variables.extend(f.states.clone().map(|z| w.z + z));
            variables.extend(f.states.clone().map(|z| w.zdot + z));
            let place = |a: usize, b: usize| match a.max(b) {
                usize::MAX => usize::MAX,
                row => lower.position(row, a.min(b)).unwrap_or(usize::MAX),
            };
            let own = list.iter().copied().chain(list.iter().map(|j| w.u + j));
            let with_zeta =
                own.flat_map(|x| variables.iter().map(move |&z| (x, z))).map(|(x, z)| place(x, z));
            let with_zeta = with_zeta.collect();
            let mut zeta = Vec::new();
            for (a, &x) in variables.iter().enumerate() {
                zeta.extend(variables[..=a].iter().map(|&y| place(x, y)));
            }
            plans.push(PathPlan { force: i, list, how, with_zeta, zeta, variables });
        }
        plans
    }

    /// Adds the forces along paths.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn path_hessians(
        &self,
        x: &State<f64>,
        controls: &[f64],
        zdot: &[f64],
        y_u: &[f64],
        y_z: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let HessianWorkspace { ws, tree, paths, path, jets, .. } = hw;
        for plan in paths.iter() {
            let f = &self.system.forces[plan.force];
            path.clear();
            match &plan.how {
                How::Function(map) => self.function_path(plan, map, &ws.kin.q, &ws.kin.u, y_u, path),
                How::Points { .. } if plan.crosses_few() => {
                    self.points_path(plan, x.time, ws, tree, y_u, &mut jets.few_paths, path);
                }
                How::Points { .. } => {
                    self.points_path(plan, x.time, ws, tree, y_u, &mut jets.many_paths, path)
                }
            }
            let mut inputs = [0.0; 3 + 2 * MAX_STATES];
            inputs[0] = ws.paths[plan.force].length();
            inputs[1] = ws.paths[plan.force].speed();
            inputs[2] = controls[f.controls.clone()].first().copied().unwrap_or(0.0);
            let nz = f.states.len();
            inputs[3..3 + nz].copy_from_slice(&x.z[f.states.clone()]);
            inputs[3 + nz..3 + 2 * nz].copy_from_slice(&zdot[f.states.clone()]);
            let y_z = &y_z[f.states.clone()];
            match nz {
                0..=2 => chain::<7, 28>(plan, f, &inputs, y_z, path, tree, hessian),
                _ => chain::<9, 45>(plan, f, &inputs, y_z, path, tree, hessian),
            }
        }
    }

    /// A path that is a function of coordinates: L, and along weights y and speeds u its derivatives p = ∂L·y, L̇ = ∂L·u.
    fn function_path(
        &self,
        plan: &PathPlan,
        map: &[usize],
        q: &[f64],
        u: &[f64],
        y: &[f64],
        out: &mut PathSecond,
    ) {
        let Some(CompiledPath::Function(path)) = &self.system.forces[plan.force].path else { return };
        let (k, m) = (map.len(), 2 * plan.list.len());
        // Weights of coordinates that feel no torque do not count.
        let weight = |j: usize| if path.pulls(j) { y[j] } else { 0.0 };
        let along = |j: usize| Dual::new(q[j], [weight(j), u[j]]);
        path.compute_hessian(
            along,
            &mut out.variables[..k],
            &mut out.gradient[..k],
            &mut out.hessian[..k * k],
        );
        let speed = plan.list.len();
        for (a, &to) in map.iter().enumerate() {
            let g = out.gradient[a];
            out.p += g.v * weight(plan.list[to]);
            out.L_x[to] += g.v;
            out.p_x[to] += g.d[0];
            out.v_x[to] += g.d[1];
            out.v_x[speed + to] += g.v;
            for (b, &from) in map.iter().enumerate() {
                let h = out.hessian[a * k + b];
                out.L_xx[to * m + from] += h.v;
                out.p_xx[to * m + from] += h.d[0];
                out.v_xx[to * m + from] += h.d[1];
                out.v_xx[to * m + speed + from] += h.v;
                out.v_xx[(speed + from) * m + to] += h.v;
            }
        }
    }

    /// A path through points, by jets over its coordinates, and over its speeds where they do not follow from the length.
    #[allow(clippy::too_many_arguments)]
    fn points_path<const N: usize, const H: usize>(
        &self,
        plan: &PathPlan,
        time: f64,
        ws: &Workspace<f64>,
        tree: &InverseDynamicsHessian,
        y: &[f64],
        jets: &mut PathJets<N, H>,
        out: &mut PathSecond,
    ) {
        let s = &*self.system;
        let (How::Points { consistent, moving, still, bodies, coordinates, rounds, .. }, Some(path)) =
            (&plan.how, &s.forces[plan.force].path)
        else {
            return;
        };
        let (k, m) = (plan.list.len(), 2 * plan.list.len());
        let cst = |v: Vec3<f64>| Vec3::<Jet<N, H>>::cst(v);
        for &b in still {
            let (X, V, W) = (ws.kin.X_GB[b], ws.kin.V_GB[b], tree.W[b]);
            jets.X_GB[b] = Transform::cst(X);
            jets.V_GB[b] = SpatialVec::new(cst(V.w), cst(V.v));
            jets.W_GB[b] = SpatialVec::new(cst(W.w), cst(W.v + W.w.cross(X.p)));
        }
        for round in rounds {
            // Coordinates and speeds of the joints that move, some of them variables of this round.
            for &b in moving {
                let node = &s.tree.nodes[b];
                for j in node.u0..node.u0 + node.nu {
                    (jets.q[j], jets.u[j]) = (Jet::cst(ws.kin.q[j]), Jet::cst(ws.kin.u[j]));
                }
            }
            for &j in coordinates {
                (jets.q[j], jets.u[j]) = (Jet::cst(ws.kin.q[j]), Jet::cst(ws.kin.u[j]));
            }
            for (d, &v) in round.iter().enumerate() {
                let j = plan.list[v % k];
                (if v < k { &mut jets.q[j] } else { &mut jets.u[j] }).g[d] = 1.0;
            }
            for &b in moving {
                let node = &s.tree.nodes[b];
                let X_GP = jets.X_GB[node.parent];
                let mut motion = JointMotion::rest();
                let Moved { R_GB, p_PB, V_GB, .. } = move_body(
                    node,
                    X_GP.R,
                    jets.V_GB[node.parent],
                    &jets.q,
                    &jets.u,
                    &mut motion,
                    &mut jets.H_B,
                );
                jets.X_GB[b] = Transform::new(R_GB, X_GP.p + p_PB);
                jets.V_GB[b] = V_GB;
                let mut W = jets.W_GB[node.parent].velocity_shifted(p_PB);
                for j in node.u0..node.u0 + node.nu {
                    W += jets.H_B[j] * Jet::cst(y[j]);
                }
                jets.W_GB[b] = W;
            }
            for &b in bodies {
                jets.body[b] = SpatialVec::zero();
            }
            for &j in coordinates {
                jets.mobility[j] = Jet::zero();
            }
            let kin = Kinematics {
                time: Jet::cst(time),
                X_GB: &jets.X_GB,
                V_GB: &jets.V_GB,
                q: &jets.q,
                u: &jets.u,
            };
            let st = &mut jets.paths[plan.force];
            path.compute_position(&kin, st);
            path.compute_speed(&kin, st);
            let mut loads = Loads { body: &mut jets.body, mobility: &mut jets.mobility };
            path.apply_tension(&kin, st, Jet::one(), &mut loads);
            let (L, v) = (st.length(), st.speed());
            let mut p = Jet::zero();
            for &b in bodies {
                p -= jets.W_GB[b].dot(jets.body[b]);
            }
            for &j in coordinates {
                p -= jets.mobility[j] * y[j];
            }
            out.p = p.v;
            for (a, &to) in round.iter().enumerate() {
                (out.L_x[to], out.v_x[to], out.p_x[to]) = (L.g[a], v.g[a], p.g[a]);
                for (b, &from) in round.iter().enumerate() {
                    let at = to * m + from;
                    (out.L_xx[at], out.v_xx[at], out.p_xx[at]) =
                        (L.second(a, b), v.second(a, b), p.second(a, b));
                }
            }
        }
        if *consistent {
            // L̇ = ∂L·u.
            for a in 0..k {
                out.v_x[k + a] = out.L_x[a];
                for b in 0..k {
                    let h = out.L_xx[a * m + b];
                    (out.v_xx[a * m + k + b], out.v_xx[(k + b) * m + a]) = (h, h);
                }
            }
        }
    }
}

/// Second derivatives of (1).
fn chain<const K: usize, const H: usize>(
    plan: &PathPlan,
    f: &SystemForce,
    inputs: &[f64],
    y_z: &[f64],
    path: &PathSecond,
    tree: &mut InverseDynamicsHessian,
    hessian: &mut ImplicitHessian,
) {
    let nz = f.states.len();
    let x: [Jet<K, H>; K] = std::array::from_fn(|i| Jet::variable(inputs[i], i));
    let mut r = [Jet::<K, H>::zero(); MAX_STATES];
    if matches!(&f.actor, Actor::Force(c) if c.path_force().is_none()) {
        return;
    }
    let inputs = 3 + 2 * nz;
    let T = path_law(&f.actor, [x[0], x[1], x[2]], &x[3..3 + nz], &x[3 + nz..inputs], &mut r[..nz]);
    let mut phi = T * path.p;
    for (r, &y) in r.iter().zip(y_z) {
        phi += *r * y;
    }
    let (list, k) = (&plan.list, plan.list.len());
    let (m, n) = (2 * k, tree.q.len());
    let (LL, Lv, vv) = (phi.second(0, 0), phi.second(0, 1), phi.second(1, 1));
    for a in 0..m {
        let (La, va, pa) = (path.L_x[a], path.v_x[a], path.p_x[a]);
        let Ta = T.g[0] * La + T.g[1] * va;
        let first = phi.g[0] * La + phi.g[1] * va + T.v * pa;
        if a < k {
            tree.q[list[a]] += first;
        } else {
            tree.u[list[a - k]] += first;
        }
        let (toL, tov) = (LL * La + Lv * va + T.g[0] * pa, Lv * La + vv * va + T.g[1] * pa);
        for b in 0..m {
            if a >= k && b < k {
                continue;
            }
            let at = a * m + b;
            let h = phi.g[0] * path.L_xx[at]
                + phi.g[1] * path.v_xx[at]
                + T.v * path.p_xx[at]
                + toL * path.L_x[b]
                + tov * path.v_x[b]
                + Ta * path.p_x[b];
            match (a < k, b < k) {
                (true, true) => tree.qq[list[a] * n + list[b]] += h,
                (true, false) => tree.qu[list[a] * n + list[b - k]] += h,
                _ => tree.uu[list[a - k] * n + list[b - k]] += h,
            }
        }
        for z in 2..inputs {
            let place = plan.with_zeta[a * (inputs - 2) + z - 2];
            if let Some(value) = hessian.lower.value.get_mut(place) {
                *value += phi.second(0, z) * La + phi.second(1, z) * va + T.g[z] * pa;
            }
        }
    }
    for a in 2..inputs {
        if let Some(g) = hessian.gradient.get_mut(plan.variables[a - 2]) {
            *g += phi.g[a];
        }
        for b in 2..=a {
            let (row, col) = (a - 2, b - 2);
            if let Some(value) = hessian.lower.value.get_mut(plan.zeta[row * (row + 1) / 2 + col]) {
                *value += phi.second(a, b);
            }
        }
    }
}
