//! Published experiments, repeated: one line for each number, ours beside the published one.

mod das3;
mod millard;
mod moco;
mod report;
mod seth;
mod sheet;
mod walk;

use crate::failure::Failure;
use clap::Subcommand;

/// The experiments.
#[derive(Subcommand)]
pub enum Experiment {
    /// The shoulder and arm model of van den Bogert, Blana and Heinrich (2011): equilibrium, time constants, accuracy and
    /// speed of real-time simulation
    #[command(after_help = "Example:\n  soleus experiment das3 --data ../shared/data")]
    Das3(das3::Arguments),
    /// The muscle models of Millard, Uchida, Seth and Delp (2013): elastic and rigid tendons, with and without damping,
    /// their speed and their forces beside measured ones
    #[command(after_help = "Example:\n  soleus experiment millard --data ../shared/data --out millard")]
    Millard(millard::Arguments),
    /// The examples of Dembia, Bianco, Falisse, Hicks and Delp (2020), OpenSim Moco: a mass on three muscles, a squat with and without
    /// a spring at the knee, a walk with less load on the knees
    #[command(after_help = "Example:\n  soleus experiment moco --data ../shared/data --out moco")]
    Moco(moco::Arguments),
    /// The induced accelerations of Seth, Sherman, Reinbolt and Delp (2011): what muscles contribute to support and propulsion in
    /// running, walking and a crouch
    #[command(after_help = "Example:\n  soleus experiment seth --data ../shared/data --out seth")]
    Seth(seth::Arguments),
    /// The walks of van den Bogert, Blana and Heinrich (2011): able and with a prosthesis, stored and published costs
    #[command(after_help = "Example:\n  soleus experiment walk --out walks")]
    Walk(walk::Arguments),
}

/// Runs one.
pub fn run(which: &Experiment) -> Result<(), Failure> {
    match which {
        Experiment::Das3(a) => das3::run(a),
        Experiment::Millard(a) => millard::run(a),
        Experiment::Moco(a) => moco::run(a),
        Experiment::Seth(a) => seth::run(a),
        Experiment::Walk(a) => walk::run(a),
    }
}
