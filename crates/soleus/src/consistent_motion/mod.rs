//! Dynamically consistent motion: adjusts motion, measured loads and masses so that they agree.

pub(crate) mod files;

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Progress};
use crate::error::Error;
use crate::inputs::paths::stem_of;
use crate::inputs::table::{GAP_HINT, Take, read_in_order, read_markers};
use crate::inputs::{loads, model, setup};
use crate::inverse_dynamics::require_span;
use crate::inverse_kinematics::{InverseKinematics, range};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_io::osim::write_document;
use soleus_io::setup::IkTask;
use soleus_io::table::sto::Digits;
use soleus_math::table::{Element, Table};
use soleus_math::{Vec3, vec3};
use soleus_model::force::Force;
use soleus_model::{Diagnostics, Document, Model};
use soleus_tools::consistent_motion::{
    Consistent, Error as Failed, Fit, Measured, Settings, Target, reconcile,
};
use soleus_tools::inverse_dynamics::{self, inverse_dynamics};
use soleus_tools::inverse_kinematics::Trial;
use soleus_tools::quality::{Residuals, check_units, residuals};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A motion that satisfies the equations of motion under measured loads.
///
/// ```no_run
/// use soleus::{Context, Disk, Reconcile};
/// let files = Disk::new();
/// let request = Reconcile {
///     model: "subject.osim".into(),
///     markers: Some("walk.trc".into()),
///     loads: Some("walk_grf.xml".into()),
///     ..Default::default()
/// };
/// let found = request.run(&Context::new(&files))?;
/// println!("{}", found.report());
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Reconcile {
    /// The model; it needs markers if markers are tracked.
    pub model: ModelSource,
    /// Measured markers (.trc, .c3d); inverse kinematics provides the initial motion.
    pub markers: Option<Source<Table>>,
    /// Marker weights: a file with an `IKTaskSet`, or a setup file of inverse kinematics.
    pub task_file: Option<PathBuf>,
    /// Initial motion (.mot, .sto); it is tracked if there are no markers.
    pub motion: Option<Source<Table>>,
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d).
    pub loads: Option<PathBuf>,
    /// Model forces to exclude: names, groups, or `all`, `actuators`, `muscles`.
    pub exclude: Vec<String>,
    /// Frequency above which markers alone do not affect the motion, Hz; 0 for no limit.
    pub cutoff_hz: f64,
    /// Standard deviation of the markers, m.
    pub marker_sd: f64,
    /// Standard deviation of the residuals, N and N m; `None`: no residuals.
    pub residual_sd: Option<f64>,
    /// Standard deviations of the residuals for the trade-off curve, N and N m.
    pub curve: Vec<f64>,
    /// Standard deviation of the marker locations on their bodies, m; 0 keeps them fixed.
    pub marker_offset_sd: f64,
    /// Standard deviation of the masses, as a fraction of each mass; total mass is constant; 0 keeps them fixed.
    pub mass_sd: f64,
    /// Standard deviation of the mass centres, m; 0 keeps them fixed.
    pub mass_center_sd: f64,
    /// Standard deviation of an offset of the points where loads act, and of a free moment in proportion to the load, m;
    /// 0 for neither.
    pub load_offset_sd: f64,
    /// Standard deviation of the gain of each load, as a fraction, and of the tilt of its axes, rad; 0 for none.
    pub load_gain_sd: f64,
    /// Standard deviation of a delay of the loads, s; 0 for no delay.
    pub load_delay_sd: f64,
    /// Start time, s; default: start of the data.
    pub from: Option<f64>,
    /// End time, s; default: end of the data.
    pub to: Option<f64>,
    /// Output file for the motion.
    pub output: Option<PathBuf>,
    /// Output file for the model with new masses, mass centres and markers.
    pub model_output: Option<PathBuf>,
    /// Output file for the loads with new points and times (XML); the data are written next to it as `<name>_data.mot`.
    pub loads_output: Option<PathBuf>,
    /// Output file for the trade-off curve (.csv).
    pub curve_output: Option<PathBuf>,
}

impl Default for Reconcile {
    fn default() -> Self {
        let s = Settings::default();
        Reconcile {
            model: ModelSource::default(),
            markers: None,
            task_file: None,
            motion: None,
            loads: None,
            exclude: s.excluded,
            cutoff_hz: s.cutoff_hz.unwrap_or(0.0),
            marker_sd: s.marker_sd,
            residual_sd: None,
            curve: Vec::new(),
            marker_offset_sd: s.marker_offset_sd,
            mass_sd: s.mass_sd,
            mass_center_sd: s.mass_center_sd,
            load_offset_sd: s.load_offset_sd,
            load_gain_sd: s.load_gain_sd,
            load_delay_sd: s.load_delay_sd,
            from: None,
            to: None,
            output: None,
            model_output: None,
            loads_output: None,
            curve_output: None,
        }
    }
}

impl Reconcile {
    /// Computes the motion.
    pub fn run(&self, cx: &Context) -> Result<ReconciledMotion, Error> {
        let model = model::read(cx, &self.model)?;
        let Some(loads_file) = self.loads.as_deref() else {
            let hint = "give measured loads: a table of force plates or an ExternalLoads file (--loads)";
            let message = "no measured loads are given";
            return Err(Error::content(self.data_path(), 0, "", message, hint));
        };
        let Data { start, measured, held, kinematics } = self.data(cx, &model)?;
        let motion = Source::from(start.clone());
        let forces = loads::read(cx, &model, Some(loads_file), None, Some(&motion))?;
        self.check_times(cx, loads_file, &forces)?;
        let path = self.data_path();
        let mut log = Diagnostics::new(path.display().to_string());
        require_span(cx, loads_file, &start, [f64::NEG_INFINITY, f64::INFINITY], &forces)?;
        // The largest first: each is the start of the next.
        let mut curve = self.curve.clone();
        curve.sort_by(|a, b| b.total_cmp(a));
        let settings = Settings {
            excluded: self.exclude.clone(),
            marker_sd: self.marker_sd,
            held,
            cutoff_hz: (self.cutoff_hz != 0.0).then_some(self.cutoff_hz),
            residual_sd: self.residual_sd,
            marker_offset_sd: self.marker_offset_sd,
            mass_sd: self.mass_sd,
            mass_center_sd: self.mass_center_sd,
            load_offset_sd: self.load_offset_sd,
            load_gain_sd: self.load_gain_sd,
            load_delay_sd: self.load_delay_sd,
            curve,
            threads: cx.threads,
            ..Settings::default()
        };
        let mut told = |step: usize, worst: f64, rms: f64| {
            let detail = format!("largest residual {worst:.2e} N or N m, markers {:.2} mm", 1e3 * rms);
            let (done, total, left_s) = (step as f64, None, None);
            cx.monitor.progress(&Progress { what: "iterations", done, total, left_s, detail: &detail });
            !cx.monitor.is_cancelled()
        };
        let found = reconcile(model.clone(), forces.clone(), &start, &measured, &settings, &mut told)
            .map_err(|e| failed(path, &e))?;
        let cancelled = cx.monitor.is_cancelled();
        for name in &found.unknown_forces {
            log.warn(0, "", format!("no force or group is called `{name}`"), "");
        }
        // Inverse dynamics on its own says whether there are residuals left, and what they were as it is usually done.
        let residuals_of = |model: &Model, forces: &[Force], motion: &Table, cutoff_hz: Option<f64>| {
            let excluded = self.exclude.clone();
            let id = inverse_dynamics::Settings { cutoff_hz, excluded, ..Default::default() };
            let moments = inverse_dynamics(model.clone(), forces.to_vec(), motion, &id)
                .map_err(|e| failed(path, &Failed::Motion(e)))?;
            Ok::<_, Error>(residuals(model, &moments.generalized_forces).unwrap_or_default())
        };
        let after = residuals_of(&found.model, &found.loads, &found.motion, None)?;
        let before = residuals_of(&model, &forces, &start, settings.cutoff_hz)?;
        before.check(&mut log);
        cx.report(&log);
        self.warn_of_changes(cx, &found);
        let document = match &self.model_output {
            Some(_) => Some(files::changed_document(model::document(cx, &self.model)?, &found.model)),
            None => None,
        };
        let data = files::load_data(&found.loads);
        let result = ReconciledMotion {
            found,
            before,
            after,
            kinematics,
            document,
            data,
            cancelled,
            request: self.clone(),
        };
        result.report().lines().for_each(|line| cx.note(line));
        if let Some(command) = result.confirmation() {
            cx.note(format!("this command gives the same residuals: {command}"));
        }
        Ok(result)
    }

    /// Refuses to write loads that do not fit into one table.
    fn check_times(&self, cx: &Context, file: &Path, loads: &[Force]) -> Result<(), Error> {
        let Some((a, b)) = files::of_different_times(loads).filter(|_| self.loads_output.is_some()) else {
            return Ok(());
        };
        let message =
            format!("loads `{a}` and `{b}` have different times: they cannot be written to one table");
        let hint = "give loads with the same times, or omit --loads-out";
        Err(Error::content(file, model::line_of_load(cx, file, b), "", message, hint))
    }

    /// Without the model and the loads that go with it, a motion is not free of residuals.
    fn warn_of_changes(&self, cx: &Context, found: &Consistent) {
        let changes = |word: &str| found.quantities.iter().any(|q| q.name.starts_with(word));
        let hint =
            |flag: &str| format!("write them with {flag}, or hold them fixed by a standard deviation of 0");
        if changes("mass") && self.model_output.is_none() && self.output.is_some() {
            let message = "masses or mass centres changed, but the model is not written";
            cx.warn(self.model.path(), message, &hint("--model-out"));
        }
        let loads_change = ["point", "free moment", "gain", "tilt", "delay"].into_iter().any(changes);
        if loads_change && self.loads_output.is_none() && self.output.is_some() {
            let message = "the loads changed, but they are not written";
            cx.warn(self.loads.as_deref().unwrap_or(Path::new("")), message, &hint("--loads-out"));
        }
    }

    fn data_path(&self) -> &Path {
        let source = self.markers.as_ref().or(self.motion.as_ref());
        source.map_or(Path::new(""), Source::path)
    }

    /// The motion to begin with, what to stay near to, and the inverse kinematics behind it.
    fn data(&self, cx: &Context, model: &Model) -> Result<Data, Error> {
        let range = range(self.data_path(), self.from, self.to)?;
        let Some(source) = &self.markers else {
            let Some(motion) = &self.motion else {
                let hint = "give markers (--markers) or a motion (--motion)";
                return Err(Error::content(Path::new(""), 0, "", "there is nothing to track", hint));
            };
            let table = read_in_order(cx, motion, Take::Markers)?;
            let mut log = Diagnostics::new(motion.path().display().to_string());
            check_units(model, &table, &mut log);
            cx.report(&log);
            let start = table.trimmed(range[0], range[1]);
            return Ok(Data { start, measured: Measured::Motion, held: Vec::new(), kinematics: None });
        };
        let quiet = cx.without_model_warnings();
        let request = InverseKinematics {
            model: self.model.clone(),
            markers: source.clone(),
            task_file: self.task_file.clone(),
            from: self.from,
            to: self.to,
            chunks: cx.threads,
            ..InverseKinematics::default()
        };
        let trial = request.run(&quiet)?.trial;
        let (markers, _) = read_markers(&quiet, source)?;
        let tasks = match &self.task_file {
            Some(file) => setup::tasks(cx, file)?,
            None => Vec::new(),
        };
        let targets = targets(model, &markers, &trial, &tasks);
        // Inverse kinematics divides by the sum of the markers' weights; here nothing is divided.
        let sum: f64 = targets.iter().map(|t| t.weight).sum();
        let held = tasks.iter().filter_map(|t| match t {
            IkTask::Coordinate(c) if c.apply => Some((c.name.clone(), c.weight * sum)),
            _ => None,
        });
        Ok(Data {
            start: trial.coordinates.clone(),
            measured: Measured::Markers(targets),
            held: held.chain(at_bounds(model, &trial.coordinates, sum)).collect(),
            kinematics: Some(trial),
        })
    }
}

/// Clamped coordinates that inverse kinematics has at an end of their range in most frames: markers would move them beyond it. They are held
/// as if all markers were 1 m from their axis.
fn at_bounds<'m>(
    model: &'m Model,
    motion: &'m Table,
    weight: f64,
) -> impl Iterator<Item = (String, f64)> + 'm {
    model.coordinates.iter().filter(|c| c.clamped).filter_map(move |c| {
        let column = motion.column(&c.name)?;
        let unit = soleus_model::angles::unit_of(motion, c);
        let is_end = |x: &&f64| c.range.iter().any(|end| (unit * **x - end).abs() < 1e-3);
        let count = column.iter().filter(is_end).count();
        (2 * count > column.len()).then(|| (c.name.clone(), weight))
    })
}

/// What is known before anything is solved.
struct Data {
    /// The motion to begin with.
    start: Table,
    measured: Measured,
    /// Coordinates that tasks hold.
    held: Vec<(String, f64)>,
    kinematics: Option<Trial>,
}

/// The markers that inverse kinematics followed, with its weights, in the frames in which it did.
fn targets(model: &Model, markers: &Table, trial: &Trial, tasks: &[IkTask]) -> Vec<Target> {
    let gap = vec3(f64::NAN, f64::NAN, f64::NAN);
    let times = trial.coordinates.times();
    let first = markers.times().partition_point(|t| *t < times[0] - 1e-9);
    let of = |(label, distances): (&String, &Vec<f64>)| {
        let marker = model.markers.iter().position(|m| m.name == *label)?;
        let column = markers.index_of(label)?;
        let weight = tasks.iter().find_map(|t| match t {
            IkTask::Marker(m) if m.apply && m.name == *label => Some(m.weight),
            _ => None,
        });
        let place = |(row, d): (usize, &f64)| -> Vec3<f64> {
            if d.is_finite() { markers.vec3(first + row, column) } else { gap }
        };
        let places = distances.iter().enumerate().map(place).collect();
        Some(Target { marker, weight: weight.unwrap_or(1.0), places })
    };
    trial.marker_distances.labels().iter().zip(trial.marker_distances.columns()).filter_map(of).collect()
}

fn failed(path: &Path, e: &Failed) -> Error {
    let hint = match e {
        Failed::Motion(inverse_dynamics::Error::NoCoordinates) => {
            "columns must be named after coordinates, such as knee_angle"
        }
        Failed::Motion(inverse_dynamics::Error::Missing { .. }) => GAP_HINT,
        Failed::TooLarge { .. } => {
            "give a part of the trial (--from, --to), or a model with fewer coordinates"
        }
        Failed::TooShort { .. } => "give a longer motion, or a wider range (--from, --to)",
        _ => "",
    };
    Error::content(path, 0, "", e.to_string(), hint)
}

/// A dynamically consistent motion and the changes it required.
#[derive(Debug)]
pub struct ReconciledMotion {
    /// Motion, model, loads, and quality of the fit.
    pub found: Consistent,
    /// Residuals of the initial motion by inverse dynamics, low-pass filtered at the cutoff frequency.
    pub before: Residuals,
    /// Residuals of the resulting motion by inverse dynamics.
    pub after: Residuals,
    /// Inverse kinematics of the markers, the initial motion.
    pub kinematics: Option<Trial>,
    document: Option<Document>,
    data: Option<Table>,
    cancelled: bool,
    request: Reconcile,
}

impl ReconciledMotion {
    /// Markers, residuals, coordinates and parameters before and after.
    pub fn report(&self) -> String {
        let (b, a) = (&self.found.before, &self.found.fit);
        let mut text = String::new();
        if self.kinematics.is_some() {
            let more = 100.0 * (a.marker_rms / b.marker_rms.max(f64::MIN_POSITIVE) - 1.0);
            let _ = writeln!(
                text,
                "marker RMS: {:.2} mm by inverse kinematics, {:.2} mm now ({more:+.1} %)",
                1e3 * b.marker_rms,
                1e3 * a.marker_rms
            );
        }
        let _ = writeln!(
            text,
            "change of coordinates: RMS {:.2} deg, {:.1} mm",
            a.coordinate_rms[0].to_degrees(),
            1e3 * a.coordinate_rms[1]
        );
        let (was, r) = (&self.before, &self.after);
        let _ = writeln!(
            text,
            "residual force: RMS {:.1} N before, {:.2e} N now; largest {:.2e} N",
            was.force_rms, r.force_rms, r.force_peak
        );
        let _ = writeln!(
            text,
            "residual moment: RMS {:.1} N m before, {:.2e} N m now; largest {:.2e} N m",
            was.moment_rms, r.moment_rms, r.moment_peak
        );
        let mut quantities: Vec<_> = self.found.quantities.iter().collect();
        quantities.sort_by(|a, b| (b.value / b.sd).abs().total_cmp(&(a.value / a.sd).abs()));
        for q in quantities.iter().take(MOST_QUANTITIES) {
            let _ = writeln!(text, "  {}: {:+.4} (standard deviation {})", q.name, q.value, q.sd);
        }
        if quantities.len() > MOST_QUANTITIES {
            let _ = writeln!(text, "  and {} more with smaller changes", quantities.len() - MOST_QUANTITIES);
        }
        for f in &self.found.curve {
            let _ = writeln!(text, "{}", curve_line(f));
        }
        let _ = write!(text, "{} iterations", a.iterations);
        text
    }

    /// The command that finds these residuals in the files that are written.
    fn confirmation(&self) -> Option<String> {
        let r = &self.request;
        let (motion, loads) = (r.output.as_deref()?, r.loads_output.as_deref().or(r.loads.as_deref())?);
        let model = r.model_output.as_deref().unwrap_or(r.model.path());
        let [model, motion, loads] = [model, motion, loads].map(|p| p.display());
        Some(format!(
            "soleus id --model {model} --motion {motion} --loads {loads} --exclude {} --out id.sto",
            r.exclude.join(" ")
        ))
    }

    fn curve_table(&self) -> Option<Table> {
        let all: Vec<&Fit> = self.found.curve.iter().chain([&self.found.fit]).collect();
        let labels = [
            "marker_rms_mm",
            "residual_force_rms_N",
            "residual_moment_rms_Nm",
            "residual_force_peak_N",
            "residual_moment_peak_Nm",
            "angle_change_rms_deg",
            "translation_change_rms_mm",
        ];
        let column = |of: &dyn Fn(&Fit) -> f64| all.iter().map(|f| of(f)).collect::<Vec<f64>>();
        let columns = vec![
            column(&|f| 1e3 * f.marker_rms),
            column(&|f| f.residual_rms[0]),
            column(&|f| f.residual_rms[1]),
            column(&|f| f.residual_peak[0]),
            column(&|f| f.residual_peak[1]),
            column(&|f| f.coordinate_rms[0].to_degrees()),
            column(&|f| 1e3 * f.coordinate_rms[1]),
        ];
        let sd = all.iter().map(|f| f.residual_sd).collect();
        Table::new(Element::Scalar, labels.map(String::from).to_vec(), sd, columns).ok()
    }
}

/// Parameters that the report names.
const MOST_QUANTITIES: usize = 12;

fn curve_line(f: &Fit) -> String {
    format!(
        "residuals of {} N, N m: marker RMS {:.2} mm, residuals RMS {:.3} N, {:.3} N m",
        f.residual_sd,
        1e3 * f.marker_rms,
        f.residual_rms[0],
        f.residual_rms[1]
    )
}

impl Outcome for ReconciledMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let r = &self.request;
        let mut list = Vec::new();
        if let Some(file) = &r.output {
            list.push(Artifact::table(file, &self.found.motion, Digits::Shortest));
        }
        if let (Some(file), Some(document)) = (&r.model_output, &self.document) {
            list.push(Artifact::text(file, write_document(document)));
        }
        if let (Some(file), Some(data)) = (&r.loads_output, &self.data) {
            // Not the name of the loads with another ending: that may be the motion.
            let data_file = file.with_file_name(format!("{}_data.mot", stem_of(file, "loads")));
            list.push(Artifact::text(
                file,
                files::load_setup(&self.found.model, &self.found.loads, &data_file),
            ));
            list.push(Artifact::table(data_file, data, Digits::Shortest).derived());
        }
        if let (Some(file), Some(curve)) = (&r.curve_output, self.curve_table()) {
            list.push(Artifact::text(file, files::csv("residual_sd", &curve)));
        }
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        let f = &self.found.fit;
        if f.converged {
            return Ok(());
        }
        if self.cancelled {
            let saved = format!(
                "the motion after {} iterations, with residuals of {:.2e} N and {:.2e} N m RMS",
                f.iterations, f.residual_rms[0], f.residual_rms[1]
            );
            return Err(Error::Cancelled { saved });
        }
        let message = format!(
            "the motion did not converge: {} iterations, residuals RMS {:.2e} N, {:.2e} N m",
            f.iterations, f.residual_rms[0], f.residual_rms[1]
        );
        Err(Error::NotSolved { message })
    }
}
