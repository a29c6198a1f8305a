//! Analyses, and static optimization.

use super::common::{StopsAfter, actuator, force_set, slider, table, times};
use soleus::analysis::{AnalysisOutput, standard};
use soleus::engine::io::setup::{AnalysisKind, Setup};
use soleus::inputs::setup;
use soleus::{Analyze, Collected, Context, ErrorKind, Files, Memory, Outcome, StaticOptimization};
use std::path::Path;

/// x = t²: 2 kg are accelerated by 2 m/s².
fn moved() -> Analyze {
    Analyze {
        model: "m/slider.osim".into(),
        motion: table("x", &times(), |t| t * t).into(),
        analyses: standard("kinematics").into_iter().collect(),
        output: AnalysisOutput { folder: Some("out".into()), name: Some("slide".into()) },
        ..Analyze::default()
    }
}

fn shared() -> StaticOptimization {
    let Analyze { model, motion, output, .. } = moved();
    StaticOptimization { model, motion, output, ..StaticOptimization::default() }
}

fn files() -> Memory {
    Memory::new().with("m/slider.osim", slider(&actuator("FX", 1.0)))
}

/// Coordinates and speeds of x = t². Splines of degree 5 through a polynomial of degree 2 are exact to rounding, which their slopes
/// carry a hundredfold for a spacing of 0.01 s.
#[test]
fn analytic_kinematics_of_a_slider() {
    let files = files();
    let cx = Context::new(&files);
    let found = moved().run(&cx).unwrap();
    found.verdict().unwrap();
    assert_eq!(found.rows, 101);
    let (q, u) = (found.table("Kinematics", "_q").unwrap(), found.table("Kinematics", "_u").unwrap());
    for (i, t) in times().into_iter().enumerate() {
        assert!((q.column("x").unwrap()[i] - t * t).abs() < 1e-12);
        assert!((u.column("x").unwrap()[i] - 2.0 * t).abs() < 1e-9);
    }
    found.write(&cx).unwrap();
    let names: Vec<String> = files.names_in(Path::new("out"));
    assert_eq!(names, ["slide_Kinematics_dudt.sto", "slide_Kinematics_q.sto", "slide_Kinematics_u.sto"]);
}

/// Every Nth row, the first and the last among them; a row more or less would show.
#[test]
fn analytic_every_nth_row() {
    let files = files();
    let mut request = Analyze { from: Some(0.1), to: Some(0.5), ..moved() };
    request.analyses[0].step_interval = 10;
    let found = request.run(&Context::new(&files)).unwrap();
    assert_eq!(found.table("Kinematics", "_q").unwrap().rows(), 5);
}

/// The one actuator carries m a = 4 N, at an activation of 4 N over its optimal force.
#[test]
fn analytic_static_optimization_of_a_slider() {
    let files = Memory::new().with("m/slider.osim", slider(&actuator("FX", 8.0)));
    let cx = Context::new(&files);
    let found = shared().run(&cx).unwrap();
    found.verdict().unwrap();
    let force = found.table("StaticOptimization", "_force").unwrap().column("FX").unwrap();
    let activation = found.table("StaticOptimization", "_activation").unwrap().column("FX").unwrap();
    // Second slopes of splines carry rounding ten thousandfold for a spacing of 0.01 s.
    assert!(force.iter().all(|f| (f - 4.0).abs() < 1e-6), "{force:?}");
    assert!(activation.iter().all(|a| (a - 0.5).abs() < 1e-6), "{activation:?}");
    found.write(&cx).unwrap();
    assert!(files.is_file(Path::new("out/slide_StaticOptimization_controls.xml")));
}

/// An actuator of a force set file that the model has already acted twice, each half as much. OpenSim 4.6 keeps the first of a name:
/// the model's own, then that of the first file (`AbstractTool::updateModelForces` on a model with FX and files with FX, GX, GX, fx
/// and GX, HX leaves FX, GX, fx, HX).
#[test]
fn issue_trust_4_actuators_that_the_model_has_act_once() {
    let more = [actuator("FX", 2.0), actuator("GX", 1e-6), actuator("GX", 1.0), actuator("fx", 1e-6)];
    let files = files()
        .with("m/more.xml", force_set(&more.concat()))
        .with("m/others.xml", force_set(&[actuator("GX", 1.0), actuator("HX", 1e-6)].concat()));
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request =
        StaticOptimization { force_sets: vec!["m/more.xml".into(), "m/others.xml".into()], ..shared() };
    let found = request.run(&cx).unwrap();
    let forces = found.table("StaticOptimization", "_force").unwrap();
    assert_eq!(forces.labels(), ["FX", "GX", "fx", "HX"]);
    // The others are a million times weaker: their share is a part in 10¹².
    assert!(forces.column("FX").unwrap().iter().all(|f| (f - 4.0).abs() < 1e-6));
    let warnings: Vec<(String, u32)> = told.diagnostics().into_iter().map(|d| (d.file, d.line)).collect();
    let line = |text: &str, nth: usize| {
        let lines = text.lines().enumerate().filter(|(_, l)| l.starts_with("<CoordinateActuator"));
        lines.map(|(i, _)| i as u32 + 1).nth(nth).unwrap()
    };
    let (first, second) = (force_set(&more.concat()), force_set(&actuator("GX", 1.0)));
    let wanted = [
        ("m/more.xml".to_string(), line(&first, 0)),
        ("m/more.xml".to_string(), line(&first, 2)),
        ("m/others.xml".to_string(), line(&second, 0)),
    ];
    assert_eq!(warnings, wanted);
    assert!(told.diagnostics()[0].message.contains("`FX`"));
}

/// Numbers that are none were taken for something else in silence.
#[test]
fn issue_trust_20_numbers_that_are_none_are_refused() {
    let files = files();
    let cx = Context::new(&files);
    let nan = f64::NAN;
    for (request, word) in [
        (StaticOptimization { every: 0, ..shared() }, "row interval must be at least 1"),
        (StaticOptimization { cutoff_hz: Some(nan), ..shared() }, "cutoff"),
        (StaticOptimization { cutoff_hz: Some(0.0), ..shared() }, "cutoff"),
        (StaticOptimization { residuals: vec![nan], ..shared() }, "optimal force NaN"),
        (StaticOptimization { residuals: vec![1.0, 2.0, 3.0], ..shared() }, "two numbers"),
        (StaticOptimization { reserves: vec![0.0], ..shared() }, "optimal force 0"),
        (StaticOptimization { from: Some(nan), ..shared() }, "the range NaN s"),
        (StaticOptimization { from: Some(2.0), to: Some(1.0), ..shared() }, "the range 2 s"),
        (StaticOptimization { exponent: nan, ..shared() }, "exponent"),
    ] {
        let error = request.run(&cx).unwrap_err();
        let said = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Input, "{said}");
        assert!(said.contains(word), "{said}");
    }
}

/// Ctrl-C keeps the rows so far, in all tables.
#[test]
fn analytic_cancelled_analysis_keeps_its_rows() {
    let (files, stops) = (files(), StopsAfter::new(10));
    let cx = Context::new(&files).with_monitor(&stops);
    let mut request = shared().analysis();
    request.analyses.extend(standard("kinematics"));
    let found = request.run(&cx).unwrap();
    assert!(found.tables.len() > 3 && found.tables.iter().all(|t| t.table.rows() == 10));
    assert_eq!(found.stopped, Some(0.09));
    let error = found.verdict().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.to_string().contains("0.090 s are in out"), "{error}");
}

/// A setup file of OpenSim's AnalyzeTool, with names that led out of the results directory.
#[test]
fn issue_trust_21_names_of_tools_and_analyses_stay_in_the_results_directory() {
    let text = "<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"40600\">\n<AnalyzeTool name=\"../../t\">\n\
        <model_file>slider.osim</model_file>\n<results_directory>results</results_directory>\n\
        <initial_time>0</initial_time>\n<final_time>1</final_time>\n<coordinates_file>x.sto</coordinates_file>\n\
        <AnalysisSet name=\"a\">\n<objects>\n<Kinematics name=\"../k\"/>\n\
        <PointKinematics name=\"p\"><body_name>block</body_name><point_name>../../p</point_name></PointKinematics>\n\
        </objects>\n</AnalysisSet>\n</AnalyzeTool>\n</OpenSimDocument>\n";
    let motion = soleus::engine::io::table::sto::write(
        &table("x", &times(), |t| t * t),
        soleus::engine::io::table::sto::Digits::Shortest,
    );
    let files = files().with("m/setup.xml", text).with("m/x.sto", motion);
    let cx = Context::new(&files);
    let path = Path::new("m/setup.xml");
    let Setup::Analyze(s) = setup::read(&cx, path).unwrap() else { panic!("no AnalyzeTool") };
    let request = Analyze::from_setup(path, &s).unwrap();
    assert!(matches!(request.analyses[0].kind, AnalysisKind::Kinematics { .. }));
    let found = request.run(&cx).unwrap();
    assert_eq!(found.rows, 101);
    let artifacts = found.artifacts();
    assert_eq!(artifacts.len(), 6);
    for a in &artifacts {
        assert_eq!(a.path.parent(), Some(Path::new("m/results")), "{}", a.path.display());
    }
}

/// A request is plain data, its analyses among them.
#[test]
fn identity_request_as_text() {
    let mut request = moved();
    request.motion = "x.sto".into();
    let text = serde_json::to_string(&request).unwrap();
    let again: Analyze = serde_json::from_str(&text).unwrap();
    assert_eq!(again.analyses, request.analyses);
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}

/// Static optimization said that actuators are too weak, and nothing about what to do.
#[test]
fn issue_everyday_weak_actuators_come_with_a_remedy() {
    let files = soleus::Memory::new().with("slider.osim", slider(&actuator("push", 1e-4)));
    let motion = table("x", &times(), |t| 0.5 * t * t);
    let request =
        StaticOptimization { model: "slider.osim".into(), motion: motion.into(), ..Default::default() };
    let error = request.run(&Context::new(&files)).unwrap().verdict().unwrap_err().to_string();
    assert!(error.contains("too weak") && error.contains("--reserves"), "{error}");
}
