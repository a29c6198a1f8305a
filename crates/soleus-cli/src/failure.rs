//! What can go wrong at the command line, and the exit code that says so.

pub use soleus_model::edit_distance;
use soleus_model::{Diagnostic, Severity};
use std::path::{Path, PathBuf};

/// A reason to stop. Exit 1: did not converge; exit 2: bad input.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file could not be read.
    #[error("error: cannot read {}: {source}\nhint: {hint}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
        /// What to try.
        hint: String,
    },
    /// A file could not be written.
    #[error("error: cannot write {}: {source}\nhint: {hint}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
        /// What to try.
        hint: String,
    },
    /// The input has errors, which were already reported.
    #[error("{count} error{} in {}", if *count == 1 { "" } else { "s" }, path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// Some muscles found no equilibrium; each was reported, and the result was written.
    #[error("error: {count} muscle state{} did not reach equilibrium and kept the given value", if *count == 1 { "" } else { "s" })]
    NotConverged {
        /// How many.
        count: usize,
    },
    /// Something in the input makes no sense.
    #[error("{0}")]
    Content(Box<Diagnostic>),
    /// Parts of a problem were not solved; the result was written.
    #[error("error: {message}")]
    NotSolved {
        /// Which.
        message: String,
    },
    /// Steps of a study failed; each was reported.
    #[error("error: {count} step{} failed, `{first}` first; what was wrong is said above", if *count == 1 { "" } else { "s" })]
    Steps {
        /// How many.
        count: usize,
        /// The first.
        first: String,
        /// Exit code of the first.
        code: u8,
    },
    /// A tool of the library has no result.
    #[error("{0}")]
    Library(#[from] soleus::Error),
}

impl Failure {
    /// Exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Steps { code, .. } => *code,
            Failure::Library(e) => crate::door::exit_code(e),
            Failure::NotConverged { .. } | Failure::NotSolved { .. } => 1,
            _ => 2,
        }
    }

    /// A file that cannot be read, with the nearest name in its folder as a hint.
    pub fn read(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let hint = match source.kind() {
            ErrorKind::NotFound => match nearest_file(path) {
                Some(near) => format!("did you mean {}?", near.display()),
                None => no_such_file(path),
            },
            ErrorKind::IsADirectory => "this is a folder; name a file in it".to_string(),
            ErrorKind::InvalidData => "the file is not text in UTF-8".to_string(),
            _ => "check that the file exists and that you may read it".to_string(),
        };
        Failure::Read { path: path.to_path_buf(), source, hint }
    }

    /// The same, with the file that names the one that cannot be read.
    pub fn named_in(mut self, file: &Path) -> Self {
        match &mut self {
            Failure::Read { path, hint, .. } if path != file => {
                *hint = format!("{} names it; {hint}", file.display());
                self
            }
            Failure::Library(_) => match self {
                Failure::Library(e) => Failure::Library(e.named_in(file)),
                other => other,
            },
            _ => self,
        }
    }

    /// A file that cannot be written.
    pub fn write(path: &Path, source: std::io::Error) -> Self {
        let hint = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                format!("there is no folder {}; make it first", folder.display())
            }
            _ if path.is_dir() => "this is a folder; name a file in it".to_string(),
            _ => "check that you may write there".to_string(),
        };
        Failure::Write { path: path.to_path_buf(), source, hint }
    }

    /// Something in a file that makes no sense. `line` counts from 1; 0 when none applies.
    pub fn content(path: &Path, line: u32, component: &str, message: String, hint: &str) -> Self {
        Failure::Content(Box::new(Diagnostic {
            severity: Severity::Error,
            file: path.display().to_string(),
            line,
            component: component.to_string(),
            message,
            hint: hint.to_string(),
        }))
    }
}

/// Where a file was looked for.
fn no_such_file(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or(path.to_path_buf());
    let folder = absolute.parent().unwrap_or(Path::new("/"));
    match folder.is_dir() {
        true => format!("there is no such file in {}", folder.display()),
        false => format!("there is no folder {}", folder.display()),
    }
}

/// The file beside `path` whose name differs least, if it differs by little.
fn nearest_file(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    // Of a short name three letters are all.
    let most = (wanted.len() / 2).min(3);
    let mut best: Option<(usize, PathBuf)> = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_string) else { continue };
        let d = edit_distance(wanted, &name);
        if d <= most && best.as_ref().is_none_or(|(b, p)| (d, entry.path()) < (*b, p.clone())) {
            best = Some((d, path.with_file_name(name)));
        }
    }
    best.map(|(_, p)| p)
}

/// The name among `names` that differs least, as a hint; empty when none is alike.
pub fn nearest_hint<'n>(what: &str, wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    let near = names.map(|n| (edit_distance(&n.to_lowercase(), &wanted.to_lowercase()), n)).min();
    match near {
        Some((d, name)) if d <= 2.max(wanted.len() / 2) => format!("the nearest {what} is `{name}`"),
        _ => String::new(),
    }
}
