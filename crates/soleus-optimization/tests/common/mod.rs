//! Problems for tests and benchmarks: sums of pieces, each a function of few variables written once for any
//! scalar; derivatives come from dual numbers.
#![allow(dead_code)]

pub mod chain;

use soleus_math::Random;
use soleus_math::{Dual, Real};
use soleus_optimization::nlp::KktPattern;
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
    /// Places (larger, smaller) of its Hessian among `variables`, if not all.
    pub curved: Option<Vec<(usize, usize)>>,
}

impl Piece {
    pub fn new(variables: Vec<usize>, rows: Vec<usize>) -> Self {
        Piece { variables, rows, curved: None }
    }

    /// A piece without second derivatives.
    pub fn linear(variables: Vec<usize>, rows: Vec<usize>) -> Self {
        Piece { variables, rows, curved: Some(Vec::new()) }
    }

    fn curved(&self) -> Vec<(usize, usize)> {
        let n = self.variables.len();
        self.curved.clone().unwrap_or_else(|| (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))).collect())
    }
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
    pub sizes: Option<Vec<f64>>,
    jacobian: SparsityPattern,
    hessian: SparsityPattern,
    jacobian_at: Vec<Vec<usize>>,
    hessian_at: Vec<Vec<(u32, u32, usize)>>,
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
            .map(|p| {
                let place = |(a, b): (usize, usize)| {
                    let (r, c) = ordered(p.variables[a], p.variables[b]);
                    (a as u32, b as u32, at(&hessian, r, c))
                };
                p.curved().into_iter().map(place).collect()
            })
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
            sizes: None,
            jacobian,
            hessian,
            jacobian_at,
            hessian_at,
        }
    }

    /// One piece with all variables.
    pub fn dense(model: M, bounds: [Vec<f64>; 2], rows: [Vec<f64>; 2], start: Vec<f64>) -> Self {
        let piece = Piece::new((0..start.len()).collect(), (0..rows[0].len()).collect());
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
            let places = &self.hessian_at[k];
            if places.is_empty() {
                continue;
            }
            let mut local: Vec<Second> = p.variables.iter().map(|&v| Second::cst(x[v])).collect();
            let mut c = vec![Second::zero(); p.rows.len()];
            for outer in 0..width {
                for first in (0..width).step_by(N) {
                    let end = (first + N).min(width);
                    let wanted = |&&(a, b, _): &&(u32, u32, usize)| {
                        b as usize == outer && (first..end).contains(&(a as usize))
                    };
                    if !places.iter().any(|p| wanted(&p)) {
                        continue;
                    }
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
                    for &(a, _, at) in places.iter().filter(wanted) {
                        values[at] += l.d[0].d[a as usize - first];
                    }
                }
            }
        }
    }
    fn variable_sizes(&self) -> Option<&[f64]> {
        self.sizes.as_deref()
    }
    fn stages(&self) -> Option<&Stages> {
        self.stages.as_ref()
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.max(b), a.min(b))
}

/// The KKT matrix at the start, with random multipliers and the diagonal of a barrier on variables with bounds. Fixed
/// variables stay in, held by a large diagonal, so the size is that of the whole problem.
pub fn kkt_matrix(problem: &mut impl NonlinearProgram) -> (KktPattern, Vec<f64>) {
    let (n, m) = (problem.num_variables(), problem.num_constraints());
    let mut x = vec![0.0; n];
    problem.compute_start(&mut x);
    let pattern = KktPattern::new(problem.hessian_pattern(), problem.jacobian_pattern());
    let mut hessian = vec![0.0; problem.hessian_pattern().len()];
    let mut jacobian = vec![0.0; problem.jacobian_pattern().len()];
    let mut random = Random::new(1);
    let y: Vec<f64> = (0..m).map(|_| random.unit() - 0.5).collect();
    problem.compute_hessian(&x, 1.0, &y, &mut hessian);
    problem.compute_jacobian(&x, &mut jacobian);
    let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
    problem.compute_variable_bounds(&mut lower, &mut upper);
    let d: Vec<f64> = (0..n)
        .map(|i| match (lower[i] == upper[i], lower[i].is_finite()) {
            (true, _) => 1e8,
            (_, true) => 1e-2,
            _ => 0.0,
        })
        .collect();
    let mut values = vec![0.0; pattern.lower.len()];
    pattern.assemble(&hessian, &jacobian, &d, &vec![0.0; m], &mut values);
    (pattern, values)
}
