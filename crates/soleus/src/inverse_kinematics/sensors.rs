//! Inertial sensors: placement on the model, and joint angles from their orientations.

use super::{KinematicsOutput, bound, converged, range};
use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::model;
use crate::inputs::paths::{beside, file_part, required, stem_of};
use crate::inputs::table::{Take, read_in_order, read_motion};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::{Options, System};
use soleus_io::osim::write_document;
use soleus_io::setup::{ImuInverseKinematicsSetup, ImuPlacerSetup};
use soleus_io::table::sto::Digits;
use soleus_math::{Table, Vec3};
use soleus_model::joint::MotionType;
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_kinematics::{
    MarkerTask, OrientationSummary, OrientationTrial, Settings, Tasks, solve_orientations,
};
use soleus_tools::place_imus::{Heading, PlacedImus, place_imus, space_fixed_xyz};
use std::path::{Path, PathBuf};

/// Adds a frame for each inertial sensor to a model, from a recording of the subject standing in the model's default
/// pose.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlaceSensors {
    /// The model.
    pub model: ModelSource,
    /// Orientations while the subject stands in the default pose (.sto, quaternions).
    pub orientations: Source<Table>,
    /// Rotation from the sensors' world frame to ground: angles about the fixed axes x, y, z, rad.
    pub sensor_to_ground: [f64; 3],
    /// Sensor that defines the heading.
    pub base: Option<String>,
    /// Axis of that sensor that points in the facing direction, such as `-z`.
    pub heading_axis: Option<String>,
    /// Output model file.
    pub output: Option<PathBuf>,
    /// Whether the name comes from a setup file; its folder is then created.
    pub is_derived: bool,
    /// File that the request was read from, for messages.
    pub asked_in: Option<PathBuf>,
}

impl PlaceSensors {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &ImuPlacerSetup) -> Result<Self, Error> {
        let file = s.orientation_file.as_deref();
        Ok(PlaceSensors {
            model: required(path, "model_file", s.model_file.as_deref())?.into(),
            orientations: required(path, "orientation_file_for_calibration", file)?.into(),
            sensor_to_ground: s.sensor_to_opensim_rotations,
            base: s.base_imu_label.clone(),
            heading_axis: s.base_heading_axis.clone(),
            output: Some(required(path, "output_model_file", s.output_model_file.as_deref())?),
            is_derived: true,
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// Places the sensors.
    pub fn run(&self, cx: &Context) -> Result<PlacedSensors, Error> {
        let heading = match (&self.base, &self.heading_axis) {
            (Some(label), Some(axis)) => Some(parse_heading(label, axis).ok_or_else(|| {
                let path = self.asked_in.as_deref().unwrap_or(self.orientations.path());
                let message = format!("`base_heading_axis`: `{axis}` is not an axis");
                Error::content(path, 0, "", message, "write x, y, z, -x, -y or -z")
            })?),
            _ => None,
        };
        let document = model::document(cx, &self.model)?;
        let model = model::build(cx, self.model.path(), &document)?;
        let file = self.orientations.path();
        let table = read_motion(cx, &self.orientations, Take::Markers)?;
        let to_ground = space_fixed_xyz(Vec3::from_array(self.sensor_to_ground));
        let placed = place_imus(&document, &model, &table, to_ground, heading.as_ref())
            .map_err(|e| Error::content(file, 0, "", e.to_string(), ""))?;
        let heading = placed.heading.to_degrees();
        cx.note(format!("{} sensors placed; heading turned by {heading:.1}°", placed.placed.len()));
        let mut log = Diagnostics::new(file.display().to_string());
        for name in &placed.unknown {
            let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}_imu", b.name)).collect();
            let hint = nearest_hint("body name followed by `_imu`", name, bodies.iter().map(String::as_str));
            log.warn(0, "", format!("column `{name}` is not named after a body of the model"), &hint);
        }
        cx.report(&log);
        Ok(PlacedSensors { placed, output: self.output.clone(), is_derived: self.is_derived })
    }
}

/// `z`, `-z`, `+z` in either case.
fn parse_heading(label: &str, axis: &str) -> Option<Heading> {
    let axis = axis.trim().to_ascii_lowercase();
    let at = match axis.chars().last()? {
        'x' => 0,
        'y' => 1,
        'z' => 2,
        _ => return None,
    };
    Some(Heading { label: label.to_string(), axis: at, negative: axis.starts_with('-') })
}

/// A model with sensor frames.
#[derive(Debug)]
pub struct PlacedSensors {
    /// The model and the placed sensors.
    pub placed: PlacedImus,
    output: Option<PathBuf>,
    is_derived: bool,
}

impl Outcome for PlacedSensors {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let text = |file| Artifact {
            is_derived: self.is_derived,
            ..Artifact::text(file, write_document(&self.placed.document))
        };
        self.output.iter().map(text).collect()
    }
}

/// Joint angles from the orientations of inertial sensors; translations of the model are constant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SensorKinematics {
    /// A model with a frame for each sensor.
    pub model: ModelSource,
    /// Orientations over time (.sto, quaternions; one column per frame).
    pub orientations: Source<Table>,
    /// Rotation from the sensors' world frame to ground: angles about the fixed axes x, y, z, rad.
    pub sensor_to_ground: [f64; 3],
    /// Weights of sensors by name; default: 1.
    pub weights: Vec<(String, f64)>,
    /// Start time, s; default: start of the data.
    pub from: Option<f64>,
    /// End time, s; default: end of the data.
    pub to: Option<f64>,
    /// Files to write; of the error files only `errors`.
    pub output: KinematicsOutput,
}

impl SensorKinematics {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &ImuInverseKinematicsSetup) -> Result<Self, Error> {
        let file = required(path, "orientations_file", s.orientations_file.as_deref())?;
        let folder = beside(path, &s.results_directory);
        let given = s.output_motion_file.as_deref().map(Path::new).and_then(Path::file_name);
        let name = given.map_or(format!("ik_{}", stem_of(&file, "")), |n| n.to_string_lossy().into_owned());
        let motion = if name.contains('.') { name.clone() } else { format!("{name}.mot") };
        Ok(SensorKinematics {
            model: required(path, "model_file", s.model_file.as_deref())?.into(),
            orientations: file.into(),
            sensor_to_ground: s.sensor_to_opensim_rotations,
            weights: s.weights.clone(),
            from: bound(s.time_range[0]),
            to: bound(s.time_range[1]),
            output: KinematicsOutput {
                motion: Some(folder.join(motion)),
                errors: s
                    .report_errors
                    .then(|| folder.join(format!("{}_orientationErrors.sto", file_part(&name)))),
                fixed_digits: true,
                is_derived: true,
                ..KinematicsOutput::default()
            },
        })
    }

    /// Solves all frames.
    pub fn run(&self, cx: &Context) -> Result<SensorMotion, Error> {
        let (model, system) = turning_model(cx, &self.model)?;
        let file = self.orientations.path();
        let table = read_in_order(cx, &self.orientations, Take::Markers)?;
        let sensor = |(name, weight): &(String, f64)| MarkerTask { name: name.clone(), weight: *weight };
        let tasks = Tasks { sensors: self.weights.iter().map(sensor).collect(), ..Tasks::default() };
        let to_ground = space_fixed_xyz(Vec3::from_array(self.sensor_to_ground));
        let range = range(file, self.from, self.to)?;
        let trial =
            solve_orientations(&model, &system, &table, to_ground, &tasks, Settings::default(), range)
                .map_err(|e| {
                    Error::content(
                        file,
                        0,
                        "",
                        e.to_string(),
                        "columns must be named after frames of the model",
                    )
                })?;
        let mut log = Diagnostics::new(file.display().to_string());
        for name in &trial.summary.unknown {
            let frames = model.frames.iter().map(|f| f.name.as_str());
            let hint = nearest_hint("frame of the model", name, frames);
            log.warn(0, "", format!("column `{name}` is not a frame of the model; ignored"), &hint);
        }
        cx.report(&log);
        tell(cx, &trial.summary, file);
        Ok(SensorMotion { trial, output: self.output.clone() })
    }
}

/// A model without forces whose translations stay where they are: orientations say nothing about them.
pub(super) fn turning_model(cx: &Context, source: &ModelSource) -> Result<(Model, System), Error> {
    let mut model = model::read(cx, source)?;
    model.forces.clear();
    for c in model.coordinates.iter_mut().filter(|c| c.motion_type == MotionType::Translational) {
        c.locked = true;
    }
    let system = model::compile(source.path(), &model, &Options::default())?;
    Ok((model, system))
}

/// Tells how well the sensors were met.
fn tell(cx: &Context, s: &OrientationSummary, file: &Path) {
    let degrees = f64::to_degrees;
    cx.note(format!("{} frames, {} steps; sensor RMS {:.2}°", s.frames, s.iterations, degrees(s.rms)));
    if let Some((name, rms)) = &s.worst_sensor {
        cx.note(format!("worst sensor: {name} (RMS {:.2}°)", degrees(*rms)));
    }
    if let Some((name, t, angle)) = &s.worst {
        cx.note(format!("largest angle: {:.2}°, {name} at t = {t:.3} s", degrees(*angle)));
    }
    // Sensors slip and joints are simple, but not by so much.
    if degrees(s.rms) > 20.0 {
        let message = format!("the mean angle between model and sensors is {:.0}°", degrees(s.rms));
        let hint = "calibrate the sensors with a trial of the same session (IMUPlacer), and check sensor_to_opensim_rotations";
        cx.warn(file, message, hint);
    }
}

/// A motion computed from sensors.
#[derive(Debug)]
pub struct SensorMotion {
    /// Coordinates, errors and a summary.
    pub trial: OrientationTrial,
    output: KinematicsOutput,
}

impl Outcome for SensorMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let o = &self.output;
        let motion = (&o.motion, &self.trial.coordinates, o.digits());
        let errors = (&o.errors, &self.trial.errors, Digits::Shortest);
        let named = [motion, errors].into_iter().filter_map(|(file, table, digits)| {
            Some(Artifact { is_derived: o.is_derived, ..Artifact::table(file.as_ref()?, table, digits) })
        });
        named.collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        converged(&self.trial.summary.not_converged)
    }
}
