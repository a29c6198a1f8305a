//! What a window of computed muscle control costs.
//!
//! usage: cargo run --release -p soleus-tools --example time_windows [SHARED] [RUNS]
//!
//! SHARED is the folder of the reference data (default: ../shared). Tracks a walk of gait2354 (54 muscles) with OpenSim's tasks and
//! actuators in windows of 10 ms, and prints the processor time of a window, the least of some runs, with counts of the simulation and the
//! error of tracking.

use soleus_dynamics::System;
use soleus_io::osim;
use soleus_io::setup::{TrackingTask, read_tracking_tasks};
use soleus_math::Table;
use soleus_model::{Diagnostics, Document, ForceKind, Model};
use soleus_simulation::{ModelControls, StepOptions};
use soleus_tools::analysis::{MotionSettings, StateHistory};
use soleus_tools::external_forces;
use soleus_tools::tracking::{
    Driven, Effort, Followed, InitialStates, Limit, Reference, Settings, Target, Task, Tracker,
};
use std::path::{Path, PathBuf};

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn table(path: &Path) -> Table {
    soleus_io::table::read(&bytes(path), &path.display().to_string()).0.expect("a table")
}

fn document(path: &Path) -> Document {
    let (document, mut log) = osim::read_document(&bytes(path), &path.display().to_string());
    let mut document = document.unwrap_or_else(|| panic!("{log:?}"));
    osim::upgrade(&mut document, &mut log);
    document
}

/// The model with OpenSim's actuators and measured loads.
fn model(find: &dyn Fn(&str) -> PathBuf) -> Model {
    let mut described = document(&find("subject01_simbody_adjusted.osim"));
    let members = osim::set_members(&document(&find("gait2354_CMC_Actuators.xml")), "ForceSet");
    osim::add_to_set(&mut described, "ForceSet", members.expect("a force set"));
    let mut log = Diagnostics::default();
    let mut model = soleus_model::build(&described, &mut log).unwrap_or_else(|| panic!("{log:?}"));
    let loads =
        soleus_model::build_external_loads(&document(&find("subject01_walk1_grf.xml")), &model, &mut log)
            .unwrap_or_else(|| panic!("{log:?}"));
    let data = table(&find("subject01_walk1_grf.mot"));
    model.forces.extend(external_forces(&loads, &|_| Some(&data)).expect("loads"));
    model
}

/// Seconds of this process, of all its threads.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split_whitespace().next().and_then(|x| x.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |x| 1e-9 * x)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let shared = PathBuf::from(arguments.next().unwrap_or_else(|| "../shared".to_string()));
    let runs: usize = arguments.next().and_then(|x| x.parse().ok()).unwrap_or(5);
    let root = shared.join("reference/pipelines/Gait2354_Simbody");
    let find = |name: &str| {
        let made = root.join("reference").join(name);
        if made.exists() { made } else { root.join("input").join(name) }
    };
    let model = model(&find);
    let system = System::compile(&model).expect("a system");
    let motion = table(&find("ResultsRRA/subject01_walk1_RRA_Kinematics_q.sto"));
    let settings = MotionSettings { root_angles: true, ..MotionSettings::default() };
    let history =
        StateHistory::from_coordinates(&model, &system, &motion, None, &settings).expect("a motion");
    let reference = Reference::new(&system, &history).expect("a reference");
    let list = read_tracking_tasks(&bytes(&find("gait2354_CMC_Tasks.xml")), "tasks").0.expect("tasks");
    let task = |t: &TrackingTask| Task {
        followed: Followed::Coordinate(model.coordinate(&t.coordinate).expect("a coordinate").0),
        weight: t.weight,
        kp: t.kp,
        kv: t.kv,
        ka: t.ka,
    };
    let tasks: Vec<Task> = list.iter().filter(|t| t.on).map(task).collect();
    let driven: Vec<Driven> = (0..model.forces.len())
        .filter(|&i| !system.forces[i].controls.is_empty())
        .map(|force| {
            let is_muscle = matches!(model.forces[force].kind, ForceKind::Muscle(_));
            let [min, max] = if is_muscle { [0.02, 1.0] } else { [-1e4, 1e4] };
            Driven { force, min: Limit::Constant(min), max: Limit::Constant(max), use_steps: is_muscle }
        })
        .collect();
    let settings = Settings {
        window: 0.01,
        target: Target::Exact,
        effort: Effort::Strength,
        steps: StepOptions::with_accuracy(1e-5),
        ..Settings::default()
    };
    let (mut least, mut line) = (f64::INFINITY, String::new());
    for _ in 0..runs {
        let base = ModelControls::none(&system);
        let mut tracker =
            Tracker::new((&model, &system), &reference, &tasks, &driven, base, &settings).expect("a tracker");
        tracker.start(0.8, InitialStates::FirstWindow).expect("initial states");
        let begin = processor_seconds();
        while tracker.time() < 1.2 - 1e-9 {
            tracker.advance(1.2).expect("a window");
        }
        let n = tracker.windows().len() as f64;
        least = least.min((processor_seconds() - begin) / n);
        let s = tracker.statistics();
        let errors: Vec<f64> = tracker.windows().iter().flat_map(|w| &w.errors).copied().collect();
        let rms = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
        line = format!(
            "{n} windows of {} muscles; a window takes {:.1} steps, {} failed in all, {:.1} evaluations; errors {rms:.6e} RMS",
            driven.iter().filter(|d| d.use_steps).count(),
            s.steps as f64 / n,
            s.failed,
            s.evaluations as f64 / n,
        );
    }
    println!("{:.3} ms a window\n{line}", 1e3 * least);
}
