//! Integrators for the equations of motion under the controls of a model.
//!
//! They are the generic methods of this crate, compiled here, once, and not again in each crate that simulates.

use super::controls::ModelControls;
use super::implicit::ImplicitSystemOde;
use super::ode::SystemOde;
use crate::error_norm::ErrorNorm;
use crate::explicit::{ExplicitRungeKutta, SemiExplicitEuler};
use crate::implicit::{ImplicitMidpoint, RadauIIA5, RosenbrockEuler};
use crate::integrate::{Integrator, StepOptions};
use crate::linear::SparseLu;

/// A method for [`SystemOde`].
pub type ModelIntegrator<'a> = Box<dyn Integrator<SystemOde<'a, ModelControls>>>;

/// A method for [`ImplicitSystemOde`]; its matrices are sparse.
pub type ImplicitModelIntegrator<'a> = Box<dyn Integrator<ImplicitSystemOde<'a, ModelControls>>>;

/// [`ExplicitRungeKutta::merson`].
pub fn merson<'a>(norm: ErrorNorm, options: StepOptions) -> ModelIntegrator<'a> {
    Box::new(ExplicitRungeKutta::merson(norm, options))
}

/// [`ExplicitRungeKutta::dormand_prince`].
pub fn dormand_prince<'a>(norm: ErrorNorm, options: StepOptions) -> ModelIntegrator<'a> {
    Box::new(ExplicitRungeKutta::dormand_prince(norm, options))
}

/// [`SemiExplicitEuler`] with steps of `step` s.
pub fn semi_explicit_euler<'a>(dim: usize, step: f64, constraint_tolerance: f64) -> ModelIntegrator<'a> {
    let mut m = SemiExplicitEuler::new(dim, step);
    m.constraint_tolerance = constraint_tolerance;
    Box::new(m)
}

/// [`ImplicitMidpoint`] with steps of `step` s.
pub fn implicit_midpoint<'a>(
    norm: ErrorNorm,
    step: f64,
    constraint_tolerance: f64,
) -> ImplicitModelIntegrator<'a> {
    let solver = SparseLu::new(norm.dim());
    let mut m = ImplicitMidpoint::with_solver(norm, step, solver);
    m.constraint_tolerance = constraint_tolerance;
    Box::new(m)
}

/// [`RosenbrockEuler`] with steps of `step` s.
pub fn rosenbrock_euler<'a>(
    norm: ErrorNorm,
    step: f64,
    constraint_tolerance: f64,
) -> ImplicitModelIntegrator<'a> {
    let solver = SparseLu::new(norm.dim());
    let mut m = RosenbrockEuler::with_solver(norm, step, solver);
    m.constraint_tolerance = constraint_tolerance;
    Box::new(m)
}

/// [`RadauIIA5`].
pub fn radau_iia5<'a>(norm: ErrorNorm, options: StepOptions) -> ImplicitModelIntegrator<'a> {
    let (real, complex) = (SparseLu::new(norm.dim()), SparseLu::new(norm.dim()));
    Box::new(RadauIIA5::with_solvers(norm, options, real, complex))
}
