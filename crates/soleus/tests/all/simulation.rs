//! Forward simulations.

use super::common::{StopsAfter, actuator, slider, table};
use soleus::engine::io::setup::Setup;
use soleus::inputs::setup;
use soleus::simulation::{Method, SimulationOutput};
use soleus::{Context, ErrorKind, Files, ForwardSimulation, Memory, Outcome, Simulation};
use std::path::{Path, PathBuf};

const X: &str = "/jointset/slide/x/value";

fn files() -> Memory {
    Memory::new().with("m/slider.osim", slider(&actuator("FX", 1.0)))
}

/// 4 N on 2 kg: x = t².
fn pushed() -> Simulation {
    Simulation {
        model: "m/slider.osim".into(),
        controls: Some(table("FX", &[0.0, 1.0], |_| 4.0).into()),
        duration: 0.5,
        output: SimulationOutput { folder: Some("out".into()), name: None },
        ..Simulation::default()
    }
}

/// A constant force on a mass: x = F t² / 2 m. Each method is exact or has an error far below 1e-6 in x.
#[test]
fn analytic_constant_force_on_a_slider() {
    let files = files();
    let cx = Context::new(&files);
    for method in [Method::Rkm, Method::Dopri5, Method::Radau5, Method::Midpoint] {
        let motion = Simulation { method, interval: Some(0.1), ..pushed() }.run(&cx).unwrap();
        motion.verdict().unwrap();
        assert_eq!(motion.states.rows(), 6);
        for (t, x) in motion.states.times().iter().zip(motion.states.column(X).unwrap()) {
            assert!((x - t * t).abs() < 1e-6, "{method:?}: x({t}) = {x}");
        }
        assert!(motion.controls.as_ref().unwrap().columns()[0].iter().all(|&c| c == 4.0));
        assert!(motion.statistics.steps > 0 && motion.end_time == 0.5 && motion.seconds.is_none());
    }
}

/// Files are made of the result when they are written, nowhere but in memory.
#[test]
fn analytic_files_of_a_simulation() {
    let files = files();
    let cx = Context::new(&files);
    let request = Simulation { outputs: vec!["kinematics".into()], ..pushed() };
    request.run(&cx).unwrap().write(&cx).unwrap();
    let names: Vec<PathBuf> = files.names().into_iter().filter(|n| n.starts_with("/out")).collect();
    let wanted = ["Kinematics_dudt", "Kinematics_q", "Kinematics_u", "controls", "states"];
    assert_eq!(names, wanted.map(|n| PathBuf::from(format!("/out/slider_{n}.sto"))));
    let states = String::from_utf8(files.read(Path::new("out/slider_states.sto")).unwrap()).unwrap();
    assert!(states.contains(X) && states.contains("inDegrees=no"));
}

/// A request is plain data.
#[test]
fn identity_request_as_text() {
    let text =
        r#"{"model": "m/slider.osim", "duration": 0.1, "method": "semi-explicit-euler", "step": 0.01}"#;
    let request: Simulation = serde_json::from_str(text).unwrap();
    assert_eq!((request.method, request.accuracy), (Method::SemiExplicitEuler, 1e-5));
    let again: Simulation = serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
    let files = files();
    let (a, b) = (request.run(&Context::new(&files)).unwrap(), again.run(&Context::new(&files)).unwrap());
    assert_eq!(a.states, b.states);
    assert_eq!(a.states.rows(), 11);
}

/// Ctrl-C keeps the rows so far, which are written.
#[test]
fn analytic_cancelled_simulation_keeps_its_rows() {
    let (files, stops) = (files(), StopsAfter::new(20));
    let cx = Context::new(&files).with_monitor(&stops);
    let request = Simulation { method: Method::Midpoint, outputs: vec!["forces".into()], ..pushed() };
    let motion = request.run(&cx).unwrap();
    // The start and 19 steps of 1 ms.
    assert_eq!(motion.states.rows(), 20);
    assert!((motion.end_time - 0.019).abs() < 1e-12);
    let error = motion.verdict().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.to_string().contains("are in out"), "{error}");
    motion.write(&cx).unwrap();
    assert!(files.is_file(Path::new("out/slider_states.sto")));
}

/// More rows than memory holds were recorded until the program was killed.
#[test]
fn issue_trust_19_rows_beyond_memory_are_refused() {
    let files = files();
    let cx = Context::new(&files);
    for request in [
        Simulation { interval: Some(1e-12), ..pushed() },
        Simulation { method: Method::SemiExplicitEuler, step: 1e-12, ..pushed() },
    ] {
        let error = request.run(&cx).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        let said = error.to_string();
        assert!(said.contains("do not fit in memory") && said.contains("an interval of"), "{said}");
    }
}

/// Numbers that are none were taken for something else in silence.
#[test]
fn issue_trust_20_numbers_that_are_none_are_refused() {
    let files = files();
    let cx = Context::new(&files);
    let nan = f64::NAN;
    for (request, word) in [
        (Simulation { interval: Some(nan), ..pushed() }, "interval"),
        (Simulation { interval: Some(0.0), ..pushed() }, "interval"),
        (Simulation { interval: Some(-1.0), ..pushed() }, "interval"),
        (Simulation { interval: Some(f64::INFINITY), ..pushed() }, "interval"),
        (Simulation { step: 0.0, ..pushed() }, "step"),
        (Simulation { step: nan, ..pushed() }, "step"),
        (Simulation { accuracy: nan, ..pushed() }, "accuracy"),
        (Simulation { accuracy: 0.0, ..pushed() }, "accuracy"),
        (Simulation { deadline: Some(nan), ..pushed() }, "deadline"),
        (Simulation { deadline: Some(1.0), ..pushed() }, "a deadline needs a clock"),
        (Simulation { duration: nan, ..pushed() }, "duration"),
        (Simulation { excitation: Some(nan), ..pushed() }, "excitation"),
    ] {
        let error = request.run(&cx).unwrap_err();
        let said = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Input, "{said}");
        assert!(said.contains(word) && said.contains("hint:"), "{said}");
    }
}

fn forward(files: &Memory, name: &str, more: &str) -> ForwardSimulation {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"40600\">\n<ForwardTool name=\"{name}\">\n\
         <model_file>slider.osim</model_file>\n<results_directory>results</results_directory>\n\
         <initial_time>0</initial_time>\n<final_time>0.5</final_time>\n{more}</ForwardTool>\n</OpenSimDocument>\n"
    );
    let path = Path::new("m/setup.xml");
    files.write(path, text.as_bytes()).unwrap();
    match setup::read(&Context::new(files), path).unwrap() {
        Setup::Forward(s) => ForwardSimulation::from_setup(path, &s).unwrap(),
        _ => panic!("no ForwardTool"),
    }
}

/// The same motion through a setup file of OpenSim's ForwardTool.
#[test]
fn analytic_forward_tool_on_files_in_memory() {
    let controls = "<controllers>\n</controllers>\n<ControllerSet name=\"c\">\n<objects>\n\
        <PrescribedController name=\"push\">\n<actuator_list>FX</actuator_list>\n\
        <ControlFunctions name=\"f\">\n<objects>\n<Constant name=\"FX\"><value>4</value></Constant>\n</objects>\n\
        </ControlFunctions>\n</PrescribedController>\n</objects>\n</ControllerSet>\n";
    let files = files();
    let cx = Context::new(&files);
    let motion = forward(&files, "push", controls).run(&cx).unwrap();
    motion.verdict().unwrap();
    for (t, x) in motion.states.times().iter().zip(motion.states.column(X).unwrap()) {
        assert!((x - t * t).abs() < 1e-6, "x({t}) = {x}");
    }
    motion.write(&cx).unwrap();
    for name in ["push_states.sto", "push_states_degrees.mot", "push_controls.sto"] {
        assert!(files.is_file(&Path::new("m/results").join(name)), "{name}");
    }
}

/// The name of a tool led out of its results directory.
#[test]
fn issue_trust_21_names_of_tools_stay_in_the_results_directory() {
    let files = files();
    let cx = Context::new(&files);
    let analyses =
        "<AnalysisSet name=\"a\">\n<objects>\n<Kinematics name=\"../../k\"/>\n</objects>\n</AnalysisSet>\n";
    let motion = forward(&files, "../../../out", analyses).run(&cx).unwrap();
    let artifacts = motion.artifacts();
    assert_eq!(artifacts.len(), 6);
    for a in &artifacts {
        assert_eq!(a.path.parent(), Some(Path::new("m/results")), "{}", a.path.display());
    }
}
