//! Tests that need what does not come with the sources: the reference data, or a program such as a C compiler.
//!
//! The data lie at `../shared` beside the checkout or where the environment variable `SOLEUS_SHARED` says. Whether
//! they are there is found out when tests are built, so that the harness lists and counts the tests it leaves out:
//!
//! ```text
//! test goals::opensim_val_hanging_muscle ... ignored, needs the reference data at ../shared (or SOLEUS_SHARED)
//! ```

use proc_macro::{TokenStream, TokenTree};
use std::path::Path;

/// Where the data are, or would be.
const FOLDER: &str = env!("SOLEUS_SHARED_FOLDER");

/// `#[test]` for a function that reads reference data; ignored, with the reason, where the data are not there.
///
/// `#[reference_test]` needs the folder `reference`, `#[reference_test("data/das3")]` the folder named. Inside such a test
/// a missing file is a failure.
#[proc_macro_attribute]
pub fn reference_test(folder: TokenStream, function: TokenStream) -> TokenStream {
    let text = match attributes(&folder.to_string()) {
        Ok(attributes) => attributes,
        Err(problem) => format!("compile_error!({problem:?});"),
    };
    let mut out: TokenStream = text.parse().expect("attributes are Rust");
    out.extend(function);
    out
}

/// The path of the reference data as a text literal: `shared!()`, or `shared!("reference/points")` for a folder in it.
#[proc_macro]
pub fn shared(folder: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = folder.into_iter().collect();
    let path = match trees.as_slice() {
        [] => Ok(FOLDER.to_string()),
        [tree] => literal(&tree.to_string()).map(|inside| format!("{FOLDER}/{inside}")),
        _ => Err("one folder, in quotation marks".to_string()),
    };
    let text = path.map_or_else(|problem| format!("compile_error!({problem:?})"), |path| format!("{path:?}"));
    text.parse().expect("a literal is Rust")
}

/// `#[test]` for a function that runs another program, `#[program_test("cc")]`; ignored, with the reason, where the program is not found.
#[proc_macro_attribute]
pub fn program_test(program: TokenStream, function: TokenStream) -> TokenStream {
    let text = match literal(&program.to_string()) {
        Ok(name) => attributes_of_program(name, &std::env::var_os("PATH").unwrap_or_default()),
        Err(_) => "compile_error!(\"the name of a program in quotation marks\");".to_string(),
    };
    let mut out: TokenStream = text.parse().expect("attributes are Rust");
    out.extend(function);
    out
}

/// The attributes of a test that needs a program from a list of folders.
fn attributes_of_program(name: &str, folders: &std::ffi::OsStr) -> String {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    match std::env::split_paths(folders).any(|folder| folder.join(&file).is_file()) {
        true => "#[test]".to_string(),
        false => format!("#[test] #[ignore = \"needs the program {name}\"]"),
    }
}

/// The attributes of a test that needs a folder.
fn attributes(folder: &str) -> Result<String, String> {
    let inside = if folder.is_empty() { "reference" } else { literal(folder)? };
    let what = if inside == "reference" { "" } else { &format!("{inside} of ") };
    let reason = format!("needs {what}the reference data at ../shared (or SOLEUS_SHARED)");
    let ignore =
        if Path::new(FOLDER).join(inside).is_dir() { "" } else { &format!("#[ignore = {reason:?}]") };
    Ok(format!("#[test] {ignore}"))
}

/// The text of a plain string literal.
fn literal(source: &str) -> Result<&str, String> {
    let text = source.strip_prefix('"').and_then(|s| s.strip_suffix('"'));
    match text {
        Some(text) if !text.is_empty() && !text.contains(['\\', '"']) => Ok(text),
        _ => Err(format!("a folder of the reference data in quotation marks, not {source}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data that came after the tests were built would leave them ignored without anybody noticing.
    #[test]
    fn identity_reference_data_are_as_when_built() {
        let was_there = env!("SOLEUS_SHARED_FOUND") == "true";
        assert_eq!(
            Path::new(FOLDER).is_dir(),
            was_there,
            "{FOLDER} came or went since the tests were built: touch crates/soleus-testing/build.rs and build again"
        );
    }

    #[test]
    fn analytic_missing_programs_are_ignored_with_the_reason() {
        let cargo = Path::new(env!("CARGO")).parent().unwrap().as_os_str();
        assert_eq!(attributes_of_program("cargo", cargo), "#[test]");
        let missing = "#[test] #[ignore = \"needs the program no-such-program\"]";
        assert_eq!(attributes_of_program("no-such-program", cargo), missing);
    }

    #[test]
    fn analytic_missing_folders_are_ignored_with_the_reason() {
        let missing = attributes("\"no/such/folder\"").unwrap();
        let reason = "needs no/such/folder of the reference data at ../shared (or SOLEUS_SHARED)";
        assert_eq!(missing, format!("#[test] #[ignore = \"{reason}\"]"));
        assert_eq!(attributes("").unwrap().contains("ignore"), !Path::new(FOLDER).join("reference").is_dir());
        assert!(
            attributes("reference").is_err()
                && attributes("\"\"").is_err()
                && attributes("\"a\\\"b\"").is_err()
        );
    }
}
