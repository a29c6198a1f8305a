use super::*;
use crate::inverse_dynamics;
use crate::testing::{chain, numbers};
use soleus_math::table::Element;
use soleus_math::{SpatialVec, Table, Vec3, vec3};
use soleus_model::force::{
    ControlRange, CoordinateActuator, ExternalForce, Force, ForceKind, SpringGeneralizedForce,
};
use soleus_model::id::{CoordinateId, FrameId};
use soleus_model::joint::JointKind::{Ball, Free, Pin, Slider};
use soleus_simulation::system::Constant;

fn force(model: &mut Model, name: &str, kind: ForceKind) {
    model.forces.push(Force {
        name: name.to_string(),
        path: format!("/forceset/{name}"),
        class: String::new(),
        enabled: true,
        line_of_action: None,
        kind,
    });
}

fn actuator(model: &mut Model, coordinate: usize, optimal_force: f64) {
    let kind = CoordinateActuator {
        control: ControlRange::default(),
        coordinate: CoordinateId(coordinate),
        optimal_force,
    };
    force(model, &format!("a{coordinate}"), ForceKind::CoordinateActuator(kind));
}

/// Smooth coordinates, 100 rows a second.
fn swing(model: &Model) -> Table {
    let times: Vec<f64> = (0..61).map(|i| 0.01 * f64::from(i)).collect();
    let column =
        |c: usize| times.iter().map(|t| 0.3 * ((2.0 + 0.3 * c as f64) * t + c as f64).sin()).collect();
    let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let columns = (0..model.coordinates.len()).map(column).collect();
    Table::new(Element::Scalar, labels, times.clone(), columns).unwrap()
}

/// Makes one analysis of the swing, every tenth row.
fn run(model: &Model, make: impl FnOnce(&System, &StateHistory) -> Box<dyn Analysis>) -> Vec<Output> {
    let system = System::compile(model).unwrap();
    let settings = MotionSettings::default();
    let history = StateHistory::from_coordinates(model, &system, &swing(model), None, &settings).unwrap();
    let rows = history.range(f64::NEG_INFINITY, f64::INFINITY).unwrap();
    let analysis = make(&system, &history);
    let mut list = [Scheduled { name: "a".to_string(), step_interval: 10, analysis }];
    let mut controls = Constant(numbers(5, system.num_controls));
    let prepare = Preparation::default();
    let report = analyze((model, &system), &history, rows, &mut controls, prepare, &mut list).unwrap();
    assert_eq!(report.rows, 7);
    let [done] = list;
    done.analysis.finish().unwrap()
}

/// The joint at the root carries the weight and the rate of momentum of all that hangs on it, and on its parent acts the
/// opposite.
#[test]
fn conserves_momentum_through_the_joint_at_the_root() {
    let mut model = chain(vec![(Pin, 1), (Ball, 3), (Slider, 1)]);
    (0..5).for_each(|c| actuator(&mut model, c, 3.0));
    let choice =
        |on_child| ReactionChoice { joint: "j0".to_string(), on_child, in_frame: "ground".to_string() };
    let reaction = |on_child: bool| {
        run(&model, |s, _| Box::new(JointReaction::new(&model, s, &[choice(on_child)], None).unwrap()))
            .swap_remove(0)
            .table
    };
    let (child, parent) = (reaction(true), reaction(false));
    let all = ["center_of_mass".to_string()];
    let com = run(&model, |_, _| Box::new(BodyKinematics::new(&model, &all, false, false).unwrap()));
    let acceleration = &com.iter().find(|o| o.suffix == "_acc_global").unwrap().table;
    let mass = model.total_mass();
    for row in 0..child.rows() {
        for axis in 0..3 {
            let g = model.gravity.to_array()[axis];
            let want = mass * (acceleration.columns()[axis][row] - g);
            let (f, back) = (child.columns()[axis][row], parent.columns()[axis][row]);
            assert!((f - want).abs() < 1e-9 * mass * 10.0, "row {row}, axis {axis}: {f} and {want}");
            assert!((f + back).abs() < 1e-12 * f.abs().max(1.0), "{f} and {back}");
        }
    }
    // Ground is called f0 in this model.
    assert_eq!(child.labels()[0], "j0_on_b0_in_f0_fx");
    assert_eq!(parent.labels()[0], "j0_on_ground_in_f0_fx");
}

/// Each force alone, gravity and velocities give accelerations and reactions that add up to the total, whether contacts hold
/// or have been let go; passive forces count as contributors.
#[test]
fn conserves_contributions_with_contact_add_up() {
    let mut model = chain(vec![(Free, 6), (Pin, 1), (Ball, 3)]);
    (0..10).for_each(|c| actuator(&mut model, c, 4.0));
    let spring = SpringGeneralizedForce {
        coordinate: CoordinateId(6),
        stiffness: 30.0,
        rest_length: 0.2,
        viscosity: 1.0,
    };
    force(&mut model, "spring", ForceKind::SpringGeneralizedForce(spring));
    let body: FrameId = model.bodies[2].frame;
    let push = |f: Vec3<f64>| ExternalForce {
        applied_to_body: body,
        applied_to_body_label: "b1".to_string(),
        force_expressed_in_body: FrameId(0),
        point_expressed_in_body: FrameId(0),
        time: (0..9).map(|i| 0.1 * f64::from(i)).collect(),
        force: Some(f.to_array().map(|x| vec![x; 9])),
        point: Some([0.1, -0.2, 0.3].map(|x| vec![x; 9])),
        torque: None,
    };
    force(&mut model, "ground", ForceKind::ExternalForce(push(vec3(5.0, 60.0, -3.0))));
    for friction in [0.0, 0.65, 1e9] {
        let settings = InducedSettings {
            coordinates: vec!["all".to_string()],
            bodies: vec!["b2".to_string(), "center_of_mass".to_string()],
            contacts: vec![ContactConstraint {
                name: "foot".to_string(),
                rolling_body: "b1".to_string(),
                surface_body: "ground".to_string(),
                normal: vec3(0.0, 1.0, 0.0),
                friction,
                radius: 0.05,
            }],
            force_threshold: 6.0,
            potentials_only: false,
            report_reactions: true,
            in_degrees: true,
            opensim_faults: false,
        };
        let outputs =
            run(&model, |s, _| Box::new(InducedAccelerations::new(&model, s, &settings, None).unwrap()));
        assert_eq!(outputs.len(), 10 + 2 + 1);
        let mut held = 0.0_f64;
        for o in &outputs {
            let t = &o.table;
            let ends: Vec<&str> = t.labels().iter().filter_map(|l| l.strip_prefix("total")).collect();
            assert!(t.labels().iter().any(|l| l.starts_with("spring")), "{:?}", t.labels());
            for end in ends {
                let total = t.column(&format!("total{end}")).unwrap();
                for row in 0..t.rows() {
                    let mine = |l: &str| l.ends_with(end) && !l.starts_with("total");
                    let parts = t.labels().iter().zip(t.columns()).filter(|(l, _)| mine(l));
                    let parts: Vec<f64> = parts.map(|(_, c)| c[row]).collect();
                    let size = parts.iter().fold(1.0, |s: f64, x| s.max(x.abs()));
                    let off = (parts.iter().sum::<f64>() - total[row]).abs();
                    assert!(off < 1e-10 * size, "friction {friction}, {}{end}, row {row}: {off}", o.suffix);
                }
            }
            if o.suffix == "_induced_constraint_reactions" {
                held = t.columns().iter().flatten().fold(held, |h, x| h.max(x.abs()));
            }
        }
        // With so much friction something must have held.
        assert!(friction < 1.0 || held > 0.0);
    }
}

/// Net powers of the joints are the rate of kinetic energy and of energy against gravity.
#[test]
fn conserves_power_of_joints() {
    let model = chain(vec![(Pin, 1), (Pin, 1), (Slider, 1)]);
    let system = System::compile(&model).unwrap();
    let settings = MotionSettings::default();
    let history = StateHistory::from_coordinates(&model, &system, &swing(&model), None, &settings).unwrap();
    let power = run(&model, |s, h| Box::new(JointPower::new(&model, s, h, 0..=60).unwrap()));
    let power = &power.iter().find(|o| o.suffix == "_powers").unwrap().table;
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let mut energy = |row: usize| {
        history.state(row, &mut x);
        system.compute_kinematics(&x, &mut ws);
        (1..system.tree.nodes.len()).fold(0.0, |e, b| {
            let (V, i): (SpatialVec<f64>, _) = (ws.kin.V_GB[b], &ws.kin.inertia[b]);
            e + 0.5 * V.dot(i.momentum(V)) - system.gravity.dot(i.moment + ws.kin.X_GB[b].p * i.mass)
        })
    };
    for row in [20, 30, 40] {
        // Fourth-order difference over 0.01 s: its error is h⁴/30 times a fifth derivative of order 100.
        let e = [row - 2, row - 1, row + 1, row + 2].map(&mut energy);
        let rate = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / 0.12;
        let sum: f64 = power.columns().iter().map(|c| c[row / 10]).sum();
        assert!((rate - sum).abs() < 1e-5 * sum.abs().max(1.0), "row {row}: {rate} and {sum}");
    }
}

/// Names that are not there are refused, with the nearest that is.
#[test]
fn analytic_unknown_names_are_refused() {
    let model = chain(vec![(Pin, 1)]);
    let system = System::compile(&model).unwrap();
    let error = Kinematics::new(&model, &system, &["q0_1".to_string()], true).unwrap_err();
    assert!(error.to_string().contains("q0_0"), "{error}");
    let error = BodyKinematics::new(&model, &["b7".to_string()], false, true).unwrap_err();
    assert!(error.to_string().contains("b7"), "{error}");
    assert!(MuscleAnalysis::new(&model, &["soleus".to_string()], None, false).is_err());
    let choice = ReactionChoice { joint: "j0".to_string(), on_child: true, in_frame: "nowhere".to_string() };
    assert!(JointReaction::new(&model, &system, &[choice], None).is_err());
    let history =
        StateHistory::from_coordinates(&model, &system, &swing(&model), None, &MotionSettings::default());
    assert!(matches!(history.unwrap().range(5.0, 6.0), Err(HistoryError::NoRows { .. })));
}

/// A filter needs more rows than there are, at both ends; they are nobody's motion.
#[test]
fn analytic_filtered_motions_keep_their_time() {
    let model = chain(vec![(Pin, 1), (Slider, 1)]);
    let system = System::compile(&model).unwrap();
    let table = swing(&model);
    let rows = |opensim_faults, from, to| {
        let settings = MotionSettings { cutoff_hz: Some(6.0), opensim_faults, root_angles: opensim_faults };
        let history = StateHistory::from_coordinates(&model, &system, &table, None, &settings).unwrap();
        let rows = history.range(from, to).unwrap();
        (history.times()[*rows.start()], history.times()[*rows.end()], rows.count())
    };
    let (first, last, count) = rows(false, f64::NEG_INFINITY, f64::INFINITY);
    assert!(first.abs() < 1e-9 && (last - 0.6).abs() < 1e-9 && count == 61, "{first} {last} {count}");
    let (first, last, count) = rows(false, 0.2, 5.0);
    assert!((first - 0.2).abs() < 0.011 && (last - 0.6).abs() < 1e-9 && count < 43, "{first} {last} {count}");
    assert!(rows(true, f64::NEG_INFINITY, f64::INFINITY).2 > 100);

    let range = [f64::NEG_INFINITY, f64::INFINITY];
    let settings = inverse_dynamics::Settings { cutoff_hz: Some(6.0), range, ..Default::default() };
    let loads = inverse_dynamics::inverse_dynamics(model.clone(), Vec::new(), &table, &settings).unwrap();
    assert_eq!(loads.generalized_forces.rows(), 61);
}
