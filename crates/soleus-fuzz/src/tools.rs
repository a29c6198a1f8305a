//! Every tool on files that are nearly right: one of its files is changed, all others are as they should be.

use crate::studio::{conversations, converse};
use crate::subject::{SUBJECT, TOOL_SETUPS, WALKER, few_iterations, subject_files, walker_files};
use crate::targets::Kind;
use crate::{Shape, Target, corpus};
use serde::de::DeserializeOwned;
use soleus::analysis::standard;
use soleus::emg::Emg;
use soleus::engine::io::{osim, table};
use soleus::gait::GaitTrial;
use soleus::inverse_kinematics::KinematicsOutput;
use soleus::muscle_control::{MassCenter, Tracking};
use soleus::optimal_control::tool::Trial;
use soleus::optimal_control::{Inverse, ModelChanges, SolveOptions};
use soleus::pipeline::{FromTrials, RecordedTrial};
use soleus::scaling::{FactorSettings, PlacingSettings, ScalingOutput};
use soleus::simulation::SimulationOutput;
use soleus::{
    Add, Analyze, AssignLoads, ComputedMuscleControl, Context, Convert, Diagnostic, Equilibrium, Error,
    Evaluate, FileInfo, Files, FitPaths, Gait, Generate, InverseDynamics, InverseKinematics, Jacobians,
    Memory, ModelInfo, Monitor, Outcome, Pipeline, PlaceSensors, PlotTable, Predict, PredictWalk, Reconcile,
    ResidualElimination, ResidualReduction, Scaling, SensorKinematics, SetupFile, Simulation, Solve,
    StaticOptimization, Synthesize, Track, Upgrade, View,
};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Every tool, with the file of it that is changed.
pub fn tools() -> Vec<Target> {
    use Shape::{Binary, Table, Text, Xml};
    let target = |name, shape, run| Target { name, shape, kind: Kind::Tool, run };
    vec![
        target("info model", Xml, |b| with("subject.osim", b, |cx| done(cx, info().run(cx)))),
        target("upgrade model", Xml, |b| with("subject.osim", b, |cx| done(cx, upgrade().run(cx)))),
        target("eval model", Xml, |b| with("subject.osim", b, |cx| done(cx, evaluate().run(cx)))),
        target("eval states", Text, |b| with("states.json", b, |cx| done(cx, evaluate().run(cx)))),
        target("jacobian model", Xml, |b| with("subject.osim", b, |cx| done(cx, jacobians().run(cx)))),
        target("equilibrium model", Xml, |b| with("leg.osim", b, |cx| done(cx, rest().run(cx)))),
        target("simulate model", Xml, |b| with("subject.osim", b, |cx| done(cx, simulation().run(cx)))),
        target("simulate controls", Table, |b| with("controls.sto", b, |cx| done(cx, simulation().run(cx)))),
        target("fit-paths model", Xml, |b| with("subject.osim", b, |cx| done(cx, fit().run(cx)))),
        target("ik model", Xml, |b| with("subject.osim", b, |cx| done(cx, angles().run(cx)))),
        target("ik markers", Table, |b| with("walk.trc", b, |cx| done(cx, angles().run(cx)))),
        target("ik tasks", Xml, |b| with("tasks.xml", b, |cx| done(cx, angles().run(cx)))),
        target("id model", Xml, |b| with("subject.osim", b, |cx| done(cx, moments().run(cx)))),
        target("id motion", Table, |b| with("walk.mot", b, |cx| done(cx, moments().run(cx)))),
        target("id loads", Xml, |b| with("loads.xml", b, |cx| done(cx, moments().run(cx)))),
        target("id plates", Table, |b| with("plates.mot", b, |cx| done(cx, moments().run(cx)))),
        target("so model", Xml, |b| with("subject.osim", b, |cx| done(cx, muscles().run(cx)))),
        target("so motion", Table, |b| with("walk.mot", b, |cx| done(cx, muscles().run(cx)))),
        target("analyze model", Xml, |b| with("subject.osim", b, |cx| done(cx, analyses().run(cx)))),
        target("analyze motion", Table, |b| with("walk.mot", b, |cx| done(cx, analyses().run(cx)))),
        target("scale model", Xml, |b| with("subject.osim", b, |cx| done(cx, scaling().run(cx)))),
        target("scale markers", Table, |b| with("walk.trc", b, |cx| done(cx, scaling().run(cx)))),
        target("scale measurements", Xml, |b| with("pairs.xml", b, |cx| done(cx, scaling().run(cx)))),
        target("inverse model", Xml, |b| with("subject.osim", b, |cx| done(cx, inverse().run(cx)))),
        target("inverse motion", Table, |b| with("walk.mot", b, |cx| done(cx, inverse().run(cx)))),
        target("solve study", Text, |b| with("study.toml", b, |cx| done(cx, solve().run(cx)))),
        target("pipeline file", Text, |b| with("pipeline.toml", b, |cx| done(cx, pipeline().run(cx)))),
        target("pipeline markers", Table, |b| with("walk.trc", b, |cx| done(cx, pipeline().run(cx)))),
        target("run setup", Xml, |b| with("setup.xml", b, run_setup)),
        target("view model", Xml, |b| with("subject.osim", b, |cx| done(cx, view().run(cx)))),
        target("view motion", Table, |b| with("walk.mot", b, |cx| done(cx, view().run(cx)))),
        target("plot table", Table, |b| with("walk.mot", b, |cx| done(cx, plot().run(cx)))),
        target("convert table", Table, |b| with("walk.trc", b, |cx| done(cx, convert().run(cx)))),
        target("info table", Table, |b| with("walk.trc", b, |cx| done(cx, about("walk.trc").run(cx)))),
        target("info setup", Xml, |b| with("setup.xml", b, |cx| done(cx, about("setup.xml").run(cx)))),
        target("info study", Text, |b| with("study.toml", b, |cx| done(cx, about("study.toml").run(cx)))),
        target("rra motion", Table, |b| with("walk.mot", b, |cx| done(cx, reduction().run(cx)))),
        target("cmc model", Xml, |b| with("subject.osim", b, |cx| done(cx, control().run(cx)))),
        target("cmc motion", Table, |b| with("walk.mot", b, |cx| done(cx, control().run(cx)))),
        target("cmc tasks", Xml, |b| with("cmc_tasks.xml", b, |cx| done(cx, control().run(cx)))),
        target("rea motion", Table, |b| with("walk.mot", b, |cx| done(cx, elimination().run(cx)))),
        target("reconcile model", Xml, |b| with("subject.osim", b, |cx| done(cx, reconcile().run(cx)))),
        target("reconcile markers", Table, |b| with("walk.trc", b, |cx| done(cx, reconcile().run(cx)))),
        target("track motion", Table, |b| with("walk.mot", b, |cx| done(cx, track().run(cx)))),
        target("add parts", Text, |b| with("parts.toml", b, |cx| done(cx, add().run(cx)))),
        target("generate model", Xml, |b| with("subject.osim", b, |cx| done(cx, generate().run(cx)))),
        target("synthesize model", Xml, |b| with("gait2d.osim", b, |cx| done(cx, synthesize().run(cx)))),
        target("synthesize motion", Table, |b| {
            with("gait2d_walk.sto", b, |cx| done(cx, synthesize().run(cx)))
        }),
        target("gait markers", Table, |b| with("lab/walk.trc", b, |cx| done(cx, gait().run(cx)))),
        target("gait plates", Table, |b| with("lab/walk_grf.mot", b, |cx| done(cx, gait().run(cx)))),
        target("loads plates", Table, |b| with("lab/walk_grf.mot", b, |cx| done(cx, assign().run(cx)))),
        target("sensors static", Table, |b| with("lab/static_imu.sto", b, |cx| done(cx, place().run(cx)))),
        target("sensors walk", Table, |b| with("lab/walk_imu.sto", b, |cx| done(cx, sensors().run(cx)))),
        target("predict model", Xml, |b| with("gait2d.osim", b, |cx| done(cx, predict().run(cx)))),
        target("demo start", Text, |b| with("kept_walk.json", b, |cx| done(cx, demo().run(cx)))),
        target("trials model", Xml, |b| with("gait2d.osim", b, from_trials)),
        target("trials static", Table, |b| with("lab/static.trc", b, from_trials)),
        target("trials markers", Table, |b| with("lab/walk.trc", b, from_trials)),
        target("trials plates", Table, |b| with("lab/walk_grf.mot", b, from_trials)),
        target("static model", Xml, |b| with("subject.osim", b, |cx| done(cx, scaling_by_markers().run(cx)))),
        target("static markers", Table, |b| with("walk.trc", b, |cx| done(cx, scaling_by_markers().run(cx)))),
        target("ik stream", Table, stream),
        target("sensors stream", Table, sensor_stream),
        target("ik recording", Binary, |b| with("walk.c3d", b, |cx| done(cx, angles_of_recording().run(cx)))),
        target("convert recording", Binary, |b| {
            with("walk.c3d", b, |cx| done(cx, convert_recording().run(cx)))
        }),
        target("info recording", Binary, |b| with("walk.c3d", b, |cx| done(cx, about("walk.c3d").run(cx)))),
        target("solve iterate", Text, |b| with("kept.iterate", b, |cx| done(cx, resume().run(cx)))),
        target("gait normative", Table, |b| {
            with("cycle.csv", b, |cx| done(cx, gait_beside_curves().run(cx)))
        }),
        target("so emg", Table, |b| with("emg.sto", b, |cx| done(cx, muscles_beside_emg().run(cx)))),
        target("cmc limits", Xml, |b| with("limits.xml", b, |cx| done(cx, limited_control().run(cx)))),
        target("rra model", Xml, |b| with("subject.osim", b, |cx| done(cx, reduction().run(cx)))),
        target("rra tasks", Xml, |b| with("cmc_tasks.xml", b, |cx| done(cx, reduction().run(cx)))),
        target("cmc loads", Xml, |b| with("loads.xml", b, |cx| done(cx, control().run(cx)))),
        target("rea model", Xml, |b| with("subject.osim", b, |cx| done(cx, elimination().run(cx)))),
        target("rea plates", Table, |b| with("plates.mot", b, |cx| done(cx, elimination().run(cx)))),
        target("reconcile plates", Table, |b| with("plates.mot", b, |cx| done(cx, reconcile().run(cx)))),
        target("track model", Xml, |b| with("subject.osim", b, |cx| done(cx, track().run(cx)))),
        target("track markers", Table, |b| with("walk.trc", b, |cx| done(cx, track_markers().run(cx)))),
        target("solve model", Xml, |b| with("subject.osim", b, |cx| done(cx, solve().run(cx)))),
        target("add model", Xml, |b| with("gait2d.osim", b, |cx| done(cx, add().run(cx)))),
        target("gait curves", Table, |b| with("lab/walk_truth.sto", b, |cx| done(cx, gait().run(cx)))),
        target("loads model", Xml, |b| with("gait2d.osim", b, |cx| done(cx, assign().run(cx)))),
        target("place model", Xml, |b| with("gait2d.osim", b, |cx| done(cx, place().run(cx)))),
        target("sensors model", Xml, |b| with("sensors.osim", b, |cx| done(cx, sensors().run(cx)))),
        target("upgrade setup", Xml, |b| with("setup.xml", b, |cx| done(cx, upgrade_setup().run(cx)))),
        target("simulate start", Table, |b| {
            with("walk.mot", b, |cx| done(cx, simulation_from_rows().run(cx)))
        }),
        target("view loads", Xml, |b| with("loads.xml", b, |cx| done(cx, view().run(cx)))),
        target("requests", Text, requests),
        target("studio", Text, converse),
    ]
}

/// Files of a target whose name is not that of a reader, if there are any.
pub(crate) fn files(target: &str) -> Option<Vec<Vec<u8>>> {
    let model = || SUBJECT.as_bytes().to_vec();
    let file = |name: &str| all_files().read(Path::new(name)).unwrap_or_default();
    Some(match target {
        // What needs no other file takes any model.
        "info model" | "upgrade model" | "eval model" | "jacobian model" | "equilibrium model"
        | "simulate model" | "view model" | "fit-paths model" => {
            let mut list = corpus::files("osim");
            list.extend((target != "equilibrium model").then(model));
            list
        }
        "eval states" => vec![file("states.json")],
        "simulate controls" => vec![file("controls.sto")],
        "ik tasks" => vec![file("tasks.xml")],
        "id loads" => vec![file("loads.xml")],
        "id plates" => vec![file("plates.mot")],
        "scale measurements" => vec![file("pairs.xml")],
        "solve study" => vec![file("study.toml")],
        "pipeline file" => vec![file("pipeline.toml")],
        "ik markers" | "scale markers" | "pipeline markers" | "convert table" => vec![file("walk.trc")],
        "id motion" | "so motion" | "analyze motion" | "inverse motion" | "view motion" | "plot table" => {
            vec![file("walk.mot")]
        }
        "ik model" | "id model" | "so model" | "analyze model" | "scale model" | "inverse model" => {
            vec![model()]
        }
        "info table" | "reconcile markers" => vec![file("walk.trc")],
        "info study" => vec![file("study.toml"), file("pipeline.toml")],
        "rra motion" | "cmc motion" | "rea motion" | "track motion" => vec![file("walk.mot")],
        "cmc model" | "reconcile model" | "generate model" => vec![model()],
        "cmc tasks" => vec![file("cmc_tasks.xml")],
        "add parts" => vec![file("parts.toml")],
        "synthesize model" | "predict model" | "trials model" => vec![WALKER.to_vec()],
        "demo start" => vec![file("kept_walk.json")],
        "trials static" => vec![file("lab/static.trc")],
        "trials markers" => vec![file("lab/walk.trc")],
        "trials plates" => vec![file("lab/walk_grf.mot")],
        "static model" => vec![model()],
        "static markers" => vec![file("walk.trc")],
        "ik stream" => vec![file("walk.csv")],
        "sensors stream" => vec![streamed_sensors()],
        "ik recording" | "convert recording" | "info recording" => vec![file("walk.c3d")],
        "solve iterate" => vec![file("kept.iterate")],
        "gait normative" => vec![file("cycle.csv")],
        "so emg" => vec![file("emg.sto")],
        "cmc limits" => vec![file("limits.xml")],
        "synthesize motion" => vec![file("gait2d_walk.sto")],
        "gait markers" => vec![file("lab/walk.trc")],
        "gait plates" | "loads plates" => vec![file("lab/walk_grf.mot")],
        "sensors static" => vec![file("lab/static_imu.sto")],
        "sensors walk" => vec![file("lab/walk_imu.sto")],
        "run setup" | "info setup" => TOOL_SETUPS.iter().map(|s| s.as_bytes().to_vec()).collect(),
        "rra model" | "rea model" | "track model" | "solve model" => vec![model()],
        "rra tasks" => vec![file("cmc_tasks.xml")],
        "cmc loads" | "view loads" => vec![file("loads.xml")],
        "rea plates" | "reconcile plates" => vec![file("plates.mot")],
        "track markers" => vec![file("walk.trc")],
        "add model" | "loads model" | "place model" => vec![WALKER.to_vec()],
        "gait curves" => vec![file("lab/walk_truth.sto")],
        "sensors model" => vec![file("sensors.osim")],
        "upgrade setup" => TOOL_SETUPS.iter().map(|s| s.as_bytes().to_vec()).collect(),
        "simulate start" => vec![file("walk.mot")],
        "requests" => all_requests(),
        "studio" => conversations(),
        _ => return None,
    })
}

/// The first orientations of the walk as lines of text.
fn streamed_sensors() -> Vec<u8> {
    let bytes = all_files().read(Path::new("lab/walk_imu.sto")).unwrap_or_default();
    let text = table::read(&bytes, "walk_imu.sto").0.map(|t| table::csv::write(&t)).unwrap_or_default();
    text.lines().take(20).flat_map(|l| [l, "\n"]).collect::<String>().into_bytes()
}

/// All files as they should be.
pub(crate) fn all_files() -> Memory {
    static ALL: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let own = subject_files().into_iter().map(|(name, bytes)| (name.to_string(), bytes));
        own.chain(walker_files()).collect()
    });
    all.iter().fold(Memory::new(), |m, (name, bytes)| m.with(name, bytes.clone()))
}

/// Asks a tool to stop after a while, as a user would: a tool that does not listen is too slow.
pub(crate) struct Patient {
    start: Instant,
}

impl Patient {
    /// From now on.
    pub(crate) fn new() -> Self {
        Patient { start: Instant::now() }
    }
}

/// When a user loses patience.
const PATIENCE: Duration = Duration::from_secs(4);

impl Monitor for Patient {
    fn diagnostic(&self, d: &Diagnostic) {
        let text = d.to_string();
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "a control character is told: {text:?}"
        );
    }

    fn is_cancelled(&self) -> bool {
        self.start.elapsed() > PATIENCE
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.start.elapsed().as_secs_f64())
    }
}

/// Runs a tool with one file in place of the right one.
fn with(name: &str, bytes: &[u8], tool: impl FnOnce(&Context)) {
    let files = all_files().with(name, bytes);
    let before = files.names();
    let monitor = Patient::new();
    tool(&Context::new(&files).with_monitor(&monitor));
    for name in files.names() {
        if before.binary_search(&name).is_err() {
            check_whole(&name, &files.read(&name).unwrap_or_default());
        }
    }
}

/// A file that a tool has written can be read to its end by whoever reads such files.
fn check_whole(path: &Path, bytes: &[u8]) {
    let name = path.display().to_string();
    let ends = |with: &str| String::from_utf8_lossy(bytes).trim_end().ends_with(with);
    match path.extension().and_then(|e| e.to_str()).unwrap_or("") {
        // A setup file may give a model any name.
        "sto" | "mot" | "trc" if !bytes.starts_with(b"<?xml") => {
            let (found, log) = table::read(bytes, &name);
            assert!(
                found.is_some() && !log.has_errors(),
                "{name} was written and is refused: {:?}",
                log.list
            );
        }
        "osim" | "xml" | "sto" | "mot" | "trc" => {
            let (found, log) = osim::read_document(bytes, &name);
            let over_limit = log.list.iter().any(|d| d.message.contains("more than"));
            assert!(found.is_some() || over_limit, "{name} was written and is refused: {:?}", log.list);
        }
        "json" => {
            let found = serde_json::from_slice::<serde_json::Value>(bytes);
            assert!(found.is_ok(), "{name} was written and is refused: {found:?}");
        }
        "parquet" => assert!(bytes.ends_with(b"PAR1"), "{name} does not end"),
        "html" => assert!(ends("</html>"), "{name} does not end"),
        "svg" => assert!(ends("</svg>"), "{name} does not end"),
        _ => {}
    }
}

/// A result can be written, whatever its verdict; an error can be told.
fn done<O: Outcome>(cx: &Context, result: Result<O, Error>) {
    match result {
        Ok(outcome) => {
            let _ = outcome.write(cx);
            if let Err(e) = outcome.verdict() {
                assert!(!e.to_string().is_empty());
            }
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

/// An error can be told.
fn told<T>(result: Result<T, Error>) -> Result<T, Error> {
    result.inspect_err(|e| assert!(!e.to_string().is_empty()))
}

fn run_setup(cx: &Context) {
    match SetupFile::new("setup.xml").run(cx) {
        Ok(outcome) => {
            let _ = outcome.write(cx);
            let _ = outcome.verdict();
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

fn info() -> ModelInfo {
    ModelInfo { model: "subject.osim".into(), output: Some("info.txt".into()), as_json: false }
}

fn upgrade() -> Upgrade {
    Upgrade { file: "subject.osim".into(), output: Some("new.osim".into()) }
}

fn upgrade_setup() -> Upgrade {
    Upgrade { file: "setup.xml".into(), output: Some("new.xml".into()) }
}

fn evaluate() -> Evaluate {
    Evaluate {
        model: "subject.osim".into(),
        states: "states.json".into(),
        equilibrate: true,
        output: Some("values.json".into()),
        ..Evaluate::default()
    }
}

fn jacobians() -> Jacobians {
    Jacobians { model: "subject.osim".into(), output: Some("jacobian.json".into()), ..Jacobians::default() }
}

fn rest() -> Equilibrium {
    // The subject falls for ever.
    Equilibrium {
        model: "leg.osim".into(),
        eigenvalues: true,
        output: Some("rest.sto".into()),
        ..Equilibrium::default()
    }
}

fn simulation() -> Simulation {
    Simulation {
        model: "subject.osim".into(),
        controls: Some("controls.sto".into()),
        duration: 0.01,
        accuracy: 1e-3,
        output: SimulationOutput { folder: Some("out".into()), name: None },
        ..Simulation::default()
    }
}

/// From a row of a motion instead of the default state.
fn simulation_from_rows() -> Simulation {
    Simulation { initial: Some("walk.mot".into()), controls: None, ..simulation() }
}

fn fit() -> FitPaths {
    FitPaths {
        model: "subject.osim".into(),
        max_order: 3,
        output: Some("fitted.osim".into()),
        ..FitPaths::default()
    }
}

fn angles() -> InverseKinematics {
    InverseKinematics {
        model: "subject.osim".into(),
        markers: "walk.trc".into(),
        task_file: Some("tasks.xml".into()),
        ..InverseKinematics::default()
    }
}

fn moments() -> InverseDynamics {
    InverseDynamics {
        model: "subject.osim".into(),
        motion: "walk.mot".into(),
        loads: Some("loads.xml".into()),
        cutoff_hz: Some(6.0),
        output: Some("id.sto".into()),
        ..InverseDynamics::default()
    }
}

fn muscles() -> StaticOptimization {
    StaticOptimization {
        model: "subject.osim".into(),
        motion: "walk.mot".into(),
        loads: Some("loads.xml".into()),
        residuals: vec![100.0, 500.0],
        reserves: vec![10.0],
        cutoff_hz: Some(6.0),
        every: 4,
        ..StaticOptimization::default()
    }
}

fn analyses() -> Analyze {
    let names = ["kinematics", "body", "muscle", "joint-reaction", "joint-power", "forces", "induced"];
    let mut analyses: Vec<_> = names.into_iter().filter_map(standard).collect();
    analyses.iter_mut().for_each(|a| a.step_interval = 5);
    Analyze {
        model: "subject.osim".into(),
        motion: "walk.mot".into(),
        loads: Some("loads.xml".into()),
        equilibrate: true,
        analyses,
        ..Analyze::default()
    }
}

fn scaling() -> Scaling {
    Scaling {
        model: "subject.osim".into(),
        mass: Some(60.0),
        factors: Some(FactorSettings {
            markers: Some("walk.trc".into()),
            measurement_file: Some("pairs.xml".into()),
            ..FactorSettings::default()
        }),
        placing: Some(PlacingSettings { markers: "walk.trc".into(), ..PlacingSettings::default() }),
        output: ScalingOutput { model: Some("scaled.osim".into()), ..ScalingOutput::default() },
        ..Scaling::default()
    }
}

fn inverse() -> Inverse {
    let changes = ModelChanges {
        loads: Some("loads.xml".into()),
        degroote_fregly: true,
        residuals: vec![250.0, 1000.0],
        reserves: vec![50.0],
        ..ModelChanges::default()
    };
    let trial = Trial {
        model: "subject.osim".into(),
        changes,
        from: Some(0.02),
        to: Some(0.06),
        mesh_interval: Some(0.02),
        cutoff_hz: Some(6.0),
        ..Trial::default()
    };
    Inverse { trial, kinematics: "walk.mot".into(), options: few_on_own_mesh(), ..Inverse::default() }
}

/// A few iterations on the mesh that the request names.
fn few_on_own_mesh() -> SolveOptions {
    SolveOptions { intervals: None, ..few_iterations() }
}

fn solve() -> Solve {
    Solve { study: "study.toml".into(), options: few_iterations(), ..Solve::default() }
}

/// From where an earlier solve stopped.
fn resume() -> Solve {
    Solve { options: SolveOptions { resume: true, ..few_iterations() }, ..solve() }
}

/// A static trial determines the sizes and places the markers.
fn scaling_by_markers() -> Scaling {
    let output = ScalingOutput { model: Some("scaled.osim".into()), ..ScalingOutput::default() };
    Scaling { mass: Some(60.0), output, ..Scaling::of_static_trial("subject.osim", "walk.trc") }
}

/// Lines of a stream, as a camera would send them.
fn stream(bytes: &[u8]) {
    let files = all_files();
    let monitor = Patient::new();
    let cx = Context::new(&files).with_monitor(&monitor);
    let _ = told(angles().stream(&cx, Some(&mut &*bytes), &mut Vec::new()));
}

/// Lines of a stream, as inertial sensors would send them.
fn sensor_stream(bytes: &[u8]) {
    let files = all_files();
    let monitor = Patient::new();
    let cx = Context::new(&files).with_monitor(&monitor);
    let _ = told(sensors().stream(&cx, Some(&mut &*bytes), &mut Vec::new()));
}

fn angles_of_recording() -> InverseKinematics {
    InverseKinematics { markers: "walk.c3d".into(), task_file: None, ..angles() }
}

fn convert_recording() -> Convert {
    Convert { input: "walk.c3d".into(), output: Some("converted.trc".into()), ..Convert::default() }
}

/// A gait analysis with normative curves of its own.
fn gait_beside_curves() -> Gait {
    Gait { normative: Some("cycle.csv".into()), ..gait() }
}

fn muscles_beside_emg() -> StaticOptimization {
    let channels = [("VL".to_string(), vec!["vasti".to_string()])].into();
    let emg = Emg { signals: "emg.sto".into(), channels, ..Emg::default() };
    StaticOptimization { emg: Some(emg), ..muscles() }
}

fn limited_control() -> ComputedMuscleControl {
    let tracking = Tracking { limits: Some("limits.xml".into()), ..tracking("cmc") };
    ComputedMuscleControl { tracking, ..ComputedMuscleControl::default() }
}

/// A walk from one that was kept.
fn demo() -> PredictWalk {
    PredictWalk {
        start: Some("kept_walk.json".into()),
        page: Some("walk.html".into()),
        ..PredictWalk::default()
    }
}

/// A pipeline made of the files of a laboratory, and run.
fn from_trials(cx: &Context) {
    let _ = trials_run(cx);
}

fn trials_run(cx: &Context) -> Result<(), Error> {
    let trial = RecordedTrial { markers: "lab/walk.trc".into(), loads: Some("lab/walk_grf.mot".into()) };
    let recorded = FromTrials {
        model: "gait2d.osim".into(),
        still: Some("lab/static.trc".into()),
        mass: Some(70.0),
        trials: vec![trial],
        normative: Some("cycle.csv".into()),
        output: "study".into(),
        ..FromTrials::default()
    };
    let file = told(recorded.write(cx))?;
    let done = told(Pipeline::of_file(file).run(cx))?;
    told(done.write(cx))?;
    done.verdict()
}

fn pipeline() -> Pipeline {
    Pipeline::of_file("pipeline.toml")
}

fn view() -> View {
    View {
        model: "subject.osim".into(),
        motion: Some("walk.mot".into()),
        page: Some("page.html".into()),
        picture: Some("picture.svg".into()),
        loads: Some("loads.xml".into()),
        ..View::default()
    }
}

fn plot() -> PlotTable {
    PlotTable { table: "walk.mot".into(), output: Some("plot.svg".into()), ..PlotTable::default() }
}

fn convert() -> Convert {
    Convert {
        input: "walk.trc".into(),
        output: Some("walk.sto".into()),
        rate: Some(50.0),
        lowpass_hz: Some(6.0),
        ..Convert::default()
    }
}

fn about(file: &str) -> FileInfo {
    FileInfo { file: file.into(), output: Some("about.json".into()), as_json: true }
}

/// What follows what in a short part of the trial.
fn tracking(name: &str) -> Tracking {
    Tracking {
        model: "subject.osim".into(),
        motion: "walk.mot".into(),
        loads: Some("loads.xml".into()),
        residuals: vec![100.0, 500.0],
        reserves: vec![50.0],
        task_file: Some("cmc_tasks.xml".into()),
        from: Some(0.02),
        to: Some(0.06),
        output: SimulationOutput { folder: Some(name.into()), name: None },
        page: Some("tracking.html".into()),
        ..Tracking::default()
    }
}

fn reduction() -> ResidualReduction {
    let change =
        MassCenter { body: "pelvis".into(), output: Some("moved.osim".into()), ..MassCenter::default() };
    let tracking = Tracking { to: Some(0.03), ..tracking("rra") };
    ResidualReduction { tracking, mass_center: Some(change), ..ResidualReduction::default() }
}

fn control() -> ComputedMuscleControl {
    ComputedMuscleControl { tracking: tracking("cmc"), ..ComputedMuscleControl::default() }
}

fn elimination() -> ResidualElimination {
    ResidualElimination {
        model: "subject.osim".into(),
        motion: "walk.mot".into(),
        loads: Some("loads.xml".into()),
        cutoff_hz: Some(6.0),
        // The subject has no back: what the root does is solved for altogether.
        back: ["pelvis_tilt", "pelvis_list", "pelvis_rotation"].map(String::from).to_vec(),
        output: Some("rea.mot".into()),
        ..ResidualElimination::default()
    }
}

fn reconcile() -> Reconcile {
    Reconcile {
        model: "subject.osim".into(),
        markers: Some("walk.trc".into()),
        loads: Some("loads.xml".into()),
        mass_center_sd: 0.01,
        output: Some("fitted.mot".into()),
        model_output: Some("fitted.osim".into()),
        loads_output: Some("fitted.xml".into()),
        ..Reconcile::default()
    }
}

fn track() -> Track {
    let trial =
        Trial { changes: ModelChanges { rigid_tendons: true, ..inverse().trial.changes }, ..inverse().trial };
    Track { trial, states: Some("walk.mot".into()), options: few_on_own_mesh(), ..Track::default() }
}

fn track_markers() -> Track {
    Track { states: None, markers: Some("walk.trc".into()), ..track() }
}

fn add() -> Add {
    Add {
        model: "gait2d.osim".into(),
        parts: Vec::new(),
        file: Some("parts.toml".into()),
        output: Some("with.osim".into()),
    }
}

fn generate() -> Generate {
    Generate {
        model: "subject.osim".into(),
        fit_paths: Some(2),
        output: Some("model.c".into()),
        ..Generate::default()
    }
}

fn synthesize() -> Synthesize {
    Synthesize {
        model: "gait2d.osim".into(),
        motion: "gait2d_walk.sto".into(),
        cycles: 1,
        output: Some("made".into()),
        ..Synthesize::default()
    }
}

fn gait() -> Gait {
    let trial = GaitTrial {
        markers: "lab/walk.trc".into(),
        loads: Some("lab/walk_grf.mot".into()),
        curves: vec!["lab/walk_truth.sto".into()],
        ..GaitTrial::default()
    };
    Gait { trials: vec![trial], output: Some("gait".into()), ..Gait::default() }
}

fn assign() -> AssignLoads {
    AssignLoads {
        model: "gait2d.osim".into(),
        motion: "lab/walk_truth.sto".into(),
        loads: "lab/walk_grf.mot".into(),
        output: Some("assigned.xml".into()),
    }
}

/// From the world of sensors, z up, to that of models.
const SENSOR_TO_GROUND: [f64; 3] = [-std::f64::consts::FRAC_PI_2, 0.0, 0.0];

fn place() -> PlaceSensors {
    PlaceSensors {
        model: "gait2d.osim".into(),
        orientations: "lab/static_imu.sto".into(),
        sensor_to_ground: SENSOR_TO_GROUND,
        output: Some("placed.osim".into()),
        ..PlaceSensors::default()
    }
}

fn sensors() -> SensorKinematics {
    SensorKinematics {
        model: "sensors.osim".into(),
        orientations: "lab/walk_imu.sto".into(),
        sensor_to_ground: SENSOR_TO_GROUND,
        output: KinematicsOutput { motion: Some("imu.mot".into()), ..KinematicsOutput::default() },
        ..SensorKinematics::default()
    }
}

/// Only the study: gaits take minutes.
fn predict() -> Predict {
    Predict {
        model: "gait2d.osim".into(),
        study_only: true,
        output: "predicted".into(),
        ..Predict::default()
    }
}

/// Requests as JSON, in one object under the name of their tool.
fn all_requests() -> Vec<Vec<u8>> {
    fn text<T: serde::Serialize>(name: &str, request: &T) -> Vec<u8> {
        serde_json::to_vec_pretty(&serde_json::json!({ name: request })).unwrap_or_default()
    }
    vec![
        text("ik", &angles()),
        text("id", &moments()),
        text("so", &muscles()),
        text("analyze", &analyses()),
        text("scale", &scaling()),
        text("simulate", &simulation()),
        text("equilibrium", &rest()),
        text("inverse", &inverse()),
        text("eval", &evaluate()),
        text("jacobian", &jacobians()),
        text("fit-paths", &fit()),
        text("view", &view()),
        text("plot", &plot()),
        text("convert", &convert()),
        text("rra", &reduction()),
        text("cmc", &control()),
        text("rea", &elimination()),
        text("reconcile", &reconcile()),
        text("track", &track()),
        text("add", &add()),
        text("generate", &generate()),
        text("synthesize", &synthesize()),
        text("gait", &gait()),
        text("loads", &assign()),
        text("place", &place()),
        text("sensors", &sensors()),
        text("predict", &predict()),
        text("static", &scaling_by_markers()),
        text("resume", &resume()),
        text("demo", &demo()),
    ]
}

/// A request of scaling, as a page sends it.
pub(crate) fn scaling_request() -> serde_json::Value {
    serde_json::to_value(scaling()).unwrap_or_default()
}

/// Settings of a solver, with as few iterations and intervals as all others.
fn few_iterations_of(options: SolveOptions) -> SolveOptions {
    let SolveOptions { intervals, max_iterations, threads, .. } = few_iterations();
    SolveOptions { intervals, max_iterations, threads, coarse: Vec::new(), starts: None, ..options }
}

/// Reads a request and runs it on the right files.
fn requests(bytes: &[u8]) {
    let Ok(serde_json::Value::Object(all)) = serde_json::from_slice(bytes) else { return };
    fn read<T: DeserializeOwned>(value: serde_json::Value) -> Option<T> {
        serde_json::from_value(value).ok()
    }
    /// Runs a request if it is one.
    fn run<T: DeserializeOwned, O: Outcome>(
        cx: &Context,
        value: serde_json::Value,
        tool: impl FnOnce(T) -> Result<O, Error>,
    ) {
        if let Some(request) = read(value) {
            done(cx, tool(request));
        }
    }
    let files = all_files();
    for (name, value) in all.into_iter().take(2) {
        let monitor = Patient::new();
        let cx = &Context::new(&files).with_monitor(&monitor);
        match name.as_str() {
            "ik" => run(cx, value, |r: InverseKinematics| r.run(cx)),
            "id" => run(cx, value, |r: InverseDynamics| r.run(cx)),
            "so" => run(cx, value, |r: StaticOptimization| r.run(cx)),
            "analyze" => run(cx, value, |r: Analyze| r.run(cx)),
            "scale" => run(cx, value, |r: Scaling| r.run(cx)),
            "simulate" => run(cx, value, |r: Simulation| r.run(cx)),
            "equilibrium" => run(cx, value, |r: Equilibrium| r.run(cx)),
            "inverse" => run(cx, value, |r: Inverse| r.run(cx)),
            "eval" => run(cx, value, |r: Evaluate| r.run(cx)),
            "jacobian" => run(cx, value, |r: Jacobians| r.run(cx)),
            "fit-paths" => run(cx, value, |r: FitPaths| r.run(cx)),
            "view" => run(cx, value, |r: View| r.run(cx)),
            "plot" => run(cx, value, |r: PlotTable| r.run(cx)),
            "convert" => run(cx, value, |r: Convert| r.run(cx)),
            "rra" => run(cx, value, |r: ResidualReduction| r.run(cx)),
            "cmc" => run(cx, value, |r: ComputedMuscleControl| r.run(cx)),
            "rea" => run(cx, value, |r: ResidualElimination| r.run(cx)),
            "reconcile" => run(cx, value, |r: Reconcile| r.run(cx)),
            "track" => run(cx, value, |r: Track| r.run(cx)),
            "add" => run(cx, value, |r: Add| r.run(cx)),
            "generate" => run(cx, value, |r: Generate| r.run(cx)),
            "synthesize" => run(cx, value, |r: Synthesize| r.run(cx)),
            "gait" => run(cx, value, |r: Gait| r.run(cx)),
            "loads" => run(cx, value, |r: AssignLoads| r.run(cx)),
            "place" => run(cx, value, |r: PlaceSensors| r.run(cx)),
            "sensors" => run(cx, value, |r: SensorKinematics| r.run(cx)),
            // A whole prediction is solved nowhere in few iterations.
            "predict" => run(cx, value, |r: Predict| Predict { study_only: true, ..r }.run(cx)),
            "static" => run(cx, value, |r: Scaling| r.run(cx)),
            "resume" => {
                run(cx, value, |r: Solve| Solve { options: few_iterations_of(r.options), ..r }.run(cx))
            }
            "demo" => run(cx, value, |r: PredictWalk| r.run(cx)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tool that refuses the right files would be tested on nothing but its refusals.
    #[test]
    fn identity_the_right_files_are_right() {
        // Second derivatives of a joint of six mobilities fill the stack of a test in programs that are not optimised at all.
        let checked = std::thread::Builder::new().stack_size(64 << 20).spawn(check_right_files);
        checked.unwrap().join().unwrap();
    }

    fn check_right_files() {
        let files = all_files();
        let cx = &Context::new(&files);
        let file = |name: &str| all_files().read(Path::new(name)).unwrap_or_default();
        let mut wrong = Vec::new();
        let mut check = |name: &str, found: Result<(), Error>| {
            if let Err(e) = found {
                wrong.push(format!("{name}: {e}"));
            }
        };
        fn all<O: Outcome>(cx: &Context, found: Result<O, Error>) -> Result<(), Error> {
            let found = found?;
            found.write(cx)?;
            found.verdict()
        }
        check("info", all(cx, info().run(cx)));
        check("upgrade", all(cx, upgrade().run(cx)));
        check("eval", all(cx, evaluate().run(cx)));
        check("jacobian", all(cx, jacobians().run(cx)));
        check("equilibrium", all(cx, rest().run(cx)));
        check("simulate", all(cx, simulation().run(cx)));
        check("fit-paths", all(cx, fit().run(cx)));
        check("ik", all(cx, angles().run(cx)));
        check("id", all(cx, moments().run(cx)));
        check("so", all(cx, muscles().run(cx)));
        check("analyze", all(cx, analyses().run(cx)));
        check("scale", all(cx, scaling().run(cx)));
        // Three iterations solve nothing, but there is a result.
        check("inverse", inverse().run(cx).map(drop));
        check("solve", solve().run(cx).map(drop));
        check("pipeline", all(cx, pipeline().run(cx)));
        check("view", all(cx, view().run(cx)));
        check("plot", all(cx, plot().run(cx)));
        check("convert", all(cx, convert().run(cx)));
        for name in ["walk.trc", "loads.xml", "study.toml"] {
            check(&format!("info {name}"), all(cx, about(name).run(cx)));
        }
        check("rra", reduction().run(cx).map(drop));
        check("cmc", control().run(cx).map(drop));
        // Twelve rows that nobody measured: there is a result, though not the nearest.
        check("rea", elimination().run(cx).map(drop));
        check("reconcile", reconcile().run(cx).map(drop));
        check("track", track().run(cx).map(drop));
        check("track markers", track_markers().run(cx).map(drop));
        check("simulate start", all(cx, simulation_from_rows().run(cx)));
        check("add", all(cx, add().run(cx)));
        check("generate", all(cx, generate().run(cx)));
        check("synthesize", all(cx, synthesize().run(cx)));
        check("gait", all(cx, gait().run(cx)));
        check("loads", all(cx, assign().run(cx)));
        check("place", all(cx, place().run(cx)));
        check("sensors", all(cx, sensors().run(cx)));
        check("predict", all(cx, predict().run(cx)));
        // Whoever has no patience for the walk is not refused.
        let monitor = Patient::new();
        let found = demo().run(&Context::new(&files).with_monitor(&monitor));
        check(
            "demo",
            found
                .map(drop)
                .or_else(|e| if e.kind() == soleus::ErrorKind::Cancelled { Ok(()) } else { Err(e) }),
        );
        check("trials", trials_run(cx));
        check("static", all(cx, scaling_by_markers().run(cx)));
        check("ik stream", angles().stream(cx, Some(&mut &*file("walk.csv")), &mut Vec::new()));
        let lines = streamed_sensors();
        check("sensors stream", sensors().stream(cx, Some(&mut &*lines), &mut Vec::new()));
        check("ik recording", all(cx, angles_of_recording().run(cx)));
        check("convert recording", all(cx, convert_recording().run(cx)));
        check("info recording", all(cx, about("walk.c3d").run(cx)));
        check("resume", resume().run(cx).map(drop));
        check("gait normative", all(cx, gait_beside_curves().run(cx)));
        check("so emg", all(cx, muscles_beside_emg().run(cx)));
        check("cmc limits", limited_control().run(cx).map(drop));
        for (i, text) in TOOL_SETUPS.iter().enumerate() {
            let files = all_files().with("setup.xml", text.as_bytes());
            let found = SetupFile::new("setup.xml").run(&Context::new(&files));
            check(&format!("setup {i}"), found.map(drop));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(files.names().len() > 20, "{:?}", files.names());
    }
}
