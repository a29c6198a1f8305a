//! Tasks, control limits and motion of a request.

use super::Tracking;
use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::model::{Change, force_without};
use crate::inputs::setup;
use crate::inputs::table::{GAP_HINT, Take, read_in_order, read_numbers_of_motion};
use soleus_dynamics::System;
use soleus_io::setup::{ControlLimits, TrackedPoint, TrackingTask, read_control_limits, read_tracking_tasks};
use soleus_math::signal::{lowpass_fir, padded};
use soleus_math::table::Element;
use soleus_math::{Table, vec3};
use soleus_model::force::{ControlRange, ForceKind};
use soleus_model::{Diagnostics, Force, Model};
use soleus_simulation::system::ControlNodes;
use soleus_tools::analysis::{HistoryError, MotionSettings, StateHistory};
use soleus_tools::quality::{check_cutoff, check_points, check_units};
use soleus_tools::tracking::{CENTER_OF_MASS, Driven, Followed, FollowedPoint, Limit, Reference, Task};
use std::sync::Arc;

/// OpenSim pads the motion by so many rows at each end before it filters.
const PADDING: usize = 60;
/// Order of OpenSim's filter.
const ORDER: usize = 50;
/// Minimum excitation of muscles in setup files: the value of OpenSim, below which it cannot compute controls according
/// to its documentation.
pub const LEAST_OF_OPENSIM: f64 = 0.02;

/// The tasks of a request, and their lines in the task file.
pub fn tasks(
    cx: &Context,
    request: &Tracking,
    (model, system): (&Model, &System),
    history: &StateHistory,
) -> Result<(Vec<Task>, Vec<u32>), Error> {
    let (list, path) = match &request.task_file {
        Some(path) => {
            let (tasks, log) = read_tracking_tasks(&cx.read(path)?, &path.display().to_string());
            (cx.settle(path, tasks, log)?, path.as_path())
        }
        None => (request.tasks.clone(), request.path()),
    };
    if list.is_empty() {
        let all: Vec<Task> = (0..model.coordinates.len()).map(Task::new).collect();
        let lines = vec![0; all.len()];
        return Ok((all, lines));
    }
    let (mut tasks, mut lines) = (Vec::with_capacity(list.len()), Vec::with_capacity(list.len()));
    let mut points = Points { request, both: (model, system), history, measured: None };
    for t in list.iter().filter(|t| t.on) {
        check(path, t)?;
        lines.push(t.line);
        if let Some(point) = &t.point {
            let followed = Followed::Point(points.find(cx, path, t, point)?);
            tasks.push(Task { followed, weight: t.weight, kp: t.kp, kv: t.kv, ka: t.ka });
            continue;
        }
        let Some(coordinate) = model.coordinate(&t.coordinate) else {
            let near =
                nearest_hint("coordinate", &t.coordinate, model.coordinates.iter().map(|c| c.name.as_str()));
            let hint = match near.is_empty() {
                true => "name a coordinate of the model, or remove the task from the set".to_string(),
                false => near,
            };
            let message =
                format!("the task set has `{}`, which is not a coordinate of the model", t.coordinate);
            return Err(Error::content(path, t.line, "", message, &hint));
        };
        let followed = Followed::Coordinate(coordinate.0);
        tasks.push(Task { followed, weight: t.weight, kp: t.kp, kv: t.kv, ka: t.ka });
    }
    Ok((tasks, lines))
}

/// Where points to follow come from.
struct Points<'a> {
    request: &'a Tracking,
    both: (&'a Model, &'a System),
    history: &'a StateHistory,
    /// Their places over time, where a file has them, in m; padded and filtered as the motion is.
    measured: Option<Table>,
}

impl Points<'_> {
    /// The point of a task: along its columns of the file of points, or where it is in the motion if there is no file.
    fn find(
        &mut self,
        cx: &Context,
        path: &std::path::Path,
        t: &TrackingTask,
        point: &TrackedPoint,
    ) -> Result<Arc<FollowedPoint>, Error> {
        let (model, system) = self.both;
        let wrong = |message: String, hint: &str| Error::content(path, t.line, "", message, hint);
        let [location, direction] = [point.location, point.direction].map(|[x, y, z]| vec3(x, y, z));
        if !((direction.norm() - 1.0).abs() < 1e-6) {
            return Err(wrong(format!("the direction of point `{}` is not a unit vector", t.coordinate), ""));
        }
        let Some(made) = FollowedPoint::new(self.both, &t.coordinate, &point.body, [location, direction])
        else {
            let names = model.bodies.iter().map(|b| b.name.as_str()).chain([CENTER_OF_MASS]);
            let hint = nearest_hint("body", &point.body, names);
            let message = format!("point `{}` is on `{}`, which is not a body", t.coordinate, point.body);
            return Err(wrong(message, &hint));
        };
        let made = match &point.frame {
            None => made,
            Some(frame) => made.seen_from(self.both, frame).ok_or_else(|| {
                let hint = nearest_hint("body", frame, model.bodies.iter().map(|b| b.name.as_str()));
                let message =
                    format!("point `{}` is expressed in `{frame}`, which is not a body", t.coordinate);
                wrong(message, &hint)
            })?,
        };
        let made = match &self.request.points {
            None => {
                let reference = Reference::new(system, self.history).map_err(|e| wrong(e.to_string(), ""))?;
                made.along_motion(system, &reference, self.history.times())
            }
            Some(file) => {
                if self.measured.is_none() {
                    self.measured = Some(self.read(cx, file)?);
                }
                let table = self.measured.as_ref().unwrap_or_else(|| unreachable!());
                let Some(places) = triple(table, &t.coordinate) else {
                    let hint = "columns must be NAME_x, NAME_y, NAME_z, or one vector column NAME";
                    let message = format!("no trajectory of point `{}`", t.coordinate);
                    return Err(Error::content(file, 0, "", message, hint));
                };
                made.along(table.times(), places)
            }
        };
        made.map(Arc::new).map_err(|e| wrong(e.to_string(), ""))
    }

    fn read(&self, cx: &Context, file: &std::path::Path) -> Result<Table, Error> {
        let mut table = read_in_order(cx, &file.into(), Take::Markers)?;
        let wrong = |message: String| Error::content(file, 0, "", message, GAP_HINT);
        if table.columns().iter().flatten().any(|x| !x.is_finite()) {
            return Err(wrong("the trajectories of points have gaps".to_string()));
        }
        if table.metadata_value("Units").is_some() {
            table = table.in_meters().ok_or_else(|| wrong("the unit of length is not known".to_string()))?;
        }
        let signal = |e: soleus_math::signal::SignalError| wrong(e.to_string());
        let long = padded(&table, PADDING.min(table.rows().saturating_sub(1))).map_err(signal)?;
        match self.request.cutoff_hz {
            Some(hz) => lowpass_fir(&long, ORDER, hz).map_err(signal),
            None => Ok(long),
        }
    }
}

/// The three columns of a point.
fn triple<'t>(table: &'t Table, name: &str) -> Option<[&'t [f64]; 3]> {
    let columns = table.columns();
    let take = |at: [usize; 3]| at.map(|i| columns[i].as_slice());
    if table.element() == Element::Vec(3) {
        return table.labels().iter().position(|l| l == name).map(|i| take([3 * i, 3 * i + 1, 3 * i + 2]));
    }
    let find = |label: &str| table.labels().iter().position(|l| l == label);
    if let Some(first) = find(name) {
        let same = |i: usize| table.labels().get(i).is_some_and(|l| l == name);
        return (same(first + 1) && same(first + 2)).then(|| take([first, first + 1, first + 2]));
    }
    let [x, y, z] = ["x", "y", "z"].map(|axis| find(&format!("{name}_{axis}")));
    Some(take([x?, y?, z?]))
}

fn check(path: &std::path::Path, t: &TrackingTask) -> Result<(), Error> {
    let wrong = |what: &str, x: f64| {
        let message = format!("the {what} of the task for `{}` is {x}", t.coordinate);
        Err(Error::content(path, t.line, "", message, "give 0 or a positive number"))
    };
    for (what, x) in [("weight", t.weight), ("kp", t.kp), ("kv", t.kv)] {
        if !(x >= 0.0 && x.is_finite()) {
            return wrong(what, x);
        }
    }
    Ok(())
}

/// The controlled actuators with their limits; `least` is the minimum excitation of a muscle. Foot springs are
/// controlled separately.
pub fn driven(
    cx: &Context,
    request: &Tracking,
    model: &Model,
    least: f64,
    springs: &[&String],
) -> Result<Vec<Driven>, Error> {
    let limits = match &request.limits {
        Some(path) => {
            let (limits, log) = read_control_limits(&cx.read(path)?, &path.display().to_string());
            cx.settle(path, limits, log)?
        }
        None => Vec::new(),
    };
    let mut log = Diagnostics::new(request.path().display().to_string());
    for name in &request.exclude {
        let is_group = model.groups.iter().any(|g| g.set == "ForceSet" && g.name == *name);
        if !is_group && !model.forces.iter().any(|f| f.is_actuator() && f.name == *name) {
            let names = model.forces.iter().filter(|f| f.is_actuator()).map(|f| f.name.as_str());
            let hint = nearest_hint("actuator", name, names);
            log.warn(0, "", format!("no actuator or group is called `{name}`"), &hint);
        }
    }
    cx.report(&log);
    let mut list = Vec::new();
    for (i, f) in model.forces.iter().enumerate() {
        let in_group = |n: &String| {
            let groups = model.groups.iter().filter(|g| g.set == "ForceSet" && g.name == *n);
            groups.into_iter().any(|g| g.members.contains(&f.name))
        };
        let is_excluded =
            springs.contains(&&f.name) || request.exclude.iter().any(|n| *n == f.name || in_group(n));
        let Some(range) = f.control_range().filter(|_| f.enabled && f.is_actuator() && !is_excluded) else {
            continue;
        };
        let is_muscle = matches!(f.kind, ForceKind::Muscle(_));
        let given = limits.iter().find(|l| l.name == f.name);
        list.push(match given {
            Some(l) => from_limits(request, i, l)?,
            None => from_range(i, range, is_muscle, least),
        });
    }
    check_optimal_forces(cx, request, model, &list)?;
    Ok(list)
}

/// Refuses actuators without `optimal_force`. OpenSim takes 1 N or N m for it without a word: the actuator is then so weak or so dear
/// that another one does its work, or none.
fn check_optimal_forces(
    cx: &Context,
    request: &Tracking,
    model: &Model,
    list: &[Driven],
) -> Result<(), Error> {
    let forces = list.iter().map(|d| &model.forces[d.force]);
    let of_default: Vec<&Force> = forces.filter(|f| f.optimal_force() == Some(1.0)).collect();
    if of_default.is_empty() {
        return Ok(());
    }
    let change = Change {
        replace_forces: request.replaces_forces(),
        force_sets: &request.force_sets,
        ..Change::default()
    };
    match force_without(cx, &request.model, &change, &of_default, "optimal_force") {
        None => Ok(()),
        Some((force, file, line)) => {
            let message = format!("actuator `{}` has no optimal force", force.name);
            let hint = "give it an <optimal_force>, in N or N m: the force at a control of 1";
            Err(Error::content(&file, line, &force.path, message, hint))
        }
    }
}

fn from_range(force: usize, range: ControlRange, is_muscle: bool, least: f64) -> Driven {
    let (min, max) = match is_muscle {
        true => (range.min.max(least), 1.0),
        false => (range.min, range.max),
    };
    Driven { force, min: Limit::Constant(min), max: Limit::Constant(max), use_steps: is_muscle }
}

fn from_limits(request: &Tracking, force: usize, l: &ControlLimits) -> Result<Driven, Error> {
    let limit = |nodes: &[[f64; 2]], constant: f64| {
        if nodes.is_empty() {
            return Some(Limit::Constant(constant));
        }
        let (times, values) = nodes.iter().map(|n| (n[0], n[1])).unzip();
        ControlNodes::new(times, values, l.use_steps, l.extrapolate).map(Limit::Nodes)
    };
    match (limit(&l.min_nodes, l.min), limit(&l.max_nodes, l.max)) {
        (Some(min), Some(max)) => Ok(Driven { force, min, max, use_steps: l.use_steps }),
        _ => {
            let file = request.limits.as_deref().unwrap_or(request.path());
            let message = format!("limits of `{}` have nodes whose times do not increase", l.name);
            Err(Error::content(file, l.line, "", message, ""))
        }
    }
}

/// The motion, filtered as in OpenSim, with its start and end time, s.
pub fn motion(
    cx: &Context,
    request: &Tracking,
    (model, system): (&Model, &System),
) -> Result<(StateHistory, [f64; 2]), Error> {
    let file = request.motion.path();
    let table = read_numbers_of_motion(cx, &request.motion)?;
    let wrong = |message: String, hint: &str| Error::content(file, 0, "", message, hint);
    let (Some(&first), Some(&last)) = (table.times().first(), table.times().last()) else {
        return Err(wrong("the motion has no rows".to_string(), ""));
    };
    let mut log = Diagnostics::new(file.display().to_string());
    check_units(model, &table, &mut log);
    check_points(model, system, &table, &model.forces, &mut log);
    if let Some(hz) = request.cutoff_hz {
        check_cutoff(table.times(), hz, &mut log);
    }
    let signal = |e: soleus_math::signal::SignalError| wrong(e.to_string(), "");
    let mut long = padded(&table, PADDING.min(table.rows().saturating_sub(1))).map_err(signal)?;
    if let Some(hz) = request.cutoff_hz {
        long = lowpass_fir(&long, ORDER, hz).map_err(signal)?;
    }
    let settings =
        MotionSettings { cutoff_hz: None, opensim_faults: request.opensim_faults, root_angles: true };
    let history = StateHistory::from_coordinates(model, system, &long, None, &settings).map_err(|e| {
        let hint = match &e {
            HistoryError::Nothing => "columns must be named after coordinates, such as knee_angle",
            HistoryError::Missing { .. } => GAP_HINT,
            _ => "",
        };
        wrong(e.to_string(), hint)
    })?;
    if let Some(label) = history.at_default.first() {
        let n = history.at_default.len();
        log.warn(
            0,
            "",
            format!("{n} coordinates have no column (`{label}`, …): their default values are used"),
            "",
        );
    }
    cx.report(&log);
    Ok((history, [first, last]))
}

/// Time range to track: as requested, within the motion.
pub fn range(
    cx: &Context,
    request: &Tracking,
    [first, last]: [f64; 2],
    window: f64,
) -> Result<[f64; 2], Error> {
    let path = request.path();
    let [from, to] = crate::inverse_kinematics::range(path, request.from, request.to)?;
    let range = [from.max(first), to.min(last)];
    // Rounding of the times in a file is no reason for words.
    let cut = |asked: f64, found: f64| asked.is_finite() && (asked - found).abs() > 1e-6;
    if cut(from, range[0]) || cut(to, range[1]) {
        let message = format!(
            "the motion spans {first} s to {last} s: it is tracked from {} s to {} s",
            range[0], range[1]
        );
        cx.warn(request.motion.path(), message, "");
    }
    if !(range[1] - range[0] > window) {
        let message = format!(
            "the motion has {:.4} s between {} s and {} s, which does not exceed one window of {window} s",
            range[1] - range[0],
            range[0],
            range[1]
        );
        // Of a setup file the range is too short, unless the motion is.
        let (file, line, hint) = match &request.asked_in {
            Some(file) if last - first > window => {
                let hint = "set final_time later, or initial_time earlier";
                (file.as_path(), setup::line_of(cx, file, "final_time"), hint)
            }
            _ => (request.motion.path(), 0, "give a longer motion, or a shorter window"),
        };
        return Err(Error::content(file, line, "", message, hint));
    }
    Ok(range)
}
