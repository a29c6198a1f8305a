//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::door::{enter, finish};
use clap::Args;
use soleus::{Error, SetupFile};
use std::path::PathBuf;

// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = include_str!("../help/run.txt"))]
pub struct Arguments {
    /// Setup file (.xml)
    setup: PathBuf,
    /// Model file to use instead of the one in the setup
    #[arg(long)]
    model: Option<PathBuf>,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
    /// Filter and differentiate the pose of the root instead of its angles, so that results do not depend on the heading
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
