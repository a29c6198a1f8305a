//! Which crate may depend on which.

/// What each crate may see of the others. A crate that is not listed may see nothing until it is.
const MAY_SEE: &[(&str, &[&str])] = &[
    ("soleus-testing", &[]),
    ("soleus-math", &[]),
    ("soleus-model", &["soleus-math"]),
    ("soleus-io", &["soleus-math", "soleus-model"]),
    ("soleus-dynamics", &["soleus-math", "soleus-model"]),
    ("soleus-simulation", &["soleus-math", "soleus-model", "soleus-dynamics"]),
    ("soleus-graph", &["soleus-math"]),
    ("soleus-batch", &["soleus-math", "soleus-model", "soleus-dynamics", "soleus-graph"]),
    // Any nonlinear program: no model, no dynamics.
    ("soleus-optimization", &["soleus-math"]),
    ("soleus-control", &["soleus-math", "soleus-model", "soleus-dynamics", "soleus-optimization"]),
    (
        "soleus-tools",
        &[
            "soleus-math",
            "soleus-model",
            "soleus-dynamics",
            "soleus-simulation",
            "soleus-optimization",
            "soleus-control",
        ],
    ),
    ("soleus-viewer", STUDIES),
    ("soleus", LIBRARY),
    // The engine of a page is one for all doors: the command serves it, the page carries it.
    ("soleus-studio", DOOR),
    ("soleus-wasm", &["soleus", "soleus-studio"]),
    ("soleus-cli", &["soleus", "soleus-studio"]),
    // The wheel holds the command too.
    ("soleus-python", &["soleus", "soleus-cli"]),
    ("soleus-wheel", &["soleus-python"]),
    // What a page may ask is asked wrongly, too.
    ("soleus-fuzz", &["soleus-math", "soleus-model", "soleus-io", "soleus", "soleus-studio"]),
    // A program of ours that asks the kernels what no tool tells.
    ("soleus-experiments", EVERYTHING),
];

/// Everything that computes, and what reads files for it.
const STUDIES: &[&str] = &[
    "soleus-math",
    "soleus-model",
    "soleus-io",
    "soleus-dynamics",
    "soleus-simulation",
    "soleus-optimization",
    "soleus-control",
    "soleus-tools",
];

/// The library sees everything below it.
const LIBRARY: &[&str] = &[
    "soleus-math",
    "soleus-model",
    "soleus-io",
    "soleus-dynamics",
    "soleus-simulation",
    "soleus-optimization",
    "soleus-control",
    "soleus-tools",
    "soleus-graph",
    "soleus-batch",
    "soleus-viewer",
];

/// Stands for all crates.
const EVERYTHING: &[&str] = &["soleus*"];

/// A door sees the library alone. What it shows of models and tables it takes from `soleus::engine`; the command not even that (`sources.rs`).
const DOOR: &[&str] = &["soleus"];

/// Foreign crates that belong to one place: a beginning of their name, who may use them, and why.
const FOREIGN: &[(&str, &[&str], &str)] = &[
    ("quick-xml", &["soleus-io"], "only io has heard of XML"),
    ("roxmltree", &["soleus-io"], "only io has heard of XML"),
    ("xml", &["soleus-io"], "only io has heard of XML"),
    ("clap", &["soleus-cli", "soleus-experiments"], "only the command reads arguments"),
    ("indicatif", &["soleus-cli"], "nothing below the edge shows progress"),
    ("axum", &["soleus-studio"], "only Studio serves pages"),
    ("tokio", &["soleus-studio"], "only Studio serves pages"),
    ("pyo3", &["soleus-python", "soleus-wheel"], "only the Python package has heard of Python"),
];

/// What is wrong with the dependencies of the crate `name`, given its manifest.
///
/// Tests may use other crates of ours as they like: only what users link counts.
pub fn check(name: &str, manifest: &str) -> Vec<String> {
    let table: toml::Table = match manifest.parse() {
        Ok(table) => table,
        Err(e) => return vec![format!("crates/{name}/Cargo.toml: {e}")],
    };
    let Some((_, may_see)) = MAY_SEE.iter().find(|(n, _)| *n == name) else {
        return vec![format!("crates/{name}: not in the list of arrows (xtask/src/arrows.rs)")];
    };
    let mut wrong = Vec::new();
    for dependency in dependencies(&table) {
        let sees = *may_see == EVERYTHING || may_see.contains(&dependency.as_str());
        if dependency.starts_with("soleus") && !sees {
            wrong.push(format!("{name} must not depend on {dependency}"));
        }
        for (foreign, places, why) in FOREIGN {
            if dependency == *foreign && !places.contains(&name) {
                wrong.push(format!("{name} must not depend on {dependency}: {why}"));
            }
        }
    }
    wrong
}

/// Names of the packages in all tables `dependencies` and `build-dependencies`, also those of targets.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["dependencies", "build-dependencies"] {
        let mut tables = vec![manifest.get(kind)];
        if let Some(targets) = manifest.get("target").and_then(|t| t.as_table()) {
            tables.extend(targets.values().map(|t| t.get(kind)));
        }
        for table in tables.into_iter().flatten().filter_map(|t| t.as_table()) {
            for (key, value) in table {
                // A renamed dependency is known by its package.
                let package = value.get("package").and_then(|p| p.as_str()).unwrap_or(key);
                names.push(package.to_string());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrows that point up are found, however they are written.
    #[test]
    fn analytic_wrong_arrows_are_found() {
        assert!(
            check("soleus-io", "[dependencies]\nsoleus-model.workspace = true\nquick-xml = \"1\"").is_empty()
        );
        for manifest in [
            "[dependencies]\nsoleus-dynamics.workspace = true",
            "[dependencies.soleus-dynamics]\npath = \"../soleus-dynamics\"",
            "[dependencies]\nphysics = { package = \"soleus-dynamics\", path = \"x\" }",
            "[target.'cfg(unix)'.dependencies]\nsoleus-dynamics = \"0\"",
            "[build-dependencies]\nsoleus-cli = \"0\"",
        ] {
            assert_eq!(check("soleus-io", manifest).len(), 1, "{manifest}");
        }
        assert_eq!(check("soleus-dynamics", "[dependencies]\nquick-xml = \"0.38\"").len(), 1);
        assert!(check("soleus-math", "[dev-dependencies]\nsoleus-io.workspace = true").is_empty());
        assert_eq!(check("soleus-secret", "").len(), 1);
    }

    /// The list itself has no circle: every arrow points to an earlier line.
    #[test]
    fn identity_arrows_point_one_way() {
        for (i, (name, sees)) in MAY_SEE.iter().enumerate() {
            // Whoever sees everything is seen by nobody.
            if *sees == EVERYTHING {
                assert_eq!(i, MAY_SEE.len() - 1, "{name}");
                continue;
            }
            for seen in *sees {
                let j = MAY_SEE.iter().position(|(n, _)| n == seen);
                assert!(j.is_some_and(|j| j < i), "{name} sees {seen}");
            }
        }
    }
}
