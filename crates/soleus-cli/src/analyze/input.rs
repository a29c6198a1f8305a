//! What `soleus analyze` and `soleus so` share.

use crate::door::{Span, loads_file};
use soleus::Error;
use soleus::analysis::AnalysisOutput;
use std::path::PathBuf;

// What both verbs take.
#[derive(clap::Args)]
pub struct Input {
    /// Model file (.osim, any version)
    #[arg(long)]
    pub model: PathBuf,
    /// Motion: coordinates (.mot, .sto) or states with speeds (.sto); the header tells whether angles are in degrees
    #[arg(long, value_name = "MOTION.mot")]
    pub motion: PathBuf,
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Residual actuators between ground and the model: optimal moment (N m) and optimal force (N)
    #[arg(long, value_name = "MOMENT,FORCE", value_delimiter = ',', num_args = 1)]
    pub residuals: Vec<f64>,
    /// Reserve actuators: XML files with a ForceSet, or an optimal force (N m or N) to add one to every coordinate without an actuator
    #[arg(long, value_name = "FORCES.xml|FORCE", num_args = 1..)]
    reserves: Vec<String>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz [default: no filter]
    #[arg(long)]
    pub cutoff_hz: Option<f64>,
    #[command(flatten)]
    pub span: Span,
    /// Use every Nth row of the motion
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub every: usize,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    pub opensim_faults: bool,
    /// Filter and differentiate the angles of the root as OpenSim does, instead of its pose; results then depend on the heading
    #[arg(long)]
    pub root_angles: bool,
}

impl Input {
    /// Reserves that come in files.
    pub fn force_sets(&self) -> Vec<PathBuf> {
        self.reserves.iter().filter(|r| r.parse::<f64>().is_err()).map(PathBuf::from).collect()
    }

    /// Reserves that come without a file.
    pub fn reserves(&self) -> Vec<f64> {
        self.reserves.iter().filter_map(|r| r.parse().ok()).collect()
    }

    /// Measured loads as an ExternalLoads file.
    pub fn loads(&self) -> Result<Option<PathBuf>, Error> {
        loads_file((&self.model, &self.motion), self.loads.as_deref(), &self.out)
    }

    /// Files to write.
    pub fn output(&self) -> AnalysisOutput {
        AnalysisOutput { folder: Some(self.out.clone()), name: None }
    }
}
