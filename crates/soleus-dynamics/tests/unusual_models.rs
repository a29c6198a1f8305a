//! Models at the edge of what has equations of motion: forces that are switched off, nothing that can move, bodies without
//! mass.

#![allow(non_snake_case)]

use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::system::{Actor, MotionError, System};
use soleus_math::SpatialVec;
use soleus_model::model::Model;

fn read(text: &str) -> (Model, Vec<String>) {
    let (model, diagnostics) = soleus_io::osim::read_model(text.as_bytes(), "model.osim");
    let told = diagnostics.list.iter().map(ToString::to_string).collect();
    (model.unwrap_or_else(|| panic!("{:?}", diagnostics.list)), told)
}

/// A block on a slider with a muscle, springs and a motor, all switched off.
const OFF: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="off">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="block"><mass>2</mass><mass_center>0 0 0</mass_center>
<inertia>0.02 0.03 0.025 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><SliderJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/block</socket_child_frame><coordinates><Coordinate name="x"><default_value>0.31</default_value>
<default_speed_value>0.1</default_speed_value></Coordinate></coordinates></SliderJoint></objects></JointSet>
<ForceSet name="forceset"><objects>
<Thelen2003Muscle name="muscle"><appliesForce>false</appliesForce><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0 0 0</location></PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/block</socket_parent_frame><location>0 0 0</location></PathPoint>
</objects></PathPointSet></GeometryPath></path><max_isometric_force>500</max_isometric_force>
<optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length></Thelen2003Muscle>
<PathSpring name="spring"><appliesForce>false</appliesForce><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0 0 0</location></PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/block</socket_parent_frame><location>0 0 0</location></PathPoint>
</objects></PathPointSet></GeometryPath></path><resting_length>0.2</resting_length><stiffness>100</stiffness>
<dissipation>0.1</dissipation></PathSpring>
<PointToPointSpring name="between"><appliesForce>false</appliesForce><socket_body1>/ground</socket_body1>
<socket_body2>/bodyset/block</socket_body2><point1>0 0 0</point1><point2>0 0.05 0</point2><stiffness>50</stiffness>
<rest_length>0.1</rest_length></PointToPointSpring>
<CoordinateActuator name="motor"><appliesForce>false</appliesForce><coordinate>x</coordinate>
<optimal_force>7</optimal_force></CoordinateActuator>
<SpringGeneralizedForce name="held"><appliesForce>false</appliesForce><coordinate>x</coordinate><stiffness>30</stiffness>
<rest_length>0</rest_length><viscosity>1</viscosity></SpringGeneralizedForce>
</objects></ForceSet></Model></OpenSimDocument>"#;

/// Issue 5: the energy of forces that are switched off was counted, and their actuation reported. OpenSim 4.6 gives zero for
/// all of them but PathSpring (11.11 N) and SpringGeneralizedForce (-9.4 N), which exert nothing there either.
#[test]
fn issue_5_forces_that_are_switched_off_store_and_exert_nothing() {
    let (model, _) = read(OFF);
    let system = System::compile(&model).unwrap();
    let (x, controls, mut ws) = (&system.default_state, vec![0.5; system.num_controls], system.workspace());
    system.compute_motion(x, &controls, &mut ws).unwrap();
    assert_eq!(system.energy_of_forces(x, &controls, &ws), 0.0);
    assert_eq!((ws.udot[0], &ws.zdot[..]), (0.0, &[0.0, 0.0][..]));
    let info = system.muscle_info(0, x, &controls, &ws).unwrap();
    assert_eq!(info.actuation, 0.0);
    // Its tendon would pull all the same, as it does in OpenSim.
    assert!((info.tendon_force - 713.9839674407892).abs() < 1e-6, "{}", info.tendon_force);
    for i in 1..system.forces.len() {
        let mut values = Vec::new();
        system.record_force(i, x, &controls, &ws, &mut values);
        let Actor::Force(c) = &system.forces[i].actor else { panic!("a force") };
        assert_eq!(values.len(), c.labels().len());
        // Points stay: the second end of the spring between two points lies at (0.31, 0.05, 0).
        let far = if c.name == "between" { vec![0.31, 0.05] } else { Vec::new() };
        assert_eq!(values.iter().copied().filter(|v| *v != 0.0).collect::<Vec<_>>(), far, "{}", c.name);
    }
}

/// The same model with its forces on, to see that the zeros above are not those of a model without forces. Energies of the
/// path spring, 0.605 J, and of the generalized spring, 1.4415 J, are counted here and not in OpenSim.
#[test]
fn opensim_val_the_same_forces_switched_on() {
    let (model, _) = read(&OFF.replace("<appliesForce>false", "<appliesForce>true"));
    let options = soleus_dynamics::Options { opensim_faults: true };
    let system = System::compile_with(&model, &options).unwrap();
    let (x, controls, mut ws) = (&system.default_state, vec![0.5; system.num_controls], system.workspace());
    system.compute_motion(x, &controls, &mut ws).unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs(), "{a} {b}");
    near(ws.udot[0], -370.77888091861297);
    near(system.energy_of_forces(x, &controls, &ws), 3.6257323643424773);
    let system = System::compile(&model).unwrap();
    let mut ws = system.workspace();
    system.compute_motion(x, &controls, &mut ws).unwrap();
    let fiber = system.muscle_info(0, x, &controls, &ws).unwrap().fiber_potential_energy;
    let springs = 50.0 * 0.11 * 0.11 + 15.0 * 0.31 * 0.31;
    near(system.energy_of_forces(x, &controls, &ws) - fiber, 3.6257323643424773 + springs);
}

/// A body welded to ground, and what else is said.
fn welded(extra: &str) -> String {
    format!(
        r#"<OpenSimDocument Version="40600"><Model name="x"><BodySet name="bodyset"><objects><Body name="b"><mass>1</mass>
<inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet name="jointset"><objects><WeldJoint name="w">
<socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b</socket_child_frame></WeldJoint>
{extra}</objects></JointSet><ConstraintSet name="constraintset"><objects><WeldConstraint name="c">
<socket_frame1>/ground</socket_frame1><socket_frame2>/bodyset/b</socket_frame2></WeldConstraint></objects></ConstraintSet>
</Model></OpenSimDocument>"#
    )
}

/// Issues 8 and 15: “chunk size must be non-zero” for models without freedom. Everything about them is known: nothing moves,
/// and the multipliers of equations that reach nothing are zero.
#[test]
fn issue_15_models_without_coordinates() {
    let second = r#"<WeldJoint name="v"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/b</socket_child_frame></WeldJoint>"#;
    let empty = r#"<OpenSimDocument Version="40600"><Model name="x"/></OpenSimDocument>"#;
    for (text, rows) in [(empty.to_string(), 0), (welded(""), 6), (welded(second), 12)] {
        let (model, _) = read(&text);
        let system = System::compile(&model).unwrap();
        let mut ws = system.workspace();
        system.compute_motion(&system.default_state, &[], &mut ws).unwrap();
        system.compute_body_accelerations(&mut ws);
        assert_eq!(ws.constraints.lambda, vec![0.0; rows]);
        assert!(ws.constraints.qerr.iter().all(|e| *e == 0.0));
        MomentArms::new(&system, &ws);

        let implicit = ImplicitSystem::new(&system);
        let mut residual = vec![f64::NAN; implicit.num_residuals()];
        let lambda = vec![0.0; rows];
        implicit.compute_residual(&system.default_state, &[], &[], &lambda, &mut ws, &mut residual);
        assert_eq!(residual, vec![0.0; rows]);
    }
}

/// Two links, the second without mass; a spring on its hinge if asked for.
fn massless(spring: bool) -> String {
    let spring = if spring {
        r#"<SpringGeneralizedForce name="s"><coordinate>b</coordinate><stiffness>3</stiffness></SpringGeneralizedForce>"#
    } else {
        ""
    };
    format!(
        r#"<OpenSimDocument Version="40600"><Model name="hand"><gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="arm"><mass>1</mass><mass_center>0 -0.5 0</mass_center>
<inertia>0.1 0.1 0.1 0 0 0</inertia></Body><Body name="hand"><mass>0</mass><inertia>0 0 0 0 0 0</inertia></Body>
</objects></BodySet><JointSet name="jointset"><objects>
<PinJoint name="shoulder"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/arm</socket_child_frame><coordinates><Coordinate name="a" /></coordinates></PinJoint>
<PinJoint name="wrist"><socket_parent_frame>end</socket_parent_frame><socket_child_frame>/bodyset/hand</socket_child_frame>
<coordinates><Coordinate name="b" /></coordinates><frames><PhysicalOffsetFrame name="end">
<socket_parent>/bodyset/arm</socket_parent><translation>0 -1 0</translation></PhysicalOffsetFrame></frames></PinJoint>
</objects></JointSet>
<ForceSet name="forceset"><objects>{spring}<PathActuator name="cord"><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="p"><socket_parent_frame>/ground</socket_parent_frame><location>0.2 0 0</location></PathPoint>
<PathPoint name="q"><socket_parent_frame>/bodyset/hand</socket_parent_frame><location>0.1 0 0</location></PathPoint>
</objects></PathPointSet></GeometryPath></path><optimal_force>1</optimal_force></PathActuator></objects></ForceSet>
<MarkerSet name="markerset"><objects><Marker name="tip"><socket_parent_frame>/bodyset/hand</socket_parent_frame>
<location>0 -0.2 0</location></Marker></objects></MarkerSet></Model></OpenSimDocument>"#
    )
}

/// Issue 7: a body without mass that can move stopped everything. Positions, velocities, lengths, moment arms and inverse
/// dynamics need no mass; accelerations are an error, forces or not. OpenSim refuses such models altogether.
#[test]
fn issue_7_a_movable_body_without_mass() {
    for spring in [false, true] {
        let (model, told) = read(&massless(spring));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("/bodyset/hand") && told[0].contains("no mass but can move"), "{told:?}");
        assert_eq!(model.unsupported.len(), 1);
        let system = System::compile(&model).unwrap();
        assert_eq!(system.tree.massless, vec![1]);
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        (x.q, x.u) = (vec![0.3, -0.8], vec![0.5, 1.1]);
        let done = system.compute_motion(&x, &[0.0], &mut ws);
        assert_eq!(done, Err(MotionError::Massless { mobility: 1 }));

        // The tip: a chain of two rotations about z.
        let (s, c) = (0.3f64.sin(), 0.3f64.cos());
        let (st, ct) = ((-0.5f64).sin(), (-0.5f64).cos());
        let (k, tip) = (system.markers[0].body, system.markers[0].p_BS);
        let place = ws.kin.X_GB[k] * tip;
        assert!((place.x - (s + 0.2 * st)).abs() < 1e-15 && (place.y + c + 0.2 * ct).abs() < 1e-15);
        assert!((ws.kin.V_GB[k].w.z - 1.6).abs() < 1e-15);

        // Moment arms are slopes of the length.
        let mut arms = MomentArms::new(&system, &ws);
        arms.compute_path(&system, &ws, usize::from(spring));
        let mut length = |q: [f64; 2]| {
            x.q = q.to_vec();
            system.compute_kinematics(&x, &mut ws);
            system.compute_paths(&x, &mut ws);
            ws.paths[usize::from(spring)].length()
        };
        let h = 1e-5;
        let slopes = [
            (length([0.3 + h, -0.8]) - length([0.3 - h, -0.8])) / (2.0 * h),
            (length([0.3, -0.8 + h]) - length([0.3, -0.8 - h])) / (2.0 * h),
        ];
        for (m, slope) in slopes.iter().enumerate() {
            // Central differences of a length of 1 m: h² and ε/h are both 1e-10.
            assert!((arms.arm(m) + slope).abs() < 1e-9, "{} {slope}", arms.arm(m));
        }

        // Inverse dynamics: a pendulum of 1 kg, and nothing on the wrist.
        x.q = vec![0.3, -0.8];
        system.compute_kinematics(&x, &mut ws);
        let nb = system.tree.nodes.len();
        let (mut gravity, mut A, mut F) =
            (vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb]);
        system.compute_gravity(&ws.kin, &mut gravity);
        let mut tau = [f64::NAN; 2];
        compute_inverse_dynamics(&system.tree, &ws.kin, &[2.0, 3.0], &gravity, &mut A, &mut F, &mut tau);
        let want = 2.0 * (0.1 + 0.25) + 9.80665 * 0.5 * s;
        assert!((tau[0] - want).abs() < 1e-14 && tau[1] == 0.0, "{tau:?} {want}");
    }
}

/// A body without mass between two with mass has an acceleration, and is not warned of; nor is one welded to a mass.
#[test]
fn identity_bodies_without_mass_inside_a_chain_are_no_ends() {
    let heavy = massless(false).replace(
        r#"<mass>0</mass><inertia>0 0 0 0 0 0</inertia>"#,
        "<mass>0.4</mass>\
<inertia>0.01 0.01 0.01 0 0 0</inertia>",
    );
    let inside =
        heavy.replace("<mass>1</mass>", "<mass>0</mass>").replace("0.1 0.1 0.1 0 0 0", "0 0 0 0 0 0");
    let welded = massless(false)
        .replace("<PinJoint name=\"wrist\">", "<WeldJoint name=\"wrist\">")
        .replace("<coordinates><Coordinate name=\"b\" /></coordinates>", "")
        .replace("</frames></PinJoint>", "</frames></WeldJoint>");
    for text in [inside, welded] {
        let (model, told) = read(&text);
        assert!(told.is_empty(), "{told:?}");
        let system = System::compile(&model).unwrap();
        assert!(system.tree.massless.is_empty());
        let (x, mut ws) = (&system.default_state, system.workspace());
        system.compute_motion(x, &[0.0], &mut ws).unwrap();
        assert!(ws.udot.iter().all(|u| u.is_finite()));
    }
}
