//! Result of a solver.

/// Reason for the end of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The optimality conditions are satisfied to the tolerance.
    Solved,
    /// They are satisfied to the acceptable tolerance, and the solver made no further progress.
    Acceptable,
    /// No small change of this point reduces the constraint violation.
    Infeasible,
    /// Variables grow without bound.
    Diverging,
    /// The maximum number of iterations was reached.
    IterationLimit,
    /// Stopped by the caller.
    Stopped,
    /// No step makes progress, not even towards feasibility.
    NoProgress,
    /// A function is not finite at the start.
    NotFinite,
}

impl Status {
    /// Whether the point is a solution, at least to the acceptable tolerance.
    pub fn is_solved(self) -> bool {
        matches!(self, Status::Solved | Status::Acceptable)
    }

    /// As text.
    pub fn describe(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Acceptable => "solved to the acceptable tolerance",
            Status::Infeasible => "converged to a point of local infeasibility",
            Status::Diverging => "the variables diverge; is the problem unbounded?",
            Status::IterationLimit => "stopped at the maximum number of iterations",
            Status::Stopped => "stopped (Ctrl-C)",
            Status::NoProgress => "no further progress: step too small",
            Status::NotFinite => "a function or derivative is not finite at the initial guess",
        }
    }
}

/// Errors of the optimality conditions at a point, in the problem's own units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Maximum violation of a constraint.
    pub constraint_violation: f64,
    /// The constraint with the maximum violation, if any.
    pub worst_constraint: Option<usize>,
    /// Maximum violation of a bound of a variable.
    pub bound_violation: f64,
    /// Maximum |∂(f + yᵀc)/∂xᵢ − z_Lᵢ + z_Uᵢ|.
    pub dual_infeasibility: f64,
    /// The variable of that maximum, if it is not zero.
    pub worst_variable: Option<usize>,
    /// Maximum product of a multiplier and the distance to its bound.
    pub complementarity: f64,
    /// Sum of these products over all bounds and inequalities: in a convex problem, the objective is at most this much above
    /// its minimum; in others, about as much above the local minimum that a smaller tolerance would reach.
    pub gap: f64,
    /// The scaled error E₀, which is compared with the tolerance.
    pub scaled_error: f64,
    /// Mean size of the multipliers as scaled by the solver, at least 100. E₀ is the gradient of the Lagrangian
    /// relative to this size, in hundreds.
    pub multiplier_size: f64,
}

/// Gap above which the objective is told to be inaccurate, as a part of it.
const LARGE_GAP: f64 = 0.02;

/// Mean size of multipliers above which a certificate is worth less than its error says.
const LARGE_MULTIPLIERS: f64 = 1e4;

impl Certificate {
    /// Warning if the error is less meaningful than it seems: with multipliers that grow without bound, the gradient of
    /// the Lagrangian is small only relative to them. This occurs if constraints have dependent gradients (no
    /// constraint qualification), as at a cusp, or if scales are far apart; the error of the objective may then exceed
    /// the tolerance.
    pub fn weakness(&self) -> Option<String> {
        (self.multiplier_size > LARGE_MULTIPLIERS).then(|| {
            format!(
                "multipliers of mean size {:.0e}: the optimality conditions hold relative to these (gradient of the Lagrangian {:.0e}), so the \
                 error of the objective may exceed the tolerance",
                self.multiplier_size, self.dual_infeasibility
            )
        })
    }
}

impl Certificate {
    /// Warning if the tolerance is too large for the objective: a solver of interior points stays away from bounds, from each by little, but
    /// with thousands of them the sum can be a considerable part of the objective.
    pub fn inaccuracy(&self, objective: f64) -> Option<String> {
        (self.gap > LARGE_GAP * objective.abs() && objective != 0.0).then(|| {
            format!(
                "the objective may be up to {:.1e} above the local minimum, {:.0} % of it: use a smaller tolerance",
                self.gap,
                100.0 * self.gap / objective.abs()
            )
        })
    }
}

/// Statistics of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Iterations, including restoration.
    pub iterations: usize,
    /// Iterations in restoration.
    pub restoration_iterations: usize,
    /// Evaluations of the objective.
    pub objective: usize,
    /// Evaluations of its gradient.
    pub gradient: usize,
    /// Evaluations of the constraints.
    pub constraints: usize,
    /// Evaluations of their Jacobian.
    pub jacobian: usize,
    /// Evaluations of the Hessian of the Lagrangian.
    pub hessian: usize,
    /// Factorizations of the KKT matrix.
    pub factorizations: usize,
    /// Linear solves, including refinements.
    pub solves: usize,
}

/// Result of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Reason for the end.
    pub status: Status,
    /// Variables, within their bounds.
    pub x: Vec<f64>,
    /// f(x).
    pub objective: f64,
    /// c(x).
    pub constraints: Vec<f64>,
    /// Multipliers y of the constraints: ∇f + ∂c/∂xᵀ y − z_L + z_U = 0; negative if a lower bound is active.
    pub multipliers: Vec<f64>,
    /// Multipliers z_L ≥ 0 of lower bounds of variables.
    pub lower_multipliers: Vec<f64>,
    /// Multipliers z_U ≥ 0 of upper bounds of variables.
    pub upper_multipliers: Vec<f64>,
    /// Barrier parameter at the end.
    pub barrier: f64,
    /// Errors of the optimality conditions.
    pub certificate: Certificate,
    /// Statistics.
    pub counts: Counts,
}

impl Solution {
    /// A warm start for a similar problem.
    pub fn warm_start(&self) -> WarmStart {
        WarmStart {
            x: self.x.clone(),
            multipliers: self.multipliers.clone(),
            lower_multipliers: self.lower_multipliers.clone(),
            upper_multipliers: self.upper_multipliers.clone(),
            barrier: None,
        }
    }
}

/// One line: why it ended, after how much work, how good the point is and where it is worst.
impl std::fmt::Display for Solution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let c = &self.certificate;
        write!(
            f,
            "{}: {} iterations, objective {:.8e}, constraint violation {:.2e}",
            self.status.describe(),
            self.counts.iterations,
            self.objective,
            c.constraint_violation
        )?;
        if let Some(index) = c.worst_constraint {
            write!(f, " (worst: constraint {index})")?;
        }
        write!(f, ", dual infeasibility {:.2e}", c.dual_infeasibility)?;
        if let Some(index) = c.worst_variable {
            write!(f, " (worst: variable {index})")?;
        }
        write!(f, ", complementarity {:.2e}", c.complementarity)?;
        match c.weakness().filter(|_| self.status.is_solved()) {
            Some(weakness) => write!(f, "; {weakness}"),
            None => Ok(()),
        }
    }
}

/// A point with multipliers, from a similar problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WarmStart {
    /// Variables.
    pub x: Vec<f64>,
    /// Multipliers of the constraints.
    pub multipliers: Vec<f64>,
    /// Multipliers of lower bounds of variables.
    pub lower_multipliers: Vec<f64>,
    /// Multipliers of upper bounds of variables.
    pub upper_multipliers: Vec<f64>,
    /// Initial barrier parameter; `None`: that of the options.
    pub barrier: Option<f64>,
}

/// An iteration, as passed to the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<'a> {
    /// Number from zero; zero is the start.
    pub iteration: usize,
    /// Whether the solver is only searching for a feasible point.
    pub in_restoration: bool,
    /// f(x).
    pub objective: f64,
    /// Maximum violation of a constraint, unscaled.
    pub constraint_violation: f64,
    /// Maximum entry of the gradient of the Lagrangian, scaled.
    pub dual_infeasibility: f64,
    /// Barrier parameter μ.
    pub barrier: f64,
    /// Maximum entry of the step.
    pub step: f64,
    /// Regularization added to the diagonal of the Hessian.
    pub regularization: f64,
    /// Fraction of the step of the variables that was taken.
    pub alpha_primal: f64,
    /// Fraction of the step of the multipliers of bounds that was taken.
    pub alpha_dual: f64,
    /// Number of trial points of the line search.
    pub trials: usize,
    /// Variables.
    pub x: &'a [f64],
    /// Multipliers; `None` in restoration, which has its own.
    pub duals: Option<Duals<'a>>,
}

impl Iteration<'_> {
    /// All data needed to continue from here; multipliers are zero if there are none.
    pub fn warm_start(&self, num_constraints: usize) -> WarmStart {
        let n = self.x.len();
        let none = || (vec![0.0; num_constraints], vec![0.0; n], vec![0.0; n]);
        let (multipliers, lower_multipliers, upper_multipliers) =
            self.duals.map_or_else(none, |d| d.unscaled());
        let barrier = Some(self.barrier).filter(|mu| *mu > 0.0);
        WarmStart { x: self.x.to_vec(), multipliers, lower_multipliers, upper_multipliers, barrier }
    }
}

/// Multipliers of an iterate in the solver's scaling; [`Duals::unscaled`] converts them to the problem's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duals<'a> {
    /// Of rows, of lower and of upper bounds.
    pub(super) scaled: [&'a [f64]; 3],
    /// Constraints and variables of the problem that they belong to.
    pub(super) rows: &'a [usize],
    pub(super) free: &'a [usize],
    pub(super) row_scale: &'a [f64],
    pub(super) size: &'a [f64],
    pub(super) objective_scale: f64,
    /// Variables and constraints of the problem.
    pub(super) sizes: (usize, usize),
}

impl Duals<'_> {
    /// Multipliers of constraints, of lower and of upper bounds.
    pub fn unscaled(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (n, m) = self.sizes;
        let [y, zl, zu] = self.scaled;
        let (mut all_y, mut all_zl, mut all_zu) = (vec![0.0; m], vec![0.0; n], vec![0.0; n]);
        for (r, &row) in self.rows.iter().enumerate() {
            all_y[row] = y[r] * self.row_scale[r] / self.objective_scale;
        }
        for (k, &i) in self.free.iter().enumerate() {
            let scale = self.objective_scale * self.size[k];
            all_zl[i] = zl[k] / scale;
            all_zu[i] = zu[k] / scale;
        }
        (all_y, all_zl, all_zu)
    }
}

/// An inconsistent problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NlpError {
    /// Bounds of a variable that allow no value.
    #[error("variable {index} has lower bound {lower} above its upper bound {upper}")]
    VariableBounds {
        /// Index of the variable.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// Bounds of a constraint that allow no value.
    #[error("constraint {index} has lower bound {lower} above its upper bound {upper}")]
    ConstraintBounds {
        /// Index of the constraint.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// Invalid size of a variable.
    #[error("the scale of variable {index} is {size}; it must be positive")]
    VariableSize {
        /// Index of the variable.
        index: usize,
        /// Its size.
        size: f64,
    },
    /// A pattern of wrong size.
    #[error(
        "the sparsity pattern of the {what} is {rows} by {columns}; expected {expected_rows} by {expected_columns}"
    )]
    PatternSize {
        /// Name of the pattern.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Expected number of rows.
        expected_rows: usize,
        /// Expected number of columns.
        expected_columns: usize,
    },
    /// A pattern with an invalid variable index.
    #[error(
        "the sparsity pattern of the {what} has variable {column} in row {row}; there are {variables} variables"
    )]
    PatternPlace {
        /// Name of the pattern.
        what: &'static str,
        /// The row.
        row: usize,
        /// The variable index.
        column: usize,
        /// Number of variables.
        variables: usize,
    },
    /// An entry of the Hessian above the diagonal.
    #[error("the sparsity pattern of the Hessian has ({row}, {column}); only the lower triangle is allowed")]
    UpperTriangle {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A vector of a warm start or the stages has a wrong length.
    #[error("{what}: {found} numbers given, {expected} expected")]
    Length {
        /// Name of the vector.
        what: &'static str,
        /// Length found.
        found: usize,
        /// Expected length.
        expected: usize,
    },
    /// Invalid settings.
    #[error("option `{name}` is {value}; {hint}")]
    Option {
        /// Field of the options.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Allowed values.
        hint: &'static str,
    },
}
