//! The `soleus` command, for its program and for other doors that hold it: the Python package.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

mod analyze;
mod demo;
mod door;
mod experiment;
mod id;
mod ik;
mod model_verbs;
mod muscle_control;
mod pipeline;
mod rea;
mod reconcile;
mod run;
mod scale;
mod simulate;
mod so;
mod solve;
mod table_verbs;

use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Musculoskeletal modelling, simulation and optimal control.
#[derive(Parser)]
#[command(name = "soleus", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Predicts a walk with a model that is built in, and shows it
    Demo(demo::Arguments),

    /// What a model contains, and what of it Soleus does not support
    Info(model_verbs::Info),

    /// Computes everything at given states: poses, velocities, accelerations, mass matrix, forces, muscles, …
    Eval(model_verbs::Eval),

    /// Finds a state in which a model is at rest
    Equilibrium(model_verbs::Rest),

    /// The implicit equations of a model and their sparse, exact Jacobians
    Jacobian(model_verbs::Jacobian),

    /// Simulates a model forward in time and writes its states and controls
    #[command(
        after_help = "Example:\n  soleus simulate arm26.osim --excitation 0.05 --duration 1 --out results\n\n\
        Writes MODEL_states.sto and MODEL_controls.sto. A simulation that cannot go on says when and which state is to\n\
        blame, and leaves everything up to then in the folder."
    )]
    Simulate(simulate::Arguments),

    /// Replaces the paths of muscles by polynomials of the coordinates, for optimal control and real time
    FitPaths(model_verbs::Fit),

    /// Repeats a published experiment and prints our numbers beside the published ones
    Experiment(experiment::Arguments),

    /// Runs a setup file of one of OpenSim's tools
    Run(run::Arguments),

    /// All steps of a study: scaling, kinematics, dynamics, muscles and joint loads of several trials
    Pipeline(pipeline::Arguments),

    /// Scales a generic model to a subject and places its markers
    Scale(scale::Arguments),

    /// Inverse kinematics: joint angles from markers
    Ik(ik::Arguments),

    /// Inverse dynamics: joint moments from a motion and measured loads
    Id(id::Arguments),

    /// Residual reduction: a motion near the measured one that needs smaller forces from nowhere (RRATool)
    Rra(muscle_control::Reduction),

    /// Computed muscle control: excitations that drive a simulation along a motion (CMCTool)
    Cmc(muscle_control::Control),

    /// Residual elimination: a motion of pelvis and back that needs no residual forces
    Rea(rea::Arguments),

    /// A motion that obeys the model: markers, loads and masses brought to agree
    Reconcile(reconcile::Arguments),

    /// Optimal control: solves the problem of a study file or a MocoStudy
    Solve(solve::Arguments),

    /// Excitations of least effort behind a motion, activation and tendon dynamics included (MocoInverse)
    Inverse(solve::inverse::Arguments),

    /// A motion that obeys the model and follows measured coordinates or markers (MocoTrack)
    Track(solve::track::Arguments),

    /// Static optimization: muscle forces and activations behind a motion
    So(so::Arguments),

    /// What can be told about a motion: bodies, muscles, joint reactions, powers, induced accelerations, …
    Analyze(analyze::Arguments),

    /// Rewrites a model file of any version as version 40600 (OpenSim 4.6)
    Upgrade(model_verbs::UpgradeFile),

    /// Turns motion, marker and force files into each other: .sto, .mot, .trc, .csv, .parquet and .c3d in, all but .c3d out
    Convert(table_verbs::ConvertTable),

    /// Draws columns of a motion, marker or force file over time
    Plot(table_verbs::Plot),

    /// Writes the completions of a shell to stdout
    #[command(
        after_help = "Example:\n  soleus completions bash > ~/.local/share/bash-completion/completions/soleus"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Writes manual pages, one for each verb, into a folder
    #[command(after_help = "Example:\n  soleus man ~/.local/share/man/man1")]
    Man {
        /// The folder; it is made if it is not there
        folder: PathBuf,
    },

    /// Shows a model and its motion: a page with an animated figure and plots, or a picture
    View(table_verbs::ViewModel),
}

/// Files and tables up to this size, bytes, come from memory that was used before.
const FROM_THE_HEAP: usize = 16 << 20;

/// Runs the command with these arguments, the name of the program first. Returns the exit code; wrong arguments and `--help` end the
/// program.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    // Once a large block was given back, the allocator of Linux takes blocks up to that size from the heap, where what one file
    // took serves the next; before, every file gets fresh pages, which are a good part of the time of a short command.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FROM_THE_HEAP)));
    let done: Result<(), soleus::Error> = match Cli::parse_from(arguments).verb {
        Verb::Demo(a) => demo::run(&a),
        Verb::Info(arguments) => arguments.run(),
        Verb::Eval(arguments) => arguments.run(),
        Verb::Equilibrium(arguments) => arguments.run(),
        Verb::Jacobian(arguments) => arguments.run(),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::FitPaths(arguments) => arguments.run(),
        Verb::Experiment(arguments) => match experiment::run(&arguments) {
            Ok(code) => return code,
            Err(e) => Err(e),
        },
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Pipeline(arguments) => pipeline::run(&arguments),
        Verb::Scale(arguments) => scale::run(&arguments),
        Verb::Ik(arguments) => ik::run(&arguments),
        Verb::Id(arguments) => id::run(&arguments),
        Verb::Rra(arguments) => arguments.run(),
        Verb::Cmc(arguments) => arguments.run(),
        Verb::Rea(arguments) => rea::run(&arguments),
        Verb::Reconcile(arguments) => reconcile::run(&arguments),
        Verb::Solve(arguments) => solve::run(&arguments),
        Verb::Inverse(arguments) => solve::inverse::run(&arguments),
        Verb::Track(arguments) => solve::track::run(&arguments),
        Verb::So(arguments) => so::run(&arguments),
        Verb::Analyze(arguments) => analyze::run(&arguments),
        Verb::Upgrade(arguments) => arguments.run(),
        Verb::Convert(arguments) => arguments.run(),
        Verb::Plot(arguments) => arguments.run(),
        Verb::View(arguments) => arguments.run(),
        Verb::Completions { shell } => completions(shell),
        Verb::Man { folder } => manual(&folder),
    };
    match done {
        Ok(()) => 0,
        Err(e) => {
            door::say(&e.to_string());
            door::exit_code(&e)
        }
    }
}

/// The completions of a shell.
fn completions(shell: clap_complete::Shell) -> Result<(), soleus::Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "soleus", &mut text);
    door::enter(None, false, |cx| door::print(cx, &String::from_utf8_lossy(&text)))
}

/// A manual page for the program and each of its verbs.
fn manual(folder: &Path) -> Result<(), soleus::Error> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    door::enter(None, false, |cx| {
        for c in std::iter::once(&command).chain(command.get_subcommands()) {
            let name = c.get_display_name().unwrap_or(c.get_name());
            let mut page = Vec::new();
            let file = folder.join(format!("{name}.1"));
            let done = clap_mangen::Man::new(c.clone()).render(&mut page);
            done.map_err(|e| soleus::Error::write(cx.files, &file, e))?;
            soleus::Artifact::bytes(file, page).derived().write(cx)?;
        }
        Ok(())
    })
}
