//! Files that are right: the shipped models and studies, and small ones made here.

use crate::subject::TOOL_SETUPS;
use soleus_io::{setup, table};
use soleus_math::Table;
use soleus_math::table::Element;

/// The files of a target; never none.
pub fn files(target: &str) -> Vec<Vec<u8>> {
    if let Some(files) = crate::tools::files(target) {
        return files;
    }
    let list: Vec<&[u8]> = match target {
        "osim" => vec![
            include_bytes!("../../../models/reach.osim"),
            include_bytes!("../../../models/suspended_mass.osim"),
            include_bytes!("../../../models/leg_swing.osim"),
            include_bytes!("../../../models/gait2d.osim"),
            include_bytes!("../../../models/geodesic_paths.osim"),
            include_bytes!("../../../examples/pendulum_v3.osim"),
            include_bytes!("../../soleus-io/tests/data/old_model.osim"),
            MIXED_MODEL.as_bytes(),
        ],
        "loads" => vec![LOADS.as_bytes()],
        "setup" => SETUPS.iter().chain(TOOL_SETUPS).map(|s| s.as_bytes()).collect(),
        "study" => vec![
            include_bytes!("../../../examples/kick.toml"),
            include_bytes!("../../../examples/via_point.toml"),
            include_bytes!("../../../examples/exo.toml"),
            STUDY.as_bytes(),
        ],
        "formula" => FORMULAS.iter().map(|s| s.as_bytes()).collect(),
        "expression" => EXPRESSIONS.iter().map(|s| s.as_bytes()).collect(),
        "obj" => vec![
            b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1 2 3\nf 1//1 3//1 4//1\nf -1 -2 -3 \\\n -4\n",
        ],
        "vtp" => vec![VTP.as_bytes()],
        "stl" => vec![STL.as_bytes()],
        _ => Vec::new(),
    };
    let mut all: Vec<Vec<u8>> = list.into_iter().map(<[u8]>::to_vec).collect();
    let vectors = vectors();
    match target {
        "sto" | "mot" => {
            all.push(table::sto::write(&scalars(), table::sto::Digits::Shortest).into_bytes());
            all.push(table::sto::write_typed(&vectors).into_bytes());
            all.push(
                b"name m\ndatacolumns 3\ndatarows 2\nrange 0 1\nendheader\na b c\n1 2 3\n4 5 6\n".to_vec(),
            );
        }
        "trc" => all.push(table::trc::write(&vectors, "a.trc").unwrap_or_default().into_bytes()),
        "csv" => {
            all.push(table::csv::write(&scalars()).into_bytes());
            all.push(b"\"time\";\"a;b\";c\n0,5;1;2\n1;;3\n".to_vec());
        }
        "parquet" => {
            all.push(table::parquet::write(&scalars()));
            all.push(include_bytes!("../../soleus-io/tests/data/polars.parquet").to_vec());
        }
        "controls" => all.push(setup::write_control_set(&scalars()).into_bytes()),
        "c3d" => all.extend([c3d(true), c3d(false)]),
        "iterate" => all.extend(crate::tools::files("solve iterate").unwrap_or_default()),
        "cycle" => all.push(CYCLE.as_bytes().to_vec()),
        "limits" => all.push(LIMITS.as_bytes().to_vec()),
        "mat" => all.push(mat()),
        "stl" => all.push(binary_stl()),
        _ => {}
    }
    assert!(!all.is_empty(), "no files for `{target}`");
    all
}

fn scalars() -> Table {
    let times: Vec<f64> = (0..12).map(|i| f64::from(i) * 0.1).collect();
    let column = |k: u32| times.iter().map(|t| (t * f64::from(k)).sin()).collect::<Vec<f64>>();
    let mut with_gap = column(3);
    with_gap[4] = f64::NAN;
    let labels = ["/jointset/hip/flexion/value", "soleus r", "knee_angle"].map(String::from).to_vec();
    let mut t = Table::new(Element::Scalar, labels, times.clone(), vec![column(1), with_gap, column(7)])
        .unwrap_or_default();
    t.name = "walk".into();
    t.in_degrees = Some(true);
    t.set_metadata("Units", "mm");
    t
}

fn vectors() -> Table {
    let times: Vec<f64> = (0..6).map(|i| f64::from(i) * 0.01).collect();
    let columns = (0..6).map(|k| times.iter().map(|t| 100.0 * f64::from(k) + t).collect()).collect();
    let mut t = Table::new(Element::Vec(3), vec!["R.ASIS".into(), "L.ASIS".into()], times, columns)
        .unwrap_or_default();
    t.set_metadata("Units", "mm");
    t.set_metadata("DataRate", "100");
    t
}

/// A trial of three points, seven channels and a force plate; floats, or integers of a big-endian machine.
fn c3d(is_float: bool) -> Vec<u8> {
    let frame = |i: u16| (26 * i..26 * (i + 1)).map(f32::from).collect();
    c3d_of(is_float, &["HEEL", "TOE", "ANG"], &[0, 1, 2, 3].map(frame))
}

/// A trial of points, seven channels and a force plate of two samples in each frame, mm, N and N mm. A frame has four numbers for each point,
/// the last 0 where it is seen, then fourteen of the channels.
pub(crate) fn c3d_of(is_float: bool, points: &[&str], frames: &[Vec<f32>]) -> Vec<u8> {
    let u16 = |x: u16| if is_float { x.to_le_bytes() } else { x.to_be_bytes() };
    let f32 = |x: f32| if is_float { x.to_le_bytes() } else { x.to_be_bytes() };
    let mut p = vec![1, 0x50, 0, if is_float { 84 } else { 86 }];
    let mut record = |id: i8, name: &str, body: &[u8]| {
        p.extend([name.len() as u8, id as u8]);
        p.extend(name.as_bytes());
        p.extend(u16(body.len() as u16 + 3));
        p.extend(body);
        p.push(0);
    };
    let integers = |dims: &[u8], v: &[u16]| -> Vec<u8> {
        [&[2, dims.len() as u8], dims].concat().into_iter().chain(v.iter().flat_map(|x| u16(*x))).collect()
    };
    let floats = |dims: &[u8], v: &[f32]| -> Vec<u8> {
        [&[4, dims.len() as u8], dims].concat().into_iter().chain(v.iter().flat_map(|x| f32(*x))).collect()
    };
    let text = |words: &[&str]| -> Vec<u8> {
        let padded: String = words.iter().map(|w| format!("{w:<8}")).collect();
        [&[255, 2, 8, words.len() as u8], padded.as_bytes()].concat()
    };
    for (id, name) in [(-1, "POINT"), (-2, "ANALOG"), (-3, "FORCE_PLATFORM"), (-4, "EVENT"), (-5, "TRIAL")] {
        record(id, name, &[]);
    }
    let scale = if is_float { -0.1 } else { 0.1 };
    record(1, "USED", &integers(&[], &[points.len() as u16]));
    record(1, "SCALE", &floats(&[], &[scale]));
    record(1, "RATE", &floats(&[], &[100.0]));
    record(1, "LABELS", &text(points));
    record(1, "UNITS", &text(&["mm"]));
    record(1, "ANGLES", &text(&["ANG"]));
    record(2, "USED", &integers(&[], &[7]));
    record(2, "LABELS", &text(&["Fx", "Fy", "Fz", "Mx", "My", "Mz", "EMG"]));
    record(2, "GEN_SCALE", &floats(&[], &[0.5]));
    record(2, "SCALE", &floats(&[7], &[1.0; 7]));
    record(2, "OFFSET", &integers(&[7], &[16; 7]));
    record(2, "FORMAT", &text(&["UNSIGNED"]));
    record(3, "USED", &integers(&[], &[1]));
    record(3, "TYPE", &integers(&[1], &[2]));
    record(
        3,
        "CORNERS",
        &floats(
            &[3, 4, 1],
            &[200.0, 300.0, 0.0, -200.0, 300.0, 0.0, -200.0, -300.0, 0.0, 200.0, -300.0, 0.0],
        ),
    );
    record(3, "ORIGIN", &floats(&[3, 1], &[0.0, 0.0, -40.0]));
    record(3, "CHANNEL", &integers(&[6, 1], &[1, 2, 3, 4, 5, 6]));
    record(4, "USED", &integers(&[], &[1]));
    record(4, "LABELS", &text(&["Strike"]));
    record(4, "TIMES", &floats(&[2, 1], &[0.0, 0.02]));
    record(5, "ACTUAL_START_FIELD", &integers(&[2], &[1, 0]));
    record(5, "ACTUAL_END_FIELD", &integers(&[2], &[frames.len() as u16, 0]));
    p.extend([0, 0]);
    p.resize(p.len().next_multiple_of(512), 0);
    p[2] = (p.len() / 512) as u8;

    let mut bytes = vec![2, 0x50];
    for word in [points.len() as u16, 14, 1, frames.len() as u16, 10] {
        bytes.extend(u16(word));
    }
    bytes.extend(f32(scale));
    bytes.extend(u16((2 + p.len() / 512) as u16));
    bytes.extend(u16(2));
    bytes.extend(f32(100.0));
    bytes.resize(512, 0);
    bytes.extend(p);
    for x in frames.iter().flatten() {
        match is_float {
            true => bytes.extend(f32(*x)),
            false => bytes.extend(u16(*x as u16)),
        }
    }
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// Two curves over the gait cycle, one with its standard deviation.
pub(crate) const CYCLE: &str = "percent,hip_angle_r,sd_hip_angle_r,knee_angle_r\n0,20.5,5,-4\n25,5,4,-15\n50,-11,4.5,-8\n75,15,,-55\n100,20,5,-4\n";

/// Limits of controls: constant ones, defaults, and some over time.
pub(crate) const LIMITS: &str = r#"<OpenSimDocument Version="40000"><ControlSet name="limits"><defaults><ControlLinear name="default"><default_min>0.02</default_min><default_max>1</default_max></ControlLinear></defaults><objects>
<ControlLinear name="flexor.excitation"><is_model_control>true</is_model_control><use_steps>false</use_steps><x_nodes/><min_nodes><ControlLinearNode><t>0</t><value>0.02</value></ControlLinearNode><ControlLinearNode><t>0.1</t><value>0.05</value></ControlLinearNode></min_nodes>
<max_nodes><ControlLinearNode><t>0</t><value>0.9</value></ControlLinearNode><ControlLinearNode><t>0.05</t><value>1</value></ControlLinearNode></max_nodes></ControlLinear>
<ControlLinear name="extensor"><extrapolate>false</extrapolate><use_steps>true</use_steps></ControlLinear>
<ControlConstant name="vasti"><default_min>0.01</default_min><default_max>0.99</default_max></ControlConstant></objects></ControlSet></OpenSimDocument>
"#;

/// Numbers, text, cells and a structure.
fn mat() -> Vec<u8> {
    fn element(code: u32, bytes: &[u8]) -> Vec<u8> {
        let mut e = [&code.to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat();
        e.resize(e.len().next_multiple_of(8), 0);
        e
    }
    fn array(class: u8, dims: [i32; 2], name: &str, rest: &[Vec<u8>]) -> Vec<u8> {
        let dims: Vec<u8> = dims.iter().flat_map(|d| d.to_le_bytes()).collect();
        let parts =
            [element(6, &[class, 0, 0, 0, 0, 0, 0, 0]), element(5, &dims), element(1, name.as_bytes())];
        element(14, &[parts.concat(), rest.concat()].concat())
    }
    let number = |name: &str, v: f64| array(6, [1, 1], name, &[element(9, &v.to_le_bytes())]);
    let text = |t: &str| array(4, [1, t.len() as i32], "", &[element(16, t.as_bytes())]);
    let cells = array(1, [1, 2], "c", &[text("hip"), number("", 2.0)]);
    let names = b"a\0\0\0\0\0\0\0b\0\0\0\0\0\0\0";
    let structure = array(
        2,
        [1, 1],
        "s",
        &[element(5, &8i32.to_le_bytes()), element(1, names), number("", 7.0), text("x")],
    );
    let mut head = b"MATLAB 5.0 MAT-file".to_vec();
    head.resize(124, b' ');
    head.extend([0, 1, b'I', b'M']);
    [head, number("n", 1.5), cells, structure].concat()
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(2u32.to_le_bytes());
    for facet in 0..2u8 {
        for k in 0..12u8 {
            bytes.extend(f32::from(k % 5 + facet).to_le_bytes());
        }
        bytes.extend([0, 0]);
    }
    bytes
}

/// Formulas with everything that the language has.
const FORMULAS: &[&str] = &[
    "sum(activation[*_r]^2) / 9 + 0.1 * smooth_abs(knee - target, 0.01); target = 0.3",
    "integral(x) / (final(v.x) - initial(v.x)) + average(-y ** 2)",
    "where(x < 1 and not y >= 2 or x == 3, [x, -1, 2e-3], v).z",
    "linear(x, [0, 1, 2], [1, -3, .5]) + spline(x, [0, 1, 2, 3], [0, 1, 0, 1])",
    "dot(cross(v, [1, 0, 0]), v) * norm(v) - max(a[*]) + mean(a[one_r, two_*])",
    "a * a + sin(a); a = b + 1; b = 2 ^ x ^ 2",
];

/// Formulas with every kind of part.
const EXPRESSIONS: &[&str] = &[
    "x + y*z - 2.5e-3/(x^2 + 1)",
    "sqrt(abs(x)) * select(step(y), min(x, z), atan2(y, x)); q = x*y",
    "-x^2^y + a*b; a = b + sin(x); b = exp(-z)",
];

const STUDY: &str = r#"name = "all"
model = "model.osim"
[time]
initial = [0, 0.1]
final = [0.4, 1.2]
[[states]]
name = "hip_flexion/value"
bounds_deg = [-10, 60]
initial = 0
[[controls]]
pattern = ".*"
bounds = [-1, 1]
[[parameters]]
name = "mass"
path = "/bodyset/torso"
property = "mass"
bounds = [1, 2]
[[goals]]
type = "state_tracking"
reference = "a.sto"
weight = 2
[[constraints]]
type = "control_bound"
[solver]
intervals = 20
scheme = "hermite-simpson"
[output]
solution = "out.sto"
"#;

const LOADS: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="right"><isDisabled>false</isDisabled><applied_to_body>foot</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>ground_force_v</force_identifier><point_identifier>ground_force_p</point_identifier>
<torque_identifier>ground_torque_</torque_identifier><data_source_name>grf</data_source_name></ExternalForce>
<ExternalForce name="left"><applied_to_body>shank</applied_to_body><force_identifier>f</force_identifier></ExternalForce>
</objects><groups/><datafile>grf.mot</datafile>
<lowpass_cutoff_frequency_for_load_kinematics>6</lowpass_cutoff_frequency_for_load_kinematics></ExternalLoads></OpenSimDocument>
"#;

const VTP: &str = r#"<?xml version="1.0"?>
<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="4" NumberOfPolys="2"><Points>
<DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points>
<Polys><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 0 2 3</DataArray>
<DataArray type="Int32" Name="offsets" format="ascii">3 6</DataArray></Polys></Piece></PolyData></VTKFile>
"#;

const STL: &str = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";

/// One of most things that a model may hold.
const MIXED_MODEL: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40500"><Model name="mixed"><Ground name="ground"><WrapObjectSet name="wrapobjectset"><objects>
<WrapCylinder name="drum"><radius>0.05</radius><length>0.3</length><quadrant>x</quadrant></WrapCylinder></objects></WrapObjectSet></Ground>
<gravity>0 -9.81 0</gravity><BodySet name="bodyset"><objects>
<Body name="thigh"><mass>8</mass><mass_center>0 -0.2 0</mass_center><inertia>0.1 0.02 0.1 0 0 0</inertia>
<WrapObjectSet name="wrapobjectset"><objects><WrapEllipsoid name="ball"><dimensions>0.05 0.04 0.03</dimensions></WrapEllipsoid>
<WrapSphere name="knob"><radius>0.04</radius></WrapSphere><WrapTorus name="ring"><inner_radius>0.01</inner_radius><outer_radius>0.05</outer_radius></WrapTorus></objects></WrapObjectSet></Body>
<Body name="shank"><mass>3</mass><inertia>0.05 0.005 0.05 0 0 0</inertia>
<components><PhysicalOffsetFrame name="tip"><socket_parent>..</socket_parent><translation>0 -0.4 0</translation><orientation>0 0 0.1</orientation></PhysicalOffsetFrame></components></Body>
</objects></BodySet><JointSet name="jointset"><objects>
<CustomJoint name="hip"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/thigh</socket_child_frame>
<coordinates><Coordinate name="flexion"><default_value>0.2</default_value><range>-1 2</range><clamped>true</clamped></Coordinate>
<Coordinate name="rise"><range>-1 1</range><locked>true</locked></Coordinate></coordinates>
<SpatialTransform><TransformAxis name="rotation1"><coordinates>flexion</coordinates><axis>0 0 1</axis><LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="rotation2"><coordinates/><axis>1 0 0</axis><Constant name="function"><value>0</value></Constant></TransformAxis>
<TransformAxis name="rotation3"><coordinates/><axis>0 1 0</axis><Constant name="function"><value>0</value></Constant></TransformAxis>
<TransformAxis name="translation1"><coordinates>flexion</coordinates><axis>1 0 0</axis><SimmSpline name="function"><x>-1 0 1 2</x><y>0 0.01 0.02 0</y></SimmSpline></TransformAxis>
<TransformAxis name="translation2"><coordinates>rise</coordinates><axis>0 1 0</axis><LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction></TransformAxis>
<TransformAxis name="translation3"><coordinates/><axis>0 0 1</axis><MultiplierFunction name="function"><function><Constant><value>0</value></Constant></function><scale>1.1</scale></MultiplierFunction></TransformAxis>
</SpatialTransform></CustomJoint>
<PinJoint name="knee"><socket_parent_frame>thigh_offset</socket_parent_frame><socket_child_frame>/bodyset/shank</socket_child_frame><coordinates><Coordinate name="knee_angle"/></coordinates>
<frames><PhysicalOffsetFrame name="thigh_offset"><socket_parent>/bodyset/thigh</socket_parent><translation>0 -0.4 0</translation></PhysicalOffsetFrame></frames></PinJoint>
</objects></JointSet><ConstraintSet><objects><CoordinateCouplerConstraint name="coupler"><isEnforced>true</isEnforced><coupled_coordinates_function><LinearFunction><coefficients>0.5 0</coefficients></LinearFunction></coupled_coordinates_function>
<independent_coordinate_names>flexion</independent_coordinate_names><dependent_coordinate_name>rise</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>
<ForceSet><objects><Millard2012EquilibriumMuscle name="rectus"><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0.05 0 0</location></PathPoint>
<ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.04 -0.2 0</location><socket_coordinate>/jointset/knee/knee_angle</socket_coordinate><range>-1 1</range></ConditionalPathPoint>
<MovingPathPoint name="p3"><socket_parent_frame>/bodyset/shank</socket_parent_frame><socket_x_coordinate>/jointset/knee/knee_angle</socket_x_coordinate><socket_y_coordinate>/jointset/knee/knee_angle</socket_y_coordinate><socket_z_coordinate>/jointset/knee/knee_angle</socket_z_coordinate>
<x_location><SimmSpline><x>-1 0 1</x><y>0.02 0.03 0.02</y></SimmSpline></x_location><y_location><Constant><value>-0.05</value></Constant></y_location><z_location><Constant><value>0</value></Constant></z_location></MovingPathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>ball</wrap_object><method>hybrid</method><range>-1 -1</range></PathWrap></objects></PathWrapSet></GeometryPath></path>
<max_isometric_force>1000</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.25</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal></Millard2012EquilibriumMuscle>
<CoordinateActuator name="motor"><coordinate>knee_angle</coordinate><optimal_force>10</optimal_force></CoordinateActuator>
<ExpressionBasedCoordinateForce name="passive"><coordinate>knee_angle</coordinate><expression>-0.1*q - 0.01*qdot</expression></ExpressionBasedCoordinateForce>
<HuntCrossleyForce name="contact"><HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects><HuntCrossleyForce::ContactParameters><geometry>floor foot</geometry><stiffness>1e7</stiffness></HuntCrossleyForce::ContactParameters></objects></HuntCrossleyForce::ContactParametersSet></HuntCrossleyForce>
<BushingForce name="bushing"><socket_frame1>/ground</socket_frame1><socket_frame2>/bodyset/thigh</socket_frame2><rotational_stiffness>1 1 1</rotational_stiffness></BushingForce>
</objects></ForceSet><MarkerSet><objects><Marker name="m1"><socket_parent_frame>/bodyset/shank/tip</socket_parent_frame><location>0 0 0.02</location></Marker></objects></MarkerSet>
<ContactGeometrySet><objects><ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><orientation>0 0 -1.57</orientation></ContactHalfSpace><ContactSphere name="foot"><socket_frame>/bodyset/shank</socket_frame><radius>0.03</radius></ContactSphere></objects></ContactGeometrySet>
<ControllerSet><objects><PrescribedController name="brain"><actuator_list>motor</actuator_list><ControlFunctions><objects><PiecewiseLinearFunction name="motor"><x>0 1</x><y>0 1</y></PiecewiseLinearFunction></objects></ControlFunctions></PrescribedController></objects></ControllerSet>
</Model></OpenSimDocument>
"#;

/// A setup of each tool, and the sets that some name.
const SETUPS: &[&str] = &[
    r#"<OpenSimDocument Version="40000"><InverseKinematicsTool name="ik"><model_file>m.osim</model_file><constraint_weight>Inf</constraint_weight><accuracy>1e-5</accuracy>
<IKTaskSet><objects><IKMarkerTask name="m1"><apply>true</apply><weight>2</weight></IKMarkerTask><IKCoordinateTask name="q"><apply>true</apply><weight>1</weight><value_type>manual_value</value_type><value>0.3</value></IKCoordinateTask></objects></IKTaskSet>
<marker_file>a.trc</marker_file><time_range>0 1</time_range><output_motion_file>o.mot</output_motion_file></InverseKinematicsTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><InverseDynamicsTool name="id"><model_file>m.osim</model_file><time_range>0 1</time_range><forces_to_exclude>Muscles</forces_to_exclude>
<external_loads_file>l.xml</external_loads_file><coordinates_file>a.mot</coordinates_file><lowpass_cutoff_frequency_for_coordinates>6</lowpass_cutoff_frequency_for_coordinates></InverseDynamicsTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><ScaleTool name="subject"><mass>70</mass><height>1.8</height><age>30</age><GenericModelMaker><model_file>m.osim</model_file><marker_set_file>ms.xml</marker_set_file></GenericModelMaker>
<ModelScaler><apply>true</apply><scaling_order>measurements manualScale</scaling_order><MeasurementSet><objects><Measurement name="thigh"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>a b</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="thigh"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet></Measurement></objects></MeasurementSet>
<ScaleSet><objects><Scale><scales>1 1.1 1</scales><segment>shank</segment><apply>true</apply></Scale></objects></ScaleSet><marker_file>s.trc</marker_file><time_range>0 1</time_range></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects><IKMarkerTask name="m"><weight>1</weight></IKMarkerTask></objects></IKTaskSet><marker_file>s.trc</marker_file><time_range>0 1</time_range><max_marker_movement>-1</max_marker_movement></MarkerPlacer></ScaleTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><AnalyzeTool name="a"><model_file>m.osim</model_file><force_set_files>f.xml</force_set_files><initial_time>0</initial_time><final_time>1</final_time>
<AnalysisSet><objects><Kinematics name="k"><on>true</on><step_interval>2</step_interval><coordinates>all</coordinates></Kinematics><StaticOptimization name="so"><activation_exponent>2</activation_exponent><use_muscle_physiology>true</use_muscle_physiology></StaticOptimization>
<JointReaction name="jr"><joint_names>ALL</joint_names><apply_on_bodies>child</apply_on_bodies><express_in_frame>ground</express_in_frame></JointReaction><PointKinematics name="p"><body_name>shank</body_name><point>0 0 0</point></PointKinematics>
<MuscleAnalysis name="m"><muscle_list>all</muscle_list><moment_arm_coordinate_list>all</moment_arm_coordinate_list></MuscleAnalysis><BodyKinematics name="b"><bodies>all</bodies></BodyKinematics></objects></AnalysisSet>
<ControllerSet><objects/></ControllerSet><states_file>s.sto</states_file><coordinates_file>a.mot</coordinates_file></AnalyzeTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="30000"><ForwardTool name="f"><model_file>m.osim</model_file><states_file>s.sto</states_file><ControllerSet><objects><ControlSetController><controls_file>c.xml</controls_file></ControlSetController></objects></ControllerSet>
<initial_time>0</initial_time><final_time>1</final_time><maximum_number_of_integrator_steps>100</maximum_number_of_integrator_steps></ForwardTool></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><IMUPlacer name="p"><model_file>m.osim</model_file><base_imu_label>pelvis</base_imu_label><base_heading_axis>z</base_heading_axis><sensor_to_opensim_rotations>-1.57 0 0</sensor_to_opensim_rotations><orientation_file_for_calibration>o.sto</orientation_file_for_calibration></IMUPlacer></OpenSimDocument>"#,
    r#"<OpenSimDocument Version="40000"><MocoStudy name="study"><MocoProblem name="problem"><MocoPhase name="phases"><ModelProcessor name="model"><filepath>m.osim</filepath><operators><ModOpScaleMaxIsometricForce><scale_factor>2</scale_factor></ModOpScaleMaxIsometricForce></operators></ModelProcessor>
<time_initial_bounds>0 0</time_initial_bounds><time_final_bounds>0.5 1</time_final_bounds><state_infos><MocoVariableInfo name="/jointset/a/q/value"><bounds>-1 1</bounds><initial_bounds>0</initial_bounds></MocoVariableInfo></state_infos>
<parameters><MocoParameter name="mass"><bounds>1 2</bounds><component_paths>/bodyset/a</component_paths><property_name>mass</property_name></MocoParameter></parameters>
<goals><MocoControlGoal name="effort"><weight>1</weight><exponent>2</exponent></MocoControlGoal><MocoStateTrackingGoal name="track"><reference><TableProcessor><filepath>a.sto</filepath></TableProcessor></reference></MocoStateTrackingGoal><MocoFinalTimeGoal name="t"/></goals></MocoPhase></MocoProblem>
<MocoCasADiSolver name="solver"><num_mesh_intervals>20</num_mesh_intervals><transcription_scheme>hermite-simpson</transcription_scheme></MocoCasADiSolver></MocoStudy></OpenSimDocument>"#,
];
