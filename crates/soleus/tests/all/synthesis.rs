//! Measurements made from a known motion lead back to it.

use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::inverse_kinematics::{KinematicsOutput, SensorKinematics};
use soleus::{
    Collected, Context, Files, InverseDynamics, InverseKinematics, Memory, Outcome, PlaceSensors, PlotTable,
    StaticOptimization, Synthesize,
};

/// The walker that ships with Soleus, and its walk.
fn files() -> Memory {
    Memory::new()
        .with("gait2d.osim", include_bytes!("../../../../models/gait2d.osim"))
        .with("walk.sto", include_bytes!("../../../../models/gait2d_walk.sto"))
}

fn request() -> Synthesize {
    Synthesize {
        model: "gait2d.osim".into(),
        motion: "walk.sto".into(),
        cycles: 2,
        output: Some("lab".into()),
        ..Default::default()
    }
}

const ANGLES: [(&str, &str); 7] = [
    ("ground_trunk", "trunk_angle"),
    ("hip_r", "hip_angle_r"),
    ("hip_l", "hip_angle_l"),
    ("knee_r", "knee_angle_r"),
    ("knee_l", "knee_angle_l"),
    ("ankle_r", "ankle_angle_r"),
    ("ankle_l", "ankle_angle_l"),
];

/// The largest difference of joint angles, rad.
fn off(motion: &Table, truth: &Table) -> f64 {
    let mut worst = 0.0;
    for (joint, name) in ANGLES {
        let found = motion.column(name).unwrap();
        let known = truth.column(&format!("/jointset/{joint}/{name}/value")).unwrap();
        assert_eq!(found.len(), known.len());
        worst = found.iter().zip(known).map(|(a, b)| (a.to_radians() - b).abs()).fold(worst, f64::max);
    }
    worst
}

/// A table that was written.
fn written(files: &Memory, name: &str) -> Table {
    sto::read(&files.read(name.as_ref()).unwrap(), name).0.unwrap()
}

/// Without noise, markers and sensors give back the angles to the accuracy of inverse kinematics.
#[test]
fn identity_markers_and_sensors_give_back_the_angles() {
    let files = files();
    let cx = Context::new(&files);
    let made = request().run(&cx).unwrap();
    made.write(&cx).unwrap();
    let output = |name: &str| KinematicsOutput { motion: Some(name.into()), ..Default::default() };
    let markers = InverseKinematics {
        model: "gait2d.osim".into(),
        markers: "lab/walk.trc".into(),
        output: output("ik.mot"),
        ..Default::default()
    };
    markers.run(&cx).unwrap().write(&cx).unwrap();
    let by_markers = off(&written(&files, "ik.mot"), &made.truth);
    assert!(by_markers < 1e-6, "{by_markers}");

    // How sensors sit is found from somebody standing; their world has z up.
    let sensor_to_ground = [-std::f64::consts::FRAC_PI_2, 0.0, 0.0];
    let placed = PlaceSensors {
        model: "gait2d.osim".into(),
        orientations: "lab/static_imu.sto".into(),
        sensor_to_ground,
        output: Some("sensors.osim".into()),
        ..Default::default()
    };
    placed.run(&cx).unwrap().write(&cx).unwrap();
    let sensors = SensorKinematics {
        model: "sensors.osim".into(),
        orientations: "lab/walk_imu.sto".into(),
        sensor_to_ground,
        output: output("imu.mot"),
        ..Default::default()
    };
    sensors.run(&cx).unwrap().write(&cx).unwrap();
    let by_sensors = off(&written(&files, "imu.mot"), &made.truth);
    assert!(by_sensors < 1e-6, "{by_sensors}");
}

/// Over whole cycles the momentum does not change, so that plates carry the weight; and twice the way is walked in two cycles.
#[test]
fn conserves_weight_on_plates() {
    let files = files();
    let cx = Context::new(&files);
    let made = request().run(&cx).unwrap();
    let plates = made.plates.unwrap();
    let mean = |label: &str| {
        let c = plates.column(label).unwrap();
        c[1..].iter().sum::<f64>() / (c.len() - 1) as f64
    };
    let vertical = mean("ground_force_1_vy") + mean("ground_force_2_vy");
    let forward = mean("ground_force_1_vx") + mean("ground_force_2_vx");
    // The forces are those of the nodes of the mesh with straight lines between: a percent is lost at the strikes.
    assert!((vertical / (75.0 * 9.81) - 1.0).abs() < 0.02, "{vertical} N");
    assert!(forward.abs() < 10.0, "{forward} N");
    let x = made.truth.column("/jointset/ground_trunk/trunk_x/value").unwrap();
    let t = made.truth.times();
    let speed = (x[x.len() - 1] - x[0]) / (t[t.len() - 1] - t[0]);
    assert!((speed - 1.3).abs() < 0.01, "{speed} m/s");
}

/// Noise has the size that was asked for, is the same for the same seed, and another for another.
#[test]
fn analytic_noise() {
    let files = files();
    let cx = Context::new(&files);
    let markers = |noise_mm: f64, seed: u64| {
        Synthesize { noise_mm, seed, ..request() }.run(&cx).unwrap().markers.unwrap()[1].clone()
    };
    let (clean, noisy) = (markers(0.0, 1), markers(2.0, 1));
    let pairs = || clean.columns().iter().flatten().zip(noisy.columns().iter().flatten());
    let sd = (pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>() / pairs().count() as f64).sqrt();
    // Thirteen thousand numbers tell a standard deviation to 0.6 %; five times that are allowed.
    assert!((sd / 2e-3 - 1.0).abs() < 0.03, "{sd} m");
    assert_eq!(noisy, markers(2.0, 1));
    assert_ne!(noisy, markers(2.0, 2));
}

/// Measured loads and the contacts of the model are the same forces: they count once.
#[test]
fn identity_contacts_do_not_act_beside_measured_loads() {
    let files = files();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    request().run(&cx).unwrap().write(&cx).unwrap();
    let request = InverseDynamics {
        model: "gait2d.osim".into(),
        motion: "lab/walk_truth.sto".into(),
        loads: Some("lab/walk_grf.mot".into()),
        ..Default::default()
    };
    let residuals = request.run(&cx).unwrap().residuals.unwrap();
    assert!(told.notes().iter().any(|n| n.contains("4 contacts of the model with the ground left out")));
    // With both they were 112 % of the weight; what is left are the strikes, which 100 Hz do not resolve.
    assert!(residuals.force_rms < 0.06 * 75.0 * 9.81, "{}", residuals.force_rms);

    // Muscles that carry the ground once need no help at the root: its vertical actuator makes what inverse dynamics is short of.
    let request = StaticOptimization {
        model: "gait2d.osim".into(),
        motion: "lab/walk_truth.sto".into(),
        loads: Some("lab/walk_grf.mot".into()),
        residuals: vec![1.0, 1.0],
        reserves: vec![1.0],
        every: 10,
        muscle_physiology: false,
        ..Default::default()
    };
    let found = request.run(&cx).unwrap();
    let forces = found.table("StaticOptimization", "_force").unwrap();
    let label = forces.labels().iter().find(|l| l.contains("trunk_y")).expect("an actuator at the root");
    let column = forces.column(label).unwrap();
    let rms = (column.iter().map(|f| f * f).sum::<f64>() / column.len() as f64).sqrt();
    assert!(rms < 0.12 * 75.0 * 9.81, "{rms} N of {label}");
}

/// Two tables in one picture: columns are found by the names of coordinates, units are brought together, differences are told.
#[test]
fn analytic_difference_of_two_tables() {
    let files = files();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let made = request().run(&cx).unwrap();
    let mut degrees = made.truth.selected(&["/jointset/knee_r/knee_angle_r/value"]).unwrap();
    degrees.rename(0, "knee_angle_r");
    degrees.in_degrees = Some(true);
    degrees.map(|x| x.to_degrees() + 0.5);
    let request = PlotTable { table: degrees.into(), beside: Some(made.truth.into()), ..Default::default() };
    let drawn = request.run(&cx).unwrap();
    assert_eq!(drawn.plot.lines.len(), 2);
    let notes = told.notes();
    assert!(notes.iter().any(|n| n.starts_with("knee_angle_r: RMS difference 0.5")), "{notes:?}");
}

/// The motion of [`request`] within 10 ns.
fn instant() -> Table {
    let files = files();
    let made = request().run(&Context::new(&files)).unwrap().truth;
    let times = made.times().iter().map(|t| 1e-8 * (t - made.times()[0])).collect();
    made.with_rows(times, made.columns().to_vec()).unwrap()
}

#[test]
fn analytic_what_cannot_be_recorded_is_refused() {
    let files = files();
    let cx = Context::new(&files);
    for (request, words) in [
        (Synthesize { rate: 0.0, ..request() }, "is not a rate"),
        (Synthesize { rate: 1e9, ..request() }, "more rows than memory holds"),
        // Found by scripts/fuzz: a motion so short that only the standing pose has too many rows.
        (Synthesize { rate: 1e8, motion: instant().into(), ..request() }, "more rows than memory holds"),
        (Synthesize { cycles: 0, ..request() }, "0 cycles"),
        (Synthesize { noise_mm: -1.0, ..request() }, "standard deviation"),
        (Synthesize { name: "../x".into(), ..request() }, "is not a valid file name"),
    ] {
        let said = request.run(&cx).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}
