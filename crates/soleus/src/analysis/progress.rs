//! Progress and cancellation of analyses.

use crate::context::Context;
use soleus_tools::analysis::{Analysis, AnalysisError, Moment, Output};

/// Counts the analysed rows and stops if the run is cancelled; has no tables.
pub struct CountRows<'c> {
    cx: &'c Context<'c>,
    done: usize,
    total: usize,
}

impl<'c> CountRows<'c> {
    /// For a given number of rows.
    pub fn new(cx: &'c Context<'c>, total: usize) -> Self {
        CountRows { cx, done: 0, total }
    }
}

impl Analysis for CountRows<'_> {
    fn record(&mut self, _: &Moment) -> Result<(), AnalysisError> {
        self.done += 1;
        self.cx.progress("rows", self.done, self.total);
        if self.cx.monitor.is_cancelled() { Err(AnalysisError::Stopped) } else { Ok(()) }
    }

    fn needs_motion(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(Vec::new())
    }
}
