//! Simulations that follow a motion, on files in memory.

use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::muscle_control::{Tracking, TrackingTask};
use soleus::{
    ComputedMuscleControl, Context, ErrorKind, Memory, Outcome, ResidualReduction, SetupFile, Simulation,
};
use soleus_testing::{reference_test, shared};
use std::path::Path;

const LEG: &str = "leg.osim";

fn leg() -> Memory {
    Memory::new().with(LEG, include_bytes!("../../../../models/leg_swing.osim"))
}

/// Coordinates of a simulation of the leg with muscles excited a little, `later` seconds later, as a table of its own.
fn swing(files: &Memory, later: f64) -> Table {
    let request = Simulation {
        model: LEG.into(),
        excitation: Some(0.15),
        duration: 0.4,
        interval: Some(0.005),
        accuracy: 1e-7,
        ..Simulation::default()
    };
    let motion = request.run(&Context::new(files)).unwrap();
    let t = &motion.states;
    let columns: Vec<usize> = (0..t.labels().len()).filter(|&i| t.labels()[i].ends_with("/value")).collect();
    let labels = columns.iter().map(|&i| t.labels()[i].clone()).collect();
    let values = columns.iter().map(|&i| t.columns()[i].clone()).collect();
    let times = t.times().iter().map(|t| t + later).collect();
    let mut table = Table::new(Element::Scalar, labels, times, values).unwrap();
    table.in_degrees = Some(false);
    table
}

fn control(motion: Table) -> ComputedMuscleControl {
    ComputedMuscleControl {
        tracking: Tracking {
            model: LEG.into(),
            motion: motion.into(),
            reserves: vec![1.0],
            ..Tracking::default()
        },
        ..ComputedMuscleControl::default()
    }
}

/// A motion that muscles made is one that muscles can follow, with hardly any help.
#[test]
fn identity_muscles_follow_what_muscles_did() {
    let files = leg();
    let cx = Context::new(&files);
    let found = control(swing(&files, 0.0)).run(&cx).unwrap();
    found.verdict().unwrap();
    for c in &found.report.coordinates {
        assert!(c.rms < 0.05, "{}: {} {}", c.name, c.rms, c.unit);
    }
    let help = found.report.helpers.iter().fold(0.0, |m: f64, h| m.max(h.rms));
    assert!(help < 0.5, "reserves of {help} N m");
    assert_eq!(found.report.short_windows, 0);
    assert!(found.missing.is_none());
    assert!(found.artifacts().is_empty(), "nothing was to be written");
}

/// When the clock is started does not matter.
#[test]
fn conserves_results_when_the_clock_is_set() {
    let files = leg();
    let cx = Context::new(&files);
    let [now, later] = [0.0, 3.0].map(|t| control(swing(&files, t)).run(&cx).unwrap());
    let (a, b) = (&now.control_nodes, &later.control_nodes);
    assert_eq!(a.rows(), b.rows());
    for (x, y) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
        assert!((x - y).abs() < 1e-5, "{x} and {y}");
    }
}

/// Smoothness has a price, and buys smaller changes of excitation.
#[test]
fn identity_smoothness_buys_smaller_changes() {
    let files = leg();
    let cx = Context::new(&files);
    let changes = |smoothness: f64| {
        let found = ComputedMuscleControl { smoothness, ..control(swing(&files, 0.0)) }.run(&cx).unwrap();
        let muscles = found.control_nodes.columns().iter().take(8);
        muscles.flat_map(|c| c.windows(2).map(|w| (w[1] - w[0]).powi(2)).collect::<Vec<_>>()).sum::<f64>()
    };
    let (rough, smooth) = (changes(0.0), changes(0.1));
    assert!(smooth < 0.9 * rough, "{smooth} and {rough}");
}

/// Residual reduction with strong actuators everywhere follows the motion as it is.
#[test]
fn identity_strong_actuators_change_nothing() {
    let files = leg();
    let cx = Context::new(&files);
    let tracking = Tracking {
        model: LEG.into(),
        motion: swing(&files, 0.0).into(),
        replace_forces: true,
        residuals: vec![1e5],
        reserves: vec![1e5],
        from: Some(0.1),
        ..Tracking::default()
    };
    let found = ResidualReduction { tracking, ..ResidualReduction::default() }.run(&cx).unwrap();
    found.verdict().unwrap();
    // Windows of 1 ms leave what a motion from samples 5 ms apart does between them.
    for c in &found.motion.report.coordinates {
        assert!(c.rms < 0.05, "{}: {} {}", c.name, c.rms, c.unit);
    }
}

#[test]
fn analytic_bad_requests_are_refused_with_a_remedy() {
    let files = leg();
    let cx = Context::new(&files);
    let good = control(swing(&files, 0.0));
    let refused = |request: ComputedMuscleControl, words: &str| {
        let error = request.run(&cx).unwrap_err();
        assert!(error.kind() == ErrorKind::Input && error.to_string().contains(words), "{error}");
    };
    let with = |change: &dyn Fn(&mut Tracking)| {
        let mut request = good.clone();
        change(&mut request.tracking);
        request
    };
    let task = TrackingTask { coordinate: "knee_angel".into(), ..TrackingTask::default() };
    refused(with(&|t| t.tasks = vec![task.clone()]), "the nearest coordinate is `knee_angle`");
    refused(with(&|t| t.to = Some(0.005)), "no more than one window");
    refused(with(&|t| t.reserves = vec![0.0]), "positive");
    refused(ComputedMuscleControl { window: f64::NAN, ..good.clone() }, "is no time to control");
    refused(ComputedMuscleControl { least_excitation: 2.0, ..good.clone() }, "least excitation");
}

/// A leg that should move faster than its muscles can says so, and goes on.
#[test]
fn analytic_weak_muscles_are_named_and_the_rest_goes_on() {
    let files = leg();
    let cx = Context::new(&files);
    let mut motion = swing(&files, 0.0);
    let columns: Vec<Vec<f64>> = motion
        .columns()
        .iter()
        .map(|c| c.iter().zip(motion.times()).map(|(q, t)| q + 0.4 * (1.0 - (40.0 * t).cos())).collect())
        .collect();
    let times = motion.times().to_vec();
    motion = Table::new(Element::Scalar, motion.labels().to_vec(), times, columns).unwrap();
    motion.in_degrees = Some(false);
    let mut request = control(motion);
    request.tracking.reserves.clear();
    let found = request.run(&cx).unwrap();
    let error = found.verdict().unwrap_err();
    assert!(error.kind() == ErrorKind::NotSolved && error.to_string().contains("at their limit"), "{error}");
    assert!(error.to_string().contains("hint: add reserve actuators"), "{error}");
    assert!(found.report.short_windows > 0 && found.missing.is_some());
    assert!(found.states.rows() > 10);
}

const PIPELINE: &str = shared!("reference/pipelines/Gait2354_Simbody");

/// OpenSim 4.6 on its own example: the motion of `RRATool`, to 2e-3 degrees and micrometers.
#[reference_test]
fn opensim_val_residual_reduction_of_gait2354() {
    let root = Path::new(PIPELINE);
    let mut files = Memory::new();
    let read = |name: &str| std::fs::read(root.join(name)).unwrap();
    for name in [
        "gait2354_RRA_Actuators.xml",
        "gait2354_RRA_ControlConstraints.xml",
        "gait2354_RRA_Tasks.xml",
        "subject01_Setup_RRA.xml",
        "subject01_walk1_grf.mot",
        "subject01_walk1_grf.xml",
    ] {
        files = files.with(name, read(&format!("input/{name}")));
    }
    // What the steps before made.
    for name in ["subject01_walk1_ik.mot", "subject01_simbody.osim"] {
        files = files.with(name, read(&format!("reference/{name}")));
    }
    let result = SetupFile::new("subject01_Setup_RRA.xml").run(&Context::new(&files)).unwrap();
    result.verdict().unwrap();
    let q = "ResultsRRA/subject01_walk1_RRA_Kinematics_q.sto";
    let artifacts = result.artifacts();
    let ours = artifacts.iter().find(|a| a.path == Path::new(q)).unwrap().to_bytes();
    let (ours, theirs) =
        (sto::read(&ours, q).0.unwrap(), sto::read(&read(&format!("reference/{q}")), q).0.unwrap());
    let mut compared = 0;
    for (label, column) in theirs.labels().iter().zip(theirs.columns()) {
        let own = ours.column(label).unwrap();
        for (t, y) in theirs.times().iter().zip(column) {
            // Rows at the ends of windows; OpenSim's last one is a repetition.
            let Some(k) = ours.times().iter().position(|x| (x - t).abs() < 1e-9) else { continue };
            compared += 1;
            assert!((own[k] - y).abs() < 2e-3, "{label} at {t} s: {} and {y}", own[k]);
        }
    }
    assert!(compared > 5000, "{compared} numbers compared");
}
