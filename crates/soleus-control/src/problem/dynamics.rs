//! The dynamics f(t, x, ẋ, e, λ, p) = 0.

use super::Bounds;
use crate::function::{Differentiated, PointFunction, SmoothFunction};
use soleus_math::Real;
use std::sync::Arc;

/// Dynamics of a problem, and their structure.
#[derive(Clone)]
pub struct Dynamics {
    /// f: one row per state, then one per multiplier (acceleration constraints), as a function of t, x, ẋ, e, λ, p in
    /// this order.
    pub function: Arc<dyn PointFunction>,
    /// For each state, the state that is its rate, if any (a coordinate and its speed). Its row of f is then assumed to
    /// be satisfied.
    pub chain: Vec<Option<usize>>,
    /// For each state, the control that is its rate, if any (an activation with its rate as control). Its row is
    /// treated in the same way; bounds of the rate are those of the control.
    pub driven: Vec<Option<usize>>,
    /// Bounds of the rates.
    pub rate_bounds: Vec<Bounds>,
    /// Position and velocity constraints, if there are multipliers.
    pub constraints: Option<KinematicConstraints>,
}

/// Kinematic constraints φ(t, q) = 0 and their time derivatives.
#[derive(Clone)]
pub struct KinematicConstraints {
    /// Number n of coordinates: states 0..n are coordinates, n..2n speeds.
    pub num_coordinates: usize,
    /// φ as a function of (t, x).
    pub position: Arc<dyn PointFunction>,
    /// φ̇ and velocity constraints, one row per multiplier, as a function of (t, x).
    pub velocity: Arc<dyn PointFunction>,
    /// Gᵀ γ, a change of q̇, as a function of (t, x, γ), one γ per multiplier.
    pub correction: Arc<dyn PointFunction>,
    /// (∂F/∂(q, u))ᵀ μ with F = (φ, φ̇), as a function of (t, x, μ), one μ per row of F.
    pub projection: Arc<dyn PointFunction>,
}

/// All variables at one time, in the scalar `T`.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, T> {
    /// Time, s.
    pub time: T,
    /// States x.
    pub states: &'a [T],
    /// Rates ẋ.
    pub rates: &'a [T],
    /// Controls e.
    pub controls: &'a [T],
    /// Parameters p.
    pub parameters: &'a [T],
}

/// User-defined dynamics, such as a pendulum or a rocket. Derivatives are automatic.
pub trait CustomDynamics: Send + Sync + 'static {
    /// Number of states, controls and parameters.
    fn sizes(&self) -> (usize, usize, usize);

    /// Computes the residual of each state's equation, for example r = ẋ − rate(x, e).
    fn residual<T: Real>(&self, point: Point<'_, T>, r: &mut [T]);
}

struct CustomFunction<R>(R);

impl<R: CustomDynamics> SmoothFunction for CustomFunction<R> {
    type Scratch<T: Real> = ();

    fn num_inputs(&self) -> usize {
        let (x, e, p) = self.0.sizes();
        1 + 2 * x + e + p
    }

    fn num_outputs(&self) -> usize {
        self.0.sizes().0
    }

    fn scratch<T: Real>(&self) {}

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let (x, e, _) = self.0.sizes();
        let (states, rest) = z[1..].split_at(x);
        let (rates, rest) = rest.split_at(x);
        let (controls, parameters) = rest.split_at(e);
        self.0.residual(Point { time: z[0], states, rates, controls, parameters }, values);
    }
}

impl Dynamics {
    /// From user-defined dynamics.
    pub fn of(dynamics: impl CustomDynamics) -> Dynamics {
        let states = dynamics.sizes().0;
        Dynamics {
            function: Arc::new(Differentiated::new(CustomFunction(dynamics))),
            chain: vec![None; states],
            driven: vec![None; states],
            rate_bounds: vec![Bounds::FREE; states],
            constraints: None,
        }
    }
}
