//! The problem solved: from the published solution, from data, from the quasi-random start.

use super::problem::Walk;
use super::published::{INTERVALS, POINTS, Published};
use crate::desk;
use crate::report::Report;
use soleus::Error;
use soleus_control::solution::{Columns, Trajectory};
use soleus_control::transcription::Collocation;
use soleus_dynamics::system::Actor;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Options, solve};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Where a solve starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Start {
    /// The published solution
    Published,
    /// The mean walk of the subject
    Data,
    /// A standing figure that glides along
    QuasiRandom,
}

/// What is asked of the solve.
pub struct Request {
    pub start: Start,
    pub speed: f64,
    pub intervals: usize,
    pub iterations: usize,
    pub barrier: f64,
    pub tolerance: f64,
    pub threads: usize,
}

impl Walk {
    /// An empty motion with the names of the problem.
    fn motion(&self) -> Trajectory {
        let columns = |names: &[String]| Columns { names: names.to_vec(), rows: Vec::new() };
        Trajectory {
            states: columns(&self.base.states),
            rates: columns(&self.base.states),
            controls: columns(&self.base.controls),
            ..Trajectory::default()
        }
    }

    /// The published solution as a motion.
    fn published(&self, p: &Published) -> Trajectory {
        let (tau, ..) = super::radau();
        let mut t = self.motion();
        let h = p.duration / INTERVALS as f64;
        let n = self.base.num_coordinates();
        for point in 0..=POINTS * INTERVALS {
            let (k, j) = (point.saturating_sub(1) / POINTS, point.saturating_sub(1) % POINTS);
            let inside = point.saturating_sub(1);
            let mut x = vec![0.0; self.base.states.len()];
            let mut rates = x.clone();
            let mut e = vec![0.0; self.base.controls.len()];
            let at = |s: &super::published::Trajectory, i: usize| match point {
                0 => s.mesh.at(0)[i],
                _ => s.inside.at(inside)[i],
            };
            for (i, &q) in self.coordinates.iter().enumerate() {
                (x[q], x[n + q]) = (at(&p.q, i), at(&p.u, i));
                (rates[q], rates[n + q]) = (x[n + q], p.acceleration.at(inside)[i]);
            }
            for (i, &m) in self.muscles.iter().enumerate() {
                (x[m], x[m + 1]) = (at(&p.activation, i), at(&p.force, i));
                (rates[m], rates[m + 1]) = (p.activation_rate.at(k)[i], p.force_rate.at(inside)[i]);
                e[self.rates[i]] = rates[m];
            }
            for (i, &a) in self.arms.iter().enumerate() {
                x[a] = at(&p.arm, i);
                e[self.excitations[i]] = p.arm_excitation.at(k)[i];
                rates[a] = (e[self.excitations[i]] - x[a]) / super::ARM_TIME;
            }
            t.times.push(if point == 0 { 0.0 } else { h * (k as f64 + tau[j + 1]) });
            t.states.rows.push(x);
            t.rates.rows.push(rates);
            t.controls.rows.push(e);
        }
        t
    }

    /// Half a cycle of the subject's mean walk; muscles at rest, at a low activation.
    fn measured(&self, data: &Path, p: &Published) -> Result<Trajectory, Error> {
        let table = desk::table(&data.join("OCP/IK_Guess_Full_GC.mot"))?;
        let times = table.times();
        let half = times.len() / 2;
        let mut t = self.motion();
        let n = self.base.num_coordinates();
        let columns: Vec<&[f64]> =
            p.coordinates.iter().map(|name| table.column(name).unwrap_or(&[])).collect();
        let slope = |c: &[f64], k: usize| {
            let (a, b) = (k.saturating_sub(1), (k + 1).min(c.len() - 1));
            (c[b] - c[a]) / (times[b] - times[a])
        };
        for k in 0..=half {
            let mut x = vec![0.0; self.base.states.len()];
            for (i, &q) in self.coordinates.iter().enumerate().filter(|(i, _)| !columns[*i].is_empty()) {
                let c = columns[i];
                (x[q], x[n + q]) = (c[k] - if i == 3 { c[0] } else { 0.0 }, slope(c, k));
            }
            t.times.push(times[k] - times[0]);
            t.states.rows.push(x);
        }
        self.rest(&mut t);
        Ok(t)
    }

    /// Muscles and arms of a motion: activations of 0.1, tendons in balance with still fibers.
    fn rest(&self, t: &mut Trajectory) {
        let system = &self.base.system;
        let (mut ws, mut state) = (system.workspace::<f64>(), system.default_state.clone());
        let n = self.base.num_coordinates();
        t.controls.rows.clear();
        for x in &mut t.states.rows {
            state.q.copy_from_slice(&x[..n]);
            state.u.copy_from_slice(&x[n..2 * n]);
            system.compute_kinematics(&state, &mut ws);
            system.compute_paths(&state, &mut ws);
            for (f, path) in system.forces.iter().zip(&ws.paths) {
                let Actor::Muscle(m) = &f.actor else { continue };
                let z = 2 * n + f.states.start;
                let mut z_of = [0.1, 0.1];
                if m.solve_equilibrium(path.length(), path.speed(), 0.1, &mut z_of).is_err() {
                    z_of = [0.1, 0.1];
                }
                (x[z], x[z + 1]) = (0.1, z_of[1].clamp(0.01, 2.0));
            }
            for &a in &self.arms {
                x[a] = 0.0;
            }
            t.controls.rows.push(vec![0.0; self.base.controls.len()]);
        }
    }

    /// The authors' start without data: upright, gliding.
    fn gliding(&self, speed: f64) -> Trajectory {
        // Half a stride lasts 0.70 s at 0.73 m/s and less the faster, in the authors' table of 43 speeds 0.1 m/s apart.
        let row = ((speed - 0.73) / 0.1 - 1e-9).ceil().clamp(0.0, 42.0);
        let duration = 0.70 - row * 0.35 / 42.0;
        let mut t = self.motion();
        let n = self.base.num_coordinates();
        for time in [0.0, duration] {
            let mut x = vec![0.0; self.base.states.len()];
            let mut rates = x.clone();
            let mut e = vec![0.0; self.base.controls.len()];
            let (forward, up) = (self.coordinates[3], self.coordinates[4]);
            (x[forward], x[n + forward], x[up]) = (speed * time, speed, 0.9385);
            rates[forward] = speed;
            for (&m, &c) in self.muscles.iter().zip(&self.rates) {
                (x[m], x[m + 1], rates[m], rates[m + 1], e[c]) = (0.1, 0.1, 1.0, 1.0, 1.0);
            }
            for (&a, &c) in self.arms.iter().zip(&self.excitations) {
                (x[a], e[c]) = (0.1, 0.1);
            }
            t.times.push(time);
            t.states.rows.push(x);
            t.rates.rows.push(rates);
            t.controls.rows.push(e);
        }
        t
    }
}

/// Solves it and tells what came out beside the published numbers.
pub fn run(data: &Path, p: &Published, r: &Request, report: &mut Report) -> Result<Trajectory, Error> {
    let clock = Instant::now();
    let walk = Walk::new(data, p, r.speed)?;
    eprintln!("model and polynomials: {:.1} s", clock.elapsed().as_secs_f64());
    let fail = |message: String| Error::NotSolved { message };
    let mut c = Collocation::new(walk.problem.clone(), &Walk::settings(r.intervals))
        .map_err(|e| fail(e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    c.set_threads(r.threads);
    let guess = match r.start {
        Start::Published => walk.published(p),
        Start::Data => walk.measured(data, p)?,
        Start::QuasiRandom => walk.gliding(r.speed),
    };
    c.set_guess(&guess);
    let mut x = vec![0.0; c.num_variables()];
    c.compute_start(&mut x);
    eprintln!("unknowns {}, constraints {}", c.num_variables(), c.num_constraints());
    for (name, value) in c.objective_by_goal(&x) {
        eprintln!("  {name} {value:.4}");
    }
    for v in c.violations(&x, 1e-6).iter().take(12) {
        eprintln!("  {v:?}");
    }
    let options = Options {
        threads: r.threads,
        constraint_tolerance: 1e-6,
        max_iterations: r.iterations,
        initial_barrier: r.barrier,
        ..Options::with_tolerance(r.tolerance)
    };
    let clock = Instant::now();
    let found = solve(&mut c, &options, None, &mut |i| {
        eprintln!(
            "{:4}{} {:.6e} viol {:.2e} dual {:.2e} mu {:.1e} step {:.1e} {:.1} s",
            i.iteration,
            if i.in_restoration { "r" } else { " " },
            i.objective,
            i.constraint_violation,
            i.dual_infeasibility,
            i.barrier,
            i.step,
            clock.elapsed().as_secs_f64()
        );
        ControlFlow::Continue(())
    })
    .map_err(|e| fail(e.to_string()))?;
    let seconds = clock.elapsed().as_secs_f64();
    report.heading(&format!("solved from {:?}, {} intervals, {} m/s", r.start, r.intervals, r.speed));
    report.note("end", found.status.describe(), "");
    report.note("iterations", &found.counts.iterations.to_string(), "895");
    report.note("s", &format!("{seconds:.0}"), "5630");
    report.note("constraint violation", &format!("{:.1e}", found.certificate.constraint_violation), "");
    report.note("objective", &format!("{:.4}", found.objective), "339.9878");
    for (i, (name, value)) in c.objective_by_goal(&found.x).into_iter().enumerate().take(6) {
        let theirs = p.terms.get(i).map_or(String::new(), |v| format!("{v:.4}"));
        report.note(&name, &format!("{value:.4}"), if i < 5 { &theirs } else { "0.00002" });
    }
    let t = c.trajectory(&found.x);
    report.note(
        "half a cycle, s",
        &format!("{:.4}", t.times.last().unwrap_or(&0.0)),
        &format!("{:.4}", p.duration),
    );
    Ok(t)
}
