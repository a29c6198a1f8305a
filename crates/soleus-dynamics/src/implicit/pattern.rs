//! Dependence of residuals on variables, from the structure of the model.

use super::sparse::SparseMatrix;
use crate::constraint::CompiledConstraint;
use crate::multibody::Tree;
use crate::path::CompiledPath;
use crate::system::{Actor, System};

/// The structure of the implicit equations.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Mobilities that the path of each force depends on; empty without a path.
    pub path: Vec<Vec<usize>>,
    /// Whether a path's load is exactly minus the gradient of its length, and its speed the rate of it.
    pub consistent: Vec<bool>,
    /// Forces without a path that act on bodies or coordinates.
    pub plain: Vec<usize>,
    pub dx: SparseMatrix,
    pub dxdot: SparseMatrix,
    pub du: SparseMatrix,
    pub dlambda: SparseMatrix,
}

impl Pattern {
    pub fn find(s: &System) -> Pattern {
        let tree = &s.tree;
        let (n, nz, m) = (tree.num_mobilities, s.num_aux, s.constraints.num_rows());
        let rows = 2 * n + nz + m;
        let (ru, rz, rc) = (n, 2 * n, 2 * n + nz);
        let (mut dx, mut dxdot, mut du, mut dlambda) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());

        // Kinematics: q̇ − N(q) u.
        for i in 0..n {
            dxdot.push((i, i));
            match tree.angular[i] {
                None => dx.push((i, n + i)),
                Some(u0) => {
                    for j in u0..u0 + 3 {
                        dx.extend([(i, j), (i, n + j)]);
                    }
                }
            }
        }
        // The tree: a mobility meets those that support it and those it supports.
        for node in &tree.nodes {
            for i in node.u0..node.u0 + node.nu {
                let mut above = tree.supports(node.parent);
                above.extend(node.u0..node.u0 + node.nu);
                for j in above {
                    for (a, b) in [(i, j), (j, i)] {
                        dx.extend([(ru + a, b), (ru + a, n + b)]);
                        dxdot.push((ru + a, n + b));
                    }
                }
            }
        }
        // Forces.
        let (mut path, mut consistent, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for (i, f) in s.forces.iter().enumerate() {
            let z: Vec<usize> = f.states.clone().collect();
            for &k in &z {
                dxdot.push((rz + k, 2 * n + k));
            }
            path.push(f.path.as_ref().map_or(Vec::new(), |p| path_mobilities(tree, p)));
            consistent.push(f.path.as_ref().is_some_and(CompiledPath::is_consistent));
            if !f.enabled {
                continue;
            }
            let list = &path[i];
            let touched: Vec<usize> = match (&f.path, &f.actor) {
                (Some(_), _) => list.clone(),
                (None, Actor::Force(c)) => {
                    plain.push(i);
                    let (bodies, mut list) = c.touches();
                    list.extend(bodies.iter().flat_map(|&b| tree.supports(b)));
                    list.sort_unstable();
                    list.dedup();
                    list
                }
                (None, Actor::Muscle(_)) => Vec::new(),
            };
            for &a in &touched {
                for &b in &touched {
                    dx.extend([(ru + a, b), (ru + a, n + b)]);
                }
                for &k in &z {
                    dx.extend([(ru + a, 2 * n + k), (rz + k, a), (rz + k, n + a)]);
                    dxdot.push((ru + a, 2 * n + k));
                }
                for c in f.controls.clone() {
                    du.push((ru + a, c));
                }
            }
            for &k in &z {
                for &l in &z {
                    dx.push((rz + k, 2 * n + l));
                    dxdot.push((rz + k, 2 * n + l));
                }
                for c in f.controls.clone() {
                    du.push((rz + k, c));
                }
            }
        }
        // Constraints: G udot + bias against everything that moves their bodies or coordinates.
        let (mut p, mut v) = (0, s.constraints.num_position());
        for c in &s.constraints.list {
            let list = constraint_mobilities(tree, c);
            let mut all: Vec<usize> = (p..p + c.num_position()).collect();
            all.extend(v..v + c.num_speed());
            p += c.num_position();
            v += c.num_speed();
            for &r in &all {
                for &j in &list {
                    dx.extend([(rc + r, j), (rc + r, n + j)]);
                    dxdot.push((rc + r, n + j));
                    dlambda.push((ru + j, r));
                }
            }
            // Gᵀ λ moves with the pose.
            for &a in &list {
                for &b in &list {
                    dx.push((ru + a, b));
                }
            }
        }
        let nx = 2 * n + nz;
        Pattern {
            path,
            consistent,
            plain,
            dx: SparseMatrix::with_pattern(rows, nx, dx),
            dxdot: SparseMatrix::with_pattern(rows, nx, dxdot),
            du: SparseMatrix::with_pattern(rows, s.num_controls, du),
            dlambda: SparseMatrix::with_pattern(rows, m, dlambda),
        }
    }
}

/// Mobilities that change a path or feel it: those that move some of its bodies but not all, or, if its loads do not
/// balance, any.
fn path_mobilities(tree: &Tree, path: &CompiledPath) -> Vec<usize> {
    let mut list = path.coordinates();
    let bodies = path.bodies();
    for &b in &bodies {
        for j in tree.supports(b) {
            let by_all = bodies.iter().all(|&o| tree.supports(o).contains(&j));
            if !by_all || !path.is_balanced() {
                list.push(j);
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    list
}

pub(super) fn constraint_mobilities(tree: &Tree, c: &CompiledConstraint) -> Vec<usize> {
    let with_angles = |m: usize| match tree.angular[m] {
        None => vec![m],
        Some(u0) => vec![u0, u0 + 1, u0 + 2],
    };
    let bodies = |a: usize, b: usize| {
        let mut list = tree.supports(a);
        list.extend(tree.supports(b));
        list
    };
    let mut list = match c {
        CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
            with_angles(*mobility)
        }
        CompiledConstraint::Coupler { independent, dependent, .. } => {
            let mut list = with_angles(*dependent);
            for &i in independent {
                list.extend(with_angles(i));
            }
            list
        }
        CompiledConstraint::Point { first, second, .. }
        | CompiledConstraint::Distance { first, second, .. } => bodies(first.body, second.body),
        CompiledConstraint::Weld { first, second, .. } => bodies(first.body, second.body),
        CompiledConstraint::PointOnLine { line, follower, .. } => bodies(line.body, follower.body),
        CompiledConstraint::Rolling(c) => bodies(c.roller, c.surface),
    };
    list.sort_unstable();
    list.dedup();
    list
}
