//! `soleus pipeline`.

use crate::door::{enter, finish};
use clap::Args;
use soleus::{Error, Pipeline};
use std::path::PathBuf;

/// Arguments of `soleus pipeline`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus pipeline walking.toml\n\n\
    with walking.toml:\n\n  \
    [scale]\n  model = \"gait2354.osim\"\n  marker_set = \"markers.xml\"\n  markers = \"static.trc\"\n  \
    measurements = \"scale_setup.xml\"\n  tasks = \"scale_setup.xml\"\n  mass = 72.6\n\n  \
    [ik]\n  tasks = \"ik_tasks.xml\"\n\n  \
    [filter]\n  lowpass_hz = 6\n\n  \
    [so]\n  reserves = 1\n  residuals = [10, 50]\n\n  \
    [jr]\n  joints = [\"knee_r\", \"knee_l\"]\n\n  \
    [[trials]]\n  name = \"walk1\"\n  markers = \"walk1.trc\"\n  loads = \"walk1_grf.xml\"\n\n\
    Results are written to a folder `results` beside the pipeline file, with a page summary.html. A second run does only\n\
    what has changed. A trial of inertial sensors has `orientations = \"walk1_imu.sto\"` in place of markers; a table [imu] with\n\
    `calibration`, `base`, `heading_axis`, `rotations_deg` and `weights` tells how they sit on the model.")]
pub struct Arguments {
    /// Pipeline file (.toml)
    study: PathBuf,
    /// Do everything again
    #[arg(long)]
    again: bool,
}

/// Runs `soleus pipeline`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let request = Pipeline { again: a.again, ..Pipeline::of_file(&a.study) };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
