//! Optimal control: find states x(t), controls e(t), multipliers λ(t), parameters p and times t₀, t_f that
//!
//!   minimize    Σ w_j J_j(t₀, t_f, x₀, x_f, e₀, e_f, p, ∫ L_j dt)
//!   subject to  f(t, x, ẋ, e, λ, p) = 0                dynamics, implicit
//!               g_L ≤ g(t, x, ẋ, e, λ, p) ≤ g_U         path constraints
//!               V_L ≤ V(t₀, t_f, x₀, x_f, …, ∫) ≤ V_U    endpoint constraints
//!               bounds on everything
//!
//! (Dembia et al. 2020, eq. 1). A [`Problem`] states it, a [`Collocation`] turns it into a nonlinear program
//! with exact sparse derivatives, a [`Trajectory`] is what comes out. The rates ẋ are variables of the program
//! wherever they are not states themselves, so everything nonlinear happens at one point of time and the
//! equations between points are linear in x and h ẋ.
//!
//! Nothing here knows files, prints or reads a clock.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, G.

pub mod continuation;
pub mod function;
pub mod gait;
pub mod goal;
pub mod musculoskeletal;
pub mod problem;
pub mod solution;
pub mod transcription;

pub use function::{Differentiated, PointFunction, SmoothFunction};
pub use problem::{Bounds, CustomDynamics, Dynamics, Goal, PathConstraint, PointVariable, Problem, Variable};
pub use solution::Trajectory;
pub use transcription::{Collocation, Scheme, Settings};
