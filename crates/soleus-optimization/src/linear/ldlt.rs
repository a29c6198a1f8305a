//! Factorization of a sparse symmetric indefinite matrix by the multifrontal method.

use super::front::{FrontScratch, PartialFactorization, Pivot};
use super::kernel;
use super::symbolic::{Front, SymbolicFactorization};
use pulp::{Arch, Simd, WithSimd};
use std::sync::Arc;

/// Numbers of positive, negative and zero eigenvalues of a symmetric matrix (by Sylvester's law those of D).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inertia {
    /// Positive eigenvalues.
    pub positive: usize,
    /// Negative eigenvalues.
    pub negative: usize,
    /// Eigenvalues that are zero to rounding.
    pub zero: usize,
}

/// What is kept of a front after elimination.
#[derive(Clone, Debug, Default)]
struct FrontFactor {
    /// Unknowns of the front: the eliminated ones, then those that wait, then later ones.
    index: Vec<u32>,
    /// How many are eliminated, and how many of the rest had to wait.
    eliminated: usize,
    waiting: usize,
    pivots: Vec<Pivot>,
    /// Columns of the front that had candidates: as many rows as the front has unknowns. The first hold L.
    l: Vec<f64>,
    /// What is left for the parent: a square by columns, lower triangle.
    remainder: Vec<f64>,
}

/// What all threads share.
#[derive(Clone, Copy)]
struct Task<'a> {
    arch: Arch,
    fronts: &'a [Front],
    values: &'a [f64],
}

/// Scratch memory of one thread.
#[derive(Clone, Debug, Default)]
struct Worker {
    /// Memory of remainders that parents have taken.
    spare: Spare,
    map: Vec<u32>,
    scratch: FrontScratch,
    inertia: Inertia,
}

/// Memory that is free, by size: class k holds at least 2ᵏ and less than 2ᵏ⁺¹ numbers. Where thousands of rows with slacks leave as many
/// remainders, looking at each of them for each front would take more time than all the arithmetic.
#[derive(Clone, Debug, Default)]
struct Spare {
    classes: Vec<Vec<Vec<f64>>>,
    count: usize,
}

/// Pieces of one class that are looked at for one that is just large enough.
const LOOKED_AT: usize = 16;

impl Spare {
    fn class(size: usize) -> usize {
        size.max(1).ilog2() as usize
    }

    fn push(&mut self, memory: Vec<f64>) {
        if memory.capacity() == 0 {
            return;
        }
        let class = Self::class(memory.capacity());
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Vec::new);
        }
        self.classes[class].push(memory);
        self.count += 1;
    }

    /// One of the least.
    fn pop(&mut self) -> Option<Vec<f64>> {
        let memory = self.classes.iter_mut().find_map(Vec::pop)?;
        self.count -= 1;
        Some(memory)
    }

    /// So many zeros, in the tightest memory that was found; where nothing is large enough, the largest gives way to more.
    fn zeros(&mut self, count: usize) -> Vec<f64> {
        let mut taken = self.take(count);
        taken.clear();
        taken.resize(count, 0.0);
        taken
    }

    fn take(&mut self, count: usize) -> Vec<f64> {
        if count == 0 {
            return Vec::new();
        }
        let class = Self::class(count);
        if let Some(same) = self.classes.get_mut(class) {
            let waste = |v: &Vec<f64>| v.capacity().checked_sub(count);
            let first = same.len().saturating_sub(LOOKED_AT);
            let best = (first..same.len()).filter_map(|i| Some((waste(&same[i])?, i))).min();
            if let Some((_, i)) = best {
                self.count -= 1;
                return same.swap_remove(i);
            }
        }
        if let Some(memory) = self.classes.iter_mut().skip(class + 1).find_map(Vec::pop) {
            self.count -= 1;
            return memory;
        }
        // All that is left is smaller.
        if self.classes.iter_mut().rev().find_map(Vec::pop).is_some() {
            self.count -= 1;
        }
        Vec::with_capacity(count)
    }
}

/// P A Pᵀ = L D Lᵀ of a sparse symmetric, possibly indefinite matrix, with its inertia.
///
/// Multifrontal method (Duff & Reid 1983): the matrix is divided into dense fronts along the elimination tree; pivots
/// are chosen within a front for stability, and an unknown without a stable pivot is delayed to the parent front.
/// Memory is reused between factorizations. Two independent halves of the tree may run on two threads; results are
/// bitwise identical to those of one thread.
///
/// ```
/// use soleus_optimization::SparsityPattern;
/// use soleus_optimization::linear::{SparseLdlt, SymbolicFactorization};
///
/// // [1 2; 2 0] is indefinite.
/// let lower = SparsityPattern::from_places(2, 2, vec![(0, 0), (1, 0), (1, 1)]);
/// let mut ldlt = SparseLdlt::new(SymbolicFactorization::new(&lower, None, &[]));
/// let inertia = ldlt.factor(&[1.0, 2.0, 0.0]);
/// assert_eq!((inertia.positive, inertia.negative), (1, 1));
/// let mut x = [5.0, 2.0];
/// ldlt.solve(&mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct SparseLdlt {
    symbolic: Arc<SymbolicFactorization>,
    factors: Vec<FrontFactor>,
    workers: [Worker; 2],
    permuted: Vec<f64>,
    local: Vec<f64>,
    arch: Arch,
    /// Number of threads, at most two.
    pub threads: usize,
}

/// Unknowns for which there is room in a front beside those that the first matrix brings there.
const ROOM: usize = 4;

/// Below this many operations a second thread costs more than it saves (about 0.2 ms of work).
const WORTH_A_THREAD: f64 = 1e6;

impl SparseLdlt {
    /// For matrices with that pattern.
    pub fn new(symbolic: SymbolicFactorization) -> Self {
        let n = symbolic.dimension();
        SparseLdlt {
            factors: vec![FrontFactor::default(); symbolic.fronts.len()],
            workers: Default::default(),
            permuted: vec![0.0; n],
            local: Vec::new(),
            arch: Arch::new(),
            threads: 1,
            symbolic: Arc::new(symbolic),
        }
    }

    /// The symbolic factorization.
    pub fn symbolic(&self) -> &SymbolicFactorization {
        &self.symbolic
    }

    /// Number of delayed pivots in the last factorization.
    pub fn num_waited(&self) -> usize {
        self.factors.iter().map(|f| f.waiting).sum()
    }

    /// Factorizes the matrix with these values of its lower triangle, in the order of its pattern.
    ///
    /// Unknowns without a pivot are counted as zero eigenvalues; they are zero in solutions.
    ///
    /// # Panics
    ///
    /// If the number of values differs from the number of entries of the pattern.
    pub fn factor(&mut self, values: &[f64]) -> Inertia {
        assert_eq!(values.len(), self.symbolic.num_values, "one value for each place of the pattern");
        let symbolic = Arc::clone(&self.symbolic);
        let [one, two] = symbolic.bins;
        let task = Task { arch: self.arch, fronts: &symbolic.fronts, values };
        for worker in &mut self.workers {
            worker.inertia = Inertia::default();
        }
        let [first, second] = &mut self.workers;
        let two_threads = self.threads > 1 && one < two && symbolic.num_operations > WORTH_A_THREAD;
        if two_threads {
            let (a, b) = self.factors[..two].split_at_mut(one);
            std::thread::scope(|scope| {
                let second = &mut *second;
                scope.spawn(move || second.eliminate(task, [one, 0], b));
                first.eliminate(task, [0, 0], a);
            });
        }
        let done = if two_threads { two } else { 0 };
        first.eliminate(task, [0, done], &mut self.factors);
        // What one thread left the other took: share the memory out again.
        while two_threads && first.spare.count > second.spare.count + 1 {
            let Some(memory) = first.spare.pop() else { break };
            second.spare.push(memory);
        }
        let (a, b) = (self.workers[0].inertia, self.workers[1].inertia);
        let (positive, negative) = (a.positive + b.positive, a.negative + b.negative);
        Inertia { positive, negative, zero: symbolic.dimension() - positive - negative }
    }

    /// Solves A x = b in place with the last factorization.
    pub fn solve(&mut self, b: &mut [f64]) {
        let SparseLdlt { symbolic, factors, permuted, local, arch, .. } = self;
        for (p, &i) in permuted.iter_mut().zip(&symbolic.order) {
            *p = b[i as usize];
        }
        arch.dispatch(Substitution { factors, x: permuted, local });
        for (p, &i) in permuted.iter().zip(&symbolic.order) {
            b[i as usize] = *p;
        }
    }
}

impl Worker {
    /// Eliminates the fronts from `first + done` on; `factors` starts at front `first` and holds all their children.
    fn eliminate(&mut self, task: Task<'_>, [first, done]: [usize; 2], factors: &mut [FrontFactor]) {
        for i in done..factors.len() {
            let (before, rest) = factors.split_at_mut(i);
            self.eliminate_front(task, first + i, first, before, &mut rest[0]);
        }
    }

    fn eliminate_front(
        &mut self,
        task: Task<'_>,
        number: usize,
        first: usize,
        before: &mut [FrontFactor],
        factor: &mut FrontFactor,
    ) {
        let Task { arch, fronts, values } = task;
        let front = &fronts[number];
        let own = front.end - front.first;
        let came: usize = front.children.iter().map(|&c| before[c as usize - first].waiting).sum();
        let m = own + came + front.rows.len();
        let FrontFactor { index, pivots, l, remainder, .. } = factor;

        // Unknowns: own, those that come from children without a pivot, later ones. How many come changes a little from one
        // matrix to the next, so what is too small grows by more than is needed now.
        index.clear();
        pivots.clear();
        if index.capacity() < m {
            index.reserve(m + m / 4 + ROOM);
            pivots.reserve(own + came + (own + came) / 4 + ROOM);
        }
        index.extend(front.first as u32..front.end as u32);
        for &c in &front.children {
            let child = &before[c as usize - first];
            index.extend(&child.index[child.eliminated..child.eliminated + child.waiting]);
        }
        index.extend(&front.rows);

        // The front in two parts: columns of candidates, which will be L, and the square of the rest.
        let candidates = own + came;
        let rest = m - candidates;
        if l.len() < m * candidates {
            let room = if came > 0 { candidates / 4 + ROOM } else { 0 };
            l.resize(m * (candidates + room), 0.0);
        }
        for j in 0..candidates {
            l[j * m + j..(j + 1) * m].fill(0.0);
        }
        let mut square = self.spare.zeros(rest * rest);

        // Values of the matrix, then what children left.
        let shift = |local: u32| if (local as usize) < own { local as usize } else { local as usize + came };
        for &(v, row, column) in &front.entries {
            l[column as usize * m + shift(row)] += values[v as usize];
        }
        let mut next_waiting = own;
        for &c in &front.children {
            let child = &mut before[c as usize - first];
            let map = &mut self.map;
            map.clear();
            map.extend((next_waiting..next_waiting + child.waiting).map(|i| i as u32));
            map.extend(fronts[c as usize].rows_in_parent.iter().map(|&r| shift(r) as u32));
            next_waiting += child.waiting;
            let size = map.len();
            for j in 0..size {
                let column = &child.remainder[j * size + j..(j + 1) * size];
                let to = map[j] as usize;
                if j < child.waiting {
                    // Unknowns that wait come after the parent's own, so the order may turn round.
                    for (&v, &i) in column.iter().zip(&map[j..]) {
                        let (a, b) = (to.max(i as usize), to.min(i as usize));
                        l[b * m + a] += v;
                    }
                } else if to < candidates {
                    let target = &mut l[to * m..(to + 1) * m];
                    for (&v, &i) in column.iter().zip(&map[j..]) {
                        target[i as usize] += v;
                    }
                } else {
                    let target = &mut square[(to - candidates) * rest..(to - candidates + 1) * rest];
                    for (&v, &i) in column.iter().zip(&map[j..]) {
                        target[i as usize - candidates] += v;
                    }
                }
            }
            self.spare.push(std::mem::take(&mut child.remainder));
        }

        let scratch = &mut self.scratch;
        let panel = &mut l[..m * candidates];
        let task = PartialFactorization { panel, square: &mut square, m, candidates, index, pivots, scratch };
        let done = arch.dispatch(task);
        let kept = if done == candidates {
            square
        } else {
            // Columns that wait go with the square.
            let (size, waiting) = (m - done, candidates - done);
            let mut whole = self.spare.zeros(size * size);
            for j in 0..waiting {
                let from = (done + j) * m + done + j;
                whole[j * size + j..(j + 1) * size].copy_from_slice(&l[from..from + size - j]);
            }
            for j in 0..rest {
                let at = (waiting + j) * size + waiting;
                whole[at + j..at + rest].copy_from_slice(&square[j * rest + j..(j + 1) * rest]);
            }
            self.spare.push(square);
            whole
        };
        // A root has nobody to take its remainder; its memory comes back here.
        let old = std::mem::replace(remainder, kept);
        self.spare.push(old);
        pivots.iter().for_each(|p| p.count(&mut self.inertia));
        factor.eliminated = done;
        factor.waiting = candidates - done;
    }
}

/// L D Lᵀ x = b, b in x.
struct Substitution<'a> {
    factors: &'a [FrontFactor],
    x: &'a mut [f64],
    local: &'a mut Vec<f64>,
}

impl WithSimd for Substitution<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Substitution { factors, x, local } = self;
        for f in factors {
            let m = f.index.len();
            local.clear();
            local.extend(f.index.iter().map(|&i| x[i as usize]));
            let y = &mut local[..];
            // Four columns at a time: first among themselves, then on the rest.
            let mut j = 0;
            while j + 4 <= f.eliminated {
                let [l0, l1, l2, l3] = four_columns(&f.l, m, j);
                y[j + 1] -= l0[0] * y[j];
                y[j + 2] -= l0[1] * y[j] + l1[0] * y[j + 1];
                y[j + 3] -= l0[2] * y[j] + l1[1] * y[j + 1] + l2[0] * y[j + 2];
                let (done, rest) = y.split_at_mut(j + 4);
                let w = [done[j], done[j + 1], done[j + 2], done[j + 3]];
                kernel::subtract_four(simd, rest, [&l0[3..], &l1[2..], &l2[1..], l3], w);
                j += 4;
            }
            while j < f.eliminated {
                let (done, rest) = y.split_at_mut(j + 1);
                kernel::subtract_one(simd, rest, &f.l[j * m + j + 1..(j + 1) * m], done[j]);
                j += 1;
            }
            let mut j = 0;
            for pivot in &f.pivots {
                j += pivot.divide(&mut y[j..]);
            }
            for (&i, &v) in f.index.iter().zip(y.iter()) {
                x[i as usize] = v;
            }
        }
        // Whoever never got a pivot has no say.
        for f in factors.iter().filter(|f| f.index.len() == f.eliminated + f.waiting) {
            for &i in &f.index[f.eliminated..] {
                x[i as usize] = 0.0;
            }
        }
        for f in factors.iter().rev() {
            let m = f.index.len();
            local.clear();
            local.extend(f.index.iter().map(|&i| x[i as usize]));
            let y = &mut local[..];
            let mut j = f.eliminated;
            while !j.is_multiple_of(4) {
                j -= 1;
                let (left, rest) = y.split_at_mut(j + 1);
                left[j] -= kernel::dot(simd, &f.l[j * m + j + 1..(j + 1) * m], rest);
            }
            while j >= 4 {
                j -= 4;
                let [l0, l1, l2, l3] = four_columns(&f.l, m, j);
                let (left, rest) = y.split_at_mut(j + 4);
                let dots = kernel::dot_four(simd, [&l0[3..], &l1[2..], &l2[1..], l3], rest);
                let x = &mut left[j..];
                x[3] -= dots[3];
                x[2] -= dots[2] + l2[0] * x[3];
                x[1] -= dots[1] + l1[0] * x[2] + l1[1] * x[3];
                x[0] -= dots[0] + l0[0] * x[1] + l0[1] * x[2] + l0[2] * x[3];
            }
            for (&i, &v) in f.index[..f.eliminated].iter().zip(y.iter()) {
                x[i as usize] = v;
            }
        }
    }
}

/// Columns j to j + 3 of L below their diagonals.
#[inline(always)]
fn four_columns(l: &[f64], m: usize, j: usize) -> [&[f64]; 4] {
    let below = |k: usize| &l[(j + k) * m + j + k + 1..(j + k + 1) * m];
    [below(0), below(1), below(2), below(3)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nlp::SparsityPattern;
    use soleus_math::Random;

    /// Numbers between −1 and 1 from a seed.
    fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Random::new(seed);
        move || random.signed()
    }

    /// A saddle point [H Jᵀ; J 0] along a chain of stages, its groups and pairs.
    fn saddle(stages: usize, nx: usize, mc: usize, seed: u64) -> (SparsityPattern, Vec<f64>, Vec<u32>) {
        let mut next = random(seed);
        let n = stages * nx;
        let size = n + (stages - 1) * mc;
        let mut places = Vec::new();
        for s in 0..stages {
            for i in 0..nx {
                for j in 0..=i {
                    places.push((s * nx + i, s * nx + j));
                }
            }
        }
        for s in 0..stages - 1 {
            for i in 0..mc {
                places.push((n + s * mc + i, n + s * mc + i));
                for j in 0..2 * nx {
                    places.push((n + s * mc + i, s * nx + j));
                }
            }
        }
        let pattern = SparsityPattern::from_places(size, size, places);
        let values = pattern
            .places()
            .map(|(r, c)| match (r < n, r == c) {
                (true, true) => 2.0 * nx as f64 + next(),
                (false, true) => 0.0,
                _ => next(),
            })
            .collect();
        let groups = (0..size).map(|i| if i < n { (i / nx) as u32 } else { ((i - n) / mc) as u32 }).collect();
        (pattern, values, groups)
    }

    fn residual(pattern: &SparsityPattern, values: &[f64], x: &[f64], b: &[f64]) -> f64 {
        let mut r = b.to_vec();
        for ((i, j), v) in pattern.places().zip(values) {
            r[i] -= v * x[j];
            if i != j {
                r[j] -= v * x[i];
            }
        }
        r.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
    }

    #[test]
    fn identity_saddle_points_are_solved_with_their_inertia() {
        // All sizes up to a few tiles of the kernels, then some larger.
        let small = (1..40usize).map(|n| (3, n, n.div_ceil(2)));
        for (stages, nx, mc) in small.chain([(2, 1, 1), (12, 7, 5), (30, 12, 9), (9, 60, 50), (3, 150, 120)])
        {
            let (pattern, values, groups) = saddle(stages, nx, mc, 3);
            let size = pattern.rows();
            let mut next = random(9);
            let b: Vec<f64> = (0..size).map(|_| next()).collect();
            for groups in [None, Some(&groups[..])] {
                let mut ldlt = SparseLdlt::new(SymbolicFactorization::new(&pattern, groups, &[]));
                let inertia = ldlt.factor(&values);
                let expected = Inertia { positive: stages * nx, negative: (stages - 1) * mc, zero: 0 };
                assert_eq!(inertia, expected, "{stages} {nx} {mc}");
                let mut x = b.clone();
                ldlt.solve(&mut x);
                // Entries and solution are of order 1 to 100: 1e-9 is rounding with the growth of fifty columns.
                let r = residual(&pattern, &values, &x, &b);
                assert!(r < 1e-9, "{stages} {nx} {mc}: residual {r:e}");
            }
        }
    }

    #[test]
    fn identity_two_threads_give_the_same_bits() {
        let (pattern, values, groups) = saddle(40, 20, 15, 5);
        let mut one = SparseLdlt::new(SymbolicFactorization::new(&pattern, Some(&groups), &[]));
        let mut two = one.clone();
        two.threads = 2;
        assert_eq!(one.factor(&values), two.factor(&values));
        let mut a: Vec<f64> = (0..pattern.rows()).map(|i| i as f64).collect();
        let mut b = a.clone();
        one.solve(&mut a);
        two.solve(&mut b);
        assert_eq!(a, b);
    }

    #[test]
    fn analytic_singular_matrix_says_so() {
        // Rows 0 and 1 are equal.
        let pattern =
            SparsityPattern::from_places(3, 3, vec![(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]);
        let mut ldlt = SparseLdlt::new(SymbolicFactorization::new(&pattern, None, &[]));
        let inertia = ldlt.factor(&[1.0, 1.0, 1.0, 3.0, 3.0, -2.0]);
        assert_eq!(inertia, Inertia { positive: 1, negative: 1, zero: 1 });
    }

    #[test]
    fn analytic_constraints_without_own_pivots_wait() {
        // Two rows of zeros on the diagonal, ordered first: neither has a pivot before its variable comes.
        let pattern =
            SparsityPattern::from_places(4, 4, vec![(2, 0), (3, 1), (0, 0), (1, 1), (2, 2), (3, 3)]);
        let symbolic = SymbolicFactorization::with_order(&pattern, vec![0, 1, 2, 3]);
        let mut ldlt = SparseLdlt::new(symbolic);
        let values: Vec<f64> =
            pattern.places().map(|(r, c)| if r == c && r < 2 { 0.0 } else { 1.0 }).collect();
        assert_eq!(ldlt.factor(&values), Inertia { positive: 2, negative: 2, zero: 0 });
        let mut x = vec![1.0, 2.0, 3.0, 4.0];
        ldlt.solve(&mut x);
        assert!(residual(&pattern, &values, &x, &[1.0, 2.0, 3.0, 4.0]) < 1e-14);
    }
}
