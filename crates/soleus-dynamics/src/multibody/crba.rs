//! The mass matrix by composite rigid bodies and its factorization along the tree (Featherstone 2008, sections 6.2 and
//! 6.5).

use super::{Tree, TreeKinematics};
use soleus_math::{Part, Real, SpatialInertia};

/// The mass matrix M and its factors M = Lᵀ D L, where row i of the unit lower triangle L is
/// nonzero only at mobilities that support mobility i.
#[derive(Clone, Debug)]
pub struct MassFactor<T: Real> {
    n: usize,
    /// Mobilities that support each one, the nearest first: those of mobility i lie at `below[i]..below[i + 1]`.
    support: Vec<usize>,
    below: Vec<usize>,
    /// Entries of the row at hand, beside each other.
    packed: Vec<T>,
    composite: Vec<SpatialInertia<T>>,
    /// M, both triangles, row by row; entries between unrelated mobilities stay zero.
    m: Vec<T>,
    /// L below the diagonal and D on it, row by row.
    ld: Vec<T>,
    /// 1/D, or zero where D is.
    inv_d: Vec<T>,
    /// Mobilities without inertia, from the last factorization.
    pub singular: Vec<usize>,
}

impl<T: Real> MassFactor<T> {
    /// Memory for the mass matrix of `tree`.
    pub fn new(tree: &Tree) -> Self {
        let n = tree.num_mobilities;
        let next = |i: usize| Some(tree.support[i]).filter(|&j| j != usize::MAX);
        let (mut support, mut below) = (Vec::new(), vec![0]);
        for i in 0..n {
            support.extend(std::iter::successors(next(i), |&j| next(j)));
            below.push(support.len());
        }
        MassFactor {
            n,
            support,
            below,
            packed: Vec::with_capacity(n),
            composite: vec![SpatialInertia::default(); tree.nodes.len()],
            m: vec![T::zero(); n * n],
            ld: vec![T::zero(); n * n],
            inv_d: vec![T::zero(); n],
            singular: Vec::with_capacity(n),
        }
    }

    /// Entry (i, j) of M.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> T {
        self.m[i * self.n + j]
    }

    /// Computes M.
    pub fn compute_mass_matrix(&mut self, tree: &Tree, k: &TreeKinematics<T>) {
        let n = self.n;
        self.composite.copy_from_slice(&k.inertia);
        for i in (1..tree.nodes.len()).rev() {
            T::enter(Part::Motion, i);
            let node = &tree.nodes[i];
            let ic = self.composite[i];
            for j in node.u0..node.u0 + node.nu {
                // Momentum of the subtree when only mobility j moves, then its share in every
                // mobility that supports this body.
                let mut f = ic.momentum(k.H[j]);
                for l in node.u0..=j {
                    let x = k.H[l].dot(f);
                    self.m[j * n + l] = x;
                    self.m[l * n + j] = x;
                }
                let mut b = i;
                while tree.nodes[b].parent != 0 {
                    f = f.wrench_shifted(k.p_PB[b]);
                    b = tree.nodes[b].parent;
                    for l in tree.nodes[b].u0..tree.nodes[b].u0 + tree.nodes[b].nu {
                        let x = k.H[l].dot(f);
                        self.m[j * n + l] = x;
                        self.m[l * n + j] = x;
                    }
                }
            }
            if node.parent != 0 {
                let up = ic.shifted(k.p_PB[i]);
                self.composite[node.parent] = self.composite[node.parent] + up;
            }
        }
    }

    /// Factorizes M.
    ///
    /// A mobility whose pivot has no significant digits has no inertia: a massless end segment, or one of two
    /// coincident axes (gimbal lock). It is listed in [`singular`](Self::singular), and its value in solutions is
    /// consistent with the other mobilities; whether the equations are satisfied must be checked.
    pub fn factorize(&mut self) {
        let n = self.n;
        self.singular.clear();
        self.ld.copy_from_slice(&self.m);
        for k in (0..n).rev() {
            T::enter(Part::Motion, k);
            let d = self.ld[k * n + k];
            // NaN passes on, and is told as what it is.
            let regular = (self.m[k * n + k] * 1e-13).usually_below(d) || d.hint().is_nan();
            if !regular {
                self.singular.push(k);
            }
            let inv = if regular { d.recip() } else { T::zero() };
            self.inv_d[k] = inv;
            // Rows of supporting mobilities come before row k.
            let (above, row) = self.ld.split_at_mut(k * n);
            let row = &mut row[..n];
            let support = &self.support[self.below[k]..self.below[k + 1]];
            self.packed.clear();
            self.packed.extend(support.iter().map(|&j| row[j]));
            for (at, &i) in support.iter().enumerate() {
                let a = self.packed[at] * inv;
                let target = &mut above[i * n..(i + 1) * n];
                for (&j, &x) in support[at..].iter().zip(&self.packed[at..]) {
                    target[j] -= a * x;
                }
                row[i] = a;
            }
        }
    }

    /// Mobilities that support mobility i, the nearest first.
    #[inline(always)]
    fn support(&self, i: usize) -> &[usize] {
        &self.support[self.below[i]..self.below[i + 1]]
    }

    /// x ← L⁻ᵀ x. Zero entries are skipped, so that a sparse x is cheap.
    #[inline]
    pub fn solve_lt(&self, x: &mut [T]) {
        let n = self.n;
        for i in (0..n).rev() {
            let xi = x[i];
            if xi == T::zero() {
                continue;
            }
            T::enter(Part::Motion, i);
            let row = &self.ld[i * n..(i + 1) * n];
            for &j in self.support(i) {
                x[j] -= row[j] * xi;
            }
        }
    }

    /// x ← D⁻¹ x.
    #[inline]
    pub fn solve_d(&self, x: &mut [T]) {
        for (x, &r) in x.iter_mut().zip(&self.inv_d) {
            *x *= r;
        }
    }

    /// x ← L⁻¹ x.
    #[inline]
    pub fn solve_l(&self, x: &mut [T]) {
        let n = self.n;
        for i in 0..n {
            T::enter(Part::Motion, i);
            let row = &self.ld[i * n..(i + 1) * n];
            let mut s = x[i];
            for &j in self.support(i) {
                s -= row[j] * x[j];
            }
            x[i] = s;
        }
    }

    /// x ← M⁻¹ x, after [`factorize`](Self::factorize).
    pub fn solve(&self, x: &mut [T]) {
        self.solve_lt(x);
        self.solve_d(x);
        self.solve_l(x);
    }

    /// Σ x_i y_i / D_i.
    #[inline]
    pub fn dot_d(&self, x: &[T], y: &[T]) -> T {
        let mut s = T::zero();
        for i in 0..self.n {
            s += x[i] * y[i] * self.inv_d[i];
        }
        s
    }
}
