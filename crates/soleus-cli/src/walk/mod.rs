//! The planar walker that is built in, and what is told of its walks.

mod data;
mod page;
mod predict;

pub use data::Winter;
pub use page::{Walk, page, strip};
pub use predict::{at_speed, predict, predicted_cycle};

use crate::failure::Failure;
use crate::load;
use soleus_control::gait::Planar;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::Options;
use soleus_model::Model;
use soleus_optimization::nlp::Iteration;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const GAIT: &str = include_str!("../../../../models/gait2d.osim");
const GAIT_FILE: &str = "models/gait2d.osim";

/// The model of the built-in walker: trunk and two legs in a plane, 9 coordinates, 16 muscles.
pub fn model() -> Result<Model, Failure> {
    let (model, diagnostics) = soleus_io::osim::read_model(GAIT.as_bytes(), GAIT_FILE);
    load::report(&diagnostics);
    model.ok_or_else(|| load::errors(Path::new(GAIT_FILE), &diagnostics))
}

/// A model as a walker.
pub fn walker(model: Model) -> Result<Planar, Failure> {
    let file = Path::new(GAIT_FILE);
    let system = load::compile(file, &model, &Options::default())?;
    let base = ModelProblem::new(Arc::new(model), Arc::new(system));
    Planar::new(base).map_err(|e| Failure::content(file, 0, "", e.to_string(), ""))
}

/// Tells on stderr how a walk is found: one line for each price of the reserves, refreshed on a terminal.
pub struct Teller {
    start: Instant,
    cpu: Option<f64>,
    price: f64,
    iterations: usize,
    watched: bool,
    last: Option<Instant>,
}

/// Seconds that this program has computed on all processors together, where the system tells (Linux: /proc/self/stat, fields utime and
/// stime, in hundredths of a second).
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Least time between two lines when nobody watches.
const BETWEEN: Duration = Duration::from_secs(5);

impl Teller {
    /// The clock starts now.
    pub fn new() -> Teller {
        let watched = std::io::stderr().is_terminal();
        let cpu = processor_seconds();
        Teller { start: Instant::now(), cpu, price: f64::NAN, iterations: 0, watched, last: None }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// The time in words: by the clock, and of all processors together where that is known.
    pub fn time(&self) -> String {
        let cpu = self
            .cpu
            .zip(processor_seconds())
            .map_or(String::new(), |(a, b)| format!(" ({:.1} s CPU)", b - a));
        format!("{:.1} s{cpu}", self.seconds())
    }

    /// One iteration.
    pub fn tell(&mut self, price: f64, i: &Iteration<'_>) -> ControlFlow<()> {
        self.iterations += 1;
        let changed = price != self.price;
        if changed {
            if self.watched && !self.price.is_nan() {
                eprintln!();
            }
            self.price = price;
        }
        let due = self.watched || self.last.is_none_or(|t| t.elapsed() >= BETWEEN);
        if changed || due {
            self.last = Some(Instant::now());
            let help = match price {
                0.0 => "on its own legs".to_string(),
                p => format!("helped at price {p}"),
            };
            let end = if self.watched { "\r" } else { "\n" };
            eprint!(
                "{:6.1} s  {:5} iterations  {help:<20} cost {:10.4e}  unbalanced {:8.1e}{end}",
                self.seconds(),
                self.iterations,
                i.objective,
                i.constraint_violation
            );
        }
        ControlFlow::Continue(())
    }

    /// Ends the last line.
    pub fn finish(&self) {
        if self.watched {
            eprintln!();
        }
    }
}
