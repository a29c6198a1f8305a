//! Integration, recording and progress of simulations.

use crate::context::{Context, Progress};
use crate::error::Error;
use crate::inputs::model::with_coordinate;
use serde::{Deserialize, Serialize};
use soleus_dynamics::system::{State, System};
use soleus_model::Model;
use soleus_simulation::system::{methods, state_name};
use soleus_simulation::{
    Controls, End, ImplicitSystemOde, Integrator, ModelControls, Outcome, RhsError, Statistics, StepOptions,
    Stop, SystemOde, Trajectory, View, integrate,
};
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// So many numbers are recorded at most: 0.8 GB, and a few times that while tables and their text are made of them.
const MOST_NUMBERS: usize = 100_000_000;

/// Integrators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Runge–Kutta–Merson 4(3), with the step size control of OpenSim.
    #[default]
    Rkm,
    /// Dormand–Prince 5(4).
    Dopri5,
    /// Radau IIA of order 5, for stiff models.
    Radau5,
    /// Implicit midpoint, fixed step.
    Midpoint,
    /// First-order Rosenbrock, fixed step.
    Rosenbrock,
    /// Semi-explicit Euler, fixed step.
    SemiExplicitEuler,
}

impl Method {
    fn is_implicit(self) -> bool {
        matches!(self, Method::Radau5 | Method::Midpoint | Method::Rosenbrock)
    }

    fn has_fixed_step(self) -> bool {
        matches!(self, Method::Midpoint | Method::Rosenbrock | Method::SemiExplicitEuler)
    }
}

/// Settings of the integration.
pub struct Plan {
    /// The integrator.
    pub method: Method,
    /// Options of methods with variable step.
    pub options: StepOptions,
    /// Step of fixed-step methods, s.
    pub step: f64,
    /// End time, s.
    pub t_end: f64,
    /// Time between rows, s; default: one row per step.
    pub interval: Option<f64>,
    /// Maximum wall-clock time, s.
    pub deadline: Option<f64>,
}

impl Plan {
    /// Refuses numbers that are not finite, a deadline without a clock, and results (`dim` numbers per row) that do not
    /// fit into memory. `path` is the file that the request was read from.
    pub fn check(&self, cx: &Context, path: &Path, t0: f64, dim: usize) -> Result<(), Error> {
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let duration = self.t_end - t0;
        if !positive(duration) {
            let message =
                format!("the end of the simulation, {} s, is not after its start, {t0} s", self.t_end);
            return wrong(message, "give an end after the start");
        }
        if let Some(interval) = self.interval.filter(|i| !positive(*i)) {
            let hint = "give a positive number of seconds, or omit it for a row per step";
            return wrong(format!("{interval} s is not a valid time between rows (interval)"), hint);
        }
        if !positive(self.step) {
            let hint = "give a positive number of seconds, such as 0.001";
            return wrong(format!("{} s is not a valid step (step)", self.step), hint);
        }
        if !positive(self.options.accuracy) {
            let hint = "give a positive number, such as 1e-5";
            return wrong(format!("{} is not a valid accuracy", self.options.accuracy), hint);
        }
        let [least, most] = [self.options.min_step, self.options.max_step];
        if !(most > 0.0 && least >= 0.0) {
            let message =
                format!("the step range {least} s to {most} s is not valid (minimum_step, maximum_step)");
            return wrong(message, "give a positive maximum step, and a minimum step that is not negative");
        }
        match self.deadline {
            Some(s) if !(s >= 0.0) => {
                let hint = "give a number of seconds, or omit it for no deadline";
                return wrong(format!("{s} s is not a valid deadline"), hint);
            }
            Some(_) if cx.monitor.seconds().is_none() => {
                return wrong(
                    "a deadline needs a clock, which is not available here".to_string(),
                    "leave it out",
                );
            }
            _ => {}
        }
        // Methods that choose their steps take as many as they need: they are counted on the way.
        let between = self.interval.or(self.method.has_fixed_step().then_some(self.step));
        let least = duration * dim as f64 / MOST_NUMBERS as f64;
        match between {
            Some(between) if between < least => {
                let rows = duration / between;
                let message = format!(
                    "a row every {between} s gives {rows:.1e} rows of {dim} values, which do not fit in memory"
                );
                wrong(message, &format!("use an interval of {:.1e} s or longer", 2.0 * least))
            }
            _ => Ok(()),
        }
    }
}

/// What ended a simulation that could have gone on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interruption {
    /// The deadline passed, s.
    Late(f64),
    /// No more rows fit into memory.
    Full,
    /// The caller asked to stop.
    Cancelled,
}

/// Result of a simulation.
pub struct Motion {
    /// Rows of x = [q, u, z].
    pub rows: Trajectory,
    outcome: Outcome,
    /// Time that it took, s, where there is a clock.
    wall: Option<f64>,
    t0: f64,
    /// The state that limited the last step.
    limiting: Option<usize>,
    interruption: Option<Interruption>,
    /// The force that is not finite in the last state.
    at_fault: Option<usize>,
}

/// Integrates from `start`. A cancelled simulation keeps its rows.
pub fn simulate(
    cx: &Context,
    system: &System,
    controls: &ModelControls,
    start: &State<f64>,
    plan: &Plan,
) -> Motion {
    let x0 = SystemOde::<ModelControls>::vector(start);
    let mut job = Job {
        cx,
        plan,
        t0: start.time,
        recorder: Recorder::new(x0.len(), start.time, plan.interval),
        wall: None,
        limiting: None,
        interruption: None,
    };
    let options = plan.options.clone();
    let tolerance = options.constraint_tolerance();
    let outcome = if plan.method.is_implicit() {
        let mut ode = ImplicitSystemOde::new(system, controls.clone());
        let (y0, norm) = (ode.vector(start), ode.error_norm());
        let mut m = match plan.method {
            Method::Midpoint => methods::implicit_midpoint(norm, plan.step, tolerance),
            Method::Rosenbrock => methods::rosenbrock_euler(norm, plan.step, tolerance),
            _ => methods::radau_iia5(norm, options),
        };
        job.run(&mut *m, &mut ode, &y0)
    } else {
        let mut ode = SystemOde::new(system, controls.clone());
        let norm = ode.error_norm();
        let mut m = match plan.method {
            Method::SemiExplicitEuler => methods::semi_explicit_euler(norm.dim(), plan.step, tolerance),
            Method::Dopri5 => methods::dormand_prince(norm, options),
            _ => methods::merson(norm, options),
        };
        job.run(&mut *m, &mut ode, &x0)
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
        interruption: job.interruption,
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
    /// Work done.
    pub fn statistics(&self) -> Statistics {
        self.outcome.statistics
    }

    /// Time reached, s.
    pub fn end_time(&self) -> f64 {
        self.outcome.time
    }

    /// Wall-clock time, s, if a clock is available.
    pub fn seconds(&self) -> Option<f64> {
        self.wall
    }

    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.interruption == Some(Interruption::Cancelled)
    }

    /// Reports the statistics. `path` is the file that the request was read from.
    pub fn tell(&self, cx: &Context, path: &Path) {
        let (s, simulated) = (&self.outcome.statistics, self.outcome.time - self.t0);
        let mut line = format!(
            "{simulated:.3} s simulated: {} steps, {} rejected, {} failed, {} evaluations",
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
        if let Some(wall) = self.wall {
            line += &format!("; {wall:.3} s, {:.1} times real time", simulated / wall);
        }
        cx.note(line);
        if s.inaccurate > 0 {
            let message = format!(
                "{} steps of minimum size exceeded the error tolerance and were accepted",
                s.inaccurate
            );
            cx.warn(path, message, "");
        }
    }

    /// An error if the end time was not reached. `saved` is the file with the rows.
    pub fn verdict(&self, model: &Model, system: &System, saved: Option<&Path>) -> Result<(), Error> {
        let time = self.outcome.time;
        let (mut message, blame) = match (&self.outcome.end, self.interruption) {
            (End::Stopped(stop), _) => {
                let message = match stop {
                    Stop::Rhs { source: RhsError::Motion(e), .. } => {
                        with_coordinate(&stop.to_string(), e, model, system)
                    }
                    _ => stop.to_string(),
                };
                (message, stop.component())
            }
            (_, Some(Interruption::Cancelled)) => {
                let to = saved.map_or(String::new(), |s| format!(" are in {}", s.display()));
                return Err(Error::Cancelled { saved: format!("results up to t = {time:.3} s{to}") });
            }
            (_, Some(Interruption::Late(s))) => {
                (format!("the deadline of {s} s was reached at t = {time:.3} s"), self.limiting)
            }
            (_, Some(Interruption::Full)) => {
                let (rows, dim) = (self.rows.len(), self.rows.dim());
                let message = format!(
                    "memory is full at t = {time} s: {rows} rows of {dim} values; keep fewer rows with --interval"
                );
                (message, self.limiting)
            }
            _ => return Ok(()),
        };
        if matches!(self.outcome.end, End::Stopped(Stop::Singular { .. }))
            && !system.constraints.list.is_empty()
        {
            message += "; redundant constraints can cause this with implicit methods; try an explicit one: --method dopri5";
        }
        let through = self.at_fault.map(|f| format!(", through {}", model.forces[f].path));
        let blame = blame.map(|c| state_name(model, system, c) + through.as_deref().unwrap_or(""));
        Err(Error::NotFinished { message, blame, saved: saved.map(Path::to_path_buf) })
    }
}

struct Job<'a> {
    cx: &'a Context<'a>,
    plan: &'a Plan,
    t0: f64,
    recorder: Recorder,
    wall: Option<f64>,
    limiting: Option<usize>,
    interruption: Option<Interruption>,
}

impl Job<'_> {
    fn run<P>(&mut self, integrator: &mut dyn Integrator<P>, problem: &mut P, x0: &[f64]) -> Outcome {
        let (t0, t_end) = (self.t0, self.plan.t_end);
        let monitor = self.cx.monitor;
        let begin = monitor.seconds();
        let elapsed = || Some(monitor.seconds()? - begin?);
        let outcome = integrate(integrator, problem, (t0, x0), t_end, &mut [], &mut |v| {
            let is_full = self.recorder.record(v).is_break();
            let (done, total) = (v.t1 - t0, Some(t_end - t0));
            monitor.progress(&Progress { what: "s", done, total, left_s: None, detail: "" });
            if v.t1 < t_end {
                let late = self.plan.deadline.filter(|d| elapsed().is_some_and(|s| s >= *d));
                self.interruption = match late {
                    _ if monitor.is_cancelled() => Some(Interruption::Cancelled),
                    Some(s) => Some(Interruption::Late(s)),
                    None => is_full.then_some(Interruption::Full),
                };
            }
            if self.interruption.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.wall = elapsed();
        self.limiting = integrator.limiting();
        outcome
    }
}

/// Rows to write.
struct Recorder {
    rows: Trajectory,
    t0: f64,
    interval: Option<f64>,
    next: usize,
    /// How many numbers to keep at most.
    most: usize,
    /// A state between steps.
    x: Vec<f64>,
}

impl Recorder {
    /// Keeps the first `dim` numbers of each state: multipliers that follow are left out.
    fn new(dim: usize, t0: f64, interval: Option<f64>) -> Self {
        Recorder { rows: Trajectory::new(dim), t0, interval, next: 0, most: MOST_NUMBERS, x: Vec::new() }
    }

    /// Breaks off when no more rows fit.
    fn record(&mut self, v: &View) -> ControlFlow<()> {
        let Some(interval) = self.interval else {
            self.rows.push(v.t1, &v.x[..self.rows.dim()]);
            return self.room();
        };
        loop {
            let t = self.t0 + self.next as f64 * interval;
            // A row due at the very end of a step is that step's, whatever the last digit says.
            if t > v.t1 + 1e-9 * interval {
                return self.room();
            }
            self.x.resize(v.x.len(), 0.0);
            v.interpolate(t.min(v.t1), &mut self.x);
            self.rows.push(t, &self.x[..self.rows.dim()]);
            self.next += 1;
        }
    }

    fn room(&self) -> ControlFlow<()> {
        match (self.rows.len() + 1) * self.rows.dim() > self.most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_simulation::{ErrorNorm, ExplicitOde, ExplicitRungeKutta, RhsError};

    /// ẋ = 1.
    struct Clock;

    impl ExplicitOde for Clock {
        fn dim(&self) -> usize {
            1
        }

        fn rhs(&mut self, _: f64, _: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
            xdot.fill(1.0);
            Ok(())
        }
    }

    /// Methods that choose their steps may take more than memory holds rows of.
    #[test]
    fn issue_trust_19_recording_ends_when_no_more_rows_fit() {
        let options = StepOptions { max_step: 0.01, ..StepOptions::default() };
        let mut method = ExplicitRungeKutta::merson(ErrorNorm::uniform(1), options);
        let mut recorder = Recorder { most: 10, ..Recorder::new(1, 0.0, None) };
        let outcome =
            integrate(&mut method, &mut Clock, (0.0, &[0.0]), 1.0, &mut [], &mut |v| recorder.record(v));
        assert_eq!((outcome.end, recorder.rows.len()), (End::Cancelled, 10));
    }
}
