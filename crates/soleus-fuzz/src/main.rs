//! `scripts/fuzz`: all readers and tools, as long as it is told.

use soleus_fuzz::{
    Counting, Current, Fault, Kind, Limits, Session, Target, case, run_case, shrink, targets, tools,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: Counting = Counting;

const USAGE: &str = "usage: scripts/fuzz [--minutes N] [--target NAME] [--seed N] [--case N] [--file PATH] [--more FOLDER]

Changes files that are right and gives them to every reader (no panic, an answer within two seconds, at most 512 MB) and every
tool (within twenty seconds, at most 2 GB; it is asked to stop after four). Studio is one of the tools: it gets messages.
--minutes   how long, for all targets together (default 1)
--target    one target instead of all; `readers` and `tools` are all of a kind
--seed      seed of the changes (default: the clock)
--case      this case of the seed alone
--file      this file alone
--more      files of this folder, by their endings, are changed too
What is found is made smaller and kept under target/fuzz.";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    if args.iter().any(|a| a == "--help" || a == "-h") || args.len() % 2 == 1 {
        println!("{USAGE}");
        return;
    }
    let number = |name: &str| value(name).and_then(|v| v.parse::<u64>().ok());
    let clock =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_secs());
    let seed = number("--seed").unwrap_or_else(clock);
    let minutes = value("--minutes").and_then(|v| v.parse::<f64>().ok()).unwrap_or(1.0);
    let folder = PathBuf::from("target/fuzz");
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut sessions: Vec<Session> = targets()
        .into_iter()
        .chain(tools())
        .filter(|t| value("--target").is_none_or(|name| is_meant(t, &name)))
        .map(|t| Session::new(t, seed))
        .collect();
    if let Some(more) = value("--more") {
        for s in &mut sessions {
            let ending = match s.target.name {
                "setup" | "loads" | "controls" => "xml",
                "study" => "toml",
                name => name,
            };
            collect(Path::new(&more), ending, &mut s.files);
            println!("{}: {} files", s.target.name, s.files.len());
        }
    }

    // One case, without a net.
    for s in &sessions {
        let one = match (number("--case"), value("--file")) {
            (Some(index), _) => case(&s.target, &s.files, seed, index),
            (None, Some(path)) => std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}")),
            _ => continue,
        };
        let path = folder.join(format!("case.{}", s.target.name));
        std::fs::write(&path, &one).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        println!(
            "{}: {:?}; the file is {}",
            s.target.name,
            run_case(&s.target, &one, &limits(&s.target)),
            path.display()
        );
    }
    if number("--case").is_some() || value("--file").is_some() {
        return;
    }

    println!("seed {seed}, {minutes} min");
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let end = Duration::from_secs_f64(60.0 * minutes);
    let mut found: Vec<(String, usize)> = Vec::new();
    while start.elapsed() < end {
        for s in &mut sessions {
            let limits = limits(&s.target);
            let current = folder.join(format!("current.{}", s.target.name));
            let mut current = Current::new(current).unwrap_or_else(|e| panic!("target/fuzz: {e}"));
            let turn = Instant::now();
            while turn.elapsed() < Duration::from_secs(1) && start.elapsed() < end {
                let Err((bytes, fault)) = s.step(&limits, &mut |i| current.set(i)) else { continue };
                // One file for each kind of fault.
                let kind = match &fault {
                    Fault::Panic(words) => {
                        words.split(['{', '"', '`']).next().unwrap_or("").chars().take(60).collect()
                    }
                    Fault::Slow(_) => "slow".to_string(),
                    Fault::Large(_) => "large".to_string(),
                };
                let kind = format!("{}: {kind}", s.target.name);
                if let Some((_, n)) = found.iter_mut().find(|(k, _)| *k == kind) {
                    *n += 1;
                    continue;
                }
                let small = shrink(&s.target, &bytes, &limits);
                let path = folder.join(format!("{}-{}-{}", s.target.name, seed, s.next - 1));
                let _ = std::fs::write(&path, &small);
                println!("{}, {} bytes: {fault:?}", path.display(), small.len());
                found.push((kind, 1));
            }
            current.remove();
        }
    }
    for s in &sessions {
        println!("{:>9} cases of {}", s.next, s.target.name);
    }
    println!("{:>9} cases, {} kinds of faults", sessions.iter().map(|s| s.next).sum::<u64>(), found.len());
    for (kind, n) in &found {
        println!("{n:>9} {kind}");
    }
    std::process::exit(i32::from(!found.is_empty()));
}

/// Whether a target is meant by a name.
fn is_meant(t: &Target, name: &str) -> bool {
    match name {
        "readers" => t.kind == Kind::Reader,
        "tools" => t.kind == Kind::Tool,
        name => name == t.name,
    }
}

/// What a case of a target may cost, in an optimised program.
fn limits(t: &Target) -> Limits {
    match t.kind {
        Kind::Reader => Limits { time: Duration::from_secs(2), ..Limits::default() },
        Kind::Tool => Limits::of_tools(),
    }
}

/// The files below a folder with an ending, up to 100 kB each.
fn collect(folder: &Path, ending: &str, files: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
            && entry.metadata().is_ok_and(|m| m.len() < 100_000)
        {
            files.extend(std::fs::read(&path));
        }
    }
}
