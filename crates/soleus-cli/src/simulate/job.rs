//! One simulation, whatever asked for it: integrating, recording, telling how far it is.

use crate::failure::Failure;
use clap::ValueEnum;
use soleus_dynamics::system::{State, System};
use soleus_model::Model;
use soleus_simulation::linear::SparseLu;
use soleus_simulation::system::state_name;
use soleus_simulation::{
    Controls, End, ExplicitRungeKutta, ImplicitMidpoint, ImplicitSystemOde, Integrator, ModelControls,
    Outcome, RadauIIA5, RosenbrockEuler, SemiExplicitEuler, StepOptions, Stop, SystemOde, Trajectory, View,
    integrate,
};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, Instant};

/// Integrators by name.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Method {
    /// Runge–Kutta–Merson 4(3), steps controlled as in OpenSim
    Rkm,
    /// Dormand–Prince 5(4)
    Dopri5,
    /// Radau IIA of order 5, for stiff models
    Radau5,
    /// Implicit midpoint, fixed step
    Midpoint,
    /// First-order Rosenbrock, fixed step
    Rosenbrock,
    /// Semi-explicit Euler, fixed step
    SemiExplicitEuler,
}

impl Method {
    fn is_implicit(self) -> bool {
        matches!(self, Method::Radau5 | Method::Midpoint | Method::Rosenbrock)
    }
}

/// How to integrate.
pub struct Plan {
    pub method: Method,
    /// Limits of methods that control their step.
    pub options: StepOptions,
    /// Step of methods with a fixed one, s.
    pub step: f64,
    /// s.
    pub t_end: f64,
    /// Time between rows, s; without it a row for every step.
    pub interval: Option<f64>,
    /// Time it may take, s of the clock.
    pub deadline: Option<f64>,
}

/// What came of it.
pub struct Motion {
    /// Rows of x = [q, u, z].
    pub rows: Trajectory,
    outcome: Outcome,
    wall: Duration,
    t0: f64,
    /// The state that limited the last step.
    limiting: Option<usize>,
    /// The deadline that passed, s.
    deadline: Option<f64>,
    /// The force that is not finite in the last state.
    at_fault: Option<usize>,
}

/// Integrates from `start`.
pub fn simulate(system: &System, controls: &ModelControls, start: &State<f64>, plan: &Plan) -> Motion {
    let x0 = SystemOde::<ModelControls>::vector(start);
    let mut job = Job {
        plan,
        t0: start.time,
        recorder: Recorder::new(x0.len(), start.time, plan.interval),
        wall: Duration::ZERO,
        limiting: None,
        late: false,
    };
    let options = plan.options.clone();
    let tolerance = options.constraint_tolerance();
    let outcome = if plan.method.is_implicit() {
        let mut ode = ImplicitSystemOde::new(system, controls.clone());
        let (y0, norm) = (ode.vector(start), ode.error_norm());
        let n = norm.dim();
        match plan.method {
            Method::Midpoint => {
                let mut m = ImplicitMidpoint::with_solver(norm, plan.step, SparseLu::new(n));
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &y0)
            }
            Method::Rosenbrock => {
                let mut m = RosenbrockEuler::with_solver(norm, plan.step, SparseLu::new(n));
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &y0)
            }
            _ => {
                let mut m = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
                job.run(&mut m, &mut ode, &y0)
            }
        }
    } else {
        let mut ode = SystemOde::new(system, controls.clone());
        let norm = ode.error_norm();
        match plan.method {
            Method::SemiExplicitEuler => {
                let mut m = SemiExplicitEuler::new(norm.dim(), plan.step);
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &x0)
            }
            Method::Dopri5 => job.run(&mut ExplicitRungeKutta::dormand_prince(norm, options), &mut ode, &x0),
            _ => job.run(&mut ExplicitRungeKutta::merson(norm, options), &mut ode, &x0),
        }
    };
    let at_fault = match &outcome.end {
        End::Stopped(Stop::NotFinite { .. }) => force_at_fault(system, controls, &outcome),
        _ => None,
    };
    Motion {
        at_fault,
        rows: job.recorder.rows,
        outcome,
        wall: job.wall,
        t0: start.time,
        limiting: job.limiting,
        deadline: plan.deadline.filter(|_| job.late),
    }
}

/// The first force that gives loads or rates that are not finite in the state that was reached, or a little ahead of it.
fn force_at_fault(system: &System, controls: &ModelControls, reached: &Outcome) -> Option<usize> {
    let n = system.tree.num_mobilities;
    let part = |range: Range<usize>| Some(reached.state.get(range)?.to_vec());
    let z = part(2 * n..2 * n + system.num_aux)?;
    let x = State { time: reached.time, q: part(0..n)?, u: part(n..2 * n)?, z };
    let (mut controls, mut values) = (controls.clone(), vec![0.0; system.num_controls]);
    let mut ws = system.workspace();
    // Rates that are not finite themselves lead nowhere.
    controls.compute(x.time, &x, &mut values);
    let moves = system.compute_motion(&x, &values, &mut ws).is_ok();
    let rates = [system.coordinate_rates(&x), ws.udot.clone(), ws.zdot.clone()];
    let moves = moves && rates.iter().flatten().all(|r| r.is_finite());
    let ahead: &[f64] = if moves { &[0.0, 1e-12, 1e-9, 1e-6, 1e-3] } else { &[0.0] };
    ahead.iter().find_map(|dt| {
        let mut x = x.clone();
        x.time += dt;
        for (x, rate) in [&mut x.q, &mut x.u, &mut x.z].into_iter().zip(&rates) {
            x.iter_mut().zip(rate).filter(|_| *dt > 0.0).for_each(|(x, rate)| *x += dt * rate);
        }
        controls.compute(x.time, &x, &mut values);
        system.force_not_finite(&x, &values, &mut ws)
    })
}

impl Motion {
    /// The closing line on stderr; a failure when the end was not reached. `saved` is where the rows are.
    pub fn close(&self, model: &Model, system: &System, saved: &Path) -> Result<(), Failure> {
        let (s, time) = (&self.outcome.statistics, self.outcome.time);
        let simulated = time - self.t0;
        let mut line = format!(
            "{simulated:.6} s simulated: {} steps, {} rejected, {} failed, {} evaluations",
            s.steps, s.rejected, s.failed, s.evaluations
        );
        if s.newton_iterations + s.jacobians > 0 {
            line += &format!(
                ", {} Newton iterations, {} Jacobians, {} factorisations",
                s.newton_iterations, s.jacobians, s.factorizations
            );
        }
        if s.projections > 0 {
            line += &format!(", {} projections", s.projections);
        }
        let wall = self.wall.as_secs_f64();
        eprintln!("{line}; {wall:.4} s, {:.2} times real time", simulated / wall);
        if s.inaccurate > 0 {
            eprintln!(
                "warning: {} steps of the smallest size missed the error tolerance and were taken all the same",
                s.inaccurate
            );
        }
        let (mut message, blame) = match (&self.outcome.end, self.deadline) {
            (End::Stopped(stop), _) => (stop.to_string(), stop.component()),
            (_, Some(s)) => {
                (format!("the deadline of {s} s passed when t = {time} s was reached"), self.limiting)
            }
            _ => return Ok(()),
        };
        if matches!(self.outcome.end, End::Stopped(Stop::Singular { .. }))
            && !system.constraints.list.is_empty()
        {
            message += "; constraints that repeat each other do that to implicit methods, and nothing to explicit ones: \
                        --method dopri5";
        }
        let through = self.at_fault.map(|f| format!(", through {}", model.forces[f].path));
        let blame = blame.map(|c| state_name(model, system, c) + through.as_deref().unwrap_or(""));
        Err(Failure::NotFinished { message, blame, saved: saved.to_path_buf() })
    }
}

struct Job<'a> {
    plan: &'a Plan,
    t0: f64,
    recorder: Recorder,
    wall: Duration,
    limiting: Option<usize>,
    late: bool,
}

impl Job<'_> {
    fn run<P>(&mut self, integrator: &mut dyn Integrator<P>, problem: &mut P, x0: &[f64]) -> Outcome {
        let t_end = self.plan.t_end;
        let mut progress = Progress::new(self.t0, t_end);
        let begin = Instant::now();
        let outcome = integrate(integrator, problem, (self.t0, x0), t_end, &mut [], &mut |v| {
            self.recorder.record(v);
            progress.show(v.t1);
            self.late =
                v.t1 < t_end && self.plan.deadline.is_some_and(|d| begin.elapsed().as_secs_f64() >= d);
            if self.late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.wall = begin.elapsed();
        self.limiting = integrator.limiting();
        progress.clear();
        outcome
    }
}

/// Rows to write.
struct Recorder {
    rows: Trajectory,
    t0: f64,
    interval: Option<f64>,
    next: usize,
    /// A state between steps.
    x: Vec<f64>,
}

impl Recorder {
    /// Keeps the first `dim` numbers of each state: multipliers that follow are left out.
    fn new(dim: usize, t0: f64, interval: Option<f64>) -> Self {
        let interval = interval.filter(|i| *i > 0.0);
        Recorder { rows: Trajectory::new(dim), t0, interval, next: 0, x: Vec::new() }
    }

    fn record(&mut self, v: &View) {
        let Some(interval) = self.interval else {
            self.rows.push(v.t1, &v.x[..self.rows.dim()]);
            return;
        };
        loop {
            let t = self.t0 + self.next as f64 * interval;
            // A row due at the very end of a step is that step's, whatever the last digit says.
            if t > v.t1 + 1e-9 * interval {
                break;
            }
            self.x.resize(v.x.len(), 0.0);
            v.interpolate(t.min(v.t1), &mut self.x);
            self.rows.push(t, &self.x[..self.rows.dim()]);
            self.next += 1;
        }
    }
}

/// A line on stderr that says how far it is, while it takes long.
struct Progress {
    begin: Instant,
    shown: Option<Instant>,
    t0: f64,
    t_end: f64,
}

impl Progress {
    fn new(t0: f64, t_end: f64) -> Self {
        Progress { begin: Instant::now(), shown: None, t0, t_end }
    }

    fn show(&mut self, t: f64) {
        let now = Instant::now();
        let due = self.shown.map_or(self.begin + Duration::from_secs(1), |s| s + Duration::from_millis(200));
        if now >= due {
            let part = 100.0 * (t - self.t0) / (self.t_end - self.t0);
            eprint!("\rt = {t:.4} s of {:.4} s ({part:.0} %) ", self.t_end);
            self.shown = Some(now);
        }
    }

    fn clear(&self) {
        if self.shown.is_some() {
            eprintln!();
        }
    }
}
