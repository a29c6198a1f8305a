//! The problem solved: from the published solution, from data, from the quasi-random start.

use super::gait::Gait;
use super::problem::Walk;
use super::published::{INTERVALS, POINTS, Published};
use crate::desk;
use crate::random::Random;
use crate::report::Report;
use soleus::Error;
use soleus_control::problem::Reserve;
use soleus_control::solution::{Columns, Trajectory};
use soleus_control::transcription::Collocation;
use soleus_dynamics::system::Actor;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Options, Solution, solve};
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

/// One program of a series, each started where the one before it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    pub intervals: usize,
    /// Price of forces that help, N m and N over their scale; without one there are none.
    pub price: Option<f64>,
    pub barrier: f64,
    pub tolerance: f64,
    /// Maximum number of iterations. A stage before the last may end anywhere.
    pub iterations: usize,
    /// Maximum number of steps at its start that only reduce the violation of constraints.
    pub feasibility: usize,
}

impl std::str::FromStr for Stage {
    type Err = String;
    /// `INTERVALS,PRICE,BARRIER,TOLERANCE,ITERATIONS`, and `,FEASIBILITY` if the stage begins with such steps; a price of 0 for no help.
    fn from_str(text: &str) -> Result<Stage, String> {
        let words: Vec<f64> = text.split(',').filter_map(|w| w.trim().parse().ok()).collect();
        let ([intervals, price, barrier, tolerance, iterations], feasibility) = match words[..] {
            [a, b, c, d, e] => ([a, b, c, d, e], 0.0),
            [a, b, c, d, e, f] => ([a, b, c, d, e], f),
            _ => {
                let numbers = "intervals, penalty, barrier, tolerance, iterations, feasibility steps";
                return Err(format!("five or six numbers: {numbers}"));
            }
        };
        let price = (price > 0.0).then_some(price);
        let (intervals, iterations) = (intervals as usize, iterations as usize);
        Ok(Stage { intervals, price, barrier, tolerance, iterations, feasibility: feasibility as usize })
    }
}

/// Programs that lead from a start to the solution: on a coarse mesh with forces that help, at two prices, then without, then on the mesh wanted.
pub fn stages(start: Start, intervals: usize) -> Vec<Stage> {
    let last =
        Stage { intervals, price: None, barrier: 1e-4, tolerance: 1e-4, iterations: 1000, feasibility: 0 };
    let coarse = Stage { intervals: COARSE, barrier: 1e-2, tolerance: 1e-2, ..last };
    match start {
        Start::Published => vec![last],
        Start::Data | Start::QuasiRandom => vec![
            Stage { price: Some(1e3), barrier: 0.1, iterations: 80, ..coarse },
            Stage { price: Some(1e5), iterations: 60, ..coarse },
            Stage { tolerance: 1e-3, iterations: 250, ..coarse },
            Stage { barrier: 1e-3, ..last },
        ],
    }
}

/// Intervals of the coarse mesh.
const COARSE: usize = 12;

/// What is asked of the solve.
pub struct Request {
    pub start: Start,
    pub stages: Vec<Stage>,
    pub threads: usize,
}

/// Amplitude of the hips in the start without data, rad, and the points of a wave.
const SWING: f64 = 0.3;
const WAVE: usize = 50;

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

    /// A start.
    pub fn start(
        &self,
        data: &Path,
        p: &Published,
        start: Start,
        seed: Option<u64>,
    ) -> Result<Trajectory, Error> {
        let mut guess = match start {
            Start::Published => self.published(p),
            Start::Data => self.measured(data, p)?,
            Start::QuasiRandom => self.gliding(p),
        };
        if let Some(seed) = seed {
            self.disturb(&mut guess, seed);
        }
        Ok(guess)
    }

    /// Adds to every state a smooth random wave, a tenth of the width of its bounds high at most.
    fn disturb(&self, t: &mut Trajectory, seed: u64) {
        let mut random = Random::new(seed);
        let duration = t.times.last().copied().unwrap_or(1.0);
        let forward = self.coordinates[3];
        t.rates = self.motion().rates;
        for (i, v) in self.problem.states.iter().enumerate().filter(|(i, _)| *i != forward) {
            let width = v.bounds.upper - v.bounds.lower;
            let [height, phase, turns] = [(); 3].map(|()| random.unit());
            let (height, turns) = (0.1 * width * (2.0 * height - 1.0), 1.0 + (3.0 * turns).floor());
            for (time, row) in t.times.iter().zip(&mut t.states.rows) {
                let wave = (std::f64::consts::TAU * (turns * time / duration + phase)).sin();
                row[i] = (row[i] + height * wave).clamp(v.bounds.lower, v.bounds.upper);
            }
        }
    }

    /// The authors' start without data: upright, gliding; and the hips swing a little. Without that the figure is its own mirror image at
    /// every time, and so is every iterate: both legs would do the same for ever.
    fn gliding(&self, p: &Published) -> Trajectory {
        let speed = self.speed;
        // Half a stride lasts 0.70 s at 0.73 m/s and less the faster, in the authors' table of 43 speeds 0.1 m/s apart.
        let row = ((speed - 0.73) / 0.1 - 1e-9).ceil().clamp(0.0, 42.0);
        let duration = 0.70 - row * 0.35 / 42.0;
        let mut t = self.motion();
        let n = self.base.num_coordinates();
        let hips: Vec<(usize, f64)> = p
            .coordinates
            .iter()
            .zip(&self.coordinates)
            .filter_map(|(name, &q)| match name.as_str() {
                "hip_flexion_r" => Some((q, SWING)),
                "hip_flexion_l" => Some((q, -SWING)),
                _ => None,
            })
            .collect();
        for k in 0..=WAVE {
            let part = k as f64 / WAVE as f64;
            let (time, phase) = (duration * part, std::f64::consts::PI * part);
            let mut x = vec![0.0; self.base.states.len()];
            let mut rates = x.clone();
            let mut e = vec![0.0; self.base.controls.len()];
            let (forward, up) = (self.coordinates[3], self.coordinates[4]);
            (x[forward], x[n + forward], x[up]) = (speed * time, speed, 0.9385);
            rates[forward] = speed;
            for &(q, swing) in &hips {
                x[q] = -swing * phase.cos();
                x[n + q] = swing * phase.sin() * std::f64::consts::PI / duration;
                rates[q] = x[n + q];
            }
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

/// Generalized force of a reserve of size one: N m and N.
const RESERVE: f64 = 100.0;

/// What a series of programs ended with.
pub struct Found {
    program: Collocation,
    pub solution: Solution,
    /// Cost of each term.
    pub goals: Vec<(String, f64)>,
    pub motion: Trajectory,
    /// Of all programs together.
    pub iterations: usize,
    pub seconds: f64,
}

impl Found {
    /// Whether it is a solution.
    pub fn is_solved(&self) -> bool {
        self.solution.status.is_solved()
    }

    /// Duration of half a cycle, s.
    pub fn half_cycle(&self) -> f64 {
        self.motion.times.last().copied().unwrap_or(0.0)
    }
}

impl Walk {
    /// Solves one program after the other; the first starts from `guess`, or from a solution of a similar problem with its multipliers.
    pub fn solve(
        &self,
        guess: &Trajectory,
        similar: Option<&mut Found>,
        stages: &[Stage],
        threads: usize,
        is_told: bool,
    ) -> Result<Found, Error> {
        let fail = |message: String| Error::NotSolved { message };
        let n = self.base.num_coordinates();
        let reserves: Vec<Reserve> = (0..n).map(|i| Reserve { state: n + i, strength: RESERVE }).collect();
        let clock = Instant::now();
        let (mut iterations, mut guess) = (0, guess.clone());
        let mut known = similar.as_ref().map(|s| s.solution.warm_start());
        let mut other = similar;
        let mut last: Option<Found> = None;
        for stage in stages {
            let mut problem = self.problem.clone();
            if let Some(price) = stage.price {
                problem.add_reserves(&reserves, price);
            }
            let mut c = Collocation::new(problem, &Walk::settings(stage.intervals))
                .map_err(|e| fail(e.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
            c.set_threads(threads);
            c.set_guess(&guess);
            // Multipliers of a solution of the same problem on another mesh are a start too.
            let program = last.as_mut().map(|l| &mut l.program).or(other.as_mut().map(|o| &mut o.program));
            let warm = match (program, &known) {
                (Some(before), Some(known)) if stage.price.is_none() => Some(c.warm_start(before, known)),
                _ => None,
            };
            if is_told {
                let mut x = vec![0.0; c.num_variables()];
                c.compute_start(&mut x);
                eprintln!("{stage:?}: unknowns {}, constraints {}", c.num_variables(), c.num_constraints());
                for (name, value) in c.objective_by_goal(&x).iter().filter(|g| g.1 != 0.0) {
                    eprintln!("  {name} {value:.4}");
                }
                for v in c.violations(&x, 1e-6).iter().take(3) {
                    eprintln!("  {}: {:.2e}", v.name, v.amount);
                }
            }
            let options = Options {
                threads,
                constraint_tolerance: 1e-6,
                max_iterations: stage.iterations,
                initial_barrier: stage.barrier,
                feasibility_steps: stage.feasibility,
                ..Options::with_tolerance(stage.tolerance)
            };
            let solution = solve(&mut c, &options, warm.as_ref(), &mut |i| {
                if is_told {
                    eprintln!(
                        "{:4}{} {:.6e} viol {:.2e} dual {:.2e} mu {:.1e} step {:.1e} of {:.2}, reg {:.0e}, {:.1} s",
                        i.iteration,
                        if i.in_restoration { "r" } else { " " },
                        i.objective,
                        i.constraint_violation,
                        i.dual_infeasibility,
                        i.barrier,
                        i.step,
                        i.alpha_primal,
                        i.regularization,
                        clock.elapsed().as_secs_f64()
                    );
                }
                ControlFlow::Continue(())
            })
            .map_err(|e| fail(e.to_string()))?;
            iterations += solution.counts.iterations;
            if is_told {
                eprintln!(
                    "{}: {} factorizations",
                    solution.status.describe(),
                    solution.counts.factorizations
                );
            }
            let good = solution.status.is_solved() && stage.price.is_none();
            known = good.then(|| solution.warm_start());
            other = None;
            guess = c.trajectory(&solution.x);
            let goals = c.objective_by_goal(&solution.x);
            let seconds = clock.elapsed().as_secs_f64();
            last = Some(Found { program: c, motion: guess.clone(), solution, goals, iterations, seconds });
        }
        last.ok_or_else(|| fail("there is no stage".into()))
    }
}

/// Solves the problem of the authors and tells what came out beside the published numbers.
pub fn run(
    walk: &Walk,
    p: &Published,
    guess: &Trajectory,
    r: &Request,
    report: &mut Report,
) -> Result<Found, Error> {
    let found = walk.solve(guess, None, &r.stages, r.threads, true)?;
    report.heading(&format!("solved from {:?}, {} m/s", r.start, walk.speed));
    report.note("end", found.solution.status.describe(), "");
    report.note("iterations", &found.iterations.to_string(), "895");
    report.note("s", &format!("{:.0}", found.seconds), "5630");
    let violation = found.solution.certificate.constraint_violation;
    report.note("constraint violation", &format!("{violation:.1e}"), "");
    report.note("objective", &format!("{:.4}", found.solution.objective), "339.9878");
    for (i, (name, value)) in found.goals.iter().enumerate().take(6) {
        let theirs = p.terms.get(i).map_or(String::new(), |v| format!("{v:.4}"));
        report.note(name, &format!("{value:.4}"), if i < 5 { &theirs } else { "0.00002" });
    }
    report.note("half a cycle, s", &format!("{:.4}", found.half_cycle()), &format!("{:.4}", p.duration));
    let gait = Gait::new(walk, p, &found.motion);
    report.note("cost of transport, J/kg/m", &format!("{:.4}", gait.cost_of_transport), "4.1996");
    Ok(found)
}
