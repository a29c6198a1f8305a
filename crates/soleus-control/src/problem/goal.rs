//! Costs and constraints.

use super::{Bounds, PointVariable};
use crate::function::{Differentiated, Jetted, PointFunction, SmoothFunction};
use std::sync::Arc;

/// A function of variables at one time. An integrand is the sum of its outputs.
#[derive(Clone)]
pub struct Term {
    /// Arguments of the function, in order.
    pub inputs: Vec<PointVariable>,
    /// The function.
    pub function: Arc<dyn PointFunction>,
}

impl Term {
    /// A function of the variables `inputs`; derivatives by dual numbers.
    pub fn new(inputs: Vec<PointVariable>, function: impl SmoothFunction) -> Term {
        Term { inputs, function: Arc::new(Differentiated::new(function)) }
    }

    /// The same with derivatives by jets: for functions that evaluate a whole model.
    pub fn of_model(inputs: Vec<PointVariable>, function: impl SmoothFunction) -> Term {
        Term { inputs, function: Arc::new(Jetted::new(function)) }
    }
}

/// A variable that endpoint functions may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndpointVariable {
    /// At the initial time.
    Initial(PointVariable),
    /// At the final time.
    Last(PointVariable),
    /// Integral i of the goal.
    Integral(usize),
}

/// A function of both ends and of integrals.
#[derive(Clone)]
pub struct EndpointFunction {
    /// Arguments of the function, in order.
    pub inputs: Vec<EndpointVariable>,
    /// The function.
    pub function: Arc<dyn PointFunction>,
}

impl EndpointFunction {
    /// A function of the variables `inputs`; derivatives by dual numbers.
    pub fn new(inputs: Vec<EndpointVariable>, function: impl SmoothFunction) -> EndpointFunction {
        EndpointFunction { inputs, function: Arc::new(Differentiated::new(function)) }
    }

    /// The same with derivatives by jets: for functions that evaluate a whole model.
    pub fn of_model(inputs: Vec<EndpointVariable>, function: impl SmoothFunction) -> EndpointFunction {
        EndpointFunction { inputs, function: Arc::new(Jetted::new(function)) }
    }
}

/// Whether a goal is minimized or kept within bounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// The weighted sum of the values is minimized.
    Cost {
        /// The weight.
        weight: f64,
    },
    /// Each value is kept within its bounds.
    Constraint {
        /// Bounds, one per value.
        bounds: Vec<Bounds>,
    },
}

/// A cost or an endpoint constraint: a function of both ends and of integrals over the motion.
#[derive(Clone)]
pub struct Goal {
    /// Name, for reports.
    pub name: String,
    /// Cost or constraint.
    pub mode: Mode,
    /// Integrals over time; each integrand is the sum of its terms.
    pub integrals: Vec<Vec<Term>>,
    /// Whether the integrals are divided by the duration.
    pub is_mean: bool,
    /// Function of ends and integrals; default: the sum of the integrals.
    pub endpoint: Option<EndpointFunction>,
}

impl Goal {
    /// weight · ∫ Σ terms dt.
    pub fn integral(name: impl Into<String>, weight: f64, terms: Vec<Term>) -> Goal {
        Goal {
            name: name.into(),
            mode: Mode::Cost { weight },
            integrals: vec![terms],
            is_mean: false,
            endpoint: None,
        }
    }

    /// weight · mean of Σ terms over the duration.
    pub fn mean(name: impl Into<String>, weight: f64, terms: Vec<Term>) -> Goal {
        Goal { is_mean: true, ..Goal::integral(name, weight, terms) }
    }

    /// weight · Σ outputs of a function of the ends.
    pub fn endpoint(name: impl Into<String>, weight: f64, function: EndpointFunction) -> Goal {
        Goal {
            name: name.into(),
            mode: Mode::Cost { weight },
            integrals: Vec::new(),
            is_mean: false,
            endpoint: Some(function),
        }
    }

    /// Bounds for a function of the ends, one per output.
    pub fn endpoint_constraint(
        name: impl Into<String>,
        bounds: Vec<Bounds>,
        function: EndpointFunction,
    ) -> Goal {
        Goal {
            name: name.into(),
            mode: Mode::Constraint { bounds },
            integrals: Vec::new(),
            is_mean: false,
            endpoint: Some(function),
        }
    }
}

/// A constraint g_L ≤ g ≤ g_U along the motion.
#[derive(Clone)]
pub struct PathConstraint {
    /// Name, for reports.
    pub name: String,
    /// g.
    pub term: Term,
    /// Bounds, one per output of g.
    pub bounds: Vec<Bounds>,
}
