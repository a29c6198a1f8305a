//! `soleus id`.

use crate::door::{Span, enter, finish, loads_file};
use clap::Args;
use soleus::inputs::paths::folder_of;
use soleus::{Error, InverseDynamics};
use std::path::PathBuf;

// Arguments of `soleus id`.
#[derive(Args)]
#[command(after_help = include_str!("../help/id.txt"))]
pub struct Arguments {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Coordinates over time (.mot, .sto)
    #[arg(long)]
    motion: PathBuf,
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz [default: no filter]
    #[arg(long)]
    cutoff_hz: Option<f64>,
    /// Forces of the model to exclude: names, groups, or all, actuators, muscles
    #[arg(long, value_name = "NAMES", num_args = 0.., default_values_t = ["muscles".to_string(), "actuators".to_string()])]
    exclude: Vec<String>,
    #[command(flatten)]
    span: Span,
    /// File to write (.sto, .csv or .parquet; N m and N)
    #[arg(long, value_name = "OUT.sto")]
    out: PathBuf,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
    /// Filter and differentiate the angles of the root as OpenSim does, instead of its pose; results then depend on the heading
    #[arg(long)]
    root_angles: bool,
}

/// Runs `soleus id`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let request = InverseDynamics {
        model: a.model.clone().into(),
        motion: a.motion.clone().into(),
        loads: loads_file((&a.model, &a.motion), a.loads.as_deref(), folder_of(&a.out))?,
        cutoff_hz: a.cutoff_hz,
        exclude: a.exclude.clone(),
        from: a.span.from,
        to: a.span.to,
        opensim_faults: a.opensim_faults,
        root_angles: a.root_angles,
        output: Some(a.out.clone()),
        ..InverseDynamics::default()
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
