//! Sparse LU factors with reuse of the elimination order.

use super::{Field, LinearSolver, Pattern, Singular};

/// A pivot may be this much smaller than the largest entry of its row when it causes less fill. Smaller saves
/// work, larger saves digits; 0.1 is the usual choice (Duff, Erisman & Reid 1986).
const THRESHOLD: f64 = 0.1;

/// With the old order of elimination a pivot may shrink to this part of its row before a new order is looked for.
const KEEP_ORDER_ABOVE: f64 = 1e-4;

/// One elimination step.
#[derive(Clone, Debug, Default)]
struct Step {
    /// Column of the pivot.
    column: usize,
    /// Row of the pivot.
    row: usize,
}

/// P A Q = L U of a sparse matrix. The pivot order is determined once, by Markowitz counts with a threshold, and reused
/// for matrices of the same pattern until a pivot becomes too small.
///
/// A factorization with known order works row by row: the row is expanded, earlier rows of U are subtracted in order,
/// and the result is stored. It does not allocate memory.
#[derive(Clone, Debug)]
pub struct SparseLu<S> {
    n: usize,
    /// Pivots in order.
    steps: Vec<Step>,
    /// Position of each column in the order.
    place: Vec<usize>,
    /// For elimination step k: earlier steps its row depends on, in order, and columns of U after the pivot.
    lower: Vec<Vec<usize>>,
    upper: Vec<Vec<usize>>,
    l: Vec<Vec<S>>,
    u: Vec<Vec<S>>,
    pivot: Vec<S>,
    /// A row spread out, by column.
    dense: Vec<S>,
    work: Vec<S>,
    analyzed: bool,
    /// Number of times the order was determined.
    pub analyses: usize,
}

impl<S: Field> SparseLu<S> {
    /// For n × n matrices.
    pub fn new(n: usize) -> Self {
        SparseLu {
            n,
            steps: Vec::new(),
            place: vec![0; n],
            lower: Vec::new(),
            upper: Vec::new(),
            l: Vec::new(),
            u: Vec::new(),
            pivot: vec![S::default(); n],
            dense: vec![S::default(); n],
            work: vec![S::default(); n],
            analyzed: false,
            analyses: 0,
        }
    }

    /// Number of entries of L and U.
    pub fn num_entries(&self) -> usize {
        self.n + self.lower.iter().chain(&self.upper).map(Vec::len).sum::<usize>()
    }

    /// Finds an order of elimination for these values: at each step the entry with the fewest others in its row and
    /// column, (r − 1)(c − 1), among those not much smaller than the largest of their row.
    fn analyze(&mut self, pattern: &Pattern, values: &[S]) -> Result<(), Singular> {
        let n = self.n;
        self.analyzed = false;
        self.analyses += 1;
        // Rows still to be eliminated as dense values and lists of columns; n is a few hundred.
        let mut a = vec![S::default(); n * n];
        let mut there = vec![false; n * n];
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut in_column = vec![0usize; n];
        for (r, c, k) in pattern.places() {
            a[r * n + c] = values[k];
            there[r * n + c] = true;
            rows[r].push(c);
            in_column[c] += 1;
        }
        let mut done = vec![false; n];
        let mut gone = vec![false; n];
        let mut order: Vec<Step> = Vec::with_capacity(n);
        for _ in 0..n {
            let mut best: Option<(usize, f64, usize, usize)> = None;
            for r in (0..n).filter(|&r| !done[r]) {
                let largest = rows[r].iter().map(|&c| a[r * n + c].size()).fold(0.0, f64::max);
                for &c in &rows[r] {
                    let size = a[r * n + c].size();
                    if size > 0.0 && size >= THRESHOLD * largest && size.is_finite() {
                        let count = (rows[r].len() - 1) * (in_column[c] - 1);
                        let better =
                            best.is_none_or(|(b, s, ..)| count < b || (count == b && size / largest > s));
                        if better {
                            best = Some((count, size / largest, r, c));
                        }
                    }
                }
            }
            let Some((_, _, r, c)) = best else {
                let column = (0..n).find(|&c| !gone[c]).unwrap_or(0);
                return Err(Singular { column });
            };
            done[r] = true;
            gone[c] = true;
            order.push(Step { column: c, row: r });
            let pivot_row = rows[r].clone();
            for &c in &pivot_row {
                in_column[c] -= 1;
            }
            let inverse = S::one() / a[r * n + c];
            for i in (0..n).filter(|&i| !done[i]) {
                if !there[i * n + c] {
                    continue;
                }
                let m = a[i * n + c] * inverse;
                for &j in &pivot_row {
                    if j == c {
                        continue;
                    }
                    if !there[i * n + j] {
                        there[i * n + j] = true;
                        rows[i].push(j);
                        in_column[j] += 1;
                    }
                    let value = a[i * n + j] - m * a[r * n + j];
                    a[i * n + j] = value;
                }
                // The multiplier's place stays marked as an entry of L.
                rows[i].retain(|&j| j != c);
                in_column[c] = in_column[c].saturating_sub(1);
            }
        }
        for (k, s) in order.iter().enumerate() {
            self.place[s.column] = k;
        }
        // Structure of the factors: of row r, places before its own step are L, after it U.
        self.lower.clear();
        self.upper.clear();
        for (k, s) in order.iter().enumerate() {
            let entries = (0..n).filter(|&c| there[s.row * n + c]).map(|c| self.place[c]);
            let (mut lower, mut upper): (Vec<usize>, Vec<usize>) =
                entries.filter(|&p| p != k).partition(|&p| p < k);
            lower.sort_unstable();
            upper.sort_unstable();
            self.upper.push(upper.into_iter().map(|p| order[p].column).collect());
            self.lower.push(lower);
        }
        self.l = self.lower.iter().map(|l| vec![S::default(); l.len()]).collect();
        self.u = self.upper.iter().map(|u| vec![S::default(); u.len()]).collect();
        self.steps = order;
        self.analyzed = true;
        Ok(())
    }

    /// Factors in the order found; false when a pivot is too small for it.
    fn refactor(&mut self, pattern: &Pattern, values: &[S]) -> bool {
        for k in 0..self.n {
            let Step { row, column } = self.steps[k];
            // Spread the row, with zeros where fill comes.
            for &p in &self.lower[k] {
                self.dense[self.steps[p].column] = S::default();
            }
            for &c in &self.upper[k] {
                self.dense[c] = S::default();
            }
            self.dense[column] = S::default();
            let (columns, start) = pattern.row(row);
            for (c, v) in columns.iter().zip(&values[start..]) {
                self.dense[*c] = *v;
            }
            for (i, &p) in self.lower[k].iter().enumerate() {
                let m = self.dense[self.steps[p].column] * self.pivot[p];
                self.l[k][i] = m;
                if m != S::default() {
                    for (&c, &u) in self.upper[p].iter().zip(&self.u[p]) {
                        self.dense[c] = self.dense[c] - m * u;
                    }
                }
            }
            let pivot = self.dense[column];
            let mut largest = pivot.size();
            for (u, &c) in self.u[k].iter_mut().zip(&self.upper[k]) {
                *u = self.dense[c];
                largest = largest.max(u.size());
            }
            let size = pivot.size();
            if !(size > 0.0) || !size.is_finite() || size < KEEP_ORDER_ABOVE * largest {
                return false;
            }
            self.pivot[k] = S::one() / pivot;
        }
        true
    }
}

impl<S: Field> LinearSolver<S> for SparseLu<S> {
    fn factorize(&mut self, pattern: &Pattern, values: &[S]) -> Result<(), Singular> {
        if self.analyzed && self.refactor(pattern, values) {
            return Ok(());
        }
        self.analyze(pattern, values)?;
        if self.refactor(pattern, values) {
            return Ok(());
        }
        // A fresh order fails only where the matrix is singular to working accuracy.
        self.analyzed = false;
        Err(Singular { column: self.steps.last().map_or(0, |s| s.column) })
    }

    fn solve(&mut self, b: &mut [S]) {
        for k in 0..self.steps.len() {
            let mut s = b[self.steps[k].row];
            for (&p, &m) in self.lower[k].iter().zip(&self.l[k]) {
                s = s - m * self.work[p];
            }
            self.work[k] = s;
        }
        for k in (0..self.steps.len()).rev() {
            let mut s = self.work[k];
            for (&c, &u) in self.upper[k].iter().zip(&self.u[k]) {
                s = s - u * b[c];
            }
            b[self.steps[k].column] = s * self.pivot[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Complex, DenseLu};
    use super::*;
    use soleus_math::Random;

    /// A seeded sparse matrix of order 30, and others of its pattern: the same solutions as from dense factors.
    #[test]
    fn identity_sparse_and_dense_factors() {
        let mut seeded = Random::new(7);
        let mut random = || 0.5 * seeded.signed();
        let n = 30;
        let rows: Vec<Vec<usize>> = (0..n)
            .map(|r| {
                let mut row = vec![(r * 7 + 3) % n, (r + 1) % n];
                row.extend((0..n).filter(|_| random() > 0.4));
                row
            })
            .collect();
        let pattern = Pattern::from_rows(&rows);
        let (mut sparse, mut dense) = (SparseLu::new(n), DenseLu::new(n));
        for _ in 0..4 {
            let values: Vec<Complex> = (0..pattern.len()).map(|_| Complex::new(random(), random())).collect();
            let b: Vec<Complex> = (0..n).map(|_| Complex::new(random(), random())).collect();
            sparse.factorize(&pattern, &values).unwrap();
            dense.factorize(&pattern, &values).unwrap();
            let (mut x, mut y) = (b.clone(), b);
            sparse.solve(&mut x);
            dense.solve(&mut y);
            for (x, y) in x.iter().zip(&y) {
                assert!((*x - *y).size() < 1e-8 * y.size().max(1.0), "{x:?} {y:?}");
            }
        }
        assert!(sparse.num_entries() < n * n);
    }

    #[test]
    fn analytic_singular_matrix_is_an_error() {
        let p = Pattern::dense(2);
        assert!(SparseLu::new(2).factorize(&p, &[1.0, 2.0, 2.0, 4.0]).is_err());
        assert!(SparseLu::new(2).factorize(&p, &[f64::NAN; 4]).is_err());
    }
}
