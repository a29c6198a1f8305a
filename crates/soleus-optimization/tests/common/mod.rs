//! Problems for tests and benchmarks: sums of pieces, each a function of few variables written once for any
//! scalar; derivatives come from dual numbers.
#![allow(dead_code)]

pub mod chain;

use soleus_math::{Dual, Real};
use soleus_optimization::{NonlinearProgram, SparsityPattern, Stages};

/// Directions carried at once.
const N: usize = 8;

/// A function made of pieces.
pub trait Model {
    /// Adds rows of the piece to `c`, which starts at zero, and returns its part of the objective.
    fn eval<T: Real>(&self, piece: usize, x: &[T], c: &mut [T]) -> T;
}

/// Which variables a piece reads and which rows it writes.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    pub variables: Vec<usize>,
    pub rows: Vec<usize>,
}

/// A nonlinear program from a model.
pub struct Pieces<M> {
    pub model: M,
    pub pieces: Vec<Piece>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub row_lower: Vec<f64>,
    pub row_upper: Vec<f64>,
    pub start: Vec<f64>,
    pub stages: Option<Stages>,
    jacobian: SparsityPattern,
    hessian: SparsityPattern,
    jacobian_at: Vec<Vec<usize>>,
    hessian_at: Vec<Vec<usize>>,
}

impl<M: Model> Pieces<M> {
    pub fn new(
        model: M,
        pieces: Vec<Piece>,
        bounds: [Vec<f64>; 2],
        rows: [Vec<f64>; 2],
        start: Vec<f64>,
    ) -> Self {
        let [lower, upper] = bounds;
        let [row_lower, row_upper] = rows;
        let (n, m) = (start.len(), row_lower.len());
        let (mut jp, mut hp) = (Vec::new(), Vec::new());
        for p in &pieces {
            jp.extend(p.rows.iter().flat_map(|&r| p.variables.iter().map(move |&v| (r, v))));
            hp.extend(
                p.variables.iter().flat_map(|&a| p.variables.iter().map(move |&b| (a.max(b), a.min(b)))),
            );
        }
        let jacobian = SparsityPattern::from_places(m, n, jp);
        let hessian = SparsityPattern::from_places(n, n, hp);
        let at = |pattern: &SparsityPattern, r: usize, c: usize| pattern.position(r, c).unwrap();
        let jacobian_at = pieces
            .iter()
            .map(|p| p.rows.iter().flat_map(|&r| p.variables.iter().map(move |&v| (r, v))))
            .map(|places| places.map(|(r, v)| at(&jacobian, r, v)).collect())
            .collect();
        let hessian_at = pieces
            .iter()
            .map(|p| p.variables.iter().flat_map(|&a| p.variables.iter().map(move |&b| (a.max(b), a.min(b)))))
            .map(|places| places.map(|(r, v)| at(&hessian, r, v)).collect())
            .collect();
        Pieces {
            model,
            pieces,
            lower,
            upper,
            row_lower,
            row_upper,
            start,
            stages: None,
            jacobian,
            hessian,
            jacobian_at,
            hessian_at,
        }
    }

    /// One piece with all variables.
    pub fn dense(model: M, bounds: [Vec<f64>; 2], rows: [Vec<f64>; 2], start: Vec<f64>) -> Self {
        let piece = Piece { variables: (0..start.len()).collect(), rows: (0..rows[0].len()).collect() };
        Self::new(model, vec![piece], bounds, rows, start)
    }

    fn first_order(&self, k: usize, x: &[f64], mut take: impl FnMut(usize, &Dual<f64, N>, &[Dual<f64, N>])) {
        let p = &self.pieces[k];
        let mut local: Vec<Dual<f64, N>> = p.variables.iter().map(|&v| Dual::cst(x[v])).collect();
        let mut c = vec![Dual::zero(); p.rows.len()];
        for first in (0..local.len()).step_by(N) {
            let end = (first + N).min(local.len());
            for i in first..end {
                local[i] = Dual::variable(x[p.variables[i]], i - first);
            }
            c.fill(Dual::zero());
            let f = self.model.eval(k, &local, &mut c);
            take(first, &f, &c);
            for i in first..end {
                local[i] = Dual::cst(x[p.variables[i]]);
            }
        }
    }
}

impl<M: Model> NonlinearProgram for Pieces<M> {
    fn num_variables(&self) -> usize {
        self.start.len()
    }
    fn num_constraints(&self) -> usize {
        self.row_lower.len()
    }
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        lower.copy_from_slice(&self.lower);
        upper.copy_from_slice(&self.upper);
    }
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        lower.copy_from_slice(&self.row_lower);
        upper.copy_from_slice(&self.row_upper);
    }
    fn compute_start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }
    fn jacobian_pattern(&self) -> &SparsityPattern {
        &self.jacobian
    }
    fn hessian_pattern(&self) -> &SparsityPattern {
        &self.hessian
    }
    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        let mut f = 0.0;
        for (k, p) in self.pieces.iter().enumerate() {
            let local: Vec<f64> = p.variables.iter().map(|&v| x[v]).collect();
            f += self.model.eval(k, &local, &mut vec![0.0; p.rows.len()]);
        }
        f
    }
    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        for (k, p) in self.pieces.iter().enumerate() {
            self.first_order(k, x, |first, f, _| {
                for (i, &v) in p.variables[first..].iter().take(N).enumerate() {
                    gradient[v] += f.d[i];
                }
            });
        }
    }
    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        c.fill(0.0);
        for (k, p) in self.pieces.iter().enumerate() {
            let local: Vec<f64> = p.variables.iter().map(|&v| x[v]).collect();
            let mut rows = vec![0.0; p.rows.len()];
            self.model.eval(k, &local, &mut rows);
            for (&r, v) in p.rows.iter().zip(rows) {
                c[r] += v;
            }
        }
    }
    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        values.fill(0.0);
        for (k, p) in self.pieces.iter().enumerate() {
            let width = p.variables.len();
            self.first_order(k, x, |first, _, c| {
                for (r, row) in c.iter().enumerate() {
                    for i in first..(first + N).min(width) {
                        values[self.jacobian_at[k][r * width + i]] += row.d[i - first];
                    }
                }
            });
        }
    }
    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        type Second = Dual<Dual<f64, N>, 1>;
        values.fill(0.0);
        for (k, p) in self.pieces.iter().enumerate() {
            let width = p.variables.len();
            let mut local: Vec<Second> = p.variables.iter().map(|&v| Second::cst(x[v])).collect();
            let mut c = vec![Second::zero(); p.rows.len()];
            for first in (0..width).step_by(N) {
                let end = (first + N).min(width);
                for outer in 0..end {
                    for i in 0..width {
                        let inner = if (first..end).contains(&i) {
                            Dual::variable(x[p.variables[i]], i - first)
                        } else {
                            Dual::cst(x[p.variables[i]])
                        };
                        let seed = if i == outer { 1.0 } else { 0.0 };
                        local[i] = Dual::new(inner, [Dual::cst(seed)]);
                    }
                    c.fill(Second::zero());
                    let mut l = self.model.eval(k, &local, &mut c) * sigma;
                    for (&r, &v) in p.rows.iter().zip(&c) {
                        l += v * y[r];
                    }
                    // Each pair once.
                    for i in first.max(outer)..end {
                        values[self.hessian_at[k][outer * width + i]] += l.d[0].d[i - first];
                    }
                }
            }
        }
    }
    fn stages(&self) -> Option<&Stages> {
        self.stages.as_ref()
    }
}

/// Numbers between 0 and 1 from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
