//! Linear equations of a Gauss–Newton step: banded in time, with a border for the parameters.

use super::Iterate;
use super::basis::Basis;
use super::frame::{Frames, Terms};
use super::parameters::Kind;
use soleus_optimization::SparsityPattern;
use soleus_optimization::linear::{SparseLdlt, SymbolicFactorization};

/// [H Jᵀ; J −D] (Δ, λ) = (−g, −c). Unknowns: coefficients by function and mobility, multipliers by frame and equation, parameters,
/// and the multiplier of the total mass.
pub(super) struct Kkt {
    ldlt: SparseLdlt,
    pattern: SparsityPattern,
    values: Vec<f64>,
    rhs: Vec<f64>,
    /// Mobilities, equations per frame, frames, parameters.
    n: usize,
    m: usize,
    frames: usize,
    p: usize,
    has_mass: bool,
}

/// Functions whose third derivatives overlap with that of a later one; but for the last, all their mobilities are coupled.
const BEFORE: usize = 5;

/// Most entries of the equations. They and their factors take some 40 bytes each; 100 coordinates and 700 frames have as many.
pub(super) const MOST_ENTRIES: usize = 40_000_000;

/// What keeps constraints of the model that say the same twice from being singular.
const REDUNDANT: f64 = 1e-12;

impl Kkt {
    /// An upper bound of the number of entries of the equations.
    pub fn entries(frames: usize, n: usize, m: usize, p: usize) -> usize {
        let a_frame = n * (BEFORE * n + 1) + m * (BEFORE * n + 1);
        let border = (p + 1).saturating_mul(frames.saturating_mul(n + m) + p + 1);
        frames.saturating_mul(a_frame).saturating_add(border)
    }

    pub fn new(basis: &Basis, n: usize, m: usize, p: usize, has_mass: bool) -> Self {
        let frames = basis.len();
        let (first_row, first_parameter) = (frames * n, frames * (n + m));
        let size = first_parameter + p + usize::from(has_mass);
        let mut places = Vec::with_capacity(Self::entries(frames, n, m, p));
        let mut order: Vec<u32> = Vec::with_capacity(size);
        for k in 0..frames {
            for j in 0..n {
                let row = k * n + j;
                if k >= BEFORE {
                    places.push((row, (k - BEFORE) * n + j));
                }
                let from = k.saturating_sub(BEFORE - 1) * n;
                places.extend((from..=row).map(|column| (row, column)));
            }
            for r in 0..m {
                let (row, b) = (first_row + k * m + r, &basis.rows[k]);
                places.extend((b.first * n..(b.first + b.at.len()) * n).map(|column| (row, column)));
                places.push((row, row));
            }
        }
        for a in 0..p {
            places.extend((0..=first_parameter + a).map(|column| (first_parameter + a, column)));
        }
        if has_mass {
            places.extend((first_parameter..size).map(|column| (size - 1, column)));
        }
        // In the order of time: a frame's equations after the last function that they contain.
        let mut next = 0;
        for k in 0..frames {
            order.extend((k * n..(k + 1) * n).map(|i| i as u32));
            while next < frames && basis.rows[next].first + basis.rows[next].at.len() <= k + 1 {
                order.extend((0..m).map(|r| (first_row + next * m + r) as u32));
                next += 1;
            }
        }
        order.extend((first_parameter..size).map(|i| i as u32));
        let pattern = SparsityPattern::from_places(size, size, places);
        let ldlt = SparseLdlt::new(SymbolicFactorization::with_order(&pattern, order));
        let values = vec![0.0; pattern.len()];
        Kkt { ldlt, pattern, values, rhs: vec![0.0; size], n, m, frames, p, has_mass }
    }

    /// Number of entries of the equations.
    #[cfg(test)]
    pub fn num_entries(&self) -> usize {
        self.pattern.len()
    }

    /// Where the values of row (k, j) against all mobilities of function l ≤ k begin; for l = k − 5 the only one there.
    fn coefficient(&self, k: usize, j: usize, l: usize) -> usize {
        let begin = self.pattern.row(k * self.n + j).1;
        let lead = usize::from(k >= BEFORE);
        if k - l == BEFORE { begin } else { begin + lead + (l - k.saturating_sub(BEFORE - 1)) * self.n }
    }

    pub fn fill(
        &mut self,
        basis: &Basis,
        f: &Frames,
        x: &Iterate,
        terms: &[Terms],
        residual_sd: Option<f64>,
    ) {
        let (n, m, p) = (self.n, self.m, self.p);
        let (first_row, first_parameter) = (self.frames * n, self.frames * (n + m));
        self.values.fill(0.0);
        self.rhs.fill(0.0);
        let c = &x.coefficients;
        for k in 0..self.frames {
            for back in 0..=k.min(BEFORE) {
                let l = k - back;
                for j in 0..n {
                    let s = basis.roughness[(BEFORE + 1) * k + back] * f.rough[j];
                    let at = self.coefficient(k, j, l) + if back == BEFORE { 0 } else { j };
                    self.values[at] += s;
                    self.rhs[k * n + j] -= s * c[l * n + j];
                    if back > 0 {
                        self.rhs[l * n + j] -= s * c[k * n + j];
                    }
                }
            }
        }
        let price = residual_sd.map_or(0.0, |sd| (sd / f.weight).powi(2) * self.frames as f64);
        for (frame, t) in terms.iter().enumerate() {
            let b = &basis.rows[frame];
            for (a, at_a) in b.at.iter().enumerate() {
                let k = b.first + a;
                for j in 0..n {
                    self.rhs[k * n + j] -= at_a[0] * t.g[j];
                    for (other, at_b) in b.at[..=a].iter().enumerate() {
                        let w = at_a[0] * at_b[0];
                        let begin = self.coefficient(k, j, b.first + other);
                        let end = if other == a { j + 1 } else { n };
                        let row = &t.A[j * n..j * n + end];
                        for (v, x) in self.values[begin..begin + end].iter_mut().zip(row) {
                            *v += w * x;
                        }
                    }
                }
            }
            for r in 0..m {
                let row = first_row + frame * m + r;
                let begin = self.pattern.row(row).1;
                for (a, at) in b.at.iter().enumerate() {
                    for j in 0..n {
                        let d = (0..3).map(|o| at[o] * t.J[o][r * n + j]).sum::<f64>();
                        self.values[begin + a * n + j] = d;
                    }
                }
                let is_residual = r < f.num_residuals();
                self.values[begin + b.at.len() * n] = if is_residual { -price } else { -REDUNDANT };
                self.rhs[row] = -t.c[r];
                for a in 0..p {
                    let at = self.pattern.row(first_parameter + a).1;
                    self.values[at + row] = t.Jp[r * p + a];
                }
            }
            for (at, w, rows, off) in &t.offsets {
                let sd = x.parameters.list[*at].1;
                for axis in 0..3 {
                    let row = first_parameter + at + axis;
                    let begin = self.pattern.row(row).1;
                    for (a, b0) in b.at.iter().enumerate() {
                        for j in 0..n {
                            self.values[begin + (b.first + a) * n + j] += w * sd * b0[0] * rows[axis * n + j];
                        }
                    }
                    self.values[begin + row] += w * sd * sd;
                    self.rhs[row] -= w * sd * off[axis];
                }
            }
        }
        for a in 0..p {
            let row = first_parameter + a;
            self.values[self.pattern.row(row).1 + row] += 1.0;
            self.rhs[row] -= x.parameters.values[a];
        }
        if self.has_mass {
            // Σ m₀ θ = 0, in units of the sum of m₀.
            let total = x.parameters.total_mass();
            let row = first_parameter + p;
            let begin = self.pattern.row(row).1;
            let mut sum = 0.0;
            let of = |kind: Kind, sd: f64| match kind {
                Kind::Mass { body } => sd * x.parameters.given_mass(body) / total,
                _ => 0.0,
            };
            for (a, (kind, sd)) in x.parameters.list.iter().enumerate() {
                self.values[begin + a] = of(*kind, *sd);
                sum += of(*kind, *sd) * x.parameters.values[a];
            }
            self.values[begin + p] = -REDUNDANT;
            self.rhs[row] = -sum;
        }
    }

    /// The gradient of (1) by coefficients and parameters.
    #[cfg(test)]
    pub fn gradient(&self) -> Vec<f64> {
        let (coefficients, rest) = self.rhs.split_at(self.frames * self.n);
        let parameters = &rest[self.frames * self.m..][..self.p];
        coefficients.iter().chain(parameters).map(|x| -x).collect()
    }

    /// The step of coefficients and parameters.
    pub fn solve(&mut self) -> Option<Vec<f64>> {
        self.ldlt.factor(&self.values);
        let mut x = self.rhs.clone();
        self.ldlt.solve(&mut x);
        // A step of refinement: multipliers are large beside what they hold.
        let mut left = self.rhs.clone();
        let mut at = 0;
        for row in 0..left.len() {
            for &column in self.pattern.row(row).0 {
                let v = self.values[at];
                left[row] -= v * x[column];
                if row != column {
                    left[column] -= v * x[row];
                }
                at += 1;
            }
        }
        self.ldlt.solve(&mut left);
        x.iter_mut().zip(&left).for_each(|(x, d)| *x += d);
        if !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        Some(self.step_of(&x))
    }

    /// The least step, in the metric of the last matrix, that changes the equations by −`errors`.
    pub fn correct(&mut self, errors: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.rhs.len()];
        let first_row = self.frames * self.n;
        x[first_row..first_row + errors.len()].iter_mut().zip(errors).for_each(|(x, e)| *x = -e);
        self.ldlt.solve(&mut x);
        self.step_of(&x)
    }

    fn step_of(&self, x: &[f64]) -> Vec<f64> {
        let (coefficients, rest) = x.split_at(self.frames * self.n);
        coefficients.iter().chain(&rest[self.frames * self.m..][..self.p]).copied().collect()
    }
}
