//! Tracking run of residual reduction and computed muscle control.

use super::report::{TrackingReport, report};
use super::{TrackedMotion, Tracking, inputs};
use crate::analysis::TOO_WEAK_HINT;
use crate::analysis::{self, standard};
use crate::context::{Context, Progress};
use crate::emg::{self, EmgCurve};
use crate::error::Error;
use crate::inputs::paths::{folder_of, stem_of};
use crate::inputs::tool_model::{Additions, read_with};
use crate::inputs::{model, setup};
use crate::simulation::{controllers, tables};
use soleus_dynamics::{Options, System};
use soleus_io::setup::{AnalysisKind, AnalysisSetup};
use soleus_math::Table;
use soleus_math::table::{Element, TableError};
use soleus_model::constraint::ConstraintKind;
use soleus_model::{Diagnostics, ForceKind, Model};
use soleus_simulation::StepOptions;
use soleus_simulation::system::{ControlNodes, control_labels};
use soleus_tools::analysis::StateHistory;
use soleus_tools::tracking::{
    Followed, FootSprings, InitialStates, Reference, Settings, Shortfall, SpringSettings, Target, Task,
    Tracker, TrackingError, Window, errors_die_out,
};
use std::path::Path;

/// The model of a request, with its forces and loads.
pub fn read_model(cx: &Context, request: &Tracking) -> Result<Model, Error> {
    let additions = Additions {
        change: model::Change {
            replace_forces: request.replaces_forces(),
            force_sets: &request.force_sets,
            controllers: &request.controllers,
            setup: request.asked_in.as_deref(),
        },
        residuals: &request.residuals,
        reserves: &request.reserves,
        loads: request.loads.as_deref(),
        motion: Some(&request.motion),
        ..Additions::default()
    };
    read_with(cx, &request.model, &additions)
}

/// Compiles a model.
pub fn compile(request: &Tracking, model: &Model) -> Result<System, Error> {
    model::compile(request.model.path(), model, &Options { opensim_faults: request.opensim_faults })
}

/// Inputs of a run in addition to the request.
pub struct Job<'a> {
    pub request: &'a Tracking,
    pub both: (&'a Model, &'a System),
    pub history: &'a StateHistory,
    /// Start and end of tracking, s.
    pub range: [f64; 2],
    /// Start and end of the data, s.
    pub data: [f64; 2],
    pub settings: Settings,
    /// Minimum excitation of the muscles.
    pub least_excitation: f64,
    pub initial: InitialStates,
    /// Tracking tasks.
    pub tasks: Vec<Task>,
    /// Lines of the tasks in their file; 0 if there is none.
    pub task_lines: Vec<u32>,
    /// Actuators of springs between feet and ground.
    pub springs: &'a [[String; 6]],
    /// EMG of muscles.
    pub emg: &'a [EmgCurve],
}

/// Where the motion is tracked to.
fn end(request: &Tracking, range: [f64; 2], data: [f64; 2], window: f64) -> f64 {
    match request.asked_in {
        Some(_) => range[1] - window,
        None => range[1].min(data[1] - window),
    }
}

/// Refuses loads that do not last as long as the motion, before anything is computed with them.
pub fn check_loads_of(
    cx: &Context,
    request: &Tracking,
    model: &Model,
    range: [f64; 2],
    data: [f64; 2],
    window: f64,
) -> Result<(), Error> {
    check_loads(cx, request, model, [range[0], end(request, range, data, window)])
}

/// Refuses loads that do not last as long as the motion: beyond their ends they would be anything.
fn check_loads(cx: &Context, request: &Tracking, model: &Model, [from, to]: [f64; 2]) -> Result<(), Error> {
    for f in model.forces.iter().filter(|f| f.enabled) {
        let ForceKind::ExternalForce(e) = &f.kind else { continue };
        let (Some(&first), Some(&last)) = (e.time.first(), e.time.last()) else { continue };
        // A sample more or less is how recordings end.
        let sample = 1.5 * (last - first) / (e.time.len().max(2) - 1) as f64;
        if first > from + sample || last < to - sample {
            // Ends of windows are sums, with digits that nobody gave.
            let [first, last, from, to] = [first, last, from, to].map(|t| (1e6 * t).round() / 1e6);
            let message = format!(
                "loads of `{}` span {first} s to {last} s, but the motion is tracked from {from} s to {to} s",
                f.name
            );
            let hint = "track a shorter range (--from, --to; initial_time, final_time), or give longer loads";
            let file = request.loads.as_deref().unwrap_or(request.path());
            let line = model::line_of_load(cx, file, &f.name);
            return Err(Error::content(file, line, &f.path, message, hint));
        }
    }
    Ok(())
}

impl Job<'_> {
    /// Tracks the motion and creates the tables of the results.
    pub fn run(&self, cx: &Context) -> Result<TrackedMotion, Error> {
        let (request, (model, system), path) = (self.request, self.both, self.request.path());
        let wrong = |e: &TrackingError| self.refused(cx, e);
        let springs: Vec<&String> = self.springs.iter().flatten().collect();
        let driven = inputs::driven(cx, request, model, self.least_excitation, &springs)?;
        let folders = [folder_of(path), request.model.folder()];
        let base = controllers::controllers(cx, request.model.path(), self.both, &folders)?;
        let mut reference =
            Reference::new(system, self.history).map_err(|e| wrong(&TrackingError::History(e)))?;
        reference.span = [self.first(cx), self.range[1]];
        self.look_ahead(cx, &reference);
        let steps = StepOptions {
            accuracy: request.accuracy,
            min_step: request.minimum_step,
            max_step: request.maximum_step,
            force_min_step: true,
            ..StepOptions::default()
        };
        let settings = Settings { steps, opensim_faults: request.opensim_faults, ..self.settings.clone() };
        check_loads(cx, request, model, [reference.span[0], self.end()])?;
        let begin = cx.monitor.seconds();
        let mut tracker = Tracker::new(self.both, &reference, &self.tasks, &driven, base.clone(), &settings)
            .map_err(|e| wrong(&e))?;
        if !self.springs.is_empty() {
            let springs = FootSprings::new(self.both, &reference, self.springs, SpringSettings::default());
            tracker = tracker.with_springs(springs);
        }
        self.check_range(cx, &tracker)?;
        self.check(cx, &tracker);
        self.check_actuation(cx, &mut tracker)?;
        tracker.start(self.range[0], self.initial).map_err(|e| wrong(&e))?;
        let start = tracker.time();
        let ended = self.follow(cx, &mut tracker);
        let seconds = begin.and_then(|b| Some(cx.monitor.seconds()? - b));

        // Tables, and what analyses make of them.
        let table = |e: TableError| Error::content(path, 0, "", e.to_string(), "");
        let spring_controls = tracker.spring_controls();
        let rows = tracker.rows();
        let states = tables::states(model, system, rows).map_err(table)?;
        let labels: Vec<String> = control_labels(model, system);
        let names: Vec<String> =
            labels.iter().map(|l| l.rsplit('/').next().unwrap_or(l).to_string()).collect();
        let mut all = base;
        let (node_times, list) = tracker.controls();
        let (mut nodes, mut node_names, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for (control, use_steps, values) in list {
            if let Some(n) = ControlNodes::new(node_times.to_vec(), values.to_vec(), use_steps, true) {
                all.add_nodes(control, n);
            }
            nodes.push(values.to_vec());
            node_names.push(format!("{}.excitation", names[control]));
            held.push(use_steps);
        }
        for (control, values) in spring_controls {
            if let Some(n) = ControlNodes::new(rows.times.clone(), values, false, false) {
                all.add_nodes(control, n);
            }
        }
        let control_nodes =
            Table::new(Element::Scalar, node_names, node_times.to_vec(), nodes).map_err(table)?;
        let mut controls = tables::controls(model, system, &all, rows, names).map_err(table)?;
        controls.name = "controls".to_string();
        let errors = errors(model, &tracker).map_err(table)?;
        let analyses = with_own(&request.analyses);
        let mut unsolved = Ok(());
        let mut made = Vec::new();
        if rows.len() > 1 && !cx.monitor.is_cancelled() {
            let done = analysis::of_simulation(
                cx,
                path,
                &analyses,
                self.both,
                &states,
                &mut all,
                request.opensim_faults,
            );
            unsolved = done.and_then(|done| {
                made = done.tables;
                analysis::verdict(&done.unsolved, done.stopped, request.output.folder.as_deref())
            });
        }
        let column = |muscle: &str| {
            let label = format!("/{muscle}/activation");
            states.labels().iter().find(|l| l.ends_with(&label)).and_then(|l| states.column(l))
        };
        let (compared, emg) = emg::compare(self.emg, states.times(), column).map_err(table)?;
        if !self.emg.is_empty() && emg.is_none() {
            let message = "EMG and motion do not overlap in time, or the muscles have no activation";
            cx.warn(path, message.to_string(), "");
        }
        let mut report = report(self.both, &reference, &tracker, &made, (start, seconds));
        report.emg = compared;
        report.excitations = chatter(model, &control_nodes);
        for line in report.lines() {
            cx.note(line);
        }
        if let Some(s) = report.seconds {
            cx.note(format!("{s:.3} s, {:.1} times real time", report.simulated / s));
        }
        let verdict = ended.and(self.verdict(&report)).and(unsolved);
        let name = request.output.name.clone().unwrap_or_else(|| stem_of(request.motion.path(), "motion"));
        Ok(TrackedMotion {
            missing: missing(model, &tracker).map_err(table)?,
            states: named(states, &name),
            controls,
            control_nodes,
            errors,
            tables: made,
            emg,
            page: None,
            report,
            steps: held,
            folder: request.output.folder.clone(),
            name,
            verdict,
        })
    }

    /// Window by window to the end. Everything up to a failure stays in the tracker.
    fn follow(&self, cx: &Context, tracker: &mut Tracker) -> Result<(), Error> {
        let (from, to) = (self.range[0], self.end());
        while tracker.time() < to - 1e-9 {
            let shortfall = match tracker.advance(to) {
                Ok(window) => window.shortfalls.first().cloned(),
                Err(e) => {
                    let saved = self.request.output.folder.clone();
                    return Err(Error::NotFinished { message: self.words_of(&e), blame: None, saved });
                }
            };
            if let Some(s) = shortfall.filter(|_| self.request.stop_at_shortfall) {
                return Err(Error::NotSolved { message: told(&s) });
            }
            let (done, total) = (tracker.time() - from, Some(to - from));
            cx.monitor.progress(&Progress { what: "s", done, total, left_s: None, detail: "" });
            if cx.monitor.is_cancelled() {
                let saved = format!("results up to t = {} s", tracker.time());
                return Err(Error::Cancelled { saved });
            }
        }
        Ok(())
    }

    /// Where to end: one window before the end of the data, where accelerations are what a spline makes of its last samples. Setup files
    /// end one window before their last time in any case, as in OpenSim.
    fn end(&self) -> f64 {
        end(self.request, self.range, self.data, self.settings.window)
    }

    /// Refuses a range in which not one window is tracked.
    fn check_range(&self, cx: &Context, tracker: &Tracker) -> Result<(), Error> {
        let (request, window, end) = (self.request, self.settings.window, self.end());
        let first = tracker.first_time(self.range[0], self.initial);
        if end - first > (1.0 - 1e-6) * window {
            return Ok(());
        }
        // What must be later: the end that was asked for, or that of the motion.
        let was_asked = request.to.is_some_and(|to| to < self.data[1] - 1e-6);
        let margin = self.range[1] - end;
        let needed = 1e6 * (first + window + margin);
        let [begin, end, needed] = [1e6 * first, 1e6 * end, needed].map(|t| t.round() / 1e6);
        let lead = match first > self.range[0] {
            true => format!(" after a first window of {:.3} s", first - self.range[0]),
            false => String::new(),
        };
        let message = format!(
            "tracking would start at {begin} s{lead} and end at {end} s, which leaves no window of {window} s"
        );
        let (file, line, hint) = match &request.asked_in {
            Some(file) if was_asked => {
                let hint = format!("set final_time to {needed} or later, or initial_time earlier");
                (file.as_path(), setup::line_of(cx, file, "final_time"), hint)
            }
            Some(_) => (request.motion.path(), 0, format!("give a motion up to {needed} s or later")),
            None => {
                let hint =
                    format!("track a range up to {needed} s or later (--to), or from earlier (--from)");
                (request.motion.path(), 0, hint)
            }
        };
        Err(Error::content(file, line, "", message, &hint))
    }

    /// Where muscles begin: at the first time to follow, or earlier if they are to lead, as far as there are data.
    fn first(&self, cx: &Context) -> f64 {
        let InitialStates::Earlier(lead) = self.initial else { return self.range[0] };
        let first = (self.range[0] - lead).max(self.data[0]);
        if first > self.range[0] - lead + 1e-9 {
            let message = format!(
                "muscles start {:.3} s before {} s, not {lead} s: the motion starts at {} s",
                self.range[0] - first,
                self.range[0],
                self.data[0]
            );
            cx.warn(self.request.motion.path(), message, "track a later part (--from), or omit --lead");
        }
        first
    }

    /// What can be said before the start: data that are too coarse for the windows, and gains that are too large for them.
    fn look_ahead(&self, cx: &Context, reference: &Reference) {
        let (step, window) = (reference.sample_interval, self.settings.window);
        let has_muscles =
            self.both.0.forces.iter().any(|f| f.enabled && matches!(f.kind, ForceKind::Muscle(_)));
        if has_muscles && step > 1.5 * window {
            let message = format!(
                "the motion has {:.0} samples per second but {:.0} windows per second: accelerations between samples are interpolated",
                1.0 / step,
                1.0 / window,
            );
            let hint = "track the output of residual reduction, or resample the motion to 100 Hz or more";
            cx.warn(self.request.motion.path(), message, hint);
        }
        let mut log = Diagnostics::new(self.task_file().display().to_string());
        for (t, &line) in self.tasks.iter().zip(&self.task_lines) {
            // Nothing dies out without feedback, which is what some ask for.
            let kp = t.kp.max(1e-3);
            if t.weight == 0.0 || t.kv == 0.0 || errors_die_out(kp, t.kv, window) {
                continue;
            }
            let name = t.followed.label(self.both.0);
            let message = format!(
                "errors of `{name}` grow from window to window of {window} s: kp {} and kv {} are too large for it",
                t.kp, t.kv
            );
            let longest = (0..60).map(|k| window * 0.9f64.powi(k)).find(|&w| errors_die_out(kp, t.kv, w));
            let hint = match longest {
                Some(w) => {
                    format!(
                        "use a window of {w:.1e} s, or smaller gains; typical values are kp 100 and kv 20"
                    )
                }
                None => "typical values are kp 100 and kv 20".to_string(),
            };
            log.warn(line, "", message, &hint);
        }
        cx.report(&log);
    }

    /// The file that the tasks are from.
    fn task_file(&self) -> &Path {
        self.request.task_file.as_deref().unwrap_or(self.request.path())
    }

    /// The line of a task.
    fn line_of(&self, followed: &Followed) -> u32 {
        let place = self.tasks.iter().position(|t| t.followed.is(followed));
        place.and_then(|p| self.task_lines.get(p).copied()).unwrap_or(0)
    }

    /// Refuses tasks that no actuator moves, or that actuators move together with others alone; where accelerations are met by weights,
    /// such tasks are warned about.
    fn check_actuation(&self, cx: &Context, tracker: &mut Tracker) -> Result<(), Error> {
        let list = tracker.not_actuated().map_err(|e| self.refused(cx, &e))?;
        let mut log = Diagnostics::new(self.task_file().display().to_string());
        let name = |f: &Followed| f.label(self.both.0);
        let is_exact = self.settings.target == Target::Exact;
        for t in &list {
            let message = match t.follows.is_empty() {
                true => format!("no actuator moves `{}`, which has a task", name(&t.followed)),
                false => {
                    let others: Vec<String> = t.follows.iter().map(name).collect();
                    format!(
                        "actuators cannot move `{}` independently: its moment is determined by those of {}",
                        name(&t.followed),
                        others.join(", ")
                    )
                }
            };
            let hint = "add an actuator (--reserves, --residuals; force_set_files), or switch its task off";
            let line = self.line_of(&t.followed);
            match is_exact {
                true => log.error(line, "", message, hint),
                false => log.warn(line, "", message, hint),
            }
        }
        match log.has_errors() {
            true => cx.settle(self.task_file(), None, log),
            false => {
                cx.report(&log);
                Ok(())
            }
        }
    }

    /// Tasks that are not followed, and what determines them.
    fn check(&self, cx: &Context, tracker: &Tracker) {
        if self.request.task_file.is_none() && self.request.tasks.is_empty() {
            return;
        }
        let (kept, model) = (tracker.tasks(), self.both.0);
        let mut log = Diagnostics::new(self.task_file().display().to_string());
        for t in self.tasks.iter().filter(|t| t.weight != 0.0) {
            if kept.iter().any(|k| k.followed.is(&t.followed)) {
                continue;
            }
            let Followed::Coordinate(coordinate) = t.followed else {
                let message = format!(
                    "`{}` is not tracked: it is determined by tasks before it",
                    t.followed.label(model)
                );
                log.warn(
                    self.line_of(&t.followed),
                    "",
                    message,
                    "switch the task off, or move it before these tasks",
                );
                continue;
            };
            let c = &model.coordinates[coordinate];
            let couples = |k: &ConstraintKind| matches!(k, ConstraintKind::CoordinateCoupler { dependent, .. } if dependent.0 == coordinate);
            let coupler = model.constraints.iter().find(|k| k.enforced && couples(&k.kind));
            let why = match coupler {
                _ if c.locked => "it is locked in the model".to_string(),
                _ if c.prescribed => "it is prescribed in the model".to_string(),
                Some(k) => format!("it is determined by constraint `{}`", k.name),
                None => "it is determined by constraints or by tasks before it".to_string(),
            };
            let hint = match c.locked || c.prescribed {
                true => "unlock it in the model, or switch the task off",
                false => "switch the task off",
            };
            log.warn(self.line_of(&t.followed), "", format!("`{}` is not tracked: {why}", c.name), hint);
        }
        cx.report(&log);
    }

    /// Why it cannot work, with the file and the line of the actuator that it is about.
    /// The words of an error, with names of coordinates.
    fn words_of(&self, e: &TrackingError) -> String {
        match e {
            TrackingError::Motion { source, .. } => {
                model::with_coordinate(&e.to_string(), source, self.both.0, self.both.1)
            }
            _ => e.to_string(),
        }
    }

    fn refused(&self, cx: &Context, e: &TrackingError) -> Error {
        let hint = match e {
            TrackingError::NoTasks => "switch tasks on in the task set",
            TrackingError::NoActuators => "add actuators: force_set_files, --residuals, --reserves",
            TrackingError::NoForce { .. } => "give it a nonzero optimal force",
            TrackingError::NotScalar { .. } => {
                "exclude it (actuators_to_exclude), or use actuators with one control"
            }
            TrackingError::Limits { .. } => {
                "give it limits with max above min: constraints_file, min_control, max_control"
            }
            TrackingError::Window { .. } => "give a positive number of seconds, such as 0.01",
            _ => "",
        };
        let named = match e {
            TrackingError::NoForce { name, .. }
            | TrackingError::NotScalar { name }
            | TrackingError::Limits { name, .. } => self.both.0.forces.iter().find(|f| f.name == *name),
            _ => None,
        };
        let request = self.request;
        let Some(force) = named else { return Error::content(request.path(), 0, "", self.words_of(e), hint) };
        let (file, line) = model::place_of_force(cx, &request.model, &request.force_sets, force, self.both.0);
        Error::content(&file, line, &force.path, e.to_string(), hint)
    }

    fn verdict(&self, report: &TrackingReport) -> Result<(), Error> {
        let Some(worst) = report.worst_shortfall() else { return Ok(()) };
        let n = report.short_windows;
        Err(Error::NotSolved {
            message: format!(
                "the actuators are too weak in {n} of {} windows; worst {}{TOO_WEAK_HINT}",
                report.windows,
                told(worst)
            ),
        })
    }
}

/// Squared changes of the excitations of all muscles from window to window, summed, and their squares, averaged over the windows.
fn chatter(model: &Model, nodes: &Table) -> Option<[f64; 2]> {
    let is_muscle = |label: &str| {
        let name = label.strip_suffix(".excitation").unwrap_or(label);
        model.forces.iter().any(|f| f.name == name && matches!(f.kind, ForceKind::Muscle(_)))
    };
    let (mut changes, mut squares, mut has_muscles) = (0.0, 0.0, false);
    for (_, y) in nodes.labels().iter().zip(nodes.columns()).filter(|(l, _)| is_muscle(l)) {
        has_muscles = true;
        changes += y.windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>();
        squares += y.iter().map(|e| e * e).sum::<f64>() / y.len() as f64;
    }
    has_muscles.then_some([changes, squares])
}

/// Describes a shortfall.
pub fn told(s: &Shortfall) -> String {
    let limit = match s.at_limit.is_empty() {
        true => "no actuator can contribute more".to_string(),
        false => format!("at their limit: {}", s.at_limit.join(", ")),
    };
    format!(
        "at {:.3} s: `{}` needs {:.3} {unit}, but the actuators give {:.3} {unit} ({:.3} {unit} missing); {limit}",
        s.time,
        s.coordinate,
        s.wanted,
        s.wanted - s.missing,
        s.missing,
        unit = s.unit,
    )
}

/// The analyses of a request, and kinematics and actuation where it has none.
fn with_own(analyses: &[AnalysisSetup]) -> Vec<AnalysisSetup> {
    let mut list = analyses.to_vec();
    let has = |list: &[AnalysisSetup], f: fn(&AnalysisKind) -> bool| list.iter().any(|a| f(&a.kind));
    if !has(&list, |k| matches!(k, AnalysisKind::Actuation)) {
        list.extend(standard("actuation"));
    }
    if !has(&list, |k| matches!(k, AnalysisKind::Kinematics { .. })) {
        list.extend(standard("kinematics"));
    }
    list
}

fn named(mut table: Table, name: &str) -> Table {
    table.name = name.to_string();
    table
}

/// Errors of the tasks at the beginning of each window.
fn errors(model: &Model, tracker: &Tracker) -> Result<Table, TableError> {
    let labels: Vec<String> = tracker.tasks().iter().map(|t| t.followed.label(model)).collect();
    let windows = tracker.windows();
    let times = windows.iter().map(|w| w.time).collect();
    let columns = (0..labels.len()).map(|i| windows.iter().map(|w| w.errors[i]).collect()).collect();
    let mut table = Table::new(Element::Scalar, labels, times, columns)?;
    table.name = "PositionErrors".to_string();
    table.in_degrees = Some(false);
    Ok(table)
}

/// What was missing by coordinate and, in columns `COORDINATE.wanted`, what was wanted; none where nothing was missing.
fn missing(model: &Model, tracker: &Tracker) -> Result<Option<Table>, TableError> {
    let windows = tracker.windows();
    let mut names: Vec<String> = Vec::new();
    for s in windows.iter().flat_map(|w| &w.shortfalls) {
        if !names.contains(&s.coordinate) {
            names.push(s.coordinate.clone());
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    let tasks: Vec<String> = tracker.tasks().iter().map(|t| t.followed.label(model)).collect();
    let missing = |w: &Window, name: &String| {
        w.shortfalls.iter().find(|s| s.coordinate == *name).map_or(0.0, |s| s.missing)
    };
    let wanted = |w: &Window, name: &String| {
        let place = tasks.iter().position(|t| t == name);
        place.and_then(|i| w.wanted.get(i).copied()).unwrap_or(f64::NAN)
    };
    let mut columns: Vec<Vec<f64>> =
        names.iter().map(|n| windows.iter().map(|w| missing(w, n)).collect()).collect();
    columns.extend(names.iter().map(|n| windows.iter().map(|w| wanted(w, n)).collect()));
    let labels = names.iter().cloned().chain(names.iter().map(|n| format!("{n}.wanted"))).collect();
    let times = windows.iter().map(|w| w.time).collect();
    let mut table = Table::new(Element::Scalar, labels, times, columns)?;
    table.name = "Missing generalized forces".to_string();
    table.in_degrees = Some(false);
    Ok(Some(table))
}
