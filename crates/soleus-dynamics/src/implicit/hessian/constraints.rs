//! Contribution of the constraints: y_cᵀ (G u̇ + bias) + y_uᵀ Gᵀ λ.

use super::super::ImplicitSystem;
use super::super::pattern::constraint_mobilities;
use super::super::sparse::SparseMatrix;
use super::scratch::{J, JetScratch};
use super::{HessianWorkspace, ImplicitHessian, rounds};
use crate::multibody::{InverseDynamicsHessian, compute_kinematics};
use crate::system::State;
use soleus_math::{Jet, Real};

/// What one constraint needs, found once.
#[derive(Clone, Debug)]
pub(super) struct ConstraintPlan {
    /// Its rows in the order of multipliers, positions then speeds.
    rows: Vec<usize>,
    /// Mobilities that it depends on.
    list: Vec<usize>,
    /// Whether it looks at coordinates alone.
    on_coordinates: bool,
    rounds: Vec<Vec<usize>>,
    /// Places of (multiplier, coordinate), coordinates running fastest.
    with_lambda: Vec<usize>,
}

impl ImplicitSystem<'_> {
    pub(super) fn constraint_plans(&self, lower: &SparseMatrix) -> Vec<ConstraintPlan> {
        let (s, w) = (&*self.system, self.layout());
        let (mut p, mut v) = (0, s.constraints.num_position());
        let mut plans = Vec::new();
        for c in &s.constraints.list {
            let rows: Vec<usize> = (p..p + c.num_position()).chain(v..v + c.num_speed()).collect();
            (p, v) = (p + c.num_position(), v + c.num_speed());
            let list = constraint_mobilities(&s.tree, c);
            let place = |r: usize, j: usize| lower.position(w.lambda + r, j).unwrap_or(usize::MAX);
            let with_lambda = rows.iter().flat_map(|&r| list.iter().map(move |&j| place(r, j))).collect();
            plans.push(ConstraintPlan {
                rows,
                on_coordinates: c.is_on_coordinates(),
                rounds: rounds(2 * list.len()),
                list,
                with_lambda,
            });
        }
        plans
    }

    /// Adds the constraints.
    pub(super) fn constraint_hessians(
        &self,
        x: &State<f64>,
        udot: &[f64],
        lambda: &[f64],
        y: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let (s, w) = (&*self.system, self.layout());
        let (y_u, y_c) = (&y[w.n..2 * w.n], &y[2 * w.n + s.num_aux..]);
        let HessianWorkspace { ws, tree, constraints, jets, .. } = hw;
        for (plan, c) in constraints.iter().zip(&s.constraints.list) {
            // Linear parts: multipliers and accelerations.
            for &r in &plan.rows {
                let G = &ws.constraints.G[r * w.n..(r + 1) * w.n];
                for &j in &plan.list {
                    hessian.gradient[w.lambda + r] += G[j] * y_u[j];
                    tree.a[j] += G[j] * y_c[r];
                }
            }
            if c.is_constant(&s.tree) {
                continue;
            }
            let inputs = Inputs { x, udot, lambda, y_u, y_c };
            self.one_constraint(plan, &inputs, tree, jets, hessian);
        }
    }

    fn one_constraint(
        &self,
        plan: &ConstraintPlan,
        at: &Inputs,
        tree: &mut InverseDynamicsHessian,
        jets: &mut JetScratch,
        hessian: &mut ImplicitHessian,
    ) {
        let s = &*self.system;
        let (n, k) = (s.tree.num_mobilities, plan.list.len());
        let JetScratch { all_q: q, all_u: u, kinematics: Some(kinematics), rows: Some(rows), .. } = jets
        else {
            return;
        };
        for (number, round) in plan.rounds.iter().enumerate() {
            for j in 0..n {
                (q[j], u[j]) = (J::cst(at.x.q[j]), J::cst(at.x.u[j]));
            }
            for (d, &v) in round.iter().enumerate() {
                let j = plan.list[v % k];
                (if v < k { &mut q[j] } else { &mut u[j] }).g[d] = 1.0;
            }
            if plan.on_coordinates {
                kinematics.q.copy_from_slice(q);
                kinematics.u.copy_from_slice(u);
            } else {
                compute_kinematics(&s.tree, q, u, kinematics);
            }
            s.constraints.compute(&s.tree, kinematics, Jet::cst(at.x.time), rows);
            let mut phi = J::zero();
            for (i, &r) in plan.rows.iter().enumerate() {
                let G = &rows.G[r * n..(r + 1) * n];
                let mut along = Jet::zero();
                phi += rows.bias[r] * at.y_c[r];
                for &j in &plan.list {
                    phi += G[j] * (at.udot[j] * at.y_c[r]);
                    along += G[j] * at.y_u[j];
                }
                phi += along * at.lambda[r];
                // Every variable takes part in several rounds; it counts the first time.
                for (d, &v) in round.iter().enumerate().filter(|(_, v)| **v < k) {
                    if let Some(value) = hessian.lower.value.get_mut(plan.with_lambda[i * k + v]) {
                        *value = along.g[d];
                    }
                    if plan.rounds[..number].iter().all(|r| !r.contains(&v)) {
                        for &j in &plan.list {
                            tree.qa[plan.list[v] * n + j] += G[j].g[d] * at.y_c[r];
                        }
                    }
                }
            }
            for (a, &va) in round.iter().enumerate() {
                let i = plan.list[va % k];
                if plan.rounds[..number].iter().all(|r| !r.contains(&va)) {
                    *(if va < k { &mut tree.q[i] } else { &mut tree.u[i] }) += phi.g[a];
                }
                for (b, &vb) in round.iter().enumerate() {
                    if plan.rounds[..number].iter().any(|r| r.contains(&va) && r.contains(&vb)) {
                        continue;
                    }
                    let j = plan.list[vb % k];
                    match (va < k, vb < k) {
                        (true, true) => tree.qq[i * n + j] += phi.second(a, b),
                        (true, false) => tree.qu[i * n + j] += phi.second(a, b),
                        (false, false) => tree.uu[i * n + j] += phi.second(a, b),
                        (false, true) => {}
                    }
                }
            }
        }
    }
}

/// Where the constraints are looked at, and their weights.
struct Inputs<'a> {
    x: &'a State<f64>,
    udot: &'a [f64],
    lambda: &'a [f64],
    y_u: &'a [f64],
    y_c: &'a [f64],
}
