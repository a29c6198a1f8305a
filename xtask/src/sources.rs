//! What the sources of a crate must not contain.

use crate::programs::{LOST_NAN, lost_nans};
use std::path::Path;
use std::{fs, io};

/// Crates at the edge: they print, open files and read the clock.
const EDGE: &[&str] = &[
    "soleus-cli",
    "soleus-experiments",
    "soleus-studio",
    "soleus-python",
    "soleus-wheel",
    "soleus-wasm",
    "soleus-fuzz",
];

/// Crates that must stay small, and how many lines they may have outside tests: a door parses, calls, prints and writes.
const SMALL: &[(&str, usize)] = &[("soleus-cli", 3000)];

/// An allocator that counts is a global by its nature. Nothing that users link depends on this crate (`arrows.rs`).
const COUNTS_MEMORY: &str = "soleus-fuzz";

/// A number that records has no room for a reference: its graph is the thread's own, and there only while something is recorded.
const RECORDS: (&str, &str) = ("soleus-graph", "scalar.rs");

/// The interpreter has one lock for the whole process, and so has the count of those who write without it.
const INTERPRETER: (&str, &str) = ("soleus-python", "watch.rs");

/// Words that only the edge may use, and why.
const EDGE_WORDS: &[(&str, &str)] = &[
    ("println!(", "prints"),
    ("print!(", "prints"),
    ("eprintln!(", "prints"),
    ("eprint!(", "prints"),
    ("dbg!(", "prints"),
    ("std::fs", "opens files"),
    ("File::open(", "opens files"),
    ("Instant::now(", "reads the clock"),
    ("SystemTime::now(", "reads the clock"),
    ("thread::sleep(", "sleeps"),
    ("set_hook(", "installs a handler"),
    ("ctrlc::", "installs a handler"),
];

/// What the doors do without, and why. The command parses, calls, prints and writes; Studio and Python also show models, tables and drawings,
/// which they take from `soleus::engine`, but what is computed is a request to the library in all three.
const DOORS: &[(&str, &[(&str, &str)])] = &[
    (
        "soleus-cli",
        &[
            ("soleus::engine", "computes, which the library does"),
            ("std::fs", "opens files, which the library does"),
            ("File::open(", "opens files, which the library does"),
        ],
    ),
    ("soleus-studio", COMPUTES),
    ("soleus-python", COMPUTES),
];

/// The parts of the engine that compute.
const COMPUTES: &[(&str, &str)] = &[
    ("soleus::engine::tools", "computes, which a request to the library does"),
    ("soleus::engine::control", "computes, which a request to the library does"),
    ("soleus::engine::optimization", "computes, which a request to the library does"),
    ("soleus::engine::simulation", "computes, which a request to the library does"),
];

/// The one file of a crate that may do what only the edge may, and what that is.
const EXCEPTED: &[(&str, &str, &str)] =
    &[("soleus", "files/disk.rs", "std::fs"), ("soleus", "files/disk.rs", "File::open(")];

/// Parts of a crate that must not see each other: folder, module, why.
const APART: &[(&str, &str, &str, &str)] = &[
    ("soleus-dynamics", "muscle", "crate::path", "a muscle knows lengths and speeds, never paths"),
    ("soleus-dynamics", "path", "crate::muscle", "a path knows poses, never muscles"),
    ("soleus-dynamics", "muscle", "crate::multibody", "a muscle knows no tree"),
    ("soleus-dynamics", "force", "crate::multibody", "a force sees a Kinematics view, never the tree"),
    ("soleus-dynamics", "contact", "crate::multibody", "a contact sees a Kinematics view, never the tree"),
];

/// Adds what is wrong with the sources of one crate.
pub fn check_crate(root: &Path, name: &str, wrong: &mut Vec<String>) -> io::Result<()> {
    let src = root.join("crates").join(name).join("src");
    let mut files = Vec::new();
    collect(&src, &mut files)?;
    files.sort();
    let mut lines = 0;
    for file in files {
        let text = fs::read_to_string(&file)?;
        let inside = file.strip_prefix(&src).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        lines += lines_outside_tests(&inside, &text);
        if holds_tests(&inside) {
            let lost = lost_nans(&text).into_iter();
            wrong.extend(lost.map(|line| format!("crates/{name}/src/{inside}:{line}: {LOST_NAN}")));
        }
        for (line, what) in check(name, &inside, &text) {
            wrong.push(format!("crates/{name}/src/{inside}:{line}: {what}"));
        }
    }
    wrong.extend(too_long(name, lines));
    Ok(())
}

/// How many lines of a file are not tests: none of a file of tests, and those before `#[cfg(test)]` of any other.
fn lines_outside_tests(file: &str, text: &str) -> usize {
    if holds_tests(file) {
        return 0;
    }
    text.lines().take_while(|l| !l.starts_with("#[cfg(test)]")).count()
}

/// Whether a file holds nothing but tests.
pub fn holds_tests(file: &str) -> bool {
    file.ends_with("tests.rs") || file.contains("tests/")
}

/// What is wrong with a crate of so many lines.
fn too_long(name: &str, lines: usize) -> Option<String> {
    let (_, most) = SMALL.iter().find(|(n, _)| *n == name)?;
    (lines > *most).then(|| {
        format!("crates/{name}: {lines} lines outside tests, {most} at most: it computes, or can do less")
    })
}

/// All `.rs` files below a folder.
pub fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// What is wrong in one file of the crate `name`, as line (from 1) and sentence. Comments and
/// what follows `#[cfg(test)]` are left alone, as are files of tests.
fn check(name: &str, file: &str, text: &str) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    if holds_tests(file) {
        return wrong;
    }
    for (i, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("#[cfg(test)]") {
            break;
        }
        if code.starts_with("//") {
            continue;
        }
        if !EDGE.contains(&name) {
            // The first match says it: `eprintln!(` also contains `println!(`.
            let excepted = |word: &str| EXCEPTED.contains(&(name, file, word));
            let found = EDGE_WORDS.iter().find(|(word, _)| holds(code, word) && !excepted(word));
            if let Some((word, why)) = found {
                wrong.push((i + 1, format!("`{word}` {why}, which only the edge may")));
            }
        }
        let mut words = DOORS.iter().filter(|(n, _)| *n == name).flat_map(|(_, words)| *words);
        if let Some((word, why)) = words.find(|(word, _)| holds(code, word)) {
            wrong.push((i + 1, format!("`{word}` {why}")));
        }
        let item = code.strip_prefix("pub ").unwrap_or(code);
        if item.starts_with("static ")
            && name != COUNTS_MEMORY
            && ![RECORDS, INTERPRETER].contains(&(name, file))
        {
            wrong.push((i + 1, "a global: two models in two threads would meet there".to_string()));
        }
        for (crate_name, folder, module, why) in APART {
            let at_home = file.starts_with(&format!("{folder}/")) || file == format!("{folder}.rs");
            if name == *crate_name && at_home && mentions(code, module) {
                wrong.push((i + 1, format!("`{module}`: {why}")));
            }
        }
    }
    wrong
}

/// Whether a line has a word, or takes the module of a path out of a list: `use std::{fs, io}` for `std::fs`.
fn holds(code: &str, word: &str) -> bool {
    let of_list = || {
        let (parent, module) = word.rsplit_once("::")?;
        let list = code.split_once(&format!("{parent}::{{"))?.1;
        // Lists in lists belong to other modules.
        let mut depth = 0;
        let own: String = (list.chars())
            .filter(|c| {
                depth += i32::from(*c == '{') - i32::from(*c == '}');
                depth == 0
            })
            .collect();
        Some(own.split(',').any(|item| mentions(item, module) && item.trim().starts_with(module)))
    };
    code.contains(word) || of_list().unwrap_or(false)
}

/// Whether code names a module, and not a longer name that begins alike.
fn mentions(code: &str, module: &str) -> bool {
    code.match_indices(module).any(|(at, _)| {
        let next = code[at + module.len()..].chars().next();
        !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_wrong_sources_are_found() {
        let count = |name, file, text| check(name, file, text).len();
        assert_eq!(count("soleus-math", "a.rs", "fn f() { println!(\"x\") }"), 1);
        assert_eq!(count("soleus-cli", "a.rs", "fn f() { println!(\"x\") }"), 0);
        assert_eq!(count("soleus-math", "a.rs", "// println!(\"x\")\n#[cfg(test)]\nprintln!()"), 0);
        assert_eq!(count("soleus-math", "a.rs", "pub static X: u8 = 0;"), 1);
        assert_eq!(count("soleus-math", "a.rs", "fn f(x: &'static str) {}"), 0);
        assert_eq!(count("soleus-dynamics", "muscle/thelen2003.rs", "use crate::path::Path;"), 1);
        assert_eq!(count("soleus-dynamics", "muscle/thelen2003.rs", "use crate::pathology;"), 0);
        assert_eq!(count("soleus-dynamics", "system.rs", "use crate::path::Path;"), 0);
        assert_eq!(count("soleus-tools", "a.rs", "std::thread::sleep(s);"), 1);
        for wrong in ["use std::{fs, io};", "use std::{io, fs::File};", "use std::{fmt::{self, Write}, fs};"]
        {
            assert_eq!((count("soleus-tools", "a.rs", wrong), count("soleus-cli", "a.rs", wrong)), (1, 1));
        }
        assert_eq!(count("soleus-tools", "a.rs", "use std::{fmt, io::{fs_like, Write}};"), 0);
        assert_eq!(count("soleus-cli", "a.rs", "use soleus::engine::tools::scale;"), 1);
        assert_eq!(count("soleus-cli", "a.rs", "use soleus::{Error, engine::math};"), 1);
        assert_eq!(count("soleus-studio", "a.rs", "use soleus::engine::math::Table;"), 0);
        assert_eq!(count("soleus-studio", "a.rs", "use soleus::engine::tools::scale;"), 1);
        assert_eq!(count("soleus-python", "a.rs", "use soleus::engine::{math, simulation};"), 1);
        assert!(too_long("soleus-cli", 3001).is_some() && too_long("soleus-cli", 3000).is_none());
        assert!(too_long("soleus-tools", 100_000).is_none());
    }

    #[test]
    fn analytic_lines_of_tests_are_not_counted() {
        let text = "fn f() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(lines_outside_tests("ik.rs", text), 2);
        assert_eq!(lines_outside_tests("ik.rs", "fn f() {}\nfn g() {}\n"), 2);
        assert_eq!(lines_outside_tests("tests.rs", text), 0);
        assert_eq!(lines_outside_tests("ik/tests.rs", text), 0);
        assert_eq!(lines_outside_tests("ik/tests/leg.rs", text), 0);
    }
}
