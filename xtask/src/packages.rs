//! Whether a crate that is published holds all that it is made of.
//!
//! A package is a folder of one crate and nothing beside it: what is included from elsewhere is missing on another machine. Models that are part of
//! the library therefore lie in its own folder `models`, and are the same as those in `models/` that everybody looks at.

use crate::sources::{collect, holds_tests};
use std::path::Path;
use std::{fs, io};

/// Adds what is wrong with the package of one crate.
pub fn check_crate(root: &Path, name: &str, manifest: &str, wrong: &mut Vec<String>) -> io::Result<()> {
    if !is_published(manifest) {
        return Ok(());
    }
    let package = root.join("crates").join(name);
    let src = package.join("src");
    let mut files = Vec::new();
    collect(&src, &mut files)?;
    files.sort();
    for file in files {
        let inside = file.strip_prefix(&src).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        for line in outside(&inside, &fs::read_to_string(&file)?) {
            wrong.push(format!(
                "crates/{name}/src/{inside}:{line}: includes a file outside crates/{name}, which its package has not"
            ));
        }
    }
    let models = package.join("models");
    if models.is_dir() {
        for entry in fs::read_dir(&models)? {
            let path = entry?.path();
            let file = path.file_name().unwrap_or_default();
            if fs::read(root.join("models").join(file)).ok() != Some(fs::read(&path)?) {
                let file = file.to_string_lossy();
                wrong.push(format!(
                    "crates/{name}/models/{file} is not the same as models/{file}: copy the one that is right"
                ));
            }
        }
    }
    Ok(())
}

/// Whether a crate is published.
fn is_published(manifest: &str) -> bool {
    let table: toml::Table = manifest.parse().unwrap_or_default();
    let package = table.get("package").and_then(|p| p.as_table());
    package.and_then(|p| p.get("publish")).and_then(|p| p.as_bool()) != Some(false)
}

/// Lines (from 1) of a file in `src` that include what is not in the package. Tests are left alone: they run in the checkout.
fn outside(file: &str, text: &str) -> Vec<usize> {
    if holds_tests(file) {
        return Vec::new();
    }
    // From `src/a.rs` one step up is the folder of the package.
    let most = 1 + file.matches('/').count();
    let leaves = |line: &str| {
        let words = ["include_str!(\"", "include_bytes!(\"", "include!(\""];
        let paths = words.iter().flat_map(|w| line.split(w).skip(1));
        paths.into_iter().any(|path| path.split('"').next().is_some_and(|p| p.matches("../").count() > most))
    };
    let code = text.lines().take_while(|l| !l.starts_with("#[cfg(test)]"));
    code.enumerate().filter(|(_, line)| leaves(line)).map(|(i, _)| i + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_includes_from_elsewhere_are_found() {
        let at = |file: &str, path: &str| {
            outside(file, &format!("fn f() {{}}\nconst T: &str = include_str!(\"{path}\");"))
        };
        assert_eq!(at("leg.rs", "../models/leg.osim"), [0; 0]);
        assert_eq!(at("a/leg.rs", "../../models/leg.osim"), [0; 0]);
        assert_eq!(at("leg.rs", "../../../models/leg.osim"), [2]);
        assert_eq!(at("a/leg.rs", "../../../models/leg.osim"), [2]);
        assert_eq!(at("a/tests.rs", "../../../models/leg.osim"), [0; 0]);
        assert_eq!(outside("leg.rs", "#[cfg(test)]\nlet a = include_bytes!(\"../../b\");"), [0; 0]);
        assert!(is_published("[package]\nname = \"a\"") && !is_published("[package]\npublish = false"));
    }
}
