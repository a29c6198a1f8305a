//! Inertial sensors: setup files of OpenSim's tools, its numbers on the model that ships.
//!
//! Orientations were made up: four sensors on the leg, each turned somehow on its body, seen from a world that is turned
//! against ground, with noise of 0.1 rad. The numbers come from OpenSim 4.6: `IMUPlacer`, and `InverseKinematicsSolver` with
//! these orientations at an accuracy of 1e-11.

use crate::common::{Folder, LEG, table};

pub const HEAD: &str = "DataRate=100\nDataType=Quaternion\nversion=3\nOpenSimVersion=4.6\nendheader\n\
    time\tpelvis_imu\tthigh_imu\tshank_imu\tfoot_imu\n";

pub const CALIBRATION: &str = "0\t0.530721,0.758229,0.366234,0.096419\t0.865527,0.401838,-0.241716,-0.175959\t\
    0.672132,0.353816,0.037058,-0.649368\t0.388917,0.765877,0.454362,-0.236075\n";

pub const MOTION: &str = "0\t0.507588,0.730076,0.450610,0.079333\t0.863075,0.370449,-0.264210,-0.219233\t\
    0.646224,0.174523,0.134241,-0.730695\t0.380460,0.705578,0.451892,-0.391412\n\
    0.1\t0.593590,0.737916,0.312649,0.073356\t0.884194,0.390093,-0.239765,-0.092421\t\
    0.684193,0.342936,0.104809,-0.635052\t0.352476,0.713720,0.528357,-0.295302\n\
    0.2\t0.539151,0.769559,0.321524,0.117120\t0.904441,0.240953,-0.041127,-0.349623\t\
    0.546132,-0.148527,0.190593,-0.802093\t0.153244,0.664580,0.371207,-0.630122\n";

/// `orientation` of the frames that OpenSim made, rad.
const PLACED: [(&str, [f64; 3]); 4] = [
    ("pelvis_imu", [1.180023648418237, -1.0098481259443075, 1.4022953816466883]),
    ("thigh_imu", [-2.983132884561394, -0.14506899903788853, -2.473991119534326]),
    ("shank_imu", [-2.8252983159198384, -0.29230718845428705, 2.2041176180031177]),
    ("foot_imu", [1.7382762805596603, -0.4267624838862828, 1.317372938776789]),
];

/// Hip, knee and ankle, degrees, frame by frame.
const SOLVED: [[f64; 3]; 3] = [
    [14.945738948757754, -84.52638902767752, 11.091136386485422],
    [12.325194474042075, -21.175666731921776, -28.41813314881369],
    [-51.24006206320397, -79.97349616056394, 46.429403426412854],
];

pub fn placer(model: &str, label: &str) -> String {
    format!(
        "<OpenSimDocument Version=\"40000\"><IMUPlacer><model_file>{model}</model_file>\
         <base_imu_label>{label}</base_imu_label><base_heading_axis>-z</base_heading_axis>\
         <sensor_to_opensim_rotations>-1.1 0.2 0.3</sensor_to_opensim_rotations>\
         <orientation_file_for_calibration>calibration.sto</orientation_file_for_calibration>\
         <output_model_file>calibrated.osim</output_model_file></IMUPlacer></OpenSimDocument>"
    )
}

pub const TOOL: &str = "<OpenSimDocument Version=\"40000\"><IMUInverseKinematicsTool>\
    <model_file>calibrated.osim</model_file><orientations_file>motion.sto</orientations_file>\
    <sensor_to_opensim_rotations>-1.1 0.2 0.3</sensor_to_opensim_rotations>\
    <OrientationWeightSet name=\"orientation_weights\"><objects><OrientationWeight name=\"shank_imu\">\
    <weight>2</weight></OrientationWeight></objects></OrientationWeightSet>\
    <results_directory>results</results_directory><output_motion_file>leg.mot</output_motion_file>\
    </IMUInverseKinematicsTool></OpenSimDocument>";

#[test]
fn opensim_val_sensors_placed_and_followed() {
    let f = Folder::new("imu");
    f.file("calibration.sto", format!("{HEAD}{CALIBRATION}"));
    f.file("motion.sto", format!("{HEAD}{MOTION}"));
    f.file("placer.xml", placer(LEG, "pelvis_imu"));
    f.file("ik.xml", TOOL);
    f.soleus(&["run", "placer.xml"]).is_done();
    let text = std::fs::read(f.0.join("calibrated.osim")).unwrap();
    let model = soleus_io::osim::read_model(&text, "calibrated.osim").0.unwrap();
    assert_eq!(model.imus.len(), 4);
    for (name, angles) in PLACED {
        let frame = model.frames.iter().find(|f| f.name == name).unwrap();
        let body = &model.bodies[frame.body.0];
        assert!((frame.X_BF.p - body.mass_center).norm() < 1e-12, "{name}");
        let theirs = soleus_math::Rotation::body_fixed_xyz(soleus_math::Vec3::from_array(angles));
        for i in 0..3 {
            // A dozen products of numbers below 1.
            assert!((frame.X_BF.R.axis(i) - theirs.axis(i)).norm() < 1e-13, "{name}");
        }
    }

    f.soleus(&["run", "ik.xml"]).is_done();
    let motion = table(&f.0.join("results/leg.mot"));
    assert_eq!(motion.in_degrees, Some(true));
    for (row, wanted) in SOLVED.iter().enumerate() {
        for (name, wanted) in ["hip_flexion", "knee_angle", "ankle_angle"].iter().zip(wanted) {
            let ours = motion.column(name).unwrap()[row];
            // OpenSim's last step, and eight decimals in the file.
            assert!((ours - wanted).abs() < 1e-6, "{name} {ours} {wanted}");
        }
    }
    let errors = table(&f.0.join("results/leg.mot_orientationErrors.sto"));
    assert_eq!(errors.labels(), ["pelvis_imu", "thigh_imu", "shank_imu", "foot_imu"]);

    // The command by itself gives the same with all weights 1 where the setup has no weights.
    f.file("plain.xml", TOOL.replace("<weight>2</weight>", "<weight>1</weight>"));
    f.soleus(&["run", "plain.xml"]).is_done();
    let turn = format!(
        "--sensor-to-ground-deg={},{},{}",
        (-1.1f64).to_degrees(),
        0.2f64.to_degrees(),
        0.3f64.to_degrees()
    );
    let args =
        ["ik", "--model", "calibrated.osim", "--orientations", "motion.sto", &turn, "--out", "again.mot"];
    f.soleus(&args).is_done();
    let (a, b) = (table(&f.0.join("again.mot")), table(&f.0.join("results/leg.mot")));
    for (x, y) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
        assert!((x - y).abs() < 1e-7);
    }

    // And as a stream, from the file and from stdin.
    let streamed =
        f.soleus(&["ik", "--model", "calibrated.osim", "--orientations", "motion.sto", &turn, "--stream"]);
    let from_file = streamed.is_done().to_string();
    f.soleus(&["convert", "motion.sto", "motion.csv"]).is_done();
    let piped = std::process::Command::new(env!("CARGO_BIN_EXE_soleus"))
        .args(["ik", "--model", "calibrated.osim", "--orientations", "-", &turn, "--stream"])
        .current_dir(&f.0)
        .stdin(std::fs::File::open(f.0.join("motion.csv")).unwrap())
        .output()
        .unwrap();
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    assert_eq!(String::from_utf8_lossy(&piped.stdout), from_file);
    for (row, line) in from_file.lines().skip(1).enumerate() {
        let numbers: Vec<f64> = line.split(',').map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers[0], a.times()[row]);
        for (x, column) in numbers[1..].iter().zip(a.columns()) {
            assert_eq!(*x, column[row]);
        }
    }
    assert_eq!(from_file.lines().count(), 4);
}

#[test]
fn opensim_val_trials_of_sensors_in_a_study() {
    let f = Folder::new("imu_study");
    f.file("calibration.sto", format!("{HEAD}{CALIBRATION}"));
    f.file("motion.sto", format!("{HEAD}{MOTION}"));
    let turn = [-1.1f64, 0.2, 0.3].map(f64::to_degrees);
    let study = format!(
        "model = \"{LEG}\"\n[imu]\ncalibration = \"calibration.sto\"\nbase = \"pelvis_imu\"\nheading_axis = \"-z\"\n\
         rotations_deg = {turn:?}\nweights = {{ shank_imu = 2.0 }}\n\
         [[trials]]\nname = \"leg\"\norientations = \"motion.sto\"\n"
    );
    f.file("study.toml", &study);
    let first = f.soleus(&["pipeline", "study.toml"]);
    first.is_done();
    let motion = table(&f.0.join("results/leg/ik.mot"));
    for (row, wanted) in SOLVED.iter().enumerate() {
        for (name, wanted) in ["hip_flexion", "knee_angle", "ankle_angle"].iter().zip(wanted) {
            let ours = motion.column(name).unwrap()[row];
            assert!((ours - wanted).abs() < 1e-6, "{name} {ours} {wanted}");
        }
    }
    let page = std::fs::read_to_string(f.0.join("results/summary.html")).unwrap();
    assert!(page.contains("Angles between sensors and model") && page.contains("Sensors, RMS"), "{page}");

    // A second run has nothing to do; other weights change the angles only.
    let again = f.soleus(&["pipeline", "study.toml"]);
    assert!(again.stderr.contains("place sensors: unchanged") && again.stderr.contains("leg ik: unchanged"));
    f.file("study.toml", study.replace("shank_imu = 2.0", "shank_imu = 1.0"));
    let other = f.soleus(&["pipeline", "study.toml"]);
    assert!(other.stderr.contains("place sensors: unchanged") && other.stderr.contains("leg ik: done"));

    f.file("study.toml", study.replace("orientations = \"motion.sto\"", ""));
    f.soleus(&["pipeline", "study.toml"]).is_refused(&["neither `markers` nor `orientations`"]);
    f.file("study.toml", format!("{study}markers = \"walk.trc\"\n"));
    f.soleus(&["pipeline", "study.toml"]).is_refused(&["both `markers` and `orientations`"]);
}

#[test]
fn refuses_sensors_that_fit_nothing() {
    let f = Folder::new("imu_bad");
    f.file("calibration.sto", format!("{HEAD}{CALIBRATION}"));
    f.file("a.xml", placer(LEG, "head_imu"));
    f.soleus(&["run", "a.xml"]).is_refused(&["head_imu"]);
    f.file("calibration.sto", format!("{}{CALIBRATION}", HEAD.replace("_imu", "")));
    f.file("b.xml", placer(LEG, "pelvis"));
    f.soleus(&["run", "b.xml"]).is_refused(&["_imu"]);
    f.file("calibration.sto", "endheader\ntime\tpelvis_imu\n0\t1\n");
    f.file("c.xml", placer(LEG, "pelvis_imu"));
    f.soleus(&["run", "c.xml"]).is_refused(&["quaternions"]);
    f.file("motion.sto", format!("{HEAD}{MOTION}"));
    f.soleus(&["ik", "--model", LEG, "--orientations", "motion.sto", "--out", "x.mot"])
        .is_refused(&["frame of the model"]);
    assert!(!f.0.join("calibrated.osim").exists() && !f.0.join("x.mot").exists());
}
