//! Derivatives of every goal and of the dynamics of models, in whole programs, against central differences.

mod common;

use common::{check_derivatives, near_start};
use soleus_control::goal::{self, ContactGroup, Projection, Reference};
use soleus_control::musculoskeletal::{ModelProblem, ParameterRange};
use soleus_control::problem::{Goal, PointVariable, Problem};
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Bounds, Collocation, Scheme, Settings};
use soleus_dynamics::System;
use soleus_dynamics::system::Actor;
use soleus_math::function::{Function, Sine};
use soleus_math::vec3;
use soleus_model::Model;
use std::sync::Arc;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/moco/models/");
const LEG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");

fn read(path: &str) -> Option<Model> {
    let Ok(bytes) = std::fs::read(path) else {
        eprintln!("skipped: ../shared not found");
        return None;
    };
    soleus_io::osim::read_model(&bytes, path).0
}

fn model(path: &str) -> Option<ModelProblem> {
    let model = read(path)?;
    let system = System::compile(&model).unwrap_or_else(|e| panic!("{path}: {e}"));
    Some(ModelProblem::new(Arc::new(model), Arc::new(system)))
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
    let Some(base) = model(LEG) else { panic!("the model ships") };
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
#[test]
fn deriv_velocity_equilibrium() {
    let Some(base) = model(&format!("{SHARED}hanging_muscle.osim")) else { return };
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
#[test]
fn deriv_contact_tracking() {
    let Some(base) = model(&format!("{SHARED}2D_gait.osim")) else { return };
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

/// Kinematic constraints by both methods.
#[test]
fn deriv_kinematic_constraints() {
    let Some(base) = model(&format!("{SHARED}coupler_posa_explicit.osim")) else { return };
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
#[test]
fn deriv_parameters() {
    let Some(base) = model(&format!("{SHARED}oscillator_mass.osim")) else { return };
    let mut heavier = (*base.model).clone();
    let Some(body) = heavier.bodies.iter_mut().find(|b| b.mass > 0.0) else { panic!("no mass") };
    let value = body.mass;
    body.mass = value + 2.0;
    let system = System::compile(&heavier).unwrap_or_else(|e| panic!("{e}"));
    let range = ParameterRange { base: value, other: value + 2.0, system: Arc::new(system) };
    let mut p = base.problem(Bounds::new(-5.0, 5.0), &[range]);
    p.final_time = Bounds::new(0.4, 1.2);
    p.parameters.push(soleus_control::Variable::new("mass", Bounds::new(1.0, 9.0)));
    let goal: Goal = goal::final_time("time", 1.0);
    p.goals.push(goal);
    check(p, &small(), 0.2, 1e-7);
}
