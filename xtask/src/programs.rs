//! Whether every file of tests is part of a test program, and whether its comparisons can fail.
//!
//! The tests of a crate are one program, `tests/main.rs`, which names its files; a file that nobody names would be
//! compiled by nobody and fail never.

use crate::sources::collect;
use std::path::Path;
use std::{fs, io};

/// Adds what is wrong with the test programs of one crate.
pub fn check_crate(root: &Path, name: &str, manifest: &str, wrong: &mut Vec<String>) -> io::Result<()> {
    let folder = root.join("crates").join(name).join("tests");
    if !folder.is_dir() {
        return Ok(());
    }
    let main = folder.join("main.rs");
    let main = if main.is_file() { fs::read_to_string(main)? } else { String::new() };
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.join("mod.rs").is_file() || file.ends_with(".rs") {
            files.push(file);
        }
    }
    files.sort();
    let mut texts = Vec::new();
    collect(&folder, &mut texts)?;
    texts.sort();
    for path in texts {
        let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        wrong.extend(
            lost_nans(&fs::read_to_string(&path)?)
                .into_iter()
                .map(|line| format!("{inside}:{line}: {LOST_NAN}")),
        );
    }
    wrong.extend(
        check(manifest, &main, &files).into_iter().map(|what| format!("crates/{name}/tests: {what}")),
    );
    Ok(())
}

/// Why tests do not look for a maximum with `f64::max`.
pub const LOST_NAN: &str =
    "`f64::max` leaves out NaN, so that the comparison would pass: use `soleus_math::norm::largest`";

/// Lines (from 1) that fold numbers from zero with `max`. A scale that is folded from a positive number only divides: NaN is found elsewhere.
pub fn lost_nans(text: &str) -> Vec<usize> {
    let folds = |line: &str| {
        let from_zero = line.contains(".fold(0.0") && line.contains("max(");
        from_zero || line.contains(".fold(") && line.contains("f64::max")
    };
    text.lines().enumerate().filter(|(_, line)| folds(line)).map(|(i, _)| i + 1).collect()
}

/// What is wrong, given the manifest, the text of `tests/main.rs`, and names of files and of folders with modules.
fn check(manifest: &str, main: &str, files: &[String]) -> Vec<String> {
    let table: toml::Table = manifest.parse().unwrap_or_default();
    let named_as_program = |file: &str| {
        let programs = table.get("test").and_then(|t| t.as_array()).into_iter().flatten();
        programs.filter_map(|p| p.get("path")?.as_str()).any(|p| p == format!("tests/{file}"))
    };
    let mut wrong = Vec::new();
    let package = table.get("package").and_then(|p| p.as_table());
    if package.and_then(|p| p.get("autotests")).and_then(|a| a.as_bool()) != Some(false) {
        wrong.push("without `autotests = false` every file is a program of its own as well".to_string());
    }
    for file in files {
        let module = file.strip_suffix(".rs").unwrap_or(file);
        let in_main = main.lines().any(|l| l.trim() == format!("mod {module};"));
        if !in_main && !named_as_program(file) {
            wrong.push(format!("{file} is in no test program: `mod {module};` belongs in main.rs"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_maxima_without_nan_are_found() {
        assert_eq!(lost_nans("let a = 1;\nx.iter().copied().fold(0.0, f64::max)"), [2]);
        assert_eq!(lost_nans("x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))"), [1]);
        assert_eq!(lost_nans("x.iter().fold(1e-3, |m: f64, x| m.max(x.abs()))"), [0; 0]);
        assert_eq!(lost_nans("largest(x.iter().copied()); y.fold(0.0, |a, b| a + b)"), [0; 0]);
    }

    #[test]
    fn analytic_forgotten_tests_are_found() {
        let manifest = "[package]\nautotests = false\n[[test]]\nname = \"all\"\npath = \"tests/main.rs\"\n\
                        [[test]]\nname = \"allocations\"\npath = \"tests/allocations.rs\"";
        let files = ["allocations.rs", "common", "main.rs", "path.rs"].map(String::from);
        assert_eq!(check(manifest, "mod common;\nmod path;", &files), Vec::<String>::new());
        assert_eq!(check(manifest, "mod common;", &files).len(), 1);
        assert_eq!(check(manifest, "mod common;\nmod pathology;", &files).len(), 1);
        assert_eq!(check("[package]", "mod common;\nmod path;", &files).len(), 3);
    }
}
