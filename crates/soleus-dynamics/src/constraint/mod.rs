//! Kinematic constraints: errors, Jacobian, acceleration bias, multipliers.
//!
//! A constraint contributes rows to G u = b_v and G u̇ = b. Equations of motion with multipliers λ:
//!
//!   M u̇ + Gᵀ λ = f,   G u̇ = b                                   (1)
//!
//! so λ has the sign of Simbody: the constraint forces on the right-hand side are −Gᵀ λ. Rows and their order are also
//! those of Simbody, so that multipliers can be compared.

mod reaction;
mod row;

pub use row::{CompiledConstraint, Rolling, Station};

use crate::multibody::{MassFactor, Tree, TreeKinematics, compute_accelerations};
use crate::system::{Along, JET_LANES, Jets, LANES};
use soleus_math::dense::solve_min_norm;
use soleus_math::{Over, Part, Real, SpatialVec, same, same_mut};

/// All enforced constraints of a model, in the order of their multipliers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintSet<P: Real = f64> {
    /// Constraints; each contributes [`CompiledConstraint::num_position`] rows, then, after all of
    /// those, [`CompiledConstraint::num_speed`] rows.
    pub list: Vec<CompiledConstraint<P>>,
}

/// Scratch and results of the constraint equations.
#[derive(Clone, Debug)]
pub struct ConstraintWorkspace<T: Real> {
    /// Position errors of the holonomic rows.
    pub qerr: Vec<T>,
    /// Velocity errors: G u minus the prescribed values.
    pub uerr: Vec<T>,
    /// G, row by row.
    pub G: Vec<T>,
    /// Acceleration errors at u̇ = 0; −b of (1).
    pub bias: Vec<T>,
    /// Multipliers λ.
    pub lambda: Vec<T>,
    /// (L⁻ᵀ Gᵀ)ᵀ, one row per constraint equation.
    Y: Vec<T>,
    scaled: Vec<T>,
    /// G M⁻¹ Gᵀ.
    gmg: Vec<T>,
    /// Accelerations of the bodies at u̇ = 0.
    A: Vec<SpatialVec<T>>,
    zeros: Vec<T>,
    scratch: Vec<T>,
    order: Vec<usize>,
    /// Mobilities where a row of Y is not zero.
    nonzero: Vec<usize>,
}

/// [`ConstraintSet::compute`] in plain numbers.
#[inline(never)]
fn compute_plain(
    set: &ConstraintSet,
    tree: &Tree,
    k: &TreeKinematics<f64>,
    time: f64,
    ws: &mut ConstraintWorkspace<f64>,
) {
    set.compute_any(tree, k, time, ws);
}

/// The same along several directions at once.
#[inline(never)]
fn compute_along(
    set: &ConstraintSet,
    tree: &Tree,
    k: &TreeKinematics<Along>,
    time: Along,
    ws: &mut ConstraintWorkspace<Along>,
) {
    set.compute_any(tree, k, time, ws);
}

/// The same in jets.
#[inline(never)]
fn compute_in_jets(
    set: &ConstraintSet,
    tree: &Tree,
    k: &TreeKinematics<Jets>,
    time: Jets,
    ws: &mut ConstraintWorkspace<Jets>,
) {
    set.compute_any(tree, k, time, ws);
}

impl<P: Real> ConstraintSet<P> {
    /// Holonomic equations.
    pub fn num_position(&self) -> usize {
        self.list.iter().map(CompiledConstraint::num_position).sum()
    }
    /// All equations.
    pub fn num_rows(&self) -> usize {
        self.num_position() + self.list.iter().map(CompiledConstraint::num_speed).sum::<usize>()
    }

    /// Room for the constraint equations of `tree`.
    pub fn workspace<T: Real>(&self, tree: &Tree) -> ConstraintWorkspace<T> {
        let (m, n) = (self.num_rows(), tree.num_mobilities);
        let z = T::zero();
        ConstraintWorkspace {
            qerr: vec![z; self.num_position()],
            uerr: vec![z; m],
            G: vec![z; m * n],
            bias: vec![z; m],
            lambda: vec![z; m],
            Y: vec![z; m * n],
            scaled: vec![z; n],
            gmg: vec![z; m * m],
            A: vec![SpatialVec::zero(); tree.nodes.len()],
            zeros: vec![z; n],
            scratch: vec![z; 2 * m * m + 4 * m],
            order: vec![0; m],
            nonzero: Vec::with_capacity(n),
        }
    }

    /// Errors, Jacobian and bias at the current motion.
    pub fn compute<T: Over<P>>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        time: T,
        ws: &mut ConstraintWorkspace<T>,
    ) {
        if const { matches!((T::SHAPE, P::SHAPE), (Some([1, LANES]), Some([0, _]))) } {
            return compute_along(same(self), tree, same(k), *same(&time), same_mut(ws));
        }
        if const { matches!((T::SHAPE, P::SHAPE), (Some([2, JET_LANES]), Some([0, _]))) } {
            return compute_in_jets(same(self), tree, same(k), *same(&time), same_mut(ws));
        }
        T::choose(
            ws,
            |ws| compute_plain(same(self), tree, same(k), time.value(), same_mut(ws)),
            |ws| self.compute_any(tree, k, time, ws),
        );
    }

    fn compute_any<T: Over<P>>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        time: T,
        ws: &mut ConstraintWorkspace<T>,
    ) {
        if self.list.is_empty() {
            return;
        }
        let mut A = std::mem::take(&mut ws.A);
        A[0] = SpatialVec::zero();
        compute_accelerations(tree, k, &ws.zeros, &mut A);
        self.compute_with(tree, k, &A, time, ws);
        ws.A = A;
    }

    /// As [`compute`](Self::compute), with given accelerations of the bodies at u̇ = 0.
    pub fn compute_with<T: Over<P>>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        A: &[SpatialVec<T>],
        time: T,
        ws: &mut ConstraintWorkspace<T>,
    ) {
        if self.list.is_empty() {
            return;
        }
        let n = tree.num_mobilities;
        ws.G.fill(T::zero());
        ws.bias.fill(T::zero());
        let (mut p, mut v) = (0, self.num_position());
        for (i, c) in self.list.iter().enumerate() {
            T::enter(Part::Constraint, i);
            let (np, nv) = (c.num_position(), c.num_speed());
            c.compute_position_rows(
                tree,
                k,
                A,
                time,
                row::Rows {
                    n,
                    error: &mut ws.qerr[p..p + np],
                    rate: &mut ws.uerr[p..p + np],
                    G: &mut ws.G[p * n..(p + np) * n],
                    bias: &mut ws.bias[p..p + np],
                },
            );
            c.compute_speed_rows(
                tree,
                k,
                A,
                row::Rows {
                    n,
                    error: &mut [],
                    rate: &mut ws.uerr[v..v + nv],
                    G: &mut ws.G[v * n..(v + nv) * n],
                    bias: &mut ws.bias[v..v + nv],
                },
            );
            p += np;
            v += nv;
        }
    }

    /// Solves (1): `x` is f on entry and u̇ on return. `mass` is factorized as M = Lᵀ D L.
    ///
    ///   Y = L⁻ᵀ Gᵀ,  y = L⁻ᵀ f                                      (2)
    ///   (Yᵀ D⁻¹ Y) λ = Yᵀ D⁻¹ y − b                                 (3)
    ///   u̇ = L⁻¹ D⁻¹ (y − Y λ)                                       (4)
    ///
    /// Redundant equations get the multipliers of smallest norm.
    pub fn solve<T: Real>(&self, mass: &MassFactor<T>, ws: &mut ConstraintWorkspace<T>, x: &mut [T]) {
        let (m, n) = (self.num_rows(), x.len());
        if n == 0 {
            // Nothing can move: no equation reaches anything, and the multipliers of smallest norm are zero.
            ws.lambda.fill(T::zero());
            return;
        }
        mass.solve_lt(x); // (2)
        if m == 0 {
            mass.solve_d(x);
            mass.solve_l(x);
            return;
        }
        ws.Y.copy_from_slice(&ws.G);
        for y in ws.Y.chunks_exact_mut(n) {
            mass.solve_lt(y);
        }
        // (3); the scaled row is shared by all products with it. A row reaches only what supports the
        // mobilities it speaks of; for a lock that is one branch of the tree.
        for r in 0..m {
            T::enter(Part::Motion, r);
            let row = &ws.Y[r * n..(r + 1) * n];
            ws.scaled.copy_from_slice(row);
            mass.solve_d(&mut ws.scaled);
            ws.nonzero.clear();
            ws.nonzero.extend((0..n).filter(|&j| row[j] != T::zero()));
            let dot = |a: &[T], b: &[T]| {
                let (a, b) = (&a[..n], &b[..n]);
                // Two sums that do not wait for each other.
                let mut s = [T::zero(); 2];
                let mut pairs = ws.nonzero.chunks_exact(2);
                for j in &mut pairs {
                    s[0] += a[j[0]] * b[j[0]];
                    s[1] += a[j[1]] * b[j[1]];
                }
                for &j in pairs.remainder() {
                    s[0] += a[j] * b[j];
                }
                s[0] + s[1]
            };
            for s in 0..=r {
                let d = dot(&ws.scaled, &ws.Y[s * n..(s + 1) * n]);
                ws.gmg[r * m + s] = d;
                ws.gmg[s * m + r] = d;
            }
            ws.lambda[r] = dot(&ws.scaled, x) + ws.bias[r];
        }
        solve_min_norm(&ws.gmg, &mut ws.lambda, &mut ws.scratch, &mut ws.order);
        for r in 0..m {
            let l = ws.lambda[r];
            for (xi, &y) in x.iter_mut().zip(&ws.Y[r * n..(r + 1) * n]) {
                *xi -= y * l; // (4)
            }
        }
        mass.solve_d(x);
        mass.solve_l(x);
    }
}
