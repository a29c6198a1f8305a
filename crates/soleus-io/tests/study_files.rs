//! Study files of the project and setups of Moco are the same after they were written and read, as TOML and as JSON.

use soleus_io::study::{Study, read, write};
use soleus_model::Diagnostics;
use std::path::{Path, PathBuf};

/// Written and read, as TOML and as JSON.
fn check(study: &Study) {
    let text = write(study);
    let mut log = Diagnostics::new("written.toml");
    let again = read(&text, &mut log).unwrap_or_else(|| panic!("{text}\n{:#?}", log.list));
    let plain = study.clone().without_lines();
    assert_eq!(again.without_lines(), plain, "{text}");
    let json = serde_json::to_string(study).unwrap_or_else(|e| panic!("{e}"));
    let again: Study = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{json}\n{e}"));
    assert_eq!(again.without_lines(), plain, "{json}");
}

/// Study files of the project: the examples, those that are part of the program, and those in the guide.
fn shipped() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, list: &mut Vec<(PathBuf, String)>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_string();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    walk(&path, list);
                }
            } else if name.ends_with(".toml") && name != "Cargo.toml" {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                if text.contains("time]") && text.contains("model =") {
                    list.push((path, text));
                }
            } else if name == "study.md" {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let blocks = text.split("```toml\n").skip(1).filter_map(|b| b.split("```").next());
                let whole = blocks.filter(|b| b.contains("time]") && b.contains("model ="));
                list.extend(whole.map(|b| (path.clone(), b.to_string())));
            }
        }
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut list = Vec::new();
    ["examples", "crates", "docs"].iter().for_each(|folder| walk(&root.join(folder), &mut list));
    list
}

#[test]
fn identity_shipped_studies_are_kept() {
    let list = shipped();
    assert!(list.len() >= 9, "{} studies", list.len());
    for (path, text) in list {
        let mut log = Diagnostics::new(path.display().to_string());
        let study = read(&text, &mut log).unwrap_or_else(|| panic!("{}: {:?}", path.display(), log.list));
        check(&study);
    }
}

/// What OpenSim's setup files say, from XML to a study, to TOML and to a study again.
#[soleus_testing::reference_test]
fn identity_moco_files_are_kept() {
    let entries = std::fs::read_dir(crate::common::reference().join("moco/settings")).unwrap();
    let mut count = 0;
    for path in entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "omoco")) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let (document, mut log) = soleus_io::osim::read_document(&bytes, &path.display().to_string());
        let mut document = document.unwrap_or_else(|| panic!("{:?}", log.list));
        soleus_io::osim::upgrade(&mut document, &mut log);
        let Some(soleus_io::setup::Setup::MocoStudy(setup)) = soleus_io::setup::read(&document, &mut log)
        else {
            panic!("{}: {:?}", path.display(), log.list)
        };
        check(&Study::from(*setup));
        count += 1;
    }
    assert!(count >= 30, "{count} files");
}
