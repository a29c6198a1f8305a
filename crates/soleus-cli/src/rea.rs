//! `soleus rea`.

use crate::door::{Span, enter, finish, loads_file};
use clap::{Args, ValueEnum};
use soleus::inputs::paths::folder_of;
use soleus::residual_elimination::{GaitCycle, STEP};
use soleus::{Error, ResidualElimination};
use std::path::PathBuf;

/// Part of a gait cycle.
#[derive(Clone, Copy, ValueEnum)]
enum Cycle {
    /// Unknown, or not gait
    None,
    /// Half a cycle: lateral bending and rotation of the back are mirrored at the end
    Half,
    /// A whole cycle: the back returns to its initial posture
    Whole,
}

// Arguments of `soleus rea`.
#[derive(Args)]
#[command(after_help = include_str!("../help/rea.txt"))]
pub struct Arguments {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Coordinates over time (.mot, .sto)
    #[arg(long)]
    motion: PathBuf,
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: PathBuf,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz [default: no filter]
    #[arg(long)]
    cutoff_hz: Option<f64>,
    /// Forces of the model to exclude: names, groups, or all, actuators, muscles
    #[arg(long, value_name = "NAMES", num_args = 0.., default_values_t = ResidualElimination::default().exclude)]
    exclude: Vec<String>,
    /// Translations to solve for [default: those of the joint between ground and the model]
    #[arg(long, value_name = "COORDINATES", num_args = 1..)]
    translations: Vec<String>,
    /// Angles to solve for [default: those of the pelvis joint that supports the most mass]
    #[arg(long, value_name = "COORDINATES", num_args = 1..)]
    back: Vec<String>,
    /// Weights of translations (mm), angles of the back (deg), and periodicity (deg)
    #[arg(long, num_args = 3, value_names = ["WX", "WB", "WS"], default_values_t = ResidualElimination::default().weights)]
    weights: Vec<f64>,
    /// Part of the gait cycle covered by the time range
    #[arg(long, value_enum, default_value = "none")]
    cycle: Cycle,
    /// Penalise a constant offset of back flexion too
    #[arg(long)]
    keep_mean_flexion: bool,
    #[command(flatten)]
    span: Span,
    /// Time between rows of the result, s; inverse dynamics of rows farther apart finds residuals again
    #[arg(long = "interval", alias = "step", value_name = "S", default_value_t = STEP)]
    step: f64,
    /// File to write (.mot or .sto)
    #[arg(long, value_name = "OUT.mot")]
    out: PathBuf,
    /// File for the speeds of all coordinates
    #[arg(long, value_name = "OUT.sto")]
    speeds_out: Option<PathBuf>,
    /// File for the accelerations, rad/s² and m/s²
    #[arg(long, value_name = "OUT.sto")]
    accelerations_out: Option<PathBuf>,
}

/// Runs `soleus rea`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let mut weights = ResidualElimination::default().weights;
    weights.iter_mut().zip(&a.weights).for_each(|(w, given)| *w = *given);
    let request = ResidualElimination {
        model: a.model.clone().into(),
        motion: a.motion.clone().into(),
        loads: loads_file((&a.model, &a.motion), Some(&a.loads), folder_of(&a.out))?,
        cutoff_hz: a.cutoff_hz,
        exclude: a.exclude.clone(),
        translations: a.translations.clone(),
        back: a.back.clone(),
        weights,
        cycle: match a.cycle {
            Cycle::None => GaitCycle::None,
            Cycle::Half => GaitCycle::Half,
            Cycle::Whole => GaitCycle::Whole,
        },
        keep_mean_flexion: a.keep_mean_flexion,
        from: a.span.from,
        to: a.span.to,
        step: Some(a.step),
        output: Some(a.out.clone()),
        speeds_output: a.speeds_out.clone(),
        accelerations_output: a.accelerations_out.clone(),
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
