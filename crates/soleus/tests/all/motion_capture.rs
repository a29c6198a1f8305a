//! From markers to moments, on files in memory: inverse kinematics, inverse dynamics, scaling, the pipeline, and their setup files.

use soleus::analysis::standard;
use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::inverse_kinematics::KinematicsOutput;
use soleus::optimal_control::ModelChanges;
use soleus::optimal_control::tool::Trial;
use soleus::pipeline::Shard;
use soleus::scaling::{FactorSettings, ManualScale, ScalingOutput};
use soleus::simulation::SimulationOutput;
use soleus::{
    Analyze, Collected, Context, ErrorKind, Files, Inverse, InverseDynamics, InverseKinematics, Memory,
    Outcome, Pipeline, Scaling, SetupFile, Simulation, StaticOptimization, Track, View,
};
use soleus_math::norm::largest;
use std::path::Path;

/// Three markers of a body that moves in a plane, m.
const MARKERS: [(&str, [f64; 3]); 3] =
    [("A", [0.0, 0.0, 0.0]), ("B", [0.3, 0.0, 0.0]), ("C", [0.0, 0.2, 0.1])];

/// A body of 10 kg that moves in the vertical plane, with three markers.
fn model() -> String {
    let marker = |(name, p): &(&str, [f64; 3])| {
        format!(
            "<Marker name=\"{name}\"><socket_parent_frame>/bodyset/plate</socket_parent_frame>\
             <location>{} {} {}</location><fixed>true</fixed></Marker>\n",
            p[0], p[1], p[2]
        )
    };
    let markers: String = MARKERS.iter().map(marker).collect();
    let coordinate = |name: &str| format!("<Coordinate name=\"{name}\"><range>-10 10</range></Coordinate>\n");
    let coordinates: String = ["turn", "tx", "ty"].map(coordinate).concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40600\">\n<Model name=\"plate\">\n\
         <gravity>0 -9.81 0</gravity>\n<Ground name=\"ground\"/>\n<BodySet name=\"bodyset\"><objects><Body name=\"plate\">\n\
         <mass>10</mass><mass_center>0 0 0</mass_center><inertia>0.5 0.5 0.5 0 0 0</inertia></Body></objects></BodySet>\n\
         <JointSet name=\"jointset\"><objects><!--the root--><PlanarJoint name=\"root\"><socket_parent_frame>/ground</socket_parent_frame>\n\
         <socket_child_frame>/bodyset/plate</socket_child_frame><coordinates>\n{coordinates}</coordinates></PlanarJoint></objects></JointSet>\n\
         <MarkerSet name=\"markerset\"><objects>\n{markers}</objects></MarkerSet>\n</Model></OpenSimDocument>\n"
    )
}

/// Turn (rad), tx and ty (m) at a time.
fn pose(t: f64) -> [f64; 3] {
    let turn = 0.3 * (2.0 * std::f64::consts::PI * t).sin();
    [turn, 0.5 * t, 1.0 + 0.1 * (5.0 * t).cos()]
}

/// What a camera sees of it, at `hz`, until `t_end`; the body is `size` times as large as the model.
fn seen(hz: f64, t_end: f64, size: f64) -> Table {
    let times: Vec<f64> = (0..=(t_end * hz).round() as usize).map(|i| i as f64 / hz).collect();
    let mut columns = Vec::new();
    for (_, p) in MARKERS {
        let p = p.map(|x| size * x);
        let place = |&t: &f64| {
            let [turn, tx, ty] = pose(t);
            let (s, c) = turn.sin_cos();
            [tx + c * p[0] - s * p[1], ty + s * p[0] + c * p[1], p[2]]
        };
        let places: Vec<[f64; 3]> = times.iter().map(place).collect();
        columns.extend((0..3).map(|k| places.iter().map(|p| p[k]).collect::<Vec<_>>()));
    }
    let labels = MARKERS.iter().map(|(name, _)| name.to_string()).collect();
    Table::new(Element::Vec(3), labels, times, columns).unwrap()
}

fn files() -> Memory {
    let walk = sto::write_typed(&seen(100.0, 4.0, 1.0));
    Memory::new().with("plate.osim", model()).with("data/walk.sto", walk)
}

/// The largest difference of a column from a function of time, over the times of the table.
fn difference(table: &Table, label: &str, f: impl Fn(f64) -> f64) -> f64 {
    let column = table.column(label).unwrap();
    assert!(!column.is_empty() && column.iter().all(|x| x.is_finite()));
    largest(table.times().iter().zip(column).map(|(&t, x)| (x - f(t)).abs()))
}

#[test]
fn analytic_angles_of_a_turning_plate() {
    let files = files();
    let cx = Context::new(&files);
    let request = InverseKinematics {
        model: "plate.osim".into(),
        markers: "data/walk.sto".into(),
        output: KinematicsOutput { motion: Some("walk.mot".into()), ..KinematicsOutput::default() },
        ..InverseKinematics::default()
    };
    let motion = request.run(&cx).unwrap();
    // The steps of the solver end at 1e-8 or so; the table is in degrees.
    assert!(difference(&motion.trial.coordinates, "turn", |t| pose(t)[0].to_degrees()) < 1e-5);
    assert!(difference(&motion.trial.coordinates, "ty", |t| pose(t)[2]) < 1e-7);
    motion.verdict().unwrap();
    motion.write(&cx).unwrap();
    assert_eq!(motion.artifacts()[0].to_bytes(), files.read(Path::new("walk.mot")).unwrap());

    // The same after a detour through JSON, and from the things themselves; the file of markers has 16 digits.
    let text = serde_json::to_string(&request).unwrap();
    let again: InverseKinematics = serde_json::from_str(&text).unwrap();
    assert!(again.run(&cx).unwrap().trial.coordinates == motion.trial.coordinates);
    let direct = InverseKinematics { markers: seen(100.0, 4.0, 1.0).into(), ..again }.run(&cx).unwrap();
    assert!(difference(&direct.trial.coordinates, "turn", |t| pose(t)[0].to_degrees()) < 1e-5);
}

#[test]
fn analytic_forces_of_a_turning_plate() {
    let files = files();
    let cx = Context::new(&files);
    let angles = InverseKinematics {
        model: "plate.osim".into(),
        markers: "data/walk.sto".into(),
        ..InverseKinematics::default()
    };
    let motion = angles.run(&cx).unwrap().trial.coordinates;
    let request = InverseDynamics {
        model: "plate.osim".into(),
        motion: motion.into(),
        from: Some(1.0),
        to: Some(3.0),
        ..InverseDynamics::default()
    };
    let found = request.run(&cx).unwrap().loads.generalized_forces;
    // m (ÿ + g) and I φ̈; splines of degree 5 through samples 0.01 s apart lose a few parts in a million of a sine of 1 Hz.
    let (w, g) = (2.0 * std::f64::consts::PI, 9.81);
    assert!(difference(&found, "ty_force", |t| 10.0 * (g - 2.5 * (5.0 * t).cos())) < 1e-3);
    assert!(difference(&found, "turn_moment", |t| -0.5 * 0.3 * w * w * (w * t).sin()) < 1e-3);
}

#[test]
fn analytic_factors_of_a_larger_plate() {
    let files = files().with("static.sto", sto::write_typed(&seen(100.0, 0.05, 1.2)));
    let cx = Context::new(&files);
    let setup = "<OpenSimDocument Version=\"40600\"><MeasurementSet><objects><Measurement name=\"all\"><apply>true</apply>\
        <MarkerPairSet><objects><MarkerPair><markers>A B</markers></MarkerPair></objects></MarkerPairSet>\
        <BodyScaleSet><objects><BodyScale name=\"plate\"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet>\
        </Measurement></objects></MeasurementSet></OpenSimDocument>";
    files.write(Path::new("pairs.xml"), setup.as_bytes()).unwrap();
    let request = Scaling {
        model: "plate.osim".into(),
        name: "large".to_string(),
        mass: Some(15.0),
        factors: Some(FactorSettings {
            markers: Some("static.sto".into()),
            measurement_file: Some("pairs.xml".into()),
            ..FactorSettings::default()
        }),
        output: ScalingOutput { model: Some("out/large.osim".into()), ..ScalingOutput::default() },
        ..Scaling::default()
    };
    let scaled = request.run(&cx).unwrap();
    let factor = scaled.factors().unwrap().0[1];
    assert!((factor.x - 1.2).abs() < 1e-12 && (factor.z - 1.2).abs() < 1e-12, "{factor:?}");
    assert!((scaled.model.total_mass() - 15.0).abs() < 1e-12);
    scaled.write(&cx).unwrap();
    let text = String::from_utf8(files.read(Path::new("out/large.osim")).unwrap()).unwrap();
    assert!(text.contains("<!--the root-->"), "comments of the model stay");
    for mass in [0.0, -1.0, f64::NAN, 15_000.0] {
        let refused = Scaling { mass: Some(mass), ..request.clone() }.run(&cx).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Input);
    }
}

const STUDY: &str = "model = \"plate.osim\"\n[filter]\nlowpass_hz = 6\n[id]\n[[trials]]\nname = \"walk\"\nmarkers = \"data/walk.sto\"\n";

/// The moments that the pipeline finds for a study file.
fn moments(study: &str) -> (Table, Vec<String>) {
    let files = files().with("study.toml", study);
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    Pipeline::of_file("study.toml").run(&cx).unwrap().verdict().unwrap();
    let bytes = files.read(Path::new("results/walk/id.sto")).unwrap();
    (soleus::engine::io::table::read(&bytes, "id.sto").0.unwrap(), told.notes())
}

/// A part of a trial has the moments that the whole trial has at the same times: the filter sees what is around it.
#[test]
fn issue_16_a_part_of_a_trial_is_filtered_before_it_is_cut() {
    let (whole, _) = moments(STUDY);
    let (part, notes) = moments(&format!("{STUDY}from = 1.5\nto = 2.5\n"));
    assert_eq!((part.times()[0], part.times()[part.rows() - 1]), (1.5, 2.5));
    for label in part.labels() {
        let at = |t: f64| {
            let i = whole.times().iter().position(|u| (u - t).abs() < 1e-9).unwrap();
            whole.column(label).unwrap()[i]
        };
        // The files have eight decimals; moments are around 100 N and 10 N m.
        assert!(difference(&part, label, at) < 1e-5, "{label}: {}", difference(&part, label, at));
    }
    assert!(notes.iter().any(|n| n.contains("the filter had 100 samples before 1.500 s")), "{notes:?}");
}

/// A second run does only what has changed, whatever the files are called and however the study is.
#[test]
fn issue_16_the_pipeline_knows_what_it_opened() {
    let files = files().with(
        "s/study.toml",
        STUDY.replace("plate.osim", "../plate.osim").replace("data/walk.sto", "my walk.sto"),
    );
    files.write(Path::new("s/my walk.sto"), &files.read(Path::new("data/walk.sto")).unwrap()).unwrap();
    let run = |name: &str| {
        let told = Collected::default();
        let cx = Context::new(&files).with_monitor(&told);
        let done = Pipeline::of_file(name).run(&cx).unwrap();
        let again: Vec<String> =
            done.steps.iter().filter(|s| matches!(s.result, Ok("done"))).map(|s| s.step.clone()).collect();
        again.join(",")
    };
    assert_eq!(run("s/study.toml"), "walk ik,walk filter,walk id");
    assert_eq!(run("s/study.toml"), "");
    assert_eq!(run("/s/../s/./study.toml"), "");
    // A file whose name has a blank.
    files.write(Path::new("s/my walk.sto"), sto::write_typed(&seen(100.0, 3.0, 1.0)).as_bytes()).unwrap();
    assert_eq!(run("s/study.toml"), "walk ik,walk filter,walk id");
    // A result that somebody changed.
    files.write(Path::new("s/results/walk/filtered.mot"), b"spoilt").unwrap();
    assert_eq!(run("s/study.toml"), "walk filter");
    // And one that is gone.
    files.remove(Path::new("s/results/walk/id.sto")).unwrap();
    assert_eq!(run("s/study.toml"), "walk id");
}

/// Data that a file of loads names, whatever that file is called, and meshes of contact were not noticed when they changed.
#[test]
fn issue_16_the_pipeline_knows_data_of_loads_and_meshes() {
    let contact = "<ContactGeometrySet name=\"contactgeometryset\"><objects><ContactMesh name=\"block\"><socket_frame>/bodyset/plate</socket_frame>\
        <filename>block.obj</filename></ContactMesh><ContactHalfSpace name=\"floor\"><socket_frame>/ground</socket_frame>\
        <orientation>0 0 -1.5707963267948966</orientation></ContactHalfSpace></objects></ContactGeometrySet><ForceSet name=\"forceset\"><objects>\
        <ElasticFoundationForce name=\"contact\"><ElasticFoundationForce::ContactParametersSet name=\"\"><objects>\
        <ElasticFoundationForce::ContactParameters name=\"\"><geometry>block floor</geometry><stiffness>1e4</stiffness>\
        </ElasticFoundationForce::ContactParameters></objects></ElasticFoundationForce::ContactParametersSet></ElasticFoundationForce>\
        </objects></ForceSet></Model>";
    let block = |size: f64| {
        format!("v 0 0 0\nv {size} 0 0\nv 0 {size} 0\nv 0 0 {size}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    };
    let loads = "<OpenSimDocument Version=\"40600\"><ExternalLoads name=\"l\"><objects><ExternalForce name=\"plate_1\">\
        <applied_to_body>plate</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
        <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f</force_identifier>\
        <point_identifier>p</point_identifier></ExternalForce></objects><datafile>my plates.sto</datafile></ExternalLoads></OpenSimDocument>";
    let plates = |newton: f64| {
        let labels = ["fx", "fy", "fz", "px", "py", "pz"].map(String::from).to_vec();
        let columns = [0.0, newton, 0.0, 0.1, 0.0, 0.0].map(|x| vec![x; 5]).to_vec();
        let times = (0..5).map(f64::from).collect();
        sto::write(&Table::new(Element::Scalar, labels, times, columns).unwrap(), sto::Digits::Shortest)
    };
    let study = "model = \"plate.osim\"\n[id]\n[[trials]]\nname = \"walk\"\nmarkers = \"data/walk.sto\"\nloads = \"loads.txt\"\n";
    let files = files()
        .with("plate.osim", model().replace("</Model>", contact))
        .with("block.obj", block(0.1))
        .with("loads.txt", loads)
        .with("my plates.sto", plates(90.0))
        .with("study.toml", study);
    let run = || {
        let done = Pipeline::of_file("study.toml").run(&Context::new(&files)).unwrap();
        for step in &done.steps {
            assert!(step.result.is_ok(), "{}: {:?}", step.step, step.result);
        }
        done.steps
            .iter()
            .filter(|s| matches!(s.result, Ok("done")))
            .map(|s| s.step.clone())
            .collect::<Vec<_>>()
            .join(",")
    };
    let moments = || files.read(Path::new("results/walk/id.sto")).unwrap();
    assert_eq!(run(), "walk ik,walk id");
    assert_eq!(run(), "");
    let before = moments();
    files.write(Path::new("my plates.sto"), plates(100.0).as_bytes()).unwrap();
    assert_eq!(run(), "walk id");
    assert_ne!(moments(), before);
    files.write(Path::new("block.obj"), block(0.2).as_bytes()).unwrap();
    assert!(run().contains("walk id"));
    assert_eq!(run(), "");
}

/// A setup file gives the bytes that the request gives, under the names of the setup.
#[test]
fn identity_setup_file_and_request() {
    let setup = "<OpenSimDocument Version=\"40600\"><InverseKinematicsTool name=\"walk\"><model_file>../plate.osim</model_file>\
        <marker_file>walk.sto</marker_file><results_directory>out</results_directory>\
        <output_motion_file>out/walk.mot</output_motion_file></InverseKinematicsTool></OpenSimDocument>";
    let files = files().with("data/setup.xml", setup);
    let cx = Context::new(&files);
    SetupFile::new("data/setup.xml").run(&cx).unwrap().write(&cx).unwrap();
    let request = InverseKinematics {
        model: "plate.osim".into(),
        markers: "data/walk.sto".into(),
        output: KinematicsOutput {
            motion: Some("m".into()),
            fixed_digits: true,
            ..KinematicsOutput::default()
        },
        ..InverseKinematics::default()
    };
    request.run(&cx).unwrap().write(&cx).unwrap();
    assert_eq!(files.read(Path::new("data/out/walk.mot")).unwrap(), files.read(Path::new("m")).unwrap());
    assert!(files.is_file(Path::new("data/out/walk_ik_marker_errors.sto")));

    let id = "<OpenSimDocument Version=\"40600\"><InverseDynamicsTool name=\"walk\"><model_file>../plate.osim</model_file>\
        <coordinates_file>out/walk.mot</coordinates_file><results_directory>out</results_directory>\
        <output_gen_force_file>id.sto</output_gen_force_file></InverseDynamicsTool></OpenSimDocument>";
    files.write(Path::new("data/id.xml"), id.as_bytes()).unwrap();
    SetupFile::new("data/id.xml").run(&cx).unwrap().write(&cx).unwrap();
    assert!(files.is_file(Path::new("data/out/id.sto")));
    let missing = SetupFile::new("data/sutep.xml").run(&cx).err().unwrap();
    assert!(missing.to_string().contains("did you mean data/setup.xml?"), "{missing}");
}

/// Loads that end before the motion were extrapolated without a word.
#[test]
fn issue_16_loads_that_end_early_are_told() {
    let loads = "<OpenSimDocument Version=\"40600\"><ExternalLoads name=\"l\"><objects><ExternalForce name=\"plate_1\">\
        <applied_to_body>plate</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
        <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f</force_identifier>\
        <point_identifier>p</point_identifier></ExternalForce></objects><datafile>grf.sto</datafile></ExternalLoads></OpenSimDocument>";
    let motion = || {
        let request = InverseKinematics {
            model: "plate.osim".into(),
            markers: "data/walk.sto".into(),
            ..InverseKinematics::default()
        };
        request.run(&Context::new(&files())).unwrap().trial.coordinates
    };
    for (end, is_told) in [(2.0, true), (4.0, false)] {
        let times: Vec<f64> = (0..=20).map(|i| end * f64::from(i) / 20.0).collect();
        let labels = ["fx", "fy", "fz", "px", "py", "pz"].map(String::from).to_vec();
        let columns = (0..6).map(|c| times.iter().map(|t| f64::from(c) + t.sin()).collect()).collect();
        let grf = Table::new(Element::Scalar, labels, times, columns).unwrap();
        let files = files().with("loads.xml", loads).with("grf.sto", sto::write(&grf, sto::Digits::Shortest));
        let check = |what: &str, run: &dyn Fn(&Context)| {
            let told = Collected::default();
            run(&Context::new(&files).with_monitor(&told));
            let words = "loads of `plate_1` span 0 s to 2 s, the motion 0 s to 4 s";
            let times = told.diagnostics().iter().filter(|d| d.message == words).count();
            assert_eq!(times, usize::from(is_told), "{what}: {:?}", told.diagnostics());
        };
        check("id", &|cx| {
            let request = InverseDynamics {
                model: "plate.osim".into(),
                motion: motion().into(),
                loads: Some("loads.xml".into()),
                ..InverseDynamics::default()
            };
            request.run(cx).unwrap();
        });
        // These extrapolated without a word.
        check("so", &|cx| {
            let request = StaticOptimization {
                model: "plate.osim".into(),
                motion: motion().into(),
                loads: Some("loads.xml".into()),
                residuals: vec![100.0, 500.0],
                every: 100,
                ..StaticOptimization::default()
            };
            request.run(cx).unwrap();
        });
        check("analyze", &|cx| {
            let request = Analyze {
                model: "plate.osim".into(),
                motion: motion().into(),
                loads: Some("loads.xml".into()),
                analyses: standard("kinematics").into_iter().collect(),
                ..Analyze::default()
            };
            request.run(cx).unwrap();
        });
        let trial = || {
            let changes = ModelChanges {
                loads: Some("loads.xml".into()),
                reserves: vec![100.0],
                ..ModelChanges::default()
            };
            Trial { model: "plate.osim".into(), changes, ..Trial::default() }
        };
        check("inverse", &|cx| {
            let request = Inverse { trial: trial(), kinematics: motion().into(), ..Inverse::default() };
            request.pose(cx).unwrap();
        });
        check("track", &|cx| {
            let request = Track { trial: trial(), states: Some(motion().into()), ..Track::default() };
            request.pose(cx).unwrap();
        });
    }
}

/// An arm of 1 kg and a hand without mass on it, each with markers.
const HAND: &str = r#"<OpenSimDocument Version="40600"><Model name="hand"><gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="arm"><mass>1</mass><mass_center>0 -0.5 0</mass_center>
<inertia>0.1 0.1 0.1 0 0 0</inertia></Body><Body name="hand"><mass>0</mass><inertia>0 0 0 0 0 0</inertia></Body>
</objects></BodySet><JointSet name="jointset"><objects>
<PinJoint name="shoulder"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/arm</socket_child_frame><coordinates><Coordinate name="shoulder_angle" /></coordinates></PinJoint>
<PinJoint name="wrist"><socket_parent_frame>end</socket_parent_frame><socket_child_frame>/bodyset/hand</socket_child_frame>
<coordinates><Coordinate name="wrist_angle" /></coordinates><frames><PhysicalOffsetFrame name="end">
<socket_parent>/bodyset/arm</socket_parent><translation>0 -1 0</translation></PhysicalOffsetFrame></frames></PinJoint>
</objects></JointSet>
<MarkerSet name="markerset"><objects><Marker name="elbow"><socket_parent_frame>/bodyset/arm</socket_parent_frame>
<location>0.05 -0.4 0</location></Marker><Marker name="palm"><socket_parent_frame>/bodyset/hand</socket_parent_frame>
<location>0.03 -0.05 0</location></Marker><Marker name="tip"><socket_parent_frame>/bodyset/hand</socket_parent_frame>
<location>0 -0.2 0</location></Marker></objects></MarkerSet></Model></OpenSimDocument>"#;

/// Angles of shoulder and wrist at a time, rad.
fn wave(t: f64) -> [f64; 2] {
    [0.4 * (3.0 * t).sin(), 0.3 + 0.2 * (5.0 * t).cos()]
}

/// Models with bodies without mass were refused by every tool. Positions, velocities, inverse kinematics, pictures and scaling need no mass;
/// what does says which coordinate lacks it.
#[test]
fn issue_16_tools_that_need_no_mass() {
    let times: Vec<f64> = (0..30).map(|i| f64::from(i) / 50.0).collect();
    let turned = |p: [f64; 2], a: f64| [p[0] * a.cos() - p[1] * a.sin(), p[0] * a.sin() + p[1] * a.cos()];
    let place = |p: [f64; 2], on_hand: bool, t: f64| {
        let [a, b] = wave(t);
        if !on_hand {
            return turned(p, a);
        }
        let (end, p) = (turned([0.0, -1.0], a), turned(p, a + b));
        [end[0] + p[0], end[1] + p[1]]
    };
    let seen = [([0.05, -0.4], false), ([0.03, -0.05], true), ([0.0, -0.2], true)];
    let column = |p: [f64; 2], on_hand: bool, axis: usize| {
        let at = |t: &f64| if axis == 2 { 0.0 } else { place(p, on_hand, *t)[axis] };
        times.iter().map(at).collect::<Vec<f64>>()
    };
    let columns = seen.iter().flat_map(|&(p, on_hand)| (0..3).map(move |axis| (p, on_hand, axis)));
    let columns = columns.map(|(p, on_hand, axis)| column(p, on_hand, axis)).collect();
    let labels = ["elbow", "palm", "tip"].map(String::from).to_vec();
    let markers = Table::new(Element::Vec(3), labels, times.clone(), columns).unwrap();
    let files = Memory::new().with("hand.osim", HAND);
    let cx = Context::new(&files);

    let angles = InverseKinematics {
        model: "hand.osim".into(),
        markers: markers.into(),
        ..InverseKinematics::default()
    };
    let motion = angles.run(&cx).unwrap();
    motion.verdict().unwrap();
    let motion = motion.trial.coordinates;
    // Newton's last step is below 1e-7 rad; the table is in degrees.
    assert!(difference(&motion, "shoulder_angle", |t| wave(t)[0].to_degrees()) < 1e-5);
    assert!(difference(&motion, "wrist_angle", |t| wave(t)[1].to_degrees()) < 1e-5);

    let analyses = |name: &str| Analyze {
        model: "hand.osim".into(),
        motion: motion.clone().into(),
        analyses: standard(name).into_iter().collect(),
        ..Analyze::default()
    };
    let bodies = analyses("body").run(&cx).unwrap();
    let places = bodies.table("BodyKinematics", "_pos_global").unwrap();
    // The mass centre of a body without mass is its origin, at the end of the arm.
    assert!(difference(places, "hand_X", |t| wave(t)[0].sin()) < 1e-6);
    assert!(difference(places, "hand_Y", |t| -wave(t)[0].cos()) < 1e-6);
    let induced = analyses("induced").run(&cx).map(drop).unwrap_err().to_string();
    assert!(induced.contains("coordinate `wrist_angle` moves only massless bodies"), "{induced}");

    let view = View {
        model: "hand.osim".into(),
        motion: Some(motion.clone().into()),
        page: Some("page.html".into()),
        ..View::default()
    };
    view.run(&cx).unwrap().write(&cx).unwrap();
    let page = String::from_utf8(files.read(Path::new("page.html")).unwrap()).unwrap();
    assert!(page.contains("wrist_angle"));

    let longer =
        |segment: &str| ManualScale { segment: segment.into(), scales: [1.0, 1.5, 1.0], apply: true };
    let factors = FactorSettings { manual: vec![longer("hand")], ..FactorSettings::default() };
    let scaled = Scaling { model: "hand.osim".into(), factors: Some(factors), ..Scaling::default() };
    let model = scaled.run(&cx).unwrap().model;
    let tip = model.markers.iter().find(|m| m.name == "tip").unwrap();
    assert!((tip.location.y + 0.3).abs() < 1e-12, "{:?}", tip.location);
    assert_eq!((model.bodies[1].mass, model.bodies[2].mass), (1.0, 0.0));

    let falling = Simulation {
        model: "hand.osim".into(),
        duration: 0.1,
        output: SimulationOutput { folder: Some("fall".into()), name: None },
        ..Simulation::default()
    };
    let stopped = falling.run(&cx).and_then(|done| done.verdict()).unwrap_err().to_string();
    assert!(stopped.contains("coordinate `wrist_angle` moves only massless bodies"), "{stopped}");
}

/// `id --out id.csv` wrote the header of a .sto into the .csv.
#[test]
fn issue_everyday_a_csv_is_a_csv() {
    let files = files();
    let cx = Context::new(&files);
    let angles = InverseKinematics {
        model: "plate.osim".into(),
        markers: "data/walk.sto".into(),
        output: KinematicsOutput { motion: Some("walk.csv".into()), ..KinematicsOutput::default() },
        ..InverseKinematics::default()
    };
    let motion = angles.run(&cx).unwrap();
    motion.write(&cx).unwrap();
    let moments = |name: &str| {
        let motion = motion.trial.coordinates.clone().into();
        let output = Some(name.into());
        let request =
            InverseDynamics { model: "plate.osim".into(), motion, output, ..InverseDynamics::default() };
        request.run(&cx).unwrap().write(&cx).unwrap();
    };
    moments("id.csv");
    moments("id.parquet");
    for name in ["walk.csv", "id.csv"] {
        let text = String::from_utf8(files.read(Path::new(name)).unwrap()).unwrap();
        assert!(text.starts_with("time,"), "{name}: {}", &text[..60]);
    }
    assert!(files.read(Path::new("id.parquet")).unwrap().starts_with(b"PAR1"));
}

/// With a setup file in a folder of its own, the scaled model was written there and not found.
#[test]
fn issue_everyday_a_scale_setup_in_another_folder() {
    let setup = "<OpenSimDocument Version=\"40600\"><ScaleTool name=\"large\"><mass>15</mass><GenericModelMaker>\
        <model_file>../plate.osim</model_file></GenericModelMaker><ModelScaler><apply>true</apply>\
        <scaling_order>manualScale</scaling_order><ScaleSet><objects><Scale><scales>1.2 1.2 1.2</scales><segment>plate</segment>\
        <apply>true</apply></Scale></objects></ScaleSet><output_model_file>large.osim</output_model_file></ModelScaler>\
        <MarkerPlacer><apply>false</apply></MarkerPlacer></ScaleTool></OpenSimDocument>";
    let study =
        "[scale]\nsetup = \"setups/scale.xml\"\n[[trials]]\nname = \"walk\"\nmarkers = \"data/walk.sto\"\n";
    let files = files().with("lab/setups/scale.xml", setup).with("lab/walking.toml", study);
    for name in ["plate.osim", "data/walk.sto"] {
        let bytes = files.read(Path::new(name)).unwrap();
        files.write(&Path::new("lab").join(name), &bytes).unwrap();
    }
    let cx = Context::new(&files);
    let done = Pipeline::of_file("lab/walking.toml").run(&cx).unwrap();
    done.verdict().unwrap();
    let names: Vec<String> = files.names().iter().map(|n| n.display().to_string()).collect();
    assert!(names.contains(&"/lab/results/subject.osim".to_string()), "{names:?}");
    assert!(names.contains(&"/lab/results/walk/ik.mot".to_string()), "{names:?}");
    assert!(!names.iter().any(|n| n.ends_with("setups/large.osim")), "{names:?}");
}

/// Seven trials, of which the fourth has no file.
fn many_trials() -> Memory {
    let trials: String = (0..7)
        .map(|i| {
            let file = if i == 3 { "data/lost.sto" } else { "data/walk.sto" };
            format!("[[trials]]\nname = \"walk{i}\"\nmarkers = \"{file}\"\n")
        })
        .collect();
    files().with("study.toml", format!("model = \"plate.osim\"\n[filter]\nlowpass_hz = 6\n[id]\n{trials}"))
}

/// Everything that a study wrote but its own memory.
fn written(files: &Memory) -> Vec<(String, Vec<u8>)> {
    let names = files.names().into_iter().map(|n| n.display().to_string());
    let results = names.filter(|n| n.starts_with("/results/") && !n.contains("/.soleus/"));
    results.map(|n| (n.clone(), files.read(Path::new(&n)).unwrap())).collect()
}

/// One after the other, three at once, or shared by four processes: the same files, byte for byte. The trial that fails costs nothing
/// but itself.
#[test]
fn identity_trials_at_once_and_in_parts() {
    let run = |request: &[Pipeline]| {
        let files = many_trials();
        let cx = Context::new(&files).with_threads(2);
        let mut steps = 0;
        for r in request {
            let done = r.run(&cx).unwrap();
            done.write(&cx).unwrap();
            steps += done.steps.len();
        }
        (written(&files), steps)
    };
    let request = |jobs| Pipeline { jobs, ..Pipeline::of_file("study.toml") };
    let one = run(&[request(1)]);
    assert_eq!(one.1, 6 * 3 + 1);
    assert!(one.0.iter().any(|(n, _)| n == "/results/summary.parquet"));
    assert!(one.0.iter().any(|(n, _)| n == "/results/walk6/id.sto"));
    assert_eq!(one.0, run(&[request(3)]).0);
    let parts: Vec<Pipeline> =
        (1..=4).map(|part| Pipeline { shard: Some(Shard { part, of: 4 }), ..request(2) }).collect();
    let shared = run(&parts);
    assert_eq!(shared.1, one.1);
    // The page lists steps in the order in which this process learnt of them.
    let but_page = |all: &[(String, Vec<u8>)]| {
        all.iter().filter(|(n, _)| n != "/results/summary.html").cloned().collect::<Vec<_>>()
    };
    assert_eq!(but_page(&one.0), but_page(&shared.0));
}

/// Lines of trials that run at once do not mix.
#[test]
fn identity_trials_speak_one_after_the_other() {
    let files = many_trials();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told).with_threads(3);
    Pipeline::of_file("study.toml").run(&cx).unwrap();
    let notes = told.notes();
    let of = |n: &String| notes.iter().position(|m| m == n);
    for i in [0, 1, 2, 4, 5, 6] {
        let first = of(&format!("walk{i} ik:")).unwrap();
        let last = of(&format!("walk{i} id: done\n")).unwrap();
        let others = notes[first..=last]
            .iter()
            .filter(|n| n.starts_with("walk") && !n.starts_with(&format!("walk{i}")));
        assert_eq!(others.count(), 0, "{:?}", &notes[first..=last]);
    }
}

/// A mesh of contact was read by all tools but inverse dynamics and its step in a pipeline, which refused the model.
#[soleus_testing::reference_test("reliability")]
fn issue_16_inverse_dynamics_reads_contact_meshes() {
    const FOLDER: &str = soleus_testing::shared!("reliability/id_contact_mesh");
    let mut files = Memory::new();
    for name in ["m.osim", "m.obj", "ik.mot", "w.trc"] {
        files = files.with(name, std::fs::read(Path::new(FOLDER).join(name)).unwrap());
    }
    let cx = Context::new(&files);
    let request =
        InverseDynamics { model: "m.osim".into(), motion: "ik.mot".into(), ..InverseDynamics::default() };
    let moments = request.run(&cx).unwrap().loads.generalized_forces;
    assert!(moments.rows() > 1 && moments.columns().iter().flatten().all(|x| x.is_finite()));
    let study = "model = \"m.osim\"\n[id]\n[[trials]]\nname = \"w\"\nmarkers = \"w.trc\"\n";
    files.write(Path::new("w.toml"), study.as_bytes()).unwrap();
    let done = Pipeline::of_file("w.toml").run(&cx).unwrap();
    let id = done.steps.iter().find(|s| s.step.ends_with("id")).unwrap();
    assert!(matches!(id.result, Ok("done")), "{}: {:?}", id.step, id.result);
}

/// Two pipelines at once wrote over each other's files. The second is refused while the first runs, and nothing of it is written.
#[test]
fn issue_16_two_pipelines_do_not_share_a_folder() {
    use soleus::files::Lock;
    let folder = std::env::temp_dir().join(format!("soleus_lock_{}", std::process::id()));
    let disk = soleus::Disk::new();
    disk.make_folder(&folder.join("data")).unwrap();
    let memory = files();
    for name in memory.names() {
        let inside = folder.join(name.strip_prefix("/").unwrap_or(&name));
        disk.make_folder(inside.parent().unwrap()).unwrap();
        disk.write(&inside, &memory.read(&name).unwrap()).unwrap();
    }
    let study = folder.join("study.toml");
    disk.write(&study, STUDY.as_bytes()).unwrap();
    let run = || Pipeline::of_file(&study).run(&Context::new(&disk));
    let kept = folder.join("results/.soleus");
    disk.make_folder(&kept).unwrap();
    let first = disk.lock(&kept.join("lock"), Lock::Exclusive).unwrap();
    let refused = run().err().unwrap().to_string();
    assert!(
        refused.contains("another run is writing results to this folder") && refused.contains("hint: wait"),
        "{refused}"
    );
    assert!(!folder.join("results/walk").exists());
    drop(first);
    assert!(run().unwrap().steps.iter().all(|s| s.result.is_ok()));
    std::fs::remove_dir_all(&folder).unwrap();
}
