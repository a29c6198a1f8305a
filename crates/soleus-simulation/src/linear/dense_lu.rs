//! Dense LU factors with row pivoting.

use super::{Field, LinearSolver, Pattern, Singular};

/// P A = L U with row pivoting, dense. No memory is allocated after construction.
#[derive(Clone, Debug)]
pub struct DenseLu<S> {
    n: usize,
    /// L below the diagonal, U on and above, row by row.
    lu: Vec<S>,
    /// Row that was exchanged with row k.
    pivots: Vec<usize>,
}

impl<S: Field> DenseLu<S> {
    /// For n × n matrices.
    pub fn new(n: usize) -> Self {
        DenseLu { n, lu: vec![S::default(); n * n], pivots: vec![0; n] }
    }

    /// Factorises what is in `lu`.
    fn eliminate(&mut self) -> Result<(), Singular> {
        let n = self.n;
        for k in 0..n {
            let (mut p, mut largest) = (k, 0.0);
            for i in k..n {
                let s = self.lu[i * n + k].size();
                if s > largest {
                    (p, largest) = (i, s);
                }
            }
            // Also when the column holds NaN only.
            if !(largest > 0.0) || !largest.is_finite() {
                return Err(Singular { column: k });
            }
            self.pivots[k] = p;
            if p != k {
                for j in 0..n {
                    self.lu.swap(k * n + j, p * n + j);
                }
            }
            let (top, below) = self.lu.split_at_mut((k + 1) * n);
            let pivot_row = &top[k * n..];
            let inverse = S::one() / pivot_row[k];
            for row in below.chunks_exact_mut(n) {
                if row[k] == S::default() {
                    continue;
                }
                let m = row[k] * inverse;
                row[k] = m;
                for (x, &u) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *x = *x - m * u;
                }
            }
        }
        Ok(())
    }
}

impl<S: Field> LinearSolver<S> for DenseLu<S> {
    fn factorize(&mut self, pattern: &Pattern, values: &[S]) -> Result<(), Singular> {
        let n = self.n;
        self.lu.fill(S::default());
        for (r, c, k) in pattern.places() {
            self.lu[r * n + c] = values[k];
        }
        self.eliminate()
    }

    fn solve(&mut self, b: &mut [S]) {
        let n = self.n;
        for k in 0..n {
            b.swap(k, self.pivots[k]);
        }
        for i in 1..n {
            let mut s = b[i];
            for (&l, &x) in self.lu[i * n..i * n + i].iter().zip(&b[..i]) {
                s = s - l * x;
            }
            b[i] = s;
        }
        for i in (0..n).rev() {
            let mut s = b[i];
            for (&u, &x) in self.lu[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..]) {
                s = s - u * x;
            }
            b[i] = s / self.lu[i * n + i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Complex;
    use super::*;

    #[test]
    fn analytic_solution_is_found_back() {
        let p = Pattern::from_rows(&[vec![1, 2], vec![0, 2], vec![0, 1, 2]]);
        let a = [2.0, -1.0, 3.0, 0.5, 1.0, 4.0, -2.0];
        let want = [0.5, -1.0, 2.0];
        let mut b = [0.0; 3];
        p.multiply(&a, &want, &mut b);
        let mut lu = DenseLu::new(3);
        lu.factorize(&p, &a).unwrap();
        lu.solve(&mut b);
        for (x, w) in b.iter().zip(want) {
            assert!((x - w).abs() < 1e-14, "{x} {w}");
        }

        // (1 + i) z = 2i has the solution 1 + i.
        let mut lu = DenseLu::new(1);
        lu.factorize(&Pattern::dense(1), &[Complex::new(1.0, 1.0)]).unwrap();
        let mut b = [Complex::new(0.0, 2.0)];
        lu.solve(&mut b);
        assert_eq!(b[0], Complex::new(1.0, 1.0));
    }

    #[test]
    fn analytic_singular_column_is_named() {
        let mut lu = DenseLu::new(2);
        let e = lu.factorize(&Pattern::dense(2), &[1.0, 2.0, 2.0, 4.0]).unwrap_err();
        assert_eq!(e, Singular { column: 1 });
    }
}
