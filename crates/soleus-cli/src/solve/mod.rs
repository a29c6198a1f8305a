//! `soleus solve`: optimal control.

mod again;
mod blame;
mod bounds;
mod constraints;
mod contact;
pub mod found;
mod frames;
mod goals;
pub mod guess;
pub mod inverse;
mod iterate;
pub mod loads;
mod markers;
mod meshes;
mod model;
mod outputs;
mod page;
mod parameters;
mod phases;
mod prescribed;
mod progress;
mod references;
mod session;
mod settings;
mod tool;
pub mod track;
mod trajectory;
mod watch;

pub use tool::goal;

use crate::failure::Failure;
use crate::{load, setup};
use clap::Args;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Bounds, Collocation, Problem, Trajectory};
use soleus_dynamics::Options;
use soleus_io::setup::Setup;
use soleus_io::setup::moco::{MocoStudySetup, MocoToolSetup, PrescribedCoordinate};
use soleus_io::study::{self, Study};
use soleus_model::Diagnostics;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `--resume` without a file: no file has this name.
const BESIDE: &str = ".";

/// A study that needs no other file.
const EXAMPLE: &str = include_str!("example.toml");

/// Arguments of `soleus solve`.
#[derive(Args, Default)]
#[command(after_help = "Examples:\n  soleus solve --example\n  soleus solve --print-example > kick.toml\n  \
    soleus solve kick.toml --report kick.html\n  soleus solve squat.omoco --out squat_solution.sto\n\n\
    Solves the optimal control problem of a study file (.toml, see docs/guide/study.md) or a MocoStudy (.omoco). File\n\
    names in it are taken from its folder. The solution has the layout of a MocoTrajectory; progress and the cost of\n\
    each goal go to stderr. Ctrl-C stops after the current iteration, and --resume goes on from it.")]
pub struct Arguments {
    /// Study file (.toml) or MocoStudy file (.omoco)
    #[arg(required_unless_present_any = ["example", "print_example", "fields"])]
    study: Option<PathBuf>,
    /// Solve the study that is built in
    #[arg(long)]
    example: bool,
    /// Write the study that is built in to stdout
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
    /// Go on from the iterate that a stopped solve left: OUT.sto.iterate, or the file given
    #[arg(long, value_name = "ITERATE", num_args = 0..=1, default_missing_value = BESIDE)]
    resume: Option<PathBuf>,
    /// Table a goal tracks, for studies that held it in memory only; may be repeated
    #[arg(long, value_name = "GOAL=TABLE.sto")]
    reference: Vec<String>,
    /// Coordinates over time to prescribe (.sto, .mot), instead of the splines of the study, which Moco writes with
    /// six digits
    #[arg(long, value_name = "MOTION.sto")]
    kinematics: Option<PathBuf>,
    /// Number of equal mesh intervals, instead of the study's mesh
    #[arg(long)]
    intervals: Option<usize>,
    /// Meshes of so many intervals to solve first, each the start of the next
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    coarse: Vec<usize>,
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
    /// Most iterations
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
    /// Say nothing about progress
    #[arg(long)]
    quiet: bool,
}

impl Arguments {
    /// Everything as the file says.
    fn of_file(path: &Path) -> Arguments {
        Arguments { study: Some(path.to_path_buf()), ..Arguments::default() }
    }
}

/// Runs `soleus solve`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    if a.print_example {
        return load::write_whole(Path::new("-"), EXAMPLE);
    }
    if a.fields {
        return load::write_whole(Path::new("-"), &study::reference());
    }
    let (path, text) = match &a.study {
        Some(path) if !a.example => {
            (path.clone(), std::fs::read_to_string(path).map_err(|e| Failure::read(path, e))?)
        }
        _ => (PathBuf::from("example.toml"), EXAMPLE.to_string()),
    };
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        let mut log = Diagnostics::new(path.display().to_string());
        let study = study::read(&text, &mut log);
        load::report(&log);
        let study = study.ok_or_else(|| load::errors(&path, &log))?;
        return run_study(&path, &study, true, a);
    }
    match setup::read(&path)? {
        Setup::MocoStudy(s) => run_study(&path, &Study::from(*s), false, a),
        _ => Err(Failure::content(&path, 0, "", "the file holds no MocoStudy".into(), "try `soleus run`")),
    }
}

/// Solves a study with the settings of its file.
pub fn run_setup(path: &Path, s: &MocoStudySetup) -> Result<(), Failure> {
    run_study(path, &Study::from(s.clone()), false, &Arguments::default())
}

fn run_study(path: &Path, study: &Study, is_toml: bool, a: &Arguments) -> Result<(), Failure> {
    if !study.phases.is_empty() {
        return phases::run(path, study, a);
    }
    let source = model::Source::of_study(path, &study.setup);
    let base = posed(&source)?;
    let inputs = inputs_of(path, study, &base, a)?;
    session::run((source, base), study, is_toml, a, inputs)
}

/// The motion and the tables that a study or the command line names.
fn inputs_of(path: &Path, study: &Study, base: &ModelProblem, a: &Arguments) -> Result<Inputs, Failure> {
    let kinematics =
        a.kinematics.clone().or_else(|| study.kinematics.as_ref().map(|k| setup::beside(path, k)));
    let motions = match &kinematics {
        Some(file) => prescribed::read(file, base)?,
        None => study.setup.prescribed.clone(),
    };
    Ok(Inputs { motions, given: references::Given::parse(path, &a.reference)?, guess: None })
}

/// Names a constraint that nothing can change and that does not hold.
fn refuse_impossible(path: &Path, program: &mut Collocation) -> Result<(), Failure> {
    let list = program.impossible(1e-6);
    let Some(first) = list.first() else { return Ok(()) };
    let message = format!("{first} cannot hold: it is off by {:.3e} whatever is chosen", first.amount);
    Err(Failure::content(path, 0, "", message, "check the bounds at the initial and final time"))
}

/// What a study is given beside its file.
#[derive(Default)]
pub struct Inputs {
    /// Coordinates that are prescribed.
    pub motions: Vec<PrescribedCoordinate>,
    /// Tables that goals follow.
    pub given: references::Given,
    /// Motion to start from, where no file is named.
    pub guess: Option<Trajectory>,
}

/// The model of a study, ready to be asked.
fn posed(source: &model::Source) -> Result<ModelProblem, Failure> {
    let model = source.build()?;
    let system = Arc::new(load::compile(source.path, &model, &Options::default())?);
    Ok(ModelProblem::new(Arc::new(model), system))
}

/// Solves a study that a tool has made.
fn solve(
    source: model::Source,
    s: &MocoStudySetup,
    a: &Arguments,
    base: ModelProblem,
    inputs: Inputs,
) -> Result<(), Failure> {
    session::run((source, base), &Study::from(s.clone()), false, a, inputs)
}

/// The problem of a study.
fn problem(
    source: &model::Source,
    s: &MocoStudySetup,
    base: &ModelProblem,
    inputs: &Inputs,
) -> Result<Problem, Failure> {
    let path = source.path;
    let ranges = parameters::ranges(source, s, base)?;
    let mut problem = base.problem(pair(s.default_speed_bounds), &ranges);
    bounds::apply(path, s, base, &mut problem)?;
    // The equations are not differentiated by time.
    if base.system.depends_on_time() && !(problem.initial_time.is_fixed() && problem.final_time.is_fixed()) {
        let message =
            "forces or constraints of the model depend on time, so both times must be fixed".to_string();
        return Err(Failure::content(path, 0, "", message, "give the time bounds one value each"));
    }
    prescribed::apply(path, &inputs.motions, base, &mut problem)?;
    problem.goals = goals::build(path, s, base, inputs)?;
    problem.path_constraints = constraints::build(path, s, base)?;
    parameters::vary_goals(source, s, inputs, &mut problem)?;
    Ok(problem)
}

/// Where the model of a tool comes from.
pub fn source_of_tool<'a>(path: &'a Path, t: &'a MocoToolSetup) -> model::Source<'a> {
    model::Source::of_tool(path, t)
}

fn name_of(path: &Path, s: &MocoStudySetup) -> String {
    if s.name.is_empty() {
        path.file_stem().map_or("study".into(), |n| n.to_string_lossy().into_owned())
    } else {
        s.name.clone()
    }
}

fn pair(b: [f64; 2]) -> Bounds {
    Bounds::new(b[0], b[1])
}
