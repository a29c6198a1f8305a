//! States at rest: found from afar, and simulating from them does not move.

use crate::common::{held, load, passive, reference};
use soleus_dynamics::system::{State, System};
use soleus_math::Vec3;
use soleus_math::norm::largest_difference;
use soleus_simulation::system::{Constant, Rest, RestError, RestOptions, solve_rest, solve_rest_while};
use soleus_simulation::{End, ExplicitRungeKutta, StepOptions, SystemOde, integrate};
use soleus_testing::{reference_test, shared};
use std::ops::ControlFlow;

fn find(system: &System, controls: &[f64], start: &State<f64>) -> Rest {
    let rest = solve_rest(system, controls, start, &RestOptions::default()).unwrap();
    assert!(rest.residual <= 1e-8 && rest.state.u.iter().all(|u| *u == 0.0), "{rest:?}");
    rest
}

/// Largest change of a state in 1 s. The residual of 1e-8 N over a mass of 1 kg is 5e-9 m after 1 s; a light segment
/// may go a hundred times that.
fn does_not_move(system: &System, controls: &[f64], x: &State<f64>) {
    let mut ode = SystemOde::new(system, Constant(controls.to_vec()));
    let x0 = SystemOde::<Constant>::vector(x);
    let mut i = ExplicitRungeKutta::dormand_prince(ode.error_norm(), StepOptions::with_accuracy(1e-8));
    let o = integrate(&mut i, &mut ode, (0.0, &x0), 1.0, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached);
    let moved = largest_difference(&o.state, &x0);
    assert!(moved < 5e-7, "moved by {moved:e}");
}

/// Mass times place of the mass center of each body, kg·m.
fn mass_centers(system: &System, x: &State<f64>) -> Vec<Vec3<f64>> {
    let mut ws = system.workspace();
    system.compute_kinematics(x, &mut ws);
    ws.kin.X_GB.iter().zip(&ws.kin.inertia).map(|(pose, i)| pose.p * i.mass + i.moment).collect()
}

/// Two links without friction, thrown far from the bottom, hang straight down.
#[test]
fn analytic_pendulum_hangs() {
    let (_, system) = passive();
    let mut x = system.default_state.clone();
    (x.q[0], x.u[0]) = (2.9, 7.0);
    let rest = find(&system, &[], &x);
    for com in mass_centers(&system, &rest.state) {
        assert!(com.x.abs() < 1e-8 && com.z.abs() < 1e-8 && com.y <= 0.0, "{com:?}");
    }
    does_not_move(&system, &[], &rest.state);
}

/// Newton's method is stopped too, a small step away from the rest it would find: on a model of hundreds of coordinates it alone takes
/// minutes.
#[test]
fn analytic_search_for_rest_is_stopped_at_once() {
    let (_, system) = passive();
    let mut x = find(&system, &[], &system.default_state).state;
    x.q[0] += 0.01;
    let stopped = solve_rest_while(&system, &[], &x, &RestOptions::default(), &|| false);
    assert!(matches!(stopped, Err(RestError::Stopped { .. })), "{stopped:?}");
}

/// The same with its end on a rope: constraints are met, and the rope's multiplier carries its part.
#[test]
fn identity_constrained_model_at_rest_does_not_move() {
    let (model, system) = held();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    soleus_dynamics::assembly::Assembler::new(&model, &system)
        .solve_assembly(&system, &mut x, &mut ws)
        .unwrap();
    let rest = find(&system, &[], &x);
    system.compute_motion(&rest.state, &[], &mut ws).unwrap();
    assert!(ws.constraints.qerr[0].abs() < 1e-8, "{:?}", ws.constraints.qerr);
    let (found, motion) = (rest.multipliers[0], ws.constraints.lambda[0]);
    assert!((found - motion).abs() < 1e-6 * motion.abs() && motion.abs() > 0.1, "{found} {motion}");
    does_not_move(&system, &[], &rest.state);
}

/// The same rope twice: the equations repeat each other, and the two share what the one carried.
#[test]
fn identity_redundant_constraints() {
    let (mut model, system) = held();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    soleus_dynamics::assembly::Assembler::new(&model, &system)
        .solve_assembly(&system, &mut x, &mut ws)
        .unwrap();
    let once = find(&system, &[], &x);
    let rope = model.constraints[0].clone();
    model.constraints.push(rope);
    let system = System::compile(&model).unwrap();
    let twice = find(&system, &[], &x);
    // The lower link may spin about itself: angles are not determined, places of the mass centers are, to a residual of
    // 1e-8 N·m against a stiffness of some N·m/rad.
    for (a, b) in mass_centers(&system, &once.state).into_iter().zip(mass_centers(&system, &twice.state)) {
        assert!((a - b).norm() < 1e-7, "{a:?} {b:?}");
    }
    let shared: f64 = twice.multipliers.iter().sum();
    assert!((shared - once.multipliers[0]).abs() < 1e-6 * shared.abs(), "{shared} {:?}", once.multipliers);
    does_not_move(&system, &[], &twice.state);
}

/// A mass on a slider, pulled down by gravity along x; with a muscle from ground or without.
fn slider(muscle: bool) -> System {
    let muscle = "<Thelen2003Muscle name=\"muscle\"><GeometryPath name=\"path\"><PathPointSet><objects>\
        <PathPoint name=\"a\"><socket_parent_frame>/ground</socket_parent_frame><location>0 0 0</location></PathPoint>\
        <PathPoint name=\"b\"><socket_parent_frame>/bodyset/block</socket_parent_frame><location>0 0 0</location></PathPoint>\
        </objects></PathPointSet></GeometryPath><max_isometric_force>100</max_isometric_force>\
        <optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length>\
        </Thelen2003Muscle>"
        .repeat(usize::from(muscle));
    let text = format!(
        "<OpenSimDocument Version=\"40600\"><Model name=\"slider\"><gravity>9.80665 0 0</gravity><Ground name=\"ground\"/>\
         <BodySet name=\"bodyset\"><objects><Body name=\"block\"><mass>2</mass><mass_center>0 0 0</mass_center>\
         <inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet name=\"jointset\"><objects>\
         <SliderJoint name=\"slide\"><socket_parent_frame>/ground</socket_parent_frame>\
         <socket_child_frame>/bodyset/block</socket_child_frame><coordinates><Coordinate name=\"x\">\
         <default_value>0.15</default_value></Coordinate></coordinates></SliderJoint></objects></JointSet>\
         <ForceSet name=\"forceset\"><objects>{muscle}</objects></ForceSet></Model></OpenSimDocument>"
    );
    let (model, log) = soleus_io::osim::read_model(text.as_bytes(), "slider.osim");
    System::compile(&model.unwrap_or_else(|| panic!("{:?}", log.list))).unwrap()
}

/// A block hangs from a muscle whose tension is its weight; at the start the tendon is slack.
#[test]
fn analytic_muscle_carries_the_weight() {
    let system = slider(true);
    for excitation in [0.05, 0.4, 1.0] {
        let rest = find(&system, &[excitation], &system.default_state);
        let mut ws = system.workspace();
        system.compute_motion(&rest.state, &[excitation], &mut ws).unwrap();
        assert!((ws.tension[0] - 2.0 * 9.80665).abs() < 1e-7, "{}", ws.tension[0]);
        // At rest the activation is the excitation.
        assert!((rest.state.z[0] - excitation).abs() < 1e-8);
        does_not_move(&system, &[excitation], &rest.state);
    }
}

/// Nothing holds a block without a muscle: the force that is not balanced is its weight.
#[test]
fn analytic_falling_block_has_no_rest() {
    let system = slider(false);
    match solve_rest(&system, &[], &system.default_state, &RestOptions::default()) {
        Err(RestError::Unbalanced { forces }) => {
            assert_eq!(forces.len(), 1);
            assert!(forces[0].0 == 0 && (forces[0].1 - 2.0 * 9.80665).abs() < 1e-12, "{forces:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[reference_test]
fn identity_reference_models_at_rest_do_not_move() {
    let folder = reference();
    for (file, excitation) in [("arm26.osim", 0.01), ("arm26.osim", 0.2), ("double_pendulum.osim", 0.0)] {
        let (_, system) = load(&folder.join("models").join(file));
        let (mut x, controls) = (system.default_state.clone(), vec![excitation; system.num_controls]);
        system.solve_equilibrium(&mut x, &controls, &mut system.workspace());
        let rest = find(&system, &controls, &x);
        println!(
            "{file} at {excitation}: {} iterations, {} s, {} steps",
            rest.iterations, rest.time, rest.steps
        );
        does_not_move(&system, &controls, &rest.state);
    }
    // Nothing holds a body that floats: its weight is left over.
    let (model, system) = load(&folder.join("models/gait10dof18musc.osim"));
    let controls = vec![0.05; system.num_controls];
    match solve_rest(&system, &controls, &system.default_state, &RestOptions::default()) {
        Err(RestError::Unbalanced { forces }) => {
            let vertical = model.coordinate("pelvis_ty").unwrap();
            let mobility = system.tree.mobility_of_coordinate[vertical.0];
            let force = forces.iter().find(|f| f.0 == mobility).unwrap().1;
            assert!((force + model.total_mass() * 9.80665).abs() < 1e-9 * force.abs(), "{forces:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// Models in poor starts that do not float: a ball above a floor which is tilted by the rounding of its angle, a leg beside a ball,
/// a body on toes and hands with its arms straight and more constraints than it needs.
#[reference_test("data/osim_zoo")]
fn val_models_of_others_come_to_rest() {
    let folder = std::path::Path::new(shared!("data/osim_zoo"));
    for file in
        ["BouncingBall_SmoothSphereHalfSpace", "SoccerKickingModel", "PushUpToesOnGroundExactConstraints"]
    {
        let (model, system) = load(&folder.join(file).with_extension("osim"));
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        let assembler = soleus_dynamics::assembly::Assembler::new(&model, &system);
        let assembled = assembler.solve_assembly(&system, &mut x, &mut ws).unwrap();
        assert!(assembled.error <= 1e-8, "{file}: {assembled:?}");
        let controls = vec![0.01; system.num_controls];
        system.solve_equilibrium(&mut x, &controls, &mut ws);
        let rest = solve_rest(&system, &controls, &x, &RestOptions::default()).unwrap();
        // The floor of the ball leaves 3e-8 of its 10 N.
        assert!(rest.residual <= 1e-8 * model.total_mass() * 9.80665, "{file}: {}", rest.residual);
        println!(
            "{file}: {:e}, {} iterations, {} s, {} steps",
            rest.residual, rest.iterations, rest.time, rest.steps
        );
    }
}
