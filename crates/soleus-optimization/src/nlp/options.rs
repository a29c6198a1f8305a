//! Settings of the interior-point method.

/// Ordering of the linear systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KktOrdering {
    /// Along time if the problem has a time structure, otherwise by minimum fill-in.
    #[default]
    Automatic,
    /// By minimum fill-in.
    General,
}

/// Settings of [`solve`](super::solve). Names and defaults are those of Ipopt where the meaning is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Tolerance for the scaled error E₀ of the optimality conditions (`tol`).
    pub tolerance: f64,
    /// Maximum violation of a constraint, in its own units (`constr_viol_tol`).
    pub constraint_tolerance: f64,
    /// Maximum entry of the gradient of the Lagrangian, unscaled (`dual_inf_tol`).
    pub dual_tolerance: f64,
    /// Maximum product of multiplier and distance to bound, unscaled (`compl_inf_tol`).
    pub complementarity_tolerance: f64,
    /// Acceptable error after [`acceptable_iterations`](Self::acceptable_iterations) in a row (`acceptable_tol`).
    pub acceptable_tolerance: f64,
    /// Acceptable constraint violation (`acceptable_constr_viol_tol`).
    pub acceptable_constraint_tolerance: f64,
    /// Number of acceptable iterations after which the solver stops; 0: never (`acceptable_iter`).
    pub acceptable_iterations: usize,
    /// Maximum number of iterations (`max_iter`).
    pub max_iterations: usize,
    /// Initial barrier parameter (`mu_init`). It is reduced whenever its barrier problem is solved sufficiently
    /// (`mu_strategy` monotone).
    pub initial_barrier: f64,
    /// Maximum entry of gradients at the start after scaling; `None`: no scaling (`nlp_scaling_max_gradient`).
    pub scaling_max_gradient: Option<f64>,
    /// Relative relaxation of the bounds of constraints (`bound_relax_factor`). Bounds of variables are not relaxed,
    /// because functions may be undefined outside.
    pub bound_relaxation: f64,
    /// Minimum distance of the initial guess from bounds, relative to the bound (`bound_push`).
    pub bound_push: f64,
    /// Minimum distance of the initial guess from bounds, relative to the distance between them (`bound_frac`).
    pub bound_fraction: f64,
    /// The same two with a warm start (`warm_start_bound_push`, `warm_start_bound_frac`).
    pub warm_start_push: f64,
    /// Number of full steps that a warm start may take before its progress is judged. Near a solution Newton's method
    /// converges, but its first steps often increase the constraint violation, which no filter accepts; if they fail,
    /// the search starts again from the initial guess.
    pub warm_start_trust: usize,
    /// Initial multipliers of constraints above this value are set to zero (`constr_mult_init_max`).
    pub multiplier_start_max: f64,
    /// Maximum number of steps at the start that only reduce the constraint violation, each the shortest one, in
    /// scaled variables, that satisfies the linearised constraints. From a poor initial guess, the objective and the
    /// curvature of the constraints, weighed with multipliers that mean nothing yet, lead Newton's method astray; these
    /// steps use neither. A warm start has none.
    pub feasibility_steps: usize,
    /// Maximum number of second-order corrections in one step (`max_soc`).
    pub max_second_order_corrections: usize,
    /// Number of final steps, of Newton or directly to the constraints, which are kept if they reduce the constraint
    /// violation. Near the solution one step squares the remaining violation.
    pub polishing_steps: usize,
    /// Size of iterates that are considered divergent (`diverging_iterates_tol`, in Ipopt 1e20). Next to a number of
    /// 1e15, a number of size 1 has no significant digits left.
    pub diverging_above: f64,
    /// Elimination order of the linear systems.
    pub ordering: KktOrdering,
    /// Number of threads of the linear algebra, one or two; results do not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tolerance: 1e-8,
            constraint_tolerance: 1e-4,
            dual_tolerance: 1.0,
            complementarity_tolerance: 1e-4,
            acceptable_tolerance: 1e-6,
            acceptable_constraint_tolerance: 1e-2,
            acceptable_iterations: 15,
            max_iterations: 3000,
            initial_barrier: 0.1,
            scaling_max_gradient: Some(100.0),
            bound_relaxation: 1e-8,
            bound_push: 1e-2,
            bound_fraction: 1e-2,
            warm_start_push: 1e-3,
            warm_start_trust: 0,
            multiplier_start_max: 1e3,
            feasibility_steps: 0,
            max_second_order_corrections: 4,
            polishing_steps: 0,
            diverging_above: 1e15,
            ordering: KktOrdering::Automatic,
            threads: 1,
        }
    }
}

impl Options {
    /// Default settings with another tolerance.
    pub fn with_tolerance(tolerance: f64) -> Self {
        Options { tolerance, ..Default::default() }
    }

    /// For a warm start from the solution of a similar problem: final barrier parameter, almost no push away from
    /// bounds, and trust in the first steps. A larger barrier parameter would first lead away from the initial guess.
    pub fn near_solution(self) -> Self {
        let (initial_barrier, warm_start_push) = (0.1 * self.tolerance, 0.01 * self.tolerance);
        Options { initial_barrier, warm_start_push, warm_start_trust: 15, ..self }
    }
}
