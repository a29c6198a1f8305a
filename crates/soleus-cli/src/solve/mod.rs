//! `soleus solve`: optimal control.

mod bounds;
mod constraints;
mod contact;
mod frames;
mod goals;
pub mod inverse;
mod markers;
mod model;
mod outputs;
mod page;
mod parameters;
mod prescribed;
mod progress;
mod references;
mod tool;
pub mod track;
mod trajectory;

use crate::failure::Failure;
use crate::{load, setup};
use clap::Args;
use progress::Progress;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Bounds, Collocation, Scheme, Settings, Trajectory};
use soleus_dynamics::Options;
use soleus_io::setup::Setup;
use soleus_io::setup::moco::{MocoSolver, MocoStudySetup, PrescribedCoordinate};
use soleus_optimization::nlp;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `soleus solve`.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus solve squat.omoco --out squat_solution.sto\n\n\
    Solves the optimal control problem of a MocoStudy. File names in it are taken from its folder. The solution has the\n\
    layout of a MocoTrajectory; progress and the cost of each goal go to stderr.")]
pub struct Arguments {
    /// MocoStudy file (.omoco)
    study: PathBuf,
    /// File to write; by default NAME_solution.sto in the folder you are in
    #[arg(long, value_name = "OUT.sto")]
    out: Option<PathBuf>,
    /// Motion to start from (.sto), instead of the one the study names
    #[arg(long, value_name = "GUESS.sto")]
    guess: Option<PathBuf>,
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
    /// Scheme: trapezoidal, hermite-simpson, midpoint, backward-euler, legendre-gauss-N, legendre-gauss-radau-N
    #[arg(long)]
    scheme: Option<String>,
    /// Tolerance of the optimality conditions, instead of the study's
    #[arg(long)]
    tolerance: Option<f64>,
    /// Most iterations
    #[arg(long)]
    max_iterations: Option<usize>,
    /// Page to write too: costs, quality, plots and an animated figure of the solution
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// First barrier parameter; smaller ones stay closer to the guess
    #[arg(long, value_name = "MU")]
    barrier: Option<f64>,
    /// Say nothing about progress
    #[arg(long)]
    quiet: bool,
}

/// Runs `soleus solve`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    match setup::read(&a.study)? {
        Setup::MocoStudy(s) => run_study(&a.study, &s, a),
        _ => Err(Failure::content(&a.study, 0, "", "the file holds no MocoStudy".into(), "try `soleus run`")),
    }
}

/// Solves a study with the settings of its file.
pub fn run_setup(path: &Path, s: &MocoStudySetup) -> Result<(), Failure> {
    run_study(path, s, &Arguments::of_file(path))
}

impl Arguments {
    /// Everything as the file says.
    fn of_file(path: &Path) -> Arguments {
        Arguments {
            study: path.to_path_buf(),
            out: None,
            guess: None,
            reference: Vec::new(),
            kinematics: None,
            intervals: None,
            scheme: None,
            tolerance: None,
            max_iterations: None,
            report: None,
            barrier: None,
            quiet: false,
        }
    }
}

fn run_study(path: &Path, s: &MocoStudySetup, a: &Arguments) -> Result<(), Failure> {
    let source = model::Source::of_study(path, s);
    let base = posed(&source)?;
    let motions = match &a.kinematics {
        Some(file) => prescribed::read(file, &base)?,
        None => s.prescribed.clone(),
    };
    let inputs = Inputs { motions, given: references::Given::parse(path, &a.reference)?, guess: None };
    solve(source, s, a, base, inputs)
}

/// What a study is given beside its file.
#[derive(Default)]
struct Inputs {
    /// Coordinates that are prescribed.
    motions: Vec<PrescribedCoordinate>,
    /// Tables that goals follow.
    given: references::Given,
    /// Motion to start from, where no file is named.
    guess: Option<Trajectory>,
}

/// The model of a study, ready to be asked.
fn posed(source: &model::Source) -> Result<ModelProblem, Failure> {
    let model = source.build()?;
    let system = Arc::new(load::compile(source.path, &model, &Options::default())?);
    Ok(ModelProblem::new(Arc::new(model), system))
}

fn solve(
    source: model::Source,
    s: &MocoStudySetup,
    a: &Arguments,
    base: ModelProblem,
    inputs: Inputs,
) -> Result<(), Failure> {
    let path = source.path;
    let ranges = parameters::ranges(&source, s, &base)?;
    let mut problem = base.problem(pair(s.default_speed_bounds), &ranges);
    bounds::apply(path, s, &base, &mut problem)?;
    // The equations are not differentiated by time.
    if base.system.depends_on_time() && !(problem.initial_time.is_fixed() && problem.final_time.is_fixed()) {
        let message =
            "forces or constraints of the model depend on time, so both times must be fixed".to_string();
        return Err(Failure::content(path, 0, "", message, "give the time bounds one value each"));
    }
    prescribed::apply(path, &inputs.motions, &base, &mut problem)?;
    problem.goals = goals::build(path, s, &base, &inputs.given)?;
    problem.path_constraints = constraints::build(path, s, &base)?;
    for name in problem.unused() {
        eprintln!("warning: nothing depends on `{name}`");
    }

    let settings = settings(path, &s.solver, a)?;
    let mut program = Collocation::new(problem, &settings).map_err(|errors| {
        let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::content(path, 0, "", text.join("\n  "), "")
    })?;
    if let Some(first) = program.impossible(1e-6).first() {
        let message =
            format!("{} cannot hold: it is off by {:.3e} whatever is chosen", first.name, first.amount);
        return Err(Failure::content(path, 0, "", message, "check the bounds at the initial and final time"));
    }
    let guess = a.guess.clone().or_else(|| s.solver.guess_file.as_ref().map(|g| setup::beside(path, g)));
    if let Some(file) = &guess {
        program.set_guess(&trajectory::read(file, &base)?);
    }
    if let Some(guess) = &inputs.guess {
        program.set_guess(guess);
    }

    let options = options(&s.solver, a);
    let mut progress = Progress::new(a.quiet, &program);
    let solution = nlp::solve(&mut program, &options, None, &mut |i| progress.tell(i))
        .map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
    let seconds = progress.finish(&solution);

    let goals = program.objective_by_goal(&solution.x);
    for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
        eprintln!("  {name}: {value:.9e}");
    }
    let out = a.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}_solution.sto", name_of(path, s))));
    let found = program.trajectory(&solution.x);
    load::write_whole(&out, &trajectory::write(&found, &base, s, &solution, &goals, seconds))?;
    if let Some(page) = &a.report {
        load::write_whole(page, &page::html(path, s, &base, &found, &solution, &goals, seconds))?;
    }
    if solution.status.is_solved() {
        return Ok(());
    }
    let worst = program.violations(&solution.x, 0.0);
    let worst =
        worst.first().map_or(String::new(), |v| format!("; worst: {}, off by {:.3e}", v.name, v.amount));
    Err(Failure::NotSolved {
        message: format!(
            "{} after {} iterations, constraint violation {:.3e}{worst}\n  the last iterate is in {}; `--guess` starts from it",
            solution.status.describe(),
            solution.counts.iterations,
            solution.certificate.constraint_violation,
            out.display()
        ),
    })
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

fn settings(path: &Path, s: &MocoSolver, a: &Arguments) -> Result<Settings, Failure> {
    let name = a.scheme.as_ref().unwrap_or(&s.transcription_scheme);
    let scheme = Scheme::from_name(name)
        .ok_or_else(|| Failure::content(path, 0, "", format!("there is no scheme `{name}`"), ""))?;
    let mesh = match a.intervals {
        Some(n) => Settings::uniform_mesh(n),
        None if s.mesh.is_empty() => Settings::uniform_mesh(s.num_mesh_intervals),
        None => s.mesh.clone(),
    };
    let constraint_method = match s.kinematic_constraint_method.as_str() {
        "Posa2016" => ConstraintMethod::Posa2016,
        "Bordalba2023" => ConstraintMethod::Bordalba2023,
        other => {
            let message = format!("there is no method `{other}` for kinematic constraints");
            return Err(Failure::content(path, 0, "", message, "choose Posa2016 or Bordalba2023"));
        }
    };
    Ok(Settings {
        scheme,
        mesh,
        interpolate_controls: s.interpolate_control_mesh_interior_points,
        constrain_interior: s.enforce_path_constraint_mesh_interior_points,
        constraint_method,
        constraint_derivatives: s.enforce_constraint_derivatives,
        correction_bounds: pair(s.velocity_correction_bounds),
        projection_bounds: pair(s.projection_slack_variable_bounds),
        projection_weight: s.projection_weight,
    })
}

fn options(s: &MocoSolver, a: &Arguments) -> nlp::Options {
    let mut o = nlp::Options::default();
    if s.optim_convergence_tolerance > 0.0 {
        // Moco sets these three together. Its studies choose them for a solver without second derivatives, which
        // ends nearer to the optimum than they ask; with them, a hundredth costs a few iterations.
        o.tolerance = (0.01 * s.optim_convergence_tolerance).max(o.tolerance);
        o.dual_tolerance = s.optim_convergence_tolerance;
        o.complementarity_tolerance = 0.01 * s.optim_convergence_tolerance;
    }
    if s.optim_constraint_tolerance > 0.0 {
        o.constraint_tolerance = s.optim_constraint_tolerance;
    }
    if s.optim_max_iterations > 0.0 {
        o.max_iterations = s.optim_max_iterations as usize;
    }
    o.tolerance = a.tolerance.unwrap_or(o.tolerance);
    o.max_iterations = a.max_iterations.unwrap_or(o.max_iterations);
    o.initial_barrier = a.barrier.unwrap_or(o.initial_barrier);
    o
}
