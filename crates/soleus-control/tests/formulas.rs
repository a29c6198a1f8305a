//! Goals written as formulas, beside the built-in ones: the same values and the same derivatives, in whole programs.

#![allow(non_snake_case)] // X_BF, as in the literature.

use crate::common::{check_derivatives, near_start, random, shipped};
use soleus_control::goal::named::{frame, quantity, reaction};
use soleus_control::goal::{
    self, ContactGroup, Foot, FrameMotion, NamedTable, Names, Operation, Projection, Quantity, Reference,
    Scalar, Shape, StepTimeSettings, TimeBounds, When,
};
use soleus_control::musculoskeletal::{ModelProblem, ParameterRange};
use soleus_control::problem::{Goal, Mode, PathConstraint, PointVariable, Problem};
use soleus_control::{Bounds, Collocation, Scheme, Settings, Variable};
use soleus_math::formula::{Expr, FormulaError};
use soleus_math::function::{Expression, Function, Sine};
use soleus_math::vec3;
use soleus_model::id::JointId;
use soleus_optimization::NonlinearProgram;
use soleus_testing::{reference_test, shared};
use std::sync::Arc;

fn wave(amplitude: f64) -> Function {
    Sine::new(amplitude, 2.0, 0.3, 0.1).map(Function::from).unwrap_or(Function::Constant(amplitude))
}

/// A model of Moco's from the reference data.
fn moco(name: &str) -> ModelProblem {
    let path = format!("{}{name}.osim", shared!("reference/moco/models/"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    crate::common::model_of(&bytes, name)
}

/// A table `ref` with the columns a, b, c, d.
fn table() -> NamedTable {
    let column = |(name, y): (&str, f64)| (name.to_string(), Arc::new(wave(y)));
    NamedTable {
        name: "ref".into(),
        columns: [("a", 0.1), ("b", 0.2), ("c", 0.3), ("d", 40.0)].map(column).into(),
    }
}

fn posed(base: &ModelProblem) -> Problem {
    posed_over(base, &[])
}

/// A problem with moderate bounds, free final time, and parameters that no equation depends on.
fn posed_over(base: &ModelProblem, parameters: &[String]) -> Problem {
    let range = |_: &String| ParameterRange { base: 1.0, others: vec![(2.0, base.system.clone())] };
    let mut p = base.problem(Bounds::new(-5.0, 5.0), &parameters.iter().map(range).collect::<Vec<_>>());
    p.parameters = parameters.iter().map(|n| Variable::new(n.clone(), Bounds::new(0.5, 2.0))).collect();
    p.final_time = Bounds::new(0.4, 1.2);
    let n = base.num_coordinates();
    // Fibers a little shorter than in equilibrium, so that tendons pull.
    let (s, mut at) = (&base.system, base.system.default_state.clone());
    s.solve_equilibrium(&mut at, &vec![0.5; s.num_controls], &mut s.workspace::<f64>());
    for (i, v) in p.states.iter_mut().enumerate() {
        let bounds = if i >= 2 * n && base.states[i].ends_with("fiber_length") {
            Bounds::new(0.96 * at.z[i - 2 * n], 0.98 * at.z[i - 2 * n])
        } else if i >= 2 * n && base.states[i].ends_with("normalized_tendon_force") {
            Bounds::new(0.2, 0.6)
        } else if i >= 2 * n {
            Bounds::new(0.2, 0.9)
        } else if base.states[i].ends_with("pelvis_ty/value") {
            // Feet near the ground: deep in it, forces are so large that differences see nothing but rounding.
            Bounds::new(0.9, 1.0)
        } else if i < n {
            Bounds::new(at.q[i] - 0.05, at.q[i] + 0.06)
        } else {
            continue;
        };
        *v = Variable::new(v.name.clone(), bounds);
    }
    p
}

fn expr(text: &str) -> Expr {
    Expr::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn names<'a>(base: &'a ModelProblem, tables: &'a [NamedTable], parameters: &'a [String]) -> Names<'a> {
    Names { base, parameters, tables, definitions: &[] }
}

/// Objective, gradient, constraints, and the Jacobian and the Hessian times a direction.
fn everything(c: &mut Collocation, x: &[f64]) -> Vec<Vec<f64>> {
    let (n, m) = (c.num_variables(), c.num_constraints());
    let mut next = random(5);
    let (d, y): (Vec<f64>, Vec<f64>) = ((0..n).map(|_| next()).collect(), (0..m).map(|_| next()).collect());
    let (mut gradient, mut constraints, mut jd, mut hd) =
        (vec![0.0; n], vec![0.0; m], vec![0.0; m], vec![0.0; n]);
    c.compute_gradient(x, &mut gradient);
    c.compute_constraints(x, &mut constraints);
    let places: Vec<_> = c.jacobian_pattern().places().collect();
    let mut values = vec![0.0; places.len()];
    c.compute_jacobian(x, &mut values);
    places.iter().zip(&values).for_each(|(&(r, k), v)| jd[r] += v * d[k]);
    let places: Vec<_> = c.hessian_pattern().places().collect();
    let mut values = vec![0.0; places.len()];
    c.compute_hessian(x, 0.7, &y, &mut values);
    for (&(r, k), v) in places.iter().zip(&values) {
        hd[r] += v * d[k];
        if r != k {
            hd[k] += v * d[r];
        }
    }
    vec![vec![c.compute_objective(x)], gradient, constraints, jd, hd]
}

/// Both programs have the same values and derivatives, up to the rounding of sums of some hundred terms.
fn same(what: &str, p: &Problem, is_cost: bool, change: [&dyn Fn(&mut Problem); 2]) {
    let settings = Settings::uniform(Scheme::HermiteSimpson, 1);
    let mut both = change.map(|f| {
        let mut p = p.clone();
        f(&mut p);
        Collocation::new(p, &settings).unwrap_or_else(|e| panic!("{what}: {e:?}"))
    });
    let x = near_start(&both[0], 11, 1e-3);
    assert_eq!(x.len(), both[1].num_variables(), "{what}: the programs differ in size");
    let [a, b] = [0, 1].map(|i| everything(&mut both[i], &x));
    let moves = |list: &[f64]| list.iter().any(|x| x.abs() > 1e-9);
    assert!(moves(&a[0]) && moves(&a[1]) || !is_cost, "{what}: the cost is zero, which says nothing");
    for (k, (a, b)) in a.iter().zip(&b).enumerate() {
        assert_eq!(a.len(), b.len(), "{what}");
        let largest = a.iter().fold(1e-12, |m: f64, a| m.max(a.abs()));
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            let part = ["objective", "gradient", "constraints", "Jacobian", "Hessian"][k];
            assert!((a - b).abs() <= 1e-9 * largest, "{what}: {part} {i}: {a} {b} (largest {largest})");
        }
    }
}

/// A goal that is built in and one that is a formula.
fn check(base: &ModelProblem, parameters: &[String], built_in: &Goal, text: &str) {
    let tables = [table()];
    let names = names(base, &tables, parameters);
    let formula =
        goal::formula_goal(&built_in.name, built_in.mode.clone(), &names, &expr(text), When::Always)
            .unwrap_or_else(|e| panic!("{text}: {e}"));
    let p = posed_over(base, parameters);
    let is_cost = matches!(built_in.mode, Mode::Cost { .. });
    same(text, &p, is_cost, [&|p| p.goals.push(built_in.clone()), &|p| p.goals.push(formula.clone())]);
}

fn plain(exponent: f64) -> Scalar {
    Scalar { index: None, operation: None, exponent, shape: Shape::Plain }
}

fn cost(weight: f64) -> Mode {
    Mode::Cost { weight }
}

fn held() -> Mode {
    Mode::Constraint { bounds: vec![Bounds::fixed(0.0)] }
}

/// Goals about time, variables, markers, frames, muscles and loads, on a leg.
#[test]
fn identity_goals_of_a_leg() {
    let base = shipped("leg_swing");
    let (s, n) = (&base.system, base.num_coordinates());
    let state = PointVariable::State;
    let coordinate = |i: usize| {
        let c = (0..base.model.coordinates.len()).find(|&c| s.tree.mobility_of_coordinate[c] == i);
        base.model.coordinates[c.unwrap_or(0)].name.clone()
    };
    let [c0, c1] = [coordinate(0), coordinate(1)];
    let muscle = base.model.forces[0].name.clone();
    let other = base.model.forces[1].name.clone();
    let body = base.model.bodies.last().map(|b| b.name.clone()).unwrap_or_default();
    let f = frame(&base, &body).unwrap_or_else(|e| panic!("{e}"));
    let joint = base.model.joints.len() - 1;
    let joint_name = base.model.joints[joint].name.clone();
    let path = |output: &str| {
        quantity(&base, &format!("{}|{output}", base.model.forces[0].path)).unwrap_or_else(|e| panic!("{e}"))
    };
    let three = || [wave(0.1), wave(0.2), wave(0.3)];
    let check = |g: Goal, text: &str| check(&base, &[], &g, text);

    // MocoFinalTimeGoal, MocoAverageSpeedGoal.
    check(goal::final_time("time", 0.5), "final(time)");
    check(goal::average_speed("speed", s, 0.3), "displacement / duration - 0.3");
    // MocoControlGoal, also per distance, time and mass.
    let all: Vec<(usize, f64)> = (0..base.controls.len()).map(|i| (i, 1.0)).collect();
    check(goal::control_effort("effort", 0.3, &all, 3.0), "sum(abs(control[*]) ^ 3)");
    let effort = goal::control_effort("effort", 0.3, &all, 2.0);
    let mass = base.model.total_mass();
    check(
        goal::divided(effort, s, true, true, Some(mass)),
        "integral(sum(excitation[*]^2)) / mass / displacement / duration",
    );
    // MocoSumSquaredStateGoal.
    let squares: Vec<_> = (0..base.states.len()).map(|i| (state(i), 1.0)).collect();
    check(goal::sum_of_squares("squares", 0.1, &squares), "sum(state[*]^2)");
    // MocoStateTrackingGoal, MocoControlTrackingGoal.
    let follow = |variable, weight| vec![Reference { variable, function: wave(0.2), weight }];
    check(goal::tracking("track", 2.0, follow(state(1), 3.0)), &format!("3 * ({c1} - ref[b])^2"));
    check(goal::tracking("track", 2.0, follow(state(n + 1), 1.0)), &format!("(u[{c1}] - ref[b])^2"));
    let control = follow(PointVariable::Control(0), 0.5);
    check(goal::tracking("track", 2.0, control), &format!("(control[{muscle}] - ref[b])^2 / 2"));
    // MocoTranslationTrackingGoal, MocoAngularVelocityTrackingGoal, MocoAccelerationTrackingGoal (four ways).
    for (motion, text) in [
        (FrameMotion::Position, "position[B]".to_string()),
        (FrameMotion::AngularVelocity, "angular_velocity[B]".to_string()),
        (FrameMotion::LinearAcceleration, "acceleration[B]".to_string()),
        (FrameMotion::AccelerationWithoutGravity, "acceleration[B] - gravity".to_string()),
        (
            FrameMotion::ProperAcceleration,
            "[dot(x_axis[B], a), dot(y_axis[B], a), dot(z_axis[B], a)]; a = acceleration[B] - gravity"
                .to_string(),
        ),
    ] {
        let g = goal::frame_tracking("frame", 1.5, s, motion, vec![(f, three(), 2.0)]);
        let (value, definition) = text.split_once("; ").unwrap_or((&text, ""));
        let text = format!("2 * dot(d, d); d = {value} - [ref[a], ref[b], ref[c]]; {definition}");
        check(g, &text.replace("[B]", &format!("[{body}]")));
    }
    // MocoOrientationTrackingGoal: the angle of a rotation from its trace; the reference turned by 90° about z.
    let turn = [0.5f64.sqrt(), 0.0, 0.0, 0.5f64.sqrt()].map(Function::Constant);
    let g = goal::orientation_tracking("turn", 1.5, s, vec![(f, turn, 2.0)]);
    let text = "2 * acos((x_axis[B].y - y_axis[B].x + z_axis[B].z - 1) / 2) ^ 2";
    check(g, &text.replace("[B]", &format!("[{body}]")));
    // MocoJointReactionGoal.
    let r = reaction(&base, JointId(joint), false, None).unwrap_or_else(|e| panic!("{e}"));
    let g = goal::joint_reaction("load", 1.0, s, r, [1.0; 6], 1e4);
    let text = format!(
        "dot(f, f) + dot(m, m); f = joint_force_on_parent[{joint_name}]; m = joint_moment_on_parent[{joint_name}]"
    );
    check(g, &text);
    let r = reaction(&base, JointId(joint), true, Some(f)).unwrap_or_else(|e| panic!("{e}"));
    let g = goal::joint_reaction("load", 1.0, s, r, [0.0, 0.0, 2.0, 0.0, 1.0, 0.0], 1e4);
    let text = format!(
        "dot(joint_force[{joint_name}], y_axis[{body}])^2 + 2 * dot(joint_moment[{joint_name}], z_axis[{body}])^2"
    );
    check(g, &text);
    // MocoGeneralizedForceTrackingGoal.
    let moments = vec![(0, wave(40.0), 1.0), (1, wave(40.0), 0.5)];
    let g = goal::generalized_force_tracking("moments", 0.01, s, moments, Vec::new());
    check(g, &format!("(generalized_force[{c0}] - ref[d])^2 + 0.5 * (generalized_force[{c1}] - ref[d])^2"));
    // MocoInitialActivationGoal as a cost, and as a constraint of one muscle.
    check(goal::initial_activation("start", Some(2.0), s), "initial(sum((excitation[*] - activation[*])^2))");
    // MocoPeriodicityGoal.
    let g = goal::periodicity("cycle", &[(state(0), state(1), false)]);
    check(g, &format!("initial({c0}) - final({c1})"));
    // MocoOutputGoal, MocoInitialOutputGoal, MocoFinalOutputGoal.
    let g = goal::output("output", cost(0.7), s, vec![path("tendon_force")], plain(2.0), When::Always);
    check(g, &format!("tendon_force[{muscle}]^2"));
    let g = goal::output("output", cost(0.7), s, vec![path("fiber_velocity")], plain(1.0), When::Initially);
    check(g, &format!("initial(fiber_velocity[{muscle}])"));
    let g = goal::output("output", cost(0.7), s, vec![Quantity::MassCenter(1)], plain(1.0), When::Finally);
    check(g, "final(norm(com_velocity))");
    let two = vec![
        path("tendon_force"),
        quantity(&base, &format!("{}|length", base.model.forces[1].path)).unwrap_or_else(|e| panic!("{e}")),
    ];
    let joined = Scalar { operation: Some(Operation::Multiplication), ..plain(2.0) };
    let g = goal::output("joined", cost(1e-6), s, two, joined, When::Always);
    check(g, &format!("(output[/forceset/{muscle}|tendon_force] * length[{other}])^2"));
    let g = goal::output("energy", cost(1.0), s, vec![Quantity::KineticEnergy], plain(1.0), When::Always);
    check(g, "kinetic_energy");
    let g = goal::output("power", cost(1.0), s, vec![Quantity::ActuatorPower(0)], plain(2.0), When::Always);
    check(g, &format!("(actuation[{muscle}] * lengthening_speed[{muscle}])^2"));
    // MocoOutputExtremumGoal, both.
    for (beta, text) in [(1.0, "softplus(X, 0.6)^2"), (-1.0, "-softplus(-X, 0.6)^2")] {
        let soft = Scalar { shape: Shape::Extremum { beta, smoothing: 0.6 }, ..plain(2.0) };
        let q = vec![Quantity::Variable(state(0))];
        let g = goal::output("extremum", cost(1.0), s, q, soft, When::Always);
        check(g, &text.replace('X', &c0));
    }
    // MocoOutputTrackingGoal, MocoOutputPeriodicityGoal.
    let tracked = Scalar { shape: Shape::Minus(wave(0.1)), ..plain(2.0) };
    let g = goal::output("follow", cost(1.0), s, vec![path("fiber_length")], tracked, When::Always);
    check(g, &format!("(fiber_length[{muscle}] - ref[a])^2"));
    let g = goal::output_periodicity("same", held(), s, vec![path("tendon_force")], plain(1.0));
    check(g, &format!("final(tendon_force[{muscle}]) - initial(tendon_force[{muscle}])"));
    // MocoStepLengthAsymmetryGoal.
    let feet = [frame(&base, &base.model.bodies[0].name).unwrap_or_else(|e| panic!("{e}")), f];
    let g = goal::step_length_asymmetry("length", 1.0, s, feet, vec3(1.0, 0.0, 0.0), 0.5, 0.1, 0.02);
    let text = format!(
        "beyond_r + beyond_l; beyond_r = smooth_step(d - 0.275, 2); beyond_l = smooth_step(-d - 0.225, 2); \
         d = position[{body}].x - position[{}].x",
        base.model.bodies[0].name
    );
    check(g, &text);
}

/// Goals about markers, on an arm.
#[test]
fn identity_goals_of_markers() {
    let base = shipped("reach");
    let s = &base.system;
    let marker = &base.model.markers[0];
    let three = || [wave(0.1), wave(0.2), wave(0.3)];
    let check = |g: Goal, text: &str| check(&base, &[], &g, text);
    // MocoMarkerFinalGoal, MocoMarkerTrackingGoal.
    let reach = goal::marker_final("reach", 1.5, s, s.markers[0], vec3(0.2, 0.3, 0.0));
    check(reach, &format!("final(dot(d, d)); d = position[{}] - [0.2, 0.3, 0]", marker.name));
    let follow = goal::marker_tracking("markers", 1.5, s, vec![(s.markers[0], three(), 2.0)]);
    check(follow, &format!("2 * dot(d, d); d = position[{}] - [ref[a], ref[b], ref[c]]", marker.path));
}

/// Goals about contacts, on a walking model.
#[reference_test]
fn identity_goals_of_contacts() {
    let base = moco("2D_gait");
    let s = &base.system;
    let contacts: Vec<(usize, usize)> = (0..s.forces.len())
        .filter_map(|i| match &s.forces[i].actor {
            soleus_dynamics::system::Actor::Force(c) => {
                c.touches().0.into_iter().find(|&b| b != 0).map(|b| (i, b))
            }
            soleus_dynamics::system::Actor::Muscle(_) => None,
        })
        .filter(|&(i, _)| s.forces[i].controls.is_empty())
        .collect();
    let contact = |k: usize| base.model.forces[contacts[k].0].name.clone();
    let list: Vec<String> = (0..contacts.len()).map(contact).collect();
    // MocoContactTrackingGoal.
    let group = ContactGroup {
        contacts: contacts.clone(),
        force: [wave(0.1), wave(40.0), wave(0.3)],
        scale: [1.0, 1.0, 1.0],
    };
    for (projection, text) in [
        (Projection::None, "dot(d, d)"),
        (Projection::Vector(vec3(0.0, 1.0, 0.0)), "d.y^2"),
        (Projection::Plane(vec3(0.0, 1.0, 0.0)), "d.x^2 + d.z^2"),
    ] {
        let g = goal::contact_tracking("contact", 1.0, s, vec![group.clone()], projection, 600.0);
        let g = g.unwrap_or_else(|| panic!("no contact"));
        let text = format!("{text}; d = sum(contact_force[{}]) - [ref[a], ref[d], ref[c]]", list.join(", "));
        check(&base, &[], &g, &text);
    }
    // MocoContactImpulseTrackingGoal.
    let g = goal::contact_impulse_tracking("impulse", 1.0, s, contacts.clone(), 1, wave(40.0), 600.0);
    let text = format!("integral(sum(contact_force[{}]).y - ref[d])^2 / 600", list.join(", "));
    check(&base, &[], &g, &text);
    // MocoStepTimeAsymmetryGoal.
    let foot = |k: usize| Foot {
        contacts: vec![contacts[k]],
        frame: soleus_dynamics::BodyFrame { body: contacts[k].1, X_BF: soleus_math::Transform::identity() },
    };
    let settings = StepTimeSettings {
        target: 0.1,
        threshold: 25.0,
        up: vec3(0.0, 1.0, 0.0),
        forward: vec3(1.0, 0.0, 0.0),
        contact_smoothing: 1e-3,
        asymmetry_smoothing: 0.5,
    };
    let body = |k: usize| {
        use soleus_dynamics::Resolve;
        let b = base.model.bodies.iter().find(|b| s.tree.frame(b.frame).body == contacts[k].1);
        b.map(|b| b.name.clone()).unwrap_or_default()
    };
    let (l, r) = (1, contacts.len() - 1);
    let g = goal::step_time_asymmetry("time", 1.0, s, foot(l), foot(r), &settings);
    let text = format!(
        "100 * (average(tanh(0.5 * (left - right - 2 * left * right * tanh(100 * ahead)))) - 0.1)^2; \
         left = smooth_step(contact_force[{}].y - 25, 1e-3); right = smooth_step(contact_force[{}].y - 25, 1e-3); \
         ahead = position[{}].x - position[{}].x",
        contact(l),
        contact(r),
        body(r),
        body(l)
    );
    check(&base, &[], &g, &text);
}

/// How muscles with compliant tendons start: MocoInitialForceEquilibriumDGFGoal, MocoInitialVelocityEquilibriumDGFGoal,
/// MocoInitialActivationGoal as a constraint.
#[reference_test]
fn identity_goals_of_tendons() {
    let base = moco("hanging_muscle");
    let s = &base.system;
    let muscle = base.model.forces[0].name.as_str();
    let word = |name: &str| format!("initial({name}[{muscle}])");
    check(
        &base,
        &[],
        &goal::initial_activation("start", None, s),
        &format!("initial(excitation[{muscle}] - activation[{muscle}])"),
    );
    let some = |g: Option<Goal>| g.unwrap_or_else(|| panic!("no muscle"));
    check(&base, &[], &some(goal::initial_force_equilibrium("f", None, s)), &word("force_imbalance"));
    check(&base, &[], &some(goal::initial_velocity_equilibrium("v", None, s)), &word("force_drift"));
    let squared = |name: &str| format!("initial(sum({name}[*]^2))");
    let [force, velocity] = ["force_imbalance", "force_drift"].map(squared);
    check(&base, &[], &some(goal::initial_force_equilibrium("f", Some(2.0), s)), &force);
    check(&base, &[], &some(goal::initial_velocity_equilibrium("v", Some(1e-3), s)), &velocity);
}

/// MocoExpressionBasedParameterGoal.
#[test]
fn identity_goals_of_parameters() {
    let base = shipped("leg_swing");
    let text = "(m - 2)^2 + exp(0.1*k)*m";
    let formula = Expression::new(text, &["m", "k"]).unwrap_or_else(|e| panic!("{e}"));
    let g = goal::parameter_expression("formula", cost(2.0), formula, &[0, 1]);
    check(&base, &["m".to_string(), "k".to_string()], &g, text);
}

/// Path constraints: MocoControlBoundConstraint, MocoStateBoundConstraint, MocoOutputBoundConstraint, MocoFrameDistanceConstraint.
#[test]
fn identity_path_constraints() {
    let base = shipped("leg_swing");
    let s = &base.system;
    let muscle = &base.model.forces[0].name;
    let body = base.model.bodies.last().map(|b| b.name.clone()).unwrap_or_default();
    let f = frame(&base, &body).unwrap_or_else(|e| panic!("{e}"));
    let both = TimeBounds { lower: Some(wave(0.1)), upper: Some(Function::Constant(0.8)), equal: false };
    let equal = TimeBounds { lower: Some(wave(0.1)), upper: None, equal: true };
    let ground = soleus_dynamics::BodyFrame { body: 0, X_BF: soleus_math::Transform::identity() };
    let constant = TimeBounds {
        lower: Some(Function::Constant(0.01)),
        upper: Some(Function::Constant(4.0)),
        equal: false,
    };
    let cases: Vec<(Vec<PathConstraint>, String, &TimeBounds)> = vec![
        (
            goal::variable_bounds("a", s, &[PointVariable::Control(0)], &both),
            format!("control[{muscle}]"),
            &both,
        ),
        (
            goal::variable_bounds("b", s, &[PointVariable::State(1)], &equal),
            format!("state[{}]", base.states[1]),
            &equal,
        ),
        (
            goal::output_bounds("c", s, &[Quantity::PathLength(0)], &plain(2.0), &both),
            format!("length[{muscle}]^2"),
            &both,
        ),
        (
            goal::frame_distance("d", s, &[([ground, f], [0.1, 2.0])], Projection::None),
            format!("dot(position[{body}], position[{body}])"),
            &constant,
        ),
    ];
    for (built_in, text, bounds) in cases {
        let tables = [table()];
        let names = names(&base, &tables, &[]);
        let formula = goal::formula_constraint(&built_in[0].name, &names, &expr(&text), bounds);
        let formula = formula.unwrap_or_else(|e| panic!("{text}: {e}"));
        let p = posed(&base);
        same(
            &text,
            &p,
            false,
            [&|p| p.path_constraints.extend(built_in.clone()), &|p| {
                p.path_constraints.extend(formula.clone())
            }],
        );
    }
}

/// Formulas that no goal of Moco can say, through whole programs against central differences.
#[test]
fn deriv_formulas_of_a_leg() {
    let base = shipped("leg_swing");
    let c = base.model.coordinates[0].name.clone();
    let (m, o) = (&base.model.forces[0].name, &base.model.forces[1].name);
    let body = base.model.bodies.last().map(|b| b.name.clone()).unwrap_or_default();
    let tables = [table()];
    let parameters = ["k".to_string()];
    let names = names(&base, &tables, &parameters);
    for text in [
        format!("k * softplus({c} - 0.3, 5) * u[{c}]^2 + where(u[{c}] > 0, u[{c}]^3, 0)"),
        format!("sqrt(sum(activation[*]^2) + 0.1) * tendon_force[{m}] / max_isometric_force[{m}]"),
        format!("cross(position[{body}], velocity[{body}]).z * length[{o}] - com.y * udot[{c}]"),
        format!(
            "log(1 + integral(tendon_force[{m}]^2) / 1e4) * (final(com.x) - initial(com.x))^2 + k * average({c}^2)"
        ),
        format!(
            "smooth_max(fiber_length[{m}], length[{o}] * k, 30) + spline(time, [0, 0.3, 0.6, 1.2], [0, 1, 0, 1]) * {c}"
        ),
    ] {
        let mut p = posed_over(&base, &parameters);
        let g = goal::formula_goal("formula", cost(0.7), &names, &expr(&text), When::Always);
        p.goals.push(g.unwrap_or_else(|e| panic!("{text}: {e}")));
        let mut program = Collocation::new(p, &Settings::uniform(Scheme::Trapezoidal, 1))
            .unwrap_or_else(|e| panic!("{e:?}"));
        let x = near_start(&program, 11, 0.02);
        // As for the built-in quantities of the same leg: stiff tendons.
        check_derivatives(&mut program, &x, 1e-6);
    }
}

/// A sum over muscles is as many small terms, not one of everything.
#[test]
fn analytic_sums_are_split() {
    let base = shipped("leg_swing");
    let names = Names::of_model(&base);
    let text = "2 * sum(activation[*]^2) / 3 - sum(control[*]) + 5";
    let g = goal::formula_goal("effort", cost(1.0), &names, &expr(text), When::Always)
        .unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<usize> = g.integrals[0].iter().map(|t| t.inputs.len()).collect();
    assert_eq!(inputs, vec![1; 2 * base.controls.len() + 1], "{inputs:?}");
}

/// What is wrong is told with its place and the name that was probably meant.
#[test]
fn analytic_errors() {
    let base = shipped("leg_swing");
    let names = Names::of_model(&base);
    let c = &base.model.coordinates[0].name;
    let m = &base.model.forces[0].name;
    let refused = |text: &str| -> FormulaError {
        let e = Expr::parse(text).unwrap_or_else(|e| panic!("{e}"));
        goal::formula_goal("g", cost(1.0), &names, &e, When::Always)
            .map_or_else(|e| e, |_| panic!("{text} was accepted"))
    };
    for (text, message, hint) in [
        (
            format!("activation[{m}x]"),
            format!("`activation[{m}x]` is unknown"),
            format!("the nearest name is `activation[{m}]`"),
        ),
        (
            format!("activatoin[{m}]"),
            format!("`activatoin[{m}]` is unknown"),
            format!("the nearest name is `activation[{m}]`"),
        ),
        (format!("{c}x"), format!("`{c}x` is unknown"), format!("the nearest name is `{c}`")),
        (
            "activation".into(),
            "`activation` is unknown".into(),
            format!("specify the component: `activation[{m}]`"),
        ),
        (
            m.clone(),
            format!("`{m}` is unknown"),
            format!("specify the quantity: `activation[{m}]`, `control[{m}]`, …"),
        ),
        ("com".into(), "a cost or an integral needs a number, found a vector".into(), String::new()),
        (
            format!("final({c}) + u[{c}]"),
            format!(
                "`u[{c}]` changes over time; use it inside initial(…), final(…), integral(…) or average(…)"
            ),
            String::new(),
        ),
        (
            format!("integral(final({c}))"),
            "`final(…)` cannot be used inside `integral(…)`".into(),
            String::new(),
        ),
        (
            "contact_force[foot]".into(),
            "`contact_force[foot]` is unknown".into(),
            "nothing in the model has `contact_force[…]`".into(),
        ),
        (
            "metabolic_rate".into(),
            "`metabolic_rate` is unknown".into(),
            "the model has no metabolic probe".into(),
        ),
    ] {
        let e = refused(&text);
        assert_eq!((e.problem.to_string(), e.hint()), (message, hint), "{text}");
    }
}

/// Metabolic power of a probe, muscle by muscle, the basal rate with the first.
#[reference_test]
fn identity_metabolic_rate() {
    let path = shared!("reference/models/subject01_metabolics.osim");
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let base = crate::common::model_of(&bytes, path);
    let probe = &base.model.probes[0];
    let Some(parts) = goal::named::metabolics_by_muscle(&base, probe) else { panic!("no probe") };
    let built_in = goal::output_sum("rate", cost(1.0), &base.system, parts);
    let text = format!("metabolic_rate[{}]", probe.name);
    let formula = goal::formula_goal("rate", cost(1.0), &Names::of_model(&base), &expr(&text), When::Always);
    let formula = formula.unwrap_or_else(|e| panic!("{e}"));
    let (a, b) = (&built_in.integrals[0], &formula.integrals[0]);
    assert_eq!(a.len(), b.len());
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.inputs, b.inputs);
        let mut next = random(3);
        let z: Vec<f64> = a.inputs.iter().map(|_| 0.1 + 0.05 * next()).collect();
        let [x, y] = [a, b].map(|t| {
            let mut v = [0.0];
            t.function.compute_values(&z, &mut v, &mut t.function.scratch());
            v[0]
        });
        assert_eq!(x.to_bits(), y.to_bits());
        sum += x;
    }
    assert!(sum > 1.0, "{sum}");
}
