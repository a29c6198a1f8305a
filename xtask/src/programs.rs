//! Whether every file of tests is part of a test program.
//!
//! The tests of a crate are one program, `tests/main.rs`, which names its files; a file that nobody names would be
//! compiled by nobody and fail never.

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
    wrong.extend(
        check(manifest, &main, &files).into_iter().map(|what| format!("crates/{name}/tests: {what}")),
    );
    Ok(())
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
