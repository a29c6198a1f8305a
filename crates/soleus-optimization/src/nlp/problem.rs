//! The one interface between whoever states a nonlinear program and whoever solves it.

use super::SparsityPattern;

/// A nonlinear program
///
///   minimize f(x)   subject to   c_L ≤ c(x) ≤ c_U,   x_L ≤ x ≤ x_U
///
/// with exact derivatives over fixed patterns. Bounds are ±∞ where there are none; equal bounds make an
/// equality. Functions may be asked at any x within the bounds of x; a value that is not finite tells the
/// solver to take a shorter step.
pub trait NonlinearProgram {
    /// Number of variables x.
    fn num_variables(&self) -> usize;

    /// Number of constraints c.
    fn num_constraints(&self) -> usize;

    /// Bounds of the variables.
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]);

    /// Bounds of the constraints.
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]);

    /// Where to start.
    fn compute_start(&self, x: &mut [f64]);

    /// Places of ∂c/∂x that may differ from zero.
    fn jacobian_pattern(&self) -> &SparsityPattern;

    /// Places of the lower triangle of the Hessian of the Lagrangian that may differ from zero.
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

    /// Typical size of each variable, if they differ much: positive numbers. The solver works with x over size, which tells its
    /// regularisation and its distances from bounds what is much and what is little; solutions are in x all the same.
    fn variable_sizes(&self) -> Option<&[f64]> {
        None
    }

    /// How variables and constraints lie along time, if they do; a solver may exploit it, and need not.
    fn stages(&self) -> Option<&Stages> {
        None
    }
}

/// The place of each variable and constraint along time.
///
/// Variables of stage i meet, in constraints and Hessian, only variables of stages i − 1, i, i + 1 and of
/// the border (times, parameters). [`Stages::BORDER`] marks the border.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Stage of each variable.
    pub of_variable: Vec<u32>,
    /// Stage of each constraint: the earliest stage it touches.
    pub of_constraint: Vec<u32>,
}

impl Stages {
    /// The stage of what belongs to no time.
    pub const BORDER: u32 = u32::MAX;
}
