//! Solves a whole trial from inertial sensors: from a table of orientations to tables of coordinates and errors.

use super::trial::{check_range, push_coordinates};
use super::{Error, InverseKinematics, Settings, Tasks};
use soleus_dynamics::System;
use soleus_math::Rotation;
use soleus_math::table::{Element, Table};
use soleus_model::Model;

/// The solved motion.
#[derive(Clone, Debug)]
pub struct OrientationTrial {
    /// Coordinates in the order of the model; rotations in degrees.
    pub coordinates: Table,
    /// Angle between each frame and its sensor, rad, for every frame.
    pub errors: Table,
    /// Quality of the result.
    pub summary: OrientationSummary,
}

/// Quality of a motion from orientations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OrientationSummary {
    /// Number of frames.
    pub frames: usize,
    /// Total number of Newton steps.
    pub iterations: usize,
    /// Times (s) of frames that did not converge.
    pub not_converged: Vec<f64>,
    /// RMS angle over all frames and sensors, rad.
    pub rms: f64,
    /// The sensor with the largest RMS angle (rad).
    pub worst_sensor: Option<(String, f64)>,
    /// Largest angle: sensor, time (s), angle (rad).
    pub worst: Option<(String, f64, f64)>,
    /// Columns of the data that are not frames of the model.
    pub unknown: Vec<String>,
}

/// Solves the rows of `orientations` (a table of quaternions) with times in `range` (s). `R_GS` is the rotation from
/// the sensors' world frame to ground; it multiplies every orientation from the left.
///
/// As in OpenSim's `IMUInverseKinematicsTool`, lock the translations of the model first, because orientations do not
/// determine them.
pub fn solve_orientations(
    model: &Model,
    system: &System,
    orientations: &Table,
    R_GS: Rotation<f64>,
    tasks: &Tasks,
    settings: Settings,
    range: [f64; 2],
) -> Result<OrientationTrial, Error> {
    if orientations.element() != Element::Quaternion {
        return Err(Error::NotOrientations { reason: "the columns are not quaternions".to_string() });
    }
    check_range(range)?;
    let times = orientations.times();
    let rows = times.partition_point(|t| *t < range[0])..times.partition_point(|t| *t <= range[1]);
    if rows.is_empty() {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Err(Error::NotOrientations { reason: "the table has no rows".to_string() });
        };
        return Err(Error::NoFrames { first, last, wanted_first: range[0], wanted_last: range[1] });
    }
    let mut ik = InverseKinematics::with_sensors(model, system, orientations.labels(), tasks, settings)?;

    let frames = rows.len();
    let mut columns = vec![Vec::with_capacity(frames); model.coordinates.len()];
    let mut errors = vec![Vec::with_capacity(frames); ik.sensor_names().len()];
    let mut summary = OrientationSummary { frames, ..OrientationSummary::default() };
    let mut seen = vec![Rotation::identity(); orientations.labels().len()];
    for row in rows.clone() {
        for (i, R) in seen.iter_mut().enumerate() {
            let q = std::array::from_fn(|k| orientations.columns()[4 * i + k][row]);
            *R = R_GS * Rotation::from_quaternion(q);
        }
        let fit = ik.solve_orientations(times[row], &seen);
        push_coordinates(model, system, ik.coordinates(), &mut columns);
        for (column, angle) in errors.iter_mut().zip(ik.sensor_errors()) {
            column.push(angle);
        }
        summary.iterations += fit.iterations;
        if !fit.converged {
            summary.not_converged.push(times[row]);
        }
        if let Some(i) = fit.worst_sensor
            && summary.worst.as_ref().is_none_or(|w| fit.angle_max > w.2)
        {
            summary.worst = Some((ik.sensor_names()[i].clone(), times[row], fit.angle_max));
        }
    }

    let rms = |c: &[f64]| (c.iter().map(|x| x * x).sum::<f64>() / c.len() as f64).sqrt();
    let squares: f64 = errors.iter().map(|c| rms(c).powi(2)).sum();
    summary.rms = (squares / errors.len() as f64).sqrt();
    let each = ik.sensor_names().iter().cloned().zip(errors.iter().map(|c| rms(c)));
    summary.worst_sensor = each.max_by(|a, b| a.1.total_cmp(&b.1));
    let known = |l: &&String| !ik.sensor_names().contains(l);
    summary.unknown = orientations.labels().iter().filter(known).cloned().collect();

    let table = |labels, columns| {
        Table::new(Element::Scalar, labels, times[rows.clone()].to_vec(), columns)
            .map_err(|e| Error::NotOrientations { reason: e.to_string() })
    };
    let mut coordinates = table(model.coordinates.iter().map(|c| c.name.clone()).collect(), columns)?;
    coordinates.name = "Coordinates".to_string();
    coordinates.in_degrees = Some(true);
    let mut errors = table(ik.sensor_names().to_vec(), errors)?;
    errors.name = "OrientationErrors".to_string();
    Ok(OrientationTrial { coordinates, errors, summary })
}
