use super::*;
use crate::testing::chain;
use soleus_model::force::{ExternalForce, ForceKind};
use soleus_model::id::FrameId;
use soleus_model::joint::JointKind::{Ball, Free, Gimbal, Pin};

/// Smooth coordinates of a model, 100 rows a second over 0.6 s.
fn swing(model: &Model) -> Table {
    let times: Vec<f64> = (0..61).map(|i| 0.01 * f64::from(i)).collect();
    let column = |c: usize| -> Vec<f64> {
        let (a, w) = (0.3 - 0.02 * c as f64, 3.0 + 0.7 * c as f64);
        times.iter().map(|t| a * (w * t + c as f64).sin()).collect()
    };
    let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let columns = (0..model.coordinates.len()).map(column).collect();
    Table::new(Element::Scalar, labels, times, columns).unwrap()
}

/// The load at the root that a motion needs, as a measured force: its residuals are zero by construction.
fn loads_of(model: &Model, motion: &Table) -> Vec<Force> {
    // Rows 1 ms apart, so that the cubic splines through the loads are as good as the loads.
    let system = System::compile(model).unwrap();
    let splines = MotionSplines::new(model, &system, motion, None, DEGREE).unwrap();
    let mut s = Solver::new(&system);
    let times: Vec<f64> = (0..=600).map(|i| 0.001 * f64::from(i)).collect();
    let (mut force, mut torque) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
    for &t in &times {
        splines.compute(t, &mut s.state, &mut s.udot);
        s.compute(&system);
        let load =
            inverse_dynamics::equivalent_joint_load(&system, &s.ws.kin, soleus_model::id::JointId(0), &s.tau);
        for i in 0..3 {
            force[i].push(load.v.to_array()[i]);
            torque[i].push(load.w.to_array()[i]);
        }
    }
    let child = model.joints[0].child;
    let three = |v: Vec<Vec<f64>>| -> Option<[Vec<f64>; 3]> { v.try_into().ok() };
    vec![Force {
        name: "ground".into(),
        path: "/loads/ground".into(),
        class: "ExternalForce".into(),
        enabled: true,
        line_of_action: None,
        kind: ForceKind::ExternalForce(ExternalForce {
            applied_to_body: child,
            applied_to_body_label: "b0".into(),
            force_expressed_in_body: FrameId(0),
            point_expressed_in_body: child,
            time: times.clone(),
            force: three(force),
            point: Some([0, 1, 2].map(|_| vec![0.0; times.len()])),
            torque: three(torque),
        }),
    }]
}

fn model(back: soleus_model::joint::JointKind) -> Model {
    chain(vec![(Free, 6), (back, 3), (Pin, 1)])
}

fn settings() -> Settings {
    Settings { detrend_flexion: false, tolerance: 1e-6, ..Settings::default() }
}

fn run(model: &Model, motion: &Table, loads: Vec<Force>, s: &Settings) -> Eliminated {
    eliminate_residuals(model.clone(), loads, motion, s, &mut |_, _| true).unwrap()
}

/// A motion that obeys the loads is not changed, whether speeds of the back are rates of angles or an angular velocity.
#[test]
fn identity_consistent_motion_is_kept() {
    for back in [Gimbal, Ball] {
        let m = model(back);
        let motion = swing(&m);
        let found = run(&m, &motion, loads_of(&m, &motion), &settings());
        assert!(found.converged, "{found:?}");
        for c in &found.changes {
            // Loads are cubic splines over 1 ms of curves that change within 0.1 s: off by (0.001 / 0.1)⁴ of 100 N on 3 kg, which moves
            // 1e-6 · 30 m/s² · (0.6 s)² / 2 ~ 5e-6 m at most.
            assert!(c.largest < 5e-6, "{c:?}");
        }
        assert!(found.residual[0] < 1e-9 && found.residual[1] < 1e-9, "{:?}", found.residual);
    }
}

/// Inverse dynamics on the motion that is returned finds no residuals, where it found large ones before.
#[test]
fn identity_no_residuals_by_inverse_dynamics() {
    let m = model(Gimbal);
    let truth = swing(&m);
    let loads = loads_of(&m, &truth);
    let mut measured = truth.clone();
    for (column, size) in [(3, 0.01), (4, -0.02), (6, 0.05), (9, 0.03)] {
        for (i, x) in measured.column_at_mut(column).unwrap().iter_mut().enumerate() {
            *x += size * (0.2 * i as f64).sin();
        }
    }
    // Rows 2 ms apart: the quintic splines of inverse dynamics follow what was integrated to all digits that the test asks for.
    let fine: Vec<f64> = (0..=300).map(|i| 0.002 * f64::from(i)).collect();
    let measured = soleus_math::signal::resampled_at(&measured, &fine, DEGREE).unwrap();
    let residuals = |t: &Table| {
        let id =
            inverse_dynamics::inverse_dynamics(m.clone(), loads.clone(), t, &Default::default()).unwrap();
        // Natural splines have no third derivative at their ends, whatever the motion: their first rows do not count.
        let inner = id.generalized_forces.trimmed(0.03, 0.57);
        crate::quality::residuals(&m, &inner).unwrap()
    };
    let before = residuals(&measured);
    let found = run(&m, &measured, loads.clone(), &settings());
    let after = residuals(&found.motion);
    assert!(found.converged && found.iterations <= 15, "{} steps", found.iterations);
    assert!(before.force_peak > 1.0 && before.moment_peak > 0.1, "{before:?}");
    assert!(after.force_peak < 1e-6 * after.weight, "{after:?}");
    assert!(after.moment_peak < 1e-6 * after.weight, "{after:?}");
    assert!(found.cost[1] < found.cost[0]);
    // Coordinates that are not solved for are as they were.
    for name in ["q0_0", "q0_2", "q2_0"] {
        let (a, b) = (found.motion.column(name).unwrap(), measured.column(name).unwrap());
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
    }
}

/// Derivatives of J by initial values and speeds against central differences.
#[test]
fn deriv_cost_by_initial_state() {
    let m = model(Gimbal);
    let truth = swing(&m);
    let mut measured = truth.clone();
    measured.column_at_mut(7).unwrap().iter_mut().for_each(|x| *x += 0.05);
    let s = Settings { cycle: Cycle::Half, period: Some(0.3), ..Settings::default() };
    let mut with_loads = m.clone();
    with_loads.forces.extend(loads_of(&m, &truth));
    let system = System::compile(&with_loads).unwrap();
    let motion = MotionSplines::new(&with_loads, &system, &measured, None, DEGREE).unwrap();
    let unknowns = Unknowns::find(&with_loads, &system, &[], &[]).unwrap();
    let e = Equations { system: &system, motion: &motion, unknowns: &unknowns };
    let (rows, samples) = times(measured.times(), &s).unwrap();
    let start = e.measured(0.0);
    let mesh = Mesh::adapt(&e, &rows, &samples, &start, 1e-5).unwrap();
    let fit = Fit::new(&e, &samples, &s);
    let cost = |y: &integrate::Initial<f64>| {
        fit.normal_equations(&mesh.integrate(&e, y).unwrap(), &mesh.slopes(&e, y).unwrap())
    };
    let (_, g, _) = cost(&start);
    let direction: Vec<f64> = crate::testing::numbers(5, 12);
    let h = 1e-5;
    let fd = (cost(&start.moved(&direction, h)).0 - cost(&start.moved(&direction, -h)).0) / (2.0 * h);
    let exact: f64 = 2.0 * g.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>();
    // J is nearly quadratic, so that central differences are exact but for rounding, 1e-16 J / h.
    assert!((fd - exact).abs() < 1e-6 * exact.abs(), "{fd} and {exact}");
    assert_ne!(fd, exact);
}

#[test]
fn analytic_what_does_not_fit_is_refused() {
    let m = model(Gimbal);
    let motion = swing(&m);
    let fails =
        |s: Settings| eliminate_residuals(m.clone(), vec![], &motion, &s, &mut |_, _| true).unwrap_err();
    let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(matches!(
        fails(Settings { back: names(&["q1_0"]), ..settings() }),
        Error::Count { equations: 6, .. }
    ));
    assert!(matches!(
        fails(Settings { back: names(&["hip"]), ..settings() }),
        Error::NoSuchCoordinate { .. }
    ));
    assert!(matches!(fails(Settings { range: [0.5, 0.505], ..settings() }), Error::TooShort { .. }));
    assert!(matches!(fails(Settings { back_weight: -1.0, ..settings() }), Error::Value { .. }));
    let fixed = chain(vec![(Pin, 1), (Pin, 1)]);
    let motion = swing(&fixed);
    let none = eliminate_residuals(fixed, vec![], &motion, &settings(), &mut |_, _| true);
    assert!(matches!(none, Err(Error::NoRoot)));
}
