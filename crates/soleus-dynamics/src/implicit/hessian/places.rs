//! Sparsity pattern of the second derivatives.

use super::super::ImplicitSystem;
use super::super::pattern::constraint_mobilities;
use crate::system::Actor;

impl ImplicitSystem<'_> {
    /// Which pairs of variables meet in one equation other than as a sum, from the structure of the model alone.
    pub(super) fn hessian_places(&self) -> Vec<(usize, usize)> {
        let s = &*self.system;
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
            let mut above = tree.supports(node.parent);
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
                    list.extend(bodies.iter().flat_map(|&b| tree.supports(b)));
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
