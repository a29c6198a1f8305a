//! Measurements made from a known motion lead back to it.

use soleus::engine::io::table::{sto, trc};
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::inverse_kinematics::{KinematicsOutput, SensorKinematics};
use soleus::{
    Collected, Context, Files, InverseDynamics, InverseKinematics, Memory, Outcome, PlaceSensors, PlotTable,
    StaticOptimization, Synthesize,
};
use soleus_math::norm::largest;

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
    largest(ANGLES.iter().flat_map(|(joint, name)| {
        let found = motion.column(name).unwrap();
        let known = truth.column(&format!("/jointset/{joint}/{name}/value")).unwrap();
        assert_eq!(found.len(), known.len());
        found.iter().zip(known).map(|(a, b)| (a.to_radians() - b).abs())
    }))
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
    assert!(told.notes().iter().any(|n| n.contains("4 ground contacts of the model ignored")));
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

/// A C3D file of markers (m), in mm; those before `hidden` are not seen.
fn c3d(markers: &Table, rate: f32, hidden: usize) -> Vec<u8> {
    let names = markers.labels();
    let mut p = vec![1, 0x50, 0, 84];
    let mut record = |id: i8, name: &str, body: &[u8]| {
        p.extend([name.len() as u8, id as u8]);
        p.extend(name.as_bytes());
        p.extend((body.len() as u16 + 3).to_le_bytes());
        p.extend(body);
        p.push(0);
    };
    let text = |words: &[String]| {
        let padded: String = words.iter().map(|w| format!("{w:<8}")).collect();
        [vec![255, 2, 8, words.len() as u8], padded.into_bytes()].concat()
    };
    record(-1, "POINT", &[]);
    record(1, "USED", &[&[2, 0][..], &(names.len() as u16).to_le_bytes()].concat());
    record(1, "SCALE", &[&[4, 0][..], &(-0.1f32).to_le_bytes()].concat());
    record(1, "RATE", &[&[4, 0][..], &rate.to_le_bytes()].concat());
    record(1, "LABELS", &text(names));
    record(1, "UNITS", &text(&["mm".to_string()]));
    p.extend([0, 0]);
    p.resize(p.len().next_multiple_of(512), 0);
    p[2] = (p.len() / 512) as u8;
    let frames = hidden + markers.rows();
    let mut bytes = vec![2, 0x50];
    for word in [names.len() as u16, 0, 1, frames as u16, 10] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend((-0.1f32).to_le_bytes());
    bytes.extend(((2 + p.len() / 512) as u16).to_le_bytes());
    bytes.extend(0u16.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.resize(512, 0);
    bytes.extend(p);
    for frame in 0..frames {
        for i in 0..names.len() {
            let seen = frame.checked_sub(hidden).map(|row| markers.vec3(row, i).to_array());
            let place = seen.map_or([0.0; 3], |p| p.map(|x| 1e3 * x as f32));
            let lost = if seen.is_some() { 0.0f32 } else { -1.0 };
            bytes.extend(place.into_iter().chain([lost]).flat_map(f32::to_le_bytes));
        }
    }
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// A subject who comes into view after 1.5 s, as in real C3D files: poses before were those of nobody, and the time before was taken for that of complete
/// loads, so that the residuals were many times the weight.
#[test]
fn issue_everyday_a_subject_who_comes_into_view_late() {
    let files = files();
    request().run(&Context::new(&files)).unwrap().write(&Context::new(&files)).unwrap();
    let (markers, rate) =
        (trc::read(&files.read("lab/walk.trc".as_ref()).unwrap(), "walk.trc").0.unwrap(), 100.0);
    let unit = if markers.metadata_value("Units") == Some("mm") { 1e-3 } else { 1.0 };
    let columns = markers.columns().iter().map(|c| c.iter().map(|x| unit * x).collect()).collect();
    let markers =
        Table::new(Element::Vec(3), markers.labels().to_vec(), markers.times().to_vec(), columns).unwrap();
    let (hidden, late) = (150, 1.5);
    // The plates read nothing until then.
    let plates = written(&files, "lab/walk_grf.mot");
    let step = plates.times()[1] - plates.times()[0];
    let before = (late / step).round() as usize;
    let times = (0..before + plates.rows()).map(|r| r as f64 * step).collect();
    let columns = plates.columns().iter().map(|c| [&vec![0.0; before][..], c].concat()).collect();
    let plates = Table::new(Element::Scalar, plates.labels().to_vec(), times, columns).unwrap();
    let files = files
        .with("walk.c3d", c3d(&markers, rate, hidden))
        .with("grf.mot", sto::write(&plates, sto::Digits::Shortest));

    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = InverseKinematics {
        model: "gait2d.osim".into(),
        markers: "walk.c3d".into(),
        output: KinematicsOutput { motion: Some("ik.mot".into()), ..Default::default() },
        ..Default::default()
    };
    let motion = request.run(&cx).unwrap();
    motion.write(&cx).unwrap();
    let times = motion.trial.coordinates.times();
    assert!((times[0] - late).abs() < 1e-9 && times.len() == markers.rows(), "{} {}", times[0], times.len());
    assert!(
        told.notes().iter().any(|n| n.contains("the subject is in view from 1.500 s")),
        "{:?}",
        told.notes()
    );

    let request = InverseDynamics {
        model: "gait2d.osim".into(),
        motion: "ik.mot".into(),
        loads: Some("grf.mot".into()),
        cutoff_hz: Some(20.0),
        ..Default::default()
    };
    let residuals = request.run(&cx).unwrap().residuals.unwrap();
    assert!(residuals.force_rms < 0.15 * 75.0 * 9.81, "{}", residuals.force_rms);
    // A time that is asked for is kept.
    let all = InverseKinematics {
        from: Some(1.0),
        ..InverseKinematics { model: "gait2d.osim".into(), markers: "walk.c3d".into(), ..Default::default() }
    };
    assert!((all.run(&cx).unwrap().trial.coordinates.times()[0] - 1.0).abs() < 1e-9);
}

/// A planar model cannot follow a leg that is spread: that is neither a size nor the place of a marker.
#[test]
fn issue_everyday_a_planar_model_and_a_leg_that_is_spread() {
    let files = files();
    request().run(&Context::new(&files)).unwrap().write(&Context::new(&files)).unwrap();
    let mut table = trc::read(&files.read("lab/static.trc".as_ref()).unwrap(), "static.trc").0.unwrap();
    let unit = if table.metadata_value("Units") == Some("mm") { 1e3 } else { 1.0 };
    let is_leg = |l: &str| l.starts_with('L') && !["LSHO", "LASI"].contains(&l);
    let legs: Vec<usize> =
        table.labels().iter().enumerate().filter(|(_, l)| is_leg(l)).map(|(i, _)| i).collect();
    assert_eq!(legs.len(), 7, "{:?}", table.labels());
    for i in legs {
        table.column_at_mut(3 * i + 2).unwrap().iter_mut().for_each(|z| *z -= 0.1 * unit);
    }
    let files = files.with("spread.trc", trc::write(&table, "spread.trc").unwrap());
    let cx = Context::new(&files);
    let scaled = |file: &str| soleus::Scaling::of_static_trial("gait2d.osim", file).run(&cx).unwrap();
    let (still, spread) = (scaled("lab/static.trc"), scaled("spread.trc"));
    for (a, b) in still.factors().unwrap().0.iter().zip(&spread.factors().unwrap().0) {
        for (a, b) in a.to_array().into_iter().zip(b.to_array()) {
            assert!((a - b).abs() < 0.01, "{a} {b}");
        }
    }
    for (a, b) in still.model.markers.iter().zip(&spread.model.markers) {
        // Markers of the leg were 10 cm beside it; what the model cannot follow has a prior, which leaves less than a fifth of that.
        assert!((a.location - b.location).norm() < 0.02, "{}: {:?} {:?}", a.name, a.location, b.location);
    }
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
        (Synthesize { rate: 0.0, ..request() }, "is not a valid rate"),
        (Synthesize { rate: 1e9, ..request() }, "do not fit in memory"),
        (Synthesize { cycles: 1 << 40, ..request() }, "do not fit in memory"),
        // Found by scripts/fuzz: a motion so short that only the standing pose has too many rows.
        (Synthesize { rate: 1e8, motion: instant().into(), ..request() }, "do not fit in memory"),
        (Synthesize { cycles: 0, ..request() }, "number of cycles is 0"),
        (Synthesize { noise_mm: -1.0, ..request() }, "standard deviation"),
        (Synthesize { name: "../x".into(), ..request() }, "is not a valid file name"),
    ] {
        let said = request.run(&cx).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}
