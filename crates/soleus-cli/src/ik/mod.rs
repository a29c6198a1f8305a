//! `soleus ik`, and the inverse kinematics of `soleus run`.

mod stream;

use crate::failure::{Failure, nearest_hint};
use crate::progress::Progress;
use crate::tables::{self, Take};
use crate::{imu, load, setup};
use clap::Args;
use soleus_dynamics::{Options, System};
use soleus_io::setup::{IkTask, InverseKinematicsSetup, ValueType};
use soleus_io::table::sto::{self, Digits};
use soleus_math::Table;
use soleus_math::function::{Function, GcvSpline};
use soleus_math::table::{Element, TableError, meters_per};
use soleus_model::joint::MotionType;
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_kinematics::{
    Chunks, CoordinateTask, MarkerTask, Misplaced, Settings, Summary, Target, Tasks, Trial,
    solve_trial_in_chunks,
};
use soleus_tools::quality::check_markers;
use std::path::{Path, PathBuf};

/// Arguments of `soleus ik`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    soleus ik --model subject01.osim --markers walk.trc --out walk.mot\n  \
    soleus ik --model calibrated.osim --orientations walk_imus.sto --sensor-to-ground-deg=-90,0,0 --out walk.mot\n  \
    cameras | soleus ik --model subject01.osim --stream | robot\n  \
    sensors | soleus ik --model calibrated.osim --orientations - --stream | robot\n\n\
    With --stream, lines of text come on stdin: first the labels, `time` and three for each marker (KNEE_1, KNEE_2,\n\
    KNEE_3), then one line for each frame, in s and m, with commas between; the lines on stdout are the time and the\n\
    coordinates, in degrees and m. Sensors have four labels each (PELVIS_IMU_1 to _4), a quaternion, real part first.\n\
    The time that frames took is told at the end.")]
pub struct Arguments {
    /// Model file (.osim, any version) with markers
    #[arg(long)]
    model: PathBuf,
    /// Marker file (.trc, .sto or .c3d)
    #[arg(long, required_unless_present_any = ["orientations", "stream"])]
    markers: Option<PathBuf>,
    /// Orientations of inertial sensors in place of markers (`-` with --stream: from stdin; .sto with quaternions, one column per frame of the model)
    #[arg(long, value_name = "IMUS.sto", conflicts_with_all = ["markers", "tasks"])]
    orientations: Option<PathBuf>,
    /// Turns the sensors' world to ground: angles about the fixed axes x, y, z, in degrees
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_three, allow_hyphen_values = true, requires = "orientations")]
    sensor_to_ground_deg: Option<[f64; 3]>,
    /// Weights: an XML file with an IKTaskSet, or a setup file of the InverseKinematicsTool; all markers weigh 1 without it
    #[arg(long, value_name = "TASKS.xml")]
    tasks: Option<PathBuf>,
    /// First time, s
    #[arg(long, default_value_t = f64::NEG_INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    from: f64,
    /// Last time, s
    #[arg(long, default_value_t = f64::INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    to: f64,
    /// Splits the frames into chunks that are solved at the same time; angles change in their last digits only
    #[arg(long, default_value_t = 1)]
    chunks: usize,
    /// Threads for the chunks; results are the same whatever their number [default: one per core]
    #[arg(long)]
    threads: Option<usize>,
    /// Motion file to write (.mot, degrees)
    #[arg(long, value_name = "OUT.mot", required_unless_present = "stream")]
    out: Option<PathBuf>,
    /// File for the distances of the markers (m), or angles of the sensors (rad), frame by frame (.sto)
    #[arg(long, value_name = "ERRORS.sto")]
    errors: Option<PathBuf>,
    /// One frame in, one pose out: from stdin, or from the file of markers or orientations, to stdout
    #[arg(long, conflicts_with_all = ["from", "to", "chunks", "threads", "out", "errors"])]
    stream: bool,
}

/// Three numbers with commas between.
fn parse_three(text: &str) -> Result<[f64; 3], String> {
    let list: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse::<f64>()).collect();
    let list = list.map_err(|e| e.to_string())?;
    <[f64; 3]>::try_from(list).map_err(|l| format!("three angles, not {}", l.len()))
}

/// Runs `soleus ik`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &a.orientations {
        return run_orientations(a, file);
    }
    let model = load::model(&a.model)?;
    let tasks = match &a.tasks {
        None => Tasks::default(),
        Some(path) => tasks_of(&model, path, &setup::tasks(path)?, None)?,
    };
    let (Some(markers), Some(out)) = (&a.markers, &a.out) else {
        return stream::run(model, &a.model, a.markers.as_deref(), &tasks);
    };
    let threads = a.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let share = Chunks { chunks: a.chunks, threads, ..Chunks::default() };
    let trial = solve(model, &a.model, markers, &tasks, [a.from, a.to], share)?;
    load::write_whole(out, &sto::write(&trial.coordinates, Digits::Shortest))?;
    if let Some(path) = &a.errors {
        let all = beside(&trial.marker_errors, &trial.marker_distances);
        let all = all.map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
        load::write_whole(path, &sto::write(&all, Digits::Shortest))?;
    }
    close(&trial.summary, markers)
}

/// The columns of a table, and after them those of another with the same times.
fn beside(a: &Table, b: &Table) -> Result<Table, TableError> {
    let labels = a.labels().iter().chain(b.labels()).cloned().collect();
    let columns = a.columns().iter().chain(b.columns()).cloned().collect();
    let mut table = Table::new(Element::Scalar, labels, a.times().to_vec(), columns)?;
    (table.name, table.in_degrees) = (a.name.clone(), a.in_degrees);
    Ok(table)
}

fn run_orientations(a: &Arguments, file: &Path) -> Result<(), Failure> {
    let turn = a.sensor_to_ground_deg.unwrap_or_default().map(f64::to_radians);
    let Some(out) = &a.out else { return stream::run_sensors(&a.model, file, turn) };
    let trial = imu::solve(&a.model, file, turn, &[], [a.from, a.to])?;
    load::write_whole(out, &sto::write(&trial.coordinates, Digits::Shortest))?;
    if let Some(path) = &a.errors {
        load::write_whole(path, &sto::write(&trial.errors, Digits::Shortest))?;
    }
    imu::close(&trial.summary, file)
}

/// Runs the tool of a setup file.
pub fn run_setup(path: &Path, s: &InverseKinematicsSetup, warnings: load::Warnings) -> Result<(), Failure> {
    let model_path = setup::required(path, "model_file", s.model_file.as_deref())?;
    let markers = setup::required(path, "marker_file", s.marker_file.as_deref())?;
    let model = load::model_with(&model_path, warnings)?;
    let mut list = s.tasks.clone();
    if let Some(file) = &s.task_file {
        list.extend(setup::tasks(&setup::beside(path, file))?);
    }
    let coordinates = match &s.coordinate_file {
        Some(file) => Some(tables::read_rows(&setup::beside(path, file), Take::Markers)?),
        None => None,
    };
    let tasks = tasks_of(&model, path, &list, coordinates.as_ref())?;
    let trial = solve(model, &model_path, &markers, &tasks, s.time_range, Chunks::default())?;

    let results = setup::beside(path, &s.results_directory);
    let motion = s.output_motion_file.as_ref().map(|f| setup::beside(path, f));
    for folder in [motion.as_deref().and_then(Path::parent), Some(results.as_path())].into_iter().flatten() {
        setup::make_folder(folder)?;
    }
    if let Some(motion) = &motion {
        load::write_and_tell(motion, &sto::write(&trial.coordinates, Digits::Fixed8))?;
    }
    if s.report_errors {
        let file = results.join(format!("{}_ik_marker_errors.sto", s.name));
        load::write_and_tell(&file, &sto::write(&trial.marker_errors, Digits::Fixed8))?;
    }
    if s.report_marker_locations {
        let file = results.join(format!("{}_ik_model_marker_locations.sto", s.name));
        load::write_and_tell(&file, &sto::write(&trial.marker_locations, Digits::Fixed8))?;
    }
    close(&trial.summary, &markers)
}

fn solve(
    mut model: Model,
    model_path: &Path,
    markers_path: &Path,
    tasks: &Tasks,
    range: [f64; 2],
    share: Chunks<'_>,
) -> Result<Trial, Failure> {
    // A pose needs no forces.
    model.forces.clear();
    let system = load::compile(model_path, &model, &Options::default())?;
    let markers = marker_table(markers_path)?;
    check(&model, &system, markers_path, &markers, tasks)?;
    let progress = Progress::new("frames");
    let share = Chunks { watch: &|total| progress.step(total), ..share };
    solve_trial_in_chunks(&model, &system, &markers, tasks, Settings::default(), range, share)
        .map_err(|e| Failure::content(markers_path, 0, "", e.to_string(), ""))
}

/// Looks at measured markers before anything is computed from them; tells what is odd.
fn check(model: &Model, system: &System, path: &Path, markers: &Table, tasks: &Tasks) -> Result<(), Failure> {
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
    load::report(&log);
    if log.has_errors() {
        return Err(load::errors(path, &log));
    }
    for t in &tasks.markers {
        if markers.labels().contains(&t.name) && !model.markers.iter().any(|m| m.name == t.name) {
            let near = model.markers.iter().map(|m| m.name.as_str());
            let hint = nearest_hint("model marker", &t.name, near);
            let mut log = Diagnostics::new(path.display().to_string());
            let message = format!("marker `{}` is in the data and the tasks, but not in the model", t.name);
            log.warn(0, "", message, &hint);
            load::report(&log);
        }
    }
    Ok(())
}

/// Markers in meters.
pub fn marker_table(path: &Path) -> Result<Table, Failure> {
    Ok(markers_and_unit(path)?.0)
}

/// Markers in meters, and how many meters the unit of the file is.
pub fn markers_and_unit(path: &Path) -> Result<(Table, f64), Failure> {
    let mut table = tables::read_in_order(path, Take::Markers)?;
    let wrong = |e: String| Failure::content(path, 0, "", e, "");
    if table.element() == Element::Scalar {
        table = table.packed().map_err(|e| wrong(format!("the file holds no markers: {e}")))?;
    }
    match table.metadata_value("Units").map(str::to_string) {
        None => Ok((table, 1.0)),
        Some(unit) => {
            let table = table.in_meters().ok_or_else(|| wrong(format!("`{unit}` is no unit of length")))?;
            Ok((table, meters_per(&unit).unwrap_or(1.0)))
        }
    }
}

/// Tasks of a file as the solver takes them.
pub fn tasks_of(
    model: &Model,
    path: &Path,
    list: &[IkTask],
    coordinates: Option<&Table>,
) -> Result<Tasks, Failure> {
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
                        let hint = "name a coordinate_file that has a column of that name";
                        let spline = spline.ok_or_else(|| Failure::content(path, 0, "", message(), hint))?;
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
    let mut y = table.column(name)?.to_vec();
    if table.in_degrees == Some(true) && model.coordinates[id.0].motion_type == MotionType::Rotational {
        y.iter_mut().for_each(|y| *y = y.to_radians());
    }
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

/// The closing lines; a failure when frames did not converge.
fn close(s: &Summary, markers: &Path) -> Result<(), Failure> {
    let mm = |x: f64| 1e3 * x;
    eprintln!("{} frames, {} steps; marker RMS {:.2} mm", s.frames, s.iterations, mm(s.rms));
    if let Some(w) = &s.worst_marker {
        eprintln!("worst marker: {} (RMS {:.2} mm)", w.name, mm(w.rms));
    }
    if let Some((t, rms)) = s.worst_frame {
        eprintln!("worst frame: t = {t} s (RMS {:.2} mm)", mm(rms));
    }
    if let Some((name, t, e)) = &s.worst {
        eprintln!("largest distance: {:.2} mm, {name} at t = {t} s", mm(*e));
    }
    let mut log = Diagnostics::new(markers.display().to_string());
    for name in &s.absent {
        log.warn(0, "", format!("marker `{name}` of the tasks is not in the data"), "");
    }
    warn_of_misplaced(&s.misplaced, &mut log);
    if !s.gaps.is_empty() {
        log.warn(0, "", gaps(s), "a marker does not count in frames in which it is missing");
    }
    // Half a meter apart on average is no measurement error.
    if s.rms > 0.5 {
        let hint = "check the units and axes of the data, and that the model was scaled to this subject";
        log.warn(0, "", format!("markers are {:.2} m off on average", s.rms), hint);
    }
    load::report(&log);
    match s.not_converged.as_slice() {
        [] => Ok(()),
        [first, ..] => {
            let message =
                format!("{} frame(s) did not converge, the first at t = {first} s", s.not_converged.len());
            Err(Failure::NotSolved { message })
        }
    }
}
