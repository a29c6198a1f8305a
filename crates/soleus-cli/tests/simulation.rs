//! `simulate`, `equilibrium`, `jacobian` and `fit-paths` as a user runs them; simulations that cannot go on.

use crate::common::{Folder, LEG, pendulum, pipelines, table};
use serde_json::Value;
use soleus_math::Table;
use soleus_testing::reference_test;

/// A force on the angle of the pendulum, given by a formula in the angle q.
fn formula(text: &str) -> String {
    format!(
        "<ExpressionBasedCoordinateForce name=\"law\"><coordinate>angle</coordinate><expression>{text}</expression>\
         </ExpressionBasedCoordinateForce>"
    )
}

/// The last row of a table of states, and that it is whole: every row has finite numbers.
fn last_row(t: &Table) -> Vec<f64> {
    assert!(t.columns().iter().flatten().all(|x| x.is_finite()));
    t.columns().iter().map(|c| *c.last().unwrap()).collect()
}

/// A force that is not a number beyond an angle ends the simulation near it: the angle and the force are named, and the rows up to
/// then are on disk.
#[test]
fn analytic_not_a_number_ends_with_time_state_and_rows() {
    let f = Folder::new("simulate_nan");
    f.file("m.osim", pendulum(&formula("5+sqrt(0.3-q)")));
    let run = f.soleus(&["simulate", "m.osim", "--duration", "5", "--out", "o"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in [
        "not finite at t = ",
        "largest contribution: /jointset/hinge/angle/",
        ", through /forceset/law\n",
        "results up to then are in o",
    ] {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    let t = table(&f.0.join("o/m_states.sto"));
    let end = last_row(&t);
    // As near as steps of 1e-14 s come.
    assert!(t.rows() > 5 && (end[0] - 0.3).abs() < 1e-6 && end[0] <= 0.3, "{end:?}");
}

/// A force that grows with the cube of the angle throws the pendulum to infinity in finite time.
#[test]
fn analytic_step_underflow_ends_with_time_state_and_rows() {
    let f = Folder::new("simulate_underflow");
    f.file("m.osim", pendulum(&formula("50+1000*q^3")));
    let run = f.soleus(&["simulate", "m.osim", "--duration", "5", "--out", "o"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in
        ["underflow at t = ", "largest contribution: /jointset/hinge/angle/", "results up to then are in o"]
    {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    let t = table(&f.0.join("o/m_states.sto"));
    assert!(t.rows() > 20 && last_row(&t)[0] > 10.0);
    assert!(t.times().last().unwrap() < &5.0);
}

/// A deadline ends a long simulation: with the time reached, the state that limits the step, and the rows.
#[test]
fn analytic_deadline_ends_with_time_state_and_rows() {
    let f = Folder::new("simulate_deadline");
    let args =
        ["simulate", LEG, "--excitation", "0.3", "--duration", "1e6", "--deadline", "0.3", "--out", "o"];
    let run = f.soleus(&args);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in
        ["deadline of 0.3 s was reached at t = ", "largest contribution: /", "results up to then are in o"]
    {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    assert!(table(&f.0.join("o/leg_swing_states.sto")).rows() > 2);
    assert!(table(&f.0.join("o/leg_swing_controls.sto")).rows() > 2);
}

#[test]
fn identity_outputs_follow_the_motion() {
    let f = Folder::new("simulate_outputs");
    let args = ["simulate", LEG, "--excitation", "0.2", "--duration", "0.1", "--out", "o", "--outputs"];
    f.soleus(&[&args[..], &["actuators,bodies,/forceset/soleus|tendon_force"]].concat()).is_done();
    let rows = table(&f.0.join("o/leg_swing_states.sto")).rows();
    let force = table(&f.0.join("o/leg_swing_Actuation_force.sto"));
    assert_eq!(force.rows(), rows);
    let chosen = table(&f.0.join("o/leg_swing_Outputs.sto"));
    // The same number by two routes, one of them written with 16 digits.
    let pairs =
        force.column("soleus").unwrap().iter().zip(chosen.column("/forceset/soleus|tendon_force").unwrap());
    for (a, b) in pairs {
        assert!((a - b).abs() < 1e-12 * a.abs(), "{a} {b}");
    }
    assert_eq!(table(&f.0.join("o/leg_swing_BodyKinematics_pos_global.sto")).rows(), rows);
    f.soleus(&[&args[..], &["nothing"]].concat()).is_refused(&["unknown output `nothing`"]);
}

#[test]
fn identity_same_simulation_same_bytes() {
    let f = Folder::new("simulate_twice");
    let run = |out: &str| {
        let args =
            ["simulate", LEG, "--excitation", "0.4", "--duration", "0.5", "--method", "radau5", "--out", out];
        f.soleus(&args).is_done();
        std::fs::read(f.0.join(out).join("leg_swing_states.sto")).unwrap()
    };
    assert_eq!(run("a"), run("b"));
}

/// A leg at rest under its muscles stays where it is for a second, and all its eigenvalues decay.
#[test]
fn identity_equilibrium_does_not_move() {
    let f = Folder::new("simulate_equilibrium");
    let run = f.soleus(&["equilibrium", LEG, "--excitation", "0.3", "--out", "rest.sto", "--eigenvalues"]);
    let values: Vec<f64> =
        run.is_done().lines().map(|l| l.split('\t').next().unwrap().parse().unwrap()).collect();
    assert!(run.stderr.contains("equilibrium to") && run.stderr.contains("stable"), "{}", run.stderr);
    // Three coordinates, three speeds, eight muscles with activation and fiber length.
    assert!(values.len() == 22 && values.iter().all(|v| *v < 0.0), "{values:?}");
    let args =
        ["simulate", LEG, "--excitation", "0.3", "--initial", "rest.sto", "--duration", "1", "--out", "o"];
    f.soleus(&[&args[..], &["--accuracy", "1e-8"]].concat()).is_done();
    let (rest, moved) = (table(&f.0.join("rest.sto")), table(&f.0.join("o/leg_swing_states.sto")));
    assert_eq!(rest.labels(), moved.labels());
    for ((a, b), label) in last_row(&rest).iter().zip(last_row(&moved)).zip(rest.labels()) {
        // The integrator's own error is 1e-8 per step, and the motion is damped.
        assert!((a - b).abs() < 1e-6, "{label}: {a} {b}");
    }
}

#[test]
fn analytic_floating_model_has_no_equilibrium() {
    let f = Folder::new("equilibrium_floating");
    let body = crate::common::body("block", "3");
    let joint = crate::common::joint("SliderJoint", "slide", "/ground", "/bodyset/block", &["x"]);
    let text =
        crate::common::model(&body, &joint, "").replace("<Ground", "<gravity>0.5 0 0</gravity>\n<Ground");
    f.file("m.osim", text);
    let run = f.soleus(&["equilibrium", "m.osim", "--out", "rest.sto"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in
        ["nothing in the model balances the forces", "unbalanced on /jointset/slide/x: 1.50 N", "hint:"]
    {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    assert!(!f.0.join("rest.sto").exists(), "nothing was found, nothing is written");
}

/// Entries of a sparse matrix, dense by rows.
fn dense(m: &Value) -> Vec<Vec<f64>> {
    let size = |i: usize| m["shape"][i].as_u64().unwrap() as usize;
    let mut out = vec![vec![0.0; size(1)]; size(0)];
    let n = m["value"].as_array().unwrap().len();
    let at = |key: &str, i: usize| m[key][i].as_u64().unwrap() as usize;
    for i in 0..n {
        out[at("row", i)][at("column", i)] = m["value"][i].as_f64().unwrap();
    }
    out
}

/// Parameters by name and by pattern, with their units; what is not there is refused, with what to do.
fn derivatives_by_parameters(f: &Folder) {
    let muscle = "/forceset/*/optimal_fiber_length";
    f.soleus(&["jacobian", LEG, "--out", "p.json", "--parameters", &format!("/bodyset/*/mass,{muscle}")])
        .is_done();
    let p: Value = serde_json::from_str(&std::fs::read_to_string(f.0.join("p.json")).unwrap()).unwrap();
    let order = p["model"]["parameter_order"].as_array().unwrap();
    let units = |u: &str| order.iter().filter(|o| o["unit"] == u).count();
    // Four segments, of which the first does not move, and eight muscles.
    assert_eq!((units("kg"), units("m"), order.len()), (4, 8, 12));
    let dp = dense(&p["states"][0]["dp"]);
    assert_eq!((dp.len(), dp[0].len()), (22, 12));
    // Masses are in the equations of motion alone.
    assert!((3..6).any(|row| dp[row][1] != 0.0) && (6..22).all(|row| dp[row][1] == 0.0));
    let list = f.soleus(&["jacobian", LEG, "--parameters", "list"]);
    list.is_done();
    assert!(list.stdout.contains("/bodyset/thigh/mass\n"), "{}", list.stdout);
    f.soleus(&["jacobian", LEG, "--out", "-", "--parameters", "/bodyset/*/weight"])
        .is_refused(&["`/bodyset/*/weight`", "--parameters list"]);
    f.soleus(&["jacobian", LEG, "--out", "-", "--parameters", "/bodyset/thigh/weight"])
        .is_refused(&["a Body supports mass"]);
}

/// The Jacobians of a leg as the file has them: the residual of the motion is zero, and ∂f/∂ẋ and ∂f/∂e give its change
/// under other rates and controls, in both of which f is nearly linear.
#[test]
fn deriv_jacobian_file() {
    let f = Folder::new("jacobian");
    f.soleus(&["jacobian", LEG, "--out", "a.json", "--plot", "a.svg"]).is_done();
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(f.0.join(name)).unwrap()).unwrap()
    };
    let a = read("a.json");
    let list =
        |v: &Value| -> Vec<f64> { v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let names = |key: &str| a["model"][key].as_array().unwrap().len();
    let s = &a["states"][0];
    let residual = list(&s["residual"]);
    assert_eq!(
        (residual.len(), names("equation_order"), names("state_order"), names("control_order")),
        (22, 22, 22, 8)
    );
    // Moments of some 100 N·m cancel.
    assert!(residual.iter().all(|r| r.abs() < 1e-9), "{residual:?}");

    // Central differences in every rate and control at once, along a fixed direction.
    let (xdot, controls) = (list(&s["xdot"]), list(&s["controls"]));
    let direction = |n: usize| -> Vec<f64> { (0..n).map(|i| (1.3 * i as f64).sin() + 0.2).collect() };
    let (dv, de) = (direction(xdot.len()), direction(controls.len()));
    let h = 1e-5;
    let moved = |sign: f64| {
        let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + sign * h * d).collect::<Vec<f64>>();
        let state =
            serde_json::json!({"states": [{"xdot": add(&xdot, &dv), "controls": add(&controls, &de)}]});
        f.file("in.json", state.to_string());
        f.soleus(&["jacobian", LEG, "--states", "in.json", "--out", "b.json"]).is_done();
        list(&read("b.json")["states"][0]["residual"])
    };
    let (plus, minus) = (moved(1.0), moved(-1.0));
    let (dxdot, du) = (dense(&s["dxdot"]), dense(&s["du"]));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for i in 0..22 {
        let (exact, fd) = (dot(&dxdot[i], &dv) + dot(&du[i], &de), (plus[i] - minus[i]) / (2.0 * h));
        // Truncation of order h² and rounding of 1e-13/h.
        assert!((exact - fd).abs() < 1e-6 * (1.0 + fd.abs()), "{i}: {exact} {fd}");
    }
    let svg = std::fs::read_to_string(f.0.join("a.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("∂f/∂ẋ"));
    derivatives_by_parameters(&f);
    f.file("bad.json", "{\"states\": [{\"xdot\": [1, 2]}]}");
    f.soleus(&["jacobian", LEG, "--states", "bad.json", "--out", "-"]).is_refused(&["`xdot` has 2 entries"]);
}

/// Fitted around a narrow motion, paths are closer there than fitted over the whole ranges.
#[test]
fn identity_paths_fitted_around_a_motion() {
    let f = Folder::new("fit_motion");
    let rows: String =
        (0..20).map(|i| format!("{}\t{}\t{}\t0\n", 0.1 * f64::from(i), 10 + i, -20 - i)).collect();
    f.file(
        "walk.mot",
        format!(
            "walk\nversion=1\nnRows=20\nnColumns=4\ninDegrees=yes\nendheader\ntime\thip_flexion\tknee_angle\tankle_angle\n{rows}"
        ),
    );
    let worst = |args: &[&str]| -> f64 {
        let run = f.soleus(&[&["fit-paths", LEG, "--out", "-", "--max-order", "3"], args].concat());
        assert!(run.is_done().contains("FunctionBasedPath"));
        let line = run.stderr.lines().last().unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words.iter().position(|w| *w == "length").unwrap();
        words[at + 1].parse().unwrap()
    };
    let (near, wide) = (worst(&["--motion", "walk.mot", "--margin-deg", "2"]), worst(&[]));
    assert!(
        near < 0.2 * wide,
        "largest error of a length {near} mm around the motion, {wide} mm over the ranges"
    );
    f.file("other.mot", "x\nversion=1\nnRows=1\nnColumns=2\ninDegrees=no\nendheader\ntime\tfoo\n0\t1\n");
    f.soleus(&["fit-paths", LEG, "--out", "-", "--motion", "other.mot"]).is_refused(&["no column"]);
}

const CORRECTED: &[(&str, f64)] = &[
    ("/jointset/ground_pelvis/pelvis_tilt/value", 0.0778974840),
    ("/jointset/ground_pelvis/pelvis_ty/speed", 0.1753160157),
    ("/jointset/hip_r/hip_flexion_r/speed", -1.7961514068),
    ("/jointset/knee_l/knee_angle_l/value", -1.0862794453),
    ("/jointset/ankle_r/ankle_angle_r/speed", 0.6498828066),
    ("/forceset/soleus_r/fiber_length", 0.0476322087),
];

/// A correction controller, disabled in the setup, pulls the model to the motion it follows once it is enabled. Numbers of
/// OpenSim 4.6 at 0.84 s of the same setup with that switch turned and `final_time` 0.84.
#[reference_test]
fn opensim_val_correction_controller() {
    let root = pipelines();
    let f = Folder::new("correction");
    let root = root.join("Gait2354_Simbody");
    crate::common::copy(&root.join("input"), &f.0);
    std::fs::create_dir_all(f.0.join("ResultsCMC")).unwrap();
    for file in [
        "subject01_simbody_adjusted.osim",
        "ResultsCMC/subject01_walk1_controls.xml",
        "ResultsCMC/subject01_walk1_states.sto",
    ] {
        std::fs::write(f.0.join(file), std::fs::read(root.join("reference").join(file)).unwrap()).unwrap();
    }
    let text = std::fs::read_to_string(f.0.join("subject01_Setup_Forward.xml")).unwrap();
    let text = text.replace("<isDisabled> true", "<isDisabled> false").replace("1.08 <", "0.84 <");
    f.file("on.xml", text);
    f.soleus(&["run", "on.xml", "--opensim-faults"]).is_done();
    let t = table(&f.0.join("ResultsForward/subject01_walk1_states.sto"));
    for (label, value) in CORRECTED {
        let found = *t.column(label).unwrap().last().unwrap();
        // The tolerance of the integrators is 5e-5.
        assert!((found - value).abs() < 5e-5 * value.abs().max(1.0), "{label}: {found} {value}");
    }
    let controls = table(&f.0.join("ResultsForward/subject01_walk1_controls.sto"));
    assert!(controls.index_of("pelvis_tilt_corrector").is_some());
}
