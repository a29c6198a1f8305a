//! The six accelerations at an instant, and their integration over a trial.

use super::unknowns::Unknowns;
use super::{Error, SAME_TIME_S, resting};
use crate::motion_splines::MotionSplines;
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::system::LANES;
use soleus_dynamics::{State, System, Workspace};
use soleus_math::{Dual, Real, SpatialVec};

/// Initial numbers at most: values and speeds of six coordinates.
pub(super) const N: usize = 12;

/// What determines the accelerations.
pub(super) struct Equations<'a> {
    pub system: &'a System,
    pub motion: &'a MotionSplines,
    pub unknowns: &'a Unknowns,
}

/// Values and speeds of the unknowns.
#[derive(Clone, Debug)]
pub(super) struct Initial<T> {
    pub q: Vec<T>,
    pub u: Vec<T>,
}

impl Initial<f64> {
    /// As independent variables, values first, then speeds; those from `first` on have derivatives.
    fn lift(&self, first: usize) -> Initial<Dual<f64, LANES>> {
        let n = self.q.len();
        let lanes = first..first + LANES;
        let variables = |x: &[f64], at: usize| {
            let each = |(i, x): (usize, &f64)| match lanes.contains(&(at + i)) {
                true => Dual::variable(*x, at + i - first),
                false => Dual::cst(*x),
            };
            x.iter().enumerate().map(each).collect()
        };
        Initial { q: variables(&self.q, 0), u: variables(&self.u, n) }
    }

    pub fn moved(&self, step: &[f64], part: f64) -> Self {
        let n = self.q.len();
        let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + part * d).collect();
        Initial { q: add(&self.q, &step[..n]), u: add(&self.u, &step[n..]) }
    }
}

/// The motion at the rows of the data (values, speeds, accelerations) and at the samples (values).
pub(super) struct Path<T> {
    pub rows: Vec<(Vec<T>, Vec<T>, Vec<T>)>,
    pub samples: Vec<Vec<T>>,
}

/// Room to compute accelerations in the scalar `T`.
struct Room<T: Real> {
    x: State<T>,
    udot: Vec<T>,
    tau: Vec<T>,
    ws: Workspace<T>,
    controls: Vec<T>,
    A: Vec<SpatialVec<T>>,
    F: Vec<SpatialVec<T>>,
    rates: Vec<T>,
    matrix: Vec<T>,
}

impl<T: Real> Room<T> {
    fn new(system: &System) -> Self {
        let (n, nb) = (system.tree.num_mobilities, system.tree.nodes.len());
        Room {
            x: resting(system),
            udot: vec![T::zero(); n],
            tau: vec![T::zero(); n],
            ws: system.workspace(),
            controls: vec![T::zero(); system.num_controls],
            A: vec![SpatialVec::zero(); nb],
            F: vec![SpatialVec::zero(); nb],
            rates: vec![T::zero(); n],
            matrix: Vec::with_capacity(36),
        }
    }
}

impl Equations<'_> {
    /// The measured values and speeds of the unknowns.
    pub fn measured(&self, t: f64) -> Initial<f64> {
        let mut x: State<f64> = resting(self.system);
        let mut udot = vec![0.0; self.system.tree.num_mobilities];
        self.motion.compute(t, &mut x, &mut udot);
        let of = |v: &[f64]| self.unknowns.list.iter().map(|u| v[u.mobility]).collect();
        Initial { q: of(&x.q), u: of(&x.u) }
    }

    /// Rates of the unknowns' values and of their speeds: (1) solved for u̇_xb.
    fn rates<T: Real>(
        &self,
        t: f64,
        y: &Initial<T>,
        r: &mut Room<T>,
        out: &mut Initial<T>,
    ) -> Result<(), Error> {
        let (system, list, rows) = (self.system, &self.unknowns.list, &self.unknowns.rows);
        self.motion.compute(t, &mut r.x, &mut r.udot);
        for (k, u) in list.iter().enumerate() {
            (r.x.q[u.mobility], r.x.u[u.mobility]) = (y.q[k], y.u[k]);
            r.udot[u.mobility] = T::zero();
        }
        system.compute_kinematics(&r.x, &mut r.ws);
        if system.forces.iter().any(|f| f.enabled && f.path.is_some()) {
            system.compute_paths(&r.x, &mut r.ws);
        }
        system.compute_forces(&r.x, &r.controls, &mut r.ws);
        let ws = &mut r.ws;
        compute_inverse_dynamics(
            &system.tree,
            &ws.kin,
            &r.udot,
            &ws.body_load,
            &mut r.A,
            &mut r.F,
            &mut r.tau,
        );
        ws.mass.compute_mass_matrix(&system.tree, &ws.kin);
        r.matrix.clear();
        for &row in rows {
            r.matrix.extend(list.iter().map(|u| ws.mass.at(row, u.mobility)));
        }
        for (b, &row) in out.u.iter_mut().zip(rows) {
            *b = ws.mobility_load[row] - r.tau[row];
        }
        if !solve_linear(&mut r.matrix, &mut out.u) {
            return Err(Error::Singular { time: t, unknowns: self.unknowns.names() });
        }
        system.compute_coordinate_rates(&r.x, &mut r.rates);
        for (q, u) in out.q.iter_mut().zip(list) {
            *q = r.rates[u.mobility];
        }
        Ok(())
    }
}

/// x ← A⁻¹ x by elimination with the largest pivots; A row by row, overwritten. False if a pivot has lost all its digits.
fn solve_linear<T: Real>(a: &mut [T], x: &mut [T]) -> bool {
    let n = x.len();
    let scale = a.iter().fold(0.0f64, |m, a| m.max(a.value().abs()));
    for k in 0..n {
        let size = |i: usize| a[i * n + k].value().abs();
        let p = (k..n).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(k);
        if !(size(p) > 1e-12 * scale) {
            return false;
        }
        for j in 0..n {
            a.swap(k * n + j, p * n + j);
        }
        x.swap(k, p);
        let inv = a[k * n + k].recip();
        for i in k + 1..n {
            let f = a[i * n + k] * inv;
            for j in k + 1..n {
                let d = f * a[k * n + j];
                a[i * n + j] -= d;
            }
            let d = f * x[k];
            x[i] -= d;
        }
    }
    for k in (0..n).rev() {
        let mut s = x[k];
        for j in k + 1..n {
            s -= a[k * n + j] * x[j];
        }
        x[k] = s / a[k * n + k];
    }
    true
}

/// Dormand & Prince (1980), J Comput Appl Math 6:19–26: order 5, seven stages of which the last is the first of the next step.
const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const A: [&[f64]; 7] = [
    &[],
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Order 5 less the embedded order 4.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Stages of a step.
struct Stages<T: Real> {
    room: Room<T>,
    k: Vec<Initial<T>>,
}

impl<T: Real> Stages<T> {
    fn new(e: &Equations) -> Self {
        let zero = vec![T::zero(); e.unknowns.list.len()];
        let k = vec![Initial { q: zero.clone(), u: zero }; 7];
        Stages { room: Room::new(e.system), k }
    }

    /// The first stage of the first step.
    fn begin(&mut self, e: &Equations, t: f64, y: &Initial<T>) -> Result<(), Error> {
        e.rates(t, y, &mut self.room, &mut self.k[0])
    }

    /// y one step later, where the first stage is known; the last stage is there too afterwards.
    fn step(&mut self, e: &Equations, t: f64, h: f64, y: &Initial<T>) -> Result<Initial<T>, Error> {
        let mut next = y.clone();
        for s in 1..7 {
            next.clone_from(y);
            for (a, k) in A[s].iter().zip(&self.k).filter(|(a, _)| **a != 0.0) {
                for i in 0..next.q.len() {
                    next.q[i] += k.q[i] * (a * h);
                    next.u[i] += k.u[i] * (a * h);
                }
            }
            let (_, stage) = self.k.split_at_mut(s);
            e.rates(t + C[s] * h, &next, &mut self.room, &mut stage[0])?;
        }
        Ok(next)
    }

    /// The acceleration that the step gets wrong: error of the speed over its duration, m/s² or rad/s²; and that of the value.
    fn error(&self, h: f64) -> f64 {
        let mut worst = 0.0f64;
        for i in 0..self.k[0].q.len() {
            let sum = |of: &dyn Fn(&Initial<T>) -> T| -> f64 {
                E.iter().zip(&self.k).map(|(e, k)| e * of(k).value()).sum::<f64>().abs()
            };
            worst = worst.max(sum(&|k| k.u[i])).max(sum(&|k| k.q[i]) / h);
        }
        worst
    }

    /// Makes the last stage the first of the next step.
    fn go_on(&mut self) {
        self.k.swap(0, 6);
    }
}

/// Where the integration stops and how many steps lie between two stops.
pub(super) struct Mesh {
    /// Time, steps from the stop before, row and sample that it is.
    stops: Vec<Stop>,
    begin: f64,
}

struct Stop {
    t: f64,
    steps: usize,
    is_row: bool,
    is_sample: bool,
}

/// Steps between two stops at most: a load that jumps is not followed into its last digit.
const MOST_STEPS: usize = 256;

impl Mesh {
    /// Steps such that each gets less than `tolerance` (in units of gravity) of an acceleration wrong.
    pub fn adapt(
        e: &Equations,
        rows: &[f64],
        samples: &[f64],
        start: &Initial<f64>,
        tolerance: f64,
    ) -> Result<Self, Error> {
        let near = |list: &[f64], t: f64| {
            let i = list.partition_point(|x| *x < t - SAME_TIME_S);
            list.get(i).is_some_and(|x| (x - t).abs() <= SAME_TIME_S)
        };
        let mut times: Vec<f64> = rows.iter().chain(samples).copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|a, b| (*a - *b).abs() <= SAME_TIME_S);
        let begin = times[0];
        let allowed = tolerance * e.system.gravity.norm().max(1.0);
        let mut stages = Stages::new(e);
        let (mut stops, mut y, mut t, mut last) = (Vec::new(), start.clone(), begin, 1);
        stages.begin(e, t, &y)?;
        for &stop in &times {
            let mut steps = if stop > t { last } else { 0 };
            let first = stages.k[0].clone();
            while steps > 0 {
                let h = (stop - t) / steps as f64;
                let (mut now, mut worst) = (y.clone(), 0.0f64);
                stages.k[0].clone_from(&first);
                for i in 0..steps {
                    now = stages.step(e, t + h * i as f64, h, &now)?;
                    worst = worst.max(stages.error(h));
                    stages.go_on();
                }
                if worst <= allowed || steps >= MOST_STEPS {
                    y = now;
                    break;
                }
                steps *= 2;
            }
            // The next interval is tried with fewer: errors fall by 2⁵ where steps are halved.
            last = (steps / 2).max(1);
            t = stop;
            stops.push(Stop { t, steps, is_row: near(rows, t), is_sample: near(samples, t) });
        }
        Ok(Mesh { stops, begin })
    }

    pub fn num_steps(&self) -> usize {
        self.stops.iter().map(|s| s.steps).sum()
    }

    pub fn integrate<T: Real>(&self, e: &Equations, start: &Initial<T>) -> Result<Path<T>, Error> {
        let mut stages = Stages::new(e);
        let mut path = Path { rows: Vec::new(), samples: Vec::new() };
        let (mut y, mut t) = (start.clone(), self.begin);
        stages.begin(e, t, &y)?;
        for s in &self.stops {
            let h = (s.t - t) / s.steps.max(1) as f64;
            for i in 0..s.steps {
                y = stages.step(e, t + h * i as f64, h, &y)?;
                stages.go_on();
            }
            t = s.t;
            if s.is_row {
                path.rows.push((y.q.clone(), y.u.clone(), stages.k[0].u.clone()));
            }
            if s.is_sample {
                path.samples.push(y.q.clone());
            }
        }
        Ok(path)
    }

    /// The values of the unknowns at the samples, with derivatives by the initial numbers.
    pub fn slopes(&self, e: &Equations, start: &Initial<f64>) -> Result<Vec<Vec<Dual<f64, N>>>, Error> {
        let n = 2 * start.q.len();
        let mut samples: Vec<Vec<Dual<f64, N>>> = Vec::new();
        for first in (0..n).step_by(LANES) {
            let part = self.integrate(e, &start.lift(first))?.samples;
            samples.resize(part.len(), vec![Dual::zero(); n / 2]);
            for (all, part) in samples.iter_mut().flatten().zip(part.iter().flatten()) {
                all.v = part.v;
                let lanes = LANES.min(n - first);
                all.d[first..first + lanes].copy_from_slice(&part.d[..lanes]);
            }
        }
        Ok(samples)
    }
}
