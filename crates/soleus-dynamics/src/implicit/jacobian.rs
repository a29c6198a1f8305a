//! The Jacobians of the implicit equations, exact and sparse.
//!
//! The tree has its own recursive derivatives ([`InverseDynamicsDerivatives`]), in which every load moves with its
//! body. Changes of a load beyond that, in the frame of its body, are known in closed form for straight paths
//! ([`super::straight`]), and otherwise computed by dual numbers over a few coordinates at a time: the pose and
//! velocity of a body are known to first order from the twists, so no kinematics is repeated. A muscle depends only on
//! length, speed, excitation and its own states: dual numbers over those are followed by the chain rule through length
//! and speed.

use super::constraints::ConstraintDerivatives;
use super::sparse::SparseMatrix;
use super::{ImplicitSystem, path_law, to_ground};
use crate::joint::angles_rate;
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::InverseDynamicsDerivatives;
use crate::path::{CompiledPath, PathState};
use crate::system::{Actor, State, SystemForce, Workspace};
use soleus_math::{Dual, Real, SpatialVec, Transform, Vec3, vec3};

/// Coordinates differentiated at once.
pub(super) const CHUNK: usize = 8;
pub(super) type D = Dual<f64, CHUNK>;

/// ∂f/∂x, ∂f/∂ẋ, ∂f/∂e and ∂f/∂λ.
#[derive(Clone, Debug)]
pub struct ImplicitJacobian {
    /// With respect to the states (q, u, z).
    pub dx: SparseMatrix,
    /// With respect to their rates (q̇, u̇, ż).
    pub dxdot: SparseMatrix,
    /// With respect to the controls.
    pub du: SparseMatrix,
    /// With respect to the multipliers.
    pub dlambda: SparseMatrix,
}

/// How one path force changes, to first order.
#[derive(Clone, Debug, Default)]
pub(super) struct PathDerivative {
    /// Generalized force of a unit tension, by mobility of the path.
    pub f: Vec<f64>,
    /// ∂L/∂q, ∂L̇/∂q, ∂L̇/∂u.
    pub L_q: Vec<f64>,
    pub v_q: Vec<f64>,
    pub v_u: Vec<f64>,
    /// Tension by (L, L̇, e, z…, ż…).
    pub tension: [f64; LOCAL],
    /// Residual of each state by the same.
    pub residual: [[f64; LOCAL]; MAX_STATES],
}

/// Most states of one muscle, and the inputs it then has: L, L̇, e, states, rates.
pub(super) const MAX_STATES: usize = 3;
const LOCAL: usize = 3 + 2 * MAX_STATES;

/// Scratch memory for the Jacobians of one system, allocated once.
#[derive(Clone, Debug)]
pub struct JacobianWorkspace {
    pub(super) tree: InverseDynamicsDerivatives<f64>,
    pub(super) paths: Vec<PathDerivative>,
    /// Variables, gradient and Hessian of one length function.
    pub(super) variables: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    dual_paths: Vec<PathState<D>>,
    X_GB: Vec<Transform<D>>,
    V_GB: Vec<SpatialVec<D>>,
    q: Vec<D>,
    u: Vec<D>,
    body: Vec<SpatialVec<D>>,
    /// What the load on body b changes by variable c, as seen from the body, about the origin of ground: entry b n + c.
    pub(super) delta: Vec<SpatialVec<f64>>,
    mobility: Vec<D>,
    /// τ rows by q, u, z and e beyond the tree's own, dense.
    tau_z: Vec<f64>,
    tau_zdot: Vec<f64>,
    tau_e: Vec<f64>,
    /// Rates of plain forces' states by q and u, dense nz × n.
    z_q: Vec<f64>,
    z_u: Vec<f64>,
    z_z: Vec<f64>,
    z_e: Vec<f64>,
    unit_body: Vec<SpatialVec<f64>>,
    unit_mobility: Vec<f64>,
    unit_V: Vec<SpatialVec<f64>>,
    unit_u: Vec<f64>,
    /// Whether mobility j moves body b: entry b n + j.
    pub(super) moves: Vec<bool>,
    pub(super) constraints: ConstraintDerivatives,
}

impl JacobianWorkspace {
    /// Coordinates and speeds that do not change, and no load on them.
    fn hold_mobilities(&mut self, ws: &Workspace<f64>, mobilities: &[usize]) {
        for &m in mobilities {
            (self.q[m], self.u[m]) = (D::cst(ws.kin.q[m]), D::cst(ws.kin.u[m]));
            self.mobility[m] = D::zero();
        }
    }
}

impl ImplicitSystem<'_> {
    /// Memory for the Jacobians.
    pub fn jacobian(&self) -> ImplicitJacobian {
        let p = &self.pattern;
        ImplicitJacobian {
            dx: p.dx.clone(),
            dxdot: p.dxdot.clone(),
            du: p.du.clone(),
            dlambda: p.dlambda.clone(),
        }
    }

    /// Scratch memory for their computation.
    pub fn jacobian_workspace(&self) -> JacobianWorkspace {
        let s = &*self.system;
        let (n, nb, nz, ne) = (s.tree.num_mobilities, s.tree.nodes.len(), s.num_aux, s.num_controls);
        let mut moves = vec![false; nb * n];
        for b in 0..nb {
            for j in s.tree.supports(b) {
                moves[b * n + j] = true;
            }
        }
        let most = self.plan.direct.iter().flatten().map(Vec::len).max().unwrap_or(0);
        let paths = self.pattern.path.iter().map(|list| {
            let z = vec![0.0; list.len()];
            PathDerivative { f: z.clone(), L_q: z.clone(), v_q: z.clone(), v_u: z, ..Default::default() }
        });
        JacobianWorkspace {
            tree: InverseDynamicsDerivatives::new(&s.tree),
            paths: paths.collect(),
            variables: vec![0.0; most],
            gradient: vec![0.0; most],
            hessian: vec![0.0; most * most],
            dual_paths: s
                .forces
                .iter()
                .map(|f| f.path.as_ref().map_or_else(PathState::empty, PathState::new))
                .collect(),
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            q: vec![D::zero(); n],
            u: vec![D::zero(); n],
            body: vec![SpatialVec::zero(); nb],
            delta: vec![SpatialVec::zero(); nb * n],
            mobility: vec![D::zero(); n],
            tau_z: vec![0.0; n * nz],
            tau_zdot: vec![0.0; n * nz],
            tau_e: vec![0.0; n * ne],
            z_q: vec![0.0; nz * n],
            z_u: vec![0.0; nz * n],
            z_z: vec![0.0; nz * nz],
            z_e: vec![0.0; nz * ne],
            unit_body: vec![SpatialVec::zero(); nb],
            unit_mobility: vec![0.0; n],
            unit_V: vec![SpatialVec::zero(); nb],
            unit_u: vec![0.0; n],
            moves,
            constraints: ConstraintDerivatives::new(s),
        }
    }

    /// Residual and Jacobians together.
    #[allow(clippy::too_many_arguments)]
    pub fn compute_jacobian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        lambda: &[f64],
        ws: &mut Workspace<f64>,
        jw: &mut JacobianWorkspace,
        r: &mut [f64],
        jac: &mut ImplicitJacobian,
    ) {
        self.compute_residual(x, xdot, controls, lambda, ws, r);
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let (udot, zdot) = (&xdot[n..2 * n], &xdot[2 * n..]);

        // The tree, with all loads but gravity moving along with their bodies.
        self.subtract_gravity(ws);
        jw.tree.compute(&s.tree, &ws.kin, udot, s.gravity, &ws.body_load);
        let planned = self.plan.covers_all;
        if !planned {
            for m in [
                &mut jw.tau_z,
                &mut jw.tau_zdot,
                &mut jw.tau_e,
                &mut jw.z_q,
                &mut jw.z_u,
                &mut jw.z_z,
                &mut jw.z_e,
            ] {
                m.fill(0.0);
            }
        }
        self.direct_paths(ws, jw);

        // Loads as seen from their bodies, by coordinates and by speeds.
        let plan = &self.plan;
        if !(plan.moved.is_empty() && plan.points.is_empty()) {
            jw.delta.fill(SpatialVec::zero());
            for &i in &plan.points {
                match self.runs_straight(ws, i) {
                    true => self.straight_path(ws, jw, i),
                    false => self.bent_path(x, ws, jw, i),
                }
            }
            for columns in plan.moved_by.chunks(CHUNK) {
                self.lift_coordinates(ws, jw, &plan.moved_bodies, columns, &plan.moved_mobilities);
                self.plain_loads(x, controls, jw, columns, true);
            }
            self.subtract_changes(jw, true);
        }
        if !plan.moved.is_empty() {
            jw.delta.fill(SpatialVec::zero());
            for columns in plan.moved_by.chunks(CHUNK) {
                self.lift_speeds(ws, jw, &plan.moved_bodies, columns, &plan.moved_mobilities);
                self.plain_loads(x, controls, jw, columns, false);
            }
            self.subtract_changes(jw, false);
        }
        for &i in &self.pattern.plain {
            self.plain_force(x, controls, ws, jw, i);
        }
        for i in 0..s.forces.len() {
            if s.forces[i].enabled && s.forces[i].path.is_some() {
                self.path_force(x, controls, zdot, ws, jw, i);
            }
        }
        if planned {
            self.scatter_by_plan(x, jw, jac);
        } else {
            self.scatter(x, jw, jac);
        }
        if !s.constraints.list.is_empty() {
            self.constraint_rows(x, udot, lambda, ws, jw, jac);
        }
    }

    /// Poses and velocities of bodies, and coordinates and speeds of mobilities, to first order in the coordinates `columns`; no
    /// load on them yet.
    fn lift_coordinates(
        &self,
        ws: &Workspace<f64>,
        jw: &mut JacobianWorkspace,
        bodies: &[usize],
        columns: &[usize],
        mobilities: &[usize],
    ) {
        let n = self.system.tree.num_mobilities;
        let k = &ws.kin;
        for &b in bodies {
            let X = k.X_GB[b];
            let V = k.V_GB[b];
            let mut Xd: Transform<D> = Transform::cst(X);
            let mut Vd = SpatialVec::new(Vec3::cst(V.w), Vec3::cst(V.v));
            for (c, &j) in columns.iter().enumerate().filter(|(_, j)| jw.moves[b * n + **j]) {
                let (T, eta, V_O) = (jw.tree.twist[j], jw.tree.eta[j], jw.tree.V[b]);
                for axis in 0..3 {
                    set(&mut Xd.R.0.col[axis], c, T.w.cross(X.R.axis(axis)));
                }
                let dp = T.v + T.w.cross(X.p);
                set(&mut Xd.p, c, dp);
                // ∂V about the origin of ground, then about the body's origin, which moves too.
                let dw = T.w.cross(V_O.w) + eta.w;
                let dv = T.w.cross(V_O.v) + T.v.cross(V_O.w) + eta.v;
                set(&mut Vd.w, c, dw);
                set(&mut Vd.v, c, dv + dw.cross(X.p) + V.w.cross(dp));
            }
            (jw.X_GB[b], jw.V_GB[b], jw.body[b]) = (Xd, Vd, SpatialVec::zero());
        }
        jw.hold_mobilities(ws, mobilities);
        for (c, &j) in columns.iter().enumerate() {
            if mobilities.contains(&j) {
                jw.q[j].d[c] = 1.0;
            }
        }
    }

    /// The same to first order in the speeds `columns`.
    fn lift_speeds(
        &self,
        ws: &Workspace<f64>,
        jw: &mut JacobianWorkspace,
        bodies: &[usize],
        columns: &[usize],
        mobilities: &[usize],
    ) {
        let n = self.system.tree.num_mobilities;
        let k = &ws.kin;
        for &b in bodies {
            let mut Vd = SpatialVec::new(Vec3::cst(k.V_GB[b].w), Vec3::cst(k.V_GB[b].v));
            for (c, &j) in columns.iter().enumerate().filter(|(_, j)| jw.moves[b * n + **j]) {
                let S = jw.tree.S[j];
                set(&mut Vd.w, c, S.w);
                set(&mut Vd.v, c, S.v + S.w.cross(k.X_GB[b].p));
            }
            (jw.X_GB[b], jw.V_GB[b], jw.body[b]) = (Transform::cst(k.X_GB[b]), Vd, SpatialVec::zero());
        }
        jw.hold_mobilities(ws, mobilities);
        for (c, &j) in columns.iter().enumerate() {
            if mobilities.contains(&j) {
                jw.u[j].d[c] = 1.0;
            }
        }
    }

    /// Length, speed and load of a path around surfaces or through moving points, by its coordinates. By its speeds the load at a
    /// given tension does not change.
    fn bent_path(&self, x: &State<f64>, ws: &Workspace<f64>, jw: &mut JacobianWorkspace, i: usize) {
        let Some(p) = &self.system.forces[i].path else { return };
        let (bodies, mobilities) = (&self.plan.bodies[i], &self.plan.coordinates[i]);
        let mut first = 0;
        for columns in self.pattern.path[i].chunks(CHUNK) {
            self.lift_coordinates(ws, jw, bodies, columns, mobilities);
            let kin = Kinematics { time: D::cst(x.time), X_GB: &jw.X_GB, V_GB: &jw.V_GB, q: &jw.q, u: &jw.u };
            let (st, out) = (&mut jw.dual_paths[i], &mut jw.paths[i]);
            p.compute_position(&kin, st);
            p.compute_speed(&kin, st);
            for c in 0..columns.len() {
                (out.L_q[first + c], out.v_q[first + c]) = (st.length().d[c], st.speed().d[c]);
            }
            let mut loads = Loads { body: &mut jw.body, mobility: &mut jw.mobility };
            p.apply_tension(&kin, st, D::cst(ws.tension[i]), &mut loads);
            self.note_loads(jw, bodies, columns, mobilities, true);
            first += columns.len();
        }
    }

    /// Notes the loads of forces without a path as the poses and velocities at hand give them, and what the rates of their
    /// states change by the coordinates (`by_q`) or speeds `columns`.
    fn plain_loads(
        &self,
        x: &State<f64>,
        controls: &[f64],
        jw: &mut JacobianWorkspace,
        columns: &[usize],
        by_q: bool,
    ) {
        let (s, plan) = (&*self.system, &self.plan);
        let n = s.tree.num_mobilities;
        let kin = Kinematics { time: D::cst(x.time), X_GB: &jw.X_GB, V_GB: &jw.V_GB, q: &jw.q, u: &jw.u };
        let mut loads = Loads { body: &mut jw.body, mobility: &mut jw.mobility };
        let rates = if by_q { &mut jw.z_q } else { &mut jw.z_u };
        for &i in &plan.moved {
            let f = &s.forces[i];
            if let Actor::Force(law) = &f.actor {
                let e: [D; 6] = lift(&controls[f.controls.clone()]);
                let z: [D; MAX_STATES] = lift(&x.z[f.states.clone()]);
                let mut rate = [D::zero(); MAX_STATES];
                let nz = f.states.len();
                law.apply(&kin, &e[..f.controls.len()], &z[..nz], &mut rate[..nz], &mut loads);
                for (r, k) in rate.iter().zip(f.states.clone()) {
                    for (c, &j) in columns.iter().enumerate() {
                        rates[k * n + j] += r.d[c];
                    }
                }
            }
        }
        self.note_loads(jw, &plan.moved_bodies, columns, &plan.moved_mobilities, by_q);
    }

    /// Notes what the loads at hand change by the variables `columns`. `by_q`: beyond moving with their bodies, for the tree has
    /// counted that.
    fn note_loads(
        &self,
        jw: &mut JacobianWorkspace,
        bodies: &[usize],
        columns: &[usize],
        mobilities: &[usize],
        by_q: bool,
    ) {
        let n = self.system.tree.num_mobilities;
        for &b in bodies {
            let f = to_ground(jw.body[b], jw.X_GB[b].p);
            let F = SpatialVec::new(f.w.value(), f.v.value());
            for (c, &j) in columns.iter().enumerate() {
                let mut change = SpatialVec::new(part(f.w, c), part(f.v, c));
                if by_q && jw.moves[b * n + j] {
                    let T = jw.tree.twist[j];
                    change -= SpatialVec::new(T.w.cross(F.w) + T.v.cross(F.v), T.w.cross(F.v));
                }
                jw.delta[b * n + j] += change;
            }
        }
        let matrix = if by_q { &mut jw.tree.dtau_dq } else { &mut jw.tree.dtau_du };
        for &m in mobilities {
            for (c, &j) in columns.iter().enumerate() {
                matrix[m * n + j] -= jw.mobility[m].d[c];
            }
        }
    }

    /// Takes what the loads on bodies change off the τ rows: −Sᵀ Δ, Δ summed over subtrees.
    fn subtract_changes(&self, jw: &mut JacobianWorkspace, by_q: bool) {
        let tree = &self.system.tree;
        let n = tree.num_mobilities;
        let matrix = if by_q { &mut jw.tree.dtau_dq } else { &mut jw.tree.dtau_du };
        for b in (1..tree.nodes.len()).rev() {
            let node = &tree.nodes[b];
            let (before, from_here) = jw.delta.split_at_mut(b * n);
            let changes = &from_here[..n];
            for i in node.u0..node.u0 + node.nu {
                let S = jw.tree.S[i];
                for (entry, &change) in matrix[i * n..(i + 1) * n].iter_mut().zip(changes) {
                    *entry -= S.dot(change);
                }
            }
            if node.parent != 0 {
                for (sum, &change) in before[node.parent * n..(node.parent + 1) * n].iter_mut().zip(changes) {
                    *sum += change;
                }
            }
        }
    }

    /// A force without a path by its own controls and states.
    fn plain_force(
        &self,
        x: &State<f64>,
        controls: &[f64],
        ws: &Workspace<f64>,
        jw: &mut JacobianWorkspace,
        i: usize,
    ) {
        let s = &*self.system;
        let (n, nz_all, ne_all) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
        let f = &s.forces[i];
        let Actor::Force(law) = &f.actor else { return };
        let (ne, nz) = (f.controls.len(), f.states.len());
        if ne + nz == 0 {
            return;
        }
        let mut e: [D; 6] = lift(&controls[f.controls.clone()]);
        let mut z: [D; MAX_STATES] = lift(&x.z[f.states.clone()]);
        for (d, y) in e[..ne].iter_mut().chain(&mut z[..nz]).enumerate() {
            y.d[d] = 1.0;
        }
        let (bodies, mobilities) = &self.plan.touches[i];
        for &b in bodies {
            jw.X_GB[b] = Transform::cst(ws.kin.X_GB[b]);
            jw.V_GB[b] = SpatialVec::new(Vec3::cst(ws.kin.V_GB[b].w), Vec3::cst(ws.kin.V_GB[b].v));
            jw.body[b] = SpatialVec::zero();
        }
        jw.hold_mobilities(ws, mobilities);
        let mut rate = [D::zero(); MAX_STATES];
        let kin = Kinematics { time: D::cst(x.time), X_GB: &jw.X_GB, V_GB: &jw.V_GB, q: &jw.q, u: &jw.u };
        let mut loads = Loads { body: &mut jw.body, mobility: &mut jw.mobility };
        law.apply(&kin, &e[..ne], &z[..nz], &mut rate[..nz], &mut loads);

        // τ rows: minus the generalized force.
        let mut add = |row: usize, d: usize, value: f64| {
            if d < ne {
                jw.tau_e[row * ne_all + f.controls.start + d] -= value;
            } else {
                jw.tau_z[row * nz_all + f.states.start + d - ne] -= value;
            }
        };
        for &m in mobilities {
            for d in 0..ne + nz {
                add(m, d, jw.mobility[m].d[d]);
            }
        }
        for (k, &b) in bodies.iter().enumerate() {
            if bodies[..k].contains(&b) {
                continue;
            }
            let F = to_ground(jw.body[b], jw.X_GB[b].p);
            for j in (0..n).filter(|&j| jw.moves[b * n + j]) {
                let S = jw.tree.S[j];
                for d in 0..ne + nz {
                    add(j, d, S.w.dot(part(F.w, d)) + S.v.dot(part(F.v, d)));
                }
            }
        }
        for (r, k) in rate[..nz].iter().zip(f.states.clone()) {
            for d in 0..ne + nz {
                if d < ne {
                    jw.z_e[k * ne_all + f.controls.start + d] += r.d[d];
                } else {
                    jw.z_z[k * nz_all + f.states.start + d - ne] += r.d[d];
                }
            }
        }
    }

    /// A force along a path: its local derivatives, then the chain rule through length and speed.
    #[allow(clippy::too_many_arguments)]
    fn path_force(
        &self,
        x: &State<f64>,
        controls: &[f64],
        zdot: &[f64],
        ws: &mut Workspace<f64>,
        jw: &mut JacobianWorkspace,
        i: usize,
    ) {
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let f = &s.forces[i];
        let list = &self.pattern.path[i];
        local_derivatives(f, x, controls, zdot, &ws.paths[i], &mut jw.paths[i]);
        if let Some(p) = &f.path {
            self.unit_load(x, ws, jw, i, p);
        }

        // τ −= f T(L, L̇, e, z, ż).
        let d = &jw.paths[i];
        let nz = f.states.len();
        for (a, &row) in list.iter().enumerate() {
            let fa = d.f[a];
            for (b, &col) in list.iter().enumerate() {
                jw.tree.dtau_dq[row * n + col] -= fa * (d.tension[0] * d.L_q[b] + d.tension[1] * d.v_q[b]);
                jw.tree.dtau_du[row * n + col] -= fa * d.tension[1] * d.v_u[b];
            }
            if self.plan.covers_all {
                continue;
            }
            for (k, z) in f.states.clone().enumerate() {
                jw.tau_z[row * s.num_aux + z] -= fa * d.tension[3 + k];
                jw.tau_zdot[row * s.num_aux + z] -= fa * d.tension[3 + nz + k];
            }
            for e in f.controls.clone() {
                jw.tau_e[row * s.num_controls + e] -= fa * d.tension[2];
            }
        }
    }

    /// Generalized force of a unit tension and ∂L̇/∂u, by mobility of the path.
    fn unit_load(
        &self,
        x: &State<f64>,
        ws: &mut Workspace<f64>,
        jw: &mut JacobianWorkspace,
        i: usize,
        path: &CompiledPath,
    ) {
        let tree = &self.system.tree;
        let n = tree.num_mobilities;
        let list = &self.pattern.path[i];
        if self.pattern.consistent[i] {
            // f = −∂L/∂q, turned from angles to angular velocity where speeds are one; L̇ = −f·u.
            let d = &mut jw.paths[i];
            for (a, &j) in list.iter().enumerate() {
                let gradient = match tree.angular[j] {
                    None => d.L_q[a],
                    Some(u0) => {
                        let q = vec3(x.q[u0], x.q[u0 + 1], x.q[u0 + 2]);
                        let rate = angles_rate(q, Vec3::unit(j - u0));
                        (0..3)
                            .filter_map(|k| Some(d.L_q[list.iter().position(|&l| l == u0 + k)?] * rate[k]))
                            .sum()
                    }
                };
                d.f[a] = if path.pulls(j) { -gradient } else { 0.0 };
                d.v_u[a] = gradient;
            }
            return;
        }
        let bodies = &self.plan.bodies[i];
        for &b in bodies {
            jw.unit_body[b] = SpatialVec::zero();
        }
        for &j in list {
            jw.unit_mobility[j] = 0.0;
        }
        let kin = ws.kin.view(x.time);
        let mut loads = Loads { body: &mut jw.unit_body, mobility: &mut jw.unit_mobility };
        path.apply_tension(&kin, &ws.paths[i], 1.0, &mut loads);
        for (a, &j) in list.iter().enumerate() {
            let mut f = jw.unit_mobility[j];
            for &b in bodies.iter().filter(|&&b| jw.moves[b * n + j]) {
                f += jw.tree.S[j].dot(to_ground(jw.unit_body[b], ws.kin.X_GB[b].p));
            }
            jw.paths[i].f[a] = f;
        }
        // L̇ is linear in the speeds: one unit speed after the other.
        let st = &mut ws.paths[i];
        let speed = st.speed();
        for (a, &j) in list.iter().enumerate() {
            for &b in bodies {
                jw.unit_V[b] = if jw.moves[b * n + j] {
                    let S = jw.tree.S[j];
                    SpatialVec::new(S.w, S.v + S.w.cross(ws.kin.X_GB[b].p))
                } else {
                    SpatialVec::zero()
                };
            }
            jw.unit_u[j] = 1.0;
            let unit = Kinematics {
                time: x.time,
                X_GB: &ws.kin.X_GB,
                V_GB: &jw.unit_V,
                q: &ws.kin.q,
                u: &jw.unit_u,
            };
            path.compute_speed(&unit, st);
            jw.paths[i].v_u[a] = st.speed();
            jw.unit_u[j] = 0.0;
        }
        st.set_speed(speed);
    }

    /// Writes all but the constraints' entries into the sparse matrices.
    fn scatter(&self, x: &State<f64>, jw: &JacobianWorkspace, jac: &mut ImplicitJacobian) {
        let s = &*self.system;
        let tree = &s.tree;
        let (n, nz, ne) = (tree.num_mobilities, s.num_aux, s.num_controls);
        let rz = 2 * n;

        // Kinematic and τ rows; the rest starts from zero.
        let tau = |m: &[f64], width: usize, row: usize, col: usize| m[(row - n) * width + col];
        for col in 0..2 * n + nz {
            for k in jac.dx.start[col]..jac.dx.start[col + 1] {
                let row = jac.dx.row[k];
                jac.dx.value[k] = match (row, col) {
                    (r, c) if r < n => self.kinematic_entry(x, r, c),
                    (r, c) if r < rz && c < n => tau(&jw.tree.dtau_dq, n, r, c),
                    (r, c) if r < rz && c < rz => tau(&jw.tree.dtau_du, n, r, c - n),
                    (r, c) if r < rz => tau(&jw.tau_z, nz, r, c - rz),
                    (r, c) if r < rz + nz && c < n => -jw.z_q[(r - rz) * n + c],
                    (r, c) if r < rz + nz && c < rz => -jw.z_u[(r - rz) * n + c - n],
                    (r, c) if r < rz + nz => -jw.z_z[(r - rz) * nz + c - rz],
                    _ => 0.0,
                };
            }
            for k in jac.dxdot.start[col]..jac.dxdot.start[col + 1] {
                let row = jac.dxdot.row[k];
                jac.dxdot.value[k] = match (row, col) {
                    (r, c) if r < n => f64::from(u8::from(r == c)),
                    (r, c) if r < rz && (n..rz).contains(&c) => tau(&jw.tree.mass, n, r, c - n),
                    (r, c) if r < rz && c >= rz => tau(&jw.tau_zdot, nz, r, c - rz),
                    (r, c) if r < rz + nz => f64::from(u8::from(r == c)),
                    _ => 0.0,
                };
            }
        }
        for col in 0..ne {
            for k in jac.du.start[col]..jac.du.start[col + 1] {
                let row = jac.du.row[k];
                jac.du.value[k] = match row {
                    r if r < n => 0.0,
                    r if r < rz => tau(&jw.tau_e, ne, r, col),
                    r if r < rz + nz => -jw.z_e[(r - rz) * ne + col],
                    _ => 0.0,
                };
            }
        }
        // Residuals of muscles and other path forces.
        let put = |m: &mut SparseMatrix, row: usize, col: usize, value: f64| {
            if let Some(k) = m.position(row, col) {
                m.value[k] = value;
            }
        };
        for (i, f) in s.forces.iter().enumerate() {
            if f.path.is_none() || !f.enabled {
                continue;
            }
            let (d, count) = (&jw.paths[i], f.states.len());
            for (r, z) in f.states.clone().enumerate() {
                let g = &d.residual[r];
                for (a, &j) in self.pattern.path[i].iter().enumerate() {
                    put(&mut jac.dx, rz + z, j, g[0] * d.L_q[a] + g[1] * d.v_q[a]);
                    put(&mut jac.dx, rz + z, n + j, g[1] * d.v_u[a]);
                }
                for (k, c) in f.states.clone().enumerate() {
                    put(&mut jac.dx, rz + z, rz + c, g[3 + k]);
                    put(&mut jac.dxdot, rz + z, rz + c, g[3 + count + k]);
                }
                for e in f.controls.clone() {
                    put(&mut jac.du, rz + z, e, g[2]);
                }
            }
        }
    }

    /// ∂(q̇ − N(q) u)/∂(q or u).
    pub(super) fn kinematic_entry(&self, x: &State<f64>, row: usize, col: usize) -> f64 {
        let n = x.q.len();
        let Some(u0) = self.system.tree.angular[row] else {
            return if col == n + row { -1.0 } else { 0.0 };
        };
        let at = |v: &[f64]| vec3(v[u0], v[u0 + 1], v[u0 + 2]);
        if col >= n {
            return -angles_rate(at(&x.q), Vec3::unit(col - n - u0))[row - u0];
        }
        let mut q: Vec3<Dual<f64, 1>> = Vec3::cst(at(&x.q));
        q[col - u0].d[0] = 1.0;
        -angles_rate(q, Vec3::cst(at(&x.u)))[row - u0].d[0]
    }
}

/// Derivatives of tension and residuals by length, speed, excitation, states and rates.
fn local_derivatives(
    f: &SystemForce,
    x: &State<f64>,
    controls: &[f64],
    zdot: &[f64],
    path: &PathState<f64>,
    out: &mut PathDerivative,
) {
    // A force with three states has more inputs than directions, and goes twice: another size would compile every law again.
    let nz = f.states.len();
    for first in (0..3 + 2 * nz).step_by(CHUNK) {
        let count = CHUNK.min(3 + 2 * nz - first);
        let variable = |v: f64, i: usize| match i.checked_sub(first) {
            Some(i) if i < CHUNK => D::variable(v, i),
            _ => D::cst(v),
        };
        let control = controls[f.controls.clone()].first().copied().unwrap_or(0.0);
        let inputs = [variable(path.length(), 0), variable(path.speed(), 1), variable(control, 2)];
        let (mut z, mut rate, mut r) =
            ([D::zero(); MAX_STATES], [D::zero(); MAX_STATES], [D::zero(); MAX_STATES]);
        for (k, i) in f.states.clone().enumerate() {
            z[k] = variable(x.z[i], 3 + k);
            rate[k] = variable(zdot[i], 3 + nz + k);
        }
        let tension = path_law(&f.actor, inputs, &z[..nz], &rate[..nz], &mut r[..nz]);
        out.tension[first..first + count].copy_from_slice(&tension.d[..count]);
        for k in 0..nz {
            out.residual[k][first..first + count].copy_from_slice(&r[k].d[..count]);
        }
    }
}

/// Numbers as dual constants, in an array of fixed size.
fn lift<const N: usize>(x: &[f64]) -> [D; N] {
    std::array::from_fn(|i| D::cst(x.get(i).copied().unwrap_or(0.0)))
}

/// Direction `c` of a dual vector.
#[inline(always)]
fn part(v: Vec3<D>, c: usize) -> Vec3<f64> {
    vec3(v.x.d[c], v.y.d[c], v.z.d[c])
}

#[inline(always)]
fn set(v: &mut Vec3<D>, c: usize, d: Vec3<f64>) {
    (v.x.d[c], v.y.d[c], v.z.d[c]) = (d.x, d.y, d.z);
}
