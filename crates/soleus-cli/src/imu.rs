//! Inertial sensors of setup files.

use crate::door::{enter, finish};
use crate::failure::Failure;
use soleus::{PlaceSensors, SensorKinematics};
use soleus_io::setup::{ImuInverseKinematicsSetup, ImuPlacerSetup};
use std::path::Path;

/// Runs the `IMUPlacer` of a setup file.
pub fn run_placer(path: &Path, s: &ImuPlacerSetup) -> Result<(), Failure> {
    Ok(enter(None, false, |cx| finish(cx, PlaceSensors::from_setup(path, s)?.run(cx)))?)
}

/// Runs the `IMUInverseKinematicsTool` of a setup file.
pub fn run_setup(path: &Path, s: &ImuInverseKinematicsSetup) -> Result<(), Failure> {
    Ok(enter(None, false, |cx| finish(cx, SensorKinematics::from_setup(path, s)?.run(cx)))?)
}
