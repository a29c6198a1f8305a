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

/// Arguments of `soleus solve`.
#[derive(Args)]
#[command(after_help = include_str!("../../help/solve.txt"))]
pub struct Arguments {
    /// Study file (.toml) or MocoStudy file (.omoco)
    #[arg(required_unless_present_any = ["example", "print_example", "fields"])]
    study: Option<PathBuf>,
    /// Solve the built-in study
    #[arg(long)]
    example: bool,
    /// Write the built-in study to stdout
    #[arg(long)]
    print_example: bool,
    /// Write every field of study files to stdout: unit, default, meaning
    #[arg(long)]
    fields: bool,
    /// File to write; by default NAME_solution.sto in the folder you are in
    #[arg(long, value_name = "OUT.sto")]
    out: Option<PathBuf>,
    /// Motion to start from (.sto), instead of the one the study names
    #[arg(long, value_name = "GUESS.sto")]
    guess: Option<PathBuf>,
    /// Continue from the iterate that a stopped solve left: OUT.sto.iterate, or the file given
    #[arg(long, value_name = "ITERATE", num_args = 0..=1, default_missing_value = BESIDE)]
    resume: Option<PathBuf>,
    /// Table a goal tracks, for studies that held it in memory only; may be repeated
    #[arg(long, value_name = "GOAL=TABLE.sto")]
    reference: Vec<String>,
    /// Coordinates over time to prescribe (.sto, .mot), instead of the splines of the study, which Moco writes with
    /// six digits
    #[arg(long = "motion", alias = "kinematics", value_name = "MOTION.sto")]
    kinematics: Option<PathBuf>,
    /// Number of equal mesh intervals, instead of the study's mesh
    #[arg(long)]
    intervals: Option<usize>,
    /// Meshes of this many intervals to solve first, each the start of the next
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    coarse: Vec<usize>,
    /// Solve from this many initial guesses, keep the best and report the optima found
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
    /// Make the mesh finer where needed, until the error of the states over an interval is below this
    #[arg(long, value_name = "TOLERANCE")]
    refine: Option<f64>,
    /// Scheme: trapezoidal, hermite-simpson, hermite-simpson-compressed, midpoint, backward-euler, legendre-gauss-N,
    /// legendre-gauss-radau-N
    #[arg(long)]
    scheme: Option<String>,
    /// Tolerance of the optimality conditions, instead of the study's
    #[arg(long)]
    tolerance: Option<f64>,
    /// Maximum number of iterations
    #[arg(long)]
    max_iterations: Option<usize>,
    /// Threads; by default as many as there are cores. Results do not depend on it
    #[arg(long)]
    threads: Option<usize>,
    /// Seconds between two iterates on disk
    #[arg(long, value_name = "S")]
    save_every: Option<f64>,
    /// Page to write too: costs, quality, plots and an animated figure of the solution
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// First barrier parameter; smaller ones stay closer to the guess
    #[arg(long, value_name = "MU")]
    barrier: Option<f64>,
    /// Simulate the solution from its first state under its controls, and say how far that ends from it
    #[arg(long)]
    simulate: bool,
    /// Print only warnings and errors
    #[arg(long)]
    quiet: bool,
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
                solution: self.out.clone(),
                report: self.report.clone(),
                guess: self.guess.clone().map(Into::into),
                intervals: self.intervals,
                coarse: self.coarse.clone(),
                starts: self.starts,
                refine: self.refine,
                scheme: self.scheme.clone(),
                tolerance: self.tolerance,
                max_iterations: self.max_iterations,
                barrier: self.barrier,
                threads: self.threads,
                simulate: self.simulate,
                save_iterates: true,
                iterate: self.resume.clone().filter(|r| r != Path::new(BESIDE)),
                save_every_s: self.save_every,
                resume: self.resume.is_some(),
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
        return enter(None, a.quiet, |cx| print(cx, EXAMPLE));
    }
    if a.fields {
        return enter(None, a.quiet, |cx| print(cx, &fields()));
    }
    enter(None, a.quiet, |cx| finish(cx, a.request()?.run(cx)))
}
