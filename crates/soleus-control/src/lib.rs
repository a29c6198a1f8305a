#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Optimal control: find states x(t), controls e(t), multipliers λ(t), parameters p and times t₀, t_f that
//!
//!   minimize    Σ w_j J_j(t₀, t_f, x₀, x_f, e₀, e_f, p, ∫ L_j dt)
//!   subject to  f(t, x, ẋ, e, λ, p) = 0                dynamics, implicit
//!               g_L ≤ g(t, x, ẋ, e, λ, p) ≤ g_U         path constraints
//!               V_L ≤ V(t₀, t_f, x₀, x_f, …, ∫) ≤ V_U    endpoint constraints
//!               bounds on everything
//!
//! (Dembia et al. 2020, eq. 1). A [`Problem`] defines it, a [`Collocation`] converts it to a nonlinear program with
//! exact sparse derivatives, and a [`Trajectory`] is the result. The rates ẋ are variables of the program unless they
//! are states themselves, so nonlinear functions depend on variables at one time only, and the equations between points
//! are linear in x and h ẋ.
//!
//! This crate does not access files, print, or read a clock.

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
