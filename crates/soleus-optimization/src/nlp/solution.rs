//! What a solver gives back.

/// Why a solver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The optimality conditions hold to the tolerance.
    Solved,
    /// They hold to the acceptable tolerance, and the solver got no further.
    Acceptable,
    /// At this point no small change makes the constraints less violated.
    Infeasible,
    /// Variables grow without end.
    Diverging,
    /// As many iterations as allowed.
    IterationLimit,
    /// The caller said stop.
    Stopped,
    /// No step could be found that makes progress, not even towards feasibility.
    NoProgress,
    /// A function was not finite where the solver had to start.
    NotFinite,
}

impl Status {
    /// Whether the point is a solution, at least to the acceptable tolerance.
    pub fn is_solved(self) -> bool {
        matches!(self, Status::Solved | Status::Acceptable)
    }

    /// In words.
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

/// How well a point fulfils the optimality conditions, in the problem's own units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Largest violation of a constraint.
    pub constraint_violation: f64,
    /// The constraint that is violated most, if any is.
    pub worst_constraint: Option<usize>,
    /// Largest violation of a bound of a variable.
    pub bound_violation: f64,
    /// Largest |∂(f + yᵀc)/∂xᵢ − z_Lᵢ + z_Uᵢ|.
    pub dual_infeasibility: f64,
    /// The variable of that entry, if it is not zero.
    pub worst_variable: Option<usize>,
    /// Largest product of a multiplier with the distance to its bound.
    pub complementarity: f64,
    /// The scaled error E₀ that is compared with the tolerance.
    pub scaled_error: f64,
    /// Mean size of the multipliers as the solver scales them, at least 100. E₀ is the gradient of the Lagrangian relative to it, in hundreds.
    pub multiplier_size: f64,
}

/// Mean size of multipliers above which a certificate is worth less than its error says.
const LARGE_MULTIPLIERS: f64 = 1e4;

impl Certificate {
    /// Why the error says less than it seems to, if it does: with multipliers that grow without end, the gradient of the Lagrangian is small beside
    /// them, not by itself. That is so where constraints have no independent gradients (no constraint qualification), as at a cusp, and where scales
    /// are far apart; the objective may then be off by more than the tolerance.
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

/// How much work it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps taken, those of restoration included.
    pub iterations: usize,
    /// Steps taken in restoration.
    pub restoration_iterations: usize,
    /// Times the objective was asked for.
    pub objective: usize,
    /// Times its gradient was.
    pub gradient: usize,
    /// Times the constraints were.
    pub constraints: usize,
    /// Times their Jacobian was.
    pub jacobian: usize,
    /// Times the Hessian of the Lagrangian was.
    pub hessian: usize,
    /// Factorisations of the KKT matrix.
    pub factorizations: usize,
    /// Solutions of linear systems with them, refinements included.
    pub solves: usize,
}

/// Where a solver ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Why.
    pub status: Status,
    /// Variables, within their bounds.
    pub x: Vec<f64>,
    /// f(x).
    pub objective: f64,
    /// c(x).
    pub constraints: Vec<f64>,
    /// Multipliers y of the constraints: ∇f + ∂c/∂xᵀ y − z_L + z_U = 0; negative where a lower bound is active.
    pub multipliers: Vec<f64>,
    /// Multipliers z_L ≥ 0 of lower bounds of variables.
    pub lower_multipliers: Vec<f64>,
    /// Multipliers z_U ≥ 0 of upper bounds of variables.
    pub upper_multipliers: Vec<f64>,
    /// Barrier parameter at the end.
    pub barrier: f64,
    /// How good the point is.
    pub certificate: Certificate,
    /// How much work it was.
    pub counts: Counts,
}

impl Solution {
    /// A start for a related problem.
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

/// A start with multipliers, from a related problem.
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
    /// First barrier parameter; `None` for that of the options.
    pub barrier: Option<f64>,
}

/// A step, as told to the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration<'a> {
    /// Count from zero; zero is the start.
    pub iteration: usize,
    /// Whether the solver is looking for a feasible point only.
    pub in_restoration: bool,
    /// f(x).
    pub objective: f64,
    /// Largest violation of a constraint, unscaled.
    pub constraint_violation: f64,
    /// Scaled largest entry of the gradient of the Lagrangian.
    pub dual_infeasibility: f64,
    /// Barrier parameter μ.
    pub barrier: f64,
    /// Largest entry of the step.
    pub step: f64,
    /// What was added to the diagonal of the Hessian.
    pub regularization: f64,
    /// Part of the step of the variables that was taken.
    pub alpha_primal: f64,
    /// Part of the step of the multipliers of bounds that was taken.
    pub alpha_dual: f64,
    /// Trial points of the line search.
    pub trials: usize,
    /// Variables.
    pub x: &'a [f64],
    /// Multipliers; none in restoration, whose own are of no use elsewhere.
    pub duals: Option<Duals<'a>>,
}

impl Iteration<'_> {
    /// Everything needed to go on from here another time; multipliers are zero where there are none.
    pub fn warm_start(&self, num_constraints: usize) -> WarmStart {
        let n = self.x.len();
        let none = || (vec![0.0; num_constraints], vec![0.0; n], vec![0.0; n]);
        let (multipliers, lower_multipliers, upper_multipliers) =
            self.duals.map_or_else(none, |d| d.unscaled());
        let barrier = Some(self.barrier).filter(|mu| *mu > 0.0);
        WarmStart { x: self.x.to_vec(), multipliers, lower_multipliers, upper_multipliers, barrier }
    }
}

/// Multipliers of an iterate as the solver has them; [`Duals::unscaled`] gives them in the problem's own units.
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

/// A problem that contradicts itself.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NlpError {
    /// The bounds of a variable leave nothing.
    #[error("variable {index} has lower bound {lower} above its upper bound {upper}")]
    VariableBounds {
        /// Which variable.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The bounds of a constraint leave nothing.
    #[error("constraint {index} has lower bound {lower} above its upper bound {upper}")]
    ConstraintBounds {
        /// Which constraint.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The size of a variable says nothing.
    #[error("the scale of variable {index} is {size}; it must be positive")]
    VariableSize {
        /// Which variable.
        index: usize,
        /// Its size.
        size: f64,
    },
    /// A pattern has not the size of the problem.
    #[error(
        "the sparsity pattern of the {what} is {rows} by {columns}; expected {expected_rows} by {expected_columns}"
    )]
    PatternSize {
        /// Which pattern.
        what: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Rows it should have.
        expected_rows: usize,
        /// Columns it should have.
        expected_columns: usize,
    },
    /// A pattern names a variable that is not there.
    #[error(
        "the sparsity pattern of the {what} has variable {column} in row {row}; there are {variables} variables"
    )]
    PatternPlace {
        /// Which pattern.
        what: &'static str,
        /// The row.
        row: usize,
        /// The variable it names.
        column: usize,
        /// How many there are.
        variables: usize,
    },
    /// The Hessian has a place above the diagonal.
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
        /// Of what.
        what: &'static str,
        /// Length found.
        found: usize,
        /// Length that fits the problem.
        expected: usize,
    },
    /// Settings that make no sense.
    #[error("option `{name}` is {value}; {hint}")]
    Option {
        /// Field of the options.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed.
        hint: &'static str,
    },
}
