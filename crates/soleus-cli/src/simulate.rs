//! `soleus simulate`: forward simulation of a model.

use crate::failure::Failure;
use crate::{load, tables};
use clap::{Args, ValueEnum};
use soleus_dynamics::Options;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::{State, System};
use soleus_io::table::sto::{self, Digits};
use soleus_math::Function;
use soleus_math::function::{GcvSpline, PiecewiseConstant, PiecewiseLinear};
use soleus_math::table::{Element, Table};
use soleus_model::Model;
use soleus_simulation::linear::SparseLu;
use soleus_simulation::system::{control_labels, state_labels, state_name};
use soleus_simulation::{
    Controls, End, ExplicitRungeKutta, ImplicitMidpoint, ImplicitSystemOde, Integrator, ModelControls,
    Outcome, RadauIIA5, RosenbrockEuler, SemiExplicitEuler, StepOptions, SystemOde, Trajectory, View,
    integrate,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What `soleus simulate` is told.
#[derive(Args)]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Excitation of every muscle, added to what the model's controllers ask for
    #[arg(long, conflicts_with = "controls", value_name = "VALUE")]
    excitation: Option<f64>,
    /// Table of controls over time; columns are named after actuators, by path or name
    #[arg(long, value_name = "FILE.sto")]
    controls: Option<PathBuf>,
    /// State to start from: the first row of a table with labels such as `/jointset/knee/angle/value`; without it
    /// the model's default state with its muscles in equilibrium
    #[arg(long, value_name = "STATES.sto")]
    initial: Option<PathBuf>,
    /// Time to simulate, s
    #[arg(long, value_name = "SECONDS")]
    duration: f64,
    /// Integrator
    #[arg(long, value_enum, default_value_t = Method::Rkm)]
    method: Method,
    /// Error allowed per step, as OpenSim's integrators mean it
    #[arg(long, default_value_t = 1e-5)]
    accuracy: f64,
    /// Step of the methods with a fixed step, s
    #[arg(long, default_value_t = 1e-3, value_name = "SECONDS")]
    step: f64,
    /// Time between rows, s; without it a row for every step
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Integrators by name.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Method {
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

/// Simulates, and writes what came of it.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    if !(a.duration > 0.0) || !a.duration.is_finite() {
        let message = format!("--duration {} is no time to simulate", a.duration);
        return Err(Failure::content(&a.model, 0, "", message, "give a positive number of seconds"));
    }
    let (model, system) = load::system(&a.model, &Options { opensim_faults: a.opensim_faults })?;
    let controls = controls(a, &model, &system)?;
    let start = initial_state(a, &model, &system, &controls)?;
    std::fs::create_dir_all(&a.out).map_err(|e| Failure::write(&a.out, e))?;

    let mut job = Job {
        a,
        t0: start.time,
        recorder: Recorder::new(SystemOde::<ModelControls>::vector(&start).len(), start.time, a.interval),
        wall: Duration::ZERO,
    };
    let options = StepOptions::with_accuracy(a.accuracy);
    let tolerance = options.constraint_tolerance();
    let mut ode = SystemOde::new(&system, controls.clone());
    let outcome = if a.method.is_implicit() {
        let mut ode = ImplicitSystemOde::new(&system, controls);
        let (y0, norm) = (ode.vector(&start), ode.error_norm());
        let n = norm.dim();
        match a.method {
            Method::Midpoint => {
                let mut m = ImplicitMidpoint::with_solver(norm, a.step, SparseLu::new(n));
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &y0)
            }
            Method::Rosenbrock => {
                let mut m = RosenbrockEuler::with_solver(norm, a.step, SparseLu::new(n));
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &y0)
            }
            _ => {
                let mut m = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
                job.run(&mut m, &mut ode, &y0)
            }
        }
    } else {
        let (x0, norm) = (SystemOde::<ModelControls>::vector(&start), ode.error_norm());
        match a.method {
            Method::SemiExplicitEuler => {
                let mut m = SemiExplicitEuler::new(norm.dim(), a.step);
                m.constraint_tolerance = tolerance;
                job.run(&mut m, &mut ode, &x0)
            }
            Method::Dopri5 => job.run(&mut ExplicitRungeKutta::dormand_prince(norm, options), &mut ode, &x0),
            _ => job.run(&mut ExplicitRungeKutta::merson(norm, options), &mut ode, &x0),
        }
    };
    write(a, &model, &system, &mut ode, &job.recorder.rows)?;
    close(a, &model, &system, &outcome, job.wall, start.time)
}

/// One simulation, whatever its method and problem.
struct Job<'a> {
    a: &'a Arguments,
    t0: f64,
    recorder: Recorder,
    wall: Duration,
}

impl Job<'_> {
    fn run<P>(&mut self, integrator: &mut dyn Integrator<P>, problem: &mut P, x0: &[f64]) -> Outcome {
        let t_end = self.t0 + self.a.duration;
        let mut progress = Progress::new(self.t0, t_end);
        let begin = Instant::now();
        let outcome = integrate(integrator, problem, (self.t0, x0), t_end, &mut [], &mut |v| {
            self.recorder.record(v);
            progress.show(v.t1);
            ControlFlow::Continue(())
        });
        self.wall = begin.elapsed();
        progress.clear();
        outcome
    }
}

/// The model's controllers, and what the command line adds.
fn controls(a: &Arguments, model: &Model, system: &System) -> Result<ModelControls, Failure> {
    let mut controls = ModelControls::new(model, system);
    let labels = control_labels(model, system);
    for p in std::mem::take(&mut controls.pending) {
        match p.file {
            Some(file) if !p.is_control_set => {
                // OpenSim joins samples by straight lines unless told otherwise.
                let method = p.interpolation_method.unwrap_or(1);
                let path = a.model.parent().unwrap_or(Path::new("")).join(file);
                let table = read_table(&path)?;
                let wanted = |control: usize| p.controls.contains(&control);
                add_table(&mut controls, &labels, &table, &path, method, &wanted)?;
            }
            file => {
                let file = file.as_deref().unwrap_or("no file");
                let c = &p.controller;
                eprintln!("warning: controller {c} reads {file}, which is not used; give --controls instead");
            }
        }
    }
    if let Some(e) = a.excitation {
        controls.add_excitation(model, system, e);
    }
    if let Some(path) = &a.controls {
        let table = read_table(path)?;
        add_table(&mut controls, &labels, &table, path, 1, &|_| true)?;
    }
    Ok(controls)
}

/// Adds the columns of a table that are named after wanted controls, joined by `method`: 0 steps, 1 straight
/// lines, 3 and 5 splines of that degree.
fn add_table(
    controls: &mut ModelControls,
    labels: &[String],
    table: &Table,
    path: &Path,
    method: i64,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<(), Failure> {
    for (label, values) in table.labels().iter().zip(table.columns()) {
        let name = label.strip_suffix(".excitation").unwrap_or(label);
        let Some(control) = labels.iter().position(|l| l == name || l.rsplit('/').next() == Some(name))
        else {
            eprintln!("warning: column `{label}` of {} is no actuator of the model", path.display());
            continue;
        };
        if !wanted(control) {
            continue;
        }
        let times = table.times().to_vec();
        let f = match (values.as_slice(), method) {
            ([only], _) => Ok(Function::Constant(*only)),
            (_, 0) => PiecewiseConstant::new(times, values.clone()).map(Function::from),
            (_, 3 | 5 | 7) => GcvSpline::interpolate(method as usize, times, values).map(Function::from),
            _ => PiecewiseLinear::new(times, values.clone()).map(Function::from),
        };
        let f = f.map_err(|e| Failure::content(path, 0, "", format!("column `{label}`: {e}"), ""))?;
        controls.add_function(control, f);
    }
    Ok(())
}

/// The state to start from.
fn initial_state(
    a: &Arguments,
    model: &Model,
    system: &System,
    controls: &ModelControls,
) -> Result<State<f64>, Failure> {
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let mut given = Vec::new();
    if let Some(path) = &a.initial {
        let table = read_table(path)?;
        let Some(&time) = table.times().first() else {
            return Err(Failure::content(path, 0, "", "the table has no rows".to_string(), ""));
        };
        x.time = time;
        let n = x.q.len();
        let labels = state_labels(model, system);
        for (label, column) in table.labels().iter().zip(table.columns()) {
            let v = column[0];
            match labels.iter().find(|(l, _)| l == label) {
                Some(&(_, i)) if i < n => x.q[i] = v,
                Some(&(_, i)) if i < 2 * n => x.u[i - n] = v,
                Some(&(_, i)) => {
                    x.z[i - 2 * n] = v;
                    given.push(i - 2 * n);
                }
                None => eprintln!("warning: the model has no state `{label}`"),
            }
        }
        if given.len() < x.z.len() {
            let (have, all) = (given.len(), x.z.len());
            eprintln!("warning: {have} of {all} muscle states given; the others keep their defaults");
        }
    }
    if system.constraints.num_rows() > 0 {
        Assembler::new(model, system).solve_assembly(system, &mut x, &mut ws).map_err(|e| {
            Failure::content(&a.model, 0, "", e.to_string(), "start from another pose: --initial")
        })?;
    }
    if a.initial.is_none() {
        let mut values = vec![0.0; system.num_controls];
        controls.clone().compute(x.time, &x, &mut values);
        for (i, e) in system.solve_equilibrium(&mut x, &values, &mut ws) {
            let path = &model.forces[i].path;
            eprintln!("warning: {path} is not in equilibrium at the start: {e}");
        }
    }
    Ok(x)
}

/// Reads a table of numbers.
fn read_table(path: &Path) -> Result<Table, Failure> {
    let table = tables::read(path, tables::Take::Analog, 0.0)?;
    match table.element() {
        Element::Scalar => Ok(table),
        _ => Err(Failure::content(path, 0, "", "the columns of the table are no numbers".to_string(), "")),
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

/// Writes states and controls.
fn write(
    a: &Arguments,
    model: &Model,
    system: &System,
    ode: &mut SystemOde<ModelControls>,
    rows: &Trajectory,
) -> Result<(), Failure> {
    let labels = state_labels(model, system);
    let names = control_labels(model, system);
    let mut states = vec![Vec::with_capacity(rows.len()); labels.len()];
    let mut controls = vec![Vec::with_capacity(rows.len()); names.len()];
    for (i, &t) in rows.times.iter().enumerate() {
        let x = rows.row(i);
        for (column, (_, k)) in states.iter_mut().zip(&labels) {
            column.push(x[*k]);
        }
        for (column, c) in controls.iter_mut().zip(ode.compute_controls(t, x)) {
            column.push(*c);
        }
    }
    let stem = a.model.file_stem().map_or("model".to_string(), |s| s.to_string_lossy().into_owned());
    let save = |kind: &str, labels: Vec<String>, columns| {
        let path = a.out.join(format!("{stem}_{kind}.sto"));
        let mut table = Table::new(Element::Scalar, labels, rows.times.clone(), columns)
            .map_err(|e| Failure::content(&path, 0, "", e.to_string(), ""))?;
        table.name.clone_from(&model.name);
        table.in_degrees = Some(false);
        load::write_whole(&path, &sto::write(&table, Digits::Shortest))
    };
    save("states", labels.into_iter().map(|l| l.0).collect(), states)?;
    if !names.is_empty() {
        save("controls", names, controls)?;
    }
    Ok(())
}

/// The closing line; a failure when the end was not reached.
fn close(
    a: &Arguments,
    model: &Model,
    system: &System,
    outcome: &Outcome,
    wall: Duration,
    t0: f64,
) -> Result<(), Failure> {
    let s = &outcome.statistics;
    let simulated = outcome.time - t0;
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
    let wall = wall.as_secs_f64();
    eprintln!("{line}; {wall:.4} s, {:.2} times real time", simulated / wall);
    match &outcome.end {
        End::Stopped(stop) => {
            let blame = stop.component().map(|c| state_name(model, system, c));
            let at: &Path = &a.out;
            Err(Failure::NotFinished { message: stop.to_string(), blame, saved: at.to_path_buf() })
        }
        _ => Ok(()),
    }
}
