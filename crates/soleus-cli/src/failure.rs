//! What can go wrong at the command line, and the exit code that says so.

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
    #[error("error: cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The input has errors, which were already reported.
    #[error("{count} error{} in {}", if *count == 1 { "" } else { "s" }, path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
    },
    /// Something in the input makes no sense.
    #[error("error: {message}\n  --> {}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A simulation did not reach its end.
    #[error("error: {message}{}\n  everything up to then is in {}", blame.as_ref().map_or(String::new(), |b| format!("\n  most to blame: {b}")), saved.display())]
    NotFinished {
        /// What stopped it.
        message: String,
        /// The state to blame, as far as it can be told.
        blame: Option<String>,
        /// Where the results so far are.
        saved: PathBuf,
    },
}

impl Failure {
    /// Exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::NotFinished { .. } => 1,
            _ => 2,
        }
    }

    /// A file that cannot be read, with the nearest name in its folder as a hint.
    pub fn read(path: &Path, source: std::io::Error) -> Self {
        let hint = match nearest_file(path) {
            Some(near) => format!("did you mean {}?", near.display()),
            None => "check the path; it is taken relative to the folder you are in".to_string(),
        };
        Failure::Read { path: path.to_path_buf(), source, hint }
    }
}

/// The file beside `path` whose name differs least, if it differs by little.
fn nearest_file(path: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut best: Option<(usize, PathBuf)> = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_string) else { continue };
        let d = edit_distance(wanted, &name);
        if d <= 3 && best.as_ref().is_none_or(|(b, p)| (d, entry.path()) < (*b, p.clone())) {
            best = Some((d, path.with_file_name(name)));
        }
    }
    best.map(|(_, p)| p)
}

/// Levenshtein's distance: insertions, deletions and substitutions that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_edit_distance() {
        assert_eq!(edit_distance("gait.osim", "gait.osim"), 0);
        assert_eq!(edit_distance("gait.osm", "gait.osim"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
