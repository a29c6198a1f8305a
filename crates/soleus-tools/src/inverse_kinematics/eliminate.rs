//! Constraints taken out of a quadratic problem.

/// Pivots below this part of the largest entry count as zero: the equation repeats others.
const REDUNDANT: f64 = 1e-9;

/// Solves G δ = −e for some of the unknowns, the dependent ones, in terms of the rest:
///
///   δ_D = p + T δ_I                                                (1)
///
/// by Gauss–Jordan elimination, each row on its largest entry; of equal ones the one that may move most freely.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    n: usize,
    /// The equations, reduced: row by row n numbers.
    rows: Vec<f64>,
    /// −e, reduced.
    rhs: Vec<f64>,
    /// Dependent unknown of each row, or `usize::MAX` for a row that repeats others.
    pub pivot: Vec<usize>,
    /// Whether an unknown is independent.
    pub is_independent: Vec<bool>,
    /// Preference as a pivot, 1 or above.
    pub preference: Vec<f64>,
}

impl Elimination {
    /// Room for m equations in n unknowns.
    pub fn new(m: usize, n: usize) -> Self {
        Elimination {
            n,
            rows: vec![0.0; m * n],
            rhs: vec![0.0; m],
            pivot: vec![usize::MAX; m],
            is_independent: vec![true; n],
            preference: vec![1.0; n],
        }
    }

    /// Reduces the equations G δ = −e; G row by row.
    pub fn compute(&mut self, G: &[f64], e: &[f64]) {
        let (n, m) = (self.n, self.rhs.len());
        self.is_independent.fill(true);
        if m == 0 {
            return;
        }
        self.rows.copy_from_slice(&G[..m * n]);
        for (r, e) in self.rhs.iter_mut().zip(e) {
            *r = -e;
        }
        for r in 0..m {
            let (mut best, mut most) = (usize::MAX, 0.0);
            let mut largest: f64 = 0.0;
            for j in 0..n {
                largest = largest.max(G[r * n + j].abs());
                let x = self.rows[r * n + j].abs();
                // An entry that is lost in rounding is not a pivot, however much it is preferred.
                if x > REDUNDANT && x * self.preference[j] > most {
                    (best, most) = (j, x * self.preference[j]);
                }
            }
            self.pivot[r] = best;
            if best == usize::MAX || !(self.rows[r * n + best].abs() > REDUNDANT * largest) {
                self.pivot[r] = usize::MAX;
                continue;
            }
            self.is_independent[best] = false;
            let inverse = 1.0 / self.rows[r * n + best];
            for x in &mut self.rows[r * n..(r + 1) * n] {
                *x *= inverse;
            }
            self.rhs[r] *= inverse;
            for s in 0..m {
                let factor = self.rows[s * n + best];
                if s == r || factor == 0.0 {
                    continue;
                }
                for j in 0..n {
                    self.rows[s * n + j] -= factor * self.rows[r * n + j];
                }
                self.rhs[s] -= factor * self.rhs[r];
            }
        }
    }

    /// p of (1) for each dependent unknown, 0 for the rest.
    pub fn particular(&self, delta: &mut [f64]) {
        delta.fill(0.0);
        for (r, &d) in self.pivot.iter().enumerate() {
            if d != usize::MAX {
                delta[d] = self.rhs[r];
            }
        }
    }

    /// Completes δ by (1), from its independent part.
    pub fn complete(&self, delta: &mut [f64]) {
        for (r, &d) in self.pivot.iter().enumerate() {
            if d == usize::MAX {
                continue;
            }
            let mut x = self.rhs[r];
            for (j, t) in self.rows[r * self.n..(r + 1) * self.n].iter().enumerate() {
                if self.is_independent[j] && *t != 0.0 {
                    x -= t * delta[j];
                }
            }
            delta[d] = x;
        }
    }

    /// Adds Tᵀ v_D of (1) to the independent part of v: a force on the dependent unknowns as the independent ones feel it.
    pub fn project(&self, v: &mut [f64]) {
        for (r, &d) in self.pivot.iter().enumerate() {
            if d == usize::MAX || v[d] == 0.0 {
                continue;
            }
            let f = v[d];
            for (j, t) in self.rows[r * self.n..(r + 1) * self.n].iter().enumerate() {
                if self.is_independent[j] {
                    v[j] -= t * f;
                }
            }
        }
    }

    /// The quadratic ½ δᵀ A δ + gᵀ δ in the independent unknowns alone. A is symmetric and full; entries of dependent
    /// unknowns are left as they are.
    pub fn reduce(&self, A: &mut [f64], g: &mut [f64], scratch: &mut [f64]) {
        let n = self.n;
        // g + A p first, which needs A as it was.
        self.particular(scratch);
        for (d, &p) in scratch.iter().enumerate() {
            if p != 0.0 {
                for j in 0..n {
                    g[j] += A[j * n + d] * p;
                }
            }
        }
        // Columns, then rows: what a dependent unknown carries goes to the ones it follows.
        for (d, j, t) in self.follows() {
            for i in 0..n {
                A[i * n + j] += t * A[i * n + d];
            }
            g[j] += t * g[d];
        }
        for (d, j, t) in self.follows() {
            for i in 0..n {
                A[j * n + i] += t * A[d * n + i];
            }
        }
    }

    /// Dependent unknowns d, the independent ones j that each follows, and how much t of x_j is in x_d.
    fn follows(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let n = self.n;
        let dependent = self.pivot.iter().enumerate().filter(|(_, d)| **d != usize::MAX);
        dependent.flat_map(move |(r, &d)| {
            let row = self.rows[r * n..(r + 1) * n].iter().enumerate();
            row.filter(move |&(j, x)| j != d && *x != 0.0 && self.is_independent[j])
                .map(move |(j, x)| (d, j, -x))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_completed_steps_meet_the_equations() {
        // Three equations in five unknowns, the last one the sum of the others.
        let mut G = vec![1.0, 2.0, 0.0, -1.0, 0.5, 0.0, 1.0, 3.0, 0.0, -2.0];
        let sum: Vec<f64> = (0..5).map(|j| G[j] + G[5 + j]).collect();
        G.extend(sum);
        let e = [0.3, -0.2, 0.1];
        let mut x = Elimination::new(3, 5);
        x.compute(&G, &e);
        assert_eq!(x.pivot.iter().filter(|p| **p == usize::MAX).count(), 1);
        let mut delta = [0.7, -0.4, 1.3, 0.2, 0.9];
        x.complete(&mut delta);
        for r in 0..3 {
            let s: f64 = (0..5).map(|j| G[r * 5 + j] * delta[j]).sum();
            // A few products of numbers of order 1.
            assert!((s + e[r]).abs() < 1e-14, "{r}: {s}");
        }
    }

    #[test]
    fn identity_reduced_quadratic_is_the_quadratic() {
        let n = 4;
        let G = [0.0, 2.0, -1.0, 0.5];
        let mut x = Elimination::new(1, n);
        x.compute(&G, &[0.3]);
        let mut A = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                A[i * n + j] = 1.0 / (1.0 + (i + j) as f64) + if i == j { 1.0 } else { 0.0 };
            }
        }
        let g = vec![0.1, -0.4, 0.3, 0.8];
        let value = |d: &[f64]| -> f64 {
            let quadratic: f64 = (0..n)
                .flat_map(|i| (0..n).map(move |j| (i, j)))
                .map(|(i, j)| d[i] * A[i * n + j] * d[j])
                .sum();
            0.5 * quadratic + d.iter().zip(&g).map(|(d, g)| d * g).sum::<f64>()
        };
        let (mut R, mut h) = (A.clone(), g.clone());
        x.reduce(&mut R, &mut h, &mut [0.0; 4]);
        let at = |mut d: [f64; 4]| {
            x.complete(&mut d);
            value(&d)
        };
        let zero = at([0.0; 4]);
        let d = [0.2, 0.0, -0.6, 0.9];
        let free: Vec<usize> = (0..n).filter(|&i| x.is_independent[i]).collect();
        let mut reduced = zero;
        for &i in &free {
            reduced += h[i] * d[i];
            for &j in &free {
                reduced += 0.5 * d[i] * R[i * n + j] * d[j];
            }
        }
        assert!((reduced - at(d)).abs() < 1e-14, "{reduced} {}", at(d));
    }
}
