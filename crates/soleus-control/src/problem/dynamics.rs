//! The dynamics f(t, x, ẋ, e, λ, p) = 0.

use super::Bounds;
use crate::function::{Differentiated, PointFunction, SmoothFunction};
use soleus_math::Real;
use std::sync::Arc;

/// The dynamics of a problem, and what is known of their structure.
#[derive(Clone)]
pub struct Dynamics {
    /// f: one row per state, then one per multiplier (accelerations that the constraints forbid), of the
    /// inputs t, x, ẋ, e, λ, p in this order.
    pub function: Arc<dyn PointFunction>,
    /// For each state, the state that is its rate, if there is one (a coordinate and its speed). Its row of f
    /// is then taken as satisfied.
    pub chain: Vec<Option<usize>>,
    /// For each state, the control that is its rate, if there is one (an activation whose rate is chosen). The same holds for its row; bounds of
    /// the rate are those of the control.
    pub driven: Vec<Option<usize>>,
    /// Bounds of the rates.
    pub rate_bounds: Vec<Bounds>,
    /// Constraints on positions and speeds, if there are multipliers.
    pub constraints: Option<KinematicConstraints>,
}

/// Kinematic constraints φ(t, q) = 0 and their time derivatives.
#[derive(Clone)]
pub struct KinematicConstraints {
    /// Number n of coordinates: states 0..n are coordinates, n..2n speeds.
    pub num_coordinates: usize,
    /// φ of (t, x).
    pub position: Arc<dyn PointFunction>,
    /// φ̇ and speed constraints, one row per multiplier, of (t, x).
    pub velocity: Arc<dyn PointFunction>,
    /// Gᵀ γ, as a change of q̇, of (t, x, γ), one γ per multiplier.
    pub correction: Arc<dyn PointFunction>,
    /// (∂F/∂(q, u))ᵀ μ with F = (φ, φ̇), of (t, x, μ), one μ per row of F.
    pub projection: Arc<dyn PointFunction>,
}

/// Everything at one point of time, in the scalar `T`.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, T> {
    /// s.
    pub time: T,
    /// x.
    pub states: &'a [T],
    /// ẋ.
    pub rates: &'a [T],
    /// e.
    pub controls: &'a [T],
    /// p.
    pub parameters: &'a [T],
}

/// Dynamics written by hand: anything from a pendulum to a rocket. Derivatives come by themselves.
pub trait CustomDynamics: Send + Sync + 'static {
    /// Number of states, controls and parameters.
    fn sizes(&self) -> (usize, usize, usize);

    /// Writes the residual of each state's equation, say r = ẋ − rate(x, e).
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
    /// Dynamics written by hand.
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
