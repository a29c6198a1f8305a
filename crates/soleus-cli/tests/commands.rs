//! The commands as a user runs them: what they print, and that the numbers hang together.
#![allow(non_snake_case)] // M is the mass matrix.

use crate::common::{Folder, LEG, body, joint, model, pendulum};
use serde_json::Value;
use soleus_math::norm::largest_difference;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap_or_else(|| panic!("not a list: {v}")).iter().map(|x| x.as_f64().unwrap()).collect()
}

fn matrix_times(m: &Value, x: &[f64]) -> Vec<f64> {
    m.as_array().unwrap().iter().map(|row| dot(&numbers(row), x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Equal to `digits` relative to the largest entry.
fn assert_close(a: &[f64], b: &[f64], digits: f64) {
    assert_eq!(a.len(), b.len());
    let size = a.iter().chain(b).fold(1e-300, |m: f64, x| m.max(x.abs()));
    let error = largest_difference(a, b) / size;
    assert!(error < digits, "{error:e}: {a:?} {b:?}");
}

#[test]
fn identity_info_tells_what_the_model_holds() {
    let f = Folder::new("info");
    let run = f.soleus(&["info", LEG]);
    let text = run.is_done();
    assert_eq!(run.stderr, "");
    for words in [
        "leg_swing",
        "8 Millard2012EquilibriumMuscle",
        "3 PinJoint",
        "hip_flexion",
        "everything in the file is supported",
    ] {
        assert!(text.contains(words), "no `{words}` in:\n{text}");
    }

    let v: Value = serde_json::from_str(f.soleus(&["info", LEG, "--json"]).is_done()).unwrap();
    let masses: f64 = v["bodies"].as_array().unwrap().iter().map(|b| b["mass"].as_f64().unwrap()).sum();
    // The sum of four numbers, in the same order.
    assert_eq!(v["mass"].as_f64(), Some(masses));
    assert_eq!(v["muscles"].as_array().map(Vec::len), Some(8));
    assert_eq!(v["coordinates"][0]["path"], "/jointset/hip/hip_flexion");
    assert_eq!(v["unsupported"].as_array().map(Vec::len), Some(0));
}

/// A leg in motion, its muscles half active, with accelerations for inverse dynamics.
const STATES: &str = r#"{"states": [{
    "coordinates": {"/jointset/hip/hip_flexion": [0.4, 1.5], "knee_angle": [-0.7, -2.0], "ankle_angle": [0.1, 3.0]},
    "aux_states": {"/forceset/soleus/activation": 0.5, "/forceset/vasti/activation": 0.3},
    "controls": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    "inverse_dynamics": {"udot": [10, -20, 30]}
}, {}]}"#;

#[test]
fn identity_eval_obeys_the_equations_of_motion() {
    let f = Folder::new("eval");
    f.file("states.json", STATES);
    let run = f.soleus(&["eval", LEG, "--states", "states.json", "--out", "out.json"]);
    assert_eq!(run.is_done(), "", "a file was asked for");
    let text = std::fs::read_to_string(f.0.join("out.json")).unwrap();
    let printed = f.soleus(&["eval", LEG, "--states", "states.json", "--out", "-"]);
    assert_eq!(printed.is_done(), text, "the same input gives the same bits, on stdout or in a file");

    let v: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(v["states"].as_array().map(Vec::len), Some(2));
    for s in v["states"].as_array().unwrap() {
        let (M, u, udot) = (&s["mass_matrix"], numbers(&s["u"]), numbers(&s["udot"]));
        let id = &s["inverse_dynamics"];
        let given = numbers(&id["udot"]);
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>();

        // Sums of a dozen terms; the largest are near 1e3 times the smallest, so 1e-12 leaves room for rounding.
        // M (u̇_given − u̇) = all_forces: what has to be added to get other accelerations.
        let added = matrix_times(M, &difference(&given, &udot));
        assert_close(&added, &numbers(&id["all_forces"]), 1e-12);
        // M u̇_given + c − g = gravity_only, c − g being the same at u̇ = 0.
        let inertial = difference(&numbers(&id["gravity_only"]), &numbers(&id["bias_gravity_only_udot0"]));
        assert_close(&inertial, &matrix_times(M, &given), 1e-12);
        // ½ uᵀ M u is the kinetic energy that the bodies' own velocities give.
        let energy = s["kinetic_energy"].as_f64().unwrap();
        assert!((0.5 * dot(&u, &matrix_times(M, &u)) - energy).abs() <= 1e-12 * energy, "{energy}");

        // l̇ = −Σ r u for every muscle.
        let names: Vec<&str> =
            v["model"]["tree_order"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let speed_at =
            v["muscle_fields"].as_array().unwrap().iter().position(|n| n == "lengtheningSpeed").unwrap();
        for (muscle, row) in s["muscles"].as_object().unwrap() {
            let arms = &s["moment_arms"][muscle];
            let arm = |path: &str| arms[path.rsplit('/').next().unwrap_or(path)].as_f64().unwrap_or(0.0);
            let by_arms: f64 = -names.iter().zip(&u).map(|(n, u)| arm(n) * u).sum::<f64>();
            let speed = row[speed_at].as_f64().unwrap();
            // Arms below 1e-9 m are left out; speeds here are at most 3 rad/s.
            assert!((speed - by_arms).abs() < 1e-8, "{muscle}: {speed} {by_arms}");
        }
    }
}

#[test]
fn identity_equilibrium_leaves_the_fibers_at_rest() {
    let f = Folder::new("equilibrium");
    f.file("states.json", STATES);
    let run = f.soleus(&["eval", LEG, "--states", "states.json", "--out", "-", "--equilibrate"]);
    let v: Value = serde_json::from_str(run.is_done()).unwrap();
    let fields = v["muscle_fields"].as_array().unwrap();
    let at = fields.iter().position(|n| n == "fiberVelocity").unwrap();
    for (muscle, row) in v["states"][1]["muscles"].as_object().unwrap() {
        // Forces agree to 1e-8 of F0; the damping alone takes 0.1 F0 at vmax l0, which is near 1 m/s.
        let speed = row[at].as_f64().unwrap();
        assert!(speed.abs() < 1e-7, "{muscle}: {speed} m/s");
    }
}

#[test]
fn analytic_eval_of_a_pendulum() {
    let f = Folder::new("pendulum");
    f.file("pendulum.osim", pendulum(""));
    f.file("states.json", r#"{"states": [{"coordinates": {"angle": [0.3, 2.0]}}]}"#);
    let text = f.soleus(&["eval", "pendulum.osim", "--states", "states.json", "--out", "-"]);
    let v: Value = serde_json::from_str(text.is_done()).unwrap();
    // (I + m c²) q̈ = −m g c sin q, with m = 2 kg, c = 0.5 m, I = 0.1 kg·m².
    let expected = -2.0 * 9.80665 * 0.5 * 0.3f64.sin() / (0.1 + 2.0 * 0.25);
    assert_close(&numbers(&v["states"][0]["udot"]), &[expected], 1e-14);
}

#[test]
fn opensim_val_free_joint_closes_a_loop() {
    // OpenSim 4.6 gives this model 8 speeds, and 6 position and 6 velocity errors of the weld that closes the loop.
    let f = Folder::new("free_loop");
    let joints = joint("PinJoint", "j1", "/ground", "/bodyset/a", &["q1"])
        + &joint("PinJoint", "j2", "/bodyset/a", "/bodyset/b", &["q2"])
        + &joint("FreeJoint", "j3", "/ground", "/bodyset/b", &["rx", "ry", "rz", "tx", "ty", "tz"]);
    f.file("loop.osim", model(&(body("a", "1") + &body("b", "1")), &joints, ""));
    f.file("states.json", r#"{"states": [{"coordinates": {"tx": [0.1, 0.2]}}]}"#);
    let text = f.soleus(&["eval", "loop.osim", "--states", "states.json", "--out", "-"]);
    let v: Value = serde_json::from_str(text.is_done()).unwrap();
    let s = &v["states"][0];
    let lengths = ["u", "qerr", "uerr"].map(|key| s[key].as_array().map_or(0, Vec::len));
    assert_eq!(lengths, [8, 6, 6]);
}

#[test]
fn identity_eval_says_when_nothing_resists_a_coordinate() {
    let f = Folder::new("singular");
    // A mass on the axis of its hinge: at rest while nothing turns it, undetermined when a spring does.
    let spring = "<SpringGeneralizedForce name=\"spring\">\n<coordinate>angle</coordinate>\n\
        <stiffness>1</stiffness>\n<rest_length>1</rest_length>\n</SpringGeneralizedForce>\n";
    f.file("states.json", r#"{"states": [{}]}"#);
    for (force, expected) in [("", Value::from(0.0)), (spring, Value::from("NaN"))] {
        let text = pendulum(force).replace("0 -0.5 0<", "0 0 0<").replace("0.1 0.1 0.1", "0 0 0");
        f.file("point.osim", text);
        let run = f.soleus(&["eval", "point.osim", "--states", "states.json", "--out", "-"]);
        // Numbers that are not finite are written, and end with 1.
        assert_eq!(run.code, Some(i32::from(!force.is_empty())), "{}", run.stderr);
        let v: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(v["states"][0]["udot"][0], expected);
        for words in ["warning: state 0: ", "has no inertia", "/jointset/hinge/angle"] {
            assert!(run.stderr.contains(words), "{}", run.stderr);
        }
    }
}

/// What a file says never reaches the terminal as a command.
#[test]
fn issue_21_names_with_escape_characters() {
    let f = Folder::new("escape");
    f.file("red.osim", pendulum("").replace("name=\"test\"", "name=\"red\u{1b}[31m\u{9b}2J\""));
    let run = f.soleus(&["info", "red.osim"]);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains('\u{1b}') && !said.contains('\u{9b}'), "{said:?}");
    f.file("states.json", r#"{"states": [{"coordinates": {"angle\u001b[31m": [0, 0]}}]}"#);
    let run = f.soleus(&["eval", "red.osim", "--states", "states.json", "--out", "-"]);
    assert!(run.stderr.contains("no coordinate `angle\\u{1b}[31m`"), "{}", run.stderr);
}

/// A pendulum as OpenSim 3 wrote models: the joint is inside the body.
const OLD: &str = include_str!("../../../examples/pendulum_v3.osim");

#[test]
fn identity_upgrade_keeps_the_physics() {
    let f = Folder::new("upgrade");
    f.file("old.osim", OLD);
    let run = f.soleus(&["upgrade", "old.osim", "--out", "new.osim"]);
    assert_eq!(run.is_done(), "", "words go to stderr");
    assert!(run.stderr.contains("30000") && run.stderr.contains("40600"), "{}", run.stderr);
    let new = std::fs::read_to_string(f.0.join("new.osim")).unwrap();
    assert!(new.contains("Version=\"40600\"") && new.contains("<JointSet"), "{new}");

    f.file("states.json", r#"{"states": [{}, {"coordinates": {"angle": [1.0, -2.0]}}]}"#);
    let eval =
        |name: &str| f.soleus(&["eval", name, "--states", "states.json", "--out", "-"]).is_done().to_string();
    assert_eq!(eval("old.osim"), eval("new.osim"));
    // A file of the newest version is written back as it is.
    assert_eq!(f.soleus(&["upgrade", "new.osim", "--out", "-"]).is_done(), new);
}

#[test]
fn deriv_demo_shows_exact_derivatives() {
    let run = Folder::new("demo").soleus(&["demo", "--leg"]);
    let text = run.is_done();
    assert_eq!(run.stderr, "");
    let mut rows = 0;
    for line in text.lines().filter(|l| l.contains("exact") && l.contains("differences")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Ok(exact), Ok(by_differences)) = (words[2].parse::<f64>(), words[4].parse::<f64>()) else {
            continue;
        };
        // Central differences at h = 1e-6 of accelerations near 1e3: roundoff ε·1e3/h ≈ 2e-7, and some digits for the path.
        assert!((exact - by_differences).abs() < 1e-5 * exact.abs(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 3, "{text}");
}

#[test]
fn identity_help_of_every_verb_has_an_example() {
    let f = Folder::new("help");
    let list = f.soleus(&["--help"]);
    let verbs = list.is_done().lines().filter_map(|l| l.strip_prefix("  ")?.split(' ').next());
    let verbs: Vec<&str> =
        verbs.filter(|v| v.starts_with(|c: char| c.is_ascii_lowercase()) && *v != "help").collect();
    assert!(verbs.len() >= 34, "{verbs:?}");
    for verb in verbs {
        let run = f.soleus(&["help", verb]);
        let text = run.is_done();
        let examples = text.split("\nExample").nth(1).unwrap_or_else(|| panic!("{verb}: {text}"));
        assert!(examples.lines().any(|l| l.starts_with(&format!("  soleus {verb} "))), "{verb}: {text}");
    }
    f.soleus(&["help", "piplne"])
        .is_refused(&["no command `piplne`", "did you mean `soleus help pipeline`?"]);
    f.soleus(&["pipeline"]).is_refused(&["neither a pipeline file nor trials", "--static STATIC.trc"]);
    f.soleus(&["pipeline", "--model", "x.osim"]).is_refused(&["--markers is missing", "--markers WALK.trc"]);
    f.soleus(&["predict", "builtin:gait2"]).is_refused(&["no such built-in model", "builtin:gait2d"]);
    f.file("angles.csv", "time,knee_angle_r,hip_flexion_r\n0,1,2\n1,2,3\n");
    f.soleus(&["plot", "angles.csv", "--columns", "knee_angel_r", "--out", "p.svg"])
        .is_refused(&["the nearest is `knee_angle_r`"]);
}

/// A simulated leg: states and controls as OpenSim labels them, the same bytes each time, and going on from a
/// row of the result is going on.
#[test]
fn identity_simulate_writes_states_and_goes_on_from_them() {
    let f = Folder::new("simulate");
    let simulate = |args: &[&str]| f.soleus(&[&["simulate", LEG], args].concat());
    let run = simulate(&["--excitation", "0.1", "--duration", "0.2", "--accuracy", "1e-8", "--out", "all"]);
    run.is_done();
    assert!(run.stderr.contains("steps") && run.stderr.contains("times real time"), "{}", run.stderr);
    let states = std::fs::read_to_string(f.0.join("all/leg_swing_states.sto")).unwrap();
    let header = states.lines().find(|l| l.starts_with("time")).unwrap();
    assert!(
        header.starts_with("time\t/jointset/hip/hip_flexion/value\t/jointset/hip/hip_flexion/speed"),
        "{header}"
    );
    assert!(header.contains("/forceset/soleus/activation"));
    assert!(f.0.join("all/leg_swing_controls.sto").exists());
    simulate(&["--excitation", "0.1", "--duration", "0.2", "--accuracy", "1e-8", "--out", "again"]).is_done();
    assert_eq!(states, std::fs::read_to_string(f.0.join("again/leg_swing_states.sto")).unwrap());

    let last = |text: &str| -> Vec<f64> {
        text.lines().last().unwrap().split('\t').map(|w| w.trim().parse().unwrap()).collect()
    };
    for (method, digits) in [("rkm", 1e-5), ("dopri5", 1e-5), ("radau5", 1e-4), ("rosenbrock", 2e-2)] {
        let args = ["--excitation", "0.1", "--duration", "0.2", "--accuracy", "1e-8", "--method", method];
        simulate(&[&args[..], &["--step", "1e-4", "--out", method]].concat()).is_done();
        let text = std::fs::read_to_string(f.0.join(method).join("leg_swing_states.sto")).unwrap();
        assert_close(&last(&text), &last(&states), digits);
    }

    // In two halves, by way of a file.
    let half = ["--excitation", "0.1", "--duration", "0.1", "--accuracy", "1e-8"];
    simulate(&[&half[..], &["--out", "first", "--interval", "0.1"]].concat()).is_done();
    let text = std::fs::read_to_string(f.0.join("first/leg_swing_states.sto")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    // Of two rows the first is the start.
    lines.remove(lines.len() - 2);
    f.file("middle.sto", lines.join("\n").replace("nRows=2", "nRows=1"));
    simulate(&[&half[..], &["--initial", "middle.sto", "--out", "second"]].concat()).is_done();
    let text = std::fs::read_to_string(f.0.join("second/leg_swing_states.sto")).unwrap();
    assert_close(&last(&text), &last(&states), 1e-6);
}

#[test]
fn analytic_simulate_refuses_nonsense() {
    let f = Folder::new("simulate_nonsense");
    f.soleus(&["simulate", LEG, "--duration", "-1", "--out", "o"]);
    f.soleus(&["simulate", LEG, "--duration", "0", "--out", "o"]).is_refused(&["duration", "positive"]);
    for (option, value) in
        [("accuracy", "0"), ("step", "0"), ("interval", "nan"), ("interval", "0"), ("deadline", "nan")]
    {
        let flag = format!("--{option}");
        f.soleus(&["simulate", LEG, "--duration", "1", &flag, value, "--out", "o"])
            .is_refused(&[option, "hint: give a "]);
    }
    f.soleus(&["simulate", LEG, "--duration", "1", "--interval", "1e-12", "--out", "o"])
        .is_refused(&["do not fit in memory", "interval of"]);
    f.soleus(&["simulate", LEG, "--duration", "1", "--controls", "none.sto", "--out", "o"])
        .is_refused(&["none.sto"]);
}
