//! The problem as solved: without fixed variables and free constraints, with scaled functions.

use super::iterate::Point;
use crate::nlp::{Counts, Duals, NlpError, NonlinearProgram, Options, SparsityPattern};

/// A program without fixed variables and without constraints that cannot be active, scaled:
///
///   minimize s_f f(x)   subject to   s_c c(x) − b = 0   or   d_L ≤ s_c c(x) ≤ d_U,   x_L ≤ x ≤ x_U
///
/// and x counted in its [sizes](NonlinearProgram::variable_sizes).
pub(in crate::nlp) struct Scaled<'p> {
    problem: &'p mut dyn NonlinearProgram,
    /// Variables that are not fixed, and constraints that have bounds.
    pub free: Vec<usize>,
    pub rows: Vec<usize>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Size of each free variable: the unit that x, its bounds and derivatives are in.
    pub size: Vec<f64>,
    /// Bounds of the rows, scaled; equal for equalities.
    pub row_lower: Vec<f64>,
    pub row_upper: Vec<f64>,
    pub objective_scale: f64,
    pub row_scale: Vec<f64>,
    pub jacobian: SparsityPattern,
    jacobian_from: Vec<usize>,
    pub hessian: SparsityPattern,
    hessian_from: Vec<usize>,
    pub counts: Counts,
    full: Full,
}

/// Vectors of the problem as it was stated.
struct Full {
    lower: Vec<f64>,
    upper: Vec<f64>,
    c_lower: Vec<f64>,
    c_upper: Vec<f64>,
    x: Vec<f64>,
    c: Vec<f64>,
    y: Vec<f64>,
    gradient: Vec<f64>,
    jacobian: Vec<f64>,
    hessian: Vec<f64>,
}

impl<'p> Scaled<'p> {
    pub fn new(problem: &'p mut dyn NonlinearProgram) -> Result<Self, NlpError> {
        let (n, m) = (problem.num_variables(), problem.num_constraints());
        let (jp, hp) = (problem.jacobian_pattern(), problem.hessian_pattern());
        for (what, p, rows) in [("Jacobian", jp, m), ("Hessian", hp, n)] {
            // A pattern without places may leave out its size.
            if (p.rows(), p.columns()) != (rows, n) && !p.is_empty() {
                return Err(NlpError::PatternSize {
                    what,
                    rows: p.rows(),
                    columns: p.columns(),
                    expected_rows: rows,
                    expected_columns: n,
                });
            }
            if let Some((row, column)) = p.places().find(|&(_, c)| c >= n) {
                return Err(NlpError::PatternPlace { what, row, column, variables: n });
            }
        }
        if let Some((row, column)) = hp.places().find(|&(r, c)| c > r) {
            return Err(NlpError::UpperTriangle { row, column });
        }
        let mut full = Full {
            lower: vec![0.0; n],
            upper: vec![0.0; n],
            c_lower: vec![0.0; m],
            c_upper: vec![0.0; m],
            x: vec![0.0; n],
            c: vec![0.0; m],
            y: vec![0.0; m],
            gradient: vec![0.0; n],
            jacobian: vec![0.0; jp.len()],
            hessian: vec![0.0; hp.len()],
        };
        problem.compute_variable_bounds(&mut full.lower, &mut full.upper);
        problem.compute_constraint_bounds(&mut full.c_lower, &mut full.c_upper);
        for index in 0..n {
            let (lower, upper) = (full.lower[index], full.upper[index]);
            if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                return Err(NlpError::VariableBounds { index, lower, upper });
            }
        }
        for index in 0..m {
            let (lower, upper) = (full.c_lower[index], full.c_upper[index]);
            if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                return Err(NlpError::ConstraintBounds { index, lower, upper });
            }
        }

        let sizes = problem.variable_sizes().unwrap_or(&[]);
        if !sizes.is_empty() && sizes.len() != n {
            return Err(NlpError::Length { what: "sizes of variables", found: sizes.len(), expected: n });
        }
        let useless = |(_, size): &(usize, &f64)| !(**size > 0.0 && size.is_finite());
        if let Some((index, &size)) = sizes.iter().enumerate().find(useless) {
            return Err(NlpError::VariableSize { index, size });
        }

        let free: Vec<usize> = (0..n).filter(|&i| full.lower[i] < full.upper[i]).collect();
        let rows: Vec<usize> = (0..m)
            .filter(|&i| full.c_lower[i] > f64::NEG_INFINITY || full.c_upper[i] < f64::INFINITY)
            .collect();
        let size: Vec<f64> = free.iter().map(|&i| sizes.get(i).copied().unwrap_or(1.0)).collect();
        let in_sizes = |bounds: &[f64]| free.iter().zip(&size).map(|(&i, s)| bounds[i] / s).collect();
        let (lower, upper) = (in_sizes(&full.lower), in_sizes(&full.upper));
        let mut reduced = vec![usize::MAX; n];
        for (k, &i) in free.iter().enumerate() {
            reduced[i] = k;
        }
        let (jp, hp) = (problem.jacobian_pattern(), problem.hessian_pattern());
        let mut places = Vec::new();
        let mut jacobian_from = Vec::new();
        for (r, &row) in rows.iter().enumerate() {
            if jp.rows() == 0 {
                continue;
            }
            let (columns, start) = jp.row(row);
            for (k, &c) in columns.iter().enumerate() {
                if reduced[c] != usize::MAX {
                    places.push((r, reduced[c]));
                    jacobian_from.push(start + k);
                }
            }
        }
        let jacobian = SparsityPattern::from_places(rows.len(), free.len(), places);
        let mut places = Vec::new();
        let mut hessian_from = Vec::new();
        for (at, (r, c)) in hp.places().enumerate() {
            if reduced[r] != usize::MAX && reduced[c] != usize::MAX {
                places.push((reduced[r], reduced[c]));
                hessian_from.push(at);
            }
        }
        let hessian = SparsityPattern::from_places(free.len(), free.len(), places);
        Ok(Scaled {
            lower,
            upper,
            size,
            row_lower: rows.iter().map(|&i| full.c_lower[i]).collect(),
            row_upper: rows.iter().map(|&i| full.c_upper[i]).collect(),
            objective_scale: 1.0,
            row_scale: vec![1.0; rows.len()],
            problem,
            free,
            rows,
            jacobian,
            jacobian_from,
            hessian,
            hessian_from,
            counts: Counts::default(),
            full,
        })
    }

    /// The problem as it was stated.
    pub fn problem(&self) -> &dyn NonlinearProgram {
        self.problem
    }

    /// The problem's own start, without fixed variables.
    pub fn start(&mut self) -> Vec<f64> {
        self.problem.compute_start(&mut self.full.x);
        for i in 0..self.full.x.len() {
            if self.full.lower[i] == self.full.upper[i] {
                self.full.x[i] = self.full.lower[i];
            }
        }
        self.reduce(&self.full.x)
    }

    /// The free ones of all variables, in their sizes.
    pub fn reduce(&self, x: &[f64]) -> Vec<f64> {
        self.free.iter().zip(&self.size).map(|(&i, s)| x[i] / s).collect()
    }

    /// Chooses scales so that no gradient at x has an entry above `largest` (Wächter & Biegler 2006, section 3.8).
    pub fn choose_scales(&mut self, x: &[f64], largest: Option<f64>) {
        // Scales below this would lose the function altogether.
        const LEAST: f64 = 1e-8;
        let Some(largest) = largest else { return };
        let mut gradient = vec![0.0; self.free.len()];
        self.gradient(x, &mut gradient);
        let top = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        if top > largest {
            self.objective_scale = (largest / top).max(LEAST);
        }
        let mut values = vec![0.0; self.jacobian.len()];
        self.jacobian(x, &mut values);
        for r in 0..self.rows.len() {
            let (columns, start) = self.jacobian.row(r);
            let top = values[start..start + columns.len()].iter().fold(0.0, |m: f64, g| m.max(g.abs()));
            if top > largest {
                let scale = (largest / top).max(LEAST);
                self.row_scale[r] = scale;
                self.row_lower[r] *= scale;
                self.row_upper[r] *= scale;
            }
        }
    }

    /// Whether any row has a scale.
    pub fn has_row_scales(&self) -> bool {
        self.row_scale.iter().any(|&s| s != 1.0)
    }

    /// Rows as they were stated.
    pub fn forget_row_scales(&mut self) {
        for (r, &row) in self.rows.iter().enumerate() {
            self.row_scale[r] = 1.0;
            (self.row_lower[r], self.row_upper[r]) = (self.full.c_lower[row], self.full.c_upper[row]);
        }
    }

    /// Whether a row is an equality.
    pub fn is_equality(&self, row: usize) -> bool {
        self.row_lower[row] == self.row_upper[row]
    }

    fn place(&mut self, x: &[f64]) {
        for ((&i, &v), &size) in self.free.iter().zip(x).zip(&self.size) {
            // Rounding may put x a little outside; the functions never see that.
            self.full.x[i] = (v * size).clamp(self.full.lower[i], self.full.upper[i]);
        }
    }

    pub fn objective(&mut self, x: &[f64]) -> f64 {
        self.place(x);
        self.counts.objective += 1;
        self.objective_scale * self.problem.compute_objective(&self.full.x)
    }

    pub fn gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.place(x);
        self.counts.gradient += 1;
        self.problem.compute_gradient(&self.full.x, &mut self.full.gradient);
        for ((g, &i), &size) in gradient.iter_mut().zip(&self.free).zip(&self.size) {
            *g = self.objective_scale * self.full.gradient[i] * size;
        }
    }

    /// s_c c(x), from which equalities have their right-hand side taken.
    pub fn constraints(&mut self, x: &[f64], c: &mut [f64]) {
        self.place(x);
        self.counts.constraints += 1;
        if !self.full.c.is_empty() {
            self.problem.compute_constraints(&self.full.x, &mut self.full.c);
        }
        for r in 0..self.rows.len() {
            c[r] = self.row_scale[r] * self.full.c[self.rows[r]];
            if self.row_lower[r] == self.row_upper[r] {
                c[r] -= self.row_lower[r];
            }
        }
    }

    pub fn jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        self.place(x);
        self.counts.jacobian += 1;
        if values.is_empty() {
            return;
        }
        self.problem.compute_jacobian(&self.full.x, &mut self.full.jacobian);
        for r in 0..self.rows.len() {
            let (columns, start) = self.jacobian.row(r);
            for (k, &c) in (start..).zip(columns) {
                values[k] = self.row_scale[r] * self.full.jacobian[self.jacobian_from[k]] * self.size[c];
            }
        }
    }

    /// σ s_f ∇²f + Σ y_r s_r ∇²c_r.
    pub fn hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        self.place(x);
        self.counts.hessian += 1;
        if values.is_empty() {
            return;
        }
        self.full.y.fill(0.0);
        for ((&row, &scale), &y) in self.rows.iter().zip(&self.row_scale).zip(y) {
            self.full.y[row] = scale * y;
        }
        let sigma = sigma * self.objective_scale;
        self.problem.compute_hessian(&self.full.x, sigma, &self.full.y, &mut self.full.hessian);
        for r in 0..self.hessian.rows() {
            let (columns, start) = self.hessian.row(r);
            for (k, &c) in (start..).zip(columns) {
                values[k] = self.full.hessian[self.hessian_from[k]] * self.size[r] * self.size[c];
            }
        }
    }

    /// Largest violation of a constraint of the problem as stated, and which it is, by the last c(x).
    pub fn violation(&self) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for (i, &c) in self.full.c.iter().enumerate() {
            let v = (self.full.c_lower[i] - c).max(c - self.full.c_upper[i]);
            if v > worst.0 {
                worst = (v, Some(i));
            }
        }
        worst
    }

    /// Variables of the problem as stated, at the place last asked for.
    pub fn full_x(&self) -> &[f64] {
        &self.full.x
    }

    /// Multipliers of a point, to be had in the problem's own units.
    pub fn duals<'s>(&'s self, point: &'s Point) -> Duals<'s> {
        Duals {
            scaled: [&point.y, &point.zl, &point.zu],
            rows: &self.rows,
            free: &self.free,
            row_scale: &self.row_scale,
            size: &self.size,
            objective_scale: self.objective_scale,
            sizes: (self.problem().num_variables(), self.problem().num_constraints()),
        }
    }

    /// Constraints of the problem as stated, as last computed.
    pub fn full_constraints(&self) -> &[f64] {
        &self.full.c
    }

    /// Largest violation of a bound by the point last asked for: zero but for fixed variables given elsewhere.
    pub fn bound_violation(&self) -> f64 {
        let f = &self.full;
        (0..f.x.len()).fold(0.0, |m: f64, i| m.max(f.lower[i] - f.x[i]).max(f.x[i] - f.upper[i]))
    }

    /// Options that depend on nothing but themselves.
    pub fn check_options(o: &Options) -> Result<(), NlpError> {
        let positive = [
            ("tolerance", o.tolerance),
            ("constraint_tolerance", o.constraint_tolerance),
            ("dual_tolerance", o.dual_tolerance),
            ("complementarity_tolerance", o.complementarity_tolerance),
            ("initial_barrier", o.initial_barrier),
            ("bound_push", o.bound_push),
            ("warm_start_push", o.warm_start_push),
            ("scaling_max_gradient", o.scaling_max_gradient.unwrap_or(1.0)),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(NlpError::Option { name, value, hint: "it must be a positive number" });
            }
        }
        if !(o.bound_fraction > 0.0 && o.bound_fraction < 0.5) {
            let hint = "it must lie between 0 and 0.5";
            return Err(NlpError::Option { name: "bound_fraction", value: o.bound_fraction, hint });
        }
        if !(o.bound_relaxation >= 0.0 && o.bound_relaxation.is_finite()) {
            let hint = "it must not be negative";
            return Err(NlpError::Option { name: "bound_relaxation", value: o.bound_relaxation, hint });
        }
        Ok(())
    }
}
