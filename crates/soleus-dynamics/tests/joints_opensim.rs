//! Joints that none of the reference models has, beside OpenSim 4.6.

#![allow(non_snake_case)]

use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::{Options, System};
use soleus_model::model::Model;

/// Two bodies on joints of constant curvature, and a cord.
const SPINE: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="spine">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="lower"><mass>2</mass><mass_center>0.01 0.12 -0.03</mass_center>
<inertia>0.02 0.03 0.025 0.001 0.002 -0.001</inertia></Body><Body name="upper"><mass>1.5</mass>
<mass_center>0.02 0.1 0.01</mass_center><inertia>0.01 0.012 0.015 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><ConstantCurvatureJoint name="lumbar"><socket_parent_frame>seat</socket_parent_frame>
<socket_child_frame>/bodyset/lower</socket_child_frame><coordinates><Coordinate name="ax" /><Coordinate name="az" />
<Coordinate name="ay" /></coordinates><frames><PhysicalOffsetFrame name="seat"><socket_parent>/ground</socket_parent>
<translation>0.1 0.2 -0.1</translation><orientation>0.2 -0.1 0.3</orientation></PhysicalOffsetFrame></frames>
<neutral_angle_x_z_y>0.1 -0.2 0.3</neutral_angle_x_z_y><length>0.3</length></ConstantCurvatureJoint>
<ConstantCurvatureJoint name="thorax"><socket_parent_frame>top</socket_parent_frame>
<socket_child_frame>/bodyset/upper</socket_child_frame><coordinates><Coordinate name="bx" /><Coordinate name="bz" />
<Coordinate name="by" /></coordinates><frames><PhysicalOffsetFrame name="top"><socket_parent>/bodyset/lower</socket_parent>
<translation>0 0.25 0</translation></PhysicalOffsetFrame></frames><length>0.2</length></ConstantCurvatureJoint>
</objects></JointSet>
<ForceSet name="forceset"><objects><PathActuator name="cord"><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame><location>0.2 0 0</location></PathPoint>
<PathPoint name="q"><socket_parent_frame>/bodyset/upper</socket_parent_frame><location>0.1 0.05 0.02</location></PathPoint>
</objects></PathPointSet></GeometryPath></path><optimal_force>10</optimal_force></PathActuator></objects></ForceSet>
</Model></OpenSimDocument>"#;

fn read(text: &str) -> Model {
    let (model, diagnostics) = soleus_io::osim::read_model(text.as_bytes(), "spine.osim");
    model.unwrap_or_else(|| panic!("{:?}", diagnostics.list))
}

/// What OpenSim 4.6 gave for `SPINE` with a control of 0.5.
struct Point {
    q: [f64; 6],
    /// Places of the two bodies, m.
    p: [[f64; 3]; 2],
    /// First columns of their rotations.
    R0: [[f64; 3]; 2],
    /// Angular velocity and velocity of the upper body.
    V: [[f64; 3]; 2],
    udot: [f64; 6],
    length: f64,
    speed: f64,
    arms: [f64; 6],
}

const U: [f64; 6] = [0.7, -1.1, 0.4, 0.9, 0.2, -0.3];

const POINTS: [Point; 2] = [
    Point {
        q: [0.4, -0.5, 0.3, 0.25, 0.6, -0.2],
        p: [
            [0.1134431606961346, 0.46716973638084996, 0.015459998133927316],
            [0.24771227082230057, 0.7656986968641913, 0.310786112766296],
        ],
        R0: [
            [0.7325667497052339, 0.13463962408588934, -0.6672466776630062],
            [0.963238622293376, 0.24735231392430918, -0.10482456448108507],
        ],
        V: [
            [1.1046817049696922, 0.686872713011155, -1.2360274814598224],
            [0.5478334103456155, -0.2857265664018782, 0.29446796408704407],
        ],
        udot: [
            2.274905228582363,
            5.291332978936676,
            -21.97383387422614,
            66.27706701612476,
            -26.718793766331075,
            44.621253992275776,
        ],
        length: 0.8796661196163648,
        speed: -0.20786962867048758,
        arms: [
            -0.009981957263988775,
            -0.13132761482731453,
            -0.04119827557637336,
            0.10228613674247664,
            -0.04650776028311464,
            -0.013733205547256794,
        ],
    },
    // The upper joint nearly straight.
    Point {
        q: [-0.1, 0.2, 0.3, 0.0002, -0.0003, 0.1],
        p: [
            [0.011786849034443256, 0.4826463990534105, -0.051735591800291164],
            [-0.12046424602845836, 0.9066356741151159, 0.02067114812986333],
        ],
        R0: [
            [0.8409043340678002, 0.335019796531805, -0.42501957234670684],
            [0.7914275754604853, 0.33411308302700465, -0.511869944957631],
        ],
        V: [
            [2.0287454988141893, 0.8106508330725877, -0.4161349253083894],
            [0.23605947187149554, -0.06955451549696072, 0.8384947294811902],
        ],
        udot: [
            12.954635049399963,
            8.806997618101256,
            -1.3728329064718663,
            10.069471633309842,
            -40.78127891445736,
            -3.3302986009467084,
        ],
        length: 1.0176381179791187,
        speed: -0.11121984680834157,
        arms: [
            0.015263820454977779,
            -0.09135171422512325,
            -0.013880467026114675,
            0.020192126386332,
            -0.08367355889245086,
            -0.013874238944862732,
        ],
    },
];

fn near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}: {a} {b}");
    }
}

/// Poses agree as they are, and everything else with the faults of OpenSim switched on. Both programs work in double
/// precision on small systems: 1e-12 is rounding, a little more after the mass matrix.
#[test]
fn opensim_val_constant_curvature() {
    let model = read(SPINE);
    for faults in [false, true] {
        let system = System::compile_with(&model, &Options { opensim_faults: faults }).unwrap();
        let mut ws = system.workspace();
        for (k, point) in POINTS.iter().enumerate() {
            let mut x = system.default_state.clone();
            (x.q, x.u) = (point.q.to_vec(), U.to_vec());
            system.compute_motion(&x, &[0.5], &mut ws).unwrap();
            for b in 0..2 {
                let X = ws.kin.X_GB[b + 1];
                // OpenSim leaves the bend out where the arc is nearly straight: by 0.5 l sin θ, 4e-5 m.
                let tolerance = if k == 1 && b == 1 && !faults { 5e-5 } else { 1e-14 };
                near(&X.p.to_array(), &point.p[b], tolerance, "place");
                near(&X.R.axis(0).to_array(), &point.R0[b], 1e-14, "rotation");
            }
            if faults {
                let V = ws.kin.V_GB[2];
                near(&V.w.to_array(), &point.V[0], 1e-13, "angular velocity");
                near(&V.v.to_array(), &point.V[1], 1e-13, "velocity");
                near(&ws.udot, &point.udot, 1e-11, "accelerations");
                near(
                    &[ws.paths[0].length(), ws.paths[0].speed()],
                    &[point.length, point.speed],
                    1e-13,
                    "path",
                );
                let mut arms = MomentArms::new(&system, &ws);
                arms.compute_path(&system, &ws, 0);
                let arms: Vec<f64> = (0..6).map(|m| arms.arm(m)).collect();
                near(&arms, &point.arms, 1e-12, "moment arms");
            }
        }
    }
}

/// A beam of a file: the end of one of length l that is bent by the angles x and y is at l (2/3 y, −2/3 x, 1 − 4/15 (x² + y²)), and the
/// twist about its own axis moves nothing. OpenSim 4.6's Python package does not know the class, so there are no numbers of its own.
#[test]
fn analytic_cantilever_free_beam_of_a_file() {
    let model = read(
        r#"<OpenSimDocument Version="40600"><Model name="beam"><Ground name="ground" /><BodySet name="bodyset"><objects>
<Body name="tip"><mass>2</mass><inertia>0.03 0.02 0.04 0 0 0</inertia></Body></objects></BodySet><JointSet name="jointset"><objects>
<CantileverFreeBeamJoint name="j"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/tip</socket_child_frame>
<coordinates><Coordinate name="rx" /><Coordinate name="ry" /><Coordinate name="rz" /></coordinates><beam_length>0.4</beam_length>
</CantileverFreeBeamJoint></objects></JointSet></Model></OpenSimDocument>"#,
    );
    let system = System::compile(&model).unwrap();
    let mut ws = system.workspace();
    for [x, y, z] in [[0.0; 3], [0.3, -0.2, 0.25], [-0.1, 0.4, 2.0]] {
        let mut state = system.default_state.clone();
        state.q = vec![x, y, z];
        system.compute_kinematics(&state, &mut ws);
        let l = 0.4;
        let end = [l * y * 2.0 / 3.0, -l * x * 2.0 / 3.0, l * (1.0 - (x * x + y * y) * 4.0 / 15.0)];
        near(&ws.kin.X_GB[1].p.to_array(), &end, 1e-15, "the end of the beam");
    }
}

/// Velocities and lengthening speeds are the rates of poses and lengths here, which they are not in OpenSim.
#[test]
fn deriv_constant_curvature_moves_as_its_pose_does() {
    let system = System::compile(&read(SPINE)).unwrap();
    let mut ws = system.workspace();
    for point in &POINTS {
        let mut at = |h: f64| {
            let mut x = system.default_state.clone();
            x.q = point.q.iter().zip(U).map(|(q, u)| q + h * u).collect();
            x.u = U.to_vec();
            system.compute_motion(&x, &[0.0], &mut ws).unwrap();
            (ws.kin.X_GB[2].p, ws.kin.V_GB[2].v, ws.paths[0].length(), ws.paths[0].speed())
        };
        let h = 1e-5;
        let (a, now, b) = (at(-h), at(0.0), at(h));
        // Central differences: h² and ε/h are both 1e-10.
        near(&((b.0 - a.0) * (0.5 / h)).to_array(), &now.1.to_array(), 1e-9, "velocity");
        near(&[(b.2 - a.2) / (2.0 * h)], &[now.3], 1e-9, "lengthening speed");
        assert!((now.3 - point.speed).abs() > 0.01, "OpenSim has been mended");
    }
}

/// An arm that follows an angle of a free joint, whose speeds are an angular velocity.
const FOLLOWER: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="coupled">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="trunk"><mass>2</mass><mass_center>0.02 -0.1 0.03</mass_center>
<inertia>0.2 0.3 0.25 0 0 0</inertia></Body><Body name="arm"><mass>0.7</mass><mass_center>0.01 -0.12 0</mass_center>
<inertia>0.01 0.012 0.02 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects>
<FreeJoint name="root"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/trunk</socket_child_frame>
<coordinates><Coordinate name="rx" /><Coordinate name="ry" /><Coordinate name="rz" /><Coordinate name="tx" /><Coordinate name="ty" />
<Coordinate name="tz" /></coordinates></FreeJoint>
<PinJoint name="shoulder"><socket_parent_frame>side</socket_parent_frame><socket_child_frame>/bodyset/arm</socket_child_frame>
<coordinates><Coordinate name="swing" /></coordinates><frames><PhysicalOffsetFrame name="side"><socket_parent>/bodyset/trunk</socket_parent>
<translation>0 0.2 0.15</translation></PhysicalOffsetFrame></frames></PinJoint>
</objects></JointSet>
<ConstraintSet name="constraintset"><objects><CoordinateCouplerConstraint name="follows"><coupled_coordinates_function>
<PolynomialFunction><coefficients>0.5 -2 0.1</coefficients></PolynomialFunction></coupled_coordinates_function>
<independent_coordinate_names>ry</independent_coordinate_names><dependent_coordinate_name>swing</dependent_coordinate_name>
</CoordinateCouplerConstraint></objects></ConstraintSet>
</Model></OpenSimDocument>"#;

/// A coupler speaks of the angle of a free joint, not of its speed. OpenSim 4.6, at the same state (speeds set with `setSpeedValue`, that of
/// the arm to f' of the rate of `ry` in `getQDot`), has these accelerations, in the order of the coordinates.
#[test]
fn opensim_val_coupler_on_an_angle_of_a_free_joint() {
    let model = read(FOLLOWER);
    let system = System::compile(&model).unwrap();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    let (ry, ry_rate) = (-0.5, -0.4027673563927185);
    x.q = vec![0.3, ry, 0.4, 0.1, 0.9, -0.2, 0.5 * ry * ry - 2.0 * ry + 0.1];
    x.u = vec![0.5, -0.7, 0.9, 0.2, -0.1, 0.3, (ry - 2.0) * ry_rate];
    system.compute_motion(&x, &[], &mut ws).unwrap();
    let want = [
        -0.29190840917163646,
        -0.37663424574578297,
        -0.15808231932178882,
        0.09678597682265327,
        -9.743387283385212,
        0.011379026413745968,
        -1.7087178028539505,
    ];
    // Both solve the same seven equations; the largest of their numbers is 10 and rounded at 1e-15 of itself.
    near(&ws.udot, &want, 1e-13, "accelerations");

    // The same in closed form: ry' = ω_y cos rx + ω_z sin rx, and swing'' = f' ry'' + f'' ry'². The rate of rx is OpenSim's, too.
    let (rx, rx_rate, [wy, wz]) = (x.q[0], 1.0827228296719182, [x.u[1], x.u[2]]);
    assert!((wy * rx.cos() + wz * rx.sin() - ry_rate).abs() < 1e-15);
    let ry_acceleration =
        ws.udot[1] * rx.cos() + ws.udot[2] * rx.sin() + rx_rate * (wz * rx.cos() - wy * rx.sin());
    near(&ws.udot[6..], &[(ry - 2.0) * ry_acceleration + ry_rate * ry_rate], 1e-13, "the arm");
}

/// A four-bar linkage: the last joint closes the loop, and its rocker is split in two.
const FOUR_BAR: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="fourbar">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="crank"><mass>2</mass><mass_center>0.02 -0.1 0</mass_center>
<inertia>0.02 0.03 0.025 0 0 0</inertia></Body><Body name="coupler"><mass>1.5</mass>
<mass_center>0.15 0.01 0</mass_center><inertia>0.01 0.012 0.015 0 0 0</inertia></Body><Body name="rocker"><mass>1.3</mass>
<mass_center>0.01 -0.12 0</mass_center><inertia>0.01 0.012 0.02 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects>
<PinJoint name="a"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/crank</socket_child_frame>
<coordinates><Coordinate name="qa" /></coordinates></PinJoint>
<PinJoint name="b"><socket_parent_frame>tip</socket_parent_frame><socket_child_frame>/bodyset/coupler</socket_child_frame>
<coordinates><Coordinate name="qb" /></coordinates><frames><PhysicalOffsetFrame name="tip"><socket_parent>/bodyset/crank</socket_parent>
<translation>0 -0.3 0</translation></PhysicalOffsetFrame></frames></PinJoint>
<PinJoint name="c"><socket_parent_frame>base</socket_parent_frame><socket_child_frame>/bodyset/rocker</socket_child_frame>
<coordinates><Coordinate name="qc" /></coordinates><frames><PhysicalOffsetFrame name="base"><socket_parent>/ground</socket_parent>
<translation>0.4 0 0</translation></PhysicalOffsetFrame></frames></PinJoint>
<PinJoint name="d"><socket_parent_frame>end</socket_parent_frame><socket_child_frame>foot</socket_child_frame>
<coordinates><Coordinate name="qd" /></coordinates><frames><PhysicalOffsetFrame name="end"><socket_parent>/bodyset/coupler</socket_parent>
<translation>0.4 0 0</translation></PhysicalOffsetFrame><PhysicalOffsetFrame name="foot"><socket_parent>/bodyset/rocker</socket_parent>
<translation>0 -0.3 0</translation></PhysicalOffsetFrame></frames></PinJoint>
</objects></JointSet>
</Model></OpenSimDocument>"#;

/// OpenSim 4.6 gives the second half of a split body its squared radii of gyration for moments of inertia: 8 % of the
/// acceleration here. Without the fault the linkage obeys Lagrange's equation of its one freedom: crank and rocker are parallel
/// and the coupler does not turn.
#[test]
fn opensim_val_joint_that_closes_a_loop() {
    let model = read(FOUR_BAR);
    let angle: f64 = 0.3;
    // Kinetic energy ½ J u² with J of crank and rocker about their hinges, and of the coupler at its hinge on the crank, a
    // circle of 0.3 m; potential energy of the three mass centres.
    let inertia = (0.025 + 2.0 * (0.02f64.powi(2) + 0.1f64.powi(2)))
        + (0.02 + 1.3 * (0.01f64.powi(2) + 0.12f64.powi(2)))
        + 1.5 * 0.3f64.powi(2);
    // Height of a point (x, y) of a body turned by a: x sin a + y cos a; its slope by a.
    let slope = |x: f64, y: f64| x * angle.cos() - y * angle.sin();
    let torque = -9.80665 * (2.0 * slope(0.02, -0.1) + 1.3 * slope(0.01, -0.12) + 1.5 * slope(0.0, -0.3));
    for (faults, want) in [(false, torque / inertia), (true, -11.824501621119856)] {
        let system = System::compile_with(&model, &Options { opensim_faults: faults }).unwrap();
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        // Mobilities in the order of the tree: a, c, b, d.
        x.q = vec![angle, angle, -angle, angle];
        system.compute_motion(&x, &[], &mut ws).unwrap();
        near(&ws.udot, &[want, want, -want, want], 1e-12, "accelerations");
    }
}
