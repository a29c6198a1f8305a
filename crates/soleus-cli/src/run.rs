//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::failure::Failure;
use crate::load::Warnings;
use crate::{analyze, id, ik, imu, scale, setup, simulate, solve};
use clap::Args;
use soleus_io::setup::Setup;
use std::path::PathBuf;

/// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus run subject01_Setup_IK.xml\n\n\
    Runs ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer, IMUInverseKinematicsTool, AnalyzeTool,\n\
    ForwardTool, MocoStudy, MocoInverse and MocoTrack. File names in the setup are taken from its folder, and results are written under the names and\n\
    folders it gives.")]
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
    let mut setup = setup::read(&a.setup)?;
    if let Some(file) = &a.model {
        // A setup takes names from its own folder; the command line from the current one.
        let file = std::path::absolute(file).unwrap_or(file.clone());
        if !setup.set_model_file(file.display().to_string()) {
            let message = "this setup file holds its model itself, so --model cannot replace it".to_string();
            return Err(Failure::content(&a.setup, 0, "", message, "leave --model out"));
        }
    }
    let done = match setup {
        Setup::Scale(s) => scale::run_setup(&a.setup, &s, a.opensim_faults),
        Setup::InverseKinematics(s) => ik::run_setup(&a.setup, &s, Warnings::Tell),
        Setup::MocoStudy(s) => solve::run_setup(&a.setup, &s),
        Setup::MocoInverse(s) => solve::inverse::run_setup(&a.setup, &s),
        Setup::MocoTrack(s) => solve::track::run_setup(&a.setup, &s),
        Setup::InverseDynamics(s) => id::run_setup(&a.setup, &s, a.opensim_faults, Warnings::Tell),
        Setup::ImuPlacer(s) => imu::run_placer(&a.setup, &s),
        Setup::ImuInverseKinematics(s) => imu::run_setup(&a.setup, &s),
        Setup::Forward(s) => simulate::run_setup(&a.setup, &s, a.opensim_faults),
        Setup::Analyze(s) => analyze::run_setup(&a.setup, &s, &[], a.opensim_faults, Warnings::Tell),
    };
    done.map_err(|e| e.named_in(&a.setup))
}
