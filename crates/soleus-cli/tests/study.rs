//! Study files of Soleus: the example, mistakes, stopping and going on, threads, meshes, guesses.

use crate::common::Folder;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The built-in example as a file, with changes.
fn example(f: &Folder, changes: &[(&str, &str)]) {
    let run = f.soleus(&["solve", "--print-example"]);
    let mut text = run.stdout;
    for (from, to) in changes {
        assert!(text.contains(from), "no `{from}` in the example");
        text = text.replace(from, to);
    }
    f.file("study.toml", text);
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn objective(text: &str) -> f64 {
    let value = text.lines().find_map(|l| l.strip_prefix("objective="));
    value.and_then(|v| v.parse().ok()).unwrap_or(f64::NAN)
}

#[test]
fn identity_example_needs_no_file() {
    let f = Folder::new("study_example");
    let run = f.soleus(&["solve", "--example", "--out", "a.sto", "--report", "a.html"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    // The page has all it shows in itself.
    let page = read(&f.0.join("a.html"));
    assert!(page.contains("<svg") && page.contains("effort"), "no plots");
    for outside in ["src=\"http", "href=\"http", "@import", "fetch("] {
        assert!(!page.contains(outside), "the page asks for {outside}");
    }
    // The printed example is the same study.
    example(&f, &[]);
    let run = f.soleus(&["solve", "study.toml", "--out", "b.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (a, b) = (read(&f.0.join("a.sto")), read(&f.0.join("b.sto")));
    assert_eq!(objective(&a), objective(&b));
    assert!(a.contains("/jointset/elbow/elbow_flexion/value"), "{a}");
    assert!(!f.0.join("b.sto.iterate").exists(), "an iterate is left after success");
}

/// Files of one and of two threads are the same but for the time it took.
#[test]
fn identity_threads_change_no_byte() {
    let f = Folder::new("study_threads");
    let solve = |threads: &str| {
        let run = f.soleus(&["solve", "--example", "--out", threads, "--threads", threads]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let text = read(&f.0.join(threads));
        text.lines().filter(|l| !l.starts_with("solver_duration")).collect::<Vec<_>>().join("\n")
    };
    let one = solve("1");
    assert!(one.len() > 1000 && one == solve("2"), "threads change the solution");
}

#[test]
fn identity_mistakes_have_line_and_suggestion() {
    let f = Folder::new("study_mistakes");
    for (from, to, words) in [
        ("intervals = 20", "intervall = 20", "did you mean `intervals`?"),
        ("type = \"final_time\"", "type = \"finaltime\"", "did you mean `final_time`?"),
        ("builtin:reach", "builtin:raech", "there are: reach"),
        (
            "elbow_flexion/value",
            "elbow_flexoin/value",
            "the nearest name is `/jointset/elbow/elbow_flexion/value`",
        ),
        ("marker = \"wrist\"", "marker = \"wist\"", "no marker is called `wist`"),
        ("hermite-simpson", "hermite-simson", "the nearest scheme is `hermite-simpson`"),
        ("final = [0.2, 1.5]", "final = [1.5, 0.2]", "above the upper bound"),
    ] {
        example(&f, &[(from, to)]);
        f.soleus(&["solve", "study.toml"]).is_refused(&["study.toml", words]);
    }
    // Contradictions that only the whole problem shows.
    example(&f, &[("initial_deg = 5", "initial_deg = 5\nfinal_deg = 170")]);
    f.soleus(&["solve", "study.toml"]).is_refused(&["elbow_flexion/value at the final time", "in between"]);
    example(
        &f,
        &[
            ("initial_deg = 5", "initial_deg = 5\nfinal_deg = 140"),
            ("speeds = [-20, 20]", "speeds = [-1, 1]"),
        ],
    );
    f.soleus(&["solve", "study.toml"]).is_refused(&["elbow_flexion/value must change by", "its speed stays"]);
}

/// A solve that may only do a few iterations ends with code 1 and goes on from there to the same optimum.
#[test]
fn identity_limited_solve_resumes() {
    let f = Folder::new("study_resume");
    example(&f, &[]);
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--max-iterations", "8"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in
        ["stopped at the maximum number of iterations after 8", " s, off by", "--resume", "--max-iterations"]
    {
        assert!(run.stderr.contains(word), "no `{word}` in {}", run.stderr);
    }
    let saved = f.0.join("a.sto.iterate");
    assert!(saved.exists() && f.0.join("a.sto").exists());
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--resume"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("continuing from iteration 8") && !saved.exists(), "{}", run.stderr);
    let whole = f.soleus(&["solve", "study.toml", "--out", "b.sto"]);
    assert_eq!(whole.code, Some(0));
    let (a, b) = (objective(&read(&f.0.join("a.sto"))), objective(&read(&f.0.join("b.sto"))));
    // Both stop at a scaled error of 1e-6; the objective is flat there.
    assert!((a - b).abs() < 1e-6 * b.abs(), "{a} and {b}");

    // An iterate of another problem is refused.
    f.soleus(&["solve", "study.toml", "--out", "a.sto", "--max-iterations", "3"]);
    example(
        &f,
        &[(
            "pattern = \".*/speed\"                   # at rest at both ends\ninitial = 0\nfinal = 0",
            "pattern = \".*/speed\"\ninitial = 0",
        )],
    );
    f.soleus(&["solve", "study.toml", "--out", "a.sto", "--resume"]).is_refused(&["the study has changed"]);
}

/// An iterate of a study with another goal is refused, though variables and equations are as many.
#[test]
fn issue_trust_resume_refuses_another_goal() {
    let f = Folder::new("study_other_goal");
    example(&f, &[]);
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--max-iterations", "8"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    example(
        &f,
        &[("weight = 1000", "weight = 1"), ("location = [0.40, 1.35, 0]", "location = [0.10, 1.0, 0]")],
    );
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--resume"]);
    run.is_refused(&["goal `target`", "the study has changed"]);
}

/// Numbers that ended the program in other ways.
#[test]
fn issue_trust_sizes_of_a_solve_are_bounded() {
    let f = Folder::new("study_sizes");
    example(&f, &[]);
    let solve =
        |flag: &str, value: &str| f.soleus(&["solve", "study.toml", "--max-iterations", "2", flag, value]);
    solve("--intervals", "0").is_refused(&["at least one interval"]);
    solve("--intervals", "1000000000").is_refused(&["fewer intervals"]);
    let run = solve("--threads", "100000");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

/// Ctrl-C: the iterate is on disk, the exit code is that of an interrupted program, and --resume goes on.
#[cfg(unix)]
#[test]
fn identity_interrupt_saves() {
    let f = Folder::new("study_interrupt");
    // Long enough to be interrupted: a fine mesh, and a tolerance that rounding does not allow.
    example(
        &f,
        &[
            ("intervals = 20", "intervals = 3000"),
            ("[refine]\ntolerance = 1e-4", "[output]\nsave_every_s = 0.05"),
        ],
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_soleus"))
        .args(["solve", "study.toml", "--out", "a.sto", "--tolerance", "1e-30"])
        .current_dir(&f.0)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{e}"));
    let saved = f.0.join("a.sto.iterate");
    let start = Instant::now();
    while !saved.exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(saved.exists(), "no iterate after a minute");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|s| s.success()), "kill failed");
    let code = child.wait().unwrap_or_else(|e| panic!("{e}")).code();
    let mut words = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        use std::io::Read;
        let _ = pipe.read_to_string(&mut words);
    }
    assert_eq!(code, Some(130), "{words}");
    assert!(words.contains("stopping") && words.contains("continue with `--resume`"), "{words}");
    assert!(read(&saved).contains("soleus iterate 3"));
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--resume", "--max-iterations", "1"]);
    assert!(run.stderr.contains("continuing from iteration"), "{}", run.stderr);
}

/// What cannot be done is told with the constraint, the time and what to try.
#[test]
fn identity_infeasible_is_explained() {
    let f = Folder::new("study_infeasible");
    // From hanging to straight up in six hundredths of a second: stronger than this arm is.
    example(
        &f,
        &[
            ("final = [0.2, 1.5]                     # s; free between the two", "final = 0.06"),
            ("initial_deg = 5", "initial_deg = 5\nfinal_deg = 100"),
            ("speeds = [-20, 20]", "speeds = [-40, 40]"),
        ],
    );
    let run = f.soleus(&["solve", "study.toml", "--out", "a.sto", "--max-iterations", "300"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    // What is violated, when, by how much, and what is in the way: the strength of the arm.
    for word in [
        "elbow_flexion",
        " s, off by",
        "most active bounds",
        "elbow_moment",
        "the best iterate is in a.sto",
        "hint: ",
    ] {
        assert!(run.stderr.contains(word), "no `{word}` in {}", run.stderr);
    }
}

/// Guesses from a simulation, from a coarser mesh and from tables lead to the same optimum, and so does counting variables in the
/// widths of their bounds.
#[test]
fn identity_guesses_lead_to_the_same_optimum() {
    let f = Folder::new("study_guesses");
    let solve = |changes: &[(&str, &str)], extra: &[&str]| {
        example(&f, changes);
        let mut all = vec!["solve", "study.toml", "--out", "a.sto"];
        all.extend(extra);
        let run = f.soleus(&all);
        assert_eq!(run.code, Some(0), "{changes:?}: {}", run.stderr);
        objective(&read(&f.0.join("a.sto")))
    };
    let no_refine = ("[refine]\ntolerance = 1e-4", "[output]\nsave_every_s = 60");
    let plain = solve(&[no_refine], &[]);
    let stepped = solve(&[no_refine, ("[output]", "[guess]\ntime_stepping = true\n[output]")], &[]);
    let coarse = solve(&[no_refine], &["--coarse", "5,10"]);
    std::fs::copy(f.0.join("a.sto"), f.0.join("motion.sto")).unwrap_or_else(|e| panic!("{e}"));
    let tables = "[guess]\ncoordinates = \"motion.sto\"\nactivations = \"motion.sto\"\n[output]";
    let tabled = solve(&[no_refine, ("[output]", tables)], &[]);
    // In other units the same tolerance is another.
    let in_widths =
        [("[solver]", "[solver]\nscale_variables = true"), ("tolerance = 1e-6", "tolerance = 1e-8")];
    let scaled = solve(&[no_refine, in_widths[0], in_widths[1]], &[]);
    for (name, other) in [("stepped", stepped), ("coarse", coarse), ("tables", tabled), ("scaled", scaled)] {
        assert!((other - plain).abs() < 1e-5 * plain, "{name}: {other}, not {plain}");
    }
}

/// The guide holds the reference that the reader's own lists give.
#[test]
fn identity_guide_holds_the_reference() {
    let guide = read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/study.md")));
    let (begin, end) = ("<!-- reference: begin -->\n", "<!-- reference: end -->");
    let found = guide.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|p| p.0.trim());
    let wanted = soleus_io::study::reference();
    if std::env::var_os("SOLEUS_PRINT_REFERENCE").is_some() {
        println!("{wanted}");
    }
    assert_eq!(
        found,
        Some(wanted.trim()),
        "run with SOLEUS_PRINT_REFERENCE=1 and paste the text into docs/guide/study.md"
    );
}

/// Operators of a study change the model: a leg without muscles, with a moment at each of its three joints.
#[test]
fn identity_operators_change_the_model() {
    let f = Folder::new("study_operators");
    f.file(
        "kick.toml",
        r#"
model = "builtin:leg_swing"
[[operators]]
type = "remove_muscles"
[[operators]]
type = "add_reserves"
optimal_force = 100
[time]
final = 0.5
[[states]]
name = "knee_angle/value"
initial_deg = -90
final_deg = -10
[[states]]
pattern = ".*/speed"
initial = 0
final = 0
[[goals]]
type = "control"
[solver]
intervals = 15
"#,
    );
    let run = f.soleus(&["solve", "kick.toml", "--out", "kick.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = read(&f.0.join("kick.sto"));
    assert!(
        text.contains("num_controls=3") && text.contains("num_states=6"),
        "{}",
        &text[..text.len().min(2000)]
    );
}

/// A marker's place is in no equation of motion, but in the goals that ask for it: it is found where an arm that hangs has its wrist
/// 0.3 m below the elbow, whatever the file says.
#[test]
fn analytic_place_of_a_marker_is_found() {
    let f = Folder::new("study_marker_place");
    f.file(
        "place.toml",
        r#"
model = "builtin:reach"
[time]
final = 0.5
[[states]]
pattern = ".*/value"
initial = 0
final = 0
[[states]]
pattern = ".*/speed"
initial = 0
final = 0
[[parameters]]
name = "forearm"
components = ["/markerset/wrist"]
property = "location"
element = 1
bounds = [-0.4, -0.1]
[[goals]]
type = "control"
[[goals]]
type = "marker_final"
weight = 1000
marker = "wrist"
location = [0, 0.7745, 0]              # the elbow is at 1.0745
[solver]
intervals = 10
tolerance = 1e-8
"#,
    );
    let run = f.soleus(&["solve", "place.toml", "--out", "place.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = read(&f.0.join("place.sto"));
    let names = text.lines().find(|l| l.starts_with("time\t")).unwrap_or_default();
    let column = names.split('\t').position(|n| n == "forearm");
    let found = column.and_then(|c| rows(&text)[0].get(c).copied()).unwrap_or(f64::NAN);
    assert!((found + 0.3).abs() < 1e-6, "{found}: {}", run.stderr);
}

/// The examples of the guide solve: muscles, and phases that follow each other.
#[test]
fn identity_examples_of_the_guide_solve() {
    let f = Folder::new("study_examples");
    let example = |name: &str| format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let run = f.soleus(&["solve", &example("kick.toml"), "--out", "kick.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = read(&f.0.join("kick.sto"));
    assert!(text.contains("num_controls=8") && text.contains("success=true"), "{}", &text[..400]);

    let run = f.soleus(&["solve", &example("via_point.toml"), "--out", "via.sto", "--report", "via.html"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("rest, duration"), "{}", run.stderr);
    let [touch, rest] = ["touch", "rest"].map(|p| {
        assert!(read(&f.0.join(format!("via_{p}.html"))).contains("<svg"), "no page of {p}");
        rows(&read(&f.0.join(format!("via_{p}.sto"))))
    });
    // Time and states go on.
    let (last, first) = (&touch[touch.len() - 1], &rest[0]);
    for (a, b) in last.iter().zip(first).take(5) {
        assert!((a - b).abs() < 1e-6, "{last:?} {first:?}");
    }
    assert!(last[3].abs() > 0.1, "the arm stops at the point in between: {last:?}");
    // Meshes, guesses and a stop are the same as with one phase.
    let via = example("via_point.toml");
    let solved = |words: &[&str]| {
        let run = f.soleus(&[&["solve", &via][..], words].concat());
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stderr
    };
    let words = solved(&["--coarse", "5", "--refine", "1e-4", "--out", "fine.sto"]);
    assert!(words.contains("phase 1: ") && words.contains("phase 2: "), "{words}");
    assert!(rows(&read(&f.0.join("fine_rest.sto"))).len() > 3, "{words}");
    solved(&["--guess", "via.sto", "--out", "again.sto"]);
    let run = f.soleus(&["solve", &via, "--max-iterations", "3", "--out", "half.sto"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let words = solved(&["--resume", "--out", "half.sto"]);
    assert!(words.contains("continuing from iteration 3"), "{words}");
    let objective = |name: &str| -> f64 {
        let text = read(&f.0.join(name));
        let line = text.lines().find_map(|l| l.strip_prefix("objective="));
        line.and_then(|v| v.parse().ok()).unwrap_or(f64::NAN)
    };
    let first = objective("via_rest.sto");
    for name in ["again_rest.sto", "half_rest.sto"] {
        // Both are solved to 1e-6.
        assert!((objective(name) - first).abs() < 1e-5 * first.abs(), "{name}: {} {first}", objective(name));
    }
}

/// Numbers of a table.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let lines = text.split_once("endheader\n").map_or("", |p| p.1).lines().skip(1);
    lines.map(|l| l.split('\t').map(|x| x.parse().unwrap_or(f64::NAN)).collect()).collect()
}

/// A leg swings with eight muscles: paths over a wrapping surface, activation dynamics. The mesh gets finer, and what was
/// found is what a simulation does under the same excitations.
#[test]
fn identity_muscles_swing_a_leg() {
    let f = Folder::new("study_muscles");
    f.file(
        "swing.toml",
        r#"
model = "builtin:leg_swing"
operators = [
  { type = "ignore_tendon_compliance" },
  { type = "replace_muscles_with_degroote_fregly_2016" },
]
time = { final = 0.5 }
solver = { intervals = 8 }
refine = { tolerance = 0.01 }

[[states]]
name = "hip_flexion/value"
initial_deg = -15
final_deg = 30

[[states]]
name = "knee_angle/value"
initial_deg = -40
final_deg = -10

[[states]]
name = "ankle_angle/value"
initial_deg = 0

[[states]]
pattern = ".*/speed"
initial = 0

[[goals]]
type = "control"

[[goals]]
type = "initial_activation"
"#,
    );
    let run = f.soleus(&["solve", "swing.toml", "--out", "a.sto", "--simulate"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let counts = |word: &str, line: &str| -> usize {
        let before = line.split(word).next().unwrap_or_default();
        before.split_whitespace().last().and_then(|w| w.parse().ok()).unwrap_or(0)
    };
    let solves: Vec<usize> =
        run.stderr.lines().filter(|l| l.starts_with("solved")).map(|l| counts(" iterations", l)).collect();
    assert!(solves.len() > 2, "{}", run.stderr);
    // With the multipliers of the mesh before, a finer one takes less than half the iterations of the first.
    assert!(solves[1..].iter().all(|&n| 2 * n < solves[0]), "{solves:?}");
    // The first mesh is off by half of what a state does; states on the last one stay within 1 % of a simulation.
    let again = run.stderr.lines().find(|l| l.starts_with("forward simulation")).unwrap_or_default();
    assert!(again.contains("within 1 % for 0.500 of 0.500 s"), "{again}");
}
