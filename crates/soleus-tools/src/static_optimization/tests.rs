use super::*;
use crate::testing::{chain, constrain, numbers};
use soleus_dynamics::assembly::Assembler;
use soleus_math::Function;
use soleus_model::constraint::ConstraintKind;
use soleus_model::force::{ControlRange, CoordinateActuator, Force, ForceKind};
use soleus_model::id::CoordinateId;
use soleus_model::joint::JointKind::{Ball, Pin, Slider};

fn actuator(model: &mut Model, coordinate: usize, optimal_force: f64, bound: f64) {
    let name = format!("a{}", model.forces.len());
    model.forces.push(Force {
        path: format!("/forceset/{name}"),
        name,
        class: "CoordinateActuator".to_string(),
        enabled: true,
        line_of_action: None,
        kind: ForceKind::CoordinateActuator(CoordinateActuator {
            control: ControlRange { min: -bound, max: bound },
            coordinate: CoordinateId(coordinate),
            optimal_force,
        }),
    });
}

/// A state and accelerations of a system, the same every time.
fn motion(system: &System) -> (soleus_dynamics::State<f64>, Vec<f64>) {
    let n = system.tree.num_mobilities;
    let mut x = system.default_state.clone();
    x.q = numbers(1, n);
    x.u = numbers(2, n);
    (x, numbers(3, n).iter().map(|a| 5.0 * a).collect())
}

/// What the joints must do for that motion.
fn moments(system: &System, x: &soleus_dynamics::State<f64>, udot: &[f64]) -> Vec<f64> {
    let mut solver = crate::inverse_dynamics::Solver::new(system);
    (solver.state, solver.udot) = (x.clone(), udot.to_vec());
    solver.compute(system);
    solver.tau
}

/// Two actuators on one coordinate share its moment by their strength: aᵢ = Fᵢ τ/Σ F².
#[test]
fn analytic_two_actuators_of_one_joint() {
    let mut model = chain(vec![(Pin, 1), (Slider, 1)]);
    for (c, f) in [(0, 3.0), (0, 4.0), (1, 10.0)] {
        actuator(&mut model, c, f, f64::INFINITY);
    }
    let system = System::compile(&model).unwrap();
    let (x, udot) = motion(&system);
    let tau = moments(&system, &x, &udot);
    let mut sharing = LoadSharing::new(&model, &system, &Settings::default()).unwrap();
    let found = sharing.solve(&x, &udot).unwrap();
    assert!(found.feasible);
    let want = [3.0 * tau[0] / 25.0, 4.0 * tau[0] / 25.0, tau[1] / 10.0];
    for (a, w) in sharing.activations().iter().zip(want) {
        assert!((a - w).abs() < 1e-12 * w.abs().max(1.0), "{a} and {w}");
    }
    assert_eq!(sharing.force(2), Some(10.0 * sharing.activations()[2]));
}

/// With the activations found as controls the model accelerates as asked, constraints and ball joints included.
#[test]
fn identity_forward_dynamics_gives_the_accelerations_back() {
    for exponent in [2.0, 3.0] {
        let mut model = chain(vec![(Pin, 1), (Ball, 3), (Pin, 1), (Slider, 1)]);
        constrain(
            &mut model,
            ConstraintKind::CoordinateCoupler {
                independent: vec![CoordinateId(0)],
                dependent: CoordinateId(4),
                function: Function::linear(&[0.7, 0.1]).unwrap(),
                scale: 1.0,
            },
        );
        for c in 0..6 {
            actuator(&mut model, c, 5.0 + c as f64, f64::INFINITY);
            actuator(&mut model, c, 2.0, f64::INFINITY);
        }
        let system = System::compile(&model).unwrap();
        let (mut x, udot) = motion(&system);
        let mut ws = system.workspace();
        Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws).unwrap();
        let settings = Settings { exponent, ..Settings::default() };
        let mut sharing = LoadSharing::new(&model, &system, &settings).unwrap();
        assert!(sharing.solve(&x, &udot).unwrap().feasible);
        system.compute_motion(&x, sharing.activations(), &mut ws).unwrap();
        // The coupled coordinate follows; all others do what was asked of them.
        let coupled = system.tree.mobility_of_coordinate[4];
        for m in (0..udot.len()).filter(|&m| m != coupled) {
            assert!((ws.udot[m] - udot[m]).abs() < 1e-8, "p = {exponent}, mobility {m}: {}", ws.udot[m]);
        }
    }
}

/// A joint without an actuator, and one with too weak an actuator, are named with what they lack.
#[test]
fn analytic_what_is_missing_is_told_by_coordinate() {
    let mut model = chain(vec![(Pin, 1), (Pin, 1)]);
    actuator(&mut model, 0, 1.0, 0.5);
    let system = System::compile(&model).unwrap();
    let (x, udot) = motion(&system);
    let tau = moments(&system, &x, &udot);
    let mut sharing = LoadSharing::new(&model, &system, &Settings::default()).unwrap();
    let found = sharing.solve(&x, &udot).unwrap();
    assert!(!found.feasible);
    let missing = sharing.missing();
    let of = |name: &str| missing.iter().find(|(n, _)| n == name).map(|(_, f)| *f).unwrap();
    assert!((of("q1_0") - tau[1]).abs() < 1e-9, "{missing:?}");
    assert!((of("q0_0") - (tau[0] - 0.5 * tau[0].signum())).abs() < 1e-6, "{missing:?}");
}

#[test]
fn analytic_what_does_not_fit_is_refused() {
    let model = chain(vec![(Pin, 1)]);
    let system = System::compile(&model).unwrap();
    assert!(matches!(LoadSharing::new(&model, &system, &Settings::default()), Err(Error::NoActuators)));
    let mut model = model;
    actuator(&mut model, 0, 1.0, 1.0);
    let system = System::compile(&model).unwrap();
    let settings = Settings { exponent: 0.5, ..Settings::default() };
    assert!(matches!(LoadSharing::new(&model, &system, &settings), Err(Error::Setting(_))));
}
