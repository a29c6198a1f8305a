//! Errors, with their causes and diagnostics.

use crate::files::Files;
use soleus_model::{Diagnostic, Diagnostics, Severity, edit_distance, nearest_name};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// Category of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input is invalid or cannot be read, or the output cannot be written.
    Input,
    /// The problem was not solved.
    NotSolved,
    /// The run was cancelled.
    Cancelled,
}

/// Why a tool has no result, or not the requested one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read.
    #[error("error: cannot read {}: {source}\nhint: {hint}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
        /// Suggested remedy.
        hint: String,
    },
    /// A file could not be written.
    #[error("error: cannot write {}: {source}\nhint: {hint}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
        /// Suggested remedy.
        hint: String,
    },
    /// A file has errors.
    #[error("{}", told(path, diagnostics))]
    Input {
        /// The file.
        path: PathBuf,
        /// Errors and warnings.
        diagnostics: Vec<Diagnostic>,
    },
    /// Invalid content of the input.
    #[error("{0}")]
    Content(Box<Diagnostic>),
    /// Some muscles have no equilibrium; there is a result nevertheless.
    #[error("error: {count} muscle state{} did not reach equilibrium; the given value is kept", if *count == 1 { "" } else { "s" })]
    NotConverged {
        /// Number of muscles.
        count: usize,
    },
    /// Parts of a problem were not solved; there is a result nevertheless.
    #[error("error: {message}")]
    NotSolved {
        /// The unsolved parts and their errors.
        message: String,
    },
    /// A simulation did not reach its end time.
    #[error("error: {message}{}{}", blame.as_ref().map_or(String::new(), |b| format!("\n  largest contribution: {b}")),
        saved.as_ref().map_or(String::new(), |s| format!("\n  results up to then are in {}", s.display())))]
    NotFinished {
        /// Cause.
        message: String,
        /// The state that caused it, as far as known.
        blame: Option<String>,
        /// File with the results so far.
        saved: Option<PathBuf>,
    },
    /// Steps of a pipeline failed; each was reported.
    #[error("error: {count} step{} failed, `{first}` first; see the messages above", if *count == 1 { "" } else { "s" })]
    Steps {
        /// Number of failed steps.
        count: usize,
        /// The first failed step.
        first: String,
        /// Category of its error.
        kind: ErrorKind,
    },
    /// A step of a pipeline failed in another process, which left its message.
    #[error("{message}")]
    Earlier {
        /// The message.
        message: String,
    },
    /// The run was cancelled.
    #[error("stopped{}", if saved.is_empty() { String::new() } else { format!("; {saved}") })]
    Cancelled {
        /// Description of the saved results; may be empty.
        saved: String,
    },
}

/// Between the file that names another and what to do about that.
const NAMES_IT: &str = " names it; ";

/// All diagnostics of a file, and how many errors there are.
fn told(path: &Path, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for d in diagnostics.iter().filter(|d| d.severity > Severity::Note) {
        let _ = write!(text, "{d}\n\n");
    }
    let count = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let _ = write!(text, "{count} error{} in {}", if count == 1 { "" } else { "s" }, path.display());
    text
}

impl Clone for Error {
    fn clone(&self) -> Self {
        // Errors of the system are known by their number, others by kind and words.
        let same = |e: &io::Error| match e.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(e.kind(), e.to_string()),
        };
        match self {
            Error::Read { path, source, hint } => {
                Error::Read { path: path.clone(), source: same(source), hint: hint.clone() }
            }
            Error::Write { path, source, hint } => {
                Error::Write { path: path.clone(), source: same(source), hint: hint.clone() }
            }
            Error::Input { path, diagnostics } => {
                Error::Input { path: path.clone(), diagnostics: diagnostics.clone() }
            }
            Error::Content(d) => Error::Content(d.clone()),
            Error::NotConverged { count } => Error::NotConverged { count: *count },
            Error::NotSolved { message } => Error::NotSolved { message: message.clone() },
            Error::NotFinished { message, blame, saved } => {
                Error::NotFinished { message: message.clone(), blame: blame.clone(), saved: saved.clone() }
            }
            Error::Steps { count, first, kind } => {
                Error::Steps { count: *count, first: first.clone(), kind: *kind }
            }
            Error::Earlier { message } => Error::Earlier { message: message.clone() },
            Error::Cancelled { saved } => Error::Cancelled { saved: saved.clone() },
        }
    }
}

impl Error {
    /// Category of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Steps { kind, .. } => *kind,
            Error::NotConverged { .. }
            | Error::NotFinished { .. }
            | Error::NotSolved { .. }
            | Error::Earlier { .. } => ErrorKind::NotSolved,
            Error::Cancelled { .. } => ErrorKind::Cancelled,
            _ => ErrorKind::Input,
        }
    }

    /// Diagnostics of the input, with file, line and remedy.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Input { diagnostics, .. } => diagnostics,
            Error::Content(d) => std::slice::from_ref(d),
            _ => &[],
        }
    }

    /// A file with errors.
    pub fn input(path: &Path, log: Diagnostics) -> Self {
        Error::Input { path: path.to_path_buf(), diagnostics: log.list }
    }

    /// A file that cannot be read, with the most similar name in its folder as a hint.
    pub fn read(files: &dyn Files, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind as K;
        let hint = match source.kind() {
            K::NotFound => match nearest_file(files, path) {
                Some(near) => format!("did you mean {}?", near.display()),
                None => no_such_file(files, path),
            },
            K::IsADirectory => "this is a folder; give a file".to_string(),
            K::InvalidData => "the file is not text in UTF-8".to_string(),
            K::InvalidInput => "pipes and devices are not supported; give a file".to_string(),
            _ => "check that the file exists and is readable".to_string(),
        };
        Error::Read { path: path.to_path_buf(), source, hint }
    }

    /// Adds the name of the file that refers to the unreadable one.
    pub fn named_in(mut self, file: &Path) -> Self {
        if let Error::Read { path, hint, .. } = &mut self
            && path != file
            && !hint.contains(NAMES_IT)
        {
            *hint = format!("{}{NAMES_IT}{hint}", file.display());
        }
        self
    }

    /// A file that cannot be written.
    pub fn write(files: &dyn Files, path: &Path, source: io::Error) -> Self {
        let hint = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !files.is_folder(folder) => {
                format!("the folder {} does not exist; create it first", folder.display())
            }
            _ if files.is_folder(path) => "this is a folder; give a file".to_string(),
            _ => "check the write permission and the free disk space".to_string(),
        };
        Error::Write { path: path.to_path_buf(), source, hint }
    }

    /// Invalid content of a file. `line` counts from 1; 0 if not applicable.
    pub fn content(path: &Path, line: u32, component: &str, message: impl Into<String>, hint: &str) -> Self {
        Error::Content(Box::new(Diagnostic {
            severity: Severity::Error,
            file: path.display().to_string(),
            line,
            component: component.to_string(),
            message: message.into(),
            hint: hint.to_string(),
        }))
    }
}

/// Where a file was looked for.
fn no_such_file(files: &dyn Files, path: &Path) -> String {
    let absolute = files.absolute(path);
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    match files.is_folder(folder) {
        true => format!("no such file in {}", folder.display()),
        false => format!("the folder {} does not exist", folder.display()),
    }
}

/// The file beside `path` whose name differs least, if it differs by little.
fn nearest_file(files: &dyn Files, path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    // Of a short name three letters are all.
    let most = (wanted.len() / 2).min(3);
    let names = files.names_in(path.parent().unwrap_or(Path::new("")));
    let near = names.into_iter().map(|n| (edit_distance(wanted, &n), n)).filter(|(d, _)| *d <= most).min();
    near.map(|(_, name)| path.with_file_name(name))
}

/// The most similar name among `names`, as a hint; empty if none is similar.
pub fn nearest_hint<'n>(what: &str, wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    nearest_name(wanted, names, 2).map_or(String::new(), |name| format!("the nearest {what} is `{name}`"))
}
