//! Optimal control: studies, the excitations behind a motion, and motions that follow data.

use soleus::context::MOST_THREADS;
use soleus::files::Files;
use soleus::optimal_control::tool::Trial;
use soleus::optimal_control::{
    EXAMPLE, Inverse, ModelChanges, Solution, Solve, SolveOptions, StudySource, Track,
};
use soleus::{Collected, Context, Error, ErrorKind, Memory, Monitor, Outcome, Progress, SetupFile};
use soleus_io::table;
use soleus_math::Table;
use soleus_math::norm::largest;
use soleus_math::table::Element;
use soleus_model::Diagnostic;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The built-in study on a coarse mesh, without refinement, with some words replaced.
fn study(changes: &[(&str, &str)]) -> StudySource {
    let mut text = EXAMPLE.replace("[refine]\ntolerance = 1e-4", "[output]\nsave_every_s = 30");
    text = text.replace("intervals = 20", "intervals = 8");
    for (from, to) in changes {
        assert!(text.contains(from), "no `{from}` in the example");
        text = text.replace(from, to);
    }
    StudySource::Text { path: "reach.toml".into(), text }
}

fn solve(changes: &[(&str, &str)], options: SolveOptions) -> Solve {
    Solve { study: study(changes), options, ..Solve::default() }
}

/// Everything is in memory: the study, its model, its solution; costs add up to the objective, and the file is a table.
#[test]
fn identity_a_study_is_solved_without_a_disk() {
    let files = Memory::new();
    let cx = Context::new(&files).with_threads(2);
    let options = SolveOptions { report: Some("reach.html".into()), simulate: true, ..Default::default() };
    let found = solve(&[], options).run(&cx).unwrap();
    found.verdict().unwrap();
    let sum: f64 = found.phases[0].goals.iter().map(|g| g.1).sum();
    // Sums of the same numbers in another order.
    assert!((sum / found.objective() - 1.0).abs() < 1e-12, "{sum} and {}", found.objective());
    assert!(found.certificate().constraint_violation < 1e-6);
    assert!(files.names().is_empty(), "a run writes nothing");

    found.write(&cx).unwrap();
    assert_eq!(files.names(), ["/reach.html", "/reach_solution.sto"].map(PathBuf::from));
    let bytes = files.read(Path::new("reach_solution.sto")).unwrap();
    let written = table::read(&bytes, "reach_solution.sto").0.unwrap();
    let here = found.phases[0].table().unwrap();
    for name in here.labels() {
        assert_eq!(written.column(name), here.column(name), "{name}");
    }
    // An integrator that knows no mesh comes to the same place, as near as eight intervals allow.
    let distance = found.distance.unwrap();
    assert!(distance.end < 0.05, "{distance}");
}

/// The request is plain data: from JSON as from code.
#[test]
fn identity_a_request_of_text() {
    let text = r#"{"study": "reach.toml", "intervals": 5, "references": [{"goal": "a", "table": "b.sto"}], "coarse": [3]}"#;
    let request: Solve = serde_json::from_str(text).unwrap();
    assert_eq!(request.study.path(), Path::new("reach.toml"));
    assert_eq!((request.options.intervals, &request.options.coarse[..]), (Some(5), &[3][..]));
    let again: Solve = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
    assert_eq!(again.references[0].table.path(), Path::new("b.sto"));
    let inverse: Inverse =
        serde_json::from_str(r#"{"model": "a.osim", "kinematics": "b.sto", "from": 0.5}"#).unwrap();
    assert_eq!((inverse.trial.model.path(), inverse.trial.from), (Path::new("a.osim"), Some(0.5)));
    let track: Track =
        serde_json::from_str(r#"{"model": "a.osim", "states": "b.sto", "tolerance": 0.1}"#).unwrap();
    assert_eq!((track.states.is_some(), track.options.tolerance), (true, Some(0.1)));
}

/// Files of which only so many writes succeed: the disk is full then.
struct FullDisk {
    files: Memory,
    left: AtomicUsize,
}

impl Files for FullDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) {
            Ok(_) => self.files.write(path, bytes),
            Err(_) => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        self.files.make_folder(folder)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.is_file(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.files.is_folder(path)
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        self.files.names_in(folder)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }
}

/// A clock on which every look takes a second, and a caller who may have enough after some iterations.
#[derive(Default)]
struct Ticking {
    told: Collected,
    looks: AtomicUsize,
    iterations: AtomicUsize,
    enough: Option<usize>,
}

impl Monitor for Ticking {
    fn diagnostic(&self, d: &Diagnostic) {
        self.told.diagnostic(d);
    }

    fn note(&self, line: &str) {
        self.told.note(line);
    }

    fn progress(&self, p: &Progress) {
        assert_eq!(p.what, "iterations");
        assert!(p.detail.starts_with("objective ") && p.detail.contains(", dual "), "{}", p.detail);
        self.iterations.fetch_add(1, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.enough.is_some_and(|n| self.iterations.load(Ordering::Relaxed) >= n)
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.looks.fetch_add(1, Ordering::Relaxed) as f64)
    }
}

/// A full disk at a periodic save ended a solve with nothing kept. It goes on, says so once, and what was saved before stays.
#[test]
fn issue_trust_full_disk_does_not_end_a_solve() {
    for good in [0, 2] {
        let files = FullDisk { files: Memory::new(), left: AtomicUsize::new(good) };
        let monitor = Ticking::default();
        let cx = Context::new(&files).with_monitor(&monitor);
        let options =
            SolveOptions { save_iterates: true, save_every_s: Some(1.0), ..SolveOptions::default() };
        let found = solve(&[], options).run(&cx).unwrap();
        found.verdict().unwrap();
        assert!(found.is_solved() && found.phases[0].text().contains("success=true"));
        let warnings = monitor.told.diagnostics();
        let full = warnings.iter().filter(|d| d.message.contains("the iterate cannot be saved"));
        assert_eq!(full.count(), 1, "{warnings:?}");
        let kept = files.is_file(Path::new("reach_solution.sto.iterate"));
        assert_eq!(kept, good > 0, "the last good iterate");
        // The solution cannot be written either, and that is an error; the iterate is still there.
        assert!(matches!(found.write(&cx), Err(Error::Write { .. })));
        assert_eq!(files.is_file(Path::new("reach_solution.sto.iterate")), kept);
    }
}

/// A caller who has enough gets what there is, and the solve goes on from there to the same optimum.
#[test]
fn identity_a_cancelled_solve_goes_on() {
    let files = Memory::new();
    let whole = solve(&[], SolveOptions::default()).run(&Context::new(&files)).unwrap().objective();
    let monitor = Ticking { enough: Some(6), ..Ticking::default() };
    let kept = SolveOptions { save_iterates: true, ..SolveOptions::default() };
    let stopped = solve(&[], kept.clone()).run(&Context::new(&files).with_monitor(&monitor)).unwrap();
    let verdict = stopped.verdict().unwrap_err();
    assert_eq!(verdict.kind(), ErrorKind::Cancelled);
    assert!(verdict.to_string().contains("reach_solution.sto.iterate"), "{verdict}");
    assert!(!stopped.phases[0].trajectory.times.is_empty());
    stopped.write(&Context::new(&files)).unwrap();
    assert!(files.is_file(Path::new("reach_solution.sto.iterate")), "{:?}", files.names());

    let cx = Context::new(&files);
    let resumed = solve(&[], SolveOptions { resume: true, ..kept }).run(&cx).unwrap();
    resumed.verdict().unwrap();
    // Both stop at a scaled error of 1e-6; the objective is flat there.
    assert!((resumed.objective() / whole - 1.0).abs() < 1e-6, "{} and {whole}", resumed.objective());
    resumed.write(&cx).unwrap();
    assert!(!files.is_file(Path::new("reach_solution.sto.iterate")), "success takes the iterate away");
}

/// `--resume` accepted an iterate of a study with another goal. Another problem is refused by what differs; other words, a
/// tolerance or a limit are not another problem.
#[test]
fn issue_trust_an_iterate_belongs_to_its_problem() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let few = SolveOptions { save_iterates: true, max_iterations: Some(3), ..SolveOptions::default() };
    assert!(solve(&[], few.clone()).run(&cx).unwrap().verdict().is_err());
    let saved = files.read(Path::new("reach_solution.sto.iterate")).unwrap();
    let resume = |changes: &[(&str, &str)]| {
        files.write(Path::new("reach_solution.sto.iterate"), &saved).unwrap();
        solve(changes, SolveOptions { resume: true, ..few.clone() }).run(&cx)
    };
    for (changes, word) in [
        (&[("weight = 1000", "weight = 1")][..], "goal `target`"),
        (&[("location = [0.40, 1.35, 0]", "location = [0.10, 1.0, 0]")][..], "goal `target`"),
        (&[("exponent = 2", "exponent = 3")][..], "goal `effort`"),
        (&[("name = \"duration\"", "name = \"haste\"")][..], "`haste`"),
        (&[("bounds_deg = [0, 150]", "bounds_deg = [0, 140]")][..], "bounds"),
        (&[("initial_deg = 5", "initial_deg = 6")][..], "equations"),
    ] {
        let refused = resume(changes).unwrap_err();
        let text = refused.to_string();
        assert_eq!(refused.kind(), ErrorKind::Input);
        assert!(
            text.contains(word) && text.contains("a different problem") && text.contains("--guess"),
            "{text}"
        );
    }
    for changes in [
        &[][..],
        &[("# A reach", "# Some words more\n# A reach")][..],
        &[("tolerance = 1e-6", "tolerance = 1e-7")][..],
    ] {
        let resumed = resume(changes).unwrap();
        assert_eq!(resumed.solver.counts.iterations, 3, "{changes:?}");
    }
}

/// Numbers that ended the program, or were taken in silence, are refused with a remedy or capped.
#[test]
fn issue_trust_sizes_are_bounded() {
    let files = Memory::new();
    assert_eq!(Context::new(&files).with_threads(100_000).threads, MOST_THREADS);
    let cx = Context::new(&files);
    let many = SolveOptions { threads: Some(100_000), max_iterations: Some(2), ..SolveOptions::default() };
    assert_eq!(solve(&[], many).run(&cx).unwrap().solver.counts.iterations, 2);
    type Change = fn(&mut SolveOptions);
    let wrong: [(Change, &str); 11] = [
        (|o| o.intervals = Some(0), "at least one interval"),
        (|o| o.intervals = Some(1_000_000_000), "fewer intervals"),
        (|o| o.intervals = Some(usize::MAX), "fewer intervals"),
        (|o| o.coarse = vec![5, 0], "at least one interval"),
        (|o| o.coarse = vec![1_000_000_000], "fewer intervals"),
        (|o| o.tolerance = Some(f64::NAN), "`tolerance`"),
        (|o| o.tolerance = Some(0.0), "`tolerance`"),
        (|o| o.barrier = Some(-1.0), "`barrier`"),
        (|o| o.refine = Some(f64::NAN), "`refine`"),
        (|o| o.save_every_s = Some(-2.0), "`save_every_s`"),
        (|o| o.threads = Some(0), "at least one thread"),
    ];
    for (change, word) in wrong {
        let mut options = SolveOptions::default();
        change(&mut options);
        let refused = solve(&[], options).run(&cx).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Input);
        assert!(refused.to_string().contains(word), "{refused}");
    }
}

/// A study that lacks a table was told to use `--reference`, which `soleus run` does not know. The advice names the command that does.
#[test]
fn issue_trust_a_missing_table_is_advised_about() {
    // A study file names its tables; a MocoStudy may have held them in memory.
    let study = "<OpenSimDocument Version=\"40600\"><MocoStudy name=\"s\"><MocoProblem><MocoPhase name=\"p\">\
        <ModelProcessor name=\"model\"><filepath>leg.osim</filepath></ModelProcessor>\
        <MocoInitialBounds name=\"time_initial_bounds\"><bounds>0</bounds></MocoInitialBounds>\
        <MocoFinalBounds name=\"time_final_bounds\"><bounds>1</bounds></MocoFinalBounds>\
        <goals><MocoStateTrackingGoal name=\"follow\"/></goals></MocoPhase></MocoProblem></MocoStudy></OpenSimDocument>";
    let leg = include_bytes!("../../../../models/leg_swing.osim");
    let files = Memory::new().with("s.omoco", study).with("leg.osim", leg);
    let refused = SetupFile::new("s.omoco").run(&Context::new(&files)).err().unwrap();
    let text = refused.to_string();
    assert!(text.contains("soleus solve s.omoco --reference follow="), "{text}");
}

/// The name of a goal goes into the header of the solution; with a newline in it, the file could not be read again.
#[test]
fn issue_trust_names_with_newlines_leave_a_table() {
    let files = Memory::new();
    let few = SolveOptions { max_iterations: Some(2), ..SolveOptions::default() };
    let change = ("name = \"effort\"", "name = \"eff\\nendheader\\tort\"");
    let found = solve(&[change], few).run(&Context::new(&files)).unwrap();
    let text = found.phases[0].text();
    assert!(text.contains("\nobjective_eff_endheader_ort="), "{}", &text[..600]);
    let (written, log) = table::read(text.as_bytes(), "a.sto");
    assert!(!log.has_errors());
    assert_eq!(written.map(|t| t.rows()), Some(found.phases[0].trajectory.times.len()));
}

const REACH: &[u8] = include_bytes!("../../../../models/reach.osim");
const SHOULDER: &str = "/jointset/shoulder/shoulder_flexion/value";
const ELBOW: &str = "/jointset/elbow/elbow_flexion/value";

/// A slow swing of the arm, rad, in the names of coordinates.
fn motion() -> Table {
    let times: Vec<f64> = (0..=60).map(|i| 0.01 * f64::from(i)).collect();
    let wave = |a: f64, b: f64| times.iter().map(|t| a + b * (1.0 - (4.0 * t).cos())).collect::<Vec<_>>();
    let columns = vec![wave(0.0, 0.3), wave(0.2, 0.4)];
    let labels = vec![SHOULDER.to_string(), ELBOW.to_string()];
    let mut table = Table::new(Element::Scalar, labels, times, columns).unwrap();
    table.in_degrees = Some(false);
    table
}

fn trial() -> Trial {
    let changes = ModelChanges { reserves: vec![10.0], ..ModelChanges::default() };
    Trial { model: "reach.osim".into(), changes, mesh_interval: Some(0.03), ..Trial::default() }
}

fn largest_difference(found: &Solution, name: &str) -> f64 {
    let wanted = motion();
    let t = &found.phases[0].trajectory;
    let (values, column) = (t.states.column(name).unwrap(), wanted.column(name).unwrap());
    let at = |time: f64| {
        let i = wanted.times().iter().position(|x| *x >= time - 1e-9).unwrap();
        column[i]
    };
    // Mesh points are rows of the table; midpoints of the scheme lie between them.
    let points = t.times.iter().zip(&values).step_by(2);
    largest(points.map(|(time, v)| (v - at(*time)).abs()))
}

/// The moments behind a motion give it back when the arm is simulated under them.
#[test]
fn identity_inverse_is_undone_by_simulation() {
    let files = Memory::new().with("reach.osim", REACH);
    let options = SolveOptions { simulate: true, ..SolveOptions::default() };
    let request = Inverse { trial: trial(), kinematics: motion().into(), options, ..Inverse::default() };
    let found = request.run(&Context::new(&files)).unwrap();
    found.verdict().unwrap();
    assert!(largest_difference(&found, ELBOW) < 1e-9);
    let distance = found.distance.as_ref().unwrap();
    // Controls are lines between points 0.015 s apart.
    assert!(distance.end < 0.02, "{distance}");
    assert_eq!(found.artifacts()[0].path, Path::new("reach_solution.sto"));
    let none = Inverse { trial: trial(), ..Inverse::default() }.run(&Context::new(&files));
    assert!(none.is_err_and(|e| e.to_string().contains("--motion")));
}

/// A motion that the arm can do is followed closely when effort costs little.
#[test]
fn identity_a_possible_motion_is_tracked() {
    let files = Memory::new().with("reach.osim", REACH);
    let request = Track {
        trial: trial(),
        states: Some(motion().into()),
        derivatives: true,
        states_weight: Some(100.0),
        effort_weight: Some(1e-6),
        start_from_reference: true,
        options: SolveOptions { report: Some("tracked.html".into()), ..SolveOptions::default() },
        ..Track::default()
    };
    let cx = Context::new(&files);
    let found = request.run(&cx).unwrap();
    found.verdict().unwrap();
    // The page shows the data beside the motion that follows them; it did not.
    found.write(&cx).unwrap();
    let page = String::from_utf8(files.read(std::path::Path::new("tracked.html")).unwrap()).unwrap();
    assert!(page.contains(", tracked"));
    for name in [SHOULDER, ELBOW] {
        let off = largest_difference(&found, name);
        assert!(off < 0.01, "{name} is off by {off} rad");
    }
    let none = Track { trial: trial(), ..Track::default() }.run(&Context::new(&files));
    assert!(none.is_err_and(|e| e.to_string().contains("nothing to track")));
}

/// The shipped leg swings, its tendons stretch.
fn elastic_swing(explicit_tendons: bool) -> Solution {
    let times: Vec<f64> = (0..=60).map(|i| f64::from(i) * 0.01).collect();
    let course = |f: fn(f64) -> f64| times.iter().map(|t| f(2.0 * std::f64::consts::PI * t / 0.6)).collect();
    let columns =
        vec![course(|w| 0.3 + 0.4 * w.sin()), course(|w| -0.6 - 0.5 * w.cos()), course(|w| 0.1 * w.sin())];
    let labels = ["hip_flexion", "knee_angle", "ankle_angle"].map(String::from).to_vec();
    let mut motion = Table::new(Element::Scalar, labels, times, columns).unwrap();
    motion.in_degrees = Some(false);
    let changes = ModelChanges {
        degroote_fregly: true,
        explicit_tendons,
        reserves: vec![1.0],
        ..ModelChanges::default()
    };
    let trial = Trial { model: "builtin:leg_swing".into(), changes, ..Trial::default() };
    let request = Inverse { trial, kinematics: motion.into(), ..Inverse::default() };
    let found = request.run(&Context::new(&Memory::new()).with_threads(2)).unwrap();
    found.verdict().unwrap();
    found
}

/// 47 iterations before, 28 now. What is added to the cost is small, and the effort alone is hardly more.
#[test]
fn issue_16_elastic_tendons_are_quickly_solved() {
    let (before, now) = (elastic_swing(true), elastic_swing(false));
    let iterations = |s: &Solution| s.solver.counts.iterations;
    assert!(iterations(&before) > 40, "{}", iterations(&before));
    assert!(iterations(&now) < 35, "{}", iterations(&now));
    let effort = |s: &Solution| s.phases[0].goals.iter().find(|g| g.0 == "excitation_effort").unwrap().1;
    let (a, b) = (effort(&before), effort(&now));
    assert!(b < 1.02 * a, "{a} and {b}");
    // Tendons stretch in both: the force of one is a state.
    let table = now.phases[0].table().unwrap();
    assert!(table.labels().iter().any(|l| l.ends_with("normalized_tendon_force")));
}

/// Ninety-two muscles of gait2392 take a walk in few iterations.
#[soleus_testing::reference_test("data/walking")]
fn issue_16_elastic_tendons_of_gait2392_are_quickly_solved() {
    const WALKING: &str = soleus_testing::shared!("data/walking");
    let bytes = |name: &str| std::fs::read(Path::new(WALKING).join(name)).unwrap();
    let files = Memory::new()
        .with("subject.osim", bytes("gait2392_subject01/reference/subject01_simbody_adjusted.osim"))
        .with("walk.mot", bytes("gait2354_subject01/subject01_walk1_ik.mot"))
        .with("loads.xml", bytes("gait2354_subject01/subject01_walk1_grf.xml"))
        .with("subject01_walk1_grf.mot", bytes("gait2354_subject01/subject01_walk1_grf.mot"));
    let changes = ModelChanges {
        loads: Some("loads.xml".into()),
        degroote_fregly: true,
        residuals: vec![250.0, 50.0, 1.0],
        reserves: vec![1.0],
        ..ModelChanges::default()
    };
    let trial = Trial {
        model: "subject.osim".into(),
        changes,
        from: Some(0.6),
        to: Some(0.64),
        cutoff_hz: Some(6.0),
        root_angles: true,
        ..Trial::default()
    };
    let request = Inverse { trial, kinematics: "walk.mot".into(), ..Inverse::default() };
    let found = request.run(&Context::new(&files).with_threads(2)).unwrap();
    found.verdict().unwrap();
    assert!(found.solver.counts.iterations < 60, "{}", found.solver.counts.iterations);
}

/// Muscles whose fibers are states are replaced by smooth ones, with a word, and the study is solved: with their own it went on for ever
/// among their corners. Asked to leave them, it says what to expect.
#[test]
fn issue_16_muscles_with_corners_are_replaced() {
    let times: Vec<f64> = (0..=20).map(|i| f64::from(i) * 0.01).collect();
    let columns = vec![times.clone(); 3];
    let labels = ["hip_flexion", "knee_angle", "ankle_angle"].map(String::from).to_vec();
    let motion = Table::new(Element::Scalar, labels, times, columns).unwrap();
    let request = |explicit_tendons: bool| {
        let changes = ModelChanges { reserves: vec![1.0], explicit_tendons, ..ModelChanges::default() };
        let trial = Trial { model: "builtin:leg_swing".into(), changes, ..Trial::default() };
        Inverse { trial, kinematics: motion.clone().into(), ..Inverse::default() }
    };
    let files = Memory::new();
    let told = Collected::default();
    let found = request(false).run(&Context::new(&files).with_monitor(&told)).unwrap();
    found.verdict().unwrap();
    let table = found.phases[0].table().unwrap();
    assert!(table.labels().iter().any(|l| l.ends_with("normalized_tendon_force")));
    let warned = told.diagnostics().iter().any(|d| d.message.contains("are replaced by De Groote"));
    assert!(warned, "{:?}", told.diagnostics());

    let told = Collected::default();
    let posed = request(true).pose(&Context::new(&files).with_monitor(&told)).unwrap();
    assert!(posed.model.states.iter().any(|l| l.ends_with("fiber_length")));
    let warned = told.diagnostics().iter().any(|d| d.hint.contains("--degroote-fregly"));
    assert!(warned, "{:?}", told.diagnostics());
}

/// Somebody who has waited long enough is heard while a motion is put on the constraints of a model, which has seconds of work for each
/// row where there are hundreds of them.
#[test]
fn issue_16_a_motion_with_constraints_can_be_stopped() {
    struct Impatient;
    impl Monitor for Impatient {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let files = Memory::new();
    let cx = Context::new(&files).with_monitor(&Impatient);
    let times: Vec<f64> = (0..8).map(|i| f64::from(i) * 0.01).collect();
    let labels = ["hip_flexion", "knee_angle", "ankle_angle"].map(String::from).to_vec();
    let motion = Table::new(Element::Scalar, labels, times.clone(), vec![times; 3]).unwrap();
    let trial = Trial { model: "builtin:leg_swing".into(), ..Trial::default() };
    let posed = Inverse { trial, kinematics: motion.into(), ..Inverse::default() }.pose(&cx);
    assert!(matches!(posed, Err(Error::Cancelled { .. })));
}

/// A later entry about a state changes what it names and nothing else, unless the study asks for Moco's way.
#[test]
fn issue_20_later_entries_keep_what_earlier_ones_said() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let text = |defaults: &str| {
        format!(
            "model = 'builtin:reach'\n[time]\nfinal = 1\n[defaults]\n{defaults}[[states]]\npattern = '.*/value'\ninitial = 0.1\nfinal = 0.4\n\
             [[states]]\nname = 'elbow_flexion/value'\nbounds = [0, 2]\n[[states]]\nname = 'elbow_flexion/value'\nfinal = 0.3\n\
             [[goals]]\ntype = 'control'\n[solver]\nintervals = 4"
        )
    };
    let ends = |defaults: &str| {
        let study = StudySource::Text { path: "s.toml".into(), text: text(defaults) };
        let found = Solve { study, ..Solve::default() }.run(&cx).unwrap();
        found.verdict().unwrap();
        let elbow = found.phases[0].trajectory.states.column("/jointset/elbow/elbow_flexion/value").unwrap();
        (elbow[0], elbow[elbow.len() - 1])
    };
    assert_eq!(ends(""), (0.1, 0.3));
    let (first, last) = ends("later_entries = 'replace'\n");
    assert!((first - 0.1).abs() > 1e-6 && last == 0.3, "{first} {last}");
}

/// Where both times are free, a motion does not run backwards in time.
#[test]
fn issue_20_time_runs_forward() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let free = [
        ("initial = 0                            # s\n", "initial = [0, 4]\n"),
        ("final = [0.2, 1.5] ", "final = [0, 4] "),
    ];
    let found = solve(&free, SolveOptions::default()).run(&cx).unwrap();
    found.verdict().unwrap();
    let t = &found.phases[0].trajectory.times;
    assert!(t[t.len() - 1] > t[0] + 0.1, "{} {}", t[0], t[t.len() - 1]);
}

/// Bounds of very different widths are told, with what to do.
#[test]
fn issue_20_sizes_far_apart_are_told() {
    let files = Memory::new();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let wide = [(
        "[[goals]]\ntype = \"control\"",
        "[[controls]]\nname = 'elbow_moment'\nbounds = [-1e8, 1e8]\n[[goals]]\ntype = \"control\"",
    )];
    let options = SolveOptions { max_iterations: Some(1), ..SolveOptions::default() };
    let _ = solve(&wide, options).run(&cx);
    let all = format!("{told:?}");
    assert!(all.contains("such different scales may slow the solver down"), "{all}");
}

/// From a neighbour's solution the solver begins with a small barrier, which saves iterations: 15, 26 with the usual one, 37 without a guess.
#[test]
fn issue_20_a_guess_starts_near_itself() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let first = solve(&[], SolveOptions::default()).run(&cx).unwrap();
    first.write(&cx).unwrap();
    let heavier = [("weight = 0.2", "weight = 0.25")];
    let cold = solve(&heavier, SolveOptions::default()).run(&cx).unwrap();
    let options =
        SolveOptions { guess: Some(Path::new("reach_solution.sto").into()), ..SolveOptions::default() };
    let warm = solve(&heavier, options.clone()).run(&cx).unwrap();
    warm.verdict().unwrap();
    let usual = SolveOptions { barrier: Some(0.1), ..options };
    let far = solve(&heavier, usual).run(&cx).unwrap();
    // All end within the tolerance of the same optimum; the one without a guess 4e-6 above.
    for other in [&cold, &far] {
        let (a, b) = (warm.objective(), other.objective());
        assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
    }
    let counts = [&warm, &far, &cold].map(|s| s.solver.counts.iterations);
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

/// An iterate that was asked for by name stays after a success and holds the solution with its multipliers, from which a similar
/// problem needs fewer iterations than from the motion alone; so does a solution in memory.
#[test]
fn issue_20_a_guess_has_multipliers() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let named = [("[output]\n", "[output]\niterate = \"kept.iterate\"\n")];
    let options = SolveOptions { save_iterates: true, ..SolveOptions::default() };
    let first = solve(&named, options).run(&cx).unwrap();
    first.write(&cx).unwrap();
    assert!(files.is_file(Path::new("kept.iterate")), "{:?}", files.names());

    let heavier = [("weight = 0.2", "weight = 0.25")];
    let from = |guess: &str| SolveOptions { guess: Some(Path::new(guess).into()), ..SolveOptions::default() };
    let motion = solve(&heavier, from("reach_solution.sto")).run(&cx).unwrap();
    let both = solve(&heavier, from("kept.iterate")).run(&cx).unwrap();
    let neighbour = first.neighbour();
    let memory = Solve { neighbour, ..solve(&heavier, SolveOptions::default()) }.run(&cx).unwrap();
    let finer = SolveOptions { intervals: Some(12), ..from("kept.iterate") };
    let finer = solve(&heavier, finer).run(&cx).unwrap();
    for found in [&motion, &both, &memory, &finer] {
        found.verdict().unwrap();
    }
    // The same optimum within the tolerance, as in `issue_20_a_guess_starts_near_itself`.
    let (a, b) = (motion.objective(), both.objective());
    assert!((a - b).abs() < 1e-5 * b, "{a} {b}");
    let counts = [&both, &memory, &motion].map(|s| s.solver.counts.iterations);
    assert!(counts[0] == counts[1] && counts[1] < counts[2], "{counts:?}");

    // Multipliers of other equations say nothing.
    let fixed = [("final = [0.2, 1.5] ", "final = 0.7 ")];
    let refused = solve(&fixed, from("kept.iterate")).run(&cx).unwrap_err().to_string();
    assert!(refused.contains("the iterate has") && refused.contains("on the same mesh"), "{refused}");
}

/// The page of each phase shows the data that the phase tracked; those of studies of several phases did not.
#[test]
fn issue_18_pages_of_phases_show_what_was_tracked() {
    let mut reference =
        String::from("name\nversion=1\nnRows=11\nnColumns=2\ninDegrees=no\nendheader\ntime\tx\n");
    for k in 0..=10 {
        reference += &format!("{}\t{}\n", 0.1 * f64::from(k), 0.02 * f64::from(k));
    }
    let goal = "[[phases.goals]]\ntype = \"state_tracking\"\nname = \"follow\"\nreference = \"x.sto\"\npattern = \".*/value\"\n\
                allow_unused = true\n";
    let phase = |name: &str, time: &str, states: &str| {
        format!("[[phases]]\nname = \"{name}\"\n[phases.time]\n{time}\n{states}{goal}\n")
    };
    let start = "[[phases.states]]\nname = \"x/value\"\nbounds = [-1, 1]\ninitial = 0\n";
    let text = format!(
        "name = \"two\"\nmodel = \"slider.osim\"\n[defaults]\nspeeds = [-5, 5]\n[solver]\nintervals = 5\n\n{}{}",
        phase("first", "final = 0.5", start),
        phase(
            "second",
            "initial = 0.5\nfinal = 1.0",
            "[[phases.states]]\nname = \"x/value\"\nbounds = [-1, 1]\n"
        )
    );
    let model = crate::common::slider(&crate::common::actuator("push", 10.0));
    let files = Memory::new().with("slider.osim", model).with("x.sto", reference);
    let cx = Context::new(&files);
    let request = Solve {
        study: StudySource::Text { path: "two.toml".into(), text },
        options: SolveOptions { report: Some("two.html".into()), ..SolveOptions::default() },
        ..Solve::default()
    };
    let found = request.run(&cx).unwrap();
    found.verdict().unwrap();
    found.write(&cx).unwrap();
    let pages: Vec<PathBuf> =
        files.names().into_iter().filter(|n| n.extension().is_some_and(|e| e == "html")).collect();
    assert_eq!(pages.len(), 2, "{pages:?}");
    for page in pages {
        let html = String::from_utf8(files.read(&page).unwrap()).unwrap();
        assert!(html.contains("x, tracked"), "{}", page.display());
    }
}

/// The page of a solution shows the meshes of the model, as `view` does; it drew hulls.
#[test]
fn issue_18_pages_of_solutions_show_meshes() {
    let mesh = "<Body name=\"block\">\n<attached_geometry><Mesh name=\"m\"><mesh_file>block.obj</mesh_file></Mesh></attached_geometry>\n";
    let model = crate::common::slider(&crate::common::actuator("push", 10.0))
        .replace("<Body name=\"block\">\n", mesh);
    let text = "name = \"one\"\nmodel = \"slider.osim\"\n[time]\nfinal = 1.0\n[defaults]\nspeeds = [-5, 5]\n[solver]\nintervals = 4\n\
                [[states]]\nname = \"x/value\"\nbounds = [-1, 1]\ninitial = 0\nfinal = 0.5\n[[goals]]\ntype = \"control\"\nname = \"effort\"\n";
    let obj = "v 0 0 0\nv 0.123 0 0\nv 0 0.123 0\nv 0 0 0.123\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let shapes = |files: &Memory| {
        let cx = Context::new(files);
        let request = Solve {
            study: StudySource::Text { path: "one.toml".into(), text: text.into() },
            options: SolveOptions { report: Some("one.html".into()), ..SolveOptions::default() },
            ..Solve::default()
        };
        request.run(&cx).unwrap().write(&cx).unwrap();
        let page = String::from_utf8(files.read("one.html".as_ref()).unwrap()).unwrap();
        page.split_once("\"shapes\":[").map_or(0, |(_, rest)| rest.matches("\"l\":\"body\"").count())
    };
    let bare = Memory::new().with("slider.osim", model.clone());
    let with = Memory::new().with("slider.osim", model).with("Geometry/block.obj", obj);
    assert_eq!((shapes(&bare), shapes(&with)), (0, 1));
}
