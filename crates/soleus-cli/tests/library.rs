//! The library on files in memory, beside the command on the same files on disk: the same files, byte by byte, and the same verdict.

mod inputs;

use crate::common::{Folder, Run, table};
use inputs::*;
use soleus::analysis::{AnalysisKind, AnalysisOutput, standard};
use soleus::conversion::{Axis, Turn};
use soleus::gait::{Gait, GaitTrial};
use soleus::inverse_kinematics::KinematicsOutput;
use soleus::muscle_control::Tracking;
use soleus::optimal_control::tool::Trial;
use soleus::optimal_control::{ModelChanges, SolveOptions};
use soleus::pipeline::{FromTrials, RecordedTrial};
use soleus::scaling::{FactorSettings, PlacingSettings, ScalingOutput};
use soleus::simulation::SimulationOutput;
use soleus::text::printable;
use soleus::{
    Add, Analyze, Artifact, AssignLoads, ComputedMuscleControl, Context, Convert, Equilibrium, Error,
    ErrorKind, Evaluate, FileInfo, Files, FitPaths, Generate, Inverse, InverseDynamics, InverseKinematics,
    Jacobians, LegTour, Memory, Monitor, Outcome, Pipeline, PlotTable, Predict, PredictWalk, Reconcile,
    ResidualElimination, ResidualReduction, Scaling, SensorKinematics, SetupFile, Simulation, Solve,
    StaticOptimization, Synthesize, Track, Upgrade, View,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What comes of a request.
type Answer = Result<Box<dyn Outcome>, Error>;

/// A command, and the request that it stands for.
struct Case {
    /// Files that are there.
    files: Vec<File>,
    /// Arguments of `soleus`, with blanks between.
    command: &'static str,
    /// Exit code that is expected.
    code: i32,
    request: fn(&Context) -> Answer,
}

impl Case {
    fn new(files: impl Into<Vec<File>>, command: &'static str, request: fn(&Context) -> Answer) -> Self {
        Case { files: files.into(), command, code: 0, request }
    }

    /// One that ends with another exit code than 0.
    fn exits(self, code: i32) -> Self {
        Case { code, ..self }
    }

    fn verb(&self) -> &'static str {
        self.command.split(' ').next().unwrap_or_default()
    }
}

/// Any result as one that can be written.
fn any(result: Result<impl Outcome + 'static, Error>) -> Answer {
    Ok(Box::new(result?))
}

/// What the library writes to a stream; the command writes it to stdout.
struct Streamed(Vec<u8>);

impl Outcome for Streamed {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        vec![Artifact::bytes("-", &self.0[..])]
    }
}

/// A result of which the command prints some lines.
struct Printed<R>(R, Vec<String>);

impl<R: Outcome> Outcome for Printed<R> {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let mut list = self.0.artifacts();
        let lines: String = self.1.iter().map(|l| format!("{l}\n")).collect();
        list.push(Artifact::text("-", lines));
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        self.0.verdict()
    }
}

/// A clock, as the command has one: some results tell how long they took, and have other words without.
struct Clock(Instant);

impl Monitor for Clock {
    fn seconds(&self) -> Option<f64> {
        Some(self.0.elapsed().as_secs_f64())
    }
}

/// Names of files, from the folder of the test, and what is in them. Stdout is the file `-`, as for the library.
type Found = BTreeMap<PathBuf, Vec<u8>>;

/// The lock of a pipeline: a file that nobody else can see needs none.
const LOCK: &str = ".soleus/lock";

fn on_disk(root: &Path, run: &Run) -> Found {
    fn gather(root: &Path, folder: &Path, found: &mut Found) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                gather(root, &path, found);
            } else if !path.ends_with(LOCK) {
                found.insert(path.strip_prefix(root).unwrap().to_path_buf(), std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = Found::new();
    gather(root, root, &mut found);
    if !run.stdout.is_empty() {
        found.insert("-".into(), run.stdout.clone().into_bytes());
    }
    found
}

fn in_memory(files: &Memory) -> Found {
    let names = files.names().into_iter();
    names.map(|n| (n.strip_prefix("/").unwrap().to_path_buf(), files.read(&n).unwrap())).collect()
}

/// Words beside which a result tells the time that it took, which no two runs share: the header of a solution, the first words
/// of its report, the end of the tour of a leg, and a walk that was predicted. What stands between two tags or on a line, or a sentence that
/// begins so, is left out of the comparison.
const CLOCK_TIMES: [&str; 5] =
    ["solver_duration=", " iterations in ", "µs on this machine", "found in   ", "Soleus found it in "];

/// No time that is left out takes more bytes; more would be a result that nobody compares.
const LONGEST_TIME: usize = 120;

/// A file without the times of a clock.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(bytes) else { return bytes.to_vec() };
    let text = text.replace(" Soleus found it", "\nSoleus found it");
    let is_time = |part: &&str| CLOCK_TIMES.iter().any(|word| part.contains(word));
    let kept: String = text.split_inclusive(['\n', '<']).filter(|p| !is_time(p)).collect();
    assert!(text.len() - kept.len() < LONGEST_TIME, "{} bytes are not compared", text.len() - kept.len());
    kept.into_bytes()
}

/// Where two files differ first, with what is around it.
fn difference(a: &[u8], b: &[u8]) -> String {
    let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let around = |bytes: &[u8]| {
        let (from, to) = (at.saturating_sub(60).min(bytes.len()), (at + 60).min(bytes.len()));
        String::from_utf8_lossy(&bytes[from..to]).into_owned()
    };
    format!("byte {at} of {} and {}:\n{}\n{}", a.len(), b.len(), around(a), around(b))
}

/// Runs both and compares.
fn check(test: &str, cases: Vec<Case>) {
    for (i, case) in cases.iter().enumerate() {
        let (folder, command) = (Folder::new(&format!("library_{test}_{i}")), case.command);
        let mut memory = Memory::new();
        for (name, bytes) in &case.files {
            std::fs::create_dir_all(folder.0.join(name).parent().unwrap()).unwrap();
            folder.file(name, bytes);
            memory = memory.with(name, bytes.clone());
        }
        let run = folder.soleus(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, Some(case.code), "{command}: {}", run.stderr);

        // As the door does it: what there is is written, then comes the verdict.
        let clock = Clock(Instant::now());
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cx = Context::new(&memory).with_monitor(&clock).with_threads(cores);
        let done = (case.request)(&cx).and_then(|outcome| {
            outcome.write(&cx)?;
            outcome.verdict()
        });
        let code = match &done {
            Ok(()) => 0,
            Err(e) if e.kind() == ErrorKind::NotSolved => 1,
            Err(_) => 2,
        };
        assert_eq!(code, case.code, "{command}: {done:?}");
        if let Err(e) = &done {
            let words = e.to_string();
            let said = printable(&words);
            assert!(run.stderr.contains(&*said), "{command}: {said}\nis not in\n{}", run.stderr);
        }

        let (disk, memory) = (on_disk(&folder.0, &run), in_memory(&memory));
        let names = |found: &Found| found.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&disk), names(&memory), "{command}: names on disk and in memory");
        // An error before there is a result writes nothing; any other case must have something to compare.
        assert!(disk.len() > case.files.len() || case.code == 2, "{command}: nothing was written");
        // A pipeline that was made of flags has absolute names.
        let root = format!("{}/", folder.0.display());
        for (name, bytes) in &disk {
            let bytes = match std::str::from_utf8(bytes) {
                Ok(text) => text.replace(&root, "/").into_bytes(),
                Err(_) => bytes.clone(),
            };
            let (a, b) = (without_times(&bytes), without_times(&memory[name]));
            assert!(a == b, "{command}: {} differs at {}", name.display(), difference(&a, &b));
        }
    }
}

/// Verbs about a model.
fn models() -> Vec<Case> {
    vec![
        Case::new([leg()], "info leg.osim --json", |cx| {
            any(FileInfo { file: "leg.osim".into(), output: Some("-".into()), as_json: true }.run(cx))
        }),
        Case::new([step()], "info step.mot", |cx| {
            any(FileInfo { file: "step.mot".into(), output: Some("-".into()), as_json: false }.run(cx))
        }),
        Case::new(
            [leg(), states()],
            "eval leg.osim --states states.json --equilibrate --out values.json",
            |cx| {
                let request = Evaluate {
                    model: "leg.osim".into(),
                    states: "states.json".into(),
                    equilibrate: true,
                    output: Some("values.json".into()),
                    ..Evaluate::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([leg()], "equilibrium leg.osim --excitation 0.1 --out rest.sto", |cx| {
            let request = Equilibrium {
                model: "leg.osim".into(),
                excitation: Some(0.1),
                output: Some("rest.sto".into()),
                ..Equilibrium::default()
            };
            any(request.run(cx))
        }),
        Case::new(
            [leg(), states()],
            "jacobian leg.osim --states states.json --parameters /bodyset/*/mass --out j.json --plot j.svg",
            |cx| {
                let request = Jacobians {
                    model: "leg.osim".into(),
                    states: "states.json".into(),
                    parameters: vec!["/bodyset/*/mass".into()],
                    output: Some("j.json".into()),
                    picture: Some("j.svg".into()),
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [leg()],
            "simulate leg.osim --excitation 0.1 --duration 0.02 --outputs muscles --out out",
            |cx| {
                let request = Simulation {
                    model: "leg.osim".into(),
                    excitation: Some(0.1),
                    duration: 0.02,
                    outputs: vec!["muscles".into()],
                    output: SimulationOutput { folder: Some("out".into()), name: None },
                    ..Simulation::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [reach(), controls()],
            "simulate reach.osim --controls controls.sto --duration 0.1 --interval 0.01 --out out",
            |cx| {
                let request = Simulation {
                    model: "reach.osim".into(),
                    controls: Some("controls.sto".into()),
                    duration: 0.1,
                    interval: Some(0.01),
                    output: SimulationOutput { folder: Some("out".into()), name: None },
                    ..Simulation::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [leg(), pose()],
            "fit-paths leg.osim --motion pose.mot --margin-deg 2 --max-order 3 --out fitted.osim",
            |cx| {
                let request = FitPaths {
                    model: "leg.osim".into(),
                    coordinates: Some("pose.mot".into()),
                    margin: 2f64.to_radians(),
                    max_order: 3,
                    output: Some("fitted.osim".into()),
                    ..FitPaths::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([plate()], "generate plate.osim --out plate.c", |cx| {
            let (model, output) = ("plate.osim".into(), Some("plate.c".into()));
            any(Generate { model, output, ..Generate::default() }.run(cx))
        }),
        Case::new([old()], "upgrade old.osim --out new.osim", |cx| {
            any(Upgrade { file: "old.osim".into(), output: Some("new.osim".into()) }.run(cx))
        }),
        Case::new([], "demo --leg", |cx| any(LegTour.run(cx))),
        Case::new([], "demo --out walk.html --picture walk.svg", |cx| {
            let request = PredictWalk {
                page: Some("walk.html".into()),
                picture: Some("walk.svg".into()),
                ..PredictWalk::default()
            };
            let found = request.run(cx)?;
            let lines = found.lines();
            Ok(Box::new(Printed(found, lines)))
        }),
        Case::new([walker(), parts()], "add gait.osim --file parts.toml --out exo.osim", |cx| {
            let (file, output) = (Some("parts.toml".into()), Some("exo.osim".into()));
            any(Add { model: "gait.osim".into(), file, output, ..Add::default() }.run(cx))
        }),
    ]
}

/// Verbs about tables and motions.
fn tables() -> Vec<Case> {
    vec![
        Case::new(
            [walk()],
            "convert walk.sto walk.trc --rotate x:-90 --from-units m --units mm --cutoff-hz 6",
            |cx| {
                let request = Convert {
                    input: "walk.sto".into(),
                    output: Some("walk.trc".into()),
                    rotate: vec![Turn { axis: Axis::X, deg: -90.0 }],
                    from_units: Some("m".into()),
                    units: Some("mm".into()),
                    lowpass_hz: Some(6.0),
                    ..Convert::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([step()], "convert step.mot step.parquet --rate 100", |cx| {
            let request = Convert {
                input: "step.mot".into(),
                output: Some("step.parquet".into()),
                rate: Some(100.0),
                ..Convert::default()
            };
            any(request.run(cx))
        }),
        Case::new([step()], "plot step.mot --columns *_angle --out step.svg", |cx| {
            let request = PlotTable {
                table: "step.mot".into(),
                columns: vec!["*_angle".into()],
                output: Some("step.svg".into()),
                ..PlotTable::default()
            };
            any(request.run(cx))
        }),
        Case::new([step()], "plot step.mot --columns toe_angle --out step.svg", |cx| {
            let columns = vec!["toe_angle".into()];
            any(PlotTable { table: "step.mot".into(), columns, ..PlotTable::default() }.run(cx))
        })
        .exits(2),
        Case::new(lab(), "gait walk.trc --loads walk_grf.mot --curves walk_truth.sto --out gait", |cx| {
            let trial = GaitTrial {
                markers: "walk.trc".into(),
                loads: Some("walk_grf.mot".into()),
                curves: vec!["walk_truth.sto".into()],
                ..GaitTrial::default()
            };
            any(Gait { trials: vec![trial], output: Some("gait".into()), ..Gait::default() }.run(cx))
        }),
        Case::new(
            lab(),
            "loads --model gait.osim --motion walk_truth.sto --loads walk_grf.mot --out loads.xml",
            |cx| {
                let request = AssignLoads {
                    model: "gait.osim".into(),
                    motion: "walk_truth.sto".into(),
                    loads: "walk_grf.mot".into(),
                    output: Some("loads.xml".into()),
                };
                any(request.run(cx))
            },
        ),
        // Neither a heel nor a plate is in these tables.
        Case::new([walk()], "gait walk.sto --out gait", |cx| {
            let trials = vec![GaitTrial { markers: "walk.sto".into(), ..GaitTrial::default() }];
            any(Gait { trials, output: Some("gait".into()), ..Gait::default() }.run(cx))
        })
        .exits(2),
        Case::new(
            [leg(), step()],
            "loads --model leg.osim --motion step.mot --loads step.mot --out l.xml",
            |cx| {
                let request = AssignLoads {
                    model: "leg.osim".into(),
                    motion: "step.mot".into(),
                    loads: "step.mot".into(),
                    output: Some("l.xml".into()),
                };
                any(request.run(cx))
            },
        )
        .exits(2),
        Case::new(
            [leg(), step()],
            "synthesize --model leg.osim --motion step.mot --noise-mm 1 --out lab",
            |cx| {
                let request = Synthesize {
                    model: "leg.osim".into(),
                    motion: "step.mot".into(),
                    noise_mm: 1.0,
                    output: Some("lab".into()),
                    ..Synthesize::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([step()], "plot step.mot --out step.png", |cx| {
            let output = Some("step.png".into());
            any(PlotTable { table: "step.mot".into(), output, ..PlotTable::default() }.run(cx))
        }),
        Case::new(
            [leg(), step()],
            "view leg.osim step.mot --out leg.html --picture leg.png --time 0.1 --wraps",
            |cx| {
                let request = View {
                    model: "leg.osim".into(),
                    motion: Some("step.mot".into()),
                    page: Some("leg.html".into()),
                    picture: Some("leg.png".into()),
                    time: Some(0.1),
                    wraps: true,
                    ..View::default()
                };
                any(request.run(cx))
            },
        ),
    ]
}

fn with_push(files: impl IntoIterator<Item = File>) -> Vec<File> {
    files.into_iter().chain(push()).collect()
}

fn with_sensors(files: impl IntoIterator<Item = File>) -> Vec<File> {
    files.into_iter().chain(sensors()).collect()
}

/// From markers and sensors to joint loads.
fn motion_capture() -> Vec<Case> {
    vec![
        Case::new(
            [plate(), still(), pairs(), tasks()],
            "scale --model plate.osim --static static.sto --measurements pairs.xml --tasks tasks.xml --mass 15 --from 0 --to 0.05 \
             --out large.osim --pose pose.mot --factors-out factors.xml",
            |cx| {
                let request = Scaling {
                    model: "plate.osim".into(),
                    name: "large".into(),
                    mass: Some(15.0),
                    factors: Some(FactorSettings {
                        markers: Some("static.sto".into()),
                        measurement_file: Some("pairs.xml".into()),
                        from: Some(0.0),
                        to: Some(0.05),
                        ..FactorSettings::default()
                    }),
                    placing: Some(PlacingSettings {
                        markers: "static.sto".into(),
                        task_file: Some("tasks.xml".into()),
                        from: Some(0.0),
                        to: Some(0.05),
                        ..PlacingSettings::default()
                    }),
                    output: ScalingOutput {
                        factors: Some("factors.xml".into()),
                        model: Some("large.osim".into()),
                        pose: Some("pose.mot".into()),
                        ..ScalingOutput::default()
                    },
                    ..Scaling::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [plate(), walk(), tasks()],
            "ik --model plate.osim --markers walk.sto --tasks tasks.xml --chunks 3 --out walk.mot --errors errors.sto",
            |cx| {
                let request = InverseKinematics {
                    task_file: Some("tasks.xml".into()),
                    chunks: 3,
                    output: KinematicsOutput {
                        motion: Some("walk.mot".into()),
                        errors: Some("errors.sto".into()),
                        ..KinematicsOutput::default()
                    },
                    ..markers()
                };
                any(request.run(cx))
            },
        ),
        Case::new([plate(), walk()], "ik --model plate.osim --markers walk.sto --stream", |cx| {
            let mut lines = Vec::new();
            any(markers().stream(cx, None, &mut lines).map(|()| Streamed(lines)))
        }),
        Case::new(
            with_sensors([calibrated()]),
            "ik --model calibrated.osim --orientations motion.sto --sensor-to-ground-deg=-63,11.5,17 --out leg.mot --errors errors.sto",
            |cx| {
                let request = SensorKinematics {
                    output: KinematicsOutput {
                        motion: Some("leg.mot".into()),
                        errors: Some("errors.sto".into()),
                        ..KinematicsOutput::default()
                    },
                    ..orientations()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            with_sensors([calibrated()]),
            "ik --model calibrated.osim --orientations motion.sto --sensor-to-ground-deg=-63,11.5,17 --stream",
            |cx| {
                let mut lines = Vec::new();
                any(orientations().stream(cx, None, &mut lines).map(|()| Streamed(lines)))
            },
        ),
        Case::new(
            with_push([plate(), plate_motion()]),
            "id --model plate.osim --motion plate.mot --loads loads.xml --cutoff-hz 6 --from 0.1 --to 0.4 --out id.sto",
            |cx| {
                let request = InverseDynamics {
                    model: "plate.osim".into(),
                    motion: "plate.mot".into(),
                    loads: Some("loads.xml".into()),
                    cutoff_hz: Some(6.0),
                    from: Some(0.1),
                    to: Some(0.4),
                    output: Some("id.sto".into()),
                    ..InverseDynamics::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [leg(), step()],
            "so --model leg.osim --motion step.mot --reserves 100 --every 2 --out out",
            |cx| {
                let request = StaticOptimization {
                    model: "leg.osim".into(),
                    motion: "step.mot".into(),
                    reserves: vec![100.0],
                    every: 2,
                    output: AnalysisOutput { folder: Some("out".into()), name: None },
                    ..StaticOptimization::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [leg(), step()],
            "cmc --model leg.osim --motion step.mot --reserves 100 --window 0.02 --smoothness 0.1 --out out",
            |cx| {
                let tracking = Tracking {
                    model: "leg.osim".into(),
                    motion: "step.mot".into(),
                    reserves: vec![100.0],
                    output: SimulationOutput { folder: Some("out".into()), name: None },
                    ..Tracking::default()
                };
                let request = ComputedMuscleControl {
                    tracking,
                    window: 0.02,
                    smoothness: 0.1,
                    ..ComputedMuscleControl::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            stand(),
            "rea --model stand.osim --motion sway.sto --loads stand.xml --out still.mot",
            |cx| {
                let request = ResidualElimination {
                    model: "stand.osim".into(),
                    motion: "sway.sto".into(),
                    loads: Some("stand.xml".into()),
                    output: Some("still.mot".into()),
                    ..ResidualElimination::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            stand(),
            "reconcile --model stand.osim --motion sway.sto --loads stand.xml --out still.mot --model-out new.osim --loads-out new.xml",
            |cx| {
                let request = Reconcile {
                    model: "stand.osim".into(),
                    motion: Some("sway.sto".into()),
                    loads: Some("stand.xml".into()),
                    output: Some("still.mot".into()),
                    model_output: Some("new.osim".into()),
                    loads_output: Some("new.xml".into()),
                    ..Reconcile::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([reach(), swing()], "rra --model reach.osim --motion swing.sto --to 0.3 --out out", |cx| {
            let tracking = Tracking {
                model: "reach.osim".into(),
                motion: "swing.sto".into(),
                to: Some(0.3),
                output: SimulationOutput { folder: Some("out".into()), name: None },
                ..Tracking::default()
            };
            any(ResidualReduction { tracking, ..ResidualReduction::default() }.run(cx))
        }),
        // The elbow would need more than twice the moment that it has.
        Case::new([reach(), throw()], "so --model reach.osim --motion throw.sto --every 2 --out out", |cx| {
            let request = StaticOptimization {
                model: "reach.osim".into(),
                motion: "throw.sto".into(),
                every: 2,
                output: AnalysisOutput { folder: Some("out".into()), name: None },
                ..StaticOptimization::default()
            };
            any(request.run(cx))
        })
        .exits(1),
        Case::new(
            [leg(), step()],
            "analyze --model leg.osim --motion step.mot --equilibrate --in-frame child --out out --analyses \
             kinematics,body,muscle,joint-reaction,joint-power,forces,actuation,induced,states",
            |cx| {
                let names = [
                    "kinematics",
                    "body",
                    "muscle",
                    "joint-reaction",
                    "joint-power",
                    "forces",
                    "actuation",
                    "induced",
                    "states",
                ];
                let mut analyses: Vec<_> = names.iter().map(|n| standard(n).unwrap()).collect();
                for a in &mut analyses {
                    if let AnalysisKind::JointReaction { on_bodies, in_frames, .. } = &mut a.kind {
                        (*on_bodies, *in_frames) = (vec!["child".into()], vec!["child".into()]);
                    }
                }
                let request = Analyze {
                    model: "leg.osim".into(),
                    motion: "step.mot".into(),
                    equilibrate: true,
                    analyses,
                    output: AnalysisOutput { folder: Some("out".into()), name: None },
                    ..Analyze::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(with_push([plate(), walk(), pipeline()]), "pipeline walking.toml", |cx| {
            any(Pipeline::of_file("walking.toml").run(cx))
        }),
        Case::new(
            lab(),
            "pipeline --model gait.osim --markers walk.trc --loads walk_grf.mot --cutoff-hz 8 --no-muscles --out .",
            |cx| {
                let trial = RecordedTrial { markers: "walk.trc".into(), loads: Some("walk_grf.mot".into()) };
                let recorded = FromTrials {
                    model: "gait.osim".into(),
                    trials: vec![trial],
                    cutoff_hz: 8.0,
                    muscles: false,
                    output: ".".into(),
                    ..FromTrials::default()
                };
                any(Pipeline::of_file(recorded.write(cx)?).run(cx))
            },
        ),
    ]
}

fn markers() -> InverseKinematics {
    InverseKinematics {
        model: "plate.osim".into(),
        markers: "walk.sto".into(),
        ..InverseKinematics::default()
    }
}

fn orientations() -> SensorKinematics {
    SensorKinematics {
        model: "calibrated.osim".into(),
        orientations: "motion.sto".into(),
        sensor_to_ground: [-63f64, 11.5, 17.0].map(f64::to_radians),
        ..SensorKinematics::default()
    }
}

/// What the command asks for beside what its flags say.
fn kept() -> SolveOptions {
    SolveOptions { save_iterates: true, ..SolveOptions::default() }
}

fn arm() -> Trial {
    let changes = ModelChanges { reserves: vec![10.0], ..ModelChanges::default() };
    Trial { model: "reach.osim".into(), changes, mesh_interval: Some(0.1), ..Trial::default() }
}

/// Optimal control.
fn optimal_control() -> Vec<Case> {
    vec![
        Case::new([reach(), study()], "solve reach.toml --out a.sto --report a.html --simulate", |cx| {
            let options = SolveOptions {
                solution: Some("a.sto".into()),
                report: Some("a.html".into()),
                simulate: true,
                ..kept()
            };
            any(Solve { study: "reach.toml".into(), options, ..Solve::default() }.run(cx))
        }),
        // Not solved: the iterate stays, to go on from.
        Case::new(
            [walker()],
            "predict gait.osim --study-only --out p --speed 1.1 --slope -3 --effort activations",
            |cx| {
                let request = Predict {
                    model: "gait.osim".into(),
                    speed: Some(1.1),
                    slope_deg: -3.0,
                    effort: vec!["activations".into()],
                    output: "p".into(),
                    study_only: true,
                    ..Predict::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new(
            [walker(), parts()],
            "predict gait.osim --device parts.toml --study-only --out p/q --whole",
            |cx| {
                let request = Predict {
                    model: "gait.osim".into(),
                    device: Some("parts.toml".into()),
                    whole: true,
                    output: "p/q".into(),
                    study_only: true,
                    ..Predict::default()
                };
                any(request.run(cx))
            },
        ),
        Case::new([reach(), study()], "solve reach.toml --max-iterations 2", |cx| {
            let options = SolveOptions { max_iterations: Some(2), ..kept() };
            any(Solve { study: "reach.toml".into(), options, ..Solve::default() }.run(cx))
        })
        .exits(1),
        Case::new(
            [reach(), swing()],
            "inverse reach.osim --motion swing.sto --mesh-interval 0.1 --reserves 10 --report a.html",
            |cx| {
                let options = SolveOptions { report: Some("a.html".into()), ..kept() };
                let kinematics = "swing.sto".into();
                any(Inverse { trial: arm(), kinematics, options, ..Inverse::default() }.run(cx))
            },
        ),
        Case::new(
            [reach(), swing()],
            "track reach.osim --motion swing.sto --derivatives --start-from-reference --mesh-interval 0.1 --reserves 10 --out a.sto",
            |cx| {
                let request = Track {
                    trial: arm(),
                    states: Some("swing.sto".into()),
                    derivatives: true,
                    start_from_reference: true,
                    options: SolveOptions { solution: Some("a.sto".into()), ..kept() },
                    ..Track::default()
                };
                any(request.run(cx))
            },
        ),
    ]
}

/// Setup files of OpenSim's tools: one of each class, and one that is not solved.
fn setup_files() -> Vec<Case> {
    macro_rules! run {
        ($file:literal, $files:expr) => {
            Case::new($files, concat!("run ", $file), |cx| {
                SetupFile { save_iterates: true, ..SetupFile::new($file) }.run(cx)
            })
        };
    }
    vec![
        run!("setups/scale.xml", [scale_setup(), plate(), still()]),
        run!("setups/ik.xml", [ik_setup(), plate(), walk()]),
        run!("setups/id.xml", with_push([id_setup(), plate(), plate_motion()])),
        run!("placer.xml", with_sensors([placer_setup(), leg()])),
        run!("ik.xml", with_sensors([imu_ik_setup(), calibrated()])),
        run!("setups/analyze.xml", [analyze_setup(), leg(), step()]),
        run!("setups/forward.xml", [forward_setup(), reach()]),
        run!("setups/cmc.xml", [cmc_setup(), follow(), reach(), swing()]),
        run!("setups/rra.xml", [rra_setup(), follow(), reach(), swing()]),
        run!("setups/study.omoco", [study_setup(), reach()]),
        run!("setups/short.omoco", [short_study_setup(), reach()]).exits(1),
        run!("setups/inverse.xml", [inverse_setup(), reach(), swing()]),
        run!("setups/track.xml", [track_setup(), reach(), swing()]),
    ]
}

#[test]
fn identity_verbs_about_models_write_what_the_library_writes() {
    check("models", models());
}

#[test]
fn identity_verbs_about_tables_write_what_the_library_writes() {
    check("tables", tables());
}

#[test]
fn identity_verbs_of_motion_capture_write_what_the_library_writes() {
    check("motion_capture", motion_capture());
}

#[test]
fn identity_verbs_of_optimal_control_write_what_the_library_writes() {
    check("optimal_control", optimal_control());
}

#[test]
fn identity_setup_files_write_what_the_library_writes() {
    check("setup_files", setup_files());
}

/// Sizes fitted to all markers of a static trial, whoever asks. Python scaled nothing.
#[test]
fn identity_all_doors_scale_alike() {
    let folder = Folder::new("library_scale");
    for (name, bytes) in [plate(), still(), walk()] {
        folder.file(name, bytes);
    }
    let trial = "[[trials]]\nname = \"walk\"\nmarkers = \"walk.sto\"\n";
    let scale = "[scale]\nmodel = \"plate.osim\"\nmarkers = \"static.sto\"\n";
    folder.file("scale.toml", format!("out = \"p\"\n{scale}{trial}"));
    folder.soleus(&["pipeline", "scale.toml"]).is_done();
    let command = "scale --model plate.osim --static static.sto --out c.osim --factors-out c.xml";
    folder.soleus(&command.split(' ').collect::<Vec<_>>()).is_done();
    let at = |name: &str| folder.0.join(name);
    // What `model.scale("static.sto", name="c")` sends.
    let request: Scaling = serde_json::from_value(serde_json::json!({
        "model": at("plate.osim"), "name": "c", "mass": null, "height": null, "map": [],
        "factors": { "markers": at("static.sto"), "from": null, "to": null, "preserve_mass_distribution": false },
        "placing": { "markers": at("static.sto"), "task_file": null, "from": null, "to": null },
        "output": { "model": at("j.osim"), "factors": at("j.xml") },
    }))
    .unwrap();
    let files = soleus::Disk::new();
    let cx = Context::new(&files);
    request.run(&cx).unwrap().write(&cx).unwrap();

    let text = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    assert_eq!(text("c.osim"), text("j.osim"));
    assert_eq!(text("c.xml"), text("j.xml"));
    // The pipeline keeps the name of the model; the numbers are the same.
    let scales = |name: &str| {
        let numbers = text(name).lines().filter(|l| l.contains("<scales>")).collect::<String>();
        assert!(numbers.contains("1.1") || numbers.contains("1.2"), "{numbers}");
        numbers
    };
    assert_eq!(scales("c.xml"), scales("p/scale_factors.xml"));
}

/// Weak residuals in place of the model's own force, whoever asks: flags, JSON (Python and Studio), a pipeline. Python kept the muscles once
/// residuals were given.
#[test]
fn identity_all_doors_replace_the_same_forces() {
    let folder = Folder::new("library_rra");
    for (name, bytes) in with_push([driven_plate(), walk()]) {
        folder.file(name, bytes);
    }
    folder.file(
        "rra.toml",
        "model = \"driven.osim\"\nout = \"p\"\n[rra]\nresiduals = [4, 8]\n\
         [[trials]]\nname = \"walk\"\nmarkers = \"walk.sto\"\nloads = \"loads.xml\"\n",
    );
    folder.soleus(&["pipeline", "rra.toml"]).is_done();
    let motion = "p/walk/ik.mot";
    let command =
        format!("rra --model driven.osim --motion {motion} --loads loads.xml --residuals 4,8 --out c");
    folder.soleus(&command.split(' ').collect::<Vec<_>>()).is_done();
    let at = |name: &str| folder.0.join(name);
    let request: ResidualReduction = serde_json::from_value(serde_json::json!({
        "tracking": {
            "model": at("driven.osim"), "motion": at(motion), "loads": at("loads.xml"), "residuals": [4.0, 8.0],
            "output": { "folder": at("j") },
        }
    }))
    .unwrap();
    let files = soleus::Disk::new();
    let cx = Context::new(&files);
    request.run(&cx).unwrap().write(&cx).unwrap();

    let controls = |name: &str| table(&at(name));
    let flags = controls("c/ik_controls.sto");
    assert_eq!(flags.labels().len(), 3, "a residual for each coordinate and no other: {:?}", flags.labels());
    for other in [controls("j/ik_controls.sto"), controls("p/walk/rra/walk_controls.sto")] {
        assert_eq!((flags.labels(), flags.columns()), (other.labels(), other.columns()));
    }
}

/// Verbs without a request: `experiment` starts another program; the others are about the command itself.
const OF_THE_COMMAND: [&str; 5] = ["completions", "experiment", "help", "man", "studio"];

/// A new verb has a case above, or a reason not to.
#[test]
fn identity_every_verb_is_compared() {
    let folder = Folder::new("library_verbs");
    let help = folder.soleus(&["--help"]);
    // Verbs stand in groups, with two blanks before each; the options come last.
    let list = help.is_done().lines().take_while(|l| *l != "Options:").filter(|l| l.starts_with("  "));
    let verbs: BTreeSet<&str> = list.filter_map(|l| l.split_whitespace().next()).collect();
    let cases = [models(), tables(), motion_capture(), optimal_control(), setup_files()];
    // A refusal compares nothing but words.
    let done = cases.iter().flatten().filter(|c| c.code == 0);
    let known: BTreeSet<&str> = done.map(Case::verb).chain(OF_THE_COMMAND).collect();
    assert_eq!(verbs, known);
}

/// A new class of setup file has a case above: the classes are those that the command names when it is given another.
#[test]
fn identity_every_class_of_setup_file_is_compared() {
    let folder = Folder::new("library_classes");
    folder.file("other.xml", "<OpenSimDocument Version=\"40600\"><Other/></OpenSimDocument>");
    let refused = folder.soleus(&["run", "other.xml"]);
    let list = refused.stderr.split("supported tools: ").nth(1).and_then(|l| l.lines().next()).unwrap();
    let classes: BTreeSet<String> = list.split(", ").map(str::to_string).collect();
    let class = |case: &Case| {
        let (_, bytes) = &case.files[0];
        let text = String::from_utf8(bytes.clone()).unwrap();
        let object = text.split("<OpenSimDocument").nth(1).and_then(|t| t.split('<').nth(1)).unwrap();
        object.split([' ', '>']).next().unwrap().to_string()
    };
    assert_eq!(classes, setup_files().iter().map(class).collect());
}
