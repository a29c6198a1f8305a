//! The estimate: eq. 21 of van den Bogert, Blana and Heinrich (2011) on the midpoint rule, with smooth muscles.

use super::landing::{self, DURATION};
use super::motion::Motion;
use super::readings::{RATE, Record, times};
use super::skier::Skier;
use crate::sample::rms;
use crate::stages::{Stage, solve_stages};
use soleus::Error;
use soleus_control::continuation::Outcome;
use soleus_control::goal::{Sensor, control_effort, sensor_tracking, sum_of_squares};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::PointVariable;
use soleus_control::{Bounds, Goal, Problem, Scheme, Trajectory};

/// W of eq. 21.
pub const EFFORT: f64 = 1.0;
/// S of [`smooth_muscles`].
const SMOOTHNESS: f64 = 1.0;
/// τ of it, s: about the time in which a muscle gets from one activation to another.
const TIME: f64 = 0.1;

/// The way to the estimate, on the mesh of the readings from a start that obeys the equations: near it without the curvature of
/// the equations, then with it, in so many steps at most. Barriers are low since they add up over some ten thousand bounds, beside a
/// cost of about 1.
const fn stages([near_steps, steps]: [usize; 2]) -> [Stage; 2] {
    let near = Stage {
        scheme: Scheme::Midpoint,
        nodes: RATE,
        price: None,
        curved: false,
        barrier: 1e-4,
        tolerance: 1e-3,
        most: near_steps,
    };
    [near, Stage { curved: true, tolerance: 1e-5, most: steps, ..near }]
}

/// Steps of the first attempt, and of a second for readings that tell less.
const ATTEMPTS: [[usize; 2]; 2] = [[25, 120], [120, 400]];

/// Cost (21) over the readings, on a mesh: no task, no constraint but the dynamics. Where nothing tells the place along the slope,
/// it starts at 0.
fn problem(skier: &Skier, records: &[Record], nodes: usize, effort: f64) -> Result<Problem, Error> {
    let mut p = skier.problem();
    p.initial_time = Bounds::fixed(0.0);
    p.final_time = Bounds::fixed(DURATION);
    let forward = skier.planar.forward;
    if !records.iter().any(|r| r.sensor == Sensor::State(forward)) {
        p.states[forward].initial = Bounds::fixed(0.0);
    }
    let channels = records.iter().map(|r| r.channel(nodes, DURATION)).collect::<Result<_, _>>()?;
    p.goals.push(sensor_tracking("tracking", 1.0, &skier.planar.base.system, channels));
    let each = 1.0 / p.controls.len() as f64;
    let controls: Vec<_> = (0..p.controls.len()).map(|i| (i, each)).collect();
    p.goals.push(Goal { is_mean: true, ..control_effort("effort", effort, &controls, 2.0) });
    p.goals.push(smooth_muscles(&skier.planar.base));
    Ok(p)
}

/// S · mean over time and all states z of muscles (activations, fiber lengths) of (τ ż)².
///
/// Noise can be followed by excitations that jump from one reading to the next at hardly any cost in effort; many sets of them do
/// equally well, and a method that looks for one does not settle. A small price on the rates ends this.
fn smooth_muscles(base: &ModelProblem) -> Goal {
    let (first, count) = (2 * base.num_coordinates(), base.states.len());
    let each = TIME * TIME / (count - first).max(1) as f64;
    let rates: Vec<_> = (first..count).map(|i| (PointVariable::Rate(i), each)).collect();
    Goal { is_mean: true, ..sum_of_squares("smoothness", SMOOTHNESS, &rates) }
}

/// A landing that obeys the equations: simulated on the mesh of the estimate, from what was read at the start, with reflexes
/// that hold the mean of what was read. What was not read is that of some skier in flight, not of the truth.
fn guess(skier: &Skier, records: &[Record], nodes: usize) -> Result<Trajectory, Error> {
    let base = &skier.planar.base;
    let [mut q, mut u] = landing::any_flight(skier);
    let mut posture = q.clone();
    for r in records {
        if let (Sensor::State(i), Some([value, slope])) = (r.sensor, r.at_start()) {
            (q[i], u[i]) = (value, slope);
            posture[i] = r.mean();
        }
    }
    let (motion, reached) = landing::reflex_landing(skier, [&q, &u], &posture, nodes);
    if !reached {
        return Err(Error::NotSolved { message: "the initial motion could not be simulated".into() });
    }
    let mut t = Trajectory::default();
    t.states.names.clone_from(&base.states);
    t.controls.names.clone_from(&base.controls);
    let mut reflexes = landing::Reflexes::new(skier, &posture);
    // Nodes and, by the rule, the means of neighbours between them, with the excitations there.
    for k in 0..2 * motion.states.len() - 1 {
        let (a, b) = (&motion.states[k / 2], &motion.states[k.div_ceil(2)]);
        let mean = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<f64>>();
        let row = [mean(&a.q, &b.q), mean(&a.u, &b.u), mean(&a.z, &b.z)].concat();
        let mut e = vec![0.0; base.controls.len()];
        reflexes.compute(skier, &skier.state(&row, 0.0), &mut e);
        t.times.push(0.5 * (a.time + b.time));
        t.states.rows.push(row);
        t.controls.rows.push(e);
    }
    Ok(t)
}

/// Estimates the landing behind readings.
pub fn estimate(skier: &Skier, records: &[Record], effort: f64) -> Result<Outcome, Error> {
    let start = guess(skier, records, RATE)?;
    let [quick, patient] = ATTEMPTS.map(stages);
    let stated = |nodes| problem(skier, records, nodes, effort);
    let o = solve_stages(&quick, &[], start.clone(), &stated)?;
    if o.solution.status.is_solved() {
        return Ok(o);
    }
    let iterations = o.iterations;
    let o = solve_stages(&patient, &[], start, &stated)?;
    Ok(Outcome { iterations: iterations + o.iterations, ..o })
}

/// How far an estimate is from the truth, root mean squares over time.
#[derive(Clone, Debug)]
pub struct Score {
    /// Trunk; hip, knee, ankle of the right and the left leg, deg.
    pub angles: [f64; 7],
    /// Forces on each ski (right, left), along the slope and normal to it, body weights.
    pub forces: [[f64; 2]; 2],
    /// The same of both skis together.
    pub total: [f64; 2],
    /// Excitations, all muscles together.
    pub excitations: f64,
    /// Forces of muscles, in maximal ones.
    pub muscles: f64,
}

impl Score {
    /// Compares at the times of the readings.
    pub fn new(skier: &Skier, truth: &Motion, estimate: &Motion) -> Score {
        let joints = skier.joints();
        let pairs = || truth.states.iter().zip(&estimate.states);
        let (a, b) = (skier.snow(&truth.states), skier.snow(&estimate.states));
        let per = |v: f64| v / skier.weight;
        let count = truth.times.len();
        let muscles = [truth, estimate].map(|m| tendon_forces(skier, m));
        Score {
            angles: joints.map(|i| rms(pairs().map(|(t, e)| (t.q[i] - e.q[i]).to_degrees()))),
            forces: [0, 1].map(|s| [0, 1].map(|c| rms((0..count).map(|k| per(a[s][k][c] - b[s][k][c]))))),
            total: [0, 1]
                .map(|c| rms((0..count).map(|k| per(a[0][k][c] + a[1][k][c] - b[0][k][c] - b[1][k][c])))),
            excitations: rms(truth
                .controls
                .iter()
                .flatten()
                .zip(estimate.controls.iter().flatten())
                .map(|(a, b)| a - b)),
            muscles: rms(muscles[0].iter().flatten().zip(muscles[1].iter().flatten()).map(|(a, b)| a - b)),
        }
    }

    /// The worst joint, deg; the trunk is none.
    pub fn worst_joint(&self) -> f64 {
        self.angles[1..].iter().copied().fold(0.0, f64::max)
    }

    /// The worst force on one ski, body weights.
    pub fn worst_force(&self) -> f64 {
        self.forces.iter().flatten().copied().fold(0.0, f64::max)
    }
}

/// Tendon forces of all muscles over their maximal isometric ones.
pub fn tendon_forces(skier: &Skier, motion: &Motion) -> Vec<Vec<f64>> {
    let base = &skier.planar.base;
    let mut ws = base.system.workspace::<f64>();
    let mut one = |k: usize| {
        base.system.compute_motion(&motion.states[k], &motion.controls[k], &mut ws).ok();
        skier.muscles().iter().map(|&(i, f0)| ws.tension[i] / f0).collect()
    };
    (0..motion.states.len()).map(&mut one).collect()
}

/// The readings' times.
pub fn sampled(skier: &Skier, t: &Trajectory) -> Motion {
    Motion::sampled(skier, t, &times(DURATION))
}
