//! `soleus run`: a setup file of one of OpenSim's tools.

use crate::door::{enter, finish};
use clap::Args;
use soleus::{Error, SetupFile};
use std::path::PathBuf;

/// Arguments of `soleus run`.
#[derive(Args)]
#[command(after_help = include_str!("../help/run.txt"))]
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
