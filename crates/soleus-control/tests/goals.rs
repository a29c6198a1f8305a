//! Derivatives of every goal and of the dynamics of models, in whole programs, against central differences.

#![allow(non_snake_case)] // X_BF, as in the literature.

use crate::common::{check_derivatives, near_start};
use soleus_control::goal::{
    self, ContactGroup, Foot, FrameMotion, MuscleQuantity, Operation, Projection, Quantity, Reaction,
    Reference, Scalar, Shape, StepTimeSettings, TimeBounds, When,
};
use soleus_control::musculoskeletal::{ModelProblem, ParameterRange};
use soleus_control::problem::{Goal, Mode, PointVariable, PrescribedState, Problem};
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Bounds, Collocation, Scheme, Settings};
use soleus_dynamics::constraint::Station;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{BodyFrame, System};
use soleus_math::function::{Expression, Function, Sine};
use soleus_math::norm::largest_size;
use soleus_math::{Transform, vec3};
use soleus_model::Model;
use soleus_optimization::NonlinearProgram;
use soleus_testing::{reference_test, shared};
use std::sync::Arc;

const SHARED: &str = shared!("reference/moco/models/");
const LEG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");

fn read(path: &str) -> Model {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    soleus_io::osim::read_model(&bytes, path).0.unwrap_or_else(|| panic!("{path} has errors"))
}

fn model(path: &str) -> ModelProblem {
    let model = read(path);
    let system = System::compile(&model).unwrap_or_else(|e| panic!("{path}: {e}"));
    ModelProblem::new(Arc::new(model), Arc::new(system))
}

fn wave(amplitude: f64) -> Function {
    Sine::new(amplitude, 2.0, 0.3, 0.1).map(Function::from).unwrap_or(Function::Constant(amplitude))
}

/// A problem with moderate bounds and free final time.
fn posed(base: &ModelProblem) -> Problem {
    let mut p = base.problem(Bounds::new(-5.0, 5.0), &[]);
    p.final_time = Bounds::new(0.4, 1.2);
    let n = base.num_coordinates();
    for (i, v) in p.states.iter_mut().enumerate().skip(2 * n) {
        let tendon = base.states[i].ends_with("normalized_tendon_force");
        let bounds = if tendon { Bounds::new(0.2, 0.6) } else { Bounds::new(0.2, 0.9) };
        *v = soleus_control::Variable::new(v.name.clone(), bounds);
    }
    p
}

fn check(p: Problem, settings: &Settings, by: f64, tolerance: f64) {
    let mut c = Collocation::new(p, settings).unwrap_or_else(|e| panic!("{e:?}"));
    let x = near_start(&c, 11, by);
    check_derivatives(&mut c, &x, tolerance);
}

fn small() -> Settings {
    Settings::uniform(Scheme::HermiteSimpson, 2)
}

/// A leg with muscles on wrapped paths: goals that look at coordinates, markers, muscles, the center of mass.
#[test]
fn deriv_goals_of_a_leg() {
    let base = model(LEG);
    let mut p = posed(&base);
    let (s, n) = (&base.system, base.num_coordinates());
    let state = PointVariable::State;
    p.goals.push(goal::control_effort("effort", 0.3, &[(0, 1.0), (2, 2.0)], 3.0));
    p.goals.push(goal::sum_of_squares("squares", 0.1, &[(state(0), 1.0), (PointVariable::Rate(n), 0.01)]));
    p.goals.push(goal::tracking(
        "track",
        2.0,
        vec![Reference { variable: state(1), function: wave(0.4), weight: 3.0 }],
    ));
    p.goals.push(goal::final_time("time", 0.5));
    p.goals.push(goal::periodicity("cycle", &[(state(0), state(1), false), (state(n), state(n), true)]));
    p.goals.push(goal::average_speed("speed", s, 0.3));
    let effort = goal::control_effort("ratio", 0.3, &[(1, 1.0)], 2.0);
    p.goals.push(goal::divided(effort, s, true, true, Some(7.0)));
    p.goals.push(goal::initial_activation("activation", None, s));
    p.goals.push(goal::initial_activation("activation cost", Some(2.0), s));
    let body = s.tree.nodes.len() - 1;
    let station = soleus_dynamics::constraint::Station { body, p_BS: vec3(0.1, -0.2, 0.05) };
    p.goals.push(goal::marker_final("reach", 1.5, s, station, vec3(0.2, 0.3, 0.0)));
    p.goals.push(goal::marker_tracking(
        "markers",
        1.5,
        s,
        vec![(station, [wave(0.1), wave(0.2), wave(0.3)], 2.0)],
    ));
    // Second derivatives of stiff tendons are some 1e4 of the others; differences see them to 1e-8.
    check(p, &small(), 0.02, 1e-6);
}

/// Muscles of De Groote and Fregly with compliant tendons, implicit.
#[reference_test]
fn deriv_velocity_equilibrium() {
    let base = model(&format!("{SHARED}hanging_muscle.osim"));
    for cost in [None, Some(0.01)] {
        let mut p = posed(&base);
        p.states[0].bounds = Bounds::new(0.14, 0.16);
        p.states[0].initial = Bounds::new(0.14, 0.16);
        p.states[0].last = Bounds::new(0.14, 0.16);
        p.goals.extend(goal::initial_velocity_equilibrium("equilibrium", cost, &base.system));
        assert_eq!(p.goals.len(), 1);
        check(p, &small(), 1e-3, 1e-6);
    }
}

/// Contacts of a walking model against a moving reference, all projections.
#[reference_test]
fn deriv_contact_tracking() {
    let base = model(&format!("{SHARED}2D_gait.osim"));
    let contacts: Vec<(usize, usize)> = (0..base.system.forces.len())
        .filter_map(|i| match &base.system.forces[i].actor {
            Actor::Force(c) => c.touches().0.into_iter().find(|&b| b != 0).map(|b| (i, b)),
            Actor::Muscle(_) => None,
        })
        .collect();
    assert!(!contacts.is_empty());
    let z = vec3(0.0, 0.0, 1.0);
    for projection in [Projection::None, Projection::Vector(z), Projection::Plane(z)] {
        let mut p = posed(&base);
        let group = ContactGroup {
            contacts: contacts.clone(),
            force: [wave(10.0), wave(300.0), wave(1.0)],
            scale: [1.0, 2.0, 3.0],
        };
        let goal = goal::contact_tracking("contact", 1.0, &base.system, vec![group], projection, 600.0);
        p.goals.push(goal.unwrap());
        check(p, &Settings::uniform(Scheme::Trapezoidal, 1), 0.01, 1e-6);
    }
}

fn scalar(index: Option<usize>, exponent: f64, shape: Shape) -> Scalar {
    Scalar { index, operation: None, exponent, shape }
}

/// The last body of a tree, and a frame on it.
fn outermost(s: &System) -> BodyFrame {
    let X_BF = Transform::from_offset(vec3(0.1, -0.2, 0.05), vec3(0.3, 0.2, -0.4));
    BodyFrame { body: s.tree.nodes.len() - 1, X_BF }
}

/// Frames, points, outputs, reactions and generalized forces of a leg, each in a program of its own.
#[test]
fn deriv_quantities_of_a_leg() {
    let base = model(LEG);
    let (s, n) = (&base.system, base.num_coordinates());
    let f = outermost(s);
    let three = || [wave(0.1), wave(0.2), wave(0.3)];
    let cost = Mode::Cost { weight: 0.7 };
    let plain = |q: Quantity, scalar: Scalar, when: When| {
        goal::output("output", cost.clone(), s, vec![q], scalar, when)
    };
    let station = Station { body: f.body, p_BS: f.X_BF.p };
    let reaction = Reaction { node: 1, sign: -1.0, at: station, axes: f };
    let mut goals = Vec::new();
    for motion in [
        FrameMotion::Position,
        FrameMotion::AngularVelocity,
        FrameMotion::LinearAcceleration,
        FrameMotion::ProperAcceleration,
        FrameMotion::OwnAcceleration,
        FrameMotion::AccelerationWithoutGravity,
    ] {
        goals.push(goal::frame_tracking("frame", 1.5, s, motion, vec![(f, three(), 2.0)]));
    }
    let channel = |sensor| goal::Channel { sensor, reading: wave(0.4), per_deviation: wave(2.0) };
    let sensors = [
        goal::Sensor::State(1),
        goal::Sensor::Gyroscope(f, 2),
        goal::Sensor::Accelerometer(f, 0),
        goal::Sensor::Accelerometer(f, 1),
        goal::Sensor::Accelerometer(f, 1),
        goal::Sensor::Gyroscope(BodyFrame { X_BF: Transform::identity(), ..f }, 2),
        goal::Sensor::Accelerometer(BodyFrame { X_BF: Transform::identity(), ..f }, 1),
    ];
    let channels = sensors.into_iter().map(channel).collect();
    goals.push(goal::sensor_tracking("sensors", 1.5, s, channels));
    let turn = [Function::Constant(1.0), wave(0.1), wave(0.2), wave(0.3)];
    goals.push(goal::orientation_tracking("orientation", 1.5, s, vec![(f, turn, 2.0)]));
    goals.push(goal::joint_reaction("reaction", 1.0, s, reaction, [1.0, 2.0, 0.5, 1.0, 0.0, 3.0], 1e4));
    let moments = vec![(0, wave(3.0), 1.0), (n - 1, wave(2.0), 0.5)];
    goals.push(goal::generalized_force_tracking("moments", 0.01, s, moments, vec![0, 1]));
    goals.push(plain(Quantity::MassCenter(2), scalar(Some(1), 2.0, Shape::Plain), When::Always));
    goals.push(plain(
        Quantity::Frame(f, FrameMotion::Velocity),
        scalar(None, 3.0, Shape::Plain),
        When::Always,
    ));
    goals.push(plain(Quantity::Point(station, 1), scalar(None, 1.0, Shape::Plain), When::Finally));
    goals.push(plain(Quantity::KineticEnergy, scalar(None, 1.0, Shape::Minus(wave(1.0))), When::Always));
    let soft = |beta: f64| Shape::Extremum { beta, smoothing: 0.6 };
    goals.push(plain(
        Quantity::Variable(PointVariable::State(0)),
        scalar(None, 2.0, soft(1.0)),
        When::Always,
    ));
    goals.push(plain(Quantity::PathLength(0), scalar(None, 1.0, soft(-1.0)), When::Always));
    goals.push(plain(Quantity::ActuatorPower(1), scalar(None, 2.0, Shape::Plain), When::Initially));
    let muscle = |q| Quantity::Muscle(0, q);
    goals.push(plain(muscle(MuscleQuantity::FiberVelocity), scalar(None, 2.0, Shape::Plain), When::Always));
    let joined = Scalar { operation: Some(Operation::Division), ..scalar(None, 2.0, Shape::Plain) };
    let two = vec![muscle(MuscleQuantity::TendonForce), Quantity::Muscle(1, MuscleQuantity::FiberLength)];
    goals.push(goal::output("joined", Mode::Cost { weight: 1e-8 }, s, two, joined, When::Always));
    let held = Mode::Constraint { bounds: vec![Bounds::fixed(0.0)] };
    let speed = vec![Quantity::Variable(PointVariable::State(n))];
    goals.push(goal::output_periodicity("same", held, s, speed, scalar(None, 1.0, Shape::Plain)));
    for g in goals {
        let mut p = posed(&base);
        p.goals.push(g);
        check(p, &Settings::uniform(Scheme::Trapezoidal, 1), 0.02, 1e-6);
    }
}

/// The load of a joint under a given motion is the same whether or not the motion's consequences are computed once, for
/// muscles whose tension is linear in a state and for those where it is not, with and without kinematic constraints.
fn check_reaction_of_a_given_motion(file: &str) {
    let base = model(file);
    let (s, n) = (&base.system, base.num_coordinates());
    let weights = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0];
    let mut p = posed(&base);
    p.final_time = Bounds::fixed(0.7);
    // Fibers a little shorter than in equilibrium near the motion, so that tendons pull.
    let mut x = s.default_state.clone();
    x.q.fill(0.11);
    s.solve_equilibrium(&mut x, &vec![0.5; s.num_controls], &mut s.workspace::<f64>());
    for (k, &z) in x.z.iter().enumerate().filter(|(k, _)| base.states[2 * n + k].ends_with("fiber_length")) {
        let name = base.states[2 * n + k].clone();
        p.states[2 * n + k] = soleus_control::Variable::new(name, Bounds::new(0.96 * z, 0.98 * z));
    }
    for i in 0..n {
        let (q, u) = (wave(0.02), wave(0.02));
        let value = move |t: f64| [q.eval1(t)[0], q.eval1(t)[1]];
        let speed = move |t: f64| [u.eval1(t)[1], u.eval1(t)[2]];
        p.prescribed.push(PrescribedState { state: i, motion: Arc::new(value) });
        p.prescribed.push(PrescribedState { state: n + i, motion: Arc::new(speed) });
    }
    let mut pulled = false;
    for node in 2..5 {
        let f = BodyFrame { body: node - 1, X_BF: outermost(s).X_BF };
        let at = Station { body: f.body, p_BS: f.X_BF.p };
        let reaction = Reaction { node, sign: -1.0, at, axes: f };
        let mut programs = Vec::new();
        for make in [goal::joint_reaction, goal::joint_reaction_of_motion] {
            let mut p = p.clone();
            p.goals.push(make("reaction", 1.0, s, reaction.clone(), weights, 1e4));
            let settings = Settings::uniform(Scheme::HermiteSimpson, 1);
            programs.push(Collocation::new(p, &settings).unwrap_or_else(|e| panic!("{e:?}")));
        }
        let x = near_start(&programs[0], 11, 1e-4);
        let [plain, structured] = [0, 1].map(|i| {
            let c = &mut programs[i];
            let mut all = vec![0.0; x.len()];
            c.compute_gradient(&x, &mut all);
            // The gradient, then the Hessian of the cost row by row.
            let places: Vec<(usize, usize)> = c.hessian_pattern().places().collect();
            let mut values = vec![0.0; places.len()];
            c.compute_hessian(&x, 1.0, &vec![0.0; c.num_constraints()], &mut values);
            all.resize(x.len() * (x.len() + 1), 0.0);
            places.iter().zip(&values).for_each(|(&(r, k), v)| all[(r + 1) * x.len() + k] += v);
            (c.compute_objective(&x), all)
        });
        assert!((plain.0 - structured.0).abs() < 1e-10 * plain.0, "{file}: {} {}", plain.0, structured.0);
        // Rounding of sums of some hundred terms, of the gradient and of the Hessian.
        for range in [0..x.len(), x.len()..plain.1.len()] {
            let (a, b) = (&plain.1[range.clone()], &structured.1[range]);
            let largest = largest_size(a);
            pulled |= largest > 1e-3;
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                assert!((a - b).abs() <= 1e-10 * largest, "{file}: entry {i}: {a} {b}");
            }
        }
        // A tendon's force changes over some δ = 1 mm; differences by h = ε^⅓ leave (h/δ)²/6 = 6e-6 out.
        check_derivatives(&mut programs[1], &x, 2e-5);
    }
    assert!(pulled, "{file}: nothing pulls");
}

#[test]
fn identity_reaction_of_a_given_motion() {
    check_reaction_of_a_given_motion(LEG);
}

#[reference_test]
fn identity_reaction_of_a_given_squat() {
    check_reaction_of_a_given_motion(&format!("{SHARED}squat_inverse.osim"));
}

/// Constraints along the motion.
#[test]
fn deriv_path_constraints() {
    let base = model(LEG);
    let s = &base.system;
    let f = outermost(s);
    let mut p = posed(&base);
    let bounds = TimeBounds { lower: Some(wave(0.1)), upper: Some(wave(0.8)), equal: false };
    p.path_constraints.extend(goal::variable_bounds("control", s, &[PointVariable::Control(0)], &bounds));
    let equal = TimeBounds { lower: Some(wave(0.1)), upper: None, equal: true };
    p.path_constraints.extend(goal::variable_bounds("state", s, &[PointVariable::State(1)], &equal));
    let length = [Quantity::PathLength(0)];
    let squared = scalar(None, 2.0, Shape::Plain);
    p.path_constraints.extend(goal::output_bounds("length", s, &length, &squared, &bounds));
    p.path_constraints.push(goal::output_constraint(
        "speed",
        s,
        vec![Quantity::Frame(f, FrameMotion::LinearVelocity)],
        // A norm bends sharply near zero, where the start is; its square does not.
        scalar(None, 2.0, Shape::Plain),
        Bounds::new(0.0, 2.0),
    ));
    let ground = BodyFrame { body: 0, X_BF: Transform::identity() };
    let across = Projection::Plane(vec3(0.6, 0.8, 0.0));
    p.path_constraints.extend(goal::frame_distance("far", s, &[([ground, f], [0.1, 2.0])], across));
    assert_eq!(p.path_constraints.len(), 7);
    check(p, &small(), 0.02, 1e-6);
}

/// Goals about contacts and steps, metabolic power: a walking model.
#[reference_test]
fn deriv_steps() {
    let base = model(&format!("{SHARED}2D_gait.osim"));
    let s = &base.system;
    let contacts: Vec<(usize, usize)> = (0..s.forces.len())
        .filter_map(|i| match &s.forces[i].actor {
            Actor::Force(c) => c.touches().0.into_iter().find(|&b| b != 0).map(|b| (i, b)),
            Actor::Muscle(_) => None,
        })
        .collect();
    let foot = |k: usize| Foot {
        contacts: vec![contacts[k]],
        frame: BodyFrame { body: contacts[k].1, X_BF: Transform::identity() },
    };
    let settings = StepTimeSettings {
        target: 0.1,
        threshold: 25.0,
        up: vec3(0.0, 1.0, 0.0),
        forward: vec3(1.0, 0.0, 0.0),
        contact_smoothing: 1e-3,
        asymmetry_smoothing: 0.5,
    };
    let feet = [foot(1).frame, foot(0).frame];
    for g in [
        goal::contact_impulse_tracking("impulse", 1.0, s, contacts.clone(), 1, wave(300.0), 600.0),
        goal::step_time_asymmetry("time", 1.0, s, foot(1), foot(0), &settings),
        goal::step_length_asymmetry("length", 1.0, s, feet, vec3(1.0, 0.0, 0.0), 0.5, 0.1, 0.02),
    ] {
        let mut p = posed(&base);
        // Feet near the ground: deep in it, forces are so large that differences see nothing but rounding.
        for v in p.states.iter_mut().filter(|v| v.name.ends_with("pelvis_ty/value")) {
            *v = soleus_control::Variable::new(v.name.clone(), Bounds::new(0.9, 1.0));
        }
        p.goals.push(g);
        check(p, &Settings::uniform(Scheme::Trapezoidal, 1), 0.01, 1e-6);
    }
}

/// The force balance at the start, and a formula of a parameter.
#[reference_test]
fn deriv_force_equilibrium() {
    let base = model(&format!("{SHARED}hanging_muscle.osim"));
    for cost in [None, Some(0.01)] {
        let mut p = posed(&base);
        p.states[0] = soleus_control::Variable::new(p.states[0].name.clone(), Bounds::new(0.14, 0.16));
        p.goals.extend(goal::initial_force_equilibrium("equilibrium", cost, &base.system));
        assert_eq!(p.goals.len(), 1);
        check(p, &small(), 1e-3, 1e-6);
    }
}

/// Kinematic constraints by both methods.
#[reference_test]
fn deriv_kinematic_constraints() {
    let base = model(&format!("{SHARED}coupler_posa_explicit.osim"));
    let bordalba = ConstraintMethod::Bordalba2023;
    for (scheme, method) in [
        (Scheme::HermiteSimpson, ConstraintMethod::Posa2016),
        (Scheme::HermiteSimpson, bordalba),
        (Scheme::LegendreGauss(2), bordalba),
        (Scheme::LegendreGaussRadau(3), bordalba),
    ] {
        let settings = Settings { constraint_method: method, ..Settings::uniform(scheme, 2) };
        check(posed(&base), &settings, 0.1, 1e-7);
    }
    // Names as Moco has them: two locks of coordinates come before the coupler.
    assert_eq!(base.multipliers, ["lambda_cid2_p0"]);
    let trapezoidal = Settings::uniform(Scheme::Trapezoidal, 2);
    assert!(Collocation::new(posed(&base), &trapezoidal).is_err(), "Posa's method needs midpoints");
}

/// A mass as parameter.
#[reference_test]
fn deriv_parameters() {
    let base = model(&format!("{SHARED}oscillator_mass.osim"));
    let mut heavier = (*base.model).clone();
    let Some(body) = heavier.bodies.iter_mut().find(|b| b.mass > 0.0) else { panic!("no mass") };
    let value = body.mass;
    body.mass = value + 2.0;
    let system = System::compile(&heavier).unwrap_or_else(|e| panic!("{e}"));
    let range = ParameterRange { base: value, others: vec![(value + 2.0, Arc::new(system))] };
    let mut p = base.problem(Bounds::new(-5.0, 5.0), &[range]);
    p.final_time = Bounds::new(0.4, 1.2);
    p.parameters.push(soleus_control::Variable::new("mass", Bounds::new(1.0, 9.0)));
    let goal: Goal = goal::final_time("time", 1.0);
    p.goals.push(goal);
    let formula = Expression::new("(m-2)^2+exp(0.1*m)", &["m"]).unwrap_or_else(|e| panic!("{e}"));
    p.goals.push(goal::parameter_expression("formula", Mode::Cost { weight: 2.0 }, formula, &[0]));
    check(p, &small(), 0.2, 1e-7);
}

/// A tendon's slack length: no linear parameter, so a polynomial through several values.
#[reference_test]
fn deriv_nonlinear_parameter() {
    let base = model(&format!("{SHARED}hanging_muscle_rigid_act.osim"));
    let at = |length: f64| {
        let mut model = (*base.model).clone();
        for f in &mut model.forces {
            if let soleus_model::force::ForceKind::Muscle(m) = &mut f.kind {
                m.tendon_slack_length = length;
            }
        }
        Arc::new(System::compile(&model).unwrap_or_else(|e| panic!("{e}")))
    };
    let others = [0.045, 0.048, 0.052, 0.055].map(|x| (x, at(x))).to_vec();
    let mut p = base.problem(Bounds::new(-5.0, 5.0), &[ParameterRange { base: 0.05, others }]);
    p.final_time = Bounds::new(0.4, 1.2);
    for v in &mut p.states[..1] {
        *v = soleus_control::Variable::new(v.name.clone(), Bounds::new(0.14, 0.16));
    }
    p.states[2] = soleus_control::Variable::new(p.states[2].name.clone(), Bounds::new(0.2, 0.9));
    p.parameters.push(soleus_control::Variable::new("slack", Bounds::new(0.045, 0.055)));
    p.goals.push(goal::final_time("time", 1.0));
    // Slopes of the polynomial are some 1e5 of its values: differences see them to 1e-6.
    check(p, &small(), 1e-3, 1e-5);
}
