//! Runs setup files of OpenSim's tools unchanged.

use crate::analysis::Analyze;
use crate::artifact::Outcome;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::setup;
use crate::inverse_dynamics::InverseDynamics;
use crate::inverse_kinematics::{InverseKinematics, PlaceSensors, SensorKinematics};
use crate::muscle_control::{ComputedMuscleControl, ResidualReduction};
use crate::optimal_control::{Inverse, Solve, Track};
use crate::scaling::Scaling;
use crate::simulation::ForwardSimulation;
use serde::{Deserialize, Serialize};
pub use soleus_io::setup::Setup;
use std::path::PathBuf;

/// A setup file of one of OpenSim's tools: ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer, IMUInverseKinematicsTool,
/// AnalyzeTool, ForwardTool, RRATool, CMCTool, MocoStudy, MocoInverse, MocoTrack.
///
/// File names are relative to the folder of the setup, and results have the names and folders given there.
///
/// ```no_run
/// use soleus::{Context, Disk, Outcome, SetupFile};
/// let files = Disk::new();
/// let context = Context::new(&files);
/// let result = SetupFile::new("subject01_Setup_IK.xml").run(&context)?;
/// result.write(&context)?;
/// result.verdict()?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SetupFile {
    /// The file (.xml, .omoco).
    pub file: PathBuf,
    /// Model file to use instead of the one named in the setup; relative to the current folder, not that of the setup.
    pub model: Option<PathBuf>,
    /// Reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Filter and differentiate the pose of the root, as the requests do by default, instead of its angles, as OpenSim
    /// does.
    pub root_pose: bool,
    /// Save the iterate of an optimal control problem to a file during the solve, so that `soleus solve --resume` can
    /// continue from it.
    pub save_iterates: bool,
}

impl SetupFile {
    /// A setup file, without changes.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        SetupFile { file: file.into(), ..SetupFile::default() }
    }

    /// The request in the file, with the replacement model.
    pub fn read(&self, cx: &Context) -> Result<Setup, Error> {
        let mut setup = setup::read(cx, &self.file)?;
        if let Some(file) = &self.model {
            // A setup takes names from its own folder.
            let file = cx.files.absolute(file);
            if !setup.set_model_file(file.display().to_string()) {
                let message = "this setup file contains its model, which cannot be replaced";
                return Err(Error::content(&self.file, 0, "", message, "omit --model"));
            }
        }
        Ok(setup)
    }

    /// Runs the tool.
    pub fn run(&self, cx: &Context) -> Result<Box<dyn Outcome>, Error> {
        let setup = self.read(cx)?;
        self.run_tool(cx, &setup).map_err(|e| e.named_in(&self.file))
    }

    fn run_tool(&self, cx: &Context, setup: &Setup) -> Result<Box<dyn Outcome>, Error> {
        let (path, opensim_faults) = (self.file.as_path(), self.opensim_faults);
        let root_angles = !self.root_pose;
        Ok(match setup {
            Setup::Scale(s) => Box::new(Scaling { opensim_faults, ..Scaling::from_setup(path, s)? }.run(cx)?),
            Setup::InverseKinematics(s) => Box::new(InverseKinematics::from_setup(path, s)?.run(cx)?),
            Setup::InverseDynamics(s) => {
                let request = InverseDynamics::from_setup(path, s)?;
                Box::new(InverseDynamics { opensim_faults, root_angles, ..request }.run(cx)?)
            }
            Setup::ImuPlacer(s) => Box::new(PlaceSensors::from_setup(path, s)?.run(cx)?),
            Setup::ImuInverseKinematics(s) => Box::new(SensorKinematics::from_setup(path, s)?.run(cx)?),
            Setup::Forward(s) => Box::new(
                ForwardSimulation { opensim_faults, ..ForwardSimulation::from_setup(path, s)? }.run(cx)?,
            ),
            Setup::Analyze(s) => {
                Box::new(Analyze { opensim_faults, root_angles, ..Analyze::from_setup(path, s)? }.run(cx)?)
            }
            Setup::Cmc(s) => {
                let mut request = ComputedMuscleControl::from_setup(path, s)?;
                request.tracking.opensim_faults = opensim_faults;
                Box::new(request.run(cx)?)
            }
            Setup::Rra(s) => {
                let mut request = ResidualReduction::from_setup(path, s)?;
                request.tracking.opensim_faults = opensim_faults;
                Box::new(request.run(cx)?)
            }
            Setup::MocoStudy(s) => {
                let mut request = Solve::from_setup(path, s);
                request.options.save_iterates = self.save_iterates;
                Box::new(request.run(cx)?)
            }
            Setup::MocoInverse(s) => {
                let mut request = Inverse::from_setup(path, s)?;
                request.trial.root_angles = root_angles;
                request.options.save_iterates = self.save_iterates;
                Box::new(request.run(cx)?)
            }
            Setup::MocoTrack(s) => {
                let mut request = Track::from_setup(path, s)?;
                request.trial.root_angles = root_angles;
                request.options.save_iterates = self.save_iterates;
                Box::new(request.run(cx)?)
            }
        })
    }
}
