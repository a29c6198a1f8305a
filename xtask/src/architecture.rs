//! Whether ARCHITECTURE.md tells the truth about what there is.

use std::path::Path;

/// What ARCHITECTURE.md names that does not exist, and which crates it forgets.
///
/// Looked at are the words in backticks: paths (`crates/soleus-math`, `scripts/check-points`),
/// crates (`soleus-io`), module paths (`soleus_model::document`), and in the table of crates the
/// lower-case names of the second column, which are modules of the crate of the row.
pub fn check(root: &Path, text: &str, crates: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut missing = |what: String| wrong.push(format!("ARCHITECTURE.md:{}: {what}", i + 1));
        for word in quoted(line) {
            if word.contains("::") {
                if let Some(problem) = module_path(root, word) {
                    missing(problem);
                }
            } else if word.contains('/') && !word.contains(' ') {
                if !root.join(word).exists() {
                    missing(format!("there is no `{word}`"));
                }
            } else if word.starts_with("soleus-") && !crates.iter().any(|c| c == word) {
                missing(format!("there is no crate `{word}`"));
            } else if word == "xtask" && !root.join(word).is_dir() {
                missing("there is no folder `xtask`".to_string());
            }
        }
        // A row of the table of crates.
        let cells: Vec<&str> = line.split('|').collect();
        let Some(name) = cells.get(1).and_then(|c| quoted(c).next()).and_then(|w| w.strip_prefix("crates/"))
        else {
            continue;
        };
        for module in cells.get(2).into_iter().flat_map(|c| quoted(c)) {
            let is_module = module.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            // The name of the command is not a module.
            if is_module && module != "soleus" && !has_module(root, name, &[module]) {
                missing(format!("`{name}` has no module `{module}`"));
            }
        }
    }
    for name in crates {
        if !text.contains(&format!("`crates/{name}`")) {
            wrong.push(format!("ARCHITECTURE.md does not name `crates/{name}`"));
        }
    }
    wrong
}

/// The words between backticks of one line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// What is wrong with a path such as `soleus_model::document`; items (`Real::value`) are not looked up.
fn module_path(root: &Path, word: &str) -> Option<String> {
    let mut parts = word.split("::");
    let name = parts.next()?.replace('_', "-");
    if !name.starts_with("soleus-") {
        return None;
    }
    if !root.join("crates").join(&name).is_dir() {
        return Some(format!("there is no crate `{name}`"));
    }
    let modules: Vec<&str> = parts.take_while(|p| p.starts_with(|c: char| c.is_ascii_lowercase())).collect();
    if modules.is_empty() || has_module(root, &name, &modules) {
        None
    } else {
        Some(format!("there is no `{word}`"))
    }
}

/// Whether the crate has the module, as a file or a folder.
fn has_module(root: &Path, name: &str, modules: &[&str]) -> bool {
    let mut path = root.join("crates").join(name).join("src");
    for module in modules {
        path = path.join(module);
    }
    path.is_dir() || path.with_extension("rs").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_untrue_sentences_are_found() {
        let root = crate::root();
        let crates = vec!["soleus-math".to_string()];
        let good =
            "| `crates/soleus-math` | `Real`, `function`, `dual` | |\n`soleus_math::function`, `xtask`";
        assert_eq!(check(&root, good, &crates), Vec::<String>::new());
        for (bad, count) in [
            ("`crates/soleus-math`, `crates/soleus-moon`", 1),
            ("| `crates/soleus-math` | `function`, `moon` | |", 1),
            ("`crates/soleus-math` `soleus_math::moon`", 1),
            ("`crates/soleus-math` `soleus-moon`", 1),
            ("nothing at all", 1),
        ] {
            assert_eq!(check(&root, bad, &crates).len(), count, "{bad}");
        }
    }
}
