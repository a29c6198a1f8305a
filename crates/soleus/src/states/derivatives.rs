//! Exact derivatives at many states.

use super::{Evaluator, GoingOn, Pool, Room, Rows, States, Troubles, shared};
use crate::error::Error;
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, JacobianWorkspace, SparseMatrix};
use soleus_dynamics::joint::angles_rate;
use soleus_dynamics::system::LANES;
use soleus_dynamics::{State, System, SystemRef, Workspace};
use soleus_math::{Dual, vec3};
use std::sync::Arc;

type D = Dual<f64, LANES>;

/// Derivatives of a model at many states: of its implicit equations (sparse) and of its motion (dense).
pub struct Derivatives {
    evaluator: Arc<Evaluator>,
    implicit: ImplicitSystem<'static>,
    pattern: ImplicitJacobian,
    rooms: Pool<JacobianRoom>,
    dual_rooms: Pool<DualRoom>,
}

struct JacobianRoom {
    jw: JacobianWorkspace,
    jacobian: ImplicitJacobian,
    xdot: Vec<f64>,
    lambda: Vec<f64>,
    residual: Vec<f64>,
}

pub(super) struct DualRoom {
    ws: Workspace<D>,
    x: State<D>,
    controls: Vec<D>,
}

/// The implicit equations f(x, ẋ, e, λ) = 0 and their Jacobians at many states, state by state.
/// [`Derivatives::pattern`] gives the sparsity pattern.
#[derive(Clone, Debug, Default)]
pub struct JacobianValues {
    /// f.
    pub residual: Vec<f64>,
    /// Entries of ∂f/∂x.
    pub dx: Vec<f64>,
    /// Entries of ∂f/∂ẋ.
    pub dxdot: Vec<f64>,
    /// Entries of ∂f/∂e.
    pub de: Vec<f64>,
    /// Entries of ∂f/∂λ.
    pub dlambda: Vec<f64>,
}

impl Derivatives {
    /// Determines the sparsity pattern of the Jacobians.
    pub fn new(evaluator: Arc<Evaluator>) -> Self {
        let implicit = ImplicitSystem::new(SystemRef::Shared(evaluator.system.clone()));
        let pattern = implicit.jacobian();
        Derivatives { evaluator, implicit, pattern, rooms: Pool::default(), dual_rooms: Pool::default() }
    }

    /// Sparsity patterns of the Jacobians ∂f/∂x, ∂f/∂ẋ, ∂f/∂e and ∂f/∂λ; the values have no meaning.
    pub fn pattern(&self) -> [&SparseMatrix; 4] {
        let p = &self.pattern;
        [&p.dx, &p.dxdot, &p.du, &p.dlambda]
    }

    /// Names of the equations: those of the states, `/jointset/knee/knee_angle/value` and `/speed`, and of the constraints.
    pub fn equations(&self) -> Vec<String> {
        let rows = 0..self.implicit.num_multipliers();
        self.states().into_iter().chain(rows.map(|i| format!("constraint equation {i}"))).collect()
    }

    /// Names of the states x = (q, u, z).
    pub fn states(&self) -> Vec<String> {
        let l = self.evaluator.layout();
        let of = |what: &'static str| l.coordinates.iter().map(move |c| format!("{c}/{what}"));
        of("value").chain(of("speed")).chain(l.states.iter().cloned()).collect()
    }

    /// Residuals and Jacobians at all states. Rates ẋ and multipliers that are not given are computed from the motion.
    pub fn jacobians(
        &self,
        states: &States,
        xdot: Option<Rows>,
        lambda: Option<Rows>,
        threads: usize,
    ) -> Result<(JacobianValues, Troubles), Error> {
        self.jacobians_while(states, xdot, lambda, threads, &|| true)
    }

    /// [`jacobians`](Self::jacobians) while `going_on`, as for [`Evaluator::evaluate_while`].
    pub fn jacobians_while(
        &self,
        states: &States,
        xdot: Option<Rows>,
        lambda: Option<Rows>,
        threads: usize,
        going_on: &GoingOn,
    ) -> Result<(JacobianValues, Troubles), Error> {
        let count = self.evaluator.count(states)?;
        let (nx, m) = (self.implicit.num_states(), self.implicit.num_multipliers());
        for (name, rows, width) in [("xdot", &xdot, nx), ("multipliers", &lambda, m)] {
            let Some(rows) = rows else { continue };
            if rows.values.len() != rows.count.unwrap_or(1) * width || rows.count.is_some_and(|n| n != count)
            {
                let message = format!("`{name}` needs {width} numbers for each of {count} states");
                return Err(self.evaluator.wrong(message, ""));
            }
        }
        let mut sizes = vec![self.implicit.num_residuals()];
        sizes.extend(self.pattern().map(SparseMatrix::num_entries));
        let mut values: Vec<Vec<f64>> = sizes.iter().map(|n| vec![0.0; n * count]).collect();
        let mut out: Vec<&mut [f64]> = values.iter_mut().map(Vec::as_mut_slice).collect();
        let given = (xdot.as_ref(), lambda.as_ref());
        let troubles = shared(count, threads, &sizes, &mut out, going_on, &|range, mine| {
            self.evaluator.with_room(|room| {
                let mut mine_room = self.rooms.take(|| self.room());
                let troubles = self.run(room, &mut mine_room, states, given, range, (&sizes, mine));
                self.rooms.give(mine_room);
                troubles
            })
        });
        let [residual, dx, dxdot, de, dlambda] = values.try_into().unwrap_or_default();
        Ok((JacobianValues { residual, dx, dxdot, de, dlambda }, troubles))
    }

    fn room(&self) -> JacobianRoom {
        JacobianRoom {
            jw: self.implicit.jacobian_workspace(),
            jacobian: self.pattern.clone(),
            xdot: vec![0.0; self.implicit.num_states()],
            lambda: vec![0.0; self.implicit.num_multipliers()],
            residual: vec![0.0; self.implicit.num_residuals()],
        }
    }

    fn run(
        &self,
        room: &mut Room,
        j: &mut JacobianRoom,
        states: &States,
        (xdot, lambda): (Option<&Rows>, Option<&Rows>),
        range: std::ops::Range<usize>,
        (sizes, out): (&[usize], &mut [&mut [f64]]),
    ) -> Troubles {
        let system = &*self.evaluator.system;
        let (n, mut troubles) = (system.tree.num_mobilities, Troubles::default());
        for (k, i) in range.enumerate() {
            room.load(system, states, i);
            if states.equilibrate {
                let failed = system.solve_equilibrium(&mut room.state, &room.controls, &mut room.ws);
                troubles.not_in_equilibrium += failed.len();
            }
            let Room { state: x, controls, ws, .. } = room;
            if xdot.is_none() || lambda.is_none() {
                if system.compute_motion(x, controls, ws).is_err() {
                    // Rates are then taken as zero, as everywhere.
                    troubles.undetermined += 1;
                    ws.udot.fill(0.0);
                    ws.zdot.fill(0.0);
                    ws.constraints.lambda.fill(0.0);
                }
                system.compute_coordinate_rates(x, &mut j.xdot[..n]);
                j.xdot[n..2 * n].copy_from_slice(&ws.udot);
                j.xdot[2 * n..].copy_from_slice(&ws.zdot);
                j.lambda.copy_from_slice(&ws.constraints.lambda);
            }
            let width = j.xdot.len();
            xdot.into_iter().for_each(|rows| j.xdot.copy_from_slice(rows.row(i, width)));
            let width = j.lambda.len();
            lambda.into_iter().for_each(|rows| j.lambda.copy_from_slice(rows.row(i, width)));
            self.implicit.compute_jacobian(
                x,
                &j.xdot,
                controls,
                &j.lambda,
                ws,
                &mut j.jw,
                &mut j.residual,
                &mut j.jacobian,
            );
            let found = [
                &j.residual,
                &j.jacobian.dx.value,
                &j.jacobian.dxdot.value,
                &j.jacobian.du.value,
                &j.jacobian.dlambda.value,
            ];
            for ((found, size), out) in found.into_iter().zip(sizes).zip(out.iter_mut()) {
                out[k * size..(k + 1) * size].copy_from_slice(found);
            }
        }
        troubles
    }

    /// Linearizes the motion ẋ = f(x, e): A = ∂f/∂x and B = ∂f/∂e at all states, dense, row by row. Exact, by dual
    /// numbers.
    pub fn linearize(&self, states: &States, threads: usize) -> Result<([Vec<f64>; 3], Troubles), Error> {
        self.linearize_while(states, threads, &|| true)
    }

    /// [`linearize`](Self::linearize) while `going_on`, as for [`Evaluator::evaluate_while`].
    pub fn linearize_while(
        &self,
        states: &States,
        threads: usize,
        going_on: &GoingOn,
    ) -> Result<([Vec<f64>; 3], Troubles), Error> {
        let count = self.evaluator.count(states)?;
        let system = &*self.evaluator.system;
        let (nx, ne) = (self.implicit.num_states(), system.num_controls);
        let sizes = [nx, nx * nx, nx * ne];
        let mut values = sizes.map(|n| vec![0.0; n * count]);
        let mut out: Vec<&mut [f64]> = values.iter_mut().map(Vec::as_mut_slice).collect();
        let troubles = shared(count, threads, &sizes, &mut out, going_on, &|range, mine| {
            self.evaluator.with_room(|room| {
                let mut dual = self.dual_rooms.take(|| DualRoom::new(system));
                let mut troubles = Troubles::default();
                for (k, i) in range.enumerate() {
                    room.load(system, states, i);
                    if states.equilibrate {
                        let failed = system.solve_equilibrium(&mut room.state, &room.controls, &mut room.ws);
                        troubles.not_in_equilibrium += failed.len();
                    }
                    let [f, a, b] = mine else { break };
                    let f = &mut f[k * nx..(k + 1) * nx];
                    let a = &mut a[k * nx * nx..(k + 1) * nx * nx];
                    let b = &mut b[k * nx * ne..(k + 1) * nx * ne];
                    if !dual.linearize(system, &room.state, &room.controls, f, a, b) {
                        troubles.undetermined += 1;
                        [f, a, b].into_iter().for_each(|list| list.fill(f64::NAN));
                    }
                }
                self.dual_rooms.give(dual);
                troubles
            })
        });
        Ok((values, troubles))
    }
}

impl DualRoom {
    pub(super) fn new(system: &System) -> Self {
        DualRoom {
            ws: system.workspace(),
            x: system.default_state.lift(),
            controls: vec![D::default(); system.num_controls],
        }
    }

    /// Columns of A and B, several at once. False if accelerations are undetermined.
    pub(super) fn linearize(
        &mut self,
        s: &System,
        x: &State<f64>,
        controls: &[f64],
        f: &mut [f64],
        a: &mut [f64],
        b: &mut [f64],
    ) -> bool {
        let (n, nz, ne) = (x.q.len(), x.z.len(), controls.len());
        let (nx, all) = (2 * n + nz, 2 * n + nz + ne);
        self.x.time = D::new(x.time, [0.0; LANES]);
        for first in (0..all.max(1)).step_by(LANES) {
            let entry = |i: usize, value: f64| match i.checked_sub(first) {
                Some(k) if k < LANES => D::variable(value, k),
                _ => D::new(value, [0.0; LANES]),
            };
            for i in 0..n {
                self.x.q[i] = entry(i, x.q[i]);
                self.x.u[i] = entry(n + i, x.u[i]);
            }
            for i in 0..nz {
                self.x.z[i] = entry(2 * n + i, x.z[i]);
            }
            for i in 0..ne {
                self.controls[i] = entry(nx + i, controls[i]);
            }
            if s.compute_damped_motion(&self.x, &self.controls, &[], &mut self.ws).is_err() {
                return false;
            }
            let mut write = |row: usize, value: D| {
                f[row] = value.v;
                for c in first..all.min(first + LANES) {
                    match c.checked_sub(nx) {
                        None => a[row * nx + c] = value.d[c - first],
                        Some(c_e) => b[row * ne + c_e] = value.d[c - first],
                    }
                }
            };
            for i in 0..n {
                write(i, self.x.u[i]);
                write(n + i, self.ws.udot[i]);
            }
            for node in s.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
                let v = |x: &[D]| vec3(x[node.u0], x[node.u0 + 1], x[node.u0 + 2]);
                let rates = angles_rate(v(&self.x.q), v(&self.x.u)).to_array();
                rates.into_iter().enumerate().for_each(|(k, r)| write(node.u0 + k, r));
            }
            for i in 0..nz {
                write(2 * n + i, self.ws.zdot[i]);
            }
        }
        true
    }
}
