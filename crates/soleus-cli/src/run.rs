//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::failure::Failure;
use crate::{id, ik, imu, scale, setup};
use clap::Args;
use soleus_io::setup::Setup;
use std::path::PathBuf;

/// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus run subject01_Setup_IK.xml\n\n\
    Runs ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer and IMUInverseKinematicsTool. File names in the setup are taken from its folder, and results\n\
    are written under the names and folders it gives.")]
pub struct Arguments {
    /// Setup file (.xml)
    setup: PathBuf,
    /// Model file to use in place of the one that the setup names
    #[arg(long)]
    model: Option<PathBuf>,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Runs the tool.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    // A setup takes names from its own folder; the command line from the current one.
    let model_file = a.model.as_ref().map(|m| std::path::absolute(m).unwrap_or(m.clone()));
    let model_file = model_file.map(|m| m.display().to_string());
    match setup::read(&a.setup)? {
        Setup::InverseKinematics(mut s) => {
            s.model_file = model_file.or(s.model_file);
            ik::run_setup(&a.setup, &s)
        }
        Setup::InverseDynamics(mut s) => {
            s.model_file = model_file.or(s.model_file);
            id::run_setup(&a.setup, &s, a.opensim_faults)
        }
        Setup::ImuPlacer(mut s) => {
            s.model_file = model_file.or(s.model_file);
            imu::run_placer(&a.setup, &s)
        }
        Setup::ImuInverseKinematics(mut s) => {
            s.model_file = model_file.or(s.model_file);
            imu::run_setup(&a.setup, &s)
        }
        Setup::Scale(mut s) => {
            s.model_file = model_file.or(s.model_file);
            scale::run_setup(&a.setup, &s, a.opensim_faults)
        }
    }
}
