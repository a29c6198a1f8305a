//! The walking problems of van den Bogert, Blana and Heinrich (2011) and of the solutions their authors stored.

use super::SWING;
use soleus::Error;
use soleus::prediction::{self, Winter};
use soleus_control::continuation::{ContinuationError, Fading, Outcome, solve_fading, solve_next};
use soleus_control::gait::{Duration, Effort, GaitCycle, Planar, Symmetry, fit_prosthesis};
use soleus_control::musculoskeletal::ParameterRange;
use soleus_control::{Bounds, Collocation, Problem, Scheme, Settings, Trajectory, Variable};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_optimization::nlp::{Iteration, Options};
use std::ops::ControlFlow;

/// Told of the price of the reserves and of every iteration.
type Progress<'a> = &'a mut dyn FnMut(f64, &Iteration<'_>) -> ControlFlow<()>;

/// The floors of standard deviations: 2° and 2 % of body weight.
pub const FLOORS: [f64; 2] = [2.0 * std::f64::consts::PI / 180.0, 0.02];

/// What of the right leg is a prosthesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leg {
    Able,
    /// Below the knee: no muscles at the ankle, a spring of this stiffness instead (N·m/rad).
    Spring(f64),
    /// The same with a stiffness that is to be found between these two.
    FreeSpring([f64; 2]),
}

/// The parameter of a free spring, in kN·m/rad so that it is of the order of 1.
const STIFFNESS: &str = "stiffness";

/// Most iterations on the mesh that counts.
const MOST_ITERATIONS: usize = 1000;

/// Threads of a solve.
const THREADS: usize = 2;

/// One step on the way from nothing to a solution.
#[derive(Clone, Copy)]
struct Stage {
    scheme: Scheme,
    nodes: u32,
    /// Of reserves; 0 without them.
    price: f64,
    tolerance: f64,
    barrier: f64,
    /// Most iterations.
    most: usize,
}

/// One problem: what is followed, at which speed, on which mesh.
#[derive(Clone)]
pub struct WalkingProblem {
    pub walker: Planar,
    pub cycle: GaitCycle,
    pub scheme: Scheme,
    pub nodes: u32,
    pub leg: Leg,
    /// Stiffness of the ground, N/m; none for that of the model, 20 000.
    pub ground: Option<f64>,
    /// Threads that a solve may use; the result does not depend on them.
    pub threads: usize,
}

/// The model with that leg, on a ground of another stiffness (N/m) if one is given.
fn model(leg: Leg, ground: Option<f64>) -> Result<Model, Error> {
    let mut model = prediction::model()?;
    for f in &mut model.forces {
        if let (ForceKind::Bogert2011Contact(c), Some(stiffness)) = (&mut f.kind, ground) {
            c.stiffness = stiffness;
        }
    }
    if let Leg::Spring(stiffness) | Leg::FreeSpring([stiffness, _]) = leg {
        fit_prosthesis(&mut model, stiffness).map_err(|e| Error::NotSolved { message: e.to_string() })?;
    }
    Ok(model)
}

impl WalkingProblem {
    /// The stored problem of 2011: 60 nodes, backward Euler, Winter's normal cadence, the cycle near its 1.1396 s, cubes
    /// of excitations with a weight of 20.
    pub fn stored(leg: Leg) -> Result<Self, Error> {
        let (walker, data) = (prediction::walker(model(leg, None)?)?, Winter::read("normal")?);
        let cycle = GaitCycle {
            forward: walker.forward,
            speed: data.speed,
            duration: Duration { bounds: Bounds::new(0.2, 2.0), measured: Some([data.cycle, 0.005]) },
            symmetry: Symmetry::None,
            signals: walker.signals(&data.leg(60), Some(FLOORS)),
            tracking_weight: 1.0,
            effort: Effort { weight: 20.0, exponent: 3.0 },
        };
        Ok(WalkingProblem {
            walker,
            cycle,
            scheme: Scheme::BackwardEuler,
            nodes: 60,
            leg,
            ground: None,
            threads: THREADS,
        })
    }

    /// The problem of the paper: 1.1 m/s, 1.28 s, midpoint rule, squares of excitations with a weight of 100.
    pub fn paper(leg: Leg, data: &Winter, floors: Option<[f64; 2]>, nodes: u32) -> Result<Self, Error> {
        let walker = prediction::walker(model(leg, None)?)?;
        let cycle = GaitCycle {
            forward: walker.forward,
            speed: 1.1,
            duration: Duration { bounds: Bounds::fixed(1.28), measured: None },
            symmetry: Symmetry::None,
            signals: walker.signals(&data.leg(nodes), floors),
            tracking_weight: 1.0,
            effort: Effort { weight: 100.0, exponent: 2.0 },
        };
        Ok(WalkingProblem {
            walker,
            cycle,
            scheme: Scheme::Midpoint,
            nodes,
            leg,
            ground: None,
            threads: THREADS,
        })
    }

    /// The same problem with another leg.
    pub fn with_leg(&self, leg: Leg) -> Result<Self, Error> {
        Ok(WalkingProblem { walker: prediction::walker(model(leg, self.ground)?)?, leg, ..self.clone() })
    }

    /// The same problem on a ground of another stiffness, N/m.
    pub fn on_ground(&self, stiffness: f64) -> Result<Self, Error> {
        let ground = Some(stiffness);
        Ok(WalkingProblem { walker: prediction::walker(model(self.leg, ground)?)?, ground, ..self.clone() })
    }

    fn settings(scheme: Scheme, nodes: u32) -> Settings {
        Settings { interpolate_controls: false, ..Settings::uniform(scheme, nodes as usize) }
    }

    /// A stiffness (N·m/rad) as the parameter of the problem.
    pub fn stiffness(&self, stiffness: f64) -> (String, f64) {
        (STIFFNESS.to_string(), 1e-3 * stiffness)
    }

    /// The stiffness that was found, N·m/rad.
    pub fn stiffness_of(&self, o: &Outcome) -> Option<f64> {
        o.trajectory.parameters.iter().find(|p| p.0 == STIFFNESS).map(|p| 1e3 * p.1)
    }

    /// Dynamics, parameters and goals.
    fn problem(&self) -> Result<Problem, Error> {
        let mut problem = match self.leg {
            Leg::Able | Leg::Spring(_) => self.walker.problem(),
            Leg::FreeSpring([least, most]) => {
                // The equations are linear in the stiffness: two systems tell all.
                let other = prediction::walker(model(Leg::Spring(most), self.ground)?)?.base.system;
                let range = ParameterRange { base: 1e-3 * least, others: vec![(1e-3 * most, other)] };
                let mut problem = self.walker.problem_with(&[range]);
                let bounds = Bounds::new(1e-3 * least, 1e-3 * most);
                problem.parameters.push(Variable::new(STIFFNESS, bounds));
                problem
            }
        };
        let posed = self.cycle.pose(&self.walker.base, &mut problem);
        posed.map_err(|e| Error::NotSolved { message: e.to_string() })?;
        Ok(problem)
    }

    fn options(&self, tolerance: f64) -> Options {
        Options {
            threads: self.threads,
            constraint_tolerance: 1e-6,
            max_iterations: MOST_ITERATIONS,
            ..Options::with_tolerance(tolerance)
        }
    }

    /// Solves on a mesh of so many nodes, from a motion, reserves fading or not.
    pub fn solve(
        &self,
        guess: &Trajectory,
        fading: &Fading,
        nodes: u32,
        tolerance: f64,
        progress: Progress<'_>,
    ) -> Result<Outcome, Error> {
        let options = self.options(tolerance);
        solve_fading(&self.problem()?, &Self::settings(self.scheme, nodes), fading, guess, &options, progress)
            .map_err(|e| Error::NotSolved { message: e.to_string() })
    }

    /// Solves from nothing, stage by stage; where that fails, again with patience.
    pub fn solve_from(&self, guess: &Trajectory, progress: Progress<'_>) -> Result<Outcome, Error> {
        let quick = self.solve_stages(&self.stages(), guess, progress)?;
        if quick.solution.status.is_solved() {
            return Ok(quick);
        }
        let patient = self.solve_patiently(guess, progress)?;
        Ok(Outcome { iterations: quick.iterations + patient.iterations, ..patient })
    }

    /// Solves from a start of which nothing good is known.
    pub fn solve_patiently(&self, guess: &Trajectory, progress: Progress<'_>) -> Result<Outcome, Error> {
        self.solve_stages(&self.patient_stages(), guess, progress)
    }

    /// Solves from a neighbour and its solution: as it is, then with a little help over the step; without a neighbour, or where all
    /// that fails, from straight lines.
    pub fn solve_near(
        &self,
        neighbour: Option<(&WalkingProblem, &Outcome)>,
        progress: Progress<'_>,
    ) -> Result<Outcome, Error> {
        let mut iterations = 0;
        if let Some((problem, known)) = neighbour {
            let o = self.solve_next(problem, known, progress)?;
            iterations += o.iterations;
            if o.solution.status.is_solved() {
                return Ok(o);
            }
            let help = Fading {
                prices: vec![100.0],
                tolerance: 1e-2,
                max_iterations: 60,
                barriers: [1e-3; 2],
                ..Fading::new(self.walker.reserves())
            };
            let o = self.solve(&known.trajectory, &help, self.nodes, 1e-6, progress)?;
            iterations += o.iterations;
            if o.solution.status.is_solved() {
                return Ok(Outcome { iterations, ..o });
            }
        }
        let o = self.solve_patiently(&self.start(SWING), progress)?;
        Ok(Outcome { iterations: iterations + o.iterations, ..o })
    }

    /// From a solution of nearly the same problem: a large barrier would only drive it away.
    pub fn near() -> Fading {
        Fading { barriers: [1e-5; 2], ..Fading::none() }
    }

    /// Solves from the solution of a problem that differs in numbers, on the same mesh, with its multipliers.
    pub fn solve_next(
        &self,
        neighbour: &WalkingProblem,
        known: &Outcome,
        progress: Progress<'_>,
    ) -> Result<Outcome, Error> {
        let mut before = neighbour.program()?;
        let known = (&mut before, &known.solution);
        solve_next(self.program()?, known, &self.options(1e-6), &mut |i| progress(0.0, i))
            .map_err(|e| Error::NotSolved { message: e.to_string() })
    }

    fn program(&self) -> Result<Collocation, Error> {
        Collocation::new(self.problem()?, &Self::settings(self.scheme, self.nodes))
            .map_err(|e| Error::NotSolved { message: ContinuationError::Problem(e).to_string() })
    }

    fn solve_stages(
        &self,
        stages: &[Stage],
        guess: &Trajectory,
        progress: Progress<'_>,
    ) -> Result<Outcome, Error> {
        let mut iterations = 0;
        let mut guess = guess.clone();
        let mut last = None;
        for stage in stages {
            let o = self.solve_stage(stage, &guess, progress)?;
            iterations += o.iterations;
            guess.clone_from(&o.trajectory);
            last = Some(o);
        }
        let o = last.ok_or_else(|| Error::NotSolved { message: "no stage".into() })?;
        Ok(Outcome { iterations, ..o })
    }

    /// Reserves that become dearer on finer and finer meshes, at last none. The first stages need not be finished: what counts is that
    /// they lead into the neighbourhood. They are by backward Euler, which damps what the midpoint rule would let ring.
    fn stages(&self) -> [Stage; 4] {
        let first = Stage {
            scheme: Scheme::BackwardEuler,
            nodes: 20,
            price: 1.0,
            tolerance: 1e-2,
            barrier: 1e-2,
            most: 120,
        };
        let second = Stage { price: 10.0, barrier: 1e-3, most: 80, ..first };
        let third =
            Stage { scheme: self.scheme, nodes: self.nodes.div_ceil(2).max(20), price: 100.0, ..second };
        let last = Stage { nodes: self.nodes, price: 0.0, tolerance: 1e-6, most: 500, ..third };
        [first, second, third, last]
    }

    /// Every stage nearly to its end, the last of the coarse ones without reserves.
    fn patient_stages(&self) -> [Stage; 5] {
        let [first, .., last] = self.stages();
        let coarse = |price: f64, barrier: f64| Stage { price, barrier, tolerance: 1e-3, most: 300, ..first };
        let last = Stage { most: MOST_ITERATIONS, ..last };
        [coarse(1.0, 1e-2), coarse(10.0, 1e-3), coarse(100.0, 1e-3), coarse(0.0, 1e-3), last]
    }

    fn solve_stage(
        &self,
        stage: &Stage,
        guess: &Trajectory,
        progress: Progress<'_>,
    ) -> Result<Outcome, Error> {
        let mut problem = self.problem()?;
        if stage.price > 0.0 {
            problem.add_reserves(&self.walker.reserves(), stage.price);
        }
        let fading = Fading { barriers: [stage.barrier; 2], ..Fading::none() };
        let options = Options { max_iterations: stage.most, ..self.options(stage.tolerance) };
        let settings = Self::settings(stage.scheme, stage.nodes);
        solve_fading(&problem, &settings, &fading, guess, &options, &mut |_, i| progress(stage.price, i))
            .map_err(|e| Error::NotSolved { message: e.to_string() })
    }

    /// The straight-line start for this problem.
    pub fn start(&self, swing: f64) -> Trajectory {
        let duration = self.cycle.duration.measured.map_or(self.cycle.duration.bounds.middle(), |m| m[0]);
        self.walker.straight_line(self.cycle.speed, duration, swing, false)
    }
}
