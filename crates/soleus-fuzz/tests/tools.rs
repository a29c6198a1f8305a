//! Every tool, for a few seconds, with one of its files nearly right. `scripts/fuzz --target tools` does so for as long as it is told.

use soleus_fuzz::{Counting, Current, Limits, Session, corpus, run_case, tools};
use std::path::Path;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: Counting = Counting;

/// Cases of each tool; each may use its share of the time.
const CASES: u64 = 60;
const TIME: Duration = Duration::from_secs(15);

/// A folder of cases that no target reads would be kept for nothing.
#[test]
fn identity_every_case_has_a_target() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let names: Vec<String> =
        soleus_fuzz::targets().iter().chain(&tools()).map(|t| t.name.replace(' ', "_")).collect();
    for folder in std::fs::read_dir(cases).unwrap().filter_map(Result::ok) {
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name), "cases/{name}: there is no such target");
    }
}

/// One test at a time, since memory is counted for the whole program.
#[test]
fn conserves_life_of_tools_with_a_file_that_is_nearly_right() {
    // Second derivatives of a joint of six mobilities fill the stack of a test in programs that are not optimised at all.
    let checked = std::thread::Builder::new().stack_size(64 << 20).spawn(check);
    checked.unwrap().join().unwrap();
}

fn check() {
    let limits = Limits::of_tools();
    let all = tools();
    let share = TIME / all.len() as u32;
    let mut faults = Vec::new();
    for target in all {
        let folder = target.name.replace(' ', "_");
        // The files themselves, and those that broke something once: its own, and models for whatever takes one.
        let takes_models = target.name.ends_with(" model");
        let folders = [Some(folder.as_str()), takes_models.then_some("osim")];
        let files =
            |name: &str| std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(name));
        let lists = folders.into_iter().flatten().filter_map(|name| files(name).ok());
        let mut kept: Vec<_> = lists.flatten().filter_map(Result::ok).map(|f| f.path()).collect();
        kept.sort();
        for path in kept {
            let bytes = std::fs::read(&path).unwrap();
            if let Err(fault) = run_case(&target, &bytes, &limits) {
                faults.push(format!("{}: {fault:?}", path.display()));
            }
        }
        if matches!(target.name, "inverse model" | "fit-paths model" | "analyze model")
            && let Err(fault) = run_case(&target, many_loops().as_bytes(), &limits)
        {
            faults.push(format!("{}, a knee many times over: {fault:?}", target.name));
        }
        if matches!(target.name, "so model" | "reconcile model")
            && let Err(fault) = run_case(&target, many_bodies().as_bytes(), &limits)
        {
            faults.push(format!("{}, a pelvis many times over: {fault:?}", target.name));
        }
        for (i, file) in corpus::files(target.name).iter().enumerate() {
            if let Err(fault) = run_case(&target, file, &limits) {
                faults.push(format!("{} {i}, unchanged: {fault:?}", target.name));
            }
        }
        // The number of the case under test lies on disk, so that one that ends the program is not lost.
        let current = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("current.{folder}"));
        let mut current = Current::new(current).unwrap();
        let start = Instant::now();
        let mut session = Session::new(target, 1);
        while session.next < CASES && start.elapsed() < share {
            if let Err((_, fault)) = session.step(&limits, &mut |i| current.set(i)) {
                let (name, case) = (session.target.name, session.next - 1);
                faults.push(format!("scripts/fuzz --target '{name}' --seed 1 --case {case}: {fault:?}"));
                break;
            }
        }
        current.remove();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The subject with its knee 134 times: 133 loops of five or six equations each, nearly all of them redundant. Assemblies and moment arms
/// took minutes, and tools did not listen meanwhile (case 181 of seed 1).
fn many_loops() -> String {
    let text = String::from_utf8(corpus::files("inverse model").swap_remove(0)).unwrap();
    let (from, end) = (text.find("<PinJoint name=\"knee\">").unwrap(), "</PinJoint>");
    let to = from + text[from..].find(end).unwrap() + end.len();
    format!("{}{}{}", &text[..from], text[from..to].repeat(134), &text[to..])
}

/// The subject with its pelvis 491 times: 490 bodies that no joint holds, 2940 equations that share no actuator. Their matrix was factorised as
/// if all of them met, which took 28 s (case 7420 of seed 777).
fn many_bodies() -> String {
    let text = String::from_utf8(corpus::files("so model").swap_remove(0)).unwrap();
    let (from, end) = (text.find("<Body name=\"pelvis\">").unwrap(), "</Body>");
    let to = from + text[from..].find(end).unwrap() + end.len();
    format!("{}{}{}", &text[..from], text[from..to].repeat(491), &text[to..])
}
