//! Newton's step over a basis of the cheapest unknowns.
//!
//! With B the columns of as many unknowns as there are equations and N the others, A d = f is d_B = β − T d_N, where T = B⁻¹ N and
//! β = B⁻¹ f, and the least of Σ ½ h² d² + h γ d over all unknowns off their bounds is
//!
//!   (I + G Gᵀ) q = h_B β + γ_B + G γ_N,   h_B d_B = q − γ_B,   h_N d_N = Gᵀ q − γ_N,   G = h_B T h_N⁻¹      (1)
//!
//! Costs h² may differ by a hundred orders of magnitude. If each basic unknown is the cheapest possible for its
//! equation, no entry of G is much larger than one, regardless of the costs: (1) is well conditioned, and every d has
//! significant digits (Hough & Vavasis 1997 use the same idea for weighted least squares). Elimination preserves zeros
//! of A, which rotations would not; a cheap unknown without effect on an equation must not get an effect of 1e-16,
//! because it would be used instead of an expensive one.

use super::Columns;
use soleus_math::dense::{factorize_cholesky, solve_cholesky};

/// What is left of a difference below this part of its terms is rounding.
const CANCELLED: f64 = 1e-11;

/// No unknown stands for this equation.
const NONE: usize = usize::MAX;

#[derive(Clone, Debug)]
pub(super) struct Basis {
    m: usize,
    n: usize,
    /// B⁻¹ A, equation by equation, each with its entry of β at the end.
    table: Vec<f64>,
    /// By equation: the basic unknown, the largest entry in the beginning, and what the best entry is worth and whose it is.
    basic: Vec<usize>,
    size: Vec<f64>,
    best: Vec<(f64, usize)>,
    /// By unknown: whether it is basic, and 1/h, 0 for those that are held.
    is_basic: Vec<bool>,
    cheap: Vec<f64>,
    /// G, equation by equation; I + G Gᵀ; q.
    g: Vec<f64>,
    matrix: Vec<f64>,
    q: Vec<f64>,
}

/// The costs of (1), by unknown. Held ones neither move nor enter the basis.
pub(super) struct Costs<'a> {
    pub is_held: &'a [bool],
    pub h: &'a [f64],
    pub gamma: &'a [f64],
    /// By equation: those of different groups share no unknown.
    pub group: &'a [usize],
}

impl Basis {
    pub fn new(m: usize, n: usize) -> Self {
        Basis {
            m,
            n,
            table: vec![0.0; m * (n + 1)],
            basic: vec![NONE; m],
            size: vec![0.0; m],
            best: vec![(0.0, 0); m],
            is_basic: vec![false; n],
            cheap: vec![0.0; n],
            g: vec![0.0; m * n],
            matrix: vec![0.0; m * m],
            q: vec![0.0; m],
        }
    }

    /// Solves (1). For each unknown off its bounds: h d, and in `pull` aᵀλ/h, what the multipliers λ of A d = f ask of it.
    pub fn solve(&mut self, columns: &Columns, f: &[f64], costs: &Costs, hd: &mut [f64], pull: &mut [f64]) {
        self.choose(columns, f, costs);
        let (m, n) = (self.m, self.n);
        self.g.fill(0.0);
        for r in (0..m).filter(|r| self.basic[*r] != NONE) {
            let (row, h) = (&self.table[r * (n + 1)..(r + 1) * (n + 1)], costs.h[self.basic[r]]);
            self.q[r] = h * row[n] + costs.gamma[self.basic[r]];
            for i in (0..n).filter(|i| row[*i] != 0.0 && !costs.is_held[*i] && !self.is_basic[*i]) {
                let g = row[i] * h / costs.h[i];
                self.g[r * n + i] = g;
                self.q[r] += g * costs.gamma[i];
            }
        }
        for r in 0..m {
            for s in 0..=r {
                let (a, b) = (&self.g[r * n..(r + 1) * n], &self.g[s * n..(s + 1) * n]);
                let is_linked = costs.group[r] == costs.group[s];
                self.matrix[r * m + s] =
                    if is_linked { a.iter().zip(b).map(|(a, b)| a * b).sum() } else { 0.0 };
            }
            self.matrix[r * m + r] += 1.0;
            if self.basic[r] == NONE {
                self.q[r] = 0.0;
            }
        }
        factorize_cholesky(&mut self.matrix, m, 0.5);
        solve_cholesky(&self.matrix, m, &mut self.q);

        pull.fill(0.0);
        for (row, q) in self.g.chunks_exact(n.max(1)).zip(&self.q) {
            pull.iter_mut().zip(row).for_each(|(pull, g)| *pull += g * q);
        }
        for r in (0..m).filter(|r| self.basic[*r] != NONE) {
            pull[self.basic[r]] = self.q[r];
        }
        for i in (0..n).filter(|i| !costs.is_held[*i]) {
            hd[i] = pull[i] - costs.gamma[i];
        }
    }

    /// What the multipliers ask of a held unknown: aᵀλ and the sum of the sizes of its terms, both in units of a cost h that is returned
    /// with them.
    pub fn pull_on_held(&self, i: usize, h: &[f64]) -> (f64, f64, f64) {
        let terms = (0..self.m).filter_map(|r| {
            let t = self.table[r * (self.n + 1) + i];
            (t != 0.0 && self.basic[r] != NONE).then(|| (t * self.q[r], h[self.basic[r]]))
        });
        let unit = terms.clone().fold(0.0, |u: f64, (_, h)| u.max(h));
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), (t, h)| {
            let t = t * (h / unit);
            (sum + t, size + t.abs())
        });
        (sum, size, unit)
    }

    /// Chooses the basis and sets B⁻¹ A and β: Gauss and Jordan's elimination, of all entries left always by the largest, in
    /// units of the size of its equation and of what its unknown costs.
    fn choose(&mut self, columns: &Columns, f: &[f64], costs: &Costs) {
        let (m, n, width) = (self.m, self.n, self.n + 1);
        self.table.fill(0.0);
        self.size.fill(0.0);
        self.basic.fill(NONE);
        self.is_basic.fill(false);
        for i in 0..n {
            for (r, a) in columns.entries(i) {
                self.table[r * width + i] = a;
                self.size[r] = self.size[r].max(a.abs());
            }
        }
        for (r, f) in f.iter().enumerate() {
            self.table[r * width + n] = *f;
        }
        for (cheap, (h, is_held)) in self.cheap.iter_mut().zip(costs.h.iter().zip(costs.is_held)) {
            *cheap = if *is_held { 0.0 } else { 1.0 / h };
        }
        (0..m).for_each(|r| self.find_best(r));
        loop {
            let (mut r, mut most) = (0, 0.0);
            for (s, (worth, _)) in self.best.iter().enumerate().filter(|(s, _)| self.basic[*s] == NONE) {
                if *worth > most {
                    (r, most) = (s, *worth);
                }
            }
            if most == 0.0 {
                return;
            }
            let i = self.best[r].1;
            self.basic[r] = i;
            self.is_basic[i] = true;
            let by = self.table[r * width + i];
            self.table[r * width..(r + 1) * width].iter_mut().for_each(|a| *a /= by);
            for s in (0..m).filter(|s| *s != r) {
                let (row, other) = two_rows(&mut self.table, width, r, s);
                let factor = other[i];
                if factor == 0.0 {
                    continue;
                }
                for (a, b) in other.iter_mut().zip(row).filter(|(_, b)| **b != 0.0) {
                    let (old, change) = (*a, factor * *b);
                    let new = old - change;
                    *a = if new.abs() <= CANCELLED * old.abs().max(change.abs()) { 0.0 } else { new };
                }
                other[i] = 0.0;
                if self.basic[s] == NONE {
                    self.find_best(s);
                }
            }
        }
    }

    /// The entry of an equation that is worth most.
    fn find_best(&mut self, r: usize) {
        let row = &self.table[r * (self.n + 1)..r * (self.n + 1) + self.n];
        let mut best = (0.0, 0);
        for (i, (a, cheap)) in row.iter().zip(&self.cheap).enumerate() {
            let worth = a.abs() * cheap;
            if worth > best.0 {
                best = (worth, i);
            }
        }
        self.best[r] = (if best.0 > 0.0 { best.0 / self.size[r] } else { 0.0 }, best.1);
    }
}

/// Rows r and s of a table, which differ.
fn two_rows(table: &mut [f64], width: usize, r: usize, s: usize) -> (&[f64], &mut [f64]) {
    let (low, high) = table.split_at_mut(r.max(s) * width);
    let (low, high) = (&mut low[r.min(s) * width..][..width], &mut high[..width]);
    if r < s { (low, high) } else { (high, low) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Solved {
        hd: Vec<f64>,
        pull: Vec<f64>,
    }

    fn solve(columns: &Columns, (m, n): (usize, usize), f: &[f64], h: &[f64], gamma: &[f64]) -> Solved {
        let (mut hd, mut pull) = (vec![0.0; n], vec![0.0; n]);
        let costs = Costs { is_held: &vec![false; n], h, gamma, group: &vec![0; m] };
        Basis::new(m, n).solve(columns, f, &costs, &mut hd, &mut pull);
        Solved { hd, pull }
    }

    /// One equation, with costs h from 1e-40 to 1e40: λ = (f + Σ a γ/h)/Σ a²/h².
    #[test]
    fn analytic_one_equation() {
        let n = 9;
        let mut columns = Columns::new(1, n);
        let a: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sin()).collect();
        a.iter().for_each(|a| columns.push(&[*a]));
        let h: Vec<f64> = (0..n).map(|i| 10f64.powi(10 * (i as i32 - 4))).collect();
        let gamma: Vec<f64> = h.iter().map(|h| 0.3 * h).collect();
        let f = [0.7];
        let s = solve(&columns, (1, n), &f, &h, &gamma);
        let sum = |g: &dyn Fn(usize) -> f64| (0..n).map(g).sum::<f64>();
        let lambda = (f[0] + sum(&|i| a[i] * gamma[i] / h[i])) / sum(&|i| (a[i] / h[i]).powi(2));
        for i in 0..n {
            let pull = a[i] * lambda / h[i];
            assert!((s.pull[i] - pull).abs() <= 1e-14 * pull.abs(), "{i}: {} and {pull}", s.pull[i]);
            let hd = pull - gamma[i];
            assert!((s.hd[i] - hd).abs() <= 1e-14 * (pull.abs() + gamma[i]), "{i}: {} and {hd}", s.hd[i]);
        }
    }

    /// The step leads onto the equations, and what it leaves of the gradient is aᵀλ of one λ, whatever the costs: λ is found from as many
    /// unknowns as there are equations, and asked of the others.
    #[test]
    fn identity_steps_of_several_equations() {
        let (m, n) = (3, 8);
        let value = |r: usize, i: usize| (((1 + 3 * r) * (2 + 5 * i)) as f64).sin();
        let mut columns = Columns::new(m, n);
        (0..n).for_each(|i| columns.push(&[value(0, i), value(1, i), value(2, i)]));
        for spread in [0, 2, 20] {
            let h: Vec<f64> = (0..n).map(|i| 10f64.powi(spread * ((3 * i) as i32 % 8 - 4))).collect();
            let gamma: Vec<f64> = (0..n).map(|i| h[i] * (i as f64).cos()).collect();
            let f = [0.3, -0.2, 0.5];
            let s = solve(&columns, (m, n), &f, &h, &gamma);
            for r in 0..m {
                let sum: f64 = (0..n).map(|i| value(r, i) * s.hd[i] / h[i]).sum();
                assert!((sum - f[r]).abs() < 1e-13, "{spread}, equation {r}: {sum}");
            }
            // λ of the dearest, whose pulls are the largest.
            let mut dear: Vec<usize> = (0..n).collect();
            dear.sort_by(|a, b| h[*b].total_cmp(&h[*a]));
            if spread > 2 {
                // The three cheapest carry the equations: nothing is left for the others to do.
                for &i in &dear[..n - m] {
                    assert!((s.hd[i] + gamma[i]).abs() <= 1e-13 * gamma[i].abs(), "{i}");
                }
                continue;
            }
            let [a, b, c] = [dear[0], dear[1], dear[2]].map(|i| [value(0, i), value(1, i), value(2, i)]);
            let y = [0, 1, 2].map(|k| s.pull[dear[k]] * h[dear[k]]);
            let det = |p: [f64; 3], q: [f64; 3], r: [f64; 3]| {
                p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0])
                    + p[2] * (q[0] * r[1] - q[1] * r[0])
            };
            for &i in &dear[3..] {
                let v = [value(0, i), value(1, i), value(2, i)];
                // aᵀλ of this unknown by Cramer's rule.
                let w = [det(v, b, c), det(a, v, c), det(a, b, v)].map(|d| d / det(a, b, c));
                let asked: f64 = w.iter().zip(y).map(|(w, y)| w * y).sum();
                let terms: f64 = w.iter().zip(y).map(|(w, y)| (w * y).abs()).sum();
                assert!((s.pull[i] * h[i] - asked).abs() <= 1e-12 * terms, "{spread}, unknown {i}");
            }
        }
    }
}
