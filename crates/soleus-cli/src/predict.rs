//! `soleus predict` and `soleus add`: gaits that nobody measured, and parts that models get.

use crate::door::{enter, finish, print};
use clap::Args;
use soleus::{Add, Error, Outcome, Predict};
use std::path::PathBuf;

// What `soleus predict` is told.
#[derive(Args)]
#[command(after_help = include_str!("../help/predict.txt"))]
pub struct Gait {
    /// Model (.osim), or builtin:gait2d
    model: PathBuf,
    /// Speed, m/s [default: 1.3, or 3 with --run]
    #[arg(long)]
    speed: Option<f64>,
    /// Slope of the ground, degrees; positive is uphill
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true)]
    slope: f64,
    /// Run instead of walk
    #[arg(long)]
    run: bool,
    /// Whole cycle instead of a symmetric half cycle
    #[arg(long)]
    whole: bool,
    /// TOML file of parts to add, such as an exoskeleton; properties given as a range are optimised
    #[arg(long, value_name = "PARTS.toml")]
    device: Option<PathBuf>,
    /// A property of the model to optimise; may be repeated
    #[arg(long, value_name = "COMPONENT.PROPERTY=LOWER,UPPER")]
    free: Vec<String>,
    /// Term of effort: excitations, excitations2, activations, metabolic, accelerations, trunk
    #[arg(long, value_name = "NAME[=WEIGHT]")]
    effort: Vec<String>,
    /// Add contact spheres under heels and toes
    #[arg(long)]
    add_feet: bool,
    /// Solve from this many initial guesses and keep the best
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
    /// Mesh intervals
    #[arg(long)]
    intervals: Option<usize>,
    /// Name of the files [default: name of the model]
    #[arg(long)]
    name: Option<String>,
    /// Folder to write to
    #[arg(long, default_value = "prediction", value_name = "FOLDER")]
    out: PathBuf,
    /// Write the study only
    #[arg(long)]
    study_only: bool,
    /// Print only warnings and errors
    #[arg(long)]
    quiet: bool,
}

impl Gait {
    /// Finds the gait and tells of it.
    pub fn run(&self) -> Result<(), Error> {
        let request = Predict {
            model: self.model.clone().into(),
            speed: self.speed,
            slope_deg: self.slope,
            run: self.run,
            whole: self.whole,
            device: self.device.clone(),
            free: self.free.clone(),
            effort: self.effort.clone(),
            add_feet: self.add_feet,
            starts: self.starts,
            intervals: self.intervals,
            name: self.name.clone(),
            output: self.out.clone(),
            study_only: self.study_only,
            ..Predict::default()
        };
        enter(None, self.quiet, |cx| {
            let found = request.run(cx)?;
            found.write(cx)?;
            let lines: String = found.lines().iter().map(|l| format!("{l}\n")).collect();
            print(cx, &lines)?;
            found.verdict()
        })
    }
}

// What `soleus add` is told.
#[derive(Args)]
#[command(after_help = include_str!("../help/add.txt"))]
pub struct Parts {
    /// Model (.osim)
    model: PathBuf,
    /// Parts: each one argument, 'TYPE NAME=VALUE …'
    parts: Vec<String>,
    /// TOML file of parts ([[add]] tables)
    #[arg(long, value_name = "PARTS.toml")]
    file: Option<PathBuf>,
    /// File to write
    #[arg(long, value_name = "OUT.osim")]
    out: PathBuf,
}

impl Parts {
    /// Adds the parts.
    pub fn run(&self) -> Result<(), Error> {
        let parts = self.parts.iter().map(|p| p.parse()).collect::<Result<_, _>>()?;
        let (model, output) = (self.model.clone().into(), Some(self.out.clone()));
        let request = Add { model, parts, file: self.file.clone(), output };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}
