//! Path tensions, measured loads, and contacts of many spheres, against OpenSim 4.6. The
//! numbers and the script that made them are in `data/`.

#![allow(non_snake_case)]

use serde_json::Value;
use soleus_dynamics::Options;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::{BodyFrame, CompiledForce, ForceError, ForceResolve, Kinematics, Resolve};
use soleus_math::function::SimmSpline;
use soleus_math::{Dual, Function, Mat33, Rotation, SpatialVec, Transform, Vec3, vec3};
use soleus_model::force::*;
use soleus_model::id::{CoordinateId, FrameId, GeometryId};
use soleus_model::{ContactGeometry, ContactShape, Force, ForceKind};

/// Ground, a and b.
struct Bodies;
impl Resolve for Bodies {
    fn frame(&self, id: FrameId) -> BodyFrame {
        BodyFrame { body: id.0, X_BF: Transform::identity() }
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        id.0
    }
}
impl ForceResolve for Bodies {
    fn frame_name(&self, id: FrameId) -> &str {
        ["ground", "a", "b"][id.0]
    }
    fn is_rotational(&self, _: CoordinateId) -> bool {
        false
    }
}

fn reference() -> Value {
    serde_json::from_str(include_str!("data/forces_opensim46.json")).expect("the reference is JSON")
}
fn number(v: &Value) -> f64 {
    v.as_f64().expect("a number")
}
fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(number).collect()
}
fn strings(v: &Value) -> Vec<String> {
    v.as_array().expect("a list").iter().map(|s| s.as_str().unwrap().to_string()).collect()
}
fn vector(v: &Value) -> Vec3<f64> {
    vec3(number(&v[0]), number(&v[1]), number(&v[2]))
}
fn pose(v: &Value) -> (Transform<f64>, SpatialVec<f64>) {
    let R = [0, 1, 2].map(|i| vector(&v["R"][i]).to_array());
    let X = Transform::new(Rotation(Mat33::from_rows(R)), vector(&v["p"]));
    (X, SpatialVec::new(vector(&v["w"]), vector(&v["v"])))
}
fn force(name: &str, kind: ForceKind) -> Force {
    Force {
        name: name.into(),
        path: format!("/forceset/{name}"),
        class: String::new(),
        enabled: true,
        line_of_action: None,
        kind,
    }
}

/// Equal within 1e-12 of the largest entry: the formulas are the same up to rounding.
fn assert_close(what: &str, ours: &[f64], theirs: &[f64]) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    let scale = theirs.iter().fold(1e-6, |m: f64, x| m.max(x.abs()));
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() < 1e-12 * scale, "{what}: {ours:?} {theirs:?}");
    }
}

fn path_forces() -> Vec<Force> {
    let control = ControlRange::default();
    // OpenSim's default curve of a ligament.
    let x = vec![-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0];
    let y = vec![0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0];
    let curve = Function::from(SimmSpline::new(x, y).unwrap());
    let expression = |expression: &str, clamp_stretch| {
        ForceKind::ExpressionBasedPathForce(ExpressionBasedPathForce {
            resting_length: 0.5,
            expression: expression.into(),
            clamp_stretch,
        })
    };
    vec![
        force("actuator", ForceKind::PathActuator(PathActuator { control, optimal_force: 30.0 })),
        force(
            "spring",
            ForceKind::PathSpring(PathSpring { resting_length: 0.5, stiffness: 400.0, dissipation: 0.3 }),
        ),
        force(
            "ligament",
            ForceKind::Ligament(Ligament {
                resting_length: 0.5,
                pcsa_force: 90.0,
                force_length_curve: curve,
            }),
        ),
        force(
            "blankevoort",
            ForceKind::Blankevoort1991Ligament(Blankevoort1991Ligament {
                linear_stiffness: 1200.0,
                transition_strain: 0.06,
                damping_coefficient: 2.0,
                slack_length: 0.5,
            }),
        ),
        force("expression", expression("300*s^2 + 4*s*ldot + 1", true)),
        force("unclamped", expression("300*s^3 + 4*ldot", false)),
        force(
            "clutch",
            ForceKind::ClutchedPathSpring(ClutchedPathSpring {
                control,
                stiffness: 500.0,
                dissipation: 0.2,
                relaxation_time_constant: 0.01,
                initial_stretch: 0.03,
            }),
        ),
        force(
            "mckibben",
            ForceKind::McKibbenActuator(McKibbenActuator {
                control,
                number_of_turns: 1.5,
                thread_length: 0.4,
                cord_length: 0.1,
            }),
        ),
    ]
}

#[test]
fn opensim_val_path_tensions() {
    let reference = &reference()["paths"];
    let control = number(&reference["control"]);
    for row in reference["rows"].as_array().unwrap() {
        let (length, speed) = (number(&row["length"]), number(&row["speed"]));
        for f in path_forces() {
            let compiled =
                CompiledForce::compile(&f, &Bodies, &[], &Options { opensim_faults: true }).unwrap();
            let law = compiled.path_force().expect("a path force");
            let mut states = vec![0.0; compiled.state_names().len()];
            compiled.default_states(&mut states);
            let mut record = Vec::new();
            law.record(length, speed, control, &states, &mut record);
            let theirs = &row["forces"][&f.name];
            assert_close(&f.name, &record, &numbers(&theirs["values"]));
            assert_eq!(compiled.labels(), strings(&theirs["labels"]));
            if f.name == "clutch" {
                let mut rate = [f64::NAN];
                law.states_dot(length, speed, control, &states, &mut rate);
                assert_close("stretch", &rate, &[number(&row["stretch_rate"])]);
            }
        }
    }
}

/// Central difference with h = 1e-6: truncation ~h² f‴, roundoff ~ε f/h, both below 1e-8 of f.
#[test]
fn deriv_path_tensions() {
    for f in path_forces() {
        let compiled = CompiledForce::compile(&f, &Bodies, &[], &Options { opensim_faults: true }).unwrap();
        let law = compiled.path_force().unwrap();
        for (l, v, x) in
            [(0.45, 0.7, 0.4), (0.504, 0.5, 0.9), (0.52, -0.3, 0.2), (0.63, 0.8, 0.3), (0.71, -1.2, 0.4)]
        {
            let at = |h: f64| law.tension(l + h, v - 2.0 * h, x + 0.5 * h, &[0.03 + h]);
            let dual = law.tension(
                Dual::<f64, 1>::new(l, [1.0]),
                Dual::new(v, [-2.0]),
                Dual::new(x, [0.5]),
                &[Dual::new(0.03, [1.0])],
            );
            let h = 1e-6;
            let fd = (at(h) - at(-h)) / (2.0 * h);
            assert_eq!(dual.v.to_bits(), at(0.0).to_bits(), "{}", f.name);
            assert!((dual.d[0] - fd).abs() < 1e-7 * (1.0 + fd.abs()), "{} {} {fd}", f.name, dual.d[0]);
        }
    }
}

/// The spring parts of path forces are slopes of their energies.
#[test]
fn identity_path_energy() {
    for f in path_forces().iter().filter(|f| f.name == "spring" || f.name == "blankevoort") {
        let compiled = CompiledForce::compile(f, &Bodies, &[], &Options { opensim_faults: true }).unwrap();
        let law = compiled.path_force().unwrap();
        for l in [0.4, 0.51, 0.56, 0.7] {
            let slope = law.potential_energy(Dual::<f64, 1>::variable(l, 0)).d[0];
            let tension = law.tension(l, 0.0, 0.0, &[]);
            assert!((slope - tension).abs() < 1e-12 * (1.0 + tension), "{} {slope} {tension}", f.name);
        }
    }
}

fn external(time: Vec<f64>, columns: &[Vec<f64>], name: &str) -> Force {
    let three = |i: usize| Some([columns[i].clone(), columns[i + 1].clone(), columns[i + 2].clone()]);
    force(
        name,
        ForceKind::ExternalForce(ExternalForce {
            applied_to_body: FrameId(1),
            applied_to_body_label: "a".into(),
            force_expressed_in_body: FrameId(2),
            point_expressed_in_body: FrameId(2),
            time,
            force: three(0),
            point: three(3),
            torque: three(6),
        }),
    )
}

#[test]
fn opensim_val_measured_loads() {
    let reference = &reference()["external"];
    let (a, b) = (pose(&reference["a"]), pose(&reference["b"]));
    let X_GB = [Transform::identity(), a.0, b.0];
    let V_GB = [SpatialVec::zero(), a.1, b.1];
    for load in reference["loads"].as_array().unwrap() {
        let time = numbers(&load["time"]);
        let columns: Vec<_> = load["columns"].as_array().unwrap().iter().map(numbers).collect();
        let name = format!("load{}", time.len());
        let compiled = CompiledForce::compile(
            &external(time, &columns, &name),
            &Bodies,
            &[],
            &Options { opensim_faults: true },
        )
        .unwrap();
        for row in load["rows"].as_array().unwrap() {
            let kin = Kinematics { time: number(&row["t"]), X_GB: &X_GB, V_GB: &V_GB, q: &[], u: &[] };
            let mut record = Vec::new();
            compiled.record(&kin, &[], &[], &mut record);
            assert_close(&name, &record, &numbers(&row["values"]));
            assert_eq!(compiled.labels(), strings(&row["labels"]));
        }
    }
}

#[test]
fn measured_loads_need_columns_that_fit() {
    let short = external(vec![0.0, 1.0], &vec![vec![1.0]; 9], "x");
    let error = CompiledForce::compile(&short, &Bodies, &[], &Options { opensim_faults: true }).unwrap_err();
    assert_eq!(error.to_string(), "force_identifier has 1 rows, but the time column has 2");
    let backwards = external(vec![1.0, 0.0], &vec![vec![1.0, 2.0]; 9], "x");
    assert!(matches!(
        CompiledForce::compile(&backwards, &Bodies, &[], &Options { opensim_faults: true }),
        Err(ForceError::Function { .. })
    ));
}

fn feet(compatible: bool) -> CompiledForce {
    let geometry = |name: &str, frame, location, orientation, shape| ContactGeometry {
        name: name.into(),
        path: String::new(),
        frame: FrameId(frame),
        location,
        orientation,
        shape,
    };
    let down = vec3(0.0, 0.0, -std::f64::consts::FRAC_PI_2);
    let mut geometries = vec![geometry("floor", 0, Vec3::zero(), down, ContactShape::HalfSpace)];
    for (x, z) in [(0.1, 0.05), (-0.1, 0.02), (0.03, -0.08), (-0.06, 0.09)] {
        let sphere = ContactShape::Sphere { radius: 0.05 };
        geometries.push(geometry("s", 1, vec3(x, 0.0, z), Vec3::zero(), sphere));
    }
    let contact_parameters = vec![ContactParameters {
        geometry: (0..5).map(GeometryId).collect(),
        stiffness: 1e6,
        dissipation: 2.0,
        static_friction: 0.8,
        dynamic_friction: 0.6,
        viscous_friction: 0.1,
    }];
    let kind =
        ForceKind::HuntCrossleyForce(HuntCrossleyForce { contact_parameters, transition_velocity: 0.01 });
    CompiledForce::compile(
        &force("feet", kind),
        &Bodies,
        &geometries,
        &Options { opensim_faults: compatible },
    )
    .unwrap()
}

/// In compatible mode we lose the very contacts that Simbody loses; else we keep them all.
#[test]
fn opensim_val_contacts_after_a_separating_one() {
    let mut differ = 0;
    for row in reference()["many_spheres"].as_array().unwrap() {
        let a = pose(&row["a"]);
        let X_GB = [Transform::identity(), a.0];
        let V_GB = [SpatialVec::zero(), a.1];
        let kin = Kinematics { time: 0.0, X_GB: &X_GB, V_GB: &V_GB, q: &[], u: &[] };
        let mut record = Vec::new();
        feet(true).record(&kin, &[], &[], &mut record);
        let theirs = numbers(&row["values"]);
        assert_close("feet", &record, &theirs);
        assert_eq!(feet(true).labels(), strings(&row["labels"]));

        let mut all = Vec::new();
        feet(false).record(&kin, &[], &[], &mut all);
        // Vertical force on the body: what is kept can only be more.
        assert!(all[7] >= record[7] - 1e-9);
        differ += usize::from(all[7] > record[7] + 1e-6);
        assert!(matches!(feet(false).kernel(), Kernel::HuntCrossley(_)));
    }
    assert!(differ > 0, "no state of the reference shows the fault");
}
