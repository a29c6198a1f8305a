//! What is seen of an experiment while it solves, and the time it takes.

use soleus_optimization::nlp::Iteration;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Tells on stderr how a walk is found: one line for each price of the reserves, refreshed on a terminal.
pub struct ProgressPrinter {
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

impl ProgressPrinter {
    /// The clock starts now.
    pub fn new() -> ProgressPrinter {
        let watched = std::io::stderr().is_terminal();
        let cpu = processor_seconds();
        ProgressPrinter { start: Instant::now(), cpu, price: f64::NAN, iterations: 0, watched, last: None }
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
                0.0 => "no residual forces".to_string(),
                p => format!("penalty {p}"),
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
