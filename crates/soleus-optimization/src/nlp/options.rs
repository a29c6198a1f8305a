//! Settings of the interior-point method.

/// How the linear systems are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KktOrdering {
    /// Along time where the problem says how it lies there, by least fill otherwise.
    #[default]
    Automatic,
    /// By least fill, whatever the problem says.
    General,
}

/// Settings of [`solve`](super::solve). Names and defaults are Ipopt's where the meaning is.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Scaled error E₀ of the optimality conditions to reach (`tol`).
    pub tolerance: f64,
    /// Largest violation of a constraint, in its own units (`constr_viol_tol`).
    pub constraint_tolerance: f64,
    /// Largest entry of the gradient of the Lagrangian, unscaled (`dual_inf_tol`).
    pub dual_tolerance: f64,
    /// Largest product of multiplier and distance to bound, unscaled (`compl_inf_tol`).
    pub complementarity_tolerance: f64,
    /// Error with which to be content after [`acceptable_iterations`](Self::acceptable_iterations) in a row
    /// (`acceptable_tol`).
    pub acceptable_tolerance: f64,
    /// Violation with which to be content (`acceptable_constr_viol_tol`).
    pub acceptable_constraint_tolerance: f64,
    /// 0: never content (`acceptable_iter`).
    pub acceptable_iterations: usize,
    /// (`max_iter`).
    pub max_iterations: usize,
    /// First barrier parameter (`mu_init`). It then falls whenever its barrier problem is solved well enough
    /// (`mu_strategy` monotone).
    pub initial_barrier: f64,
    /// Largest entry that gradients have at the start after scaling; `None`: no scaling
    /// (`nlp_scaling_max_gradient`).
    pub scaling_max_gradient: Option<f64>,
    /// How far bounds of constraints are relaxed, relative (`bound_relax_factor`). Bounds of variables
    /// are not: functions may not exist beyond them.
    pub bound_relaxation: f64,
    /// Least distance of the start from bounds, relative to the bound (`bound_push`).
    pub bound_push: f64,
    /// Least distance of the start from bounds, as part of the distance between them (`bound_frac`).
    pub bound_fraction: f64,
    /// The same two when multipliers are given (`warm_start_bound_push`, `warm_start_bound_frac`).
    pub warm_start_push: f64,
    /// Full steps that a start with multipliers may take before its progress is judged. Next to a solution Newton's method
    /// finds the way, but its first steps often violate the constraints more than the start does, which no filter lets pass;
    /// if they lead nowhere, the search begins anew from the start.
    pub warm_start_trust: usize,
    /// Multipliers of constraints that are larger at the start are set to zero (`constr_mult_init_max`).
    pub multiplier_start_max: f64,
    /// Second-order corrections tried in one step (`max_soc`).
    pub max_second_order_corrections: usize,
    /// Steps at the end, of Newton or straight to the constraints, that are kept if they leave these violated less. Near the solution
    /// one step squares what is left of the violation.
    pub polishing_steps: usize,
    /// Iterates of this size are called divergent (`diverging_iterates_tol`, there 1e20). Beside a number of 1e15 one of size 1 has no digits left, so
    /// nothing that was asked for at the start can still be told.
    pub diverging_above: f64,
    /// Order of elimination in the linear systems.
    pub ordering: KktOrdering,
    /// Threads of the linear algebra, one or two; results do not depend on it.
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
            max_second_order_corrections: 4,
            polishing_steps: 0,
            diverging_above: 1e15,
            ordering: KktOrdering::Automatic,
            threads: 1,
        }
    }
}

impl Options {
    /// The usual settings with another tolerance.
    pub fn with_tolerance(tolerance: f64) -> Self {
        Options { tolerance, ..Default::default() }
    }

    /// For a start with the multipliers of a solution next to this one: the barrier as it is at the end, hardly anything pushed away
    /// from its bound, and trust in the first steps. A larger barrier would lead away from the start and back again.
    pub fn near_solution(self) -> Self {
        let (initial_barrier, warm_start_push) = (0.1 * self.tolerance, 0.01 * self.tolerance);
        Options { initial_barrier, warm_start_push, warm_start_trust: 15, ..self }
    }
}
