//! `soleus solve`, `soleus inverse` and `soleus track`: optimal control.

mod flags;
pub mod inverse;
pub mod track;

use crate::door::{enter, finish, print};
use clap::Args;
use soleus::Error;
use soleus::optimal_control::{EXAMPLE, GoalReference, Solve, SolveOptions, StudySource, fields};
use std::path::{Path, PathBuf};

/// `--resume` without a file: no file has this name.
const BESIDE: &str = ".";

// Arguments of `soleus solve`.
#[derive(Args)]
#[command(after_help = include_str!("../../help/solve.txt"))]
pub struct Arguments {
    /// Study file (.toml) or MocoStudy file (.omoco)
    #[arg(required_unless_present_any = ["example", "print_example", "fields"])]
    study: Option<PathBuf>,
    /// Solve the built-in study
    #[arg(long)]
    example: bool,
    /// Print the built-in study
    #[arg(long)]
    print_example: bool,
    /// Print all fields of study files: unit, default, meaning
    #[arg(long)]
    fields: bool,
    /// Continue from the saved iterate of a stopped solve: OUT.sto.iterate, or the file given
    #[arg(long, value_name = "ITERATE", num_args = 0..=1, default_missing_value = BESIDE)]
    resume: Option<PathBuf>,
    /// Reference table of a goal, for studies that do not contain it; may be repeated
    #[arg(long, value_name = "GOAL=TABLE.sto")]
    reference: Vec<String>,
    /// Coordinates to prescribe (.sto, .mot), instead of the splines in the study, which Moco writes
    /// with six digits
    #[arg(long = "motion", alias = "kinematics", value_name = "MOTION.sto")]
    kinematics: Option<PathBuf>,
    /// Number of equal mesh intervals, overriding the mesh of the study
    #[arg(long)]
    intervals: Option<usize>,
    /// Coarser meshes to solve first (numbers of intervals), each the initial guess of the next
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    coarse: Vec<usize>,
    /// Solve from this many initial guesses, keep the best and report the optima found
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
    /// Refine the mesh until the error of the states over each interval is below this
    #[arg(long, value_name = "TOLERANCE")]
    refine: Option<f64>,
    /// Scheme: trapezoidal, hermite-simpson, hermite-simpson-compressed, midpoint, backward-euler, legendre-gauss-N,
    /// legendre-gauss-radau-N
    #[arg(long)]
    scheme: Option<String>,
    /// Seconds between two saved iterates
    #[arg(long, value_name = "S")]
    save_every: Option<f64>,
    /// Initial barrier parameter; smaller values stay closer to the guess
    #[arg(long, value_name = "MU")]
    barrier: Option<f64>,
    #[command(flatten)]
    output: flags::OutputFlags,
}

impl Arguments {
    /// The request of these flags.
    fn request(&self) -> Result<Solve, Error> {
        let study = match &self.study {
            Some(path) if !self.example => path.clone().into(),
            _ => StudySource::example(),
        };
        let references =
            self.reference.iter().map(|r| reference(study.path(), r)).collect::<Result<_, _>>()?;
        Ok(Solve {
            references,
            kinematics: self.kinematics.clone().map(Into::into),
            options: SolveOptions {
                intervals: self.intervals,
                coarse: self.coarse.clone(),
                starts: self.starts,
                refine: self.refine,
                scheme: self.scheme.clone(),
                barrier: self.barrier,
                iterate: self.resume.clone().filter(|r| r != Path::new(BESIDE)),
                save_every_s: self.save_every,
                resume: self.resume.is_some(),
                ..self.output.options(&SolveOptions::default())
            },
            study,
            ..Solve::default()
        })
    }
}

/// From `GOAL=FILE`.
fn reference(study: &Path, text: &str) -> Result<GoalReference, Error> {
    match text.split_once('=') {
        Some((goal, file)) => Ok(GoalReference { goal: goal.to_string(), table: file.into() }),
        None => Err(Error::content(study, 0, "", format!("`{text}` is not GOAL=TABLE"), "")),
    }
}

/// Runs `soleus solve`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    if a.print_example {
        return enter(None, a.output.quiet, |cx| print(cx, EXAMPLE));
    }
    if a.fields {
        return enter(None, a.output.quiet, |cx| print(cx, &fields()));
    }
    enter(None, a.output.quiet, |cx| finish(cx, a.request()?.run(cx)))
}
