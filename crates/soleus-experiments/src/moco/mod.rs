//! Dembia, Bianco, Falisse, Hicks and Delp (2020), "OpenSim Moco: Musculoskeletal optimal control": the problems of the article.
//!
//! Settings that the article leaves open are those of its repository, stanfordnmbl/mocopaper.

mod compare;
mod knee;
mod solving;
mod spatial;
mod squat;
mod suspended;
mod walking;
mod weak;

use super::places::Places;
use super::report::Report;
use super::sheet::Folder;
use clap::{Args, ValueEnum};
use soleus::Error;
use soleus::optimal_control::Solution;
use std::path::PathBuf;

/// A problem of the article.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A mass that hangs from three muscles
    Suspended,
    /// From a squat to upright, with and without a spring at the knee
    Squat,
    /// The excitations behind a walk, with and without a price on the load of the knees
    Knee,
    /// Walks with weak dorsiflexors and weak hip abductors
    Weak,
}

/// What `soleus experiment moco` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
    /// Model of the walk, instead of walking/rajagopal_3d/subject_walk_armless_80musc.osim
    #[arg(long, value_name = "MODEL.osim")]
    walker: Option<PathBuf>,
    /// Problems to solve [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART,…")]
    only: Vec<Part>,
}

/// Solves everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let mut report = Report::default();
    let wanted = |part: Part| a.only.is_empty() || a.only.contains(&part);
    println!("Problems of the article on OpenSim Moco. Ours | published");
    if wanted(Part::Suspended) {
        suspended::run(&mut report, &folder)?;
    }
    if wanted(Part::Squat) {
        squat::run(&a.places.data.join("moco/examples"), &mut report, &folder)?;
    }
    let walking = a.places.data.join("walking/rajagopal_3d");
    let walker = a.walker.clone().unwrap_or_else(|| walking.join("subject_walk_armless_80musc.osim"));
    if wanted(Part::Knee) {
        knee::run(&walking, &walker, &mut report, &folder)?;
    }
    if wanted(Part::Weak) {
        weak::run(&a.places.data.join("moco/examples"), &walking, &walker, &mut report, &folder)?;
    }
    report.close();
    Ok(())
}

/// Objective and its parts, how well it is solved and how long it took.
fn describe(f: &Solution) -> String {
    let (s, c) = (&f.solver, &f.solver.certificate);
    let word = if s.status.is_solved() { "" } else { "not solved, " };
    let parts: Vec<String> = f.phases[0]
        .goals
        .iter()
        .filter(|g| g.1.abs() > 1e-9)
        .map(|(name, v)| format!("{name} {v:.5}"))
        .collect();
    let parts = if parts.len() > 1 { format!(" ({})", parts.join(", ")) } else { String::new() };
    format!(
        "{word}{:.6}{parts}, violation {:.0e}, {} iterations, {:.1} s",
        s.objective, c.constraint_violation, s.counts.iterations, f.seconds
    )
}
