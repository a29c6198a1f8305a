//! Factorization of a dense symmetric indefinite matrix.

use super::Inertia;
use super::front::{FrontScratch, PartialFactorization, Pivot};
use pulp::Arch;

/// P A Pᵀ = L D Lᵀ of a dense symmetric matrix, with 1×1 and 2×2 pivots, and its inertia.
///
/// It uses the same kernel as the fronts of [`SparseLdlt`](super::SparseLdlt). Memory is reused between calls.
#[derive(Clone, Debug, Default)]
pub struct DenseLdlt {
    l: Vec<f64>,
    index: Vec<u32>,
    pivots: Vec<Pivot>,
    done: usize,
    local: Vec<f64>,
    scratch: FrontScratch,
    arch: Arch,
}

impl DenseLdlt {
    /// Factorizes an n × n matrix stored by columns, of which the lower triangle is read.
    pub fn factor(&mut self, n: usize, matrix: &[f64]) -> Inertia {
        self.l.clear();
        self.l.extend_from_slice(&matrix[..n * n]);
        self.index.clear();
        self.index.extend(0..n as u32);
        self.pivots.clear();
        let (panel, index, pivots) = (&mut self.l[..], &mut self.index[..], &mut self.pivots);
        let scratch = &mut self.scratch;
        let task =
            PartialFactorization { panel, square: &mut [], m: n, candidates: n, index, pivots, scratch };
        self.done = self.arch.dispatch(task);
        let mut inertia = Inertia { zero: n - self.done, ..Default::default() };
        self.pivots.iter().for_each(|p| p.count(&mut inertia));
        inertia
    }

    /// Solves A x = b in place with the last factorization; unknowns without a pivot become zero.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.index.len();
        let y = &mut self.local;
        y.clear();
        y.extend(self.index.iter().map(|&i| b[i as usize]));
        for j in 0..self.done {
            let (left, right) = y.split_at_mut(j + 1);
            for (y, l) in right.iter_mut().zip(&self.l[j * n + j + 1..(j + 1) * n]) {
                *y -= l * left[j];
            }
        }
        let mut j = 0;
        for pivot in &self.pivots {
            j += pivot.divide(&mut y[j..]);
        }
        y[self.done..].fill(0.0);
        for j in (0..self.done).rev() {
            let (left, right) = y.split_at_mut(j + 1);
            left[j] -= right.iter().zip(&self.l[j * n + j + 1..(j + 1) * n]).map(|(y, l)| y * l).sum::<f64>();
        }
        for (&i, &v) in self.index.iter().zip(y.iter()) {
            b[i as usize] = v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_small_saddle_point() {
        // [2 0 1; 0 4 1; 1 1 0] x = [3, 5, 2] has the solution [1, 1, 1].
        let mut ldlt = DenseLdlt::default();
        let inertia = ldlt.factor(3, &[2.0, 0.0, 1.0, 0.0, 4.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(inertia, Inertia { positive: 2, negative: 1, zero: 0 });
        let mut x = [3.0, 5.0, 2.0];
        ldlt.solve(&mut x);
        assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-15), "{x:?}");
    }
}
