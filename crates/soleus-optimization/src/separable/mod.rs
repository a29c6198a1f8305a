//! Load sharing: the small convex program
//!
//!   min Σ |xᵢ|ᵖ   subject to   A x = b,   l ≤ x ≤ u                              (1)
//!
//! with 1 ≤ p ≤ 100, few equations and many unknowns, solved repeatedly for slowly changing data.
//!
//! For p = 2 a semismooth Newton method on the dual ([`dual_newton`](self)) starts from the multipliers of the last
//! solution. Larger exponents continue from there with Newton's method and an active set, smaller ones use an
//! interior-point method. If no x within the bounds satisfies the equations, the x with the smallest |b − A x| is
//! returned together with the remainder.

use soleus_math::elementary;

mod active_set;
mod basis;
mod dual_newton;
mod interior;

/// A program (1) with memory for its solution; allocated once.
#[derive(Clone, Debug)]
pub struct PowerProgram {
    /// Number of equations.
    m: usize,
    /// Number of unknowns.
    n: usize,
    /// Exponent p, at least 1.
    exponent: f64,
    /// Lower bounds; −∞ for none.
    pub lower: Vec<f64>,
    /// Upper bounds; ∞ for none.
    pub upper: Vec<f64>,
    /// Right-hand side b.
    pub rhs: Vec<f64>,
    columns: Columns,
    /// The solution.
    pub x: Vec<f64>,
    /// Multipliers λ of the equations at exponent 2: 2 xᵢ = aᵢᵀ λ for unknowns not at a bound. They are the initial
    /// guess of the next solve, for any exponent.
    pub multipliers: Vec<f64>,
    /// Remainder b − A x: zero unless the bounds are too tight.
    pub missing: Vec<f64>,
    newton: dual_newton::Scratch,
    interior: Option<interior::Scratch>,
    active_set: Option<active_set::Scratch>,
}

/// Result of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// Σ |xᵢ|ᵖ.
    pub cost: f64,
    /// Maximum |b − A x|.
    pub violation: f64,
    /// Whether the equations are satisfied.
    pub feasible: bool,
    /// Number of Newton steps.
    pub iterations: usize,
}

/// Why a program has no solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// An exponent below 1, for which the program is not convex.
    #[error("exponent {exponent} is below 1: the minimum is not unique")]
    Exponent {
        /// The exponent.
        exponent: f64,
    },
    /// An exponent for which powers overflow.
    #[error("exponent {exponent} is above {MAX_EXPONENT}: powers overflow")]
    ExponentTooLarge {
        /// The exponent.
        exponent: f64,
    },
    /// Inconsistent bounds, or data that are not numbers.
    #[error("unknown {index}: the bounds {lower} to {upper} are empty")]
    Bounds {
        /// The unknown.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// NaN or infinity among the data.
    #[error("the equations contain a value that is not a number")]
    NotFinite,
    /// The iteration did not converge.
    #[error("not converged after {iterations} steps: optimality error {error:.2e} (tolerance {wanted:.0e})")]
    NotConverged {
        /// Number of steps.
        iterations: usize,
        /// Remaining error.
        error: f64,
        /// Tolerance.
        wanted: f64,
    },
}

/// Larger exponents are refused: the power of a helper at 1000 would be no number.
const MAX_EXPONENT: f64 = 100.0;

/// Equations count as met when they are off by no more than this part of the largest term in them.
///
/// The proximal steps reach 1e-12; ten times the rounding of long sums would not change any result that is printed.
const FEASIBLE: f64 = 1e-9;

impl PowerProgram {
    /// For m equations in n unknowns, all between 0 and 1.
    pub fn new(m: usize, n: usize, exponent: f64) -> Result<Self, SharingError> {
        if !(exponent >= 1.0) {
            return Err(SharingError::Exponent { exponent });
        }
        if exponent > MAX_EXPONENT {
            return Err(SharingError::ExponentTooLarge { exponent });
        }
        Ok(PowerProgram {
            exponent,
            interior: (exponent < 2.0).then(|| interior::Scratch::new(m, n)),
            active_set: (exponent > 2.0).then(|| active_set::Scratch::new(m, n)),
            ..Self::quadratic(m, n)
        })
    }

    /// As [`new`](Self::new), with exponent 2.
    fn quadratic(m: usize, n: usize) -> Self {
        PowerProgram {
            m,
            n,
            exponent: 2.0,
            lower: vec![0.0; n],
            upper: vec![1.0; n],
            rhs: vec![0.0; m],
            columns: Columns::new(m, n),
            x: vec![0.0; n],
            multipliers: vec![0.0; m],
            missing: vec![0.0; m],
            newton: dual_newton::Scratch::new(m, n),
            interior: None,
            active_set: None,
        }
    }

    /// Number of equations.
    pub fn num_equations(&self) -> usize {
        self.m
    }

    /// Number of unknowns.
    pub fn num_unknowns(&self) -> usize {
        self.n
    }

    /// Clears the columns of A, to be set again by [`push_column`](Self::push_column).
    pub fn clear_columns(&mut self) {
        self.columns.clear();
    }

    /// Adds a column of A; zeros are not stored.
    pub fn push_column(&mut self, column: &[f64]) {
        self.columns.push(column);
    }

    /// Equation and value of each entry of column i.
    pub fn column(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.columns.entries(i)
    }

    /// Sets b = A x for a given x.
    pub fn set_rhs_by(&mut self, x: &[f64]) {
        self.rhs.fill(0.0);
        for (i, &x) in x.iter().enumerate().take(self.columns.count()) {
            for (r, a) in self.columns.entries(i) {
                self.rhs[r] += a * x;
            }
        }
    }

    /// Solves the program for the given bounds, columns and right-hand side. Does not allocate memory.
    pub fn solve(&mut self) -> Result<Shared, SharingError> {
        self.check()?;
        // The dual method also tells whether the equations can be met at all, which does not depend on the exponent.
        let mut iterations = dual_newton::solve(self)?;
        let scale = self.scale();
        let mut feasible = largest(&self.missing) <= FEASIBLE * scale;
        if self.exponent != 2.0 {
            iterations += interior::solve(self)? + active_set::solve(self)?;
            feasible = feasible && largest(&self.missing) <= FEASIBLE * scale;
        }
        let cost = self.x.iter().map(|x| elementary::powf(x.abs(), self.exponent)).sum();
        Ok(Shared { cost, violation: largest(&self.missing), feasible, iterations })
    }

    /// The largest term of the equations.
    fn scale(&self) -> f64 {
        let mut scale = largest(&self.rhs);
        for (i, x) in self.x.iter().enumerate() {
            for (_, a) in self.columns.entries(i) {
                scale = scale.max((a * x).abs());
            }
        }
        scale.max(f64::MIN_POSITIVE)
    }

    fn check(&self) -> Result<(), SharingError> {
        if self.columns.count() != self.n
            || !self.rhs.iter().chain(&self.columns.values).all(|x| x.is_finite())
        {
            return Err(SharingError::NotFinite);
        }
        for (index, (&lower, &upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            if !(lower <= upper) || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
                return Err(SharingError::Bounds { index, lower, upper });
            }
        }
        Ok(())
    }

    /// Sets `missing` for the x at hand.
    fn compute_missing(&mut self) {
        self.missing.copy_from_slice(&self.rhs);
        for (i, &x) in self.x.iter().enumerate() {
            for (r, a) in self.columns.entries(i) {
                self.missing[r] -= a * x;
            }
        }
    }
}

/// A matrix by columns, without its zeros.
#[derive(Clone, Debug)]
struct Columns {
    start: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    fn new(m: usize, n: usize) -> Self {
        let mut start = Vec::with_capacity(n + 1);
        start.push(0);
        Columns { start, rows: Vec::with_capacity(m * n), values: Vec::with_capacity(m * n) }
    }

    fn clear(&mut self) {
        self.start.truncate(1);
        self.rows.clear();
        self.values.clear();
    }

    fn count(&self) -> usize {
        self.start.len() - 1
    }

    fn push(&mut self, column: &[f64]) {
        for (r, &a) in column.iter().enumerate() {
            if a != 0.0 {
                self.rows.push(r);
                self.values.push(a);
            }
        }
        self.start.push(self.rows.len());
    }

    /// Row and value of each entry of column i.
    fn entries(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[i]..self.start[i + 1];
        self.rows[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// aᵢᵀ λ.
    fn dot(&self, i: usize, lambda: &[f64]) -> f64 {
        self.entries(i).map(|(r, a)| a * lambda[r]).sum()
    }

    /// Adds w aᵢ aᵢᵀ to the lower triangle of a matrix of order m.
    fn add_outer(&self, i: usize, w: f64, matrix: &mut [f64], m: usize) {
        let range = self.start[i]..self.start[i + 1];
        let (rows, values) = (&self.rows[range.clone()], &self.values[range]);
        for (k, (&r, &a)) in rows.iter().zip(values).enumerate() {
            let wa = w * a;
            for (&s, &b) in rows[..=k].iter().zip(&values[..=k]) {
                matrix[r * m + s] += wa * b;
            }
        }
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

#[cfg(test)]
mod tests;
