//! The documents: their code is that of the examples, which compile, and their links lead somewhere.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every document for users, with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = vec![root().join("README.md")];
    for folder in ["docs", "docs/guide", "docs/guide/experiments"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        files
            .extend(entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    files.sort();
    files.into_iter().map(|f| (f.clone(), std::fs::read_to_string(f).unwrap())).collect()
}

#[test]
fn identity_code_in_documents_is_that_of_the_examples() {
    let mut found = 0;
    for (file, text) in documents() {
        for block in text.split("<!-- code: ").skip(1) {
            let (example, rest) = block.split_once(" -->\n```").unwrap();
            let (_language, rest) = rest.split_once('\n').unwrap();
            let (code, _) = rest.split_once("```\n").unwrap();
            let source = std::fs::read_to_string(root().join(example)).unwrap();
            // The comment at the head of the file is left out.
            let body: String = source
                .split_inclusive('\n')
                .skip_while(|l| l.starts_with("//!") || l.trim().is_empty())
                .collect();
            assert_eq!(code, body, "{}: run scripts/update-docs", file.display());
            found += 1;
        }
    }
    assert_eq!(
        found, 5,
        "README.md, docs/guide/library.md, docs/guide/formulas.md and twice docs/guide/study.md"
    );
}

#[test]
fn identity_links_lead_somewhere() {
    for (file, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|l| l.split(')').next()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let target = link.split('#').next().unwrap_or(link);
            let folder = file.parent().unwrap();
            assert!(folder.join(target).exists(), "{}: nothing at {link}", file.display());
        }
    }
}
