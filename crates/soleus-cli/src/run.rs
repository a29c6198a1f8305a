//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::door::{enter, finish};
use clap::Args;
use soleus::{Error, SetupFile};
use std::path::PathBuf;

/// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus run subject01_Setup_IK.xml\n\n\
    Runs ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer, IMUInverseKinematicsTool, AnalyzeTool,\n\
    ForwardTool, RRATool, CMCTool, MocoStudy, MocoInverse and MocoTrack. File names in the setup are taken from its folder, and results are written under the names and\n\
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
    /// Filter and differentiate the pose of the root, and not its angles, so that results do not depend on the heading
    #[arg(long)]
    root_pose: bool,
}

/// Runs the tool.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let request = SetupFile {
        file: a.setup.clone(),
        model: a.model.clone(),
        opensim_faults: a.opensim_faults,
        root_pose: a.root_pose,
        save_iterates: true,
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
