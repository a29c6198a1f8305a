//! Laws of a laboratory in a model file: values, derivatives, tools and studies.

use my_lab::{PlainMuscle, StiffeningSpring, registry};
use soleus::engine::math::Real;
use soleus::extension::{Acts, Description, Law, Registry};
use soleus::optimal_control::StudySource;
use soleus::states::{Derivatives, Evaluator, Rows, States};
use soleus::{Context, Memory, Simulation, Solve};
use std::sync::Arc;

const LEG: &str = include_str!("../../../models/leg_swing.osim");

const PARTS: &str = "
    <StiffeningSpring name='brace'>
        <coordinate>knee_angle</coordinate>
        <stiffness>30</stiffness>
        <rest>-0.2</rest>
        <friction>0.3</friction>
    </StiffeningSpring>
    <Wind name='wind'>
        <frame>/bodyset/foot</frame>
        <point>0.05 0 0</point>
        <speed>3</speed>
    </Wind>
    <PlainMuscle name='plain'>
        <GeometryPath name='path'>
            <PathPointSet><objects>
                <PathPoint name='a'><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.03 -0.2 0</location></PathPoint>
                <PathPoint name='b'><socket_parent_frame>/bodyset/shank</socket_parent_frame><location>0.04 -0.05 0</location></PathPoint>
            </objects></PathPointSet>
        </GeometryPath>
        <max_isometric_force>900</max_isometric_force>
        <optimal_fiber_length>0.12</optimal_fiber_length>
        <tendon_slack_length>0.1</tendon_slack_length>
    </PlainMuscle>";

/// The leg with these parts before its own.
fn leg(parts: &str) -> String {
    let text = LEG.replacen(
        "<ForceSet name=\"forceset\">\n\t\t<objects>",
        &format!("<ForceSet name=\"forceset\">\n<objects>{parts}"),
        1,
    );
    assert_ne!(text, LEG);
    text
}

fn with<R>(parts: &str, work: impl FnOnce(&Context) -> R) -> R {
    let (files, registry) = (Memory::new().with("leg.osim", leg(parts).as_bytes()), registry().unwrap());
    work(&Context::new(&files).with_registry(&registry))
}

fn evaluator(parts: &str) -> Arc<Evaluator> {
    with(parts, |cx| Arc::new(Evaluator::read(cx, &"leg.osim".into()).unwrap()))
}

/// What joint torques the laws add at a state, by inverse dynamics of the two models.
#[test]
fn analytic_a_spring_is_its_formula() {
    let brace = &PARTS[..PARTS.find("<Wind").unwrap()];
    let (with_it, without) = (evaluator(brace), evaluator(""));
    let (q, u) = ([0.1, -0.9, 0.2], [0.3, 1.5, -0.4]);
    let states = States { q: Some(Rows::all(&q)), u: Some(Rows::all(&u)), ..States::default() };
    // M u̇ of both differ by the torque.
    let values = [&with_it, &without].map(|e| {
        let list = [e.quantity("udot").unwrap(), e.quantity("mass_matrix").unwrap()];
        let (mut a, mut m) = (vec![0.0; 3], vec![0.0; 9]);
        e.evaluate(&states, &list, &mut [&mut a[..], &mut m[..]], 1).unwrap();
        (0..3).map(|i| (0..3).map(|j| m[3 * i + j] * a[j]).sum::<f64>()).collect::<Vec<_>>()
    });
    let mut out = [0.0];
    StiffeningSpring.compute(&[q[1], u[1]], &[30.0, -0.2, 2.0, 0.3], &[], &mut out);
    for i in 0..3 {
        let expected = if i == 1 { out[0] } else { 0.0 };
        let found = values[0][i] - values[1][i];
        assert!((found - expected).abs() < 1e-9 * out[0].abs(), "{i}: {found} and {expected}");
    }
}

#[test]
fn deriv_laws_of_a_laboratory() {
    let e = evaluator(PARTS);
    let s = e.system.clone();
    let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
    let d = Derivatives::new(e.clone());
    let mut x = s.default_state.clone();
    (x.q[0], x.q[1], x.q[2], x.u[1]) = (0.2, -0.7, 0.1, -2.0);
    let controls: Vec<f64> = (0..ne).map(|i| 0.1 + 0.02 * i as f64).collect();
    s.solve_equilibrium(&mut x, &controls, &mut s.workspace());
    let motion = |v: &[f64]| {
        let rows = |r: std::ops::Range<usize>| Some(Rows::all(&v[r]));
        let nx = 2 * n + nz;
        let states = States {
            q: rows(0..n),
            u: rows(n..2 * n),
            z: rows(2 * n..nx),
            e: rows(nx..nx + ne),
            ..States::default()
        };
        let ([f, a, b], _) = d.linearize(&states, 1).unwrap();
        (f, a, b)
    };
    let v: Vec<f64> = [&x.q[..], &x.u, &x.z, &controls].concat();
    let (nx, (_, a, b)) = (2 * n + nz, motion(&v));
    // Along one direction of everything that the laws see.
    for k in 0..v.len() {
        let h = 1e-6;
        let (mut plus, mut minus) = (v.clone(), v.clone());
        (plus[k], minus[k]) = (v[k] + h, v[k] - h);
        let (plus, minus) = (motion(&plus).0, motion(&minus).0);
        for row in 0..nx {
            let found = if k < nx { a[row * nx + k] } else { b[row * ne + k - nx] };
            let expected = (plus[row] - minus[row]) / (2.0 * h);
            let size = expected.abs().max(1.0) + (plus[row].abs() + minus[row].abs()) * 1e-3;
            assert!((found - expected).abs() < 2e-5 * size, "{row}, {k}: {found} and {expected}");
        }
    }
}

#[test]
fn identity_a_muscle_pulls_with_its_law() {
    let e = evaluator(PARTS);
    let at = e.layout().paths.iter().position(|p| p.ends_with("/plain")).unwrap();
    let state = e.layout().states.iter().position(|s| s == "/forceset/plain/activation").unwrap();
    let control = e.layout().controls.iter().position(|c| c == "/forceset/plain").unwrap();
    let mut ws = e.system.workspace();
    let mut x = e.system.default_state.clone();
    assert_eq!(x.z[state], 0.05);
    (x.q[1], x.u[1], x.z[state]) = (-0.6, 3.0, 0.4);
    let mut controls = vec![0.02; e.system.num_controls];
    controls[control] = 0.8;
    e.system.compute_motion(&x, &controls, &mut ws).unwrap();
    let force = e.model.forces.iter().position(|f| f.name == "plain").unwrap();
    let (l, v) = (ws.paths[force].length(), ws.paths[force].speed());
    let mut out = [0.0; 2];
    PlainMuscle.compute(&[l, v, 0.8], &[900.0, 0.12, 0.1, 10.0, 0.03], &[0.4], &mut out);
    assert!((ws.tension[force] - out[0]).abs() < 1e-10 * out[0], "{} and {}", ws.tension[force], out[0]);
    assert!((ws.zdot[state] - out[1]).abs() < 1e-12 * out[1].abs());
    assert!(at < e.layout().paths.len());
}

#[test]
fn identity_tools_and_studies_know_them() {
    with(PARTS, |cx| {
        let run = Simulation { model: "leg.osim".into(), duration: 0.05, ..Simulation::default() };
        let motion = run.run(cx).unwrap();
        assert!(motion.states.labels().iter().any(|l| l == "/forceset/plain/activation"));
        // The goal by its name, and a property that the solver finds.
        let text = STUDY.replace("GOAL", "1e-3 * knee_jerk");
        let study = StudySource::Text { path: "kick.toml".into(), text };
        let by_name = Solve { study, ..Solve::default() }.run(cx).unwrap();
        let formula = "1e-3 * (udot[knee_angle] / 100)^2 / ((u[knee_angle] / 10)^2 + 1)";
        let text = STUDY.replace("GOAL", formula);
        let study = StudySource::Text { path: "kick.toml".into(), text };
        let by_formula = Solve { study, ..Solve::default() }.run(cx).unwrap();
        assert!(by_name.is_solved() && by_formula.is_solved());
        let (a, b) = (by_name.objective(), by_formula.objective());
        assert!((a - b).abs() < 1e-8 * a.abs(), "{a} and {b}");
        assert_eq!(by_name.solver.counts.iterations, by_formula.solver.counts.iterations);
        let found = &by_name.phases[0].parameters()[0];
        assert!(found.0 == "stiffness" && (0.0..=40.0).contains(&found.1));
    });
}

const STUDY: &str = r#"
name = "kick"
model = "leg.osim"
[[operators]]
type = "remove_muscles"
[[operators]]
type = "add_reserves"
optimal_force = 100
[[parameters]]
name = "stiffness"
components = ["/forceset/brace"]
property = "stiffness"
bounds = [0, 40]
[time]
final = 0.3
[[states]]
pattern = ".*/speed"
bounds = [-20, 20]
initial = 0
final = 0
[[states]]
name = "knee_angle/value"
bounds_deg = [-120, 0]
initial_deg = -90
final_deg = -10
[[goals]]
name = "effort"
formula = "sum(control[*reserve*]^2)"
[[goals]]
name = "jerk"
formula = "GOAL"
[solver]
intervals = 8
"#;

#[test]
fn issue_errors_name_the_line() {
    let wrong = PARTS.replace("<stiffness>30</stiffness>", "<stifness>30</stifness>");
    let e = with(&wrong, |cx| Evaluator::read(cx, &"leg.osim".into()).err().unwrap().to_string());
    assert!(e.contains("`stifness` is not a property of StiffeningSpring") && e.contains("stiffness"), "{e}");
    assert!(e.contains("`stiffness` is missing"), "{e}");

    /// A law that looks at a value cannot serve all states.
    struct Looks;
    impl Law for Looks {
        fn describe(&self) -> Description {
            Description { sees: vec!["q"], ..Description::new("Looks", Acts::OnCoordinate) }
        }
        fn compute<T: Real>(&self, x: &[T], _: &[T], _: &[T], out: &mut [T]) {
            out[0] = if x[0].value() > 0.0 { x[0] } else { T::zero() };
        }
    }
    let e = Registry::new().add_force(&Looks).unwrap_err().to_string();
    assert!(e.contains("laws.rs") && e.contains("where_below"), "{e}");
}
