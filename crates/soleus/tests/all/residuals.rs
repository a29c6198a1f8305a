//! Residual elimination and the fit of a whole trial, on files in memory.

use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::{Context, ErrorKind, Files, Memory, Outcome, Reconcile, ResidualElimination};
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
        root_angles: true,
        ..Default::default()
    };
    let residuals = check.run(&cx).unwrap().residuals.unwrap();
    assert!(residuals.force_peak < 1e-3 && residuals.moment_peak < 1e-3, "{residuals:?}");
    let curve = String::from_utf8(files.read(Path::new("curve.csv")).unwrap()).unwrap();
    assert_eq!(curve.lines().count(), 4, "{curve}");
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
    assert!(error.to_string().contains("from 0 s to 1 s"), "{error}");
    let nothing =
        Reconcile { model: "stand.osim".into(), loads: Some("loads.xml".into()), ..Reconcile::default() };
    let error = nothing.run(&cx).unwrap_err();
    assert!(error.to_string().contains("--markers"), "{error}");
}
