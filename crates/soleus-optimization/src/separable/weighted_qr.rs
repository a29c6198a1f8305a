//! Least squares whose rows differ by many orders.
//!
//! With the rows in order of size, Householder's reflections and exchange of columns round each row by a part of its own size only
//! (Cox & Higham 1998), where the normal equations would lose all that is smaller than a part 1e-16 of the squares of the largest.

/// B of k rows and m columns as Q R, and room to find it.
#[derive(Clone, Debug)]
pub(super) struct WeightedQr {
    m: usize,
    /// Rows of B, then R above the diagonal and the reflections below it.
    b: Vec<f64>,
    /// First entry of each reflection, and 2/‖v‖².
    head: Vec<f64>,
    beta: Vec<f64>,
    /// Right-hand side, row by row.
    rhs: Vec<f64>,
    /// Sizes of the columns, by which they are divided, and which column stands where.
    size: Vec<f64>,
    place: Vec<usize>,
    /// Sum of the squares of a row and all after it.
    after: Vec<f64>,
    w: Vec<f64>,
    y: Vec<f64>,
    rows: usize,
    rank: usize,
}

/// A column counts if it has more than this many times the rounding of the rows that are left.
const ABOVE_ROUNDING: f64 = 30.0;

impl WeightedQr {
    pub fn new(m: usize, n: usize) -> Self {
        let v = vec![0.0; m];
        WeightedQr {
            m,
            b: vec![0.0; m * n],
            head: v.clone(),
            beta: v.clone(),
            rhs: vec![0.0; n],
            size: v.clone(),
            place: vec![0; m],
            after: vec![0.0; n + 1],
            w: v.clone(),
            y: v,
            rows: 0,
            rank: 0,
        }
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.rows = 0;
    }

    /// The next row by its entries, and its right-hand side; rows come in order of size, the largest first, in units of the sizes of the
    /// columns.
    pub fn push(&mut self, entries: impl Iterator<Item = (usize, f64)>, rhs: f64) {
        let row = &mut self.b[self.rows * self.m..(self.rows + 1) * self.m];
        row.fill(0.0);
        entries.for_each(|(c, a)| row[c] = a);
        self.rhs[self.rows] = rhs;
        self.rows += 1;
    }

    /// Finds Q and R, and Qᵀ times the right-hand side.
    pub fn factorize(&mut self) {
        let (m, k) = (self.m, self.rows);
        for c in 0..m {
            let sum: f64 = (0..k).map(|r| self.b[r * m + c].powi(2)).sum();
            self.size[c] = sum.sqrt();
            self.place[c] = c;
            if sum > 0.0 {
                (0..k).for_each(|r| self.b[r * m + c] /= self.size[c]);
            }
        }
        self.after[k] = 0.0;
        for r in (0..k).rev() {
            let row = &self.b[r * m..(r + 1) * m];
            self.after[r] = self.after[r + 1] + row.iter().map(|b| b * b).sum::<f64>();
        }
        self.rank = 0;
        for j in 0..m.min(k) {
            let left = |c: usize| (j..k).map(|r| self.b[r * m + c].powi(2)).sum::<f64>();
            let (mut pivot, mut most) = (j, 0.0);
            for c in j..m {
                let sum = left(c);
                if sum > most {
                    (pivot, most) = (c, sum);
                }
            }
            if !(most.sqrt() > ABOVE_ROUNDING * f64::EPSILON * self.after[j].sqrt()) {
                break;
            }
            if pivot != j {
                (0..k).for_each(|r| self.b.swap(r * m + j, r * m + pivot));
                self.place.swap(j, pivot);
            }
            let first = self.b[j * m + j];
            let alpha = -most.sqrt().copysign(first);
            self.head[j] = first - alpha;
            self.beta[j] = 1.0 / (alpha * (alpha - first));
            self.b[j * m + j] = alpha;
            for c in j + 1..m {
                let mut dot = self.head[j] * self.b[j * m + c];
                for r in j + 1..k {
                    dot += self.b[r * m + j] * self.b[r * m + c];
                }
                let t = self.beta[j] * dot;
                self.b[j * m + c] -= t * self.head[j];
                for r in j + 1..k {
                    self.b[r * m + c] -= t * self.b[r * m + j];
                }
            }
            reflect(&self.b, m, j, k, self.head[j], self.beta[j], &mut self.rhs);
            self.rank = j + 1;
        }
    }

    /// With γ the right-hand side, λ of BᵀB λ = Bᵀγ + `off`, and B λ − γ row by row in [`residual`](Self::residual).
    pub fn solve(&mut self, off: &[f64], lambda: &mut [f64]) {
        let (m, k, rank) = (self.m, self.rows, self.rank);
        // w = R⁻ᵀ off.
        for j in 0..rank {
            let mut sum = off[self.place[j]] / self.size[self.place[j]];
            for i in 0..j {
                sum -= self.b[i * m + j] * self.w[i];
            }
            self.w[j] = sum / self.b[j * m + j];
        }
        for (t, w) in self.rhs.iter_mut().zip(&self.w[..rank]) {
            *t += w;
        }
        lambda.fill(0.0);
        self.add_solution(lambda);
        // Q (w, −what is left of Qᵀγ).
        self.rhs[..rank].copy_from_slice(&self.w[..rank]);
        self.rhs[rank..k].iter_mut().for_each(|r| *r = -*r);
        for j in (0..rank).rev() {
            reflect(&self.b, m, j, k, self.head[j], self.beta[j], &mut self.rhs);
        }
    }

    /// Adds to λ the least squares solution of B Δ = r, r given row by row: what rounding took from it.
    pub fn improve(&mut self, r: impl Iterator<Item = f64>, lambda: &mut [f64]) {
        self.rhs.iter_mut().zip(r).for_each(|(to, r)| *to = r);
        for j in 0..self.rank {
            reflect(&self.b, self.m, j, self.rows, self.head[j], self.beta[j], &mut self.rhs);
        }
        self.add_solution(lambda);
    }

    /// λ += R⁻¹ times what stands in the right-hand side.
    fn add_solution(&mut self, lambda: &mut [f64]) {
        let m = self.m;
        for j in (0..self.rank).rev() {
            let row = &self.b[j * m..j * m + self.rank];
            let known: f64 = (j + 1..self.rank).map(|c| row[c] * self.y[c]).sum();
            self.y[j] = (self.rhs[j] - known) / row[j];
        }
        for j in 0..self.rank {
            lambda[self.place[j]] += self.y[j] / self.size[self.place[j]];
        }
    }

    /// B λ − γ after [`solve`](Self::solve).
    pub fn residual(&self) -> &[f64] {
        &self.rhs[..self.rows]
    }
}

/// Applies reflection j to a vector of k entries.
fn reflect(b: &[f64], m: usize, j: usize, k: usize, head: f64, beta: f64, v: &mut [f64]) {
    let mut dot = head * v[j];
    for r in j + 1..k {
        dot += b[r * m + j] * v[r];
    }
    let t = beta * dot;
    v[j] -= t * head;
    for r in j + 1..k {
        v[r] -= t * b[r * m + j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows from 1e8 down to 1e-8: the equations BᵀB λ = Bᵀγ + off hold as closely as each of their terms is rounded.
    #[test]
    fn identity_rows_of_all_sizes() {
        let (m, k) = (4, 9);
        let value = |r: usize, c: usize| (((1 + 3 * r) * (2 + 5 * c)) as f64).sin();
        let size = |r: usize| 10f64.powi(8 - 2 * r as i32);
        let row = |r: usize| (0..m).map(move |c| (c, size(r) * value(r, c)));
        let gamma = |r: usize| (r as f64).cos() / size(r);
        let mut qr = WeightedQr::new(m, k);
        (0..k).for_each(|r| qr.push(row(r), gamma(r)));
        qr.factorize();
        let (off, mut lambda) = ([0.3, -0.2, 0.5, 0.1], [0.0; 4]);
        qr.solve(&off, &mut lambda);
        // Bᵀ (B λ − γ) = off, through the residual, which the large rows do not drown.
        for c in 0..m {
            let sum: f64 = (0..k).map(|r| size(r) * value(r, c) * qr.residual()[r]).sum();
            assert!((sum - off[c]).abs() < 1e-12, "{c}: {sum}");
        }
        // Of the small rows the residual is −γ and what λ adds.
        for r in 4..k {
            let b: f64 = row(r).map(|(c, b)| b * lambda[c]).sum();
            let residual = b - gamma(r);
            assert!((qr.residual()[r] - residual).abs() < 1e-9 * (b.abs() + gamma(r).abs()), "{r}");
        }
    }
}
