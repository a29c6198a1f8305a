//! Where an experiment finds its data, and where its results go.

use clap::Args;
use std::path::PathBuf;

/// Folders of an experiment.
#[derive(Args)]
pub struct Places {
    /// Folder with the data of the experiments
    #[arg(long, default_value = "../shared/data", value_name = "DIR")]
    pub data: PathBuf,
    /// Folder for tables (.csv, .md) and pictures (.svg)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
