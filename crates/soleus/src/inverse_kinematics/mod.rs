//! Inverse kinematics: joint angles from markers or inertial sensors.
//!
//! [`InverseKinematics`] uses markers, [`SensorKinematics`] the orientations of inertial sensors; [`stream`] solves
//! either frame by frame.

mod sensors;
pub mod stream;

pub use sensors::{PlaceSensors, PlacedSensors, SensorKinematics, SensorMotion};

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Reached};
use crate::error::{Error, nearest_hint};
use crate::inputs::paths::{beside, file_part, required};
use crate::inputs::table::{Take, read_markers, read_rows};
use crate::inputs::{model, setup};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::{Options, System};
use soleus_io::setup::{IkTask, InverseKinematicsSetup, ValueType};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_math::function::{Function, GcvSpline};
use soleus_math::table::{Element, TableError};
use soleus_model::joint::Coordinate;
use soleus_model::{Diagnostics, Model, angles};
use soleus_tools::inverse_kinematics::{
    Chunks, CoordinateTask, Error as Failed, MarkerTask, Misplaced, Settings, SolvedFrame, Summary, Target,
    Tasks, Trial, in_view, solve_trial_in_chunks,
};
use soleus_tools::quality::check_markers;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Joint angles from markers.
///
/// ```no_run
/// use soleus::{Context, Disk, InverseKinematics, Outcome};
/// let files = Disk::new();
/// let context = Context::new(&files);
/// let request = InverseKinematics { model: "subject.osim".into(), markers: "walk.trc".into(), ..Default::default() };
/// let motion = request.run(&context)?;
/// println!("marker RMS {:.1} mm", 1e3 * motion.trial.summary.rms);
/// let knee = motion.trial.coordinates.column("knee_angle_r");
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct InverseKinematics {
    /// A model with markers.
    pub model: ModelSource,
    /// Measured markers (.trc, .sto or .c3d).
    pub markers: Source<Table>,
    /// Weights of markers and coordinates; default: 1 for all markers.
    pub tasks: Vec<IkTask>,
    /// File with more tasks: an `IKTaskSet`, or a setup file.
    pub task_file: Option<PathBuf>,
    /// Values of the coordinates in tasks.
    pub coordinates: Option<Source<Table>>,
    /// Start time, s; default: first frame in which at least half of the markers are visible.
    pub from: Option<f64>,
    /// End time, s; default: last frame in which at least half of the markers are visible.
    pub to: Option<f64>,
    /// Number of chunks of frames that are solved in parallel; angles change in their last digits only. 0 is the same
    /// as 1.
    pub chunks: usize,
    /// Files to write.
    pub output: KinematicsOutput,
    /// File that the request was read from, for messages.
    pub asked_in: Option<PathBuf>,
}

/// Output files of inverse kinematics; files without a name are not written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KinematicsOutput {
    /// Coordinates (.mot, degrees).
    pub motion: Option<PathBuf>,
    /// Overall marker errors and the error of each marker, m.
    pub errors: Option<PathBuf>,
    /// Overall marker errors, m.
    pub marker_errors: Option<PathBuf>,
    /// Locations of the model's markers, m.
    pub marker_locations: Option<PathBuf>,
    /// Eight decimals, as in OpenSim's tools, instead of full precision.
    pub fixed_digits: bool,
    /// Whether the names come from a setup file; their folders are then created.
    pub is_derived: bool,
}

impl KinematicsOutput {
    fn digits(&self) -> Digits {
        if self.fixed_digits { Digits::Fixed8 } else { Digits::Shortest }
    }
}

/// First and last time, s.
pub(crate) fn range(path: &Path, from: Option<f64>, to: Option<f64>) -> Result<[f64; 2], Error> {
    let range = [from.unwrap_or(f64::NEG_INFINITY), to.unwrap_or(f64::INFINITY)];
    match range.iter().any(|t| t.is_nan()) || range[0] > range[1] {
        false => Ok(range),
        true => {
            let message = format!("the range {} s to {} s is empty", range[0], range[1]);
            Err(Error::content(path, 0, "", message, "give a start time and a later end time"))
        }
    }
}

/// A bound of a time range of a setup file, where infinite ones stand for none.
pub(crate) fn bound(t: f64) -> Option<f64> {
    (!t.is_infinite()).then_some(t)
}

impl InverseKinematics {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &InverseKinematicsSetup) -> Result<Self, Error> {
        let results = beside(path, &s.results_directory);
        let named = |what: &str| results.join(format!("{}_ik_{what}.sto", file_part(&s.name)));
        Ok(InverseKinematics {
            model: required(path, "model_file", s.model_file.as_deref())?.into(),
            markers: required(path, "marker_file", s.marker_file.as_deref())?.into(),
            tasks: s.tasks.clone(),
            task_file: s.task_file.as_ref().map(|f| beside(path, f)),
            coordinates: s.coordinate_file.as_ref().map(|f| beside(path, f).into()),
            from: bound(s.time_range[0]),
            to: bound(s.time_range[1]),
            chunks: 1,
            output: KinematicsOutput {
                motion: s.output_motion_file.as_ref().map(|f| beside(path, f)),
                errors: None,
                marker_errors: s.report_errors.then(|| named("marker_errors")),
                marker_locations: s.report_marker_locations.then(|| named("model_marker_locations")),
                fixed_digits: true,
                is_derived: true,
            },
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// Solves all frames.
    pub fn run(&self, cx: &Context) -> Result<MarkerMotion, Error> {
        let (model, system) = self.posable_model(cx)?;
        let tasks = self.tasks(cx, &model)?;
        let (markers, _) = read_markers(cx, &self.markers)?;
        let path = self.markers.path();
        check(cx, &model, &system, path, &markers, &tasks)?;
        let mut range = range(path, self.from, self.to)?;
        // Where no time is asked for, frames before the subject comes and after it has gone show no pose.
        if let Some([first, last]) = in_view(&model, &markers) {
            let all = [markers.times()[0], markers.times()[markers.rows() - 1]];
            let (is_late, is_early) =
                (self.from.is_none() && first > all[0], self.to.is_none() && last < all[1]);
            range = [
                if is_late { first } else { range[0] },
                if is_early { last.max(range[0]) } else { range[1] },
            ];
            if is_late || is_early {
                cx.note(format!(
                    "the subject is in view from {first:.3} s to {last:.3} s: other frames are skipped"
                ));
            }
        }
        let done = AtomicUsize::new(0);
        let names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        let watch = |total: usize, frame: &SolvedFrame| {
            cx.progress("frames", done.fetch_add(1, Ordering::Relaxed) + 1, total);
            if cx.monitor.wants_motion() {
                tell_frame(cx, &names, &model, &system, frame);
            }
        };
        let go_on = || !cx.monitor.is_cancelled();
        let share = Chunks { chunks: self.chunks.max(1), threads: cx.threads, watch: &watch, go_on: &go_on };
        let trial =
            solve_trial_in_chunks(&model, &system, &markers, &tasks, Settings::default(), range, share)
                .map_err(|e| match e {
                    Failed::Stopped => Error::Cancelled { saved: String::new() },
                    e => Error::content(path, 0, "", e.to_string(), ""),
                })?;
        tell(cx, &trial.summary, path);
        let errors = match &self.output.errors {
            None => None,
            Some(file) => Some(
                side_by_side(&trial.marker_errors, &trial.marker_distances)
                    .map_err(|e| Error::content(file, 0, "", e.to_string(), ""))?,
            ),
        };
        Ok(MarkerMotion { trial, errors, output: self.output.clone() })
    }

    /// The model without forces, which a pose does not need.
    fn posable_model(&self, cx: &Context) -> Result<(Model, System), Error> {
        let mut model = model::read(cx, &self.model)?;
        model.forces.clear();
        let system = model::compile(self.model.path(), &model, &Options::default())?;
        Ok((model, system))
    }

    /// All tasks, as the solver takes them.
    fn tasks(&self, cx: &Context, model: &Model) -> Result<Tasks, Error> {
        let mut list = self.tasks.clone();
        if let Some(file) = &self.task_file {
            list.extend(setup::tasks(cx, file)?);
        }
        let coordinates = match &self.coordinates {
            Some(source) => Some(read_rows(cx, source, Take::Markers)?),
            None => None,
        };
        let asked_in = self.asked_in.as_deref().or(self.task_file.as_deref());
        tasks_of(model, asked_in.unwrap_or(self.markers.path()), &list, coordinates.as_ref())
    }
}

/// A motion computed from markers.
#[derive(Debug)]
pub struct MarkerMotion {
    /// Coordinates, errors and a summary.
    pub trial: Trial,
    errors: Option<Table>,
    output: KinematicsOutput,
}

impl Outcome for MarkerMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let o = &self.output;
        let files = [
            (&o.motion, Some(&self.trial.coordinates)),
            (&o.errors, self.errors.as_ref()),
            (&o.marker_errors, Some(&self.trial.marker_errors)),
            (&o.marker_locations, Some(&self.trial.marker_locations)),
        ];
        let named = files.into_iter().filter_map(|(file, table)| Some((file.as_ref()?, table?)));
        named
            .map(|(file, table)| Artifact {
                is_derived: o.is_derived,
                ..Artifact::table(file, table, o.digits())
            })
            .collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        converged(&self.trial.summary.not_converged)
    }
}

/// An error if frames did not converge.
fn converged(not_converged: &[f64]) -> Result<(), Error> {
    match not_converged {
        [] => Ok(()),
        [first, ..] => {
            let n = not_converged.len();
            let message = format!("{n} frame(s) did not converge, the first at t = {first:.3} s");
            Err(Error::NotSolved { message })
        }
    }
}

/// The columns of a table, and after them those of another with the same times.
fn side_by_side(a: &Table, b: &Table) -> Result<Table, TableError> {
    let labels = a.labels().iter().chain(b.labels()).cloned().collect();
    let columns = a.columns().iter().chain(b.columns()).cloned().collect();
    let mut table = Table::new(Element::Scalar, labels, a.times().to_vec(), columns)?;
    (table.name, table.in_degrees) = (a.name.clone(), a.in_degrees);
    Ok(table)
}

/// Looks at measured markers before anything is computed from them; tells what is odd.
fn check(
    cx: &Context,
    model: &Model,
    system: &System,
    path: &Path,
    markers: &Table,
    tasks: &Tasks,
) -> Result<(), Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    check_markers(model, system, markers, &mut log);
    let strangers = markers.labels().iter().filter(|l| !model.markers.iter().any(|m| m.name == **l));
    let strangers: Vec<&str> = strangers.map(String::as_str).collect();
    if tasks.markers.is_empty() && !strangers.is_empty() && !log.has_errors() {
        let near = model
            .markers
            .iter()
            .map(|m| m.name.as_str())
            .filter(|m| !markers.labels().iter().any(|l| l == m));
        let hint = nearest_hint(&format!("unused model marker to `{}`", strangers[0]), strangers[0], near);
        log.warn(0, "", format!("markers that the model does not have: {}", strangers.join(", ")), &hint);
    }
    cx.settle(path, Some(()), log)?;
    for t in &tasks.markers {
        if markers.labels().contains(&t.name) && !model.markers.iter().any(|m| m.name == t.name) {
            let hint = nearest_hint("model marker", &t.name, model.markers.iter().map(|m| m.name.as_str()));
            let message = format!("marker `{}` is in the data and the tasks but not in the model", t.name);
            cx.warn(path, message, &hint);
        }
    }
    Ok(())
}

/// Converts the tasks of a file to tasks of the solver.
pub fn tasks_of(
    model: &Model,
    path: &Path,
    list: &[IkTask],
    coordinates: Option<&Table>,
) -> Result<Tasks, Error> {
    let mut tasks = Tasks::default();
    for t in list {
        match t {
            IkTask::Marker(m) if m.apply => {
                tasks.markers.push(MarkerTask { name: m.name.clone(), weight: m.weight });
            }
            IkTask::Coordinate(c) if c.apply => {
                let target = match c.value_type {
                    ValueType::Default => Target::Default,
                    ValueType::Manual => Target::Value(c.value),
                    ValueType::FromFile => {
                        let spline = coordinates.and_then(|t| recorded(model, t, &c.name));
                        let message = || format!("no values for the coordinate task `{}`", c.name);
                        let hint = "give a coordinate_file with a column of that name";
                        let spline = spline.ok_or_else(|| Error::content(path, 0, "", message(), hint))?;
                        Target::Of(Box::new(spline))
                    }
                };
                tasks.coordinates.push(CoordinateTask { name: c.name.clone(), weight: c.weight, target });
            }
            _ => {}
        }
    }
    Ok(tasks)
}

/// A column of the coordinate file as a spline of degree 5, in radians or meters.
fn recorded(model: &Model, table: &Table, name: &str) -> Option<Function> {
    let id = model.coordinate(name)?;
    let unit = angles::unit_of(table, &model.coordinates[id.0]);
    let y: Vec<f64> = table.column(name)?.iter().map(|y| unit * y).collect();
    GcvSpline::interpolate(5, table.times().to_vec(), &y).ok().map(Function::from)
}

/// Markers that are missing in some frames, those with the longest gaps first.
fn gaps(s: &Summary) -> String {
    let mut list: Vec<&(String, usize)> = s.gaps.iter().collect();
    list.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let named: Vec<String> = list.iter().take(6).map(|(name, n)| format!("{name} in {n}")).collect();
    let more = list.len() - named.len();
    let more = if more > 0 { format!(", and {more} more markers") } else { String::new() };
    format!("markers are missing in some of {} frames: {}{more}", s.frames, named.join(", "))
}

/// Names markers that were out of place in some frames.
fn warn_of_misplaced(list: &[Misplaced], log: &mut Diagnostics) {
    const MOST: usize = 10;
    for m in list.iter().take(MOST) {
        log.warn(0, "", m.to_string(), m.remedy());
    }
    if list.len() > MOST {
        log.warn(0, "", format!("{} more markers are out of place in some frames", list.len() - MOST), "");
    }
}

/// Tells of a frame: its pose, and how far its markers are.
fn tell_frame(cx: &Context, names: &[String], model: &Model, system: &System, frame: &SolvedFrame) {
    let of = |(c, &m): (&Coordinate, &usize)| frame.q.get(m).copied().unwrap_or(c.default_value);
    let row: Vec<f64> = model.coordinates.iter().zip(&system.tree.mobility_of_coordinate).map(of).collect();
    let seen = || frame.markers.iter().zip(frame.distances).filter(|(_, d)| d.is_finite());
    let count = seen().count().max(1) as f64;
    let rms = (seen().map(|(_, d)| d * d).sum::<f64>() / count).sqrt();
    let worst = seen().max_by(|a, b| a.1.total_cmp(b.1)).map(|(name, d)| (rms, *d, name.as_str()));
    cx.monitor.motion(&Reached { names, times: &[frame.time], rows: &[row], marker_error: worst });
}

/// Tells how well the markers were met.
fn tell(cx: &Context, s: &Summary, markers: &Path) {
    let mm = |x: f64| 1e3 * x;
    cx.note(format!("{} frames, {} steps; marker RMS {:.2} mm", s.frames, s.iterations, mm(s.rms)));
    if let Some(w) = &s.worst_marker {
        cx.note(format!("worst marker: {} (RMS {:.2} mm)", w.name, mm(w.rms)));
    }
    if let Some((t, rms)) = s.worst_frame {
        cx.note(format!("worst frame: t = {t:.3} s (RMS {:.2} mm)", mm(rms)));
    }
    if let Some((name, t, e)) = &s.worst {
        cx.note(format!("largest distance: {:.2} mm, {name} at t = {t:.3} s", mm(*e)));
    }
    let mut log = Diagnostics::new(markers.display().to_string());
    for name in &s.absent {
        log.warn(0, "", format!("marker `{name}` in the tasks is not in the data"), "");
    }
    warn_of_misplaced(&s.misplaced, &mut log);
    if !s.gaps.is_empty() {
        log.warn(0, "", gaps(s), "missing markers are ignored frame by frame");
    }
    // Half a meter apart on average is not a measurement error.
    if s.rms > 0.5 {
        let hint = "check the units and axes of the data, and that the model was scaled to this subject";
        log.warn(0, "", format!("markers are {:.2} m off on average", s.rms), hint);
    }
    cx.report(&log);
}
