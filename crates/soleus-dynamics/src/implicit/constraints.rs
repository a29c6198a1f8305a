//! Contributions of the constraints to the Jacobians: rows G u̇ + bias, the part Gᵀ λ of the τ rows, and the columns of
//! λ.

use super::ImplicitSystem;
use super::jacobian::{CHUNK, D, ImplicitJacobian, JacobianWorkspace};
use super::pattern::constraint_mobilities;
use crate::constraint::ConstraintWorkspace;
use crate::multibody::{TreeKinematics, compute_kinematics};
use crate::system::{State, System, Workspace};
use soleus_math::Real;

/// Scratch of the constraints' derivatives, and what their structure asks for.
#[derive(Clone, Debug)]
pub(super) struct ConstraintDerivatives {
    q: Vec<D>,
    u: Vec<D>,
    kinematics: TreeKinematics<D>,
    rows: ConstraintWorkspace<D>,
    /// Coordinates and speeds (mobility j as j, its speed as n + j) that G or bias depend on.
    variables: Vec<usize>,
    /// Whether some constraint looks at bodies, not at coordinates alone.
    on_bodies: bool,
}

impl ConstraintDerivatives {
    pub fn new(s: &System) -> Self {
        let n = s.tree.num_mobilities;
        let mut variables = Vec::new();
        for c in s.constraints.list.iter().filter(|c| !c.is_constant(&s.tree)) {
            let list = constraint_mobilities(&s.tree, c);
            variables.extend(list.iter().flat_map(|&j| [j, n + j]));
        }
        variables.sort_unstable();
        variables.dedup();
        ConstraintDerivatives {
            q: vec![D::zero(); n],
            u: vec![D::zero(); n],
            kinematics: TreeKinematics::new(&s.tree),
            rows: s.constraints.workspace(&s.tree),
            variables,
            on_bodies: s.constraints.list.iter().any(|c| !c.is_on_coordinates()),
        }
    }
}

impl ImplicitSystem<'_> {
    /// Adds the constraints' entries, by dual numbers over the coordinates and speeds that matter to them. The poses
    /// of bodies are found again only where a constraint looks at them.
    pub(super) fn constraint_rows(
        &self,
        x: &State<f64>,
        udot: &[f64],
        lambda: &[f64],
        ws: &Workspace<f64>,
        jw: &mut JacobianWorkspace,
        jac: &mut ImplicitJacobian,
    ) {
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let (ru, rc) = (n, 2 * n + s.num_aux);
        let G = &ws.constraints.G;
        for &(r, j, dxdot, dlambda) in &self.plan.constraints {
            jac.dxdot.value[dxdot] = G[r * n + j];
            jac.dlambda.value[dlambda] = G[r * n + j];
        }
        let ConstraintDerivatives { q, u, kinematics, rows, variables, on_bodies } = &mut jw.constraints;
        if variables.is_empty() {
            return;
        }
        for j in 0..n {
            (q[j], u[j]) = (D::cst(x.q[j]), D::cst(x.u[j]));
        }
        for chunk in variables.chunks(CHUNK) {
            seed(chunk, q, u, 1.0);
            if *on_bodies {
                compute_kinematics(&s.tree, q, u, kinematics);
                s.constraints.compute(&s.tree, kinematics, D::cst(x.time), rows);
            } else {
                kinematics.q.copy_from_slice(q);
                kinematics.u.copy_from_slice(u);
                s.constraints.compute_with(&s.tree, kinematics, &[], D::cst(x.time), rows);
            }
            for &(r, j, _, _) in &self.plan.constraints {
                let g = rows.G[r * n + j];
                rows.bias[r] += g * udot[j];
                for (c, &v) in chunk.iter().enumerate().filter(|(_, v)| **v < n) {
                    if g.d[c] != 0.0
                        && let Some(k) = jac.dx.position(ru + j, v)
                    {
                        jac.dx.value[k] += g.d[c] * lambda[r];
                    }
                }
            }
            for (r, a) in rows.bias.iter().enumerate() {
                for (c, &v) in chunk.iter().enumerate() {
                    if let Some(k) = jac.dx.position(rc + r, v) {
                        jac.dx.value[k] = a.d[c];
                    }
                }
            }
            seed(chunk, q, u, 0.0);
        }
    }
}

/// Sets direction c of the chunk's c-th variable.
fn seed(chunk: &[usize], q: &mut [D], u: &mut [D], d: f64) {
    let n = q.len();
    for (c, &v) in chunk.iter().enumerate() {
        (if v < n { &mut q[v] } else { &mut u[v - n] }).d[c] = d;
    }
}
