//! Environment of a tool: files, monitor, threads.

use crate::error::Error;
use crate::extension::Registry;
use crate::files::Files;
use soleus_model::{Diagnostic, Diagnostics, Severity};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Progress of a long computation.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is counted: `frames`, `rows`, `s` of a simulation, `iterations`.
    pub what: &'a str,
    /// Number done.
    pub done: f64,
    /// Total number, if known.
    pub total: Option<f64>,
    /// Estimated remaining time, s, if the tool has a better estimate than the fraction done.
    pub left_s: Option<f64>,
    /// Details of this step, such as the residuals of an iteration; may be empty.
    pub detail: &'a str,
}

impl Progress<'_> {
    /// As a line of text, after `seconds` of computation.
    pub fn line(&self, seconds: f64) -> String {
        let mut text = match self.total {
            Some(total) if total > 0.0 => {
                let part = self.done / total;
                let left = self.left_s.unwrap_or(seconds * (1.0 - part) / part.max(1e-9));
                let digits = if total.fract() == 0.0 { 0 } else { 3 };
                let percent = 100.0 * part;
                format!(
                    "{:.digits$} of {total:.digits$} {} ({percent:.0} %), {left:.0} s left",
                    self.done, self.what
                )
            }
            _ => match self.left_s {
                Some(left) => format!("{} {}, about {left:.0} s left", self.done, self.what),
                None => format!("{} {}", self.done, self.what),
            },
        };
        if !self.detail.is_empty() {
            text = format!("{text}: {}", self.detail);
        }
        text
    }
}

/// Intermediate motion of a running tool.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'a> {
    /// Names of the coordinates or states.
    pub names: &'a [String],
    /// Times, s: all times for solvers that improve a whole motion, one time for tools that work frame by frame.
    pub times: &'a [f64],
    /// Values at each time, rad or m; in state units for other states.
    pub rows: &'a [Vec<f64>],
    /// Marker errors in this frame, m, if markers are tracked: RMS, maximum, and the marker with the maximum.
    pub marker_error: Option<(f64, f64, &'a str)>,
}

/// Receives messages, progress and intermediate motions of a tool, and can cancel it. Called from any thread.
pub trait Monitor: Sync {
    /// A warning about the input, in the order in which the tool finds them.
    fn diagnostic(&self, _: &Diagnostic) {}

    /// A line about the result or the computation.
    fn note(&self, _: &str) {}

    /// A step of a long computation is done. Called often: limit the display rate in the implementation.
    fn progress(&self, _: &Progress) {}

    /// Whether to call [`motion`](Self::motion) now. An implementation limits the rate here.
    fn wants_motion(&self) -> bool {
        false
    }

    /// An intermediate motion.
    fn motion(&self, _: &Reached) {}

    /// Whether the tool should stop as soon as possible and keep its results so far.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// A monotonic clock, s; `None` if there is none. Results do not depend on it, except with a deadline.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

/// Ignores all messages and never cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// Collects all messages.
#[derive(Debug, Default)]
pub struct Collected {
    told: Mutex<(Vec<Diagnostic>, Vec<String>)>,
}

impl Collected {
    /// Warnings about the input.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Lines about the result.
    pub fn notes(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl Monitor for Collected {
    fn diagnostic(&self, d: &Diagnostic) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).0.push(d.clone());
    }

    fn note(&self, line: &str) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).1.push(line.to_string());
    }
}

/// Maximum number of threads of a tool: each needs memory, operating systems limit their number, and no tool benefits
/// from more.
pub const MOST_THREADS: usize = 256;

/// Environment of a tool. Cheap to copy; shared by all threads of a tool.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Source and destination of files.
    pub files: &'a dyn Files,
    /// Receiver of messages.
    pub monitor: &'a dyn Monitor,
    /// Maximum number of threads. Results do not depend on it.
    pub threads: usize,
    /// Whether to report warnings about model files; a command with several steps reports them in the first.
    pub model_warnings: bool,
    /// User-defined force classes and formula names, in addition to the built-in ones.
    pub registry: Option<&'a Registry>,
}

impl<'a> Context<'a> {
    /// With these files, no monitor, and one thread.
    pub fn new(files: &'a dyn Files) -> Self {
        Context { files, monitor: &Silent, threads: 1, model_warnings: true, registry: None }
    }

    /// With this monitor.
    pub fn with_monitor(self, monitor: &'a dyn Monitor) -> Self {
        Context { monitor, ..self }
    }

    /// With this number of threads, at most [`MOST_THREADS`].
    pub fn with_threads(self, threads: usize) -> Self {
        Context { threads: threads.clamp(1, MOST_THREADS), ..self }
    }

    /// With these user-defined classes and names.
    pub fn with_registry(self, registry: &'a Registry) -> Self {
        Context { registry: Some(registry), ..self }
    }

    /// Without warnings about model files.
    pub fn without_model_warnings(self) -> Self {
        Context { model_warnings: false, ..self }
    }

    /// Reads a file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, Error> {
        self.files.read(path).map_err(|e| Error::read(self.files, path, e))
    }

    /// Reads a text file.
    pub fn read_text(&self, path: &Path) -> Result<String, Error> {
        String::from_utf8(self.read(path)?).map_err(|_| {
            let e = std::io::Error::new(std::io::ErrorKind::InvalidData, "not valid UTF-8");
            Error::read(self.files, path, e)
        })
    }

    /// Reports the warnings about the input, without notes.
    pub fn report(&self, log: &Diagnostics) {
        for d in log.list.iter().filter(|d| d.severity > Severity::Note) {
            self.monitor.diagnostic(d);
        }
    }

    /// Reports a warning about a file.
    pub fn warn(&self, path: &Path, message: impl Into<String>, hint: &str) {
        let mut log = Diagnostics::new(path.display().to_string());
        log.warn(0, "", message, hint);
        self.report(&log);
    }

    /// The value read, if there were no errors; warnings are reported. An error contains all diagnostics.
    pub fn settle<T>(&self, path: &Path, value: Option<T>, log: Diagnostics) -> Result<T, Error> {
        match value {
            Some(value) if !log.has_errors() => {
                self.report(&log);
                Ok(value)
            }
            _ => Err(Error::input(path, log)),
        }
    }

    /// Reports a line about the result.
    pub fn note(&self, line: impl AsRef<str>) {
        self.monitor.note(line.as_ref());
    }

    /// Reports that `done` of `total` are done.
    pub fn progress(&self, what: &str, done: usize, total: usize) {
        let total = Some(total as f64);
        self.monitor.progress(&Progress { what, done: done as f64, total, left_s: None, detail: "" });
    }

    /// An error if the tool was cancelled.
    pub fn go_on(&self) -> Result<(), Error> {
        if self.monitor.is_cancelled() { Err(Error::Cancelled { saved: String::new() }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_what_is_left() {
        let p = Progress { what: "frames", done: 250.0, total: Some(1000.0), left_s: None, detail: "" };
        assert_eq!(p.line(5.0), "250 of 1000 frames (25 %), 15 s left");
    }
}
