//! Inverse dynamics: joint moments from a motion and measured loads.

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::paths::{beside, folder_of, required};
use crate::inputs::table::{GAP_HINT, Take, read_in_order};
use crate::inputs::{loads, model};
use crate::inverse_kinematics::{bound, range};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_io::setup::InverseDynamicsSetup;
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_model::force::{Force, ForceKind};
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_dynamics::{Error as Failed, Loads, Settings, inverse_dynamics};
pub use soleus_tools::quality::Residuals;
use soleus_tools::quality::{check_cutoff, check_points, check_units, residuals};
use std::path::{Path, PathBuf};

/// Computes joint moments of a motion.
///
/// ```no_run
/// use soleus::{Context, Disk, InverseDynamics};
/// let files = Disk::new();
/// let request = InverseDynamics {
///     model: "subject.osim".into(),
///     motion: "walk.mot".into(),
///     loads: Some("walk_grf.xml".into()),
///     cutoff_hz: Some(6.0),
///     ..Default::default()
/// };
/// let found = request.run(&Context::new(&files))?;
/// let knee = found.loads.generalized_forces.column("knee_angle_r_moment");
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct InverseDynamics {
    /// The model.
    pub model: ModelSource,
    /// Coordinates over time (.mot, .sto).
    pub motion: Source<Table>,
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d), which are
    /// assigned to feet.
    pub loads: Option<PathBuf>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Model forces to exclude: names, groups, or `all`, `actuators`, `muscles`.
    pub exclude: Vec<String>,
    /// Joints whose loads are also computed.
    pub joints: Vec<String>,
    /// Start time, s; default: start of the data.
    pub from: Option<f64>,
    /// End time, s; default: end of the data.
    pub to: Option<f64>,
    /// Reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Whether to filter and differentiate the angles of the root, as OpenSim does, instead of its pose, for
    /// comparison. Results then depend on the direction in which the subject faces.
    pub root_angles: bool,
    /// Output file for the moments (N m) and forces (N) of all coordinates.
    pub output: Option<PathBuf>,
    /// Output file for the loads of `joints`.
    pub joint_output: Option<PathBuf>,
    /// Setup file that the request was read from: results then have eight decimals and folders are created, as in
    /// OpenSim.
    pub asked_in: Option<PathBuf>,
}

impl Default for InverseDynamics {
    fn default() -> Self {
        InverseDynamics {
            model: ModelSource::default(),
            motion: Source::default(),
            loads: None,
            cutoff_hz: None,
            exclude: vec!["muscles".to_string(), "actuators".to_string()],
            joints: Vec::new(),
            from: None,
            to: None,
            opensim_faults: false,
            root_angles: false,
            output: None,
            joint_output: None,
            asked_in: None,
        }
    }
}

impl InverseDynamics {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &InverseDynamicsSetup) -> Result<Self, Error> {
        let cutoff = s.lowpass_cutoff_frequency_for_coordinates;
        let folder = beside(path, &s.results_directory);
        let named = |name: &str| {
            folder.join(if name.contains('.') { name.to_string() } else { format!("{name}.sto") })
        };
        Ok(InverseDynamics {
            model: required(path, "model_file", s.model_file.as_deref())?.into(),
            motion: required(path, "coordinates_file", s.coordinates_file.as_deref())?.into(),
            loads: s.external_loads_file.as_ref().map(|f| beside(path, f)),
            cutoff_hz: (cutoff >= 0.0).then_some(cutoff),
            exclude: s.forces_to_exclude.clone(),
            joints: s.joints_to_report_body_forces.clone(),
            from: bound(s.time_range[0]),
            to: bound(s.time_range[1]),
            opensim_faults: false,
            root_angles: true,
            output: Some(named(&s.output_gen_force_file)),
            joint_output: Some(named(&s.output_body_forces_file)),
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// Computes the moments.
    pub fn run(&self, cx: &Context) -> Result<JointMoments, Error> {
        let mut model = model::read(cx, &self.model)?;
        // OpenSim looks for data in the folder of the setup first.
        let folder = self.asked_in.as_deref().map(folder_of);
        let forces = loads::read(cx, &model, self.loads.as_deref(), folder, Some(&self.motion))?;
        // Who names what to exclude, as setup files do, gets just that.
        if !forces.is_empty() && self.exclude == InverseDynamics::default().exclude {
            loads::leave_out_contacts(cx, &mut model);
        }
        model::read_meshes(cx, self.model.path(), &mut model)?;
        let path = self.motion.path();
        let table = read_in_order(cx, &self.motion, Take::Markers)?;
        let mut log = Diagnostics::new(path.display().to_string());
        check_units(&model, &table, &mut log);
        if let Some(hz) = self.cutoff_hz {
            check_cutoff(table.times(), hz, &mut log);
        }
        let range = range(path, self.from, self.to)?;
        check_span(&table, range, &forces, &mut log);
        let has_loads = !forces.is_empty();
        let bare = without_forces(&mut model);
        if has_loads {
            let system = model::compile(path, &bare, &Options::default())?;
            check_points(&bare, &system, &table, &forces, &mut log);
        }
        let settings = Settings {
            cutoff_hz: self.cutoff_hz,
            range,
            excluded: self.exclude.clone(),
            joints: self.joints.clone(),
            opensim_faults: self.opensim_faults,
            root_angles: self.root_angles,
        };
        let found = inverse_dynamics(model, forces, &table, &settings).map_err(|e| {
            let hint = match &e {
                Failed::NoCoordinates => "columns must be named after coordinates, such as knee_angle",
                Failed::Missing { .. } => GAP_HINT,
                _ => "",
            };
            Error::content(path, 0, "", e.to_string(), hint)
        })?;
        warn_of_names(&bare, &table, &found, &mut log);
        cx.note(format!("{} frames", found.generalized_forces.rows()));
        let residuals = residuals(&bare, &found.generalized_forces).filter(|_| has_loads);
        if let Some(r) = &residuals {
            tell_residuals(cx, r, &mut log);
        }
        cx.report(&log);
        Ok(JointMoments { loads: found, residuals, request: self.clone() })
    }
}

/// Takes a copy of the model without forces: residuals are judged by masses and joints alone, and muscles are most of a model.
fn without_forces(model: &mut Model) -> Model {
    let forces = std::mem::take(&mut model.forces);
    let bare = model.clone();
    model.forces = forces;
    bare
}

/// The first load that does not last as long as the motion, and what to say of it. A frame more or less is how recordings end.
fn short_load<'a>(motion: &Table, [from, to]: [f64; 2], forces: &'a [Force]) -> Option<(&'a Force, String)> {
    let (&first, &last) = (motion.times().first()?, motion.times().last()?);
    let frame = (last - first) / (motion.rows().max(2) - 1) as f64;
    let (first, last) = (first.max(from), last.min(to));
    forces.iter().find_map(|f| {
        let ForceKind::ExternalForce(e) = &f.kind else { return None };
        let (begin, end) = (e.time.first()?, e.time.last()?);
        let is_short = *begin > first + 1.5 * frame || *end < last - 1.5 * frame;
        let name = &f.name;
        is_short.then(|| {
            (f, format!("loads of `{name}` span {begin} s to {end} s, the motion {first} s to {last} s"))
        })
    })
}

/// Warns of loads that do not last as long as the motion: outside their time their splines are extrapolated.
pub(crate) fn check_span(motion: &Table, range: [f64; 2], forces: &[Force], log: &mut Diagnostics) {
    if let Some((_, message)) = short_load(motion, range, forces) {
        let hint = "loads are extrapolated outside this range; cut the motion with --from and --to";
        log.warn(0, "", message, hint);
    }
}

/// Refuses loads that do not last as long as the motion: a motion that agrees with extrapolated forces is worth nothing.
pub(crate) fn require_span(
    cx: &Context,
    file: &Path,
    motion: &Table,
    range: [f64; 2],
    forces: &[Force],
) -> Result<(), Error> {
    let Some((f, message)) = short_load(motion, range, forces) else { return Ok(()) };
    let hint = "choose a shorter range (--from, --to), or give longer loads";
    Err(Error::content(file, model::line_of_load(cx, file, &f.name), &f.path, message, hint))
}

/// Names what the data and the request lack.
fn warn_of_names(model: &Model, table: &Table, found: &Loads, log: &mut Diagnostics) {
    for name in &found.at_default {
        let strangers = table.labels().iter().map(String::as_str).filter(|l| model.coordinate(l).is_none());
        let hint = nearest_hint("other column", name, strangers);
        log.warn(0, "", format!("no column for coordinate `{name}`: its default value is used"), &hint);
    }
    for name in &found.unknown_forces {
        log.warn(0, "", format!("no force or group is called `{name}`"), "");
    }
    for name in &found.unknown_joints {
        log.warn(0, "", format!("no joint is called `{name}`"), "");
    }
}

fn tell_residuals(cx: &Context, r: &Residuals, log: &mut Diagnostics) {
    let part = 100.0 * r.force_rms / r.weight;
    let (rms, peak) = (r.force_rms, r.force_peak);
    cx.note(format!("residual force: RMS {rms:.1} N ({part:.1} % of the weight), largest {peak:.1} N"));
    cx.note(format!("residual moment: RMS {:.1} N m, largest {:.1} N m", r.moment_rms, r.moment_peak));
    r.check(log);
}

/// Joint moments and residuals.
#[derive(Debug)]
pub struct JointMoments {
    /// Moments (N m) and forces (N) of all coordinates, and loads of the requested joints.
    pub loads: Loads,
    /// Residual forces and moments at the root; `None` without measured loads.
    pub residuals: Option<Residuals>,
    request: InverseDynamics,
}

impl Outcome for JointMoments {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let r = &self.request;
        let is_derived = r.asked_in.is_some();
        let digits = if is_derived { Digits::Fixed8 } else { Digits::Shortest };
        let moments = r.output.as_ref().map(|f| (f, &self.loads.generalized_forces));
        let joints = r.joint_output.as_ref().zip(self.loads.joint_loads.as_ref());
        let files = moments.into_iter().chain(joints);
        files.map(|(file, table)| Artifact { is_derived, ..Artifact::table(file, table, digits) }).collect()
    }
}
