//! The walking problems of van den Bogert, Blana and Heinrich (2011) and of the solutions their authors stored.

use crate::failure::Failure;
use crate::walk::{self, Winter};
use soleus_control::continuation::{Fading, Outcome, solve_fading};
use soleus_control::gait::{Duration, Effort, GaitCycle, Planar, Symmetry, fit_prosthesis};
use soleus_control::{Bounds, Scheme, Settings, Trajectory};
use soleus_model::Model;
use soleus_optimization::nlp::{Iteration, Options};
use std::ops::ControlFlow;

/// The floors of standard deviations: 2° and 2 % of body weight.
pub const FLOORS: [f64; 2] = [2.0 * std::f64::consts::PI / 180.0, 0.02];

/// What of the right leg is a prosthesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leg {
    Able,
    /// Below the knee: no muscles at the ankle, a spring of this stiffness instead (N·m/rad).
    Spring(f64),
}

/// One problem: what is followed, at which speed, on which mesh.
#[derive(Clone)]
pub struct WalkingProblem {
    pub walker: Planar,
    pub cycle: GaitCycle,
    pub scheme: Scheme,
    pub nodes: u32,
}

/// The model with that leg.
pub fn model(leg: Leg) -> Result<Model, Failure> {
    let mut model = walk::model()?;
    if let Leg::Spring(stiffness) = leg {
        fit_prosthesis(&mut model, stiffness).map_err(|e| Failure::NotSolved { message: e.to_string() })?;
    }
    Ok(model)
}

impl WalkingProblem {
    /// The stored problem of 2011: 60 nodes, backward Euler, Winter's normal cadence, the cycle near its 1.1396 s, cubes
    /// of excitations with a weight of 20.
    pub fn stored(leg: Leg) -> Result<Self, Failure> {
        let (walker, data) = (walk::walker(model(leg)?)?, Winter::read("normal")?);
        let cycle = GaitCycle {
            forward: walker.forward,
            speed: data.speed,
            duration: Duration { bounds: Bounds::new(0.2, 2.0), measured: Some([data.cycle, 0.005]) },
            symmetry: Symmetry::None,
            signals: walker.signals(&data.leg(60), Some(FLOORS)),
            tracking_weight: 1.0,
            effort: Effort { weight: 20.0, exponent: 3.0 },
        };
        Ok(WalkingProblem { walker, cycle, scheme: Scheme::BackwardEuler, nodes: 60 })
    }

    /// The problem of the paper: 1.1 m/s, 1.28 s, midpoint rule, squares of excitations with a weight of 100.
    pub fn paper(leg: Leg, data: &Winter, floors: Option<[f64; 2]>, nodes: u32) -> Result<Self, Failure> {
        let walker = walk::walker(model(leg)?)?;
        let cycle = GaitCycle {
            forward: walker.forward,
            speed: 1.1,
            duration: Duration { bounds: Bounds::fixed(1.28), measured: None },
            symmetry: Symmetry::None,
            signals: walker.signals(&data.leg(nodes), floors),
            tracking_weight: 1.0,
            effort: Effort { weight: 100.0, exponent: 2.0 },
        };
        Ok(WalkingProblem { walker, cycle, scheme: Scheme::Midpoint, nodes })
    }

    /// The same problem with another leg.
    pub fn with_leg(&self, leg: Leg) -> Result<Self, Failure> {
        Ok(WalkingProblem { walker: walk::walker(model(leg)?)?, ..self.clone() })
    }

    fn settings(&self, nodes: u32) -> Settings {
        Settings { interpolate_controls: false, ..Settings::uniform(self.scheme, nodes as usize) }
    }

    /// Solves on the mesh of the problem, from a motion, reserves fading or not.
    pub fn solve(
        &self,
        guess: &Trajectory,
        fading: &Fading,
        nodes: u32,
        tolerance: f64,
        progress: &mut dyn FnMut(f64, &Iteration<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, Failure> {
        let fail = |message: String| Failure::NotSolved { message };
        let base = &self.walker.base;
        let mut problem = self.walker.problem();
        self.cycle.pose(base, &mut problem).map_err(|e| fail(e.to_string()))?;
        let options = Options {
            threads: 2,
            constraint_tolerance: 1e-6,
            max_iterations: 1000,
            ..Options::with_tolerance(tolerance)
        };
        solve_fading(&problem, &self.settings(nodes), fading, guess, &options, progress)
            .map_err(|e| fail(e.to_string()))
    }

    /// Solves from nothing: on a few nodes with reserves that fade, then on all.
    pub fn solve_from(
        &self,
        guess: &Trajectory,
        progress: &mut dyn FnMut(f64, &Iteration<'_>) -> ControlFlow<()>,
    ) -> Result<Outcome, Failure> {
        const FEW: u32 = 20;
        let fading = Fading { prices: vec![1.0, 10.0, 100.0], ..Fading::new(self.walker.reserves()) };
        let first = self.solve(guess, &fading, FEW, 1e-3, progress)?;
        let second = self.solve(&first.trajectory, &Fading::none(), self.nodes, 1e-6, progress)?;
        Ok(Outcome { iterations: first.iterations + second.iterations, ..second })
    }

    /// The straight-line start for this problem.
    pub fn start(&self, swing: f64) -> Trajectory {
        let duration = self.cycle.duration.measured.map_or(self.cycle.duration.bounds.middle(), |m| m[0]);
        self.walker.straight_line(self.cycle.speed, duration, swing, false)
    }
}
