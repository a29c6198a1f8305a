//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::failure::Failure;
use crate::{id, ik, setup, solve};
use clap::Args;
use soleus_io::setup::Setup;
use std::path::PathBuf;

/// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus run subject01_Setup_IK.xml\n\n\
    Runs InverseKinematicsTool and InverseDynamicsTool. File names in the setup are taken from its folder, and results\n\
    are written under the names and folders it gives.")]
pub struct Arguments {
    /// Setup file (.xml)
    setup: PathBuf,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Runs the tool.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    match setup::read(&a.setup)? {
        Setup::InverseKinematics(s) => ik::run_setup(&a.setup, &s),
        Setup::MocoStudy(s) => solve::run_setup(&a.setup, &s),
        Setup::InverseDynamics(s) => id::run_setup(&a.setup, &s, a.opensim_faults),
    }
}
