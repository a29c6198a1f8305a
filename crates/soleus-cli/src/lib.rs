//! The `soleus` command, for its program and for other doors that hold it: the Python package.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

mod analyze;
mod demo;
mod door;
mod emg;
mod experiment;
mod gait;
mod id;
mod ik;
mod model_verbs;
mod muscle_control;
mod pipeline;
mod predict;
mod rea;
mod reconcile;
mod run;
mod scale;
mod simulate;
mod so;
mod solve;
mod table_verbs;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Musculoskeletal modelling, simulation and optimal control.
#[derive(Parser)]
#[command(
    name = "soleus",
    version,
    arg_required_else_help = true,
    help_template = "{about}\n\n{usage-heading} {usage}{after-help}\n\nOptions:\n{options}"
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

// The arguments of a verb are listed when it is called: all of them took up to a tenth of the time of a short tool. They come after the line of
// help here, which a doc comment on their struct would replace; those have plain comments.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Predicts a walk with a built-in model and shows it
    Demo(demo::Arguments),
    /// Shows what a file contains: model, markers, motion, setup, study, C3D, mesh
    Info(model_verbs::Info),
    /// Evaluates a model at given states: poses, accelerations, mass matrix, forces, muscles
    Eval(model_verbs::Eval),
    /// Finds an equilibrium of a model
    Equilibrium(model_verbs::Rest),
    /// Evaluates the implicit equations of a model and their exact, sparse Jacobians
    Jacobian(model_verbs::Jacobian),
    /// Simulates a model forward in time
    #[command(after_help = include_str!("../help/simulate.txt"))]
    Simulate(simulate::Arguments),
    /// Fits polynomials to muscle paths, for optimal control and real time
    FitPaths(model_verbs::Fit),
    /// Generates C or CUDA source code of a model and its derivatives
    Generate(model_verbs::Source),
    /// Repeats a published experiment and compares with the published numbers
    Experiment(experiment::Arguments),
    /// Runs a setup file of one of OpenSim's tools
    Run(run::Arguments),
    /// Runs all steps for several trials: scaling, angles, moments, muscle and joint forces
    Pipeline(pipeline::Arguments),
    /// Scales a generic model to a subject and places its markers
    Scale(scale::Arguments),
    /// Inverse kinematics: joint angles from markers
    Ik(ik::Arguments),
    /// Gait analysis: foot strikes and toe-offs, cycles, steps, curves over the cycle
    Gait(gait::Arguments),
    /// Assigns force plates to feet and writes an ExternalLoads file
    Loads(table_verbs::Plates),
    /// Inverse dynamics: joint moments from a motion and measured loads
    Id(id::Arguments),
    /// Residual reduction: a similar motion with smaller residuals (RRATool)
    Rra(muscle_control::Reduction),
    /// Computed muscle control: excitations that make a simulation track a motion (CMCTool)
    Cmc(muscle_control::Control),
    /// Residual elimination: adjusts pelvis and back so that no residuals remain
    Rea(rea::Arguments),
    /// Finds a dynamically consistent motion from markers, loads and masses together
    Reconcile(reconcile::Arguments),
    /// Predicts the minimum-effort gait of a model with contact at a given speed
    Predict(predict::Gait),
    /// Adds springs, torques, prostheses, ligaments, masses or contacts to a model
    Add(predict::Parts),
    /// Optimal control: solves the problem of a study file or a MocoStudy
    Solve(solve::Arguments),
    /// Minimum-effort excitations for a given motion, with muscle dynamics (MocoInverse)
    Inverse(solve::inverse::Arguments),
    /// A simulated motion that tracks measured coordinates or markers (MocoTrack)
    Track(solve::track::Arguments),
    /// Static optimization: muscle forces and activations for a motion
    So(so::Arguments),
    /// Analyses of a motion: bodies, muscles, joint reactions, powers, induced accelerations
    Analyze(analyze::Arguments),
    /// Rewrites a model file of any version as version 40600 (OpenSim 4.6)
    Upgrade(model_verbs::UpgradeFile),
    /// Generates recordings of a known motion: markers, force plates, inertial sensors
    Synthesize(table_verbs::Laboratory),
    /// Converts motion, marker and force files: .c3d, .trc, .sto, .mot, .csv, .parquet
    Convert(table_verbs::ConvertTable),
    /// Plots columns of a motion, marker or force file
    Plot(table_verbs::Plot),
    /// Writes shell completions to stdout
    #[command(after_help = include_str!("../help/completions.txt"))]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Writes manual pages, one for each command, into a folder
    #[command(after_help = include_str!("../help/man.txt"))]
    Man {
        /// The folder; created if missing
        folder: PathBuf,
    },
    /// Opens models, motions and recordings in the browser: view, edit, run every tool
    #[command(after_help = include_str!("../help/studio.txt"))]
    Studio {
        /// Files or folders to open; more can be dropped on the page
        files: Vec<PathBuf>,
        /// Print the address and do not open a browser
        #[arg(long)]
        no_browser: bool,
    },
    /// Shows a model and its motion: a page with an animated figure, or a picture
    View(table_verbs::ViewModel),
}

/// Verbs by what they are for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Look", &["demo", "info", "plot", "studio", "view"]),
    ("Prepare", &["convert", "scale", "loads", "upgrade", "fit-paths", "generate", "add", "synthesize"]),
    ("Analyse", &["pipeline", "gait", "ik", "id", "so", "analyze", "rra", "cmc", "rea", "reconcile", "run"]),
    ("Simulate", &["simulate", "equilibrium", "eval", "jacobian"]),
    ("Optimise", &["predict", "solve", "inverse", "track", "experiment"]),
    ("Help", &["help", "completions", "man"]),
];

/// The whole command: its help lists the verbs. That list takes as long to make as everything else at the start.
fn command() -> clap::Command {
    let command = Cli::command();
    let list = verbs(&command);
    command.after_help(list)
}

/// The verbs in groups, with a line about each.
fn verbs(command: &clap::Command) -> String {
    let about = |name: &str| match command.find_subcommand(name).and_then(clap::Command::get_about) {
        Some(about) => about.to_string(),
        None => "Shows this help, or the help of a command: soleus help COMMAND".to_string(),
    };
    let lines = GROUPS.iter().map(|(title, names)| {
        let list: String = names.iter().map(|n| format!("\n  {n:<12} {}", about(n))).collect();
        format!("\n{title}:{list}\n")
    });
    lines.collect::<String>().trim_end().to_string()
}

/// Flags that have another name now: the verb, the old spelling and the new one.
const OLD_FLAGS: [(&str, &str, &str); 10] = [
    ("solve", "--kinematics", "--motion"),
    ("inverse", "--kinematics", "--motion"),
    ("track", "--states", "--motion"),
    ("track", "--states-weight", "--motion-weight"),
    ("fit-paths", "--coordinates", "--motion"),
    ("convert", "--lowpass-hz", "--cutoff-hz"),
    ("view", "--from", "--camera"),
    ("scale", "--markers", "--static"),
    ("gait", "--emg-raw", "--emg"),
    ("rea", "--step", "--interval"),
];

/// Says a word about old spellings, which keep working.
fn tell_old_flags(arguments: &[String]) {
    let Some(verb) = arguments.get(1) else { return };
    for (_, old, new) in OLD_FLAGS.iter().filter(|(v, ..)| v == verb) {
        if arguments.iter().any(|a| a == old || a.starts_with(&format!("{old}="))) {
            door::say(&format!("note: {old} is now called {new}; both work"));
        }
    }
}

/// Files and tables up to this size, bytes, come from memory that was used before.
const FROM_THE_HEAP: usize = 16 << 20;

/// Runs the command with these arguments, the name of the program first: its exit code. Wrong arguments and `--help` end the program.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    // Once a large block was freed, the allocator of Linux reuses the heap for such blocks; fresh pages for every file cost time.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FROM_THE_HEAP)));
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = Cli::try_parse_from(&arguments).unwrap_or_else(|_| {
        let e = match command().try_get_matches_from(&arguments).and_then(|m| Cli::from_arg_matches(&m)) {
            Ok(cli) => return cli,
            Err(e) => e,
        };
        if let Some(hint) = misspelled_help(&arguments) {
            door::say(&hint);
            std::process::exit(2)
        }
        if e.kind() == clap::error::ErrorKind::DisplayHelp {
            let text = soleus::text::wrapped(&e.render().to_string(), 100);
            let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
            std::process::exit(0)
        }
        e.exit()
    });
    tell_old_flags(&arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>());
    let done: Result<(), soleus::Error> = match cli.verb {
        Verb::Demo(a) => demo::run(&a),
        Verb::Info(arguments) => arguments.run(),
        Verb::Eval(arguments) => arguments.run(),
        Verb::Equilibrium(arguments) => arguments.run(),
        Verb::Jacobian(arguments) => arguments.run(),
        Verb::Simulate(arguments) => simulate::run(&arguments),
        Verb::FitPaths(arguments) => arguments.run(),
        Verb::Generate(arguments) => arguments.run(),
        Verb::Experiment(arguments) => match experiment::run(&arguments) {
            Ok(code) => return code,
            Err(e) => Err(e),
        },
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Pipeline(arguments) => pipeline::run(&arguments),
        Verb::Scale(arguments) => scale::run(&arguments),
        Verb::Ik(arguments) => ik::run(&arguments),
        Verb::Gait(arguments) => gait::run(&arguments),
        Verb::Loads(arguments) => arguments.run(),
        Verb::Id(arguments) => id::run(&arguments),
        Verb::Rra(arguments) => arguments.run(),
        Verb::Cmc(arguments) => arguments.run(),
        Verb::Rea(arguments) => rea::run(&arguments),
        Verb::Reconcile(arguments) => reconcile::run(&arguments),
        Verb::Predict(arguments) => arguments.run(),
        Verb::Add(arguments) => arguments.run(),
        Verb::Solve(arguments) => solve::run(&arguments),
        Verb::Inverse(arguments) => solve::inverse::run(&arguments),
        Verb::Track(arguments) => solve::track::run(&arguments),
        Verb::So(arguments) => so::run(&arguments),
        Verb::Analyze(arguments) => analyze::run(&arguments),
        Verb::Upgrade(arguments) => arguments.run(),
        Verb::Synthesize(arguments) => arguments.run(),
        Verb::Convert(arguments) => arguments.run(),
        Verb::Plot(arguments) => arguments.run(),
        Verb::View(arguments) => arguments.run(),
        Verb::Studio { files, no_browser } => studio(&files, no_browser),
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

/// What to say about `soleus help VERB` if there is no such verb.
fn misspelled_help(arguments: &[OsString]) -> Option<String> {
    let [_, help, word, ..] = arguments else { return None };
    let (word, verbs) = (word.to_string_lossy(), || GROUPS.iter().flat_map(|g| g.1).copied());
    if help != "help" || word.starts_with('-') || verbs().any(|verb| verb == word) {
        return None;
    }
    let near =
        soleus::text::nearest(&word, verbs()).map(|near| format!("did you mean `soleus help {near}`?"));
    let hint = near.unwrap_or_else(|| "`soleus help` lists all commands".to_string());
    Some(format!("error: there is no command `{word}`\nhint: {hint}"))
}

/// Serves the page of Studio.
fn studio(files: &[PathBuf], no_browser: bool) -> Result<(), soleus::Error> {
    let server = soleus_studio::server::Server::open(files)?;
    let address = server.address();
    door::enter(None, false, |cx| door::print(cx, &format!("{address}\n")))?;
    if !no_browser && !soleus_studio::server::browse(&address) {
        door::say("open this address in a browser; press Ctrl-C to quit");
    }
    server.serve()
}

/// The completions of a shell.
fn completions(shell: clap_complete::Shell) -> Result<(), soleus::Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "soleus", &mut text);
    door::enter(None, false, |cx| door::print(cx, &String::from_utf8_lossy(&text)))
}

/// A manual page for the program and each of its verbs.
fn manual(folder: &Path) -> Result<(), soleus::Error> {
    let mut command = command().disable_help_subcommand(true);
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

#[cfg(test)]
mod tests;
