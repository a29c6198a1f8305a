//! Inertial sensors: placing them on a model, and motion from them.

use crate::failure::{Failure, nearest_hint};
use crate::tables::{self, Take};
use crate::{load, setup};
use soleus_dynamics::{Options, System};
use soleus_io::osim::write_document;
use soleus_io::setup::{ImuInverseKinematicsSetup, ImuPlacerSetup};
use soleus_io::table::sto::{self, Digits};
use soleus_math::Vec3;
use soleus_model::joint::MotionType;
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_kinematics::{
    MarkerTask, OrientationSummary, OrientationTrial, Settings, Tasks, solve_orientations,
};
use soleus_tools::place_imus::{Heading, place_imus, space_fixed_xyz};
use std::path::Path;

/// Runs the `IMUPlacer` of a setup file.
pub fn run_placer(path: &Path, s: &ImuPlacerSetup) -> Result<(), Failure> {
    let model_path = setup::required(path, "model_file", s.model_file.as_deref())?;
    let file = setup::required(path, "orientation_file_for_calibration", s.orientation_file.as_deref())?;
    let out = setup::required(path, "output_model_file", s.output_model_file.as_deref())?;
    let heading = match (&s.base_imu_label, &s.base_heading_axis) {
        (Some(label), Some(axis)) => Some(parse_heading(label, axis).ok_or_else(|| {
            let message = format!("`base_heading_axis`: `{axis}` is no axis");
            Failure::content(path, 0, "", message, "write x, y, z, -x, -y or -z")
        })?),
        _ => None,
    };
    let (document, mut log) = setup::upgraded(&model_path)?;
    let model = soleus_model::build(&document, &mut log);
    load::report(&log);
    let Some(model) = model else { return Err(load::errors(&model_path, &log)) };
    let table = tables::read_motion(&file, Take::Markers)?;
    let to_ground = space_fixed_xyz(Vec3::from_array(s.sensor_to_opensim_rotations));
    let placed = place_imus(&document, &model, &table, to_ground, heading.as_ref())
        .map_err(|e| Failure::content(&file, 0, "", e.to_string(), ""))?;
    eprintln!(
        "{} sensors placed; heading turned by {:.3}°",
        placed.placed.len(),
        placed.heading.to_degrees()
    );
    let mut log = Diagnostics::new(file.display().to_string());
    for name in &placed.unknown {
        let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}_imu", b.name)).collect();
        let hint = nearest_hint("name of a body with `_imu`", name, bodies.iter().map(String::as_str));
        log.warn(0, "", format!("column `{name}` is not named after a body of the model"), &hint);
    }
    load::report(&log);
    if let Some(folder) = out.parent() {
        setup::make_folder(folder)?;
    }
    load::write_and_tell(&out, &write_document(&placed.document))
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

/// Runs the `IMUInverseKinematicsTool` of a setup file.
pub fn run_setup(path: &Path, s: &ImuInverseKinematicsSetup) -> Result<(), Failure> {
    let model = setup::required(path, "model_file", s.model_file.as_deref())?;
    let file = setup::required(path, "orientations_file", s.orientations_file.as_deref())?;
    let trial = solve(&model, &file, s.sensor_to_opensim_rotations, &s.weights, s.time_range)?;
    let folder = setup::beside(path, &s.results_directory);
    let given = s.output_motion_file.as_deref().map(Path::new);
    let stem = file.file_stem().map_or(String::new(), |f| f.to_string_lossy().into_owned());
    let name =
        given.and_then(Path::file_name).map_or(format!("ik_{stem}"), |n| n.to_string_lossy().into_owned());
    let motion = if name.contains('.') { name.clone() } else { format!("{name}.mot") };
    setup::make_folder(&folder)?;
    load::write_and_tell(&folder.join(motion), &sto::write(&trial.coordinates, Digits::Fixed8))?;
    if s.report_errors {
        let errors = folder.join(format!("{name}_orientationErrors.sto"));
        load::write_and_tell(&errors, &sto::write(&trial.errors, Digits::Shortest))?;
    }
    close(&trial.summary, &file)
}

/// A model without forces whose translations stay where they are: orientations say nothing about them.
pub fn turning_model(path: &Path) -> Result<(Model, System), Failure> {
    let mut model = load::model(path)?;
    model.forces.clear();
    for c in model.coordinates.iter_mut().filter(|c| c.motion_type == MotionType::Translational) {
        c.locked = true;
    }
    let system = load::compile(path, &model, &Options::default())?;
    Ok((model, system))
}

/// Solves for a motion; the translations of the model stay where they are.
pub fn solve(
    model_path: &Path,
    file: &Path,
    sensor_to_ground: [f64; 3],
    weights: &[(String, f64)],
    range: [f64; 2],
) -> Result<OrientationTrial, Failure> {
    let (model, system) = turning_model(model_path)?;
    let table = tables::read_in_order(file, Take::Markers)?;
    let sensors = weights.iter().map(|(name, weight)| MarkerTask { name: name.clone(), weight: *weight });
    let tasks = Tasks { sensors: sensors.collect(), ..Tasks::default() };
    let to_ground = space_fixed_xyz(Vec3::from_array(sensor_to_ground));
    let trial = solve_orientations(&model, &system, &table, to_ground, &tasks, Settings::default(), range)
        .map_err(|e| {
            Failure::content(file, 0, "", e.to_string(), "columns are named after frames of the model")
        })?;
    let mut log = Diagnostics::new(file.display().to_string());
    for name in &trial.summary.unknown {
        let frames = model.frames.iter().map(|f| f.name.as_str());
        let hint = nearest_hint("frame of the model", name, frames);
        log.warn(0, "", format!("column `{name}` is no frame of the model; it is left out"), &hint);
    }
    load::report(&log);
    Ok(trial)
}

/// The closing lines; a failure when frames did not converge.
pub fn close(s: &OrientationSummary, file: &Path) -> Result<(), Failure> {
    let degrees = f64::to_degrees;
    eprintln!("{} frames, {} steps; sensor RMS {:.2}°", s.frames, s.iterations, degrees(s.rms));
    if let Some((name, rms)) = &s.worst_sensor {
        eprintln!("worst sensor: {name} (RMS {:.2}°)", degrees(*rms));
    }
    if let Some((name, t, angle)) = &s.worst {
        eprintln!("largest angle: {:.2}°, {name} at t = {t} s", degrees(*angle));
    }
    // Sensors slip and joints are simple, but not by so much.
    if degrees(s.rms) > 20.0 {
        let mut log = Diagnostics::new(file.display().to_string());
        let message = format!("frames are turned {:.0}° from their sensors on average", degrees(s.rms));
        let hint = "place the sensors on the model with the same trial day (IMUPlacer), and check sensor_to_opensim_rotations";
        log.warn(0, "", message, hint);
        load::report(&log);
    }
    match s.not_converged.as_slice() {
        [] => Ok(()),
        [first, ..] => {
            let n = s.not_converged.len();
            Err(Failure::NotSolved {
                message: format!("{n} frame(s) did not converge, the first at t = {first} s"),
            })
        }
    }
}
