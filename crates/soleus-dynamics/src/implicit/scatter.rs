//! Positions of the parts of the Jacobians, determined once, so that filling them is a list of assignments.

use super::ImplicitSystem;
use super::jacobian::{ImplicitJacobian, JacobianWorkspace};
use super::pattern::Pattern;
use super::sparse::SparseMatrix;
use crate::path::CompiledPath;
use crate::system::{Actor, State, System, Workspace};

/// Places of one path force in the sparse matrices; for each list the mobility of the path (or the state) of the column
/// runs fastest.
#[derive(Clone, Debug, Default)]
struct PathPlaces {
    force: usize,
    /// (mobility, state): τ rows by states and by their rates.
    tau_z: Vec<usize>,
    tau_zdot: Vec<usize>,
    /// By mobility: τ rows by the control.
    tau_e: Vec<usize>,
    /// (state, mobility): rows of the states by coordinates and speeds.
    z_q: Vec<usize>,
    z_u: Vec<usize>,
    /// (state, state), and by the rates.
    z_z: Vec<usize>,
    z_zdot: Vec<usize>,
    /// By state: rows of the states by the control.
    z_e: Vec<usize>,
}

/// The plan of a system.
#[derive(Clone, Debug, Default)]
pub(super) struct ScatterPlan {
    /// Whether the plan says everything: only muscles and other path forces have states or controls.
    pub covers_all: bool,
    /// (place in ∂f/∂x, place in the dense matrix) of the τ rows by coordinates and by speeds; in ∂f/∂ẋ the mass matrix.
    dtau_dq: Vec<(usize, usize)>,
    dtau_du: Vec<(usize, usize)>,
    mass: Vec<(usize, usize)>,
    /// (place, row, column) of the kinematic rows.
    kinematic: Vec<(usize, usize, usize)>,
    /// Entries of ∂f/∂ẋ that are one.
    ones: Vec<usize>,
    paths: Vec<PathPlaces>,
    /// (row r, mobility j, place of G_rj in ∂f/∂ẋ, place in ∂f/∂λ) of the constraints.
    pub constraints: Vec<(usize, usize, usize, usize)>,
    /// Bodies that the path of each force touches; empty without a path.
    pub bodies: Vec<Vec<usize>>,
    /// Bodies and mobilities that each force without a path reads or acts on.
    pub touches: Vec<(Vec<usize>, Vec<usize>)>,
    /// For a force on a function-based path whose load is the gradient of its length: the variables of that function as
    /// positions in the force's list of mobilities.
    pub direct: Vec<Option<Vec<usize>>>,
    /// Forces on paths through points, or on functions whose load is not the gradient of their length.
    pub points: Vec<usize>,
    /// Coordinates that the path of each force sees directly.
    pub coordinates: Vec<Vec<usize>>,
    /// Forces without a path that depend on coordinates or speeds; the bodies and mobilities that they read or act on, and the
    /// mobilities that move those.
    pub moved: Vec<usize>,
    pub moved_bodies: Vec<usize>,
    pub moved_mobilities: Vec<usize>,
    pub moved_by: Vec<usize>,
}

impl ScatterPlan {
    pub fn find(s: &System, p: &Pattern) -> ScatterPlan {
        let n = s.tree.num_mobilities;
        let (ru, rz) = (n, 2 * n);
        let mut plan = ScatterPlan { covers_all: true, ..ScatterPlan::default() };
        for r in 0..n {
            for c in 0..n {
                let source = r * n + c;
                plan.dtau_dq.extend(p.dx.position(ru + r, c).map(|k| (k, source)));
                plan.dtau_du.extend(p.dx.position(ru + r, n + c).map(|k| (k, source)));
                plan.mass.extend(p.dxdot.position(ru + r, n + c).map(|k| (k, source)));
            }
            for c in 0..2 * n {
                plan.kinematic.extend(p.dx.position(r, c).map(|k| (k, r, c)));
            }
            plan.ones.extend(p.dxdot.position(r, r));
        }
        let rc = rz + s.num_aux;
        for r in 0..s.constraints.num_rows() {
            for j in 0..n {
                let places = p.dxdot.position(rc + r, n + j).zip(p.dlambda.position(ru + j, r));
                plan.constraints.extend(places.map(|(a, b)| (r, j, a, b)));
            }
        }
        for (i, f) in s.forces.iter().enumerate() {
            plan.direct.push(None);
            plan.bodies.push(f.path.as_ref().map_or_else(Vec::new, CompiledPath::bodies));
            plan.coordinates.push(sorted(f.path.as_ref().map_or_else(Vec::new, CompiledPath::coordinates)));
            plan.touches.push(match &f.actor {
                Actor::Force(c) => c.touches(),
                Actor::Muscle(_) => Default::default(),
            });
            if f.path.is_none() || !f.enabled {
                for z in f.states.clone() {
                    plan.ones.extend(p.dxdot.position(rz + z, rz + z));
                }
                let matters = f.enabled && matches!(f.actor, Actor::Force(_));
                plan.covers_all &= !(matters && f.states.len() + f.controls.len() > 0);
                continue;
            }
            let list = &p.path[i];
            if let (Some(CompiledPath::Function(path)), true) = (&f.path, p.consistent[i])
                && list.iter().all(|&j| s.tree.angular[j].is_none())
            {
                let at = |m: &usize| list.iter().position(|j| j == m);
                plan.direct[i] = path.mobilities().iter().map(at).collect();
            }
            if plan.direct[i].is_none() {
                plan.points.push(i);
            }
            plan.paths.push(PathPlaces::find(p, i, list, f.states.clone(), f.controls.clone(), (ru, rz, n)));
        }
        for &i in &p.plain {
            if let Actor::Force(c) = &s.forces[i].actor
                && !c.is_control_only()
            {
                let (bodies, mobilities) = &plan.touches[i];
                plan.moved.push(i);
                plan.moved_bodies.extend(bodies);
                plan.moved_mobilities.extend(mobilities);
            }
        }
        plan.moved_bodies = sorted(plan.moved_bodies);
        plan.moved_mobilities = sorted(plan.moved_mobilities);
        let moved_by = plan.moved_bodies.iter().flat_map(|&b| s.tree.supports(b));
        plan.moved_by = sorted(moved_by.chain(plan.moved_mobilities.iter().copied()).collect());
        plan
    }
}

/// Each once, in order.
fn sorted(mut list: Vec<usize>) -> Vec<usize> {
    list.sort_unstable();
    list.dedup();
    list
}

impl PathPlaces {
    fn find(
        p: &Pattern,
        force: usize,
        list: &[usize],
        states: std::ops::Range<usize>,
        controls: std::ops::Range<usize>,
        (ru, rz, n): (usize, usize, usize),
    ) -> PathPlaces {
        // Every place is in the pattern, which was made from the same lists.
        let at = |m: &SparseMatrix, r: usize, c: usize| m.position(r, c).unwrap_or(usize::MAX);
        let mut places = PathPlaces { force, ..PathPlaces::default() };
        for &j in list {
            for z in states.clone() {
                places.tau_z.push(at(&p.dx, ru + j, rz + z));
                places.tau_zdot.push(at(&p.dxdot, ru + j, rz + z));
            }
            places.tau_e.extend(controls.clone().take(1).map(|e| at(&p.du, ru + j, e)));
        }
        for z in states.clone() {
            for &j in list {
                places.z_q.push(at(&p.dx, rz + z, j));
                places.z_u.push(at(&p.dx, rz + z, n + j));
            }
            for c in states.clone() {
                places.z_z.push(at(&p.dx, rz + z, rz + c));
                places.z_zdot.push(at(&p.dxdot, rz + z, rz + c));
            }
            places.z_e.extend(controls.clone().take(1).map(|e| at(&p.du, rz + z, e)));
        }
        places
    }
}

/// Writes where there is a place.
#[inline(always)]
fn put(m: &mut SparseMatrix, place: usize, value: f64) {
    if let Some(v) = m.value.get_mut(place) {
        *v = value;
    }
}

impl ImplicitSystem<'_> {
    /// Forces on function-based paths by coordinates, from the Hessian H of the length:
    /// ∂L/∂q is the gradient, ∂L̇/∂q = H u, and the load −T ∂L/∂q changes by −T H.
    pub(super) fn direct_paths(&self, ws: &Workspace<f64>, jw: &mut JacobianWorkspace) {
        let n = self.system.tree.num_mobilities;
        for (i, f) in self.system.forces.iter().enumerate() {
            let (Some(CompiledPath::Function(path)), Some(map)) = (&f.path, &self.plan.direct[i]) else {
                continue;
            };
            let k = map.len();
            path.compute_hessian(
                |m| ws.kin.q[m],
                &mut jw.variables[..k],
                &mut jw.gradient[..k],
                &mut jw.hessian[..k * k],
            );
            let list = &self.pattern.path[i];
            let out = &mut jw.paths[i];
            out.L_q.fill(0.0);
            out.v_q.fill(0.0);
            let tension = ws.tension[i];
            for (a, &to) in map.iter().enumerate() {
                out.L_q[to] += jw.gradient[a];
                let row = &jw.hessian[a * k..(a + 1) * k];
                let tension = if path.pulls(list[to]) { tension } else { 0.0 };
                let mut rate = 0.0;
                for (h, &from) in row.iter().zip(map) {
                    rate += h * ws.kin.u[list[from]];
                    jw.tree.dtau_dq[list[to] * n + list[from]] += tension * h;
                }
                out.v_q[to] += rate;
            }
        }
    }

    /// Writes everything but the constraints' entries, where the plan covers all.
    pub(super) fn scatter_by_plan(&self, x: &State<f64>, jw: &JacobianWorkspace, jac: &mut ImplicitJacobian) {
        let plan = &self.plan;
        for &(k, from) in &plan.dtau_dq {
            jac.dx.value[k] = jw.tree.dtau_dq[from];
        }
        for &(k, from) in &plan.dtau_du {
            jac.dx.value[k] = jw.tree.dtau_du[from];
        }
        for &(k, from) in &plan.mass {
            jac.dxdot.value[k] = jw.tree.mass[from];
        }
        for &(k, r, c) in &plan.kinematic {
            jac.dx.value[k] = self.kinematic_entry(x, r, c);
        }
        for &k in &plan.ones {
            jac.dxdot.value[k] = 1.0;
        }
        for p in &plan.paths {
            let (d, f) = (&jw.paths[p.force], &self.system.forces[p.force]);
            let nz = f.states.len();
            // τ −= f T(L, L̇, e, z, ż).
            for (a, &fa) in d.f.iter().enumerate() {
                for k in 0..nz {
                    put(&mut jac.dx, p.tau_z[a * nz + k], -fa * d.tension[3 + k]);
                    put(&mut jac.dxdot, p.tau_zdot[a * nz + k], -fa * d.tension[3 + nz + k]);
                }
                if let Some(&e) = p.tau_e.get(a) {
                    put(&mut jac.du, e, -fa * d.tension[2]);
                }
            }
            let m = d.f.len();
            for r in 0..nz {
                let g = &d.residual[r];
                for a in 0..m {
                    put(&mut jac.dx, p.z_q[r * m + a], g[0] * d.L_q[a] + g[1] * d.v_q[a]);
                    put(&mut jac.dx, p.z_u[r * m + a], g[1] * d.v_u[a]);
                }
                for k in 0..nz {
                    put(&mut jac.dx, p.z_z[r * nz + k], g[3 + k]);
                    put(&mut jac.dxdot, p.z_zdot[r * nz + k], g[3 + nz + k]);
                }
                if let Some(&e) = p.z_e.get(r) {
                    put(&mut jac.du, e, g[2]);
                }
            }
        }
    }
}
