//! Simulations of DAS3 on a grid of times.

use super::Das3;
use super::released::AsReleased;
use soleus_dynamics::system::{State, System};
use soleus_simulation::linear::{Pattern, SparseLu};
use soleus_simulation::system::Feedback;
use soleus_simulation::{
    ExplicitRungeKutta, ImplicitOde, ImplicitSystemOde, Integrator, RadauIIA5, RhsError, RosenbrockEuler,
    Statistics, StepOptions, Stop, SystemOde,
};
use std::time::Instant;

/// Excitation of all muscles over time.
pub type Excitation = fn(f64) -> f64;

/// The same excitation for all muscles.
pub fn ramped(u: Excitation) -> Feedback<impl FnMut(f64, &State<f64>, &mut [f64])> {
    Feedback(move |t: f64, _: &State<f64>, c: &mut [f64]| c.fill(u(t)))
}

/// A problem that takes its inputs at a part of each step: 0 at the start, 1 at the end as in eq. 16 of the paper.
struct InputAt<P>(P, f64);

impl<P: ImplicitOde> ImplicitOde for InputAt<P> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.0.residual(t, x, xdot, r)
    }
    fn pattern(&self) -> &Pattern {
        self.0.pattern()
    }
    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        v: &[f64],
        j: &mut [f64],
        m: &mut [f64],
    ) -> Result<(), RhsError> {
        self.0.jacobians(t, x, v, j, m)
    }
    fn time_change(
        &mut self,
        t: f64,
        x: &[f64],
        v: &[f64],
        r: &[f64],
        change: &mut [f64],
    ) -> Result<(), RhsError> {
        self.0.time_change(t, x, v, r, change)?;
        change.iter_mut().for_each(|c| *c *= self.1);
        Ok(())
    }
    fn residual_and_jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        v: &[f64],
        r: &mut [f64],
        j: &mut [f64],
        m: &mut [f64],
    ) -> Result<(), RhsError> {
        self.0.residual_and_jacobians(t, x, v, r, j, m)
    }
    fn consistent_rates(&mut self, t: f64, x: &mut [f64], v: &mut [f64]) -> bool {
        self.0.consistent_rates(t, x, v)
    }
}

/// Which equations of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Equations {
    /// Those of the bodies.
    Complete,
    /// Those of release 2, which lack some terms; see [`AsReleased`].
    Released,
}

/// Angles on a grid, and the work they took.
pub struct Run {
    /// One row of coordinates (rad) per time.
    pub angles: Vec<Vec<f64>>,
    /// State at the end.
    pub end: Vec<f64>,
    /// Work.
    pub statistics: Statistics,
    /// Wall time of the steps, s.
    pub wall: f64,
}

impl Run {
    /// Root mean square of the difference in each coordinate, then over all, deg. NaN if one of them broke off.
    pub fn rms_deg(&self, reference: &Run) -> (Vec<f64>, f64) {
        self.rms_deg_of(&reference.angles)
    }

    /// The same against rows of angles, rad.
    pub fn rms_deg_of(&self, reference: &[Vec<f64>]) -> (Vec<f64>, f64) {
        let n = reference.first().map_or(0, Vec::len);
        let mut sum = vec![0.0; n];
        if self.angles.len() < reference.len() {
            return (vec![f64::NAN; n], f64::NAN);
        }
        for (a, b) in self.angles.iter().zip(reference) {
            for (s, (a, b)) in sum.iter_mut().zip(a.iter().zip(b)) {
                *s += (a - b).to_degrees().powi(2);
            }
        }
        let count = reference.len() as f64;
        let overall = (sum.iter().sum::<f64>() / (count * n as f64)).sqrt();
        (sum.into_iter().map(|s| (s / count).sqrt()).collect(), overall)
    }

    /// The same over all coordinates, for the times after `from` up to `to`, s.
    pub fn rms_deg_within(&self, reference: &Run, grid: f64, (from, to): (f64, f64)) -> f64 {
        let row = |t: f64| (t / grid).round() as usize;
        let rows = self.angles.iter().zip(&reference.angles).take(row(to) + 1).skip(row(from) + 1);
        let (mut sum, mut count) = (0.0, 0);
        for (a, b) in rows.flat_map(|(a, b)| a.iter().zip(b)) {
            sum += (a - b).to_degrees().powi(2);
            count += 1;
        }
        (sum / f64::from(count)).sqrt()
    }
}

/// Takes the problem through stretches that begin and end at kinks of the input, which has a value on either side, and
/// reads the angles every `grid` seconds.
fn drive<P: ImplicitOde>(
    integrator: &mut dyn Integrator<P>,
    mut problem_of: impl FnMut(usize) -> P,
    x0: &[f64],
    n: usize,
    ends: &[f64],
    grid: f64,
) -> Result<Run, Stop> {
    let begin = Instant::now();
    let mut run = Run { angles: Vec::new(), end: x0.to_vec(), statistics: Statistics::default(), wall: 0.0 };
    let mut x = vec![0.0; x0.len()];
    let mut t0 = 0.0;
    run.angles.push(x0[..n].to_vec());
    for (k, &t1) in ends.iter().enumerate() {
        let mut p = problem_of(k);
        integrator.start(&mut p, t0, &run.end)?;
        while integrator.span().1 < t1 {
            integrator.step(&mut p, t1)?;
            let (a, b) = integrator.span();
            loop {
                let t = run.angles.len() as f64 * grid;
                if t > b + 1e-9 * grid || t > ends[ends.len() - 1] + 1e-9 * grid {
                    break;
                }
                integrator.interpolate(t.clamp(a, b), &mut x);
                run.angles.push(x[..n].to_vec());
            }
        }
        run.end.copy_from_slice(integrator.state());
        let s = integrator.statistics();
        run.statistics.steps += s.steps;
        run.statistics.rejected += s.rejected;
        run.statistics.factorizations += s.factorizations;
        t0 = t1;
    }
    run.wall = begin.elapsed().as_secs_f64();
    Ok(run)
}

/// Stretches of one smooth excitation each: where it ends, and the excitation.
pub type Stretches<'a> = &'a [(f64, Excitation)];

fn problem<'a>(system: &'a System, u: Excitation) -> impl ImplicitOde + 'a {
    ImplicitSystemOde::new(system, ramped(u))
}

fn vector(x: &State<f64>) -> Vec<f64> {
    [&x.q[..], &x.u, &x.z].concat()
}

/// Radau IIA at a tolerance.
pub fn reference(
    d: &Das3,
    stretches: Stretches,
    grid: f64,
    accuracy: f64,
    equations: Equations,
) -> Result<Run, Stop> {
    let x0 = vector(&d.equilibrium);
    let ends: Vec<f64> = stretches.iter().map(|s| s.0).collect();
    let norm = ImplicitSystemOde::new(&d.system, ramped(|_| 0.0)).error_norm();
    let dim = norm.dim();
    let mut radau = RadauIIA5::with_solvers(
        norm,
        StepOptions::with_accuracy(accuracy),
        SparseLu::new(dim),
        SparseLu::new(dim),
    );
    let n = d.system.tree.num_mobilities;
    let complete = |k: usize| problem(&d.system, stretches[k].1);
    match equations {
        Equations::Complete => drive(&mut radau, complete, &x0, n, &ends, grid),
        Equations::Released => drive(&mut radau, |k| AsReleased::new(d, complete(k)), &x0, n, &ends, grid),
    }
}

/// First-order Rosenbrock with a fixed step; excitations are taken at `part` of each step: 0 at its start, 1 at
/// its end.
pub fn rosenbrock(
    d: &Das3,
    stretches: Stretches,
    grid: f64,
    step: f64,
    part: f64,
    equations: Equations,
) -> Result<Run, Stop> {
    let x0 = vector(&d.equilibrium);
    let ends: Vec<f64> = stretches.iter().map(|s| s.0).collect();
    let norm = ImplicitSystemOde::new(&d.system, ramped(|_| 0.0)).error_norm();
    let dim = norm.dim();
    let mut method = RosenbrockEuler::with_solver(norm, step, SparseLu::new(dim));
    let n = d.system.tree.num_mobilities;
    let complete = |k: usize| InputAt(problem(&d.system, stretches[k].1), part);
    match equations {
        Equations::Complete => drive(&mut method, complete, &x0, n, &ends, grid),
        Equations::Released => drive(&mut method, |k| AsReleased::new(d, complete(k)), &x0, n, &ends, grid),
    }
}

/// Steps that are timed together: about a millisecond, less than a busy machine takes before it turns to something else.
const BLOCK: usize = 10;

/// Seconds per step of the Rosenbrock method, residual, Jacobians and solution together: the quickest of all blocks of steps in
/// some runs over the excitation's first stretch. Every step takes the same work.
pub fn seconds_per_step(d: &Das3, stretches: Stretches, step: f64, runs: usize) -> Result<f64, Stop> {
    let x0 = vector(&d.equilibrium);
    let (end, u) = stretches[0];
    let mut ode = ImplicitSystemOde::new(&d.system, ramped(u));
    let norm = ode.error_norm();
    let mut method = RosenbrockEuler::with_solver(norm, step, SparseLu::new(x0.len()));
    let method: &mut dyn Integrator<_> = &mut method;
    let mut best = f64::INFINITY;
    for _ in 0..runs {
        method.start(&mut ode, 0.0, &x0)?;
        // The last block may be short, and is not counted.
        while method.span().1 + BLOCK as f64 * step < end {
            let begin = Instant::now();
            for _ in 0..BLOCK {
                method.step(&mut ode, end)?;
            }
            best = best.min(begin.elapsed().as_secs_f64() / BLOCK as f64);
        }
    }
    Ok(best)
}

/// Mean step of an explicit Runge–Kutta method over a short time, s, and the state it ends in.
pub fn explicit(d: &Das3, u: Excitation, end: f64, accuracy: f64) -> Result<(f64, Vec<f64>), Stop> {
    let x0 = vector(&d.equilibrium);
    let mut ode = SystemOde::new(&d.system, ramped(u));
    let mut method = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::with_accuracy(accuracy));
    method.start(&mut ode, 0.0, &x0)?;
    let method: &mut dyn Integrator<_> = &mut method;
    while method.span().1 < end {
        method.step(&mut ode, end)?;
    }
    let s = method.statistics();
    Ok((end / (s.steps + s.rejected).max(1) as f64, method.state().to_vec()))
}
