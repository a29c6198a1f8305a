//! How far long work has come, on stderr.

use soleus_tools::analysis::{Analysis, AnalysisError, Moment, Output};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Nothing is said before, and between two lines, ms: most commands are done sooner.
const BETWEEN_MS: u64 = 2000;

/// Counts steps of work that threads may share, and tells every two seconds how many are done.
pub struct Progress {
    what: &'static str,
    done: AtomicUsize,
    start: Instant,
    next_ms: AtomicU64,
}

impl Progress {
    /// Nothing done yet; `what` is counted.
    pub fn new(what: &'static str) -> Self {
        let (done, next_ms) = (AtomicUsize::new(0), AtomicU64::new(BETWEEN_MS));
        Progress { what, done, start: Instant::now(), next_ms }
    }

    /// One more of `total` is done.
    pub fn step(&self, total: usize) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let now = self.start.elapsed().as_millis() as u64;
        let next = self.next_ms.load(Ordering::Relaxed);
        let mine = now >= next
            && self
                .next_ms
                .compare_exchange(next, now + BETWEEN_MS, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if mine && done < total {
            eprintln!("{}", line(self.what, done, total, now as f64 / 1000.0));
        }
    }
}

/// What is said.
fn line(what: &str, done: usize, total: usize, seconds: f64) -> String {
    let left = seconds * (total - done) as f64 / done as f64;
    format!("{done} of {total} {what} ({:.0} %), {left:.0} s left", 100.0 * done as f64 / total as f64)
}

/// Counts the rows of a motion under analysis; has nothing to write.
pub struct CountRows {
    progress: Progress,
    total: usize,
}

impl CountRows {
    /// For so many rows.
    pub fn new(total: usize) -> Self {
        CountRows { progress: Progress::new("rows"), total }
    }
}

impl Analysis for CountRows {
    fn record(&mut self, _: &Moment) -> Result<(), AnalysisError> {
        self.progress.step(self.total);
        Ok(())
    }

    fn needs_motion(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_what_is_left() {
        assert_eq!(line("frames", 250, 1000, 5.0), "250 of 1000 frames (25 %), 15 s left");
    }
}
