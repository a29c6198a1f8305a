//! A small subject who walks: a model, markers, a motion, loads, and files that ask tools about them. All of it is right.

use crate::corpus::{self, c3d_of};
use soleus::optimal_control::SolveOptions;
use soleus::{Context, Files, Memory, Outcome, PlaceSensors, Solve, Synthesize, prediction};
use soleus_io::table::{csv, sto, trc};
use soleus_math::Table;
use soleus_math::table::Element;
use std::f64::consts::PI;

/// Rows of the trial, at 100 Hz.
const ROWS: u32 = 12;

/// A pelvis that moves freely, a thigh and a shank, muscles of two kinds, a marker or three on each body.
pub const SUBJECT: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40500"><Model name="subject"><Ground name="ground"/><gravity>0 -9.80665 0</gravity><BodySet name="bodyset"><objects>
<Body name="pelvis"><mass>35</mass><mass_center>-0.05 0.2 0</mass_center><inertia>1.5 0.6 1.4 0 0 0</inertia></Body>
<Body name="thigh"><mass>8</mass><mass_center>0 -0.18 0</mass_center><inertia>0.13 0.03 0.14 0 0 0</inertia>
<WrapObjectSet name="wrapobjectset"><objects><WrapCylinder name="knee_drum"><translation>0 -0.4 0</translation><radius>0.03</radius><length>0.1</length><quadrant>all</quadrant></WrapCylinder></objects></WrapObjectSet></Body>
<Body name="shank"><mass>4</mass><mass_center>0 -0.2 0</mass_center><inertia>0.07 0.01 0.08 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><CustomJoint name="ground_pelvis"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/pelvis</socket_child_frame>
<coordinates><Coordinate name="pelvis_tilt"/><Coordinate name="pelvis_list"/><Coordinate name="pelvis_rotation"/><Coordinate name="pelvis_tx"><range>-5 5</range></Coordinate><Coordinate name="pelvis_ty"><default_value>0.95</default_value><range>-1 2</range></Coordinate><Coordinate name="pelvis_tz"><range>-3 3</range></Coordinate></coordinates>
<SpatialTransform><TransformAxis name="rotation1"><coordinates>pelvis_tilt</coordinates><axis>0 0 1</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="rotation2"><coordinates>pelvis_list</coordinates><axis>1 0 0</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="rotation3"><coordinates>pelvis_rotation</coordinates><axis>0 1 0</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="translation1"><coordinates>pelvis_tx</coordinates><axis>1 0 0</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="translation2"><coordinates>pelvis_ty</coordinates><axis>0 1 0</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="translation3"><coordinates>pelvis_tz</coordinates><axis>0 0 1</axis><LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis></SpatialTransform></CustomJoint>
<PinJoint name="hip"><socket_parent_frame>pelvis_offset</socket_parent_frame><socket_child_frame>/bodyset/thigh</socket_child_frame><coordinates><Coordinate name="hip_flexion"><range>-2 2</range><clamped>true</clamped></Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="pelvis_offset"><socket_parent>/bodyset/pelvis</socket_parent><translation>-0.06 -0.07 0.08</translation></PhysicalOffsetFrame></frames></PinJoint>
<PinJoint name="knee"><socket_parent_frame>thigh_offset</socket_parent_frame><socket_child_frame>/bodyset/shank</socket_child_frame><coordinates><Coordinate name="knee_angle"><range>-2.5 0.2</range></Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="thigh_offset"><socket_parent>/bodyset/thigh</socket_parent><translation>0 -0.4 0</translation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet>
<ForceSet name="forceset"><objects><Millard2012EquilibriumMuscle name="flexor"><path><GeometryPath name="path"><PathPointSet><objects><PathPoint name="p1"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame><location>0.04 0.02 0.08</location></PathPoint><PathPoint name="p2"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.03 -0.1 0</location></PathPoint></objects></PathPointSet></GeometryPath></path>
<max_isometric_force>2500</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.09</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal></Millard2012EquilibriumMuscle>
<Thelen2003Muscle name="extensor"><path><GeometryPath name="path"><PathPointSet><objects><PathPoint name="p1"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame><location>-0.13 0.02 0.06</location></PathPoint><PathPoint name="p2"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>-0.04 -0.15 0.01</location></PathPoint></objects></PathPointSet></GeometryPath></path>
<max_isometric_force>3000</max_isometric_force><optimal_fiber_length>0.15</optimal_fiber_length><tendon_slack_length>0.08</tendon_slack_length></Thelen2003Muscle>
<Millard2012EquilibriumMuscle name="vasti"><path><GeometryPath name="path"><PathPointSet><objects><PathPoint name="p1"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.04 -0.2 0</location></PathPoint><PathPoint name="p2"><socket_parent_frame>/bodyset/shank</socket_parent_frame><location>0.05 -0.06 0</location></PathPoint></objects></PathPointSet>
<PathWrapSet><objects><PathWrap name="w"><wrap_object>knee_drum</wrap_object></PathWrap></objects></PathWrapSet></GeometryPath></path>
<max_isometric_force>5000</max_isometric_force><optimal_fiber_length>0.12</optimal_fiber_length><tendon_slack_length>0.14</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal></Millard2012EquilibriumMuscle>
<CoordinateLimitForce name="stop"><coordinate>knee_angle</coordinate><upper_stiffness>2</upper_stiffness><upper_limit>5</upper_limit><lower_stiffness>2</lower_stiffness><lower_limit>-140</lower_limit><damping>0.01</damping><transition>10</transition></CoordinateLimitForce></objects></ForceSet>
<MarkerSet name="markerset"><objects><Marker name="ASIS"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame><location>0.03 0.04 0.12</location></Marker><Marker name="PSIS"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame><location>-0.15 0.04 0.05</location></Marker><Marker name="Sacrum"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame><location>-0.14 0.02 -0.05</location></Marker>
<Marker name="Thigh"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.07 -0.2 0.03</location></Marker><Marker name="Knee"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0 -0.4 0.06</location></Marker>
<Marker name="Shank"><socket_parent_frame>/bodyset/shank</socket_parent_frame><location>0.05 -0.15 0.01</location></Marker><Marker name="Ankle"><socket_parent_frame>/bodyset/shank</socket_parent_frame><location>0 -0.41 0.04</location></Marker></objects></MarkerSet>
</Model></OpenSimDocument>
"#;

/// Markers at the default pose, m, in the order of the model: pelvis 0.95 m up, leg straight.
const MARKERS: [(&str, [f64; 3]); 7] = [
    ("ASIS", [0.03, 0.99, 0.12]),
    ("PSIS", [-0.15, 0.99, 0.05]),
    ("Sacrum", [-0.14, 0.97, -0.05]),
    ("Thigh", [0.01, 0.68, 0.11]),
    ("Knee", [-0.06, 0.48, 0.14]),
    ("Shank", [-0.01, 0.33, 0.09]),
    ("Ankle", [-0.06, 0.07, 0.12]),
];

/// Every file, by name.
pub fn subject_files() -> Vec<(&'static str, Vec<u8>)> {
    let texts = [
        ("subject.osim", SUBJECT),
        ("leg.osim", include_str!("../../../models/leg_swing.osim")),
        ("tasks.xml", TASKS),
        ("pairs.xml", PAIRS),
        ("loads.xml", LOADS),
        ("study.toml", STUDY),
        ("pipeline.toml", PIPELINE),
        ("states.json", STATES),
        ("cmc_tasks.xml", CMC_TASKS),
        ("parts.toml", PARTS),
        ("limits.xml", corpus::LIMITS),
        ("cycle.csv", corpus::CYCLE),
    ];
    let mut files: Vec<(&str, Vec<u8>)> = texts.map(|(n, t)| (n, t.as_bytes().to_vec())).to_vec();
    let text = |t: &Table| sto::write(t, sto::Digits::Shortest).into_bytes();
    files.push(("walk.trc", trc::write(&markers(), "walk.trc").unwrap_or_default().into_bytes()));
    files.push(("walk.csv", csv::write(&markers()).into_bytes()));
    files.push(("walk.c3d", recorded()));
    files.push(("walk.mot", text(&motion())));
    files.push(("plates.mot", text(&plates())));
    files.push(("controls.sto", text(&controls())));
    files.push(("emg.sto", text(&signals())));
    files.push(("kept.iterate", iterate(&files)));
    files.push(("kept_walk.json", kept_walk().unwrap_or_default()));
    files
}

/// What a solve of the study has reached after three iterations.
fn iterate(files: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let files = files.iter().fold(Memory::new(), |m, (name, bytes)| m.with(name, bytes.clone()));
    let options = SolveOptions { save_iterates: true, ..few_iterations() };
    let _ = Solve { study: "study.toml".into(), options, ..Solve::default() }.run(&Context::new(&files));
    files.read("kept.iterate".as_ref()).unwrap_or_default()
}

/// A few iterations: a solver is not a tool for many cases. A mesh that fills memory is what a user may ask for.
pub fn few_iterations() -> SolveOptions {
    SolveOptions {
        intervals: Some(4),
        max_iterations: Some(3),
        threads: Some(1),
        solution: Some("solution.sto".into()),
        iterate: Some("kept.iterate".into()),
        ..SolveOptions::default()
    }
}

/// Half of the walk that ships with Soleus, every tenth row, as a prediction keeps it.
fn kept_walk() -> Option<Vec<u8>> {
    let walker = prediction::walker(prediction::model().ok()?).ok()?;
    let (table, _) = sto::read(WALK, "gait2d_walk.sto");
    let table = table?;
    let rows: Vec<usize> = (0..=table.rows() / 2).step_by(10).collect();
    let columns = |names: &[String]| {
        let column = |name: &String| match table.column(name) {
            Some(c) => rows.iter().map(|r| c[*r]).collect::<Vec<f64>>(),
            None => vec![0.1; rows.len()],
        };
        names.iter().map(|n| (n.clone(), column(n))).collect::<Vec<_>>()
    };
    let walk = serde_json::json!({
        "conditions": { "speed": 1.3, "slope_deg": 0.0, "ankle_spring": 0.0 },
        "times": rows.iter().map(|r| table.times()[*r]).collect::<Vec<f64>>(),
        "states": columns(&walker.base.states),
        "controls": columns(&walker.base.controls),
    });
    serde_json::to_vec(&walk).ok()
}

/// The markers and a force plate as a laboratory records them: z up, mm.
fn recorded() -> Vec<u8> {
    let markers = markers();
    let frame = |row: usize| {
        let at = |c: usize| 1000.0 * markers.columns()[c][row] as f32;
        let points = (0..MARKERS.len()).flat_map(|k| [at(3 * k), -at(3 * k + 2), at(3 * k + 1), 0.0]);
        // Forces that act on the plate, in its own axes, and an electromyogram.
        let channels = [10.0, -30.0, 450.0, 4500.0, -9000.0, 500.0, 0.2].map(|x: f32| x + 16.0);
        points.chain(channels).chain(channels).collect::<Vec<f32>>()
    };
    let frames: Vec<Vec<f32>> = (0..markers.rows()).map(frame).collect();
    c3d_of(true, &MARKERS.map(|m| m.0), &frames)
}

/// Envelopes of two muscles.
fn signals() -> Table {
    let column = |k: usize| times().iter().map(|t| 0.3 + 0.1 * k as f64 + t).collect::<Vec<f64>>();
    table(Element::Scalar, &["flexor", "VL"], (0..2).map(column).collect())
}

/// The walker that ships with Soleus.
pub const WALKER: &[u8] = include_bytes!("../../../models/gait2d.osim");

/// Its walk.
const WALK: &[u8] = include_bytes!("../../../models/gait2d_walk.sto");

/// The walker, its walk, and what a laboratory would have recorded of it: markers, plates, sensors. Without a file that could not be made
/// there are fewer, and the tests that need it say so.
pub fn walker_files() -> Vec<(String, Vec<u8>)> {
    let files = Memory::new().with("gait2d.osim", WALKER).with("gait2d_walk.sto", WALK);
    let cx = Context::new(&files);
    let trial = Synthesize {
        model: "gait2d.osim".into(),
        motion: "gait2d_walk.sto".into(),
        cycles: 2,
        output: Some("lab".into()),
        ..Synthesize::default()
    };
    let _ = trial.run(&cx).and_then(|made| made.write(&cx));
    let placed = PlaceSensors {
        model: "gait2d.osim".into(),
        orientations: "lab/static_imu.sto".into(),
        sensor_to_ground: [-PI / 2.0, 0.0, 0.0],
        output: Some("sensors.osim".into()),
        ..PlaceSensors::default()
    };
    let _ = placed.run(&cx).and_then(|made| made.write(&cx));
    let bytes = |name: std::path::PathBuf| {
        let bytes = files.read(&name).unwrap_or_default();
        (name.display().to_string(), bytes)
    };
    files.names().into_iter().map(bytes).collect()
}

fn times() -> Vec<f64> {
    (0..ROWS).map(|i| f64::from(i) * 0.01).collect()
}

/// A table from functions of time.
fn table(element: Element, labels: &[&str], columns: Vec<Vec<f64>>) -> Table {
    let labels = labels.iter().map(ToString::to_string).collect();
    Table::new(element, labels, times(), columns).unwrap_or_default()
}

/// Everybody moves a centimeter back and forth.
fn markers() -> Table {
    let labels = MARKERS.map(|m| m.0);
    let mut columns = Vec::new();
    for (k, (_, place)) in MARKERS.iter().enumerate() {
        for (axis, x) in place.iter().enumerate() {
            let move_ = |t: &f64| x + 0.01 * (2.0 * PI * t + axis as f64 + 0.1 * k as f64).sin();
            columns.push(times().iter().map(move_).collect());
        }
    }
    let mut t = table(Element::Vec(3), &labels, columns);
    t.set_metadata("Units", "m");
    t.set_metadata("DataRate", "100");
    t
}

fn motion() -> Table {
    let labels = [
        "pelvis_tilt",
        "pelvis_list",
        "pelvis_rotation",
        "pelvis_tx",
        "pelvis_ty",
        "pelvis_tz",
        "hip_flexion",
        "knee_angle",
    ];
    let at = [-0.1, 0.05, 0.1, 0.5, 0.95, 0.1, 0.2, -0.5];
    let column = |k: usize| {
        times().iter().map(|t| at[k] + 0.1 * (2.0 * PI * t + k as f64).sin()).collect::<Vec<f64>>()
    };
    let mut t = table(Element::Scalar, &labels, (0..8).map(column).collect());
    t.in_degrees = Some(false);
    t
}

fn plates() -> Table {
    let labels = [
        "foot_force_vx",
        "foot_force_vy",
        "foot_force_vz",
        "foot_force_px",
        "foot_force_py",
        "foot_force_pz",
        "foot_moment_x",
        "foot_moment_y",
        "foot_moment_z",
    ];
    let at = [30.0, 450.0, 10.0, 0.4, 0.0, 0.1, 0.5, 3.0, -0.3];
    let column =
        |k: usize| times().iter().map(|t| at[k] * (1.0 + 0.1 * (5.0 * t).sin())).collect::<Vec<f64>>();
    table(Element::Scalar, &labels, (0..9).map(column).collect())
}

fn controls() -> Table {
    let labels = ["/forceset/flexor", "/forceset/extensor", "/forceset/vasti"];
    let column = |k: usize| times().iter().map(|t| 0.1 * k as f64 + t).collect::<Vec<f64>>();
    table(Element::Scalar, &labels, (0..3).map(column).collect())
}

const TASKS: &str = r#"<OpenSimDocument Version="40000"><IKTaskSet name="tasks"><objects><IKMarkerTask name="ASIS"><apply>true</apply><weight>10</weight></IKMarkerTask>
<IKMarkerTask name="Knee"><apply>true</apply><weight>1</weight></IKMarkerTask><IKMarkerTask name="Ankle"><apply>true</apply><weight>5</weight></IKMarkerTask><IKMarkerTask name="Thigh"><apply>true</apply><weight>1</weight></IKMarkerTask>
<IKCoordinateTask name="knee_angle"><apply>true</apply><weight>0.1</weight><value_type>manual_value</value_type><value>-0.2</value></IKCoordinateTask></objects></IKTaskSet></OpenSimDocument>
"#;

const PAIRS: &str = r#"<OpenSimDocument Version="40000"><MeasurementSet name="measurements"><objects><Measurement name="shank"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>Knee Ankle</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="shank"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet></Measurement><Measurement name="pelvis"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>ASIS PSIS</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="pelvis"><axes>X Z</axes></BodyScale></objects></BodyScaleSet></Measurement></objects></MeasurementSet></OpenSimDocument>
"#;

const LOADS: &str = r#"<OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects><ExternalForce name="foot"><applied_to_body>shank</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body><force_identifier>foot_force_v</force_identifier><point_identifier>foot_force_p</point_identifier><torque_identifier>foot_moment_</torque_identifier></ExternalForce></objects>
<datafile>plates.mot</datafile></ExternalLoads></OpenSimDocument>
"#;

const STUDY: &str = r#"name = "swing"
model = "subject.osim"
[[operators]]
type = "replace_muscles_with_degroote_fregly_2016"
[time]
initial = 0
final = [0.05, 0.2]
[defaults]
speeds = [-20, 20]
[[states]]
name = "knee_angle/value"
bounds = [-2, 0.1]
initial = -0.5
[[states]]
pattern = ".*/activation"
bounds = [0.01, 1]
[[goals]]
type = "control"
name = "effort"
weight = 1
[solver]
intervals = 4
scheme = "hermite-simpson"
[output]
solution = "out.sto"
"#;

const PIPELINE: &str = r#"[scale]
model = "subject.osim"
markers = "walk.trc"
measurements = "pairs.xml"
mass = 60
[ik]
tasks = "tasks.xml"
[filter]
lowpass_hz = 6
[so]
reserves = 20
residuals = [250, 1000]
exponent = 2
[jr]
frame = "child"
[[trials]]
name = "walk"
markers = "walk.trc"
loads = "loads.xml"
from = 0.02
to = 0.08
"#;

const STATES: &str = r#"{"states": [{"coordinates": {"/jointset/hip/hip_flexion": [0.4, 1.5], "/jointset/knee/knee_angle": [-0.7, -2.0]},
"aux_states": {"/forceset/flexor/activation": 0.5}, "controls": [0.1, 0.2, 0.3], "inverse_dynamics": {"udot": [1, 2, 3, 4, 5, 6, 7, 8]}}, {}]}
"#;

const CMC_TASKS: &str = r#"<OpenSimDocument Version="40000"><CMC_TaskSet name="tasks"><objects>
<CMC_Joint name="pelvis_tilt"><on>true</on><weight>1000</weight><active>true false false</active><kp>100</kp><kv>20</kv><ka>1</ka><coordinate>pelvis_tilt</coordinate></CMC_Joint>
<CMC_Joint name="pelvis_tx"><on>true</on><weight>5</weight><active>true false false</active><kp>100</kp><kv>20</kv><ka>1</ka><coordinate>pelvis_tx</coordinate></CMC_Joint>
<CMC_Joint name="hip_flexion"><on>true</on><weight>75</weight><active>true false false</active><kp>100</kp><kv>20</kv><ka>1</ka><coordinate>hip_flexion</coordinate></CMC_Joint>
<CMC_Joint name="knee_angle"><on>true</on><weight>10</weight><active>true false false</active><kp>100</kp><kv>20</kv><ka>1</ka><coordinate>knee_angle</coordinate></CMC_Joint></objects></CMC_TaskSet></OpenSimDocument>
"#;

const PARTS: &str = r#"[[add]]
type = "spring"
name = "exo"
coordinate = "ankle_angle_r"
stiffness = 20
rest_deg = 5
free = { stiffness = [0, 300] }
[[add]]
type = "torque"
name = "motor"
coordinate = "knee_angle_r"
max = 50
[[add]]
type = "mass"
body = "trunk"
mass = 5
location = [0, 0.3, 0]
[[add]]
type = "prosthesis"
name = "foot"
coordinate = "ankle_angle_l"
stiffness = 200
damping = 1
both_sides = false
"#;

/// Setups of the tools, of which every file is there.
pub const TOOL_SETUPS: &[&str] = &[
    r#"<OpenSimDocument Version="40000"><InverseKinematicsTool name="ik"><model_file>subject.osim</model_file><constraint_weight>Inf</constraint_weight><accuracy>1e-5</accuracy>
<IKTaskSet><objects><IKMarkerTask name="Knee"><apply>true</apply><weight>2</weight></IKMarkerTask><IKCoordinateTask name="knee_angle"><apply>true</apply><weight>1</weight><value_type>manual_value</value_type><value>-0.3</value></IKCoordinateTask></objects></IKTaskSet>
<marker_file>walk.trc</marker_file><time_range>0 0.1</time_range><report_errors>true</report_errors><output_motion_file>o.mot</output_motion_file></InverseKinematicsTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><InverseDynamicsTool name="id"><model_file>subject.osim</model_file><time_range>0 1</time_range><forces_to_exclude>Muscles</forces_to_exclude>
<external_loads_file>loads.xml</external_loads_file><coordinates_file>walk.mot</coordinates_file><lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates><joints_to_report_body_forces>knee</joints_to_report_body_forces></InverseDynamicsTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><ScaleTool name="subject"><mass>60</mass><height>1.8</height><age>30</age><GenericModelMaker><model_file>subject.osim</model_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>measurements manualScale</scaling_order><MeasurementSet><objects><Measurement name="shank"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>Knee Ankle</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="shank"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet></Measurement></objects></MeasurementSet>
<ScaleSet><objects><Scale><scales>1 1.1 1</scales><segment>thigh</segment><apply>true</apply></Scale></objects></ScaleSet><marker_file>walk.trc</marker_file><time_range>0 1</time_range></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects><IKMarkerTask name="Knee"><weight>1</weight></IKMarkerTask></objects></IKTaskSet><marker_file>walk.trc</marker_file><time_range>0 1</time_range><max_marker_movement>-1</max_marker_movement><output_model_file>s.osim</output_model_file></MarkerPlacer></ScaleTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><AnalyzeTool name="a"><model_file>subject.osim</model_file><initial_time>0</initial_time><final_time>0.1</final_time><solve_for_equilibrium_for_auxiliary_states>true</solve_for_equilibrium_for_auxiliary_states>
<AnalysisSet><objects><Kinematics name="k"><on>true</on><step_interval>2</step_interval><coordinates>all</coordinates></Kinematics><StaticOptimization name="so"><activation_exponent>2</activation_exponent><use_muscle_physiology>true</use_muscle_physiology><step_interval>5</step_interval></StaticOptimization>
<JointReaction name="jr"><joint_names>ALL</joint_names><apply_on_bodies>child</apply_on_bodies><express_in_frame>ground</express_in_frame></JointReaction><PointKinematics name="p"><body_name>shank</body_name><point>0 0 0</point></PointKinematics>
<MuscleAnalysis name="m"><muscle_list>all</muscle_list><moment_arm_coordinate_list>all</moment_arm_coordinate_list></MuscleAnalysis><BodyKinematics name="b"><bodies>all</bodies></BodyKinematics></objects></AnalysisSet>
<ControllerSet><objects/></ControllerSet><external_loads_file>loads.xml</external_loads_file><coordinates_file>walk.mot</coordinates_file><lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates></AnalyzeTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><ForwardTool name="f"><model_file>subject.osim</model_file><ControllerSet><objects/></ControllerSet><initial_time>0</initial_time><final_time>0.005</final_time>
<maximum_number_of_integrator_steps>100</maximum_number_of_integrator_steps><maximum_integrator_step_size>1</maximum_integrator_step_size><minimum_integrator_step_size>1e-8</minimum_integrator_step_size><integrator_error_tolerance>1e-4</integrator_error_tolerance></ForwardTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><MocoInverse name="inverse"><ModelProcessor name="model"><filepath>subject.osim</filepath><operators><ModOpReplaceMusclesWithDeGrooteFregly2016/><ModOpIgnoreTendonCompliance/><ModOpAddReserves><optimal_force>100</optimal_force></ModOpAddReserves></operators></ModelProcessor>
<TableProcessor name="kinematics"><filepath>walk.mot</filepath></TableProcessor><initial_time>0.02</initial_time><final_time>0.06</final_time><mesh_interval>0.02</mesh_interval><max_iterations>3</max_iterations></MocoInverse></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><CMCTool name="cmc"><model_file>subject.osim</model_file><initial_time>0.02</initial_time><final_time>0.08</final_time><external_loads_file>loads.xml</external_loads_file>
<desired_kinematics_file>walk.mot</desired_kinematics_file><task_set_file>cmc_tasks.xml</task_set_file><cmc_time_window>0.01</cmc_time_window><use_fast_optimization_target>false</use_fast_optimization_target></CMCTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><RRATool name="rra"><model_file>subject.osim</model_file><replace_force_set>false</replace_force_set><initial_time>0.02</initial_time><final_time>0.06</final_time><external_loads_file>loads.xml</external_loads_file><desired_kinematics_file>walk.mot</desired_kinematics_file>
<task_set_file>cmc_tasks.xml</task_set_file><adjust_com_to_reduce_residuals>true</adjust_com_to_reduce_residuals><adjusted_com_body>pelvis</adjusted_com_body><output_model_file>moved.osim</output_model_file></RRATool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><MocoTrack name="track"><ModelProcessor name="model"><filepath>subject.osim</filepath><operators><ModOpReplaceMusclesWithDeGrooteFregly2016/><ModOpIgnoreTendonCompliance/><ModOpAddReserves><optimal_force>100</optimal_force></ModOpAddReserves></operators></ModelProcessor>
<TableProcessor name="states_reference"><filepath>walk.mot</filepath></TableProcessor><initial_time>0.02</initial_time><final_time>0.06</final_time><mesh_interval>0.02</mesh_interval><allow_unused_references>true</allow_unused_references></MocoTrack></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><MocoStudy name="study"><MocoProblem name="problem"><MocoPhase name="phases"><ModelProcessor name="model"><filepath>subject.osim</filepath><operators><ModOpReplaceMusclesWithDeGrooteFregly2016/><ModOpIgnoreTendonCompliance/><ModOpAddReserves><optimal_force>100</optimal_force></ModOpAddReserves></operators></ModelProcessor>
<time_initial_bounds>0 0</time_initial_bounds><time_final_bounds>0.05 0.2</time_final_bounds><default_speed_bounds>-20 20</default_speed_bounds><state_infos><MocoVariableInfo name="/jointset/knee/knee_angle/value"><bounds>-2 0.1</bounds><initial_bounds>-0.5</initial_bounds></MocoVariableInfo></state_infos>
<goals><MocoControlGoal name="effort"><weight>1</weight><exponent>2</exponent></MocoControlGoal></goals></MocoPhase></MocoProblem>
<MocoCasADiSolver name="solver"><num_mesh_intervals>4</num_mesh_intervals><transcription_scheme>hermite-simpson</transcription_scheme><optim_max_iterations>3</optim_max_iterations></MocoCasADiSolver></MocoStudy></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><IMUPlacer><model_file>gait2d.osim</model_file><orientation_file_for_calibration>lab/static_imu.sto</orientation_file_for_calibration><sensor_to_opensim_rotations>-1.5707963267948966 0 0</sensor_to_opensim_rotations><output_model_file>placed.osim</output_model_file></IMUPlacer></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><IMUInverseKinematicsTool><model_file>sensors.osim</model_file><orientations_file>lab/walk_imu.sto</orientations_file><sensor_to_opensim_rotations>-1.5707963267948966 0 0</sensor_to_opensim_rotations><time_range>0 0.1</time_range></IMUInverseKinematicsTool></OpenSimDocument>"#,
];
