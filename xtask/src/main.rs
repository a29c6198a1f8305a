//! Checks of the project itself; `cargo run -p xtask` prints what is wrong, `cargo test -p xtask` fails on it.

mod architecture;
mod arrows;
mod packages;
mod programs;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// The root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of the folders in `crates/`, sorted.
fn crates(root: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Everything that is wrong, one sentence each.
fn findings(root: &Path) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    for name in crates(root)? {
        let manifest = fs::read_to_string(root.join("crates").join(&name).join("Cargo.toml"))?;
        all.extend(arrows::check(&name, &manifest));
        sources::check_crate(root, &name, &mut all)?;
        programs::check_crate(root, &name, &manifest, &mut all)?;
        packages::check_crate(root, &name, &manifest, &mut all)?;
    }
    let text = fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    all.extend(architecture::check(root, &text, &crates(root)?));
    Ok(all)
}

fn main() -> ExitCode {
    match findings(&root()) {
        Ok(all) if all.is_empty() => ExitCode::SUCCESS,
        Ok(all) => {
            for finding in all {
                eprintln!("{finding}");
            }
            ExitCode::FAILURE
        }
        Err(e) => {
            eprintln!("cannot read the project: {e}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    /// The project as it stands keeps its own rules.
    #[test]
    fn identity_project_keeps_its_rules() {
        let all = super::findings(&super::root()).unwrap();
        assert!(all.is_empty(), "\n{}", all.join("\n"));
    }
}
