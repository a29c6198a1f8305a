//! Static optimization beside OpenSim 4.6 on the motions of its own examples.
//!
//! The recorded results are not part of this repository; without them the test says so and passes.

use soleus_dynamics::{Options, System};
use soleus_io::osim;
use soleus_math::Table;
use soleus_model::{Diagnostics, Document, Model};
use soleus_tools::analysis::{MotionSettings, StateHistory};
use soleus_tools::external_forces;
use soleus_tools::static_optimization::{LoadSharing, Settings};
use std::path::{Path, PathBuf};

struct Case {
    pipeline: &'static str,
    model: &'static str,
    reserves: Option<&'static str>,
    motion: &'static str,
    loads: Option<&'static str>,
    cutoff_hz: Option<f64>,
    recorded: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        pipeline: "Gait10dof18musc",
        model: "subject01.osim",
        reserves: Some("gait10dof_Reserve_Actuators.xml"),
        motion: "RRA/Results/subject_adjusted_Kinematics_q.sto",
        loads: Some("ExperimentalData/subject01_walk_grf.xml"),
        cutoff_hz: None,
        recorded: "Analyze/ResultsSO/walk_subject_StaticOptimization_activation.sto",
    },
    Case {
        pipeline: "Gait2354_Simbody",
        model: "subject01_simbody_adjusted.osim",
        reserves: Some("gait2354_CMC_Actuators.xml"),
        motion: "ResultsRRA/subject01_walk1_RRA_Kinematics_q.sto",
        loads: Some("subject01_walk1_grf.xml"),
        cutoff_hz: None,
        recorded: "ResultsSO/subject01_walk1_StaticOptimization_activation.sto",
    },
    Case {
        pipeline: "Rajagopal_walk",
        model: "CMC/walk/subject_walk_adjusted.osim",
        reserves: Some("CMC/walk/cmc_actuators.xml"),
        motion: "RRA/walk/results_rra_2/rra_walk_2_Kinematics_q.sto",
        loads: Some("ID/grf_walk.xml"),
        cutoff_hz: None,
        recorded: "Analyze_walk/ResultsSO/walk_StaticOptimization_activation.sto",
    },
    Case {
        pipeline: "Arm26",
        model: "arm26.osim",
        reserves: None,
        motion: "arm26_InverseKinematics.mot",
        loads: None,
        cutoff_hz: Some(6.0),
        recorded: "ResultsSO/arm26_StaticOptimization_activation.sto",
    },
];

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

/// The model with reserves and measured loads.
fn model(case: &Case, find: &dyn Fn(&str) -> PathBuf) -> Model {
    let mut document_of_model = document(&find(case.model));
    if let Some(file) = case.reserves {
        let members = osim::set_members(&document(&find(file)), "ForceSet").expect("a force set");
        osim::add_to_set(&mut document_of_model, "ForceSet", members);
    }
    let mut log = Diagnostics::default();
    let mut model = soleus_model::build(&document_of_model, &mut log).unwrap_or_else(|| panic!("{log:?}"));
    if let Some(file) = case.loads {
        let path = find(file);
        let loads = soleus_model::build_external_loads(&document(&path), &model, &mut log)
            .unwrap_or_else(|| panic!("{log:?}"));
        let name = loads.datafile.clone().unwrap();
        let beside = path.parent().unwrap().join(&name);
        let data = table(&if beside.exists() { beside } else { find(&name) });
        model.forces.extend(external_forces(&loads, &|_| Some(&data)).unwrap());
    }
    model
}

/// Activations agree, every frame can be met, and at what OpenSim's activations do ours cost no more.
///
/// OpenSim stops at a tolerance of 1e-4 and misses the load by a little; so its cost may be lower than that of the exact
/// load, but not than the least cost of what it does.
#[test]
fn opensim_val_static_optimization_is_never_dearer() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/pipelines"));
    if !root.is_dir() {
        println!("skipped: ../shared not found");
        return;
    }
    for case in &CASES {
        let find = |name: &str| {
            let made = root.join(case.pipeline).join("reference").join(name);
            if made.exists() { made } else { root.join(case.pipeline).join("input").join(name) }
        };
        let model = model(case, &find);
        let system = System::compile_with(&model, &Options { opensim_faults: true }).unwrap();
        let motion = MotionSettings { cutoff_hz: case.cutoff_hz, opensim_faults: true };
        let history =
            StateHistory::from_coordinates(&model, &system, &table(&find(case.motion)), None, &motion)
                .unwrap();
        let last = history.times().len() - 1;
        let udot = history.accelerations(0..=last).unwrap();
        let settings = Settings { opensim_faults: true, ..Settings::default() };
        let mut sharing = LoadSharing::new(&model, &system, &settings).unwrap();
        let recorded = table(&find(case.recorded));
        let names: Vec<String> = sharing.names().map(str::to_string).collect();
        assert_eq!(recorded.labels(), names);

        let mut x = system.default_state.clone();
        let (mut sum, mut count, mut dearest, mut missed) = (0.0, 0.0, 0.0_f64, 0.0_f64);
        for (k, t) in recorded.times().iter().enumerate() {
            let row = history.times().iter().position(|s| (s - t).abs() < 1e-6).expect("the row");
            history.state(row, &mut x);
            let accelerations: Vec<f64> = udot.iter().map(|column| column[row]).collect();
            let found = sharing.solve(&x, &accelerations).unwrap();
            assert!(found.feasible, "{} at {t} s: {:?}", case.pipeline, sharing.missing());
            let theirs: Vec<f64> = recorded.columns().iter().map(|column| column[k]).collect();
            for (i, a) in sharing.activations().iter().enumerate() {
                // Muscles: reserves have no common scale.
                if (0.0..=1.0).contains(&theirs[i]) {
                    sum += (a - theirs[i]).powi(2);
                    count += 1.0;
                }
            }
            let cost: f64 = theirs.iter().map(|a| a * a).sum();
            let (like, miss) = sharing.solve_like(&theirs).unwrap();
            assert!(like.feasible);
            dearest = dearest.max(like.cost / cost - 1.0);
            missed = missed.max(miss);
        }
        let rms = f64::sqrt(sum / count);
        println!(
            "{}: {} frames, activations differ by {rms:.2e} RMS; our cost at OpenSim's feasibility at most {dearest:+.1e}; \
             OpenSim misses the load by up to {missed:.1e} N m",
            case.pipeline,
            recorded.rows()
        );
        assert!(rms < 5e-3, "{}: {rms}", case.pipeline);
        // Ten digits of the recorded activations are 1e-10 of the cost.
        assert!(dearest < 1e-9, "{}: dearer by {dearest}", case.pipeline);
    }
}
