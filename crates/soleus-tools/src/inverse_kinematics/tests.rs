use super::*;
use crate::testing::{chain, constrain, numbers};
use soleus_dynamics::System;
use soleus_dynamics::assembly::Assembler;
use soleus_math::{Vec3, vec3};
use soleus_model::Model;
use soleus_model::constraint::ConstraintKind;
use soleus_model::id::CoordinateId;
use soleus_model::joint::JointKind::{self, Ball, Free, Gimbal, Pin, Slider, Universal};

fn names(model: &Model) -> Vec<String> {
    model.markers.iter().map(|m| m.name.clone()).collect()
}

/// A pose that meets the constraints, and the markers in it.
fn pose(model: &Model, system: &System, seed: u64) -> (Vec<f64>, Vec<Vec3<f64>>) {
    let mut x = system.default_state.clone();
    x.q = numbers(seed, x.q.len()).iter().map(|x| 0.4 * x).collect();
    let mut ws = system.workspace();
    Assembler::new(model, system).solve_assembly(system, &mut x, &mut ws).unwrap();
    system.compute_kinematics(&x, &mut ws);
    let places = system.markers.iter().map(|m| ws.kin.X_GB[m.body] * m.p_BS).collect();
    (x.q, places)
}

fn limbs() -> Vec<(JointKind, usize)> {
    vec![(Free, 6), (Gimbal, 3), (Pin, 1), (Ball, 3), (Universal, 2)]
}

fn solve<'s>(model: &Model, system: &'s System, tasks: &Tasks) -> InverseKinematics<'s> {
    InverseKinematics::new(model, system, &names(model), tasks, Settings::default()).unwrap()
}

/// Markers of a pose lead back to it, with constraints of every kind.
#[test]
fn identity_pose_is_found_again() {
    let coupler = ConstraintKind::CoordinateCoupler {
        independent: vec![CoordinateId(6)],
        dependent: CoordinateId(9),
        function: soleus_math::Function::Linear { slope: -1.3, intercept: 0.2 },
        scale: 1.0,
    };
    let held = |m: &Model| ConstraintKind::Point {
        body_1: m.bodies[0].frame,
        body_2: m.bodies[3].frame,
        location_1: vec3(0.1, -0.6, 0.05),
        location_2: vec3(0.0, 0.05, 0.0),
    };
    for (case, with) in [(0, false), (1, false), (2, true), (3, true)] {
        let mut model = chain(limbs());
        if case % 2 == 1 {
            constrain(&mut model, coupler.clone());
            model.coordinates[14].locked = true;
            model.coordinates[14].default_value = 0.3;
        }
        if with {
            let kind = held(&model);
            constrain(&mut model, kind);
        }
        let system = System::compile(&model).unwrap();
        let (q, places) = pose(&model, &system, 3 + case);
        let mut ik = solve(&model, &system, &Tasks::default());
        let fit = ik.solve_frame(0.0, &places);
        assert!(fit.converged, "case {case}: {fit:?}");
        for (a, b) in ik.coordinates().iter().zip(&q) {
            // Two Newton steps below 1e-7 leave rounding, times the conditioning of angles.
            assert!((a - b).abs() < 1e-8, "case {case}: {a} and {b}");
        }
        assert!(fit.max < 1e-9 && fit.seen == model.markers.len());
    }
}

/// One slider, one marker, one coordinate task: a line whose minimum is x = (a + c b)/(1 + c), whatever the weight of the
/// marker.
#[test]
fn analytic_weights_of_coordinates() {
    let model = chain(vec![(Slider, 1)]);
    let system = System::compile(&model).unwrap();
    for weight in [1.0, 20.0] {
        let tasks = Tasks {
            markers: vec![MarkerTask { name: "b0_0".into(), weight }],
            coordinates: vec![CoordinateTask {
                name: "q0_0".into(),
                weight: 3.0,
                target: Target::Value(-0.2),
            }],
            sensors: Vec::new(),
        };
        let mut ik = solve(&model, &system, &tasks);
        let mut x = system.default_state.clone();
        x.q[0] = 0.5;
        let mut ws = system.workspace();
        system.compute_kinematics(&x, &mut ws);
        let places: Vec<_> = system.markers.iter().map(|m| ws.kin.X_GB[m.body] * m.p_BS).collect();
        let fit = ik.solve_frame(0.0, &places);
        let wanted = (0.5 + 3.0 * -0.2) / 4.0;
        assert!((ik.coordinates()[0] - wanted).abs() < 1e-12, "{}", ik.coordinates()[0]);
        assert!((fit.cost - 0.5 * ((0.5 - wanted).powi(2) + 3.0 * (wanted + 0.2).powi(2))).abs() < 1e-12);
    }
}

#[test]
fn analytic_clamped_coordinates_stay_in_range() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    model.coordinates[1].range = [-0.1, 0.2];
    let system = System::compile(&model).unwrap();
    let mut x = system.default_state.clone();
    x.q = vec![0.4, 0.7];
    let mut ws = system.workspace();
    system.compute_kinematics(&x, &mut ws);
    let places: Vec<_> = system.markers.iter().map(|m| ws.kin.X_GB[m.body] * m.p_BS).collect();
    assert!((solve(&model, &system, &Tasks::default()).solve_frame(0.0, &places)).max < 1e-9);
    model.coordinates[1].clamped = true;
    let mut ik = solve(&model, &system, &Tasks::default());
    let fit = ik.solve_frame(0.0, &places);
    assert!(fit.converged && ik.coordinates()[1] == 0.2, "{:?}", ik.coordinates());
    // Nothing nearby within the range is better.
    let best = fit.cost;
    let q = ik.coordinates().to_vec();
    for d in [[1e-4, 0.0], [-1e-4, 0.0], [0.0, -1e-4], [1e-4, -1e-4]] {
        assert!(ik.compute_fit(0.0, &places, &[q[0] + d[0], q[1] + d[1]]).cost > best);
    }
}

/// A marker that is not seen changes nothing where the others are met exactly; with none seen the pose stays.
#[test]
fn analytic_gaps() {
    let model = chain(limbs());
    let system = System::compile(&model).unwrap();
    let (q, mut places) = pose(&model, &system, 9);
    places[2] = vec3(f64::NAN, 0.0, 0.0);
    places[7].z = f64::INFINITY;
    let mut ik = solve(&model, &system, &Tasks::default());
    let fit = ik.solve_frame(0.0, &places);
    assert_eq!(fit.seen, model.markers.len() - 2);
    assert!(ik.coordinates().iter().zip(&q).all(|(a, b)| (a - b).abs() < 1e-8));
    let before = ik.coordinates().to_vec();
    let fit = ik.solve_frame(0.1, &vec![vec3(f64::NAN, f64::NAN, f64::NAN); places.len()]);
    assert!(fit.seen == 0 && fit.squared_error == 0.0 && ik.coordinates() == before);
}

#[test]
fn analytic_what_does_not_fit_is_refused() {
    let model = chain(vec![(Pin, 1)]);
    let system = System::compile(&model).unwrap();
    let new = |labels: &[&str], tasks: &Tasks| {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        InverseKinematics::new(&model, &system, &labels, tasks, Settings::default()).map(|_| ()).unwrap_err()
    };
    assert_eq!(new(&["other"], &Tasks::default()), Error::NoMarkers);
    assert!(matches!(new(&["b0_0", "b0_0"], &Tasks::default()), Error::Twice { .. }));
    let weight =
        |w| Tasks { markers: vec![MarkerTask { name: "b0_0".into(), weight: w }], ..Tasks::default() };
    assert!(matches!(new(&["b0_0"], &weight(-1.0)), Error::Weight { .. }));
    assert!(matches!(new(&["b0_0"], &weight(f64::NAN)), Error::Weight { .. }));
    let unknown = CoordinateTask { name: "nowhere".into(), weight: 1.0, target: Target::Default };
    let tasks = Tasks { coordinates: vec![unknown], ..Tasks::default() };
    assert!(matches!(new(&["b0_0"], &tasks), Error::NoSuchCoordinate { .. }));
}

/// Orientations of a pose lead back to it, in few steps, whatever the sensors are turned to on their bodies.
#[test]
fn identity_pose_is_found_from_orientations() {
    let mut model = chain(vec![(Gimbal, 3), (Pin, 1), (Ball, 3), (Universal, 2)]);
    for b in &model.bodies {
        model.frames[b.frame.0].name.clone_from(&b.name);
    }
    let system = System::compile(&model).unwrap();
    let (q, _) = pose(&model, &system, 12);
    let mut ws = system.workspace::<f64>();
    let mut x = system.default_state.clone();
    x.q.copy_from_slice(&q);
    system.compute_kinematics(&x, &mut ws);
    let labels: Vec<String> = model.bodies[1..].iter().map(|b| b.name.clone()).collect();
    let seen: Vec<_> = (1..system.tree.nodes.len()).map(|b| ws.kin.X_GB[b].R).collect();
    let tasks = Tasks { sensors: vec![MarkerTask { name: "b1".into(), weight: 3.0 }], ..Tasks::default() };
    let mut ik =
        InverseKinematics::with_sensors(&model, &system, &labels, &tasks, Settings::default()).unwrap();
    let fit = ik.solve_orientations(0.0, &seen);
    assert!(fit.converged && fit.iterations < 12, "{fit:?}");
    assert!(fit.angle_max < 1e-9, "{fit:?}");
    for (a, b) in ik.coordinates().iter().zip(&q) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let none = InverseKinematics::with_sensors(&model, &system, &["x".into()], &tasks, Settings::default());
    assert_eq!(none.err(), Some(Error::NoSensors));
}
