//! Walking by optimal control: van den Bogert, Blana and Heinrich (2011), sections 4.3 and 4.4.

mod device;
mod paper;
mod problem;
mod random;
mod speeds;
mod stored;

use super::report::Report;
use super::sheet::Folder;
use crate::progress_printer::ProgressPrinter;
use clap::{Args, ValueEnum};
use problem::WalkingProblem;
use soleus::Error;
use soleus::prediction::{Walk, Winter, page};
use soleus_control::continuation::Outcome;
use std::path::PathBuf;

/// What `soleus experiment walk` is told.
#[derive(Args)]
pub struct Arguments {
    /// Folder for tables, pictures and the pages of the walks
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Parts to run, separated by commas [default: all except `random`]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PART,...")]
    part: Vec<Part>,
    /// Winter's data for the part `variants`: slow, normal, blend [default: all three]
    #[arg(long, value_delimiter = ',', value_parser = ["slow", "normal", "blend"], value_name = "DATA,...")]
    data: Vec<String>,
    /// Number of random initial guesses of each problem in the part `random`
    #[arg(long, default_value_t = 50, value_name = "N")]
    starts: u32,
    /// First random seed
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
}

/// Parts of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The two problems that the authors stored
    Stored,
    /// The paper's able problem from straight lines and from a neighbour, timed
    Time,
    /// The paper's able problem in the variants that its text leaves open
    Variants,
    /// The same on meshes of 25 to 200 nodes
    Meshes,
    /// The paper's prosthesis, a sweep of its stiffness, and the best stiffness
    Prosthesis,
    /// The stored problems from random starts
    Random,
    /// Walks of least effort at 0.8 to 2 m/s, and a run
    Speeds,
}

/// Swing of the hips in the straight-line start, rad.
const SWING: f64 = 0.35;

/// Runs the parts and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let mut report = Report::default();
    let folder = Folder::create(a.out.as_ref())?;
    println!("Walking of a planar model, 9 coordinates, 16 muscles. Ours | published");
    for &part in Part::value_variants() {
        let wanted = if a.part.is_empty() { part != Part::Random } else { a.part.contains(&part) };
        let r = &mut report;
        match part {
            _ if !wanted => {}
            Part::Stored => stored::check(&folder, r)?,
            Part::Time => paper::time(&folder, r)?,
            Part::Variants => paper::variants(&a.data, &folder, r)?,
            Part::Meshes => paper::meshes(&folder, r)?,
            Part::Prosthesis => device::check(&folder, r)?,
            Part::Random => random::check(a.starts, a.seed, r)?,
            Part::Speeds => speeds::check(&folder, r)?,
        }
    }
    report.close();
    Ok(())
}

/// Cost and its parts.
fn costs(o: &Outcome) -> String {
    format!("{:.6} = {:.5} + {:.5}", o.solution.objective, tracking(o), o.goal("effort"))
}

fn tracking(o: &Outcome) -> f64 {
    o.goal("tracking") + o.goal("duration")
}

/// Cost and its parts, and how well it is solved.
fn state(o: &Outcome) -> String {
    let end = if o.solution.status.is_solved() { "" } else { ", not solved" };
    let violation = o.solution.certificate.constraint_violation;
    format!("{}, violation {violation:.1e}, {} iterations{end}", costs(o), o.iterations)
}

/// The same and how long it took.
fn describe(o: &Outcome, printer: &ProgressPrinter) -> String {
    format!("{}, {}", state(o), printer.time())
}

/// Whether the equations hold and the solver says so.
fn holds(o: &Outcome) -> bool {
    o.solution.status.is_solved() && o.solution.certificate.constraint_violation <= 1e-6
}

/// Whether a cost and its parts are those of the paper, within 5 % and 10 %.
fn is_near(o: &Outcome, [cost, tracked, effort]: [f64; 3]) -> bool {
    let off = |ours: f64, published: f64| (ours / published - 1.0).abs();
    holds(o)
        && off(o.solution.objective, cost) <= 0.05
        && off(tracking(o), tracked) <= 0.1
        && off(o.goal("effort"), effort) <= 0.1
}

fn write_page(folder: &Folder, name: &str, p: &WalkingProblem, o: &Outcome) -> Result<(), Error> {
    let walk = Walk::new(&p.walker, &p.cycle, &o.trajectory);
    let text = [format!("{name}: {}", costs(o))];
    let html = || Ok(page(name, &p.walker, &walk, o, &Winter::read("normal")?, &text));
    folder.page(&name.replace(' ', "_"), html)
}
