//! The `soleus-experiment` program; `soleus experiment` runs it.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

mod das3;
mod desk;
mod falisse;
mod imu;
mod millard;
mod moco;
mod places;
mod posture;
mod progress_printer;
mod random;
mod report;
mod sample;
mod seth;
mod sheet;
mod ski;
mod stages;
mod thelen;
mod walk;

use clap::{Parser, Subcommand};
use soleus::{Error, ErrorKind};
use std::process::ExitCode;

/// Repeats a published experiment and prints our numbers next to the published ones.
#[derive(Parser)]
#[command(name = "soleus experiment", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    which: Experiment,
}

fn main() -> ExitCode {
    match run(&Cli::parse().which) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(if e.kind() == ErrorKind::NotSolved { 1 } else { 2 })
        }
    }
}

/// The experiments.
#[derive(Subcommand)]
enum Experiment {
    /// The shoulder and arm model of van den Bogert, Blana and Heinrich (2011): equilibrium, time constants, accuracy and
    /// speed of real-time simulation
    #[command(after_help = "Example:\n  soleus experiment das3 --data ../shared/data")]
    Das3(das3::Arguments),
    /// Predicted walking in three dimensions (Falisse et al. 2019, 2022): residuals and cost of the published solution in our equations
    #[command(
        after_help = "Example:\n  soleus experiment falisse --data PredSim\n\nIts data are the files of github.com/KULeuvenNeuromechanics/PredSim."
    )]
    Falisse(falisse::Arguments),
    /// Gaits from inertial sensors alone, with the recordings of Dorschky et al. (2019): angles and ground forces compared with measured
    /// ones, with all sensors and with few
    #[command(
        after_help = "Example:\n  soleus experiment imu --data ../shared/data --out imu\n\nThe data are in gait2d/biomac of that folder."
    )]
    Imu(imu::Arguments),
    /// The muscle models of Millard, Uchida, Seth and Delp (2013): elastic and rigid tendons, with and without damping,
    /// their speed, and their forces compared with measured ones
    #[command(
        after_help = "Example:\n  soleus experiment millard --data ../shared/data --out millard\n\nThe data are in muscle and walking of that folder."
    )]
    Millard(millard::Arguments),
    /// The examples of Dembia, Bianco, Falisse, Hicks and Delp (2020), OpenSim Moco: a mass on three muscles, a squat with and without
    /// a spring at the knee, a walk with less load on the knees
    #[command(
        after_help = "Example:\n  soleus experiment moco --data ../shared/data --out moco\n\nThe data are in moco and walking of that folder."
    )]
    Moco(moco::Arguments),
    /// The posture platform of Seth, Sherman, Reinbolt and Delp (2011): effect of crouching on the stability of a body without muscles when
    /// the ground moves
    #[command(
        after_help = "Example:\n  soleus experiment posture --data ../shared/data --out posture\n\nThe data are in walking of that folder."
    )]
    Posture(posture::Arguments),
    /// The induced accelerations of Seth, Sherman, Reinbolt and Delp (2011): what muscles contribute to support and propulsion in
    /// running, walking and a crouch
    #[command(
        after_help = "Example:\n  soleus experiment seth --data ../shared/data --out seth\n\nThe data are in running and walking of that folder."
    )]
    Seth(seth::Arguments),
    /// State estimation on a ski landing, after van den Bogert, Blana and Heinrich (2011): forces and muscles from noisy and
    /// missing measurements, and knee loads of a perturbed landing
    #[command(after_help = "Example:\n  soleus experiment ski --out ski")]
    Ski(ski::Arguments),
    /// The walks of Thelen and Anderson (2006): residual elimination and computed muscle control over half a gait cycle, in the layout of
    /// their tables
    #[command(
        after_help = "Example:\n  soleus experiment thelen --data ../shared/data --out thelen\n\nThe data are in walking of that folder."
    )]
    Thelen(thelen::Arguments),
    /// The walks of van den Bogert, Blana and Heinrich (2011): able-bodied and with a prosthesis, stored and published costs
    #[command(after_help = "Example:\n  soleus experiment walk --out walks")]
    Walk(walk::Arguments),
}

/// Runs one.
fn run(which: &Experiment) -> Result<(), Error> {
    match which {
        Experiment::Das3(a) => das3::run(a),
        Experiment::Falisse(a) => falisse::run(a),
        Experiment::Imu(a) => imu::run(a),
        Experiment::Millard(a) => millard::run(a),
        Experiment::Moco(a) => moco::run(a),
        Experiment::Posture(a) => posture::run(a),
        Experiment::Seth(a) => seth::run(a),
        Experiment::Ski(a) => ski::run(a),
        Experiment::Thelen(a) => thelen::run(a),
        Experiment::Walk(a) => walk::run(a),
    }
}
