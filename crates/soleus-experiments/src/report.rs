//! Lines that say what we found, what was published, and whether it is enough.

use std::io::Write;

/// Rows of an experiment, printed as they come.
#[derive(Default)]
pub struct Report {
    short: usize,
    rows: usize,
}

impl Report {
    /// A heading between rows.
    pub fn heading(&self, text: &str) {
        say(&format!("\n{text}"));
    }

    /// One number or list of numbers: what it is, ours, what was published or wanted, and whether it will do.
    pub fn row(&mut self, what: &str, ours: &str, published: &str, pass: bool) {
        self.rows += 1;
        self.short += usize::from(!pass);
        say(&format!("{}  {what}: {ours}  | {published}", if pass { "pass " } else { "short" }));
    }

    /// A number without a bar.
    pub fn note(&self, what: &str, ours: &str, published: &str) {
        say(&format!("       {what}: {ours}  | {published}"));
    }

    /// The closing line.
    pub fn close(&self) {
        say(&format!("\n{} of {} bars reached", self.rows - self.short, self.rows));
    }
}

/// A line to stdout. Whoever reads may have seen enough, as `head` has.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Numbers in a row with so many decimals.
pub fn list(values: &[f64], decimals: usize) -> String {
    let words: Vec<String> = values.iter().map(|v| format!("{v:.decimals$}")).collect();
    words.join(" ")
}

pub use soleus_math::norm::largest_difference;
