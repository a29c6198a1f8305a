//! The Hessian of a weighted sum of the implicit equations, yᵀ f, exact and sparse.
//!
//! Optimal control needs it: y are the multipliers of the equations at one node. The variables are
//! w = (x, ẋ, e, λ), in this order, and the lower triangle is stored.

use super::ImplicitSystem;
use super::pattern::{constraint_mobilities, supports};
use super::sparse::SparseMatrix;
use crate::system::{Actor, State, Workspace};
use soleus_math::{Dual, Real};

/// Variables differentiated at once.
const CHUNK: usize = 8;
/// One direction inside, several outside.
type D2 = Dual<Dual<f64, 1>, CHUNK>;

/// ∂²(yᵀ f)/∂w² and ∂(yᵀ f)/∂w for the variables w = (x, ẋ, e, λ).
#[derive(Clone, Debug)]
pub struct ImplicitHessian {
    /// Lower triangle: row ≥ column.
    pub lower: SparseMatrix,
    /// fᵀ's Jacobian times y, by variable.
    pub gradient: Vec<f64>,
}

/// Scratch for the Hessian of one system, sized once.
#[derive(Clone, Debug)]
pub struct HessianWorkspace {
    ws: Workspace<D2>,
    x: State<D2>,
    w: Vec<D2>,
    r: Vec<D2>,
}

impl ImplicitSystem<'_> {
    /// Number of variables w = (x, ẋ, e, λ).
    pub fn num_variables(&self) -> usize {
        2 * self.num_states() + self.system.num_controls + self.num_multipliers()
    }

    /// Room for the Hessian; its pattern is the same for all states and weights.
    pub fn hessian(&self) -> ImplicitHessian {
        let n = self.num_variables();
        ImplicitHessian {
            lower: SparseMatrix::with_pattern(n, n, self.hessian_places()),
            gradient: vec![0.0; n],
        }
    }

    /// Room to find it.
    pub fn hessian_workspace(&self) -> HessianWorkspace {
        HessianWorkspace {
            ws: self.system.workspace(),
            x: self.system.default_state.lift(),
            w: vec![D2::zero(); self.num_variables()],
            r: vec![D2::zero(); self.num_residuals()],
        }
    }

    /// Gradient and Hessian of yᵀ f, one weight per residual.
    #[allow(clippy::too_many_arguments)]
    pub fn compute_hessian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        lambda: &[f64],
        y: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let s = self.system;
        let (n, nx, nw) = (s.tree.num_mobilities, self.num_states(), self.num_variables());
        let all = x.q.iter().chain(&x.u).chain(&x.z).chain(xdot).chain(controls).chain(lambda);
        for (w, &v) in hw.w.iter_mut().zip(all) {
            *w = D2::cst(v);
        }
        hw.x.time = D2::cst(x.time);
        let ImplicitHessian { lower, gradient } = hessian;
        for c in 0..nw {
            hw.w[c].v.d[0] = 1.0;
            let range = lower.start[c]..lower.start[c + 1];
            // At least once, for the gradient.
            let mut from = range.start;
            loop {
                let rows = &lower.row[from..range.end.min(from + CHUNK)];
                for (d, &r) in rows.iter().enumerate() {
                    hw.w[r].d[d].v = 1.0;
                }
                hw.x.q.copy_from_slice(&hw.w[..n]);
                hw.x.u.copy_from_slice(&hw.w[n..2 * n]);
                hw.x.z.copy_from_slice(&hw.w[2 * n..nx]);
                let (xdot, rest) = hw.w[nx..].split_at(nx);
                let (e, l) = rest.split_at(s.num_controls);
                self.compute_residual(&hw.x, xdot, e, l, &mut hw.ws, &mut hw.r);
                gradient[c] = hw.r.iter().zip(y).map(|(r, y)| r.v.d[0] * y).sum();
                for (d, &r) in rows.iter().enumerate() {
                    hw.w[r].d[d].v = 0.0;
                    lower.value[from + d] = hw.r.iter().zip(y).map(|(r, y)| r.d[d].d[0] * y).sum();
                }
                from += rows.len();
                if from >= range.end {
                    break;
                }
            }
            hw.w[c].v.d[0] = 0.0;
        }
    }

    /// Which pairs of variables meet in one equation other than as a sum, from the structure of the model alone.
    fn hessian_places(&self) -> Vec<(usize, usize)> {
        let s = self.system;
        let tree = &s.tree;
        let (n, nx) = (tree.num_mobilities, self.num_states());
        let (u0, ud0, z0, zd0) = (n, nx + n, 2 * n, nx + 2 * n);
        let (e0, l0) = (2 * nx, 2 * nx + s.num_controls);
        let mut places = Vec::new();
        let mut meet = |a: usize, b: usize| places.push((a.max(b), a.min(b)));
        // Kinematics: q̇ − N(q) u.
        for i in 0..n {
            if let Some(first) = tree.angular[i] {
                for j in first..first + 3 {
                    meet(i, j);
                    meet(i, u0 + j);
                }
            }
        }
        // The tree: mobilities that move a common body. Accelerations enter linearly, speeds as squares.
        for node in &tree.nodes {
            let mut above = supports(tree, node.parent);
            above.extend(node.u0..node.u0 + node.nu);
            for i in node.u0..node.u0 + node.nu {
                for &j in &above {
                    meet(i, j);
                    meet(u0 + i, u0 + j);
                    for (a, b) in [(i, j), (j, i)] {
                        meet(a, u0 + b);
                        meet(a, ud0 + b);
                    }
                }
            }
        }
        // Forces: everything one of them sees.
        for (i, f) in s.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            let mut seen: Vec<usize> = Vec::new();
            let mobilities = match (&f.path, &f.actor) {
                (Some(_), _) => self.pattern.path[i].clone(),
                (None, Actor::Force(c)) => {
                    let (bodies, mut list) = c.touches();
                    list.extend(bodies.iter().flat_map(|&b| supports(tree, b)));
                    list
                }
                (None, Actor::Muscle(_)) => continue,
            };
            seen.extend(&mobilities);
            seen.extend(mobilities.iter().map(|m| u0 + m));
            seen.extend(f.states.clone().flat_map(|z| [z0 + z, zd0 + z]));
            seen.extend(f.controls.clone().map(|e| e0 + e));
            for &a in &seen {
                for &b in &seen {
                    meet(a, b);
                }
            }
        }
        // Constraints: G(q) u̇ + bias(q, u) and G(q)ᵀ λ.
        let (mut p, mut v) = (0, s.constraints.num_position());
        for c in &s.constraints.list {
            let list = constraint_mobilities(tree, c);
            let rows = (p..p + c.num_position()).chain(v..v + c.num_speed());
            (p, v) = (p + c.num_position(), v + c.num_speed());
            for &i in &list {
                for &j in &list {
                    meet(i, j);
                    meet(i, u0 + j);
                    meet(u0 + i, u0 + j);
                    meet(i, ud0 + j);
                }
                for r in rows.clone() {
                    meet(i, l0 + r);
                }
            }
        }
        places
    }
}
