//! Inverse kinematics beside OpenSim 4.6, run at tight accuracy on the motions of its own examples.
//!
//! The recorded results are not part of this repository; without them the tests say so and pass.

use crate::common::{pipelines, table};
use soleus_dynamics::System;
use soleus_io::setup::{IkTask, InverseKinematicsSetup, Setup, ValueType};
use soleus_math::Table;
use soleus_model::Model;
use soleus_model::joint::MotionType;
use soleus_testing::reference_test;
use soleus_tools::inverse_kinematics::{
    CoordinateTask, InverseKinematics, MarkerTask, Settings, Target, Tasks, Trial, solve_trial,
};
use std::path::Path;

fn model(path: &Path) -> (Model, System) {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (model, log) = soleus_io::osim::read_model(&bytes, &path.display().to_string());
    let model = model.unwrap_or_else(|| panic!("{log:?}"));
    let system = System::compile(&model).expect("a system");
    (model, system)
}

fn setup(path: &Path) -> InverseKinematicsSetup {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (document, mut log) = soleus_io::osim::read_document(&bytes, "setup.xml");
    match soleus_io::setup::read(&document.expect("a document"), &mut log) {
        Some(Setup::InverseKinematics(s)) => s,
        _ => panic!("{log:?}"),
    }
}

fn tasks(setup: &InverseKinematicsSetup) -> Tasks {
    let mut tasks = Tasks::default();
    for t in &setup.tasks {
        match t {
            IkTask::Marker(m) if m.apply => {
                tasks.markers.push(MarkerTask { name: m.name.clone(), weight: m.weight });
            }
            IkTask::Coordinate(c) if c.apply => {
                let target = match c.value_type {
                    ValueType::Manual => Target::Value(c.value),
                    _ => Target::Default,
                };
                tasks.coordinates.push(CoordinateTask { name: c.name.clone(), weight: c.weight, target });
            }
            _ => {}
        }
    }
    tasks
}

struct Case {
    model: Model,
    system: System,
    markers: Table,
    tasks: Tasks,
    trial: Trial,
}

/// Runs a setup of a pipeline; inputs that an earlier step made come from the recorded results.
fn run(root: &Path, folder: &str, setup_file: &str) -> Case {
    let input = root.join(folder).join("input");
    let setup_path = input.join(setup_file);
    let s = setup(&setup_path);
    let find = |name: &str| {
        let recorded = root.join(folder).join("reference").join(setup_file).parent().unwrap().join(name);
        if recorded.exists() { recorded } else { setup_path.parent().unwrap().join(name) }
    };
    let model_path = find(s.model_file.as_deref().unwrap());
    let (model, system) = model(&model_path);
    let markers = table(&find(s.marker_file.as_deref().unwrap())).in_meters().expect("units");
    let start = std::time::Instant::now();
    let tasks = tasks(&s);
    let trial = solve_trial(&model, &system, &markers, &tasks, Settings::default(), s.time_range).unwrap();
    let wall = start.elapsed().as_secs_f64();
    println!(
        "{setup_file}: {} frames, {} steps, {:.4} s, RMS {:.5} m, not converged {:?}",
        trial.summary.frames, trial.summary.iterations, wall, trial.summary.rms, trial.summary.not_converged
    );
    Case { model, system, markers, tasks, trial }
}

/// By how much the cost of our poses exceeds that of the recorded ones at most, relative to the latter.
fn excess(case: &Case, reference: &Table) -> f64 {
    let Case { model, system, markers, tasks, trial } = case;
    let mut ik = InverseKinematics::new(model, system, markers.labels(), tasks, Settings::default()).unwrap();
    let mut worst = f64::NEG_INFINITY;
    for (i, &t) in trial.coordinates.times().iter().enumerate() {
        let row = markers.times().iter().position(|&x| x == t).unwrap();
        let places: Vec<_> = (0..markers.labels().len()).map(|m| markers.vec3(row, m)).collect();
        let pose = |table: &Table| {
            let mut q = system.default_state.q.clone();
            for (k, c) in model.coordinates.iter().enumerate() {
                let x = table.columns()[k][i];
                let m = system.tree.mobility_of_coordinate[k];
                q[m] = if c.motion_type == MotionType::Rotational { x.to_radians() } else { x };
            }
            q
        };
        let ours = ik.compute_fit(t, &places, &pose(&trial.coordinates)).cost;
        let theirs = ik.compute_fit(t, &places, &pose(reference)).cost;
        worst = worst.max((ours - theirs) / theirs);
    }
    worst
}

/// Largest RMS difference of the angles (deg) and lengths (m) of two tables, leaving out some columns.
fn compare(case: &Case, reference: &Table, left_out: &[&str]) -> (f64, f64) {
    let ours = &case.trial.coordinates;
    assert_eq!(ours.labels(), reference.labels());
    assert_eq!(ours.rows(), reference.rows());
    for (a, b) in ours.times().iter().zip(reference.times()) {
        assert!((a - b).abs() < 1e-8, "time {a} and {b}");
    }
    let (mut angle, mut length): (f64, f64) = (0.0, 0.0);
    for (i, label) in ours.labels().iter().enumerate() {
        let squares: f64 =
            ours.columns()[i].iter().zip(&reference.columns()[i]).map(|(a, b)| (a - b) * (a - b)).sum();
        let rms = (squares / ours.rows() as f64).sqrt();
        let rotates = case.model.coordinates[i].motion_type == MotionType::Rotational;
        if rms > if rotates { 0.002 } else { 1e-5 } {
            println!("  {label}: RMS {rms:.2e}");
        }
        if left_out.contains(&label.as_str()) {
            continue;
        }
        if rotates {
            angle = angle.max(rms);
        } else {
            length = length.max(rms);
        }
    }
    let worse = excess(case, reference);
    println!("  largest excess of the weighted squared error over OpenSim's: {worse:.2e} of it");
    // The recorded angles have 8 decimals.
    assert!(worse < 1e-7);
    println!("  largest RMS difference {angle:.2e} deg, {length:.2e} m");
    (angle, length)
}

/// 0.01° is what the tight runs of OpenSim can be trusted to, see the README beside them.
#[reference_test]
fn opensim_val_gait2354() {
    let root = pipelines();
    let case = run(&root, "Gait2354_Simbody", "subject01_Setup_IK_tight.xml");
    let reference = table(&root.join("Gait2354_Simbody/reference/subject01_walk1_ik_tight.mot"));
    let (angle, length) = compare(&case, &reference, &[]);
    assert!(angle < 0.01 && length < 1e-5);
}

#[reference_test]
fn opensim_val_gait10dof18musc() {
    let root = pipelines();
    let case = run(&root, "Gait10dof18musc", "IK/walk_Setup_IK_tight.xml");
    let reference = table(&root.join("Gait10dof18musc/reference/IK/subject01_walk_IK_tight.mot"));
    let (angle, length) = compare(&case, &reference, &[]);
    assert!(angle < 0.01 && length < 1e-5);
}

#[reference_test]
fn opensim_val_rajagopal_walk() {
    let root = pipelines();
    let case = run(&root, "Rajagopal_walk", "IK/ik_setup_walk_tight.xml");
    let reference = table(&root.join("Rajagopal_walk/reference/IK/results_walk/ik_output_walk_tight.mot"));
    // Forearm rotation lies on its bound of 90°, where the barrier of OpenSim's optimizer stops 0.01° short.
    let (angle, length) = compare(&case, &reference, &["pro_sup_r", "pro_sup_l"]);
    assert!(angle < 0.01 && length < 1e-5);
}

#[reference_test]
fn opensim_val_arm26() {
    let root = pipelines();
    let case = run(&root, "Arm26", "arm26_Setup_InverseKinematics.xml");
    let reference = table(&root.join("Arm26/reference/arm26_InverseKinematics.mot"));
    // Recorded at the default accuracy.
    let (angle, _) = compare(&case, &reference, &[]);
    assert!(angle < 0.05);
}
