//! A quadratic program, and the same as a nonlinear one.

use crate::nlp::{NonlinearProgram, SparsityPattern};

/// Data of a quadratic program with n variables and m rows. H must be positive semidefinite.
#[derive(Clone, Copy, Debug)]
pub struct QuadraticProgram<'a> {
    /// H, n × n; the lower triangle is read, by columns.
    pub h: &'a [f64],
    /// g, n.
    pub g: &'a [f64],
    /// A, m × n, by rows.
    pub a: &'a [f64],
    /// c_L, m; −∞ where there is none.
    pub row_lower: &'a [f64],
    /// c_U, m; +∞ where there is none. Equal bounds make an equality.
    pub row_upper: &'a [f64],
    /// x_L, n.
    pub lower: &'a [f64],
    /// x_U, n.
    pub upper: &'a [f64],
}

impl QuadraticProgram<'_> {
    /// ½ xᵀH x + gᵀx.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let n = self.g.len();
        let mut f = 0.0;
        for j in 0..n {
            f += x[j] * (self.g[j] + 0.5 * self.h[j * n + j] * x[j]);
            f += x[j] * (j + 1..n).map(|i| self.h[j * n + i] * x[i]).sum::<f64>();
        }
        f
    }

    /// H x + g.
    pub(super) fn gradient(&self, x: &[f64], out: &mut [f64]) {
        let n = self.g.len();
        out.copy_from_slice(self.g);
        for j in 0..n {
            out[j] += self.h[j * n + j] * x[j];
            for i in j + 1..n {
                let h = self.h[j * n + i];
                out[i] += h * x[j];
                out[j] += h * x[i];
            }
        }
    }

    /// Row r of A times x.
    pub(super) fn row(&self, r: usize, x: &[f64]) -> f64 {
        let n = self.g.len();
        self.a[r * n..(r + 1) * n].iter().zip(x).map(|(a, x)| a * x).sum()
    }
}

/// The quadratic program for the solver of nonlinear ones.
pub(super) struct AsNonlinear<'a> {
    pub program: QuadraticProgram<'a>,
    pub start: &'a [f64],
    jacobian: SparsityPattern,
    hessian: SparsityPattern,
}

impl<'a> AsNonlinear<'a> {
    pub fn new(program: QuadraticProgram<'a>, start: &'a [f64]) -> Self {
        let (n, m) = (program.g.len(), program.row_lower.len());
        let rows = (0..m).flat_map(|r| (0..n).map(move |c| (r, c))).collect();
        let lower = (0..n).flat_map(|r| (0..=r).map(move |c| (r, c))).collect();
        AsNonlinear {
            program,
            start,
            jacobian: SparsityPattern::from_places(m, n, rows),
            hessian: SparsityPattern::from_places(n, n, lower),
        }
    }
}

impl NonlinearProgram for AsNonlinear<'_> {
    fn num_variables(&self) -> usize {
        self.program.g.len()
    }
    fn num_constraints(&self) -> usize {
        self.program.row_lower.len()
    }
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        lower.copy_from_slice(self.program.lower);
        upper.copy_from_slice(self.program.upper);
    }
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        lower.copy_from_slice(self.program.row_lower);
        upper.copy_from_slice(self.program.row_upper);
    }
    fn compute_start(&self, x: &mut [f64]) {
        x.copy_from_slice(self.start);
    }
    fn jacobian_pattern(&self) -> &SparsityPattern {
        &self.jacobian
    }
    fn hessian_pattern(&self) -> &SparsityPattern {
        &self.hessian
    }
    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        self.program.objective(x)
    }
    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.program.gradient(x, gradient);
    }
    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        for (r, c) in c.iter_mut().enumerate() {
            *c = self.program.row(r, x);
        }
    }
    fn compute_jacobian(&mut self, _: &[f64], values: &mut [f64]) {
        values.copy_from_slice(self.program.a);
    }
    fn compute_hessian(&mut self, _: &[f64], sigma: f64, _: &[f64], values: &mut [f64]) {
        let n = self.program.g.len();
        for (v, (r, c)) in values.iter_mut().zip(self.hessian.places()) {
            *v = sigma * self.program.h[c * n + r];
        }
    }
}
