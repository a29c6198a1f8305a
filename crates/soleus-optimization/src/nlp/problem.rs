//! Interface between nonlinear programs and their solvers.

use super::SparsityPattern;

/// A nonlinear program
///
///   minimize f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U
///
/// with exact derivatives in fixed patterns. Bounds are ±∞ if there are none; equal bounds define an equality.
/// Functions may be evaluated at any x within its bounds; if a value is not finite, the solver takes a shorter step.
pub trait NonlinearProgram {
    /// Number of variables x.
    fn num_variables(&self) -> usize;

    /// Number of constraints c.
    fn num_constraints(&self) -> usize;

    /// Bounds of the variables.
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]);

    /// Bounds of the constraints.
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]);

    /// Initial guess.
    fn compute_start(&self, x: &mut [f64]);

    /// Sparsity pattern of ∂c/∂x.
    fn jacobian_pattern(&self) -> &SparsityPattern;

    /// Sparsity pattern of the lower triangle of the Hessian of the Lagrangian.
    fn hessian_pattern(&self) -> &SparsityPattern;

    /// f(x).
    fn compute_objective(&mut self, x: &[f64]) -> f64;

    /// ∇f(x), every entry.
    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]);

    /// c(x).
    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]);

    /// Values of ∂c/∂x in the order of [`jacobian_pattern`](Self::jacobian_pattern).
    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]);

    /// Values of σ ∇²f + Σᵢ yᵢ ∇²cᵢ in the order of [`hessian_pattern`](Self::hessian_pattern).
    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]);

    /// Typical size of each variable, if they differ much: positive numbers. The solver scales variables by their size,
    /// which affects its regularization and distances from bounds; solutions are not scaled.
    fn variable_sizes(&self) -> Option<&[f64]> {
        None
    }

    /// Time structure of variables and constraints, if any; a solver may exploit it.
    fn stages(&self) -> Option<&Stages> {
        None
    }
}

/// Stage of each variable and constraint along time.
///
/// In constraints and Hessian, variables of stage i are coupled only with variables of stages i − 1, i, i + 1 and of
/// the border (times, parameters), which is marked by [`Stages::BORDER`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Stage of each variable.
    pub of_variable: Vec<u32>,
    /// Stage of each constraint: the earliest stage of its variables.
    pub of_constraint: Vec<u32>,
}

impl Stages {
    /// Stage of variables and constraints without a time.
    pub const BORDER: u32 = u32::MAX;
}
