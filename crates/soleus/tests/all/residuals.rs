//! Residual elimination and the fit of a whole trial, on files in memory.

use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::{Context, ErrorKind, Files, Memory, Outcome, Pipeline, Reconcile, ResidualElimination};
use soleus_math::norm::largest_size;
use std::path::Path;

/// A pelvis of 10 kg that moves in the vertical plane, and a trunk of 20 kg that leans on it.
fn model() -> String {
    let coordinate = |name: &str| format!("<Coordinate name=\"{name}\"><range>-10 10</range></Coordinate>\n");
    let coordinates: String = ["turn", "tx", "ty"].map(coordinate).concat();
    let lean = coordinate("lumbar_extension");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40600\">\n<Model name=\"stand\">\n\
         <gravity>0 -9.81 0</gravity>\n<Ground name=\"ground\"/>\n<BodySet name=\"bodyset\"><objects><Body name=\"pelvis\">\n\
         <mass>10</mass><mass_center>0 0 0</mass_center><inertia>0.2 0.2 0.2 0 0 0</inertia></Body><Body name=\"trunk\">\n\
         <mass>20</mass><mass_center>0 0.3 0</mass_center><inertia>1 0.5 1 0 0 0</inertia></Body></objects></BodySet>\n\
         <JointSet name=\"jointset\"><objects><PlanarJoint name=\"root\"><socket_parent_frame>/ground</socket_parent_frame>\n\
         <socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>\n{coordinates}</coordinates></PlanarJoint>\n\
         <PinJoint name=\"back\"><socket_parent_frame>/bodyset/pelvis</socket_parent_frame>\n\
         <socket_child_frame>/bodyset/trunk</socket_child_frame><coordinates>\n{lean}</coordinates></PinJoint></objects></JointSet>\n\
         </Model></OpenSimDocument>\n"
    )
}

const LOADS: &str = "<OpenSimDocument Version=\"40600\"><ExternalLoads name=\"loads\"><objects><ExternalForce name=\"plate\">\
    <applied_to_body>pelvis</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
    <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier>\
    <point_identifier>f_p</point_identifier></ExternalForce></objects><datafile>plate.sto</datafile></ExternalLoads></OpenSimDocument>";

fn table(labels: &[&str], f: impl Fn(f64) -> Vec<f64>) -> Table {
    let times: Vec<f64> = (0..=100).map(|i| 0.01 * f64::from(i)).collect();
    let rows: Vec<Vec<f64>> = times.iter().map(|t| f(*t)).collect();
    let columns = (0..labels.len()).map(|c| rows.iter().map(|r| r[c]).collect()).collect();
    let mut t = Table::new(Element::Scalar, labels.iter().map(ToString::to_string).collect(), times, columns);
    t.as_mut().unwrap().in_degrees = Some(false);
    t.unwrap()
}

/// It stands still on its own weight, but the pelvis seems to sway by 2 mm.
fn files() -> Memory {
    let sway = |t: f64| 0.002 * (std::f64::consts::TAU * t).sin();
    let motion = table(&["turn", "tx", "ty", "lumbar_extension"], |t| vec![0.0, sway(t), 1.0, 0.0]);
    let load = table(&["f_vx", "f_vy", "f_vz", "f_px", "f_py", "f_pz"], |_| {
        vec![0.0, 30.0 * 9.81, 0.0, 0.0, 0.0, 0.0]
    });
    Memory::new()
        .with("stand.osim", model())
        .with("loads.xml", LOADS)
        .with("plate.sto", sto::write_typed(&load))
        .with("sway.sto", sto::write_typed(&motion))
}

fn elimination() -> ResidualElimination {
    ResidualElimination {
        model: "stand.osim".into(),
        motion: "sway.sto".into(),
        loads: Some("loads.xml".into()),
        output: Some("still.mot".into()),
        ..ResidualElimination::default()
    }
}

#[test]
fn analytic_elimination_of_a_sway() {
    let files = files();
    let cx = Context::new(&files);
    let found = elimination().run(&cx).unwrap();
    found.verdict().unwrap();
    // m ẍ of the sway: 30 kg · 2 mm · (2π)² / √2.
    let expected = 30.0 * 0.002 * std::f64::consts::TAU.powi(2) / 2f64.sqrt();
    assert!((found.before.force_rms - expected).abs() < 0.1 * expected, "{:?}", found.before);
    assert!(found.after.force_peak < 1e-6 * found.weight, "{:?}", found.after);
    assert!(found.after.moment_peak < 1e-6 * found.weight, "{:?}", found.after);
    // No motion with the same sway obeys the load, and the nearest is no farther than standing still.
    let ap = &found.found.changes[0];
    assert!(ap.name == "tx" && ap.rms > 1e-4 && ap.rms < 1.5e-3, "{ap:?}");
    found.write(&cx).unwrap();
    assert_eq!(found.artifacts()[0].to_bytes(), files.read(Path::new("still.mot")).unwrap());
    let text = serde_json::to_string(&elimination()).unwrap();
    let again: ResidualElimination = serde_json::from_str(&text).unwrap();
    assert!(again.run(&cx).unwrap().found.motion == found.found.motion);
}

#[test]
fn analytic_reconciled_sway() {
    let files = files();
    let cx = Context::new(&files);
    let request = Reconcile {
        model: "stand.osim".into(),
        motion: Some("sway.sto".into()),
        loads: Some("loads.xml".into()),
        mass_center_sd: 0.01,
        load_offset_sd: 0.005,
        curve: vec![1.0, 100.0],
        output: Some("new.mot".into()),
        model_output: Some("new.osim".into()),
        loads_output: Some("new.xml".into()),
        curve_output: Some("curve.csv".into()),
        ..Reconcile::default()
    };
    let found = request.run(&cx).unwrap();
    found.verdict().unwrap();
    assert!(found.after.force_peak < 1e-3 && found.after.moment_peak < 1e-3, "{:?}", found.after);
    assert_eq!(found.found.curve.len(), 2);
    assert!(found.found.curve[0].residual_rms[0] >= found.found.curve[1].residual_rms[0]);
    // What is written obeys by itself.
    found.write(&cx).unwrap();
    let check = soleus::InverseDynamics {
        model: "new.osim".into(),
        motion: "new.mot".into(),
        loads: Some("new.xml".into()),
        ..Default::default()
    };
    let residuals = check.run(&cx).unwrap().residuals.unwrap();
    assert!(residuals.force_peak < 1e-3 && residuals.moment_peak < 1e-3, "{residuals:?}");
    let curve = String::from_utf8(files.read(Path::new("curve.csv")).unwrap()).unwrap();
    assert_eq!(curve.lines().count(), 4, "{curve}");
}

/// Loads that end before the motion were extrapolated with a warning only, and a motion that agrees with them was written.
#[test]
fn issue_17_loads_that_end_early_are_refused() {
    let short = |rows: usize| {
        let times: Vec<f64> = (0..rows).map(|i| 0.01 * i as f64).collect();
        let columns = [0.0, 30.0 * 9.81, 0.0, 0.0, 0.0, 0.0].map(|x| vec![x; rows]).to_vec();
        let labels = ["f_vx", "f_vy", "f_vz", "f_px", "f_py", "f_pz"].map(String::from).to_vec();
        sto::write_typed(&Table::new(Element::Scalar, labels, times, columns).unwrap())
    };
    let reconcile = Reconcile {
        model: "stand.osim".into(),
        motion: Some("sway.sto".into()),
        loads: Some("loads.xml".into()),
        output: Some("still.mot".into()),
        ..Reconcile::default()
    };
    let files = files().with("plate.sto", short(60));
    let cx = Context::new(&files);
    let errors = [elimination().run(&cx).unwrap_err(), reconcile.run(&cx).unwrap_err()];
    for error in errors {
        let words = error.to_string();
        assert!(error.kind() == ErrorKind::Input, "{words}");
        let wanted =
            ["loads of `plate` span 0 s to 0.59 s, the motion 0 s to 1 s", "loads.xml:1", "--from, --to"];
        assert!(wanted.iter().all(|w| words.contains(w)), "{words}");
    }
    assert!(!files.is_file(Path::new("still.mot")), "something was written");
    // A frame less is how recordings end, and a range within the loads is fine.
    let files = files.with("plate.sto", short(100));
    elimination().run(&Context::new(&files)).unwrap();
    let files = files.with("plate.sto", short(60));
    ResidualElimination { to: Some(0.5), ..elimination() }.run(&Context::new(&files)).unwrap();
    Reconcile { to: Some(0.5), ..reconcile }.run(&Context::new(&files)).unwrap();
}

#[test]
fn analytic_what_is_missing_is_named() {
    let files = files();
    let cx = Context::new(&files);
    let error = ResidualElimination { loads: None, ..elimination() }.run(&cx).unwrap_err();
    assert!(error.kind() == ErrorKind::Input && error.to_string().contains("--loads"), "{error}");
    let error =
        ResidualElimination { back: vec!["lumbar_extensio".into()], ..elimination() }.run(&cx).unwrap_err();
    assert!(error.to_string().contains("`lumbar_extension`"), "{error}");
    let error = ResidualElimination { from: Some(5.0), to: Some(6.0), ..elimination() }.run(&cx).unwrap_err();
    assert!(error.to_string().contains("spans 0 s to 1 s"), "{error}");
    let nothing =
        Reconcile { model: "stand.osim".into(), loads: Some("loads.xml".into()), ..Reconcile::default() };
    let error = nothing.run(&cx).unwrap_err();
    assert!(error.to_string().contains("--markers"), "{error}");
}

/// The swaying model with three markers on each body, and where they are seen.
fn marked() -> Memory {
    let places = [("pelvis", [0.1, 0.0, 0.1]), ("pelvis", [0.1, 0.0, -0.1]), ("pelvis", [-0.1, 0.05, 0.0])];
    let places = places.into_iter().chain([
        ("trunk", [0.1, 0.4, 0.1]),
        ("trunk", [0.1, 0.4, -0.1]),
        ("trunk", [-0.1, 0.2, 0.0]),
    ]);
    let (mut markers, mut labels, mut columns) = (String::new(), Vec::new(), Vec::<Vec<f64>>::new());
    let times: Vec<f64> = (0..=100).map(|i| 0.01 * f64::from(i)).collect();
    for (i, (body, [x, y, z])) in places.enumerate() {
        markers += &format!(
            "<Marker name=\"m{i}\"><socket_parent_frame>/bodyset/{body}</socket_parent_frame>\
             <location>{x} {y} {z}</location></Marker>\n"
        );
        labels.push(format!("m{i}"));
        let sway = |t: &f64| 0.002 * (std::f64::consts::TAU * t).sin();
        columns.push(times.iter().map(|t| x + sway(t)).collect());
        columns.push(vec![y + 1.0; times.len()]);
        columns.push(vec![z; times.len()]);
    }
    let set = format!("<MarkerSet name=\"markerset\"><objects>\n{markers}</objects></MarkerSet>\n</Model>");
    let seen = Table::new(Element::Vec(3), labels, times, columns).unwrap();
    files().with("marked.osim", model().replace("</Model>", &set)).with("seen.sto", sto::write_typed(&seen))
}

fn read(files: &Memory, name: &str) -> Table {
    let bytes = files.read(Path::new(name)).unwrap();
    soleus::engine::io::table::read(&bytes, name).0.unwrap()
}

/// The steps of a study, all of them done.
fn study(files: &Memory, steps: &str) -> (Vec<String>, String) {
    let text = format!(
        "model = \"marked.osim\"\n{steps}\n[[trials]]\nname = \"sway\"\nmarkers = \"seen.sto\"\nloads = \"loads.xml\"\n"
    );
    files.write(Path::new("study.toml"), text.as_bytes()).unwrap();
    let done = Pipeline::of_file("study.toml").run(&Context::new(files)).unwrap();
    done.verdict().unwrap();
    (done.steps.iter().map(|s| s.step.clone()).collect(), done.page)
}

/// `[rea]` in a pipeline is the request by itself, and later steps take its motion.
#[test]
fn identity_elimination_in_a_pipeline() {
    let files = marked();
    let (steps, _) = study(&files, "[rea]\ncycle = \"none\"\n");
    assert_eq!(steps, ["sway ik", "sway rea", "sway id"]);
    let alone = ResidualElimination {
        model: "marked.osim".into(),
        motion: "results/sway/ik.mot".into(),
        loads: Some("loads.xml".into()),
        output: Some("alone.mot".into()),
        ..ResidualElimination::default()
    };
    alone.run(&Context::new(&files)).unwrap().write(&Context::new(&files)).unwrap();
    assert_eq!(read(&files, "alone.mot").columns(), read(&files, "results/sway/rea.mot").columns());
    // Moments are those of the motion without residuals: 2.4 N m and 1.7 N RMS before.
    let moments = read(&files, "results/sway/id.sto");
    for label in ["tx_force", "ty_force", "turn_moment"] {
        let most = largest_size(moments.column(label).unwrap());
        assert!(most < 0.05, "{label}: {most}");
    }
}

/// `[rra]` in a pipeline leaves a motion with smaller residuals, and `[cmc]` follows that one.
#[test]
fn identity_reduction_and_control_in_a_pipeline() {
    let files = marked();
    study(&files, "");
    let largest = |label: &str| {
        let moments = read(&files, "results/sway/id.sto");
        largest_size(moments.column(label).unwrap())
    };
    let before = largest("tx_force");
    let (steps, page) = study(
        &files,
        "[rra]\nresiduals = [1, 1]\nmass_center = \"trunk\"\n[cmc]\nresiduals = [10, 10]\nreserves = 100\nwindow = 0.01\n",
    );
    assert_eq!(steps, ["sway ik", "sway rra", "sway id", "sway cmc"]);
    let after = largest("tx_force");
    assert!(after < 0.5 * before, "{before} N before, {after} N after");
    assert!(page.contains("sway cmc"), "{page}");
    // The model that came of it, and a motion that starts and ends as the trial.
    assert!(files.is_file(Path::new("results/sway/adjusted.osim")));
    let (reduced, followed) = (
        read(&files, "results/sway/rra/sway_Kinematics_q.sto"),
        read(&files, "results/sway/cmc/sway_Kinematics_q.sto"),
    );
    for label in ["turn", "tx", "ty", "lumbar_extension"] {
        // Degrees and meters, once per window.
        for (t, y) in followed.times().iter().zip(followed.column(label).unwrap()) {
            let k = reduced.times().iter().position(|x| (x - t).abs() < 5e-4);
            let Some(k) = k else { continue };
            let x = reduced.column(label).unwrap()[k];
            assert!((x - y).abs() < 1e-3, "{label} at {t} s: {y}, should be {x}");
        }
    }
    // A second run leaves all as it is; another window only what follows.
    let text = String::from_utf8(files.read(Path::new("study.toml")).unwrap()).unwrap();
    files.write(Path::new("study.toml"), text.replace("0.01", "0.02").as_bytes()).unwrap();
    let done = Pipeline::of_file("study.toml").run(&Context::new(&files)).unwrap();
    let again: Vec<&str> =
        done.steps.iter().filter(|s| matches!(s.result, Ok("done"))).map(|s| s.step.as_str()).collect();
    assert_eq!(again, ["sway cmc"]);
}

/// `[reconcile]` in a pipeline leaves a motion, model and loads without residuals to the steps after it.
#[test]
fn identity_reconciled_in_a_pipeline() {
    let files = marked();
    let (steps, _) = study(&files, "[reconcile]\ncutoff_hz = 8\n[id]\n");
    assert_eq!(steps, ["sway ik", "sway reconcile", "sway id"]);
    let moments = read(&files, "results/sway/id.sto");
    for label in ["tx_force", "ty_force", "turn_moment"] {
        let most = largest_size(moments.column(label).unwrap());
        assert!(most < 1e-3, "{label}: {most}");
    }
    let check = soleus::InverseDynamics {
        model: "results/sway/reconciled.osim".into(),
        motion: "results/sway/reconciled.mot".into(),
        loads: Some("results/sway/reconciled_loads.xml".into()),
        ..Default::default()
    };
    let residuals = check.run(&Context::new(&files)).unwrap().residuals.unwrap();
    assert!(residuals.force_peak < 1e-3 && residuals.moment_peak < 1e-3, "{residuals:?}");
}

/// A fit that was stopped keeps the motion that it had, and says so.
#[test]
fn identity_a_cancelled_fit_keeps_what_it_has() {
    let files = files();
    let stops = crate::common::StopsAfter::new(2);
    let cx = Context::new(&files).with_monitor(&stops);
    let request = Reconcile {
        model: "stand.osim".into(),
        motion: Some("sway.sto".into()),
        loads: Some("loads.xml".into()),
        output: Some("new.mot".into()),
        ..Reconcile::default()
    };
    let found = request.run(&cx).unwrap();
    let error = found.verdict().unwrap_err();
    assert!(error.kind() == ErrorKind::Cancelled && error.to_string().contains("iterations"), "{error}");
    found.write(&Context::new(&files)).unwrap();
    assert_eq!(read(&files, "new.mot").rows(), 101);
}
