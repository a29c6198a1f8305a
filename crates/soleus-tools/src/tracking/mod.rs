//! Simulations that track a motion: computed muscle control and residual reduction.
//!
//! Time is divided into windows of length T. At the start t of each window, error feedback determines the desired
//! accelerations at its end,
//!
//!   a = kₐ q̈*(t + T) + k_v (q̇*(t) − u(t)) + k_p (q*(t) − q(t))                                  (1)
//!
//! and the actuators share the required forces. A muscle cannot reach every force within T: it is integrated along the
//! motion with its minimum and maximum excitation, which gives the range of its force at the end. Within these ranges
//!
//!   min Σ cᵢ (fᵢ)   subject to   u̇(f) = a,   f_min ≤ f ≤ f_max                                   (2)
//!
//! is solved ([`Target::Exact`]), or the accelerations are tracked by weighted least squares ([`Target::Weighted`]).
//! Each muscle gets the excitation that produces its force, and the whole model is integrated to the end of the window.
//! If (2) has no solution, the closest forces are used, and the window contains the missing generalized forces
//! ([`Shortfall`]).
//!
//! Sources: Thelen & Anderson (2006) for the method; OpenSim 4.6's `CMC` for tasks, gains, targets and initial states.
//! Excitations are solved to 1e-6 (in OpenSim to 2e-3), and muscles are integrated by an implicit method.

mod actuation;
mod actuators;
mod contraction;
mod controls;
mod excitation;
mod foot_springs;
mod initial;
mod mass;
mod passive;
mod point;
mod reference;
mod response;
mod sharing;
#[cfg(test)]
mod tests;
mod window;

pub use actuation::{NotActuated, errors_die_out};
pub use actuators::{Driven, Limit};
pub use foot_springs::{FootSprings, SpringSettings, add_foot_springs};
pub use initial::InitialStates;
pub use mass::{MassAdjustment, RESIDUALS, average_heading, average_residuals, residual_of};
pub use point::{CENTER_OF_MASS, FollowedPoint};
pub use reference::Reference;

use crate::analysis::HistoryError;
use actuators::Actuators;
use contraction::Course;
use controls::WindowControls;
use response::{Response, Row};
use sharing::{Known, Sharing};
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::{MotionError, State, System, Workspace};
use soleus_model::Model;
use soleus_model::joint::{JointKind, MotionType};
use soleus_optimization::separable::SharingError;
use soleus_simulation::{
    ExplicitOde, ExplicitRungeKutta, Integrator, ModelControls, Statistics, StepOptions, Stop, SystemOde,
    Trajectory,
};
use std::sync::Arc;
use window::Apart;

/// Quantity that a task tracks.
#[derive(Clone, Debug)]
pub enum Followed {
    /// A coordinate of the model.
    Coordinate(usize),
    /// A point along a direction.
    Point(Arc<FollowedPoint>),
}

impl Followed {
    /// The coordinate, if it is one.
    pub fn coordinate(&self) -> Option<usize> {
        match self {
            Followed::Coordinate(c) => Some(*c),
            Followed::Point(_) => None,
        }
    }

    /// The name of the coordinate, or of the point with its direction.
    pub fn label(&self, model: &Model) -> String {
        match self {
            Followed::Coordinate(c) => model.coordinates[*c].name.clone(),
            Followed::Point(p) => p.label(),
        }
    }

    /// Unit of the generalized force on it.
    fn unit_of_force(&self, model: &Model) -> &'static str {
        match self {
            Followed::Coordinate(c) if !is_length(model, *c) => "N m",
            _ => "N",
        }
    }

    /// Whether both are the same coordinate, or the same point.
    pub fn is(&self, other: &Followed) -> bool {
        match (self, other) {
            (Followed::Coordinate(a), Followed::Coordinate(b)) => a == b,
            (Followed::Point(a), Followed::Point(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// Whether a coordinate is in meters: a translation, or one that moves only along axes. OpenSim calls the second kind coupled where the
/// function of the axis is scaled (`MultiplierFunction`), as those of the pelvis are in some scaled models.
pub fn is_length(model: &Model, coordinate: usize) -> bool {
    let c = &model.coordinates[coordinate];
    let joint = &model.joints[c.joint.0];
    let JointKind::Custom(transform) = &joint.kind else { return c.motion_type == MotionType::Translational };
    let turns = |k: usize| transform.axes[..3].iter().any(|a| a.arguments.contains(&k));
    match c.motion_type {
        MotionType::Translational => true,
        MotionType::Rotational => false,
        MotionType::Coupled => {
            let place = joint.coordinates.iter().position(|id| id.0 == coordinate);
            place.is_some_and(|k| !turns(k))
        }
    }
}

/// A tracking task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Tracked quantity.
    pub followed: Followed,
    /// Weight of its acceleration, for [`Target::Weighted`].
    pub weight: f64,
    /// Position gain, 1/s².
    pub kp: f64,
    /// Velocity gain, 1/s.
    pub kv: f64,
    /// Gain of the acceleration of the motion.
    pub ka: f64,
}

impl Task {
    /// With the gains of Thelen & Anderson (2006): critically damped errors with a time constant of 0.1 s.
    pub fn new(coordinate: usize) -> Self {
        Task { followed: Followed::Coordinate(coordinate), weight: 1.0, kp: 100.0, kv: 20.0, ka: 1.0 }
    }
}

/// How accelerations are tracked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Exactly, with minimum effort: OpenSim's fast target.
    Exact,
    /// Least squares of accelerations, weighted by the tasks, together with effort: OpenSim's slow target, also used
    /// for residual reduction.
    Weighted,
}

/// Definition of effort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// Squared forces, each relative to the maximum force of the muscle at its length and velocity with a rigid tendon:
    /// OpenSim's fast target.
    Strength,
    /// Squared forces, each relative to the maximum isometric force: OpenSim's slow target.
    Stress,
    /// Activation at the end of the window to a power, weighted by volume as in (6) of Thelen & Anderson (2006), or
    /// unweighted.
    Activation {
        /// Exponent, at least 1.
        exponent: f64,
        /// Whether muscles are weighted by volume.
        by_volume: bool,
    },
}

/// Measured activation of a muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredActivation {
    /// Index of the force in the model.
    pub force: usize,
    /// Weight w of (a − measured)² at the end of each window, relative to effort.
    pub weight: f64,
    /// Times, s, increasing.
    pub times: Vec<f64>,
    /// Values from 0 to 1, interpolated linearly; no value outside the times.
    pub values: Vec<f64>,
}

impl MeasuredActivation {
    /// The value at a time.
    pub fn at(&self, t: f64) -> Option<f64> {
        let k = self.times.partition_point(|x| *x < t);
        let (after, y) = (*self.times.get(k)?, *self.values.get(k)?);
        if after == t {
            return Some(y);
        }
        let j = k.checked_sub(1)?;
        let s = (t - self.times[j]) / (after - self.times[j]);
        Some(self.values[j] + s * (y - self.values[j]))
    }
}

/// Settings of tracking.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Length T of a window, s.
    pub window: f64,
    /// How accelerations are tracked.
    pub target: Target,
    /// Definition of effort.
    pub effort: Effort,
    /// Weight of changes of excitation between windows, relative to effort; 0 for none, as in OpenSim.
    pub smoothness: f64,
    /// Activations to track, such as EMG envelopes; for quadratic effort.
    pub measured: Vec<MeasuredActivation>,
    /// Step size control of the simulation.
    pub steps: StepOptions,
    /// Whether muscles are simulated separately from the bodies, by an implicit method; otherwise both are integrated
    /// together by Merson's explicit method, as in OpenSim, with many more evaluations of the model.
    pub muscles_apart: bool,
    /// Reproduces errors of OpenSim 4.6 in the muscle strengths.
    pub opensim_faults: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            window: 0.01,
            target: Target::Exact,
            effort: Effort::Strength,
            smoothness: 0.0,
            measured: Vec::new(),
            steps: StepOptions::default(),
            muscles_apart: true,
            opensim_faults: false,
        }
    }
}

/// Why a motion cannot be tracked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrackingError {
    /// There are no tasks.
    #[error("there is no coordinate to track: all tasks are switched off or act on locked coordinates")]
    NoTasks,
    /// There are no actuators.
    #[error("the model has no actuators")]
    NoActuators,
    /// An actuator without a scalar control.
    #[error("actuator `{name}` has several controls, which is not supported")]
    NotScalar {
        /// Its name.
        name: String,
    },
    /// An actuator with an invalid optimal force.
    #[error("actuator `{name}` has an optimal force of {optimal_force}")]
    NoForce {
        /// Its name.
        name: String,
        /// Optimal force, N or N·m.
        optimal_force: f64,
    },
    /// Inconsistent control limits.
    #[error("the control of `{name}` must lie between {min} and {max} at {time} s")]
    Limits {
        /// The actuator.
        name: String,
        /// Lower limit.
        min: f64,
        /// Upper limit.
        max: f64,
        /// Time, s.
        time: f64,
    },
    /// An invalid window length.
    #[error("a window of {window} s is not valid")]
    Window {
        /// Length of the window, s.
        window: f64,
    },
    /// The program of a window was not solved.
    #[error("at {time:.4} s: {source}")]
    Sharing {
        /// Time, s.
        time: f64,
        /// Cause.
        source: SharingError,
    },
    /// Accelerations cannot be computed.
    #[error("at {time:.4} s: {source}")]
    Motion {
        /// Time, s.
        time: f64,
        /// Cause.
        source: MotionError,
    },
    /// A muscle could not be integrated.
    #[error("at {time:.4} s the states of muscle `{name}` cannot be integrated at excitation {excitation}")]
    Muscle {
        /// Time, s.
        time: f64,
        /// Its name.
        name: String,
        /// The excitation.
        excitation: f64,
    },
    /// The simulation could not continue.
    #[error("the simulation stopped at {time:.4} s: {stop}")]
    Stopped {
        /// Time, s.
        time: f64,
        /// Cause.
        stop: Stop,
    },
    /// Invalid motion.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// A coordinate whose desired acceleration cannot be produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// Start of the window, s.
    pub time: f64,
    /// The coordinate, or the point with its direction.
    pub coordinate: String,
    /// Required generalized force, N·m or N.
    pub wanted: f64,
    /// Missing generalized force, N·m or N. The actuators can produce `wanted − missing`.
    pub missing: f64,
    /// Unit of both: N for a translation, N m for a rotation.
    pub unit: &'static str,
    /// Actuators of this coordinate that are at the limit of their force at the end of the window.
    pub at_limit: Vec<String>,
}

/// One window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Start, s.
    pub time: f64,
    /// q* − q of each task at the start, rad or m.
    pub errors: Vec<f64>,
    /// q̇* − u of each task at the start.
    pub speed_errors: Vec<f64>,
    /// Generalized force of the actuators on each task that gives the desired accelerations, N·m or N.
    pub wanted: Vec<f64>,
    /// Shortfalls, largest first.
    pub shortfalls: Vec<Shortfall>,
}

/// A model that tracks a motion window by window.
pub struct Tracker<'a> {
    model: &'a Model,
    system: &'a System,
    reference: &'a Reference,
    tasks: Vec<Task>,
    settings: Settings,
    actuators: Actuators,
    response: Response,
    sharing: Sharing,
    assembler: Option<Assembler>,
    ode: SystemOde<'a, WindowControls>,
    method: ExplicitRungeKutta,
    /// The pose that is predicted.
    pose: State<f64>,
    ws: Workspace<f64>,
    /// Differences from the motion that are kept over a window.
    dq: Vec<f64>,
    du: Vec<f64>,
    courses: Vec<Course>,
    apart: Option<Box<Apart>>,
    /// Accelerations that the forces of the window would give at its end.
    ahead: Vec<f64>,
    /// The state that was reached.
    state: State<f64>,
    rows: Trajectory,
    windows: Vec<Window>,
    /// Times of the controls, s, and their values actuator by actuator.
    node_times: Vec<f64>,
    nodes: Vec<Vec<f64>>,
    statistics: Statistics,
}

/// Times between which lengths of paths are interpolated lie at most so far apart, s: cubics are then exact to 1e-9 m.
const PATH_INTERVAL: f64 = 0.005;
/// A window that is not simulated at once is halved so often at most.
const HALVINGS: u32 = 3;
/// The explicit method takes at most this many steps for a part of a window. OpenSim allows as many for a whole simulation; a model
/// that needs more, such as one with a path point kilometers away, would fill the memory with rows.
const MOST_STEPS: usize = 20_000;
/// A shortfall below this part of what is wanted, or of 1 N·m or N, is none: less than any reserve is asked to be.
const ROUNDING: f64 = 1e-6;

impl<'a> Tracker<'a> {
    /// Prepares to track; `base` sets the controls of actuators that are not driven.
    pub fn new(
        (model, system): (&'a Model, &'a System),
        reference: &'a Reference,
        tasks: &[Task],
        driven: &[Driven],
        base: ModelControls,
        settings: &Settings,
    ) -> Result<Self, TrackingError> {
        if !(settings.window > 0.0 && settings.window.is_finite()) {
            return Err(TrackingError::Window { window: settings.window });
        }
        let actuators = Actuators::new(model, system, driven)?;
        let mobilities = &system.tree.mobility_of_coordinate;
        let is_held = |t: &Task| t.followed.coordinate().is_some_and(|c| mobilities[c] == usize::MAX);
        let is_used = |t: &&Task| !is_held(t) && t.weight != 0.0;
        let tasks: Vec<Task> = tasks.iter().filter(is_used).cloned().collect();
        let row = |t: &Task| match &t.followed {
            Followed::Coordinate(c) => Row::Mobility(mobilities[*c]),
            Followed::Point(p) => Row::Point(p.clone(), vec![0.0; system.tree.num_mobilities]),
        };
        let mut response = Response::new(system, &actuators, tasks.iter().map(row).collect());
        let independent = response.independent_tasks(system, reference)?;
        let tasks: Vec<Task> = independent.iter().map(|&i| tasks[i].clone()).collect();
        if tasks.is_empty() {
            return Err(TrackingError::NoTasks);
        }
        let window = WindowControls::new(base, &actuators.list, system.num_controls);
        let ode = SystemOde::new(system, window);
        let norm = ode.error_norm();
        let dim = norm.dim();
        let n = system.tree.num_mobilities;
        let weights: Vec<f64> = tasks.iter().map(|t| t.weight).collect();
        Ok(Tracker {
            sharing: Sharing::new(settings, &weights, actuators.list.len())
                .map_err(|source| TrackingError::Sharing { time: reference.span[0], source })?,
            response: Response::new(system, &actuators, tasks.iter().map(row).collect()),
            assembler: (system.constraints.num_rows() > 0).then(|| Assembler::new(model, system)),
            method: ExplicitRungeKutta::merson(
                norm,
                StepOptions { max_steps: settings.steps.max_steps.min(MOST_STEPS), ..settings.steps.clone() },
            ),
            pose: system.default_state.clone(),
            ws: system.workspace(),
            dq: vec![0.0; n],
            du: vec![0.0; n],
            courses: vec![Course::default(); actuators.list.len()],
            apart: settings.muscles_apart.then(|| Apart::new(system, &actuators).map(Box::new)).flatten(),
            ahead: vec![0.0; n],
            state: system.default_state.clone(),
            rows: Trajectory::new(dim),
            windows: Vec::new(),
            node_times: Vec::new(),
            nodes: vec![Vec::new(); actuators.list.len()],
            statistics: Statistics::default(),
            settings: settings.clone(),
            actuators,
            model,
            system,
            reference,
            tasks,
            ode,
        })
    }

    /// Adds foot springs.
    pub fn with_springs(mut self, springs: FootSprings) -> Self {
        self.ode.controls.springs = Some(Box::new(springs));
        self
    }

    /// Controls of the springs at each row: index and values.
    pub fn spring_controls(&mut self) -> Vec<(usize, Vec<f64>)> {
        let Some(springs) = self.ode.controls.springs.as_mut() else { return Vec::new() };
        let mut list: Vec<(usize, Vec<f64>)> = springs.controls().map(|c| (c, Vec::new())).collect();
        let (mut x, mut values) = (self.state.clone(), vec![0.0; self.system.num_controls]);
        let n = x.q.len();
        for i in 0..self.rows.len() {
            let row = self.rows.row(i);
            x.time = self.rows.times[i];
            x.q.copy_from_slice(&row[..n]);
            x.u.copy_from_slice(&row[n..2 * n]);
            values.fill(0.0);
            springs.add(x.time, &x, &mut values);
            list.iter_mut().for_each(|(c, column)| column.push(values[*c]));
        }
        list
    }

    /// The active tasks, without those determined by constraints or other tasks.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Time reached, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Rows of x = [q, u, z].
    pub fn rows(&self) -> &Trajectory {
        &self.rows
    }

    /// The completed windows.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Statistics of the simulation.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Times of the controls (s) and their values for each actuator, with the index of its control and whether it is
    /// piecewise constant.
    pub fn controls(&self) -> (&[f64], impl Iterator<Item = (usize, bool, &[f64])>) {
        let list = self.actuators.list.iter().zip(&self.nodes);
        (&self.node_times, list.map(|(a, values)| (a.control, a.use_steps, values.as_slice())))
    }

    /// Advances by one window, or to `end` if that is earlier.
    pub fn advance(&mut self, end: f64) -> Result<&Window, TrackingError> {
        let t0 = self.state.time;
        let x = self.state.clone();
        let window = self.compute_controls(&x, self.settings.window)?;
        self.windows.push(window);
        let t1 = (t0 + self.settings.window).min(end);
        self.ode.controls.set(t0, t0 + self.settings.window, self.actuators.controls());
        for (values, c) in self.nodes.iter_mut().zip(self.actuators.controls()) {
            values.push(c);
        }
        self.node_times.push(t0 + self.settings.window);
        self.simulate(t1)?;
        let last = self.windows.len() - 1;
        Ok(&self.windows[last])
    }

    /// Simulates the model to a time under the controls of the window: with its muscles apart where that converges, in parts of the
    /// window if need be.
    fn simulate(&mut self, t1: f64) -> Result<(), TrackingError> {
        let Some(mut apart) = self.apart.take() else { return self.integrate(t1) };
        let t0 = self.state.time;
        if self.rows.is_empty() {
            self.rows.push(t0, &SystemOde::<WindowControls>::vector(&self.state));
        }
        apart.load(&self.response, (&self.pose, &self.ahead), &mut self.ode.controls);
        let shortest = (t1 - t0) / f64::from(1 << HALVINGS);
        let (mut done, mut goes_on) = (Ok(()), false);
        apart.next_step = apart.first_step;
        while self.state.time < t1 && done.is_ok() {
            // The rest of the window in one step, in two of equal length, or a step of it.
            let (rest, h) = (t1 - self.state.time, apart.next_step.max(shortest));
            let to = match rest / h {
                x if x < 1.01 => t1,
                x if x < 2.01 => self.state.time + 0.5 * rest,
                _ => self.state.time + h,
            };
            let h = to - self.state.time;
            match self.simulate_apart(&mut apart, to, goes_on) {
                Ok(()) => {
                    if !goes_on && to - t0 < 1.5 * h {
                        apart.first_step = apart.next_step;
                    }
                    goes_on = true;
                }
                Err(_) if h > 1.5 * shortest => {}
                Err(_) => {
                    goes_on = false;
                    done = self.integrate(to);
                }
            }
        }
        self.apart = Some(apart);
        done
    }

    /// The same with its muscles apart; nothing changes where that does not converge.
    fn simulate_apart(&mut self, apart: &mut Apart, to: f64, goes_on: bool) -> Result<(), window::NotApart> {
        let (before, end) = (apart.evaluations, self.actuators_end());
        let found = apart.advance(
            (self.system, &mut self.ode),
            (&self.actuators, &self.response),
            (&self.state, to),
            (&self.ahead, end, &self.courses),
            (self.settings.steps.accuracy, goes_on),
        );
        self.statistics.evaluations += apart.evaluations - before;
        if found.is_err() {
            self.statistics.failed += 1;
            return found;
        }
        let n = self.state.q.len();
        let tolerance = self.settings.steps.constraint_tolerance();
        for x in apart.states() {
            let mut row = SystemOde::<WindowControls>::vector(x);
            let mut error = vec![0.0; row.len()];
            let done = ExplicitOde::project(&mut self.ode, x.time, &mut row, &mut error, tolerance);
            self.statistics.projections += usize::from(done.map_err(|_| window::NotApart)?.changed);
            self.rows.push(x.time, &row);
            self.state.time = x.time;
            self.state.q.copy_from_slice(&row[..n]);
            self.state.u.copy_from_slice(&row[n..2 * n]);
            self.state.z.copy_from_slice(&row[2 * n..]);
        }
        self.statistics.steps += 1;
        Ok(())
    }

    /// The time that the forces of the actuators are for, s.
    fn actuators_end(&self) -> f64 {
        self.node_times.last().copied().unwrap_or(self.state.time)
    }

    /// Integrates the model to a time under the controls of the window.
    fn integrate(&mut self, t1: f64) -> Result<(), TrackingError> {
        let x0 = SystemOde::<WindowControls>::vector(&self.state);
        let t0 = self.state.time;
        let stopped = |time: f64, stop: Stop| TrackingError::Stopped { time, stop };
        let method: &mut dyn Integrator<SystemOde<'a, WindowControls>> = &mut self.method;
        method.start(&mut self.ode, t0, &x0).map_err(|stop| stopped(t0, stop))?;
        if self.rows.is_empty() {
            self.rows.push(t0, &x0);
        }
        let mut end = Ok(());
        while method.span().1 < t1 {
            if let Err(stop) = method.step(&mut self.ode, t1) {
                end = Err(stopped(method.span().1, stop));
                break;
            }
            self.rows.push(method.span().1, method.state());
        }
        let s = method.statistics();
        self.statistics.steps += s.steps;
        self.statistics.rejected += s.rejected;
        self.statistics.failed += s.failed;
        self.statistics.evaluations += s.evaluations;
        self.statistics.projections += s.projections;
        let n = self.state.q.len();
        let x = method.state();
        self.state.time = method.span().1;
        self.state.q.copy_from_slice(&x[..n]);
        self.state.u.copy_from_slice(&x[n..2 * n]);
        self.state.z.copy_from_slice(&x[2 * n..]);
        end
    }

    /// Finds the controls that give the accelerations (1) at the end of a window that begins with a state; they are in the actuators.
    fn compute_controls(&mut self, x: &State<f64>, length: f64) -> Result<Window, TrackingError> {
        let (t0, t1) = (x.time, x.time + length);
        let n = x.q.len();
        self.reference.pose(t0, &mut self.dq, &mut self.du);
        for k in 0..n {
            self.dq[k] = x.q[k] - self.dq[k];
            self.du[k] = x.u[k] - self.du[k];
        }
        // Errors, and the accelerations that mend them.
        let mut window = Window { time: t0, ..Window::default() };
        let mut wanted = Vec::with_capacity(self.tasks.len());
        if self.tasks.iter().any(|t| t.followed.coordinate().is_none()) {
            self.system.compute_kinematics(x, &mut self.ws);
        }
        for task in &self.tasks {
            let ([q, u, _], [_, _, udot], found) = match &task.followed {
                Followed::Coordinate(c) => {
                    let m = self.system.tree.mobility_of_coordinate[*c];
                    (self.reference.at(m, t0), self.reference.at(m, t1), [x.q[m], x.u[m]])
                }
                Followed::Point(p) => (p.wanted(t0), p.wanted(t1), p.found(&self.ws)),
            };
            let (eq, eu) = (q - found[0], u - found[1]);
            window.errors.push(eq);
            window.speed_errors.push(eu);
            wanted.push(task.ka * udot + task.kv * eu + task.kp * eq); // (1)
        }

        // What each actuator can do by the end of the window.
        self.predict_paths(t0, t1);
        let limits = self.actuators.limits(t0)?;
        self.actuators.compute_ranges(self.system, &self.courses, &x.z, (t0, t1), &limits)?;

        // Forces, at the pose that is predicted for the end.
        self.predict(t1);
        self.pose.z.copy_from_slice(&x.z);
        self.response
            .compute(&self.pose, &self.actuators, self.ode.controls.base(t1, &self.pose))
            .map_err(|source| TrackingError::Motion { time: t0, source })?;
        self.actuators.compute_strengths(self.system, &self.response.ws, self.settings.opensim_faults);
        let measured = &self.settings.measured;
        let of = |force: usize| measured.iter().find(|m| m.force == force);
        let known = self.actuators.list.iter().zip(&self.nodes).map(|(a, values)| Known {
            before: values.last().copied(),
            measured: of(a.load.force).and_then(|m| Some([m.weight, m.at(t1)?])),
        });
        self.sharing.load(&self.settings, &mut self.response, &self.actuators, &wanted, known);
        self.sharing.solve().map_err(|source| TrackingError::Sharing { time: t0, source })?;
        self.sharing.forces(&mut self.actuators);
        window.wanted.extend(self.sharing.missing().map(|(wanted, _)| wanted));
        window.shortfalls = self.shortfalls(t0);

        if self.apart.is_some() {
            let n = self.ahead.len();
            self.ahead.fill(0.0);
            for (arms, f) in self.response.arms.chunks_exact(n.max(1)).zip(&self.actuators.forces) {
                self.ahead.iter_mut().zip(arms).for_each(|(a, r)| *a += r * f);
            }
            self.response.respond(&mut self.ahead);
            self.ahead.iter_mut().zip(&self.response.ws.udot).for_each(|(a, free)| *a += free);
        }

        // Controls that lead to them.
        self.actuators.compute_controls(self.system, &self.courses, &x.z, (t0, t1), &limits)?;
        Ok(window)
    }

    /// Puts the predicted pose at a time: the motion, with the differences that there are now.
    fn predict(&mut self, t: f64) {
        self.pose.time = t;
        self.reference.pose(t, &mut self.pose.q, &mut self.pose.u);
        for k in 0..self.dq.len() {
            self.pose.q[k] += self.dq[k];
            self.pose.u[k] += self.du[k];
        }
        if let Some(assembler) = &self.assembler {
            // A pose that cannot be assembled is still the best guess.
            let before = (self.pose.q.clone(), self.pose.u.clone());
            if assembler.solve_assembly(self.system, &mut self.pose, &mut self.ws).is_err() {
                (self.pose.q, self.pose.u) = before;
            }
        }
    }

    /// Lengths and speeds of the paths of muscles over a window.
    fn predict_paths(&mut self, t0: f64, t1: f64) {
        self.courses.iter_mut().for_each(|c| *c = Course::default());
        if !self.actuators.has_muscles() {
            return;
        }
        let count = ((t1 - t0) / PATH_INTERVAL - 1e-9).ceil().max(1.0) as usize;
        for k in 0..=count {
            let t = t0 + (t1 - t0) * k as f64 / count as f64;
            self.predict(t);
            self.system.compute_kinematics(&self.pose, &mut self.ws);
            self.system.compute_paths(&self.pose, &mut self.ws);
            for (a, course) in self.actuators.list.iter().zip(&mut self.courses) {
                if self.system.forces[a.load.force].path.is_some() {
                    let path = &self.ws.paths[a.load.force];
                    course.times.push(t);
                    course.lengths.push(path.length());
                    course.speeds.push(path.speed());
                }
            }
            // Lengths change as the motion does: the difference in speed is not in them, and would bend the cubics between two times.
            if self.du.iter().any(|du| *du != 0.0) {
                self.pose.u.iter_mut().zip(&self.du).for_each(|(u, du)| *u -= du);
                self.system.compute_kinematics(&self.pose, &mut self.ws);
                self.system.compute_paths(&self.pose, &mut self.ws);
            }
            for (a, course) in self.actuators.list.iter().zip(&mut self.courses) {
                if self.system.forces[a.load.force].path.is_some() {
                    course.slopes.push(self.ws.paths[a.load.force].speed());
                }
            }
        }
    }

    /// What coordinates lack, the worst first.
    fn shortfalls(&self, time: f64) -> Vec<Shortfall> {
        let mut list = Vec::new();
        for (i, (task, (wanted, missing))) in self.tasks.iter().zip(self.sharing.missing()).enumerate() {
            if missing.abs() <= ROUNDING * wanted.abs().max(1.0) {
                continue;
            }
            let at_limit = self.sharing.at_limit(i, missing);
            list.push(Shortfall {
                time,
                coordinate: task.followed.label(self.model),
                wanted,
                missing,
                unit: task.followed.unit_of_force(self.model),
                at_limit: at_limit.map(|k| self.actuators.list[k].name.clone()).collect(),
            });
        }
        list.sort_by(|a, b| b.missing.abs().total_cmp(&a.missing.abs()));
        list
    }
}
