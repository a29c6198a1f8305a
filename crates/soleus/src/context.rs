//! What a tool runs in: its files, whom it tells, whether to go on, how many threads.

use crate::error::Error;
use crate::extension::Registry;
use crate::files::Files;
use soleus_model::{Diagnostic, Diagnostics, Severity};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// How far long work has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is counted: `frames`, `rows`, `s` of a simulation, `iterations`.
    pub what: &'a str,
    /// How many are done.
    pub done: f64,
    /// How many there are, where that is known.
    pub total: Option<f64>,
    /// Time that the tool expects to need, s, where it knows better than the share that is done tells.
    pub left_s: Option<f64>,
    /// More words about this step, such as the residuals of an iteration; may be empty.
    pub detail: &'a str,
}

impl Progress<'_> {
    /// In words, after `seconds` of work.
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

/// The motion that a tool has reached, while it is at work.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'a> {
    /// Names of coordinates, or of states.
    pub names: &'a [String],
    /// Times, s: all of them of a solver that improves a whole motion, one of a tool that goes frame by frame.
    pub times: &'a [f64],
    /// Values for each time, rad or m, and those of states.
    pub rows: &'a [Vec<f64>],
    /// Errors of markers at this frame, m, where markers are followed: root mean square, the largest, and its marker.
    pub marker_error: Option<(f64, f64, &'a str)>,
}

/// Who is told what a tool does, and may stop it. Called from any thread.
pub trait Monitor: Sync {
    /// Something odd about the input, in the order of the tool's work.
    fn diagnostic(&self, _: &Diagnostic) {}

    /// A line about the result or the way to it.
    fn note(&self, _: &str) {}

    /// A step of long work is done. Called often: who shows it chooses when.
    fn progress(&self, _: &Progress) {}

    /// Whether the motion that was reached is worth telling now: who draws it says how often.
    fn wants_motion(&self) -> bool {
        false
    }

    /// The motion that was reached.
    fn motion(&self, _: &Reached) {}

    /// Whether the tool should stop as soon as it can, and keep what it has.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// A clock that only rises, s; `None` where there is none. Results do not depend on it, but for those with a deadline.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

/// Tells nobody and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Monitor for Silent {}

/// Keeps what it is told.
#[derive(Debug, Default)]
pub struct Collected {
    told: Mutex<(Vec<Diagnostic>, Vec<String>)>,
}

impl Collected {
    /// What was odd about the input.
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

/// Most threads that a tool uses: each takes memory, systems refuse more than some thousands, and no tool has work for more.
pub const MOST_THREADS: usize = 256;

/// What a tool runs in. Cheap to copy; shared by all threads of a tool.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where files come from.
    pub files: &'a dyn Files,
    /// Who is told.
    pub monitor: &'a dyn Monitor,
    /// How many threads a tool may use. Results are the same on any number.
    pub threads: usize,
    /// Whether warnings about model files are told; a command of many steps tells them in the first.
    pub model_warnings: bool,
    /// Classes of forces and words of formulas beside those that are built in.
    pub registry: Option<&'a Registry>,
}

impl<'a> Context<'a> {
    /// With these files; tells nobody, on one thread.
    pub fn new(files: &'a dyn Files) -> Self {
        Context { files, monitor: &Silent, threads: 1, model_warnings: true, registry: None }
    }

    /// Telling this one.
    pub fn with_monitor(self, monitor: &'a dyn Monitor) -> Self {
        Context { monitor, ..self }
    }

    /// On so many threads, at most [`MOST_THREADS`].
    pub fn with_threads(self, threads: usize) -> Self {
        Context { threads: threads.clamp(1, MOST_THREADS), ..self }
    }

    /// Knowing these classes and words, too.
    pub fn with_registry(self, registry: &'a Registry) -> Self {
        Context { registry: Some(registry), ..self }
    }

    /// Without warnings about model files.
    pub fn without_model_warnings(self) -> Self {
        Context { model_warnings: false, ..self }
    }

    /// All bytes of a file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, Error> {
        self.files.read(path).map_err(|e| Error::read(self.files, path, e))
    }

    /// A file of text.
    pub fn read_text(&self, path: &Path) -> Result<String, Error> {
        String::from_utf8(self.read(path)?).map_err(|_| {
            let e = std::io::Error::new(std::io::ErrorKind::InvalidData, "not valid UTF-8");
            Error::read(self.files, path, e)
        })
    }

    /// Tells what is odd about the input; notes are left out.
    pub fn report(&self, log: &Diagnostics) {
        for d in log.list.iter().filter(|d| d.severity > Severity::Note) {
            self.monitor.diagnostic(d);
        }
    }

    /// Tells one oddity of a file.
    pub fn warn(&self, path: &Path, message: impl Into<String>, hint: &str) {
        let mut log = Diagnostics::new(path.display().to_string());
        log.warn(0, "", message, hint);
        self.report(&log);
    }

    /// What was read, if it has no errors; what is odd about it is told. An error carries everything that was found.
    pub fn settle<T>(&self, path: &Path, value: Option<T>, log: Diagnostics) -> Result<T, Error> {
        match value {
            Some(value) if !log.has_errors() => {
                self.report(&log);
                Ok(value)
            }
            _ => Err(Error::input(path, log)),
        }
    }

    /// Tells a line about the result.
    pub fn note(&self, line: impl AsRef<str>) {
        self.monitor.note(line.as_ref());
    }

    /// Tells that `done` of `total` are done.
    pub fn progress(&self, what: &str, done: usize, total: usize) {
        let total = Some(total as f64);
        self.monitor.progress(&Progress { what, done: done as f64, total, left_s: None, detail: "" });
    }

    /// An error if the caller asked to stop.
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
