//! Inverse dynamics beside OpenSim 4.6 on the motions of its own examples.
//!
//! The recorded results are not part of this repository; without them the tests say so and pass.

use crate::common::{bytes, pipelines, table};
use soleus_io::setup::{InverseDynamicsSetup, Setup};
use soleus_math::Table;
use soleus_math::norm::largest;
use soleus_model::{Diagnostics, Model};
use soleus_testing::reference_test;
use soleus_tools::external_forces;
use soleus_tools::inverse_dynamics::{Settings, inverse_dynamics};
use std::path::Path;

fn model(path: &Path) -> Model {
    let (model, log) = soleus_io::osim::read_model(&bytes(path), &path.display().to_string());
    model.unwrap_or_else(|| panic!("{log:?}"))
}

fn setup(path: &Path) -> InverseDynamicsSetup {
    let (document, mut log) = soleus_io::osim::read_document(&bytes(path), "setup.xml");
    match soleus_io::setup::read(&document.expect("a document"), &mut log) {
        Some(Setup::InverseDynamics(s)) => s,
        _ => panic!("{log:?}"),
    }
}

/// Runs a setup; inputs that an earlier step made come from the recorded results. Returns the largest difference from the
/// recorded table, relative to the peak of the column (at least 1 N or N·m).
fn check(folder: &str, setup_file: &str, opensim_faults: bool) -> f64 {
    let root = pipelines();
    let input = root.join(folder).join("input").join(setup_file);
    let recorded = root.join(folder).join("reference").join(setup_file);
    let (input, recorded) = (input.parent().unwrap().to_path_buf(), recorded.parent().unwrap().to_path_buf());
    let find = |name: &str| {
        let made = recorded.join(name);
        if made.exists() { made } else { input.join(name) }
    };
    let s = setup(&input.join(Path::new(setup_file).file_name().unwrap()));
    let model = model(&find(s.model_file.as_deref().unwrap()));
    let coordinates = table(&find(s.coordinates_file.as_deref().unwrap()));
    let mut forces = Vec::new();
    if let Some(file) = &s.external_loads_file {
        let path = find(file);
        let (document, _) = soleus_io::osim::read_document(&bytes(&path), "loads.xml");
        let mut log = Diagnostics::default();
        let mut document = document.unwrap();
        soleus_io::osim::upgrade(&mut document, &mut log);
        let loads = soleus_model::build_external_loads(&document, &model, &mut log)
            .unwrap_or_else(|| panic!("{log:?}"));
        let name = loads.datafile.clone().unwrap();
        let beside = input.join(&name);
        let data = table(&if beside.exists() { beside } else { path.parent().unwrap().join(&name) });
        forces = external_forces(&loads, &|_| Some(&data)).unwrap();
    }
    let cutoff = s.lowpass_cutoff_frequency_for_coordinates;
    let settings = Settings {
        cutoff_hz: (cutoff >= 0.0).then_some(cutoff),
        range: s.time_range,
        excluded: s.forces_to_exclude.clone(),
        joints: s.joints_to_report_body_forces.clone(),
        opensim_faults,
        root_angles: true,
    };
    let start = std::time::Instant::now();
    let found = inverse_dynamics(model, forces, &coordinates, &settings).unwrap();
    println!(
        "{folder}: {} frames in {:.4} s",
        found.generalized_forces.rows(),
        start.elapsed().as_secs_f64()
    );
    let results = recorded.join(&s.results_directory);
    let mut worst =
        differ(&found.generalized_forces, &table(&results.join(&s.output_gen_force_file)), opensim_faults);
    if let Some(joints) = &found.joint_loads {
        let joints = differ(joints, &table(&results.join(&s.output_body_forces_file)), opensim_faults);
        worst = largest([worst, joints]);
    }
    println!("  largest difference {worst:.2e} of the peak");
    worst
}

/// The largest difference where both have rows. OpenSim also has rows from before and after the motion, which its filter made up:
/// with its faults all are compared.
fn differ(ours: &Table, reference: &Table, opensim_faults: bool) -> f64 {
    assert_eq!(ours.labels(), reference.labels());
    let (&first, &last) = (ours.times().first().unwrap(), ours.times().last().unwrap());
    // Long tables were recorded with every k-th row.
    let mut row = 0;
    let mut pairs = Vec::new();
    for (i, &t) in reference.times().iter().enumerate() {
        if !opensim_faults && (t < first - 1e-6 || t > last + 1e-6) {
            continue;
        }
        while row < ours.rows() && (ours.times()[row] - t).abs() > 1e-6 {
            row += 1;
        }
        assert!(row < ours.rows(), "no row at {t} s");
        pairs.push((row, i));
    }
    assert!(!pairs.is_empty(), "no row in common");
    if reference.rows() == ours.rows() {
        assert!(pairs.iter().all(|(ours, theirs)| ours == theirs));
    }
    let mut worst: f64 = 0.0;
    for (c, label) in ours.labels().iter().enumerate() {
        let (a, b) = (&ours.columns()[c], &reference.columns()[c]);
        let peak = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        let off = largest(pairs.iter().map(|&(r, i)| (a[r] - b[i]).abs())) / peak;
        if off > 1e-6 {
            println!("  {label}: {off:.2e} of {peak:.3}");
        }
        worst = largest([worst, off]);
    }
    worst
}

/// Tables were recorded with 8 decimals or 10 digits; 1e-6 of the peak is the bar.
#[reference_test]
fn opensim_val_gait2354() {
    assert!(check("Gait2354_Simbody", "subject01_Setup_InverseDynamics.xml", false) < 1e-6);
}

#[reference_test]
fn opensim_val_gait10dof18musc() {
    assert!(check("Gait10dof18musc", "ID/walk_Setup_ID.xml", false) < 1e-6);
}

/// With Simbody's bias of custom joints, which is wrong for this knee.
#[reference_test]
fn opensim_val_rajagopal_walk_with_its_faults() {
    assert!(check("Rajagopal_walk", "ID/id_setup_walk.xml", true) < 1e-6);
}

/// All rows, those of the filter too.
#[reference_test]
fn opensim_val_gait10dof18musc_with_its_faults() {
    assert!(check("Gait10dof18musc", "ID/walk_Setup_ID.xml", true) < 1e-6);
}

#[reference_test]
fn opensim_val_arm26() {
    assert!(check("Arm26", "arm26_Setup_InverseDynamics.xml", false) < 1e-6);
}

/// Columns named by path are unknown to OpenSim's tool, which leaves the model at its default pose.
#[reference_test]
fn opensim_val_walk3d_with_its_faults() {
    assert!(check("Walk3D", "setup_ID.xml", true) < 1e-6);
}

/// Nor can it exclude muscles and contacts that are not in the force set.
#[reference_test]
fn opensim_val_walk2d_with_its_faults() {
    assert!(check("Walk2D", "setup_ID.xml", true) < 1e-6);
}
