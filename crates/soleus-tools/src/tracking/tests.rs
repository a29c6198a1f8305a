use super::contraction::{Contraction, Course};
use super::*;
use crate::analysis::{MotionSettings, StateHistory};
use crate::testing::{chain, constrain};
use soleus_dynamics::Options;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::norm::largest_size;
use soleus_math::table::{Element, Table};
use soleus_math::{Function, SpatialVec, Vec3, vec3};
use soleus_model::constraint::ConstraintKind;
use soleus_model::force::{ControlRange, CoordinateActuator, Force, ForceKind};
use soleus_model::id::CoordinateId;
use soleus_model::joint::JointKind::{Pin, Planar, Slider};

fn actuator(model: &mut Model, coordinate: usize, optimal_force: f64) {
    let name = format!("a{}", model.forces.len());
    model.forces.push(Force {
        path: format!("/forceset/{name}"),
        name,
        class: "CoordinateActuator".to_string(),
        enabled: true,
        line_of_action: None,
        kind: ForceKind::CoordinateActuator(CoordinateActuator {
            control: ControlRange::default(),
            coordinate: CoordinateId(coordinate),
            optimal_force,
        }),
    });
}

fn drive(model: &Model, limit: f64) -> Vec<Driven> {
    let all = 0..model.forces.len();
    let driven =
        |force| Driven { force, min: Limit::Constant(-limit), max: Limit::Constant(limit), use_steps: false };
    all.map(driven).collect()
}

/// A smooth motion of all coordinates, a second long.
fn motion(model: &Model, system: &System) -> (StateHistory, Reference) {
    let times: Vec<f64> = (0..=200).map(|i| 0.005 * f64::from(i)).collect();
    let wave = |k: usize, t: f64| 0.2 * (2.0 * t + k as f64).sin() + 0.05 * (7.0 * t - k as f64).cos();
    let labels: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let columns = (0..labels.len()).map(|k| times.iter().map(|&t| wave(k, t)).collect()).collect();
    let table = Table::new(Element::Scalar, labels, times, columns).unwrap();
    let history =
        StateHistory::from_coordinates(model, system, &table, None, &MotionSettings::default()).unwrap();
    let reference = Reference::new(system, &history).unwrap();
    (history, reference)
}

fn settings(target: Target) -> Settings {
    Settings { window: 0.001, target, steps: StepOptions::with_accuracy(1e-8), ..Settings::default() }
}

fn follow<'a>(
    both: (&'a Model, &'a System),
    reference: &'a Reference,
    tasks: &[Task],
    limit: f64,
    settings: &Settings,
) -> Tracker<'a> {
    let base = ModelControls::none(both.1);
    let mut tracker = Tracker::new(both, reference, tasks, &drive(both.0, limit), base, settings).unwrap();
    tracker.start(0.1, InitialStates::FirstWindow).unwrap();
    while tracker.time() < 0.5 - 1e-9 {
        tracker.advance(0.5).unwrap();
    }
    tracker
}

/// Actuators that can do anything do what inverse dynamics says, and leave no error.
#[test]
fn identity_ideal_actuators_do_inverse_dynamics() {
    let mut model = chain(vec![(Pin, 1), (Slider, 1), (Pin, 1)]);
    (0..3).for_each(|c| actuator(&mut model, c, 10.0));
    let system = System::compile(&model).unwrap();
    let (_, reference) = motion(&model, &system);
    let tasks: Vec<Task> = (0..3).map(Task::new).collect();
    for target in [Target::Exact, Target::Weighted] {
        // Where effort has a price, it is a small one.
        let heavy = |t: &Task| Task { weight: if target == Target::Exact { 1.0 } else { 1e6 }, ..t.clone() };
        let tasks: Vec<Task> = tasks.iter().map(heavy).collect();
        let tracker = follow((&model, &system), &reference, &tasks, 1e4, &settings(target));
        let mut solver = crate::inverse_dynamics::Solver::new(&system);
        let (times, controls) = tracker.controls();
        let controls: Vec<_> = controls.collect();
        let last = times.len() - 1;
        solver.state.time = times[last];
        reference.pose(times[last], &mut solver.state.q, &mut solver.state.u);
        for m in 0..3 {
            solver.udot[m] = reference.at(m, times[last])[2];
        }
        for f in 0..3 {
            assert!(!controls[f].1);
        }
        let mut bare = system.clone();
        bare.forces.iter_mut().for_each(|f| f.enabled = false);
        solver.compute(&bare);
        for m in 0..3 {
            let (found, want) = (10.0 * controls[m].2[last], solver.tau[m]);
            assert!((found - want).abs() < 2e-3 * want.abs().max(1.0), "{target:?}: {found}, {want}");
        }
        let worst = largest_size(tracker.windows().iter().flat_map(|w| &w.errors));
        assert!(worst < 1e-5, "{target:?}: off by {worst}");
        assert!(tracker.windows().iter().all(|w| w.shortfalls.is_empty()));
    }
}

/// A coordinate that a coupler moves needs no actuator and no task, and a task for it is left out.
#[test]
fn identity_tasks_of_dependent_coordinates_are_left_out() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    let line = Function::linear(&[0.5, 0.1]).unwrap();
    constrain(
        &mut model,
        ConstraintKind::CoordinateCoupler {
            independent: vec![CoordinateId(0)],
            dependent: CoordinateId(1),
            function: line,
            scale: 1.0,
        },
    );
    actuator(&mut model, 0, 10.0);
    let system = System::compile(&model).unwrap();
    let (_, reference) = motion(&model, &system);
    let tasks: Vec<Task> = (0..2).map(Task::new).collect();
    let tracker = follow((&model, &system), &reference, &tasks, 1e4, &settings(Target::Exact));
    assert_eq!(tracker.tasks().len(), 1);
    let worst = largest_size(tracker.windows().iter().flat_map(|w| &w.errors));
    assert!(worst < 1e-5, "off by {worst}");
}

/// Too weak an actuator is named, with what it lacks.
#[test]
fn analytic_weak_actuators_are_named() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    (0..2).for_each(|c| actuator(&mut model, c, 1.0));
    let system = System::compile(&model).unwrap();
    let (_, reference) = motion(&model, &system);
    let tasks: Vec<Task> = (0..2).map(Task::new).collect();
    let base = ModelControls::none(&system);
    let mut driven = drive(&model, 1e4);
    driven[1].max = Limit::Constant(0.01);
    driven[1].min = Limit::Constant(-0.01);
    let settings = settings(Target::Exact);
    let mut tracker = Tracker::new((&model, &system), &reference, &tasks, &driven, base, &settings).unwrap();
    tracker.start(0.1, InitialStates::FirstWindow).unwrap();
    let window = tracker.advance(1.0).unwrap();
    let short = &window.shortfalls[0];
    assert_eq!(short.coordinate, model.coordinates[1].name);
    assert_eq!(short.at_limit, ["a1"]);
    assert!((short.wanted.abs() - short.missing.abs() - 0.01).abs() < 1e-6, "{short:?}");
}

/// A coordinate that nothing drives cannot be followed, and the window says that no actuator could do more.
#[test]
fn analytic_coordinate_without_actuator() {
    let mut model = chain(vec![(Slider, 1), (Slider, 1)]);
    actuator(&mut model, 0, 1.0);
    let system = System::compile(&model).unwrap();
    let (_, reference) = motion(&model, &system);
    let tasks: Vec<Task> = (0..2).map(Task::new).collect();
    let base = ModelControls::none(&system);
    let settings = settings(Target::Exact);
    let mut tracker =
        Tracker::new((&model, &system), &reference, &tasks, &drive(&model, 1e4), base, &settings).unwrap();
    tracker.start(0.1, InitialStates::FirstWindow).unwrap();
    let window = tracker.advance(1.0).unwrap();
    assert!(window.shortfalls.iter().any(|s| s.at_limit.is_empty()), "{:?}", window.shortfalls);
}

fn muscles() -> Vec<CompiledMuscle> {
    use soleus_model::muscle::{Muscle, MuscleKind, Thelen2003};
    let kinds =
        [MuscleKind::Thelen2003(Thelen2003::default()), MuscleKind::Millard2012Equilibrium(Box::default())];
    let muscle = |kind| Muscle {
        max_isometric_force: 1000.0,
        optimal_fiber_length: 0.08,
        tendon_slack_length: 0.2,
        pennation_angle_at_optimal: 0.2,
        ..Muscle::new(kind)
    };
    kinds.map(|k| CompiledMuscle::compile(&muscle(k), &Options::default()).unwrap()).into()
}

/// A path that lengthens evenly does so between the times that are known as well, whatever speed enters the muscle.
#[test]
fn issue_17_a_difference_in_speed_does_not_bend_lengths() {
    let times = vec![0.1, 0.105, 0.11];
    let course = Course {
        lengths: times.iter().map(|t| 0.2 + 0.3 * t).collect(),
        slopes: vec![0.3; 3],
        speeds: vec![0.7, 0.8, 0.6],
        times,
    };
    for (t, v) in [(0.101, 0.72), (0.1025, 0.75), (0.1075, 0.7), (0.11, 0.6)] {
        let (length, speed) = course.at(t, false);
        assert!((length - (0.2 + 0.3 * t)).abs() < 1e-15 && (speed - v).abs() < 1e-12, "{length}, {speed}");
    }
}

/// The implicit method of a window and an explicit one with tiny errors end in the same state.
#[test]
fn identity_contraction_by_two_methods() {
    use soleus_simulation::{ErrorNorm, ExplicitRungeKutta, MuscleInput, MuscleOde, integrate};
    let length = |t: f64| 0.28 + 0.01 * (5.0 * t).sin();
    let speed = |t: f64| 0.05 * (5.0 * t).cos();
    let times = vec![0.1, 0.105, 0.11];
    let course = Course {
        lengths: times.iter().map(|&t| length(t)).collect(),
        slopes: times.iter().map(|&t| speed(t)).collect(),
        speeds: times.iter().map(|&t| speed(t)).collect(),
        times,
    };
    for muscle in muscles() {
        for (a, e) in [(0.02, 1.0), (0.3, 0.02), (0.8, 0.7), (0.05, 0.05)] {
            let mut z = muscle.default_states().to_vec();
            z[0] = a;
            muscle.solve_equilibrium(length(0.1), 0.0, a, &mut z).unwrap();
            let start = z.clone();
            let way = |longest_step| Contraction {
                muscle: &muscle,
                course: &course,
                is_held: false,
                from: 0.1,
                to: 0.11,
                longest_step,
                converged: contraction::CONVERGED,
                by_excitation: false,
            };
            let exact = way(1e-4).run(e, &mut z.clone()).unwrap();
            let tension = way(contraction::LONGEST_STEP).run(e, &mut z).unwrap();
            let input = |t: f64| MuscleInput { length: length(t), speed: speed(t), excitation: e };
            let mut ode = MuscleOde::new(&muscle, input);
            let options = StepOptions::with_accuracy(1e-10);
            let mut method = ExplicitRungeKutta::dormand_prince(ErrorNorm::uniform(2), options);
            let end = integrate(&mut method, &mut ode, (0.1, &start), 0.11, &mut [], &mut |_| {
                std::ops::ControlFlow::Continue(())
            });
            let want = ode.tension(0.11, &end.state);
            assert!((exact - want).abs() < 1e-7 * 1000.0, "{a} to {e}: {exact} N, {want} N");
            assert!((tension - want).abs() < 4e-5 * 1000.0, "{a} to {e}: {tension} N, {want} N");
            assert!((z[0] - end.state[0]).abs() < 2e-6, "{a} to {e}: {} and {}", z[0], end.state[0]);
        }
    }
}

/// A body of 50 kg in the vertical plane, carried by forces at points of ground; its motion is to stand still.
fn carried(points: &[(f64, [f64; 2])]) -> (Model, Vec<[String; 6]>) {
    use soleus_math::{Transform, Vec3};
    use soleus_model::force::ExternalForce;
    let mut model = chain(vec![(Planar, 3)]);
    model.frames.iter_mut().for_each(|f| f.X_BF = Transform::identity());
    (model.bodies[1].mass, model.bodies[1].mass_center) = (50.0, Vec3::zero());
    let (ground, body) = (model.bodies[0].frame, model.bodies[1].frame);
    for (i, (newton, [px, py])) in points.iter().enumerate() {
        let name = format!("plate{i}");
        let constant = |v: [f64; 3]| Some(v.map(|x| vec![x; 2]));
        model.forces.push(Force {
            path: format!("/forceset/{name}"),
            name,
            class: "ExternalForce".to_string(),
            enabled: true,
            line_of_action: None,
            kind: ForceKind::ExternalForce(ExternalForce {
                applied_to_body: body,
                applied_to_body_label: "b0".to_string(),
                force_expressed_in_body: ground,
                point_expressed_in_body: ground,
                time: vec![-1.0, 2.0],
                force: constant([0.0, *newton, 0.0]),
                point: constant([*px, *py, 0.0]),
                torque: None,
            }),
        });
    }
    let springs = add_foot_springs(&mut model);
    (model, springs)
}

/// The motion that stands still in the default pose.
fn stillness(model: &Model, system: &System) -> Reference {
    let times: Vec<f64> = (0..=20).map(|i| 0.05 * f64::from(i)).collect();
    let labels: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let columns = vec![vec![0.0; times.len()]; labels.len()];
    let table = Table::new(Element::Scalar, labels, times, columns).unwrap();
    let history =
        StateHistory::from_coordinates(model, system, &table, None, &MotionSettings::default()).unwrap();
    Reference::new(system, &history).unwrap()
}

/// (7) and (8) by hand: a body that is shifted, turned and moving, on two plates that bear one and three quarters.
#[test]
fn analytic_foot_springs_by_share_of_the_load() {
    let points = [(125.0, [0.1, -0.02]), (375.0, [-0.05, 0.03])];
    let (model, names) = carried(&points);
    let system = System::compile(&model).unwrap();
    let reference = stillness(&model, &system);
    let settings = SpringSettings::default();
    let mut springs = FootSprings::new((&model, &system), &reference, &names, settings);
    let mut x = system.default_state.clone();
    x.time = 0.3;
    let (angle, dx, dy, omega, vx, vy) = (0.07_f64, 0.011, -0.006, 0.4, 0.2, -0.1);
    x.q.copy_from_slice(&[angle, dx, dy]);
    x.u.copy_from_slice(&[omega, vx, vy]);
    let mut controls = vec![0.0; system.num_controls];
    springs.add(x.time, &x, &mut controls);
    let list: Vec<usize> = springs.controls().collect();
    for (k, (newton, [px, py])) in points.iter().enumerate() {
        let share = newton / 500.0;
        let (s, c) = angle.sin_cos();
        // The arm from the origin of the body to its point, and where that point is and goes.
        let (rx, ry) = (c * px - s * py, s * px + c * py);
        let fx = share * (-1000.0 * (dx + rx - px) - 20.0 * (vx - omega * ry));
        let fy = share * (-10_000.0 * (dy + ry - py) - 200.0 * (vy + omega * rx));
        let turning = share * (-500.0 * s - 20.0 * omega);
        let expected = [fx, fy, 0.0, 0.0, 0.0, turning + rx * fy - ry * fx];
        for (i, want) in expected.iter().enumerate() {
            let found = controls[list[6 * k + i]];
            assert!((found - want).abs() < 1e-10, "plate {k}, {i}: {found} and {want}");
        }
    }

    // A foot in the air has none.
    let (model, names) = carried(&[(0.0, [0.0, 0.0])]);
    let system = System::compile(&model).unwrap();
    let mut springs = FootSprings::new((&model, &system), &reference, &names, settings);
    let mut controls = vec![0.0; system.num_controls];
    springs.add(0.3, &x, &mut controls);
    assert!(controls.iter().all(|c| *c == 0.0), "{controls:?}");
}

/// A body that its load carries, let go 1 cm too high, is a damped oscillator: m ÿ = −k y − b ẏ.
#[test]
fn analytic_a_shifted_body_on_its_spring_oscillates() {
    use soleus_simulation::integrate;
    let weight = 50.0 * soleus_model::model::STANDARD_GRAVITY.norm();
    let (model, names) = carried(&[(weight, [0.0, 0.0])]);
    let system = System::compile(&model).unwrap();
    let reference = stillness(&model, &system);
    let springs = FootSprings::new((&model, &system), &reference, &names, SpringSettings::default());
    let mut controls = WindowControls::new(ModelControls::none(&system), &[], system.num_controls);
    controls.springs = Some(Box::new(springs));
    let mut ode = SystemOde::new(&system, controls);
    let mut x = system.default_state.clone();
    x.q[2] = 0.01;
    let start = SystemOde::<WindowControls>::vector(&x);
    let mut method = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::with_accuracy(1e-9));
    let (decay, frequency) = (200.0 / 100.0, (10_000.0 / 50.0 - 4.0_f64).sqrt());
    for t in [0.1, 0.25, 0.6] {
        let end = integrate(&mut method, &mut ode, (0.0, &start), t, &mut [], &mut |_| {
            std::ops::ControlFlow::Continue(())
        });
        let wave = (frequency * t).cos() + decay / frequency * (frequency * t).sin();
        let y = 0.01 * (-decay * t).exp() * wave;
        assert!((end.state[2] - y).abs() < 1e-8, "at {t} s: {} m and {y} m", end.state[2]);
        assert!(end.state[0].abs() < 1e-10 && end.state[1].abs() < 1e-10, "{:?}", end.state);
    }
}

/// Ranks by hand: a coordinate that nothing moves, and two that one tie moves together.
#[test]
fn analytic_tasks_that_actuators_cannot_meet() {
    let mut model = chain(vec![(Slider, 1), (Pin, 1), (Pin, 1)]);
    actuator(&mut model, 0, 10.0);
    let tasks: Vec<Task> = (0..3).map(Task::new).collect();
    let of = |model: &Model| {
        let system = System::compile(model).unwrap();
        let (_, reference) = motion(model, &system);
        let base = ModelControls::none(&system);
        let all = settings(Target::Exact);
        let mut tracker =
            Tracker::new((model, &system), &reference, &tasks, &drive(model, 1.0), base, &all).unwrap();
        let coordinates = |list: &[Followed]| list.iter().filter_map(Followed::coordinate).collect();
        let of_one = |t: &NotActuated| (t.followed.coordinate().unwrap(), coordinates(&t.follows));
        tracker.not_actuated().unwrap().iter().map(of_one).collect::<Vec<(usize, Vec<usize>)>>()
    };
    assert_eq!(of(&model), [(1, vec![]), (2, vec![])]);
    actuator(&mut model, 1, 10.0);
    assert_eq!(of(&model), [(2, vec![])]);
    actuator(&mut model, 2, 1e-3);
    assert_eq!(of(&model), []);
    // A torque between ground and the last body moves both pins alike, up to the angle between their axes.
    model.forces.truncate(1);
    model.forces.push(Force {
        path: "/forceset/torque".to_string(),
        name: "torque".to_string(),
        class: "TorqueActuator".to_string(),
        enabled: true,
        line_of_action: None,
        kind: ForceKind::TorqueActuator(soleus_model::force::TorqueActuator {
            control: ControlRange::default(),
            body_a: model.bodies[3].frame,
            body_b: model.bodies[0].frame,
            torque_is_global: true,
            axis: soleus_math::vec3(0.1, 0.2, 1.0),
            optimal_force: 5.0,
        }),
    });
    let found = of(&model);
    assert_eq!(found.len(), 1, "{found:?}");
    let pair = [found[0].0, found[0].1[0]];
    assert!(pair == [1, 2] || pair == [2, 1], "{found:?}");
}

/// Errors grow in the simulation where the polynomial says so, and die out where it says that.
#[test]
fn identity_gains_that_are_too_large_for_the_window() {
    assert!(errors_die_out(100.0, 20.0, 0.01) && errors_die_out(100.0, 20.0, 0.03));
    assert!(errors_die_out(0.01, 199.0, 0.01) && !errors_die_out(0.01, 201.0, 0.01));
    let mut model = chain(vec![(Slider, 1)]);
    actuator(&mut model, 0, 10.0);
    let system = System::compile(&model).unwrap();
    let (_, reference) = motion(&model, &system);
    for (kp, kv) in
        [(100.0, 20.0), (100.0, 150.0), (100.0, 230.0), (9000.0, 20.0), (2000.0, 60.0), (20_000.0, 100.0)]
    {
        let tasks = [Task { kp, kv, ..Task::new(0) }];
        let settings = Settings { window: 0.01, ..settings(Target::Exact) };
        let base = ModelControls::none(&system);
        let mut tracker =
            Tracker::new((&model, &system), &reference, &tasks, &drive(&model, 1e9), base, &settings)
                .unwrap();
        tracker.start(0.0, InitialStates::FirstWindow).unwrap();
        // A push, and what becomes of it.
        tracker.state.u[0] += 0.1;
        let mut errors = Vec::new();
        for _ in 0..80 {
            errors.push(tracker.advance(1.0).unwrap().errors[0].abs());
        }
        let early = largest_size(&errors[..20]);
        let late = largest_size(&errors[60..]);
        assert_eq!(late < early, errors_die_out(kp, kv, 0.01), "kp {kp}, kv {kv}: {early}, then {late}");
    }
}

/// A point on a slider is its coordinate, and a task for it the same task: the same controls. Together they are one task too many, and the
/// second is left out.
#[test]
fn identity_a_point_on_a_slider_is_its_coordinate() {
    let mut model = chain(vec![(Slider, 1)]);
    actuator(&mut model, 0, 10.0);
    let system = System::compile(&model).unwrap();
    let (history, reference) = motion(&model, &system);
    let body = model.bodies[1].name.clone();
    let both = (&model, &system);
    // The axis of a slider is x of its own frame, wherever the chain puts that.
    let moves = {
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        let mut at = |q: f64| {
            x.q[0] = q;
            system.compute_kinematics(&x, &mut ws);
            ws.kin.X_GB[system.tree.node_of_body[1]].p
        };
        at(1.0) - at(0.0)
    };
    let point = |body: &str| {
        let made = FollowedPoint::new(both, "block", body, [vec3(0.1, 0.2, 0.3), moves]).unwrap();
        Arc::new(made.along_motion(&system, &reference, history.times()).unwrap())
    };
    let run = |tasks: &[Task]| {
        let tracker = follow(both, &reference, tasks, 1e4, &settings(Target::Exact));
        assert_eq!(tracker.tasks().len(), 1);
        tracker.controls().1.next().unwrap().2.to_vec()
    };
    let coordinate = Task::new(0);
    let want = run(std::slice::from_ref(&coordinate));
    for body in [body.as_str(), CENTER_OF_MASS] {
        let task = Task { followed: Followed::Point(point(body)), ..Task::new(0) };
        for tasks in [vec![task.clone()], vec![coordinate.clone(), task]] {
            for (a, b) in run(&tasks).iter().zip(&want) {
                // Splines through the same numbers, but for a constant.
                assert!((a - b).abs() < 1e-7 * want[0].abs().max(1.0), "{body}: {a} and {b}");
            }
        }
    }
}

/// The end of a two-link arm follows a course of its own in x and y, and its coordinates have none. The motion starts beside the course, and
/// what it is off dies out as kp = 100, kv = 20 say: (1 + 10 t) e^(−10 t) of it is left.
#[test]
fn analytic_the_end_of_an_arm_comes_to_its_course() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    (0..2).for_each(|c| actuator(&mut model, c, 10.0));
    let system = System::compile(&model).unwrap();
    let (history, reference) = motion(&model, &system);
    let both = (&model, &system);
    let body = model.bodies[2].name.clone();
    let end = vec3(0.1, -0.5, 0.0);
    let off = 0.01;
    let mut tasks = Vec::new();
    for (axis, direction) in [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)].into_iter().enumerate() {
        let made = FollowedPoint::new(both, "end", &body, [end, direction]).unwrap();
        let here = made.clone().along_motion(&system, &reference, history.times()).unwrap();
        // The course of the motion, a centimeter aside in x.
        let aside = if axis == 0 { off } else { 0.0 };
        let along: Vec<f64> = history.times().iter().map(|&t| here.wanted(t)[0] + aside).collect();
        let none = vec![0.0; along.len()];
        let places = if axis == 0 { [&along, &none, &none] } else { [&none, &along, &none] };
        let made = made.along(history.times(), places.map(Vec::as_slice)).unwrap();
        tasks.push(Task { followed: Followed::Point(Arc::new(made)), ..Task::new(0) });
    }
    let tracker = follow(both, &reference, &tasks, 1e4, &settings(Target::Exact));
    for w in tracker.windows() {
        let t = w.time - 0.1;
        let left = off * (1.0 + 10.0 * t) * (-10.0 * t).exp();
        // Accelerations are asked for at the beginning of a window of 1 ms and met at its end.
        assert!((w.errors[0] - left).abs() < 0.02 * off, "{} and {left} at {t}", w.errors[0]);
        assert!(w.errors[1].abs() < 0.02 * off, "{} at {t}", w.errors[1]);
    }
    assert_eq!(tracker.tasks()[0].followed.label(&model), "end_x");
}

/// The end of a two-link arm is seen from its upper arm, which swings: along an axis of that body it comes to its course as kp = 100,
/// kv = 20 say, and so it does if the arm is turned. The row J gives the speed, and with what is left at u̇ = 0 the acceleration.
#[test]
fn analytic_a_point_seen_from_a_body_that_moves() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    (0..2).for_each(|c| actuator(&mut model, c, 10.0));
    let system = System::compile(&model).unwrap();
    let (history, reference) = motion(&model, &system);
    let both = (&model, &system);
    let [upper, lower] = [1, 2].map(|b| model.bodies[b].name.clone());
    let (off, end) = (0.01, vec3(0.1, -0.5, 0.0));
    // Towards where the lower arm moves the point in the middle of the motion, as the upper arm sees it.
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    x.time = 0.5 * (reference.span[0] + reference.span[1]);
    reference.pose(x.time, &mut x.q, &mut x.u);
    let seen = |direction: Vec3<f64>| {
        FollowedPoint::new(both, "end", &lower, [end, direction]).unwrap().seen_from(both, &upper).unwrap()
    };
    let axes = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)].map(seen);
    let rates = |q1: f64, ws: &mut Workspace<f64>| {
        let mut y = x.clone();
        y.u = vec![0.0, q1];
        system.compute_kinematics(&y, ws);
        [0, 1, 2].map(|k| axes[k].found(ws)[1])
    };
    let [a, b, c] = rates(1.0, &mut ws);
    let moves = vec3(a, b, c) * (1.0 / vec3(a, b, c).norm());
    // What the upper arm does makes no difference to what is seen from it.
    let mut y = x.clone();
    y.u = vec![3.0, 0.0];
    system.compute_kinematics(&y, &mut ws);
    assert!(seen(moves).found(&ws)[1].abs() < 1e-12, "{}", seen(moves).found(&ws)[1]);

    // s̈ against a difference of ṡ along q + h u + h² u̇/2, u + h u̇, and J u against ṡ.
    let point = seen(moves);
    let (udot, h) = ([5.0, -8.0], 1e-5);
    x.u = vec![2.0, -3.0];
    let speed = |h: f64, ws: &mut Workspace<f64>| {
        let mut y = x.clone();
        for k in 0..2 {
            y.q[k] += h * x.u[k] + 0.5 * h * h * udot[k];
            y.u[k] += h * udot[k];
        }
        system.compute_kinematics(&y, ws);
        point.found(ws)
    };
    let [behind, ahead] = [speed(-h, &mut ws), speed(h, &mut ws)];
    let here = speed(0.0, &mut ws);
    system.compute_motion(&x, &[0.0, 0.0], &mut ws).unwrap();
    ws.udot.copy_from_slice(&udot);
    let (mut body, mut J) = (vec![SpatialVec::zero(); system.tree.nodes.len()], vec![0.0; 2]);
    let acceleration = point.compute(&system, &ws, &mut body, &mut J);
    // Truncation h² times third derivatives of a hundred, and rounding over h.
    assert!((acceleration - (ahead[1] - behind[1]) / (2.0 * h)).abs() < 1e-6, "{acceleration}");
    assert!((here[1] - (ahead[0] - behind[0]) / (2.0 * h)).abs() < 1e-6, "{}", here[1]);
    assert!((J[0] * x.u[0] + J[1] * x.u[1] - here[1]).abs() < 1e-12);
    assert!(J[0].abs() < 1e-12, "{J:?}");

    // Along a course a centimeter aside.
    let here = point.clone().along_motion(&system, &reference, history.times()).unwrap();
    let along: Vec<f64> = history.times().iter().map(|&t| here.wanted(t)[0] + off).collect();
    let places: Vec<Vec<f64>> =
        moves.to_array().iter().map(|d| along.iter().map(|s| d * s).collect()).collect();
    let made = point.along(history.times(), [&places[0], &places[1], &places[2]]).unwrap();
    let tasks = [Task::new(0), Task { followed: Followed::Point(Arc::new(made)), ..Task::new(0) }];
    let tracker = follow(both, &reference, &tasks, 1e4, &settings(Target::Exact));
    assert_eq!(tracker.tasks().len(), 2);
    for w in tracker.windows() {
        let t = w.time - 0.1;
        let left = off * (1.0 + 10.0 * t) * (-10.0 * t).exp();
        // Accelerations are asked for at the beginning of a window of 1 ms and met at its end.
        assert!((w.errors[1] - left).abs() < 0.02 * off, "{} and {left} at {t}", w.errors[1]);
        assert!(w.errors[0].abs() < 0.02 * off, "{} at {t}", w.errors[0]);
    }
}

/// How tension and fibers answer to path and fibers, against central differences.
#[test]
fn deriv_sensitivity_of_a_muscle() {
    use super::contraction::Sensitivity;
    for muscle in muscles() {
        // Off the balance, where fibers stand still and curves of force over speed have a corner.
        for (a, shorter) in [(0.05, 0.0005), (0.5, 0.002), (0.9, -0.003)] {
            let (length, speed, e) = (0.285, 0.03, 0.4);
            let mut z = muscle.default_states().to_vec();
            z[0] = a;
            muscle.solve_equilibrium(length, 0.0, a, &mut z).unwrap();
            z[1] -= shorter;
            let s = Sensitivity::of(&muscle, (length, speed), e, &z);
            let at = |dl: f64, dv: f64, dz: f64| {
                let mut rates = [0.0; 2];
                let tension = muscle.dynamics(length + dl, speed + dv, e, &[z[0], z[1] + dz], &mut rates);
                [tension, rates[1]]
            };
            let pairs = [
                ([1.0, 0.0, 0.0], [s.tension_by_length, s.rate_by_length]),
                ([0.0, 1.0, 0.0], [s.tension_by_speed, s.rate_by_speed]),
                ([0.0, 0.0, 1.0], [s.tension_by_state, s.rate_by_state]),
            ];
            for ([dl, dv, dz], exact) in pairs {
                // Curves are smooth over a micrometer, and rounding of 1000 N over it is 1e-7 of a stiffness of 1e5 N/m.
                let h = 1e-6;
                let (plus, minus) = (at(h * dl, h * dv, h * dz), at(-h * dl, -h * dv, -h * dz));
                for k in 0..2 {
                    let fd = (plus[k] - minus[k]) / (2.0 * h);
                    let scale = exact[k].abs().max(1.0);
                    assert!((fd - exact[k]).abs() < 1e-4 * scale, "{k} at {a}: {fd} and {}", exact[k]);
                }
            }
        }
    }
}

/// Accelerations by forces under constraints, one of them said twice, are those of the constraints themselves.
#[test]
fn identity_forces_accelerate_under_constraints_that_repeat() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1), (Slider, 1)]);
    for slope in [0.5, 0.5] {
        let kind = ConstraintKind::CoordinateCoupler {
            independent: vec![CoordinateId(0)],
            dependent: CoordinateId(1),
            function: Function::linear(&[slope, 0.1]).unwrap(),
            scale: 1.0,
        };
        constrain(&mut model, kind);
    }
    let system = System::compile(&model).unwrap();
    let mut response = Response::new(&system, &Actuators::none(), vec![Row::Mobility(0)]);
    let mut x = system.default_state.clone();
    x.q.copy_from_slice(&[0.4, 0.3, 0.1]);
    let mut ws = system.workspace();
    system.compute_motion(&x, &[], &mut ws).unwrap();
    response.compute(&x, &Actuators::none(), &[]).unwrap();
    for load in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -2.0, 5.0]] {
        let (mut found, mut want) = (load, load);
        response.respond(&mut found);
        ws.constraints.bias.fill(0.0);
        system.constraints.solve(&ws.mass, &mut ws.constraints, &mut want);
        for (a, b) in found.iter().zip(want) {
            assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "{load:?}: {found:?} and {want:?}");
        }
        assert!((found[1] - 0.5 * found[0]).abs() < 1e-12, "{found:?}");
    }
}
