//! Definition of problems: variables with bounds, dynamics, goals and constraints.

mod diagnosis;
mod dynamics;
mod goal;
mod phases;
mod reserve;
mod straight;
mod variable;

pub use diagnosis::ProblemError;
pub use dynamics::{CustomDynamics, Dynamics, KinematicConstraints, Point};
pub use goal::{EndpointFunction, EndpointVariable, Goal, Mode, PathConstraint, Term};
pub use phases::{Link, LinkVariable, Phases};
pub use reserve::Reserve;
pub use variable::{Bounds, PointVariable, Variable};

use std::sync::Arc;

/// An optimal control problem with one phase.
#[derive(Clone)]
pub struct Problem {
    /// States x.
    pub states: Vec<Variable>,
    /// Controls e.
    pub controls: Vec<Variable>,
    /// Multipliers λ of the kinematic constraints.
    pub multipliers: Vec<Variable>,
    /// Parameters p; only their `bounds` are used.
    pub parameters: Vec<Variable>,
    /// Initial time t₀, s.
    pub initial_time: Bounds,
    /// Final time t_f, s.
    pub final_time: Bounds,
    /// Dynamics f.
    pub dynamics: Dynamics,
    /// Costs and endpoint constraints.
    pub goals: Vec<Goal>,
    /// Constraints at every mesh point.
    pub path_constraints: Vec<PathConstraint>,
    /// Prescribed states; times must be fixed.
    pub prescribed: Vec<PrescribedState>,
}

/// A state with prescribed motion.
#[derive(Clone)]
pub struct PrescribedState {
    /// Index of the state.
    pub state: usize,
    /// Its value and rate at a time.
    pub motion: Arc<dyn Fn(f64) -> [f64; 2] + Send + Sync>,
}

impl Problem {
    /// A problem with free variables named x0, x1, …, e0, … and time from 0 to 1 s.
    pub fn new(dynamics: Dynamics, states: usize, controls: usize) -> Problem {
        let named = |letter: &str, n: usize| {
            (0..n).map(|i| Variable::new(format!("{letter}{i}"), Bounds::FREE)).collect()
        };
        Problem {
            states: named("x", states),
            controls: named("e", controls),
            multipliers: Vec::new(),
            parameters: Vec::new(),
            initial_time: Bounds::fixed(0.0),
            final_time: Bounds::fixed(1.0),
            dynamics,
            goals: Vec::new(),
            path_constraints: Vec::new(),
            prescribed: Vec::new(),
        }
    }

    /// All variables at one time, in the order of the inputs of the dynamics: t, x, ẋ, e, λ, p.
    pub fn point_variables(&self) -> Vec<PointVariable> {
        let mut all = vec![PointVariable::Time];
        all.extend((0..self.states.len()).map(PointVariable::State));
        all.extend((0..self.states.len()).map(PointVariable::Rate));
        all.extend((0..self.controls.len()).map(PointVariable::Control));
        all.extend((0..self.multipliers.len()).map(PointVariable::Multiplier));
        all.extend((0..self.parameters.len()).map(PointVariable::Parameter));
        all
    }
}
