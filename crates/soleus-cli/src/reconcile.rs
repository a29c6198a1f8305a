//! `soleus reconcile`.

use crate::door::{Span, enter, finish};
use clap::Args;
use soleus::{Error, Reconcile};
use std::path::PathBuf;

// Arguments of `soleus reconcile`.
#[derive(Args)]
#[command(after_help = include_str!("../help/reconcile.txt"))]
pub struct Arguments {
    /// Model file (.osim, any version); with markers if markers are tracked
    #[arg(long)]
    model: PathBuf,
    /// Measured markers (.trc, .c3d)
    #[arg(long, required_unless_present = "motion")]
    markers: Option<PathBuf>,
    /// Weights of markers: an IKTaskSet, or a setup file of inverse kinematics
    #[arg(long, value_name = "TASKS.xml", requires = "markers")]
    tasks: Option<PathBuf>,
    /// Coordinates over time (.mot, .sto), instead of markers
    #[arg(long, conflicts_with = "markers")]
    motion: Option<PathBuf>,
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: PathBuf,
    /// Forces of the model to exclude: names, groups, or all, actuators, muscles
    #[arg(long, value_name = "NAMES", num_args = 0.., default_values_t = Reconcile::default().exclude)]
    exclude: Vec<String>,
    /// Frequency above which markers do not affect the motion, Hz; 0 for no limit
    #[arg(long, default_value_t = Reconcile::default().cutoff_hz)]
    cutoff_hz: f64,
    /// SD of markers, m
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().marker_sd)]
    marker_sd: f64,
    /// SD of the remaining residuals, N and N m [default: no residuals]
    #[arg(long, value_name = "SD")]
    residual_sd: Option<f64>,
    /// SDs of residuals for the trade-off between markers and forces
    #[arg(long, value_name = "SD", num_args = 1..)]
    curve: Vec<f64>,
    /// SD of marker placement on the bodies, m
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().marker_offset_sd)]
    marker_offset_sd: f64,
    /// SD of masses, relative to each mass; the total is kept
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().mass_sd)]
    mass_sd: f64,
    /// SD of mass centres, m
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().mass_center_sd)]
    mass_center_sd: f64,
    /// SD of a constant offset of the centres of pressure, m, and of free moments in proportion to the load, N m per N
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().load_offset_sd)]
    load_offset_sd: f64,
    /// SD of the gain of each load, as a fraction, and of the tilt of its axes, rad
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().load_gain_sd)]
    load_gain_sd: f64,
    /// SD of a time delay of the loads, s
    #[arg(long, value_name = "SD", default_value_t = Reconcile::default().load_delay_sd)]
    load_delay_sd: f64,
    #[command(flatten)]
    span: Span,
    /// File to write (.mot or .sto)
    #[arg(long, value_name = "OUT.mot")]
    out: PathBuf,
    /// File for the adjusted model (masses, mass centres, markers)
    #[arg(long, value_name = "OUT.osim")]
    model_out: Option<PathBuf>,
    /// File for the adjusted loads; their data are written next to it as NAME_data.mot
    #[arg(long, value_name = "OUT.xml")]
    loads_out: Option<PathBuf>,
    /// File for the trade-off curve
    #[arg(long, value_name = "OUT.csv")]
    curve_out: Option<PathBuf>,
}

/// Runs `soleus reconcile`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let request = Reconcile {
        model: a.model.clone().into(),
        markers: a.markers.clone().map(Into::into),
        task_file: a.tasks.clone(),
        motion: a.motion.clone().map(Into::into),
        loads: Some(a.loads.clone()),
        exclude: a.exclude.clone(),
        cutoff_hz: a.cutoff_hz,
        marker_sd: a.marker_sd,
        residual_sd: a.residual_sd,
        curve: a.curve.clone(),
        marker_offset_sd: a.marker_offset_sd,
        mass_sd: a.mass_sd,
        mass_center_sd: a.mass_center_sd,
        load_offset_sd: a.load_offset_sd,
        load_gain_sd: a.load_gain_sd,
        load_delay_sd: a.load_delay_sd,
        from: a.span.from,
        to: a.span.to,
        output: Some(a.out.clone()),
        model_output: a.model_out.clone(),
        loads_output: a.loads_out.clone(),
        curve_output: a.curve_out.clone(),
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
