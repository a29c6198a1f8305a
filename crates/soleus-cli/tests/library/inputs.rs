//! Small input files: models that ship or can be drawn, motions of formulas, setup files of OpenSim's tools.

use crate::imu;
use soleus::{Context, Memory, Outcome, Synthesize};
use soleus_io::table::sto::{Digits, write, write_typed};
use soleus_math::Table;
use soleus_math::table::Element;
use std::sync::LazyLock;

/// A file: its name and what is in it.
pub type File = (&'static str, Vec<u8>);

/// Three pin joints and eight muscles.
pub fn leg() -> File {
    ("leg.osim", include_bytes!("../../../../models/leg_swing.osim").to_vec())
}

/// The planar walker.
pub fn walker() -> File {
    ("gait.osim", include_bytes!("../../../../models/gait2d.osim").to_vec())
}

/// What a laboratory records of two cycles of it: markers and plates; and the states behind them.
pub fn lab() -> Vec<File> {
    static LAB: LazyLock<Vec<File>> = LazyLock::new(|| {
        let states = include_bytes!("../../../../models/gait2d_walk.sto").to_vec();
        let files = Memory::new().with("gait.osim", walker().1).with("states.sto", states);
        let request = Synthesize {
            model: "gait.osim".into(),
            motion: "states.sto".into(),
            cycles: 2,
            rate: 50.0,
            output: Some("lab".into()),
            ..Synthesize::default()
        };
        let made = request.run(&Context::new(&files)).unwrap();
        let artifacts = made.artifacts();
        let recorded = |name: &'static str| {
            let artifact = artifacts.iter().find(|a| a.path.ends_with(name)).unwrap();
            (name, artifact.to_bytes().into_owned())
        };
        vec![walker(), recorded("walk.trc"), recorded("walk_grf.mot"), recorded("walk_truth.sto")]
    });
    LAB.clone()
}

/// Parts for it: a spring at the ankles whose stiffness is to be found, and a torque.
pub fn parts() -> File {
    text(
        "parts.toml",
        "[[add]]\ntype = \"spring\"\nname = \"exo\"\ncoordinate = \"ankle_angle_r\"\nstiffness = 20\nfree = { stiffness = [0, 300] }\n\
         [[add]]\ntype = \"torque\"\ncoordinate = \"hip_angle_r\"\nmax = 30\n",
    )
}

/// Two pin joints, each with a moment.
pub fn reach() -> File {
    ("reach.osim", include_bytes!("../../../../models/reach.osim").to_vec())
}

/// A pendulum as OpenSim 3 wrote models.
pub fn old() -> File {
    ("old.osim", include_bytes!("../../../../examples/pendulum_v3.osim").to_vec())
}

/// States of the leg.
pub fn states() -> File {
    ("states.json", include_bytes!("../../../../examples/states.json").to_vec())
}

fn text(name: &'static str, text: impl Into<String>) -> File {
    (name, text.into().into_bytes())
}

/// A document of OpenSim's with one object.
fn document(name: &'static str, object: &str) -> File {
    text(
        name,
        format!(
            "<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"40600\">\n{object}\n</OpenSimDocument>\n"
        ),
    )
}

/// Three markers of a body that moves in a plane, m; the last is not fixed.
const MARKERS: [(&str, [f64; 3]); 3] =
    [("A", [0.0, 0.0, 0.0]), ("B", [0.3, 0.0, 0.0]), ("C", [0.0, 0.2, 0.1])];

/// A body of 10 kg that moves in the vertical plane, with three markers.
pub fn plate() -> File {
    let marker = |(name, p): &(&str, [f64; 3])| {
        format!(
            "<Marker name=\"{name}\"><socket_parent_frame>/bodyset/plate</socket_parent_frame>\
             <location>{} {} {}</location><fixed>{}</fixed></Marker>\n",
            p[0],
            p[1],
            p[2],
            *name != "C"
        )
    };
    let markers: String = MARKERS.iter().map(marker).collect();
    let coordinate = |name: &str| format!("<Coordinate name=\"{name}\"><range>-10 10</range></Coordinate>\n");
    let coordinates: String = ["turn", "tx", "ty"].map(coordinate).concat();
    document(
        "plate.osim",
        &format!(
            "<Model name=\"plate\">\n<gravity>0 -9.81 0</gravity>\n<Ground name=\"ground\"/>\n\
             <BodySet name=\"bodyset\"><objects><Body name=\"plate\"><mass>10</mass><mass_center>0 0 0</mass_center>\n\
             <inertia>0.5 0.5 0.5 0 0 0</inertia></Body></objects></BodySet>\n\
             <JointSet name=\"jointset\"><objects><PlanarJoint name=\"root\">\n\
             <socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/plate</socket_child_frame>\n\
             <coordinates>\n{coordinates}</coordinates></PlanarJoint></objects></JointSet>\n\
             <MarkerSet name=\"markerset\"><objects>\n{markers}</objects></MarkerSet>\n</Model>"
        ),
    )
}

/// The plate with an actuator of its own.
pub fn driven_plate() -> File {
    let force = "<ForceSet name=\"forceset\"><objects><CoordinateActuator name=\"lift\"><coordinate>ty</coordinate>\
        <optimal_force>50</optimal_force></CoordinateActuator></objects></ForceSet>\n</Model>";
    let plate = String::from_utf8(plate().1).unwrap();
    text("driven.osim", plate.replace("</Model>", force))
}

fn times(rows: u32, step: f64) -> Vec<f64> {
    (0..rows).map(|i| step * f64::from(i)).collect()
}

/// A table of numbers, each column a function of time.
fn table(labels: &[&str], times: Vec<f64>, in_degrees: bool, of: &[fn(f64) -> f64]) -> Vec<u8> {
    let columns = of.iter().map(|f| times.iter().map(|&t| f(t)).collect()).collect();
    let labels = labels.iter().map(|l| l.to_string()).collect();
    let mut table = Table::new(Element::Scalar, labels, times, columns).unwrap();
    table.in_degrees = Some(in_degrees);
    write(&table, Digits::Shortest).into_bytes()
}

/// What a camera sees of a plate that is `size` times as large as the model.
fn seen(name: &'static str, rows: u32, size: f64) -> File {
    let times = times(rows, 0.01);
    let mut columns = Vec::new();
    for (_, p) in MARKERS {
        let place = |&t: &f64| {
            let (s, c) = (0.3 * (6.0 * t).sin()).sin_cos();
            let [x, y, z] = p.map(|x| size * x);
            [0.5 * t + c * x - s * y, 1.0 + 0.1 * (5.0 * t).cos() + s * x + c * y, z]
        };
        let places: Vec<[f64; 3]> = times.iter().map(place).collect();
        columns.extend((0..3).map(|k| places.iter().map(|p| p[k]).collect::<Vec<_>>()));
    }
    let labels = MARKERS.iter().map(|m| m.0.to_string()).collect();
    let table = Table::new(Element::Vec(3), labels, times, columns).unwrap();
    (name, write_typed(&table).into_bytes())
}

/// Half a second of markers.
pub fn walk() -> File {
    seen("walk.sto", 51, 1.0)
}

/// A static trial of a larger subject.
pub fn still() -> File {
    seen("static.sto", 6, 1.2)
}

/// Coordinates of the plate.
pub fn plate_motion() -> File {
    let of: [fn(f64) -> f64; 3] = [|t| 0.3 * (6.0 * t).sin(), |t| 0.5 * t, |t| 1.0 + 0.1 * (5.0 * t).cos()];
    ("plate.mot", table(&["turn", "tx", "ty"], times(51, 0.01), false, &of))
}

/// A push on the plate: the loads, and the table that they name.
pub fn push() -> [File; 2] {
    let labels = ["f_vx", "f_vy", "f_vz", "f_px", "f_py", "f_pz"];
    let of: [fn(f64) -> f64; 6] = [|t| 20.0 * t, |_| 98.1, |_| 0.0, |t| 0.5 * t, |_| 1.0, |_| 0.0];
    let loads = "<ExternalLoads name=\"loads\"><objects><ExternalForce name=\"push\"><isDisabled>false</isDisabled>\
        <applied_to_body>plate</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
        <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier>\
        <point_identifier>f_p</point_identifier></ExternalForce></objects><datafile>push.sto</datafile></ExternalLoads>";
    [document("loads.xml", loads), ("push.sto", table(&labels, times(51, 0.01), false, &of))]
}

/// A pelvis in the vertical plane with a trunk on it, which sways a little too much for its loads.
pub fn stand() -> [File; 4] {
    let coordinate = |name: &str| format!("<Coordinate name=\"{name}\"><range>-10 10</range></Coordinate>\n");
    let (root, lean) = (["turn", "tx", "ty"].map(coordinate).concat(), coordinate("lumbar_extension"));
    let body = |name: &str, mass: f64, height: f64| {
        format!(
            "<Body name=\"{name}\"><mass>{mass}</mass><mass_center>0 {height} 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>\n"
        )
    };
    let bodies = [body("pelvis", 10.0, 0.0), body("trunk", 20.0, 0.3)].concat();
    let model = document(
        "stand.osim",
        &format!(
            "<Model name=\"stand\">\n<gravity>0 -9.81 0</gravity>\n<Ground name=\"ground\"/>\n\
             <BodySet name=\"bodyset\"><objects>{bodies}</objects></BodySet>\n<JointSet name=\"jointset\"><objects>\n\
             <PlanarJoint name=\"root\"><socket_parent_frame>/ground</socket_parent_frame>\n\
             <socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>\n{root}</coordinates></PlanarJoint>\n\
             <PinJoint name=\"back\"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame>\n\
             <socket_child_frame>/bodyset/trunk</socket_child_frame><coordinates>\n{lean}</coordinates></PinJoint>\n\
             </objects></JointSet>\n</Model>"
        ),
    );
    let loads = "<ExternalLoads name=\"loads\"><objects><ExternalForce name=\"plate\"><isDisabled>false</isDisabled>\
        <applied_to_body>pelvis</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
        <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier>\
        <point_identifier>f_p</point_identifier></ExternalForce></objects><datafile>weight.sto</datafile></ExternalLoads>";
    let labels = ["f_vx", "f_vy", "f_vz", "f_px", "f_py", "f_pz"];
    let weight: [fn(f64) -> f64; 6] = [|_| 0.0, |_| 294.3, |_| 0.0, |_| 0.0, |_| 0.0, |_| 0.0];
    let sway: [fn(f64) -> f64; 4] = [|_| 0.0, |t| 0.002 * (6.0 * t).sin(), |_| 1.0, |_| 0.0];
    [
        model,
        document("stand.xml", loads),
        ("weight.sto", table(&labels, times(101, 0.01), false, &weight)),
        ("sway.sto", table(&["turn", "tx", "ty", "lumbar_extension"], times(101, 0.01), false, &sway)),
    ]
}

/// A slow swing of the arm, rad.
pub fn swing() -> File {
    let labels = ["/jointset/shoulder/shoulder_flexion/value", "/jointset/elbow/elbow_flexion/value"];
    let of: [fn(f64) -> f64; 2] =
        [|t| 0.3 * (1.0 - (4.0 * t).cos()), |t| 0.2 + 0.4 * (1.0 - (4.0 * t).cos())];
    ("swing.sto", table(&labels, times(31, 0.02), false, &of))
}

/// A swing that is too quick for the arm, rad.
pub fn throw() -> File {
    let of: [fn(f64) -> f64; 2] = [|_| 0.0, |t| 0.2 + 0.4 * (1.0 - (60.0 * t).cos())];
    ("throw.sto", table(&["shoulder_flexion", "elbow_flexion"], times(31, 0.005), false, &of))
}

/// A step of the leg, degrees.
pub fn step() -> File {
    let of: [fn(f64) -> f64; 3] = [|t| 20.0 - 50.0 * t, |t| -30.0 - 200.0 * t * t, |t| 5.0 + 20.0 * t];
    ("step.mot", table(&["hip_flexion", "knee_angle", "ankle_angle"], times(11, 0.02), true, &of))
}

/// One pose of the leg, degrees.
pub fn pose() -> File {
    let of: [fn(f64) -> f64; 3] = [|_| 20.0, |_| -30.0, |_| 5.0];
    ("pose.mot", table(&["hip_flexion", "knee_angle", "ankle_angle"], vec![0.0], true, &of))
}

/// Moments of the arm over time.
pub fn controls() -> File {
    let of: [fn(f64) -> f64; 2] = [|t| 0.2 * t, |t| 0.1 - t];
    ("controls.sto", table(&["shoulder_moment", "elbow_moment"], vec![0.0, 0.1], false, &of))
}

/// Four sensors on the leg: at rest, and in motion.
pub fn sensors() -> [File; 2] {
    let of = |rows: &str| format!("{}{rows}", imu::HEAD);
    [text("calibration.sto", of(imu::CALIBRATION)), text("motion.sto", of(imu::MOTION))]
}

/// The leg with its sensors, as the IMUPlacer leaves it.
pub fn calibrated() -> File {
    let files = soleus::Memory::new().with(leg().0, leg().1).with("placer.xml", placer_setup().1);
    let files = sensors().into_iter().fold(files, |m, (name, bytes)| m.with(name, bytes));
    let cx = soleus::Context::new(&files);
    let placed = soleus::SetupFile::new("placer.xml").run(&cx).unwrap();
    ("calibrated.osim", placed.artifacts()[0].to_bytes().into_owned())
}

/// The study that is built in, on a coarse mesh, with a model from a file.
pub fn study() -> File {
    let mut study = soleus::optimal_control::EXAMPLE.to_string();
    let changes = [
        ("builtin:reach", "reach.osim"),
        ("intervals = 20", "intervals = 5"),
        ("[refine]\ntolerance = 1e-4", "[output]\nsave_every_s = 30"),
    ];
    for (from, to) in changes {
        assert!(study.contains(from), "no `{from}` in the example");
        study = study.replace(from, to);
    }
    text("reach.toml", study)
}

/// From markers to muscles and joint loads.
pub fn pipeline() -> File {
    let study = "model = \"plate.osim\"\n[filter]\nlowpass_hz = 6\n[id]\n[so]\nresiduals = [10, 50]\n[jr]\n\
        [[trials]]\nname = \"walk\"\nmarkers = \"walk.sto\"\nloads = \"loads.xml\"\n";
    text("walking.toml", study)
}

const PAIRS: &str = "<MeasurementSet><objects><Measurement name=\"all\"><apply>true</apply><MarkerPairSet><objects>\
    <MarkerPair><markers>A B</markers></MarkerPair></objects></MarkerPairSet><BodyScaleSet><objects>\
    <BodyScale name=\"plate\"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet></Measurement></objects></MeasurementSet>";

/// The marker pair that tells the size of the plate.
pub fn pairs() -> File {
    document("pairs.xml", PAIRS)
}

/// Weights of the markers.
pub fn tasks() -> File {
    document("tasks.xml", &task_set())
}

fn task_set() -> String {
    let task = |(name, weight): (&str, f64)| {
        format!("<IKMarkerTask name=\"{name}\"><apply>true</apply><weight>{weight}</weight></IKMarkerTask>")
    };
    let list = [("A", 1.0), ("B", 2.0), ("C", 0.5)].map(task).concat();
    format!("<IKTaskSet><objects>{list}</objects></IKTaskSet>")
}

/// Setup files lie in a folder of their own: names in them are taken from there.
pub fn scale_setup() -> File {
    document(
        "setups/scale.xml",
        &format!(
            "<ScaleTool name=\"large\"><mass>15</mass><GenericModelMaker><model_file>../plate.osim</model_file>\
             </GenericModelMaker><ModelScaler><apply>true</apply><scaling_order>measurements</scaling_order>{PAIRS}\
             <marker_file>../static.sto</marker_file><time_range>0 0.05</time_range>\
             <output_model_file>scaled.osim</output_model_file><output_scale_file>factors.xml</output_scale_file>\
             </ModelScaler><MarkerPlacer><apply>true</apply>{}<marker_file>../static.sto</marker_file>\
             <time_range>0 0.05</time_range><output_model_file>placed.osim</output_model_file>\
             <output_motion_file>pose.mot</output_motion_file><output_marker_file>markers.xml</output_marker_file>\
             </MarkerPlacer></ScaleTool>",
            task_set()
        ),
    )
}

pub fn ik_setup() -> File {
    document(
        "setups/ik.xml",
        &format!(
            "<InverseKinematicsTool name=\"walk\"><model_file>../plate.osim</model_file>{}\
             <marker_file>../walk.sto</marker_file><time_range>0.1 0.3</time_range><results_directory>out</results_directory>\
             <output_motion_file>out/walk.mot</output_motion_file><report_marker_locations>true</report_marker_locations>\
             </InverseKinematicsTool>",
            task_set()
        ),
    )
}

pub fn id_setup() -> File {
    document(
        "setups/id.xml",
        "<InverseDynamicsTool name=\"walk\"><model_file>../plate.osim</model_file>\
         <coordinates_file>../plate.mot</coordinates_file><external_loads_file>../loads.xml</external_loads_file>\
         <lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates>\
         <time_range>0.1 0.4</time_range><results_directory>out</results_directory>\
         <output_gen_force_file>id.sto</output_gen_force_file></InverseDynamicsTool>",
    )
}

pub fn placer_setup() -> File {
    text("placer.xml", imu::placer("leg.osim", "pelvis_imu"))
}

pub fn imu_ik_setup() -> File {
    text("ik.xml", imu::TOOL)
}

pub fn analyze_setup() -> File {
    document(
        "setups/analyze.xml",
        "<AnalyzeTool name=\"step\"><model_file>../leg.osim</model_file><results_directory>out</results_directory>\
         <initial_time>0</initial_time><final_time>0.1</final_time><coordinates_file>../step.mot</coordinates_file>\
         <solve_for_equilibrium_for_auxiliary_states>true</solve_for_equilibrium_for_auxiliary_states>\
         <AnalysisSet name=\"a\"><objects><Kinematics name=\"Kinematics\"/><MuscleAnalysis name=\"MuscleAnalysis\"/>\
         <JointReaction name=\"JointReaction\"/></objects></AnalysisSet></AnalyzeTool>",
    )
}

pub fn forward_setup() -> File {
    document(
        "setups/forward.xml",
        "<ForwardTool name=\"arm\"><model_file>../reach.osim</model_file><results_directory>out</results_directory>\
         <initial_time>0</initial_time><final_time>0.1</final_time><ControllerSet name=\"c\"><objects>\
         <PrescribedController name=\"push\"><actuator_list>elbow_moment</actuator_list><ControlFunctions name=\"f\"><objects>\
         <Constant name=\"elbow_moment\"><value>0.2</value></Constant></objects></ControlFunctions></PrescribedController>\
         </objects></ControllerSet><AnalysisSet name=\"a\"><objects><Kinematics name=\"Kinematics\"/></objects></AnalysisSet>\
         </ForwardTool>",
    )
}

/// The elbow and the shoulder to follow.
pub fn follow() -> File {
    let task = |name: &str| {
        format!(
            "<CMC_Joint name=\"{name}\"><on>true</on><active>true false false</active><weight>10</weight><kp>100</kp>\
             <kv>20</kv><coordinate>{name}</coordinate></CMC_Joint>"
        )
    };
    let tasks = [task("shoulder_flexion"), task("elbow_flexion")].concat();
    document("setups/tasks.xml", &format!("<CMC_TaskSet><objects>{tasks}</objects></CMC_TaskSet>"))
}

pub fn cmc_setup() -> File {
    document(
        "setups/cmc.xml",
        "<CMCTool name=\"arm\"><model_file>../reach.osim</model_file><results_directory>out</results_directory>\
         <initial_time>0.1</initial_time><final_time>0.3</final_time><desired_kinematics_file>../swing.sto</desired_kinematics_file>\
         <task_set_file>tasks.xml</task_set_file><cmc_time_window>0.02</cmc_time_window></CMCTool>",
    )
}

pub fn rra_setup() -> File {
    document(
        "setups/rra.xml",
        "<RRATool name=\"arm\"><model_file>../reach.osim</model_file><replace_force_set>false</replace_force_set>\
         <results_directory>out</results_directory><initial_time>0.1</initial_time><final_time>0.3</final_time>\
         <desired_kinematics_file>../swing.sto</desired_kinematics_file><task_set_file>tasks.xml</task_set_file>\
         <adjust_com_to_reduce_residuals>true</adjust_com_to_reduce_residuals><adjusted_com_body>forearm</adjusted_com_body>\
         <output_model_file>changed.osim</output_model_file></RRATool>",
    )
}

pub fn study_setup() -> File {
    document(
        "setups/study.omoco",
        "<MocoStudy name=\"arm\"><MocoProblem name=\"problem\"><MocoPhase name=\"phases\"><ModelProcessor name=\"model\">\
         <filepath>../reach.osim</filepath></ModelProcessor><MocoInitialBounds name=\"time_initial_bounds\">\
         <bounds>0</bounds></MocoInitialBounds><MocoFinalBounds name=\"time_final_bounds\"><bounds>0.5</bounds></MocoFinalBounds>\
         <state_infos><MocoVariableInfo name=\"/jointset/elbow/elbow_flexion/value\"><bounds>0 2.5</bounds>\
         <MocoInitialBounds name=\"initial_bounds\"><bounds>0.1</bounds></MocoInitialBounds>\
         <MocoFinalBounds name=\"final_bounds\"><bounds>1</bounds></MocoFinalBounds></MocoVariableInfo></state_infos>\
         <state_infos_pattern><MocoVariableInfo name=\".*/speed\"><bounds>-20 20</bounds>\
         <MocoInitialBounds name=\"initial_bounds\"><bounds>0</bounds></MocoInitialBounds></MocoVariableInfo>\
         </state_infos_pattern><goals><MocoControlGoal name=\"effort\"/></goals></MocoPhase></MocoProblem>\
         <MocoCasADiSolver name=\"solver\"><num_mesh_intervals>5</num_mesh_intervals></MocoCasADiSolver></MocoStudy>",
    )
}

/// The same with too few iterations.
pub fn short_study_setup() -> File {
    let study = String::from_utf8(study_setup().1).unwrap();
    let few = "<optim_max_iterations>2</optim_max_iterations></MocoCasADiSolver>";
    text("setups/short.omoco", study.replace("</MocoCasADiSolver>", few))
}

pub fn inverse_setup() -> File {
    document(
        "setups/inverse.xml",
        "<MocoInverse name=\"arm\"><ModelProcessor name=\"model\"><filepath>../reach.osim</filepath></ModelProcessor>\
         <TableProcessor name=\"kinematics\"><filepath>../swing.sto</filepath></TableProcessor>\
         <mesh_interval>0.1</mesh_interval></MocoInverse>",
    )
}

pub fn track_setup() -> File {
    document(
        "setups/track.xml",
        "<MocoTrack name=\"arm\"><ModelProcessor name=\"model\"><filepath>../reach.osim</filepath></ModelProcessor>\
         <TableProcessor name=\"states_reference\"><filepath>../swing.sto</filepath></TableProcessor>\
         <track_reference_position_derivatives>true</track_reference_position_derivatives>\
         <apply_tracked_states_to_guess>true</apply_tracked_states_to_guess><mesh_interval>0.1</mesh_interval></MocoTrack>",
    )
}
