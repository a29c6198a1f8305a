//! Setup files of OpenSim's ForwardTool, unchanged: results have its names, columns and numbers.
//!
//! Inputs and recorded results are not part of this repository; without them the tests say so and pass.

use crate::common::{Folder, copy, pipelines, table};
use soleus_math::Table;
use soleus_math::norm::largest;
use soleus_testing::reference_test;

struct Case {
    pipeline: &'static str,
    setup: &'static str,
    /// Files that earlier steps made.
    made: &'static [&'static str],
    /// Folder and stem of the results.
    results: &'static str,
    /// `integrator_error_tolerance`.
    tolerance: f64,
    /// Steps that OpenSim took.
    steps: usize,
}

const CASES: &[Case] = &[
    Case {
        pipeline: "CoreTests/Pendulum_Forward",
        setup: "pendulum_Setup_Forward.xml",
        made: &[],
        results: "Results/pendulum",
        tolerance: 1e-5,
        steps: 13,
    },
    Case {
        pipeline: "CoreTests/Pendulum_Forward",
        setup: "pendulum_ext_gravity_Setup_Forward.xml",
        made: &[],
        results: "Results/pendulum_ext_gravity",
        tolerance: 1e-5,
        steps: 13,
    },
    Case {
        pipeline: "CoreTests/Pendulum_Forward",
        setup: "pendulum_ext_point_in_ground_Setup_Forward.xml",
        made: &[],
        results: "Results/pendulum_ext_gravity_point_in_ground",
        tolerance: 1e-5,
        steps: 17,
    },
    Case {
        pipeline: "CoreTests/BlockHangingFromMuscle",
        setup: "block_hanging_from_muscle_Setup_Forward.xml",
        made: &[],
        results: "block_hanging_from_muscle_ForwardResults/block_hanging_from_muscle",
        tolerance: 1e-8,
        steps: 1053,
    },
    Case {
        pipeline: "BouncingBlock",
        setup: "run_forward_bouncingBlock.xml",
        made: &[],
        results: "forward/toy_leg_sim",
        tolerance: 1e-5,
        steps: 891,
    },
    Case {
        pipeline: "Arm26",
        setup: "arm26_Setup_Forward_from_CMC.xml",
        made: &["ResultsCMC/arm26_controls.xml"],
        results: "ResultsForwardFromCMC/arm26",
        tolerance: 1e-5,
        steps: 280,
    },
    Case {
        pipeline: "Gait10dof18musc",
        setup: "Analyze/walk_Setup_Forward.xml",
        made: &["CMC/Results/walk_subject_controls.xml", "CMC/Results/walk_subject_states.sto"],
        results: "Analyze/ResultsForward/walk_subject",
        tolerance: 1e-5,
        steps: 595,
    },
    Case {
        pipeline: "Gait2354_Simbody",
        setup: "subject01_Setup_Forward.xml",
        made: &[
            "subject01_simbody_adjusted.osim",
            "ResultsCMC/subject01_walk1_controls.xml",
            "ResultsCMC/subject01_walk1_states.sto",
        ],
        results: "ResultsForward/subject01_walk1",
        tolerance: 5e-5,
        steps: 271,
    },
    Case {
        pipeline: "Rajagopal_walk",
        setup: "Analyze_walk/fwd_setup_walk.xml",
        made: &[
            "CMC/walk/subject_walk_adjusted.osim",
            "CMC/walk/results/cmc_controls.xml",
            "CMC/walk/results/cmc_states.sto",
        ],
        results: "Analyze_walk/ResultsForward/walk",
        tolerance: 1e-5,
        steps: 110,
    },
];

/// Largest of the root mean squares over values, speeds and muscle states of the difference of two rows, relative where
/// speeds and muscle states exceed 1: the norm that the error tolerance is about.
fn distance(labels: &[String], a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [(0.0, 0.0); 3];
    for ((label, a), b) in labels.iter().zip(a).zip(b) {
        let group = match label.rsplit('/').next() {
            Some("value") => 0,
            Some("speed") => 1,
            _ => 2,
        };
        let size = if group > 0 { a.abs().max(1.0) } else { 1.0 };
        sums[group].0 += ((a - b) / size).powi(2);
        sums[group].1 += 1.0;
    }
    largest(sums.iter().map(|(s, n)| if *n > 0.0 { (s / n).sqrt() } else { 0.0 }))
}

/// A setup with another number for a property.
fn with(setup: &str, property: &str, value: f64) -> String {
    let (head, rest) = setup.split_once(&format!("<{property}>")).unwrap();
    let (_, tail) = rest.split_once("</").unwrap();
    format!("{head}<{property}>{value:e}</{tail}")
}

fn row(t: &Table, i: usize) -> Vec<f64> {
    t.columns().iter().map(|c| c[i]).collect()
}

/// Both take nearly the same steps. In the first quarter of the time, rows at the same time differ by ten tolerances at
/// most. At the end, after contacts and a few hundred steps of an unstable motion, they are apart by no more than half as
/// much again as either is from the same simulation at a thousandth of the tolerance.
#[reference_test]
fn opensim_val_forward_tool_setups() {
    let root = pipelines();
    for c in CASES {
        let folder = Folder::new(&format!("forward_{}", c.setup.replace('/', "_")));
        copy(&root.join(c.pipeline).join("input"), &folder.0);
        for file in c.made {
            let target = folder.0.join(file);
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::write(
                target,
                std::fs::read(root.join(c.pipeline).join("reference").join(file)).unwrap(),
            )
            .unwrap();
        }
        let read = |what: &str| table(&folder.0.join(format!("{}_{what}", c.results)));
        let recorded =
            |what: &str| table(&root.join(format!("{}/reference/{}_{what}", c.pipeline, c.results)));

        let done = folder.soleus(&["run", c.setup, "--opensim-faults"]);
        done.is_done();
        let (ours, theirs, controls) = (read("states.sto"), recorded("states.sto"), read("controls.sto"));
        assert_eq!(ours.labels(), theirs.labels(), "{}", c.setup);
        assert_eq!((&ours.name, ours.in_degrees), (&theirs.name, theirs.in_degrees), "{}", c.setup);
        // OpenSim forgets the labels of a CorrectionController's actuators, which it adds even if it is disabled.
        let labels = controls.labels();
        assert_eq!(labels, &recorded("controls.sto").labels()[..labels.len()], "{}", c.setup);
        assert_eq!(controls.rows(), ours.rows());
        assert_eq!(read("states_degrees.mot").rows(), ours.rows());
        // Tables of analyses.
        let (results, stem) = c.results.rsplit_once('/').unwrap();
        let recorded_in = root.join(c.pipeline).join("reference").join(results);
        let analyses = ["ForceReporter", "Kinematics", "Actuation", "BodyKinematics"];
        for entry in std::fs::read_dir(recorded_in).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let what = name.strip_prefix(stem).and_then(|n| n.strip_prefix('_')).unwrap_or_default();
            if analyses.iter().any(|a| what.starts_with(a)) {
                let ours = table(&folder.0.join(results).join(&name));
                assert_eq!(ours.labels(), table(&entry.path()).labels(), "{name}");
            }
        }
        let steps = ours.rows() - 1;
        assert!(
            steps.abs_diff(c.steps) <= 2 + c.steps / 25,
            "{}: {steps} steps, OpenSim {}",
            c.setup,
            c.steps
        );

        // Up to the last row that was kept, at the tolerance and at a thousandth of it.
        let end = theirs.times()[theirs.rows() - 1];
        let text = std::fs::read_to_string(folder.0.join(c.setup)).unwrap();
        let until = |tolerance: f64| {
            let text = with(&text, "final_time", end);
            let text = with(&text, "minimum_integrator_step_size", 1e-12);
            folder.file(c.setup, with(&text, "integrator_error_tolerance", tolerance));
            folder.soleus(&["run", c.setup, "--opensim-faults"]).is_done();
            let table = read("states.sto");
            row(&table, table.rows() - 1)
        };
        let tolerance = c.tolerance;
        let (a, truth) = (until(tolerance), until((1e-3 * tolerance).max(1e-11)));

        let labels = ours.labels();
        let (t0, t1) = (theirs.times()[0], end);
        let (mut early, mut compared) = (0.0, 0);
        for (i, t) in theirs.times().iter().enumerate() {
            // Tables hold eight decimals of the time.
            let same = ours.times().iter().position(|o| (o - t).abs() < 2e-8);
            if let (true, Some(k)) = (*t <= t0 + 0.25 * (t1 - t0), same) {
                early = distance(labels, &row(&theirs, i), &row(&ours, k)).max(early);
                compared += 1;
            }
        }
        let b = row(&theirs, theirs.rows() - 1);
        let (apart, own, their_own) =
            (distance(labels, &b, &a), distance(labels, &truth, &a), distance(labels, &truth, &b));
        println!(
            "{}: {steps} steps (OpenSim {}), tolerance {tolerance:.0e}; {compared} rows of the first quarter within \
             {early:.1e}; at the end apart {apart:.1e}, from a tight run: ours {own:.1e}, OpenSim {their_own:.1e}",
            c.setup, c.steps
        );
        assert!(compared >= 2 && early <= 10.0 * tolerance + 1e-8, "{}: {early:e}", c.setup);
        assert!(apart <= 1.5 * own.max(their_own) + 1e-8, "{}: {apart:e} {own:e} {their_own:e}", c.setup);
    }
}

/// A block of 2 kg that slides along x, without gravity.
fn block(f: &Folder) {
    let joint = crate::common::joint("SliderJoint", "slide", "/ground", "/bodyset/block", &["x"]);
    let text = crate::common::model(&crate::common::body("block", "2"), &joint, "");
    f.file("block.osim", text.replace("<Ground", "<gravity>0 0 0</gravity>\n<Ground"));
}

/// A setup of the block with those controllers and other properties, for 0.5 s from 1 s.
fn setup(controllers: &str, more: &str) -> String {
    format!(
        "<OpenSimDocument Version=\"40000\"><ForwardTool name=\"push\"><model_file>block.osim</model_file>\
         <force_set_files>actuators.xml</force_set_files><results_directory>out</results_directory>\
         <initial_time>1</initial_time><final_time>1.5</final_time>{more}\
         <ControllerSet><objects>{controllers}</objects></ControllerSet></ForwardTool></OpenSimDocument>"
    )
}

/// What is odd about a force of an actuator file or a controller of the setup is told with that file and line, not with the model's.
#[test]
fn analytic_warnings_name_the_file_a_part_came_from() {
    let f = Folder::new("forward_names");
    block(&f);
    f.file(
        "actuators.xml",
        "<OpenSimDocument Version=\"40000\"><ForceSet name=\"set\"><objects>\n<CoordinateActuator name=\"motor\">\
         <coordinate>x</coordinate><optimal_force>4</optimal_force><of_force/></CoordinateActuator></objects></ForceSet></OpenSimDocument>",
    );
    f.file(
        "setup.xml",
        setup("\n\n<ControlSetController name=\"c\"><of_controller/></ControlSetController>", ""),
    );
    let said = f.soleus(&["run", "setup.xml"]).stderr;
    for (word, place) in [("of_force", "actuators.xml:2"), ("of_controller", "setup.xml:3")] {
        let told = said.split("\n\n").find(|d| d.contains(word)).unwrap_or_else(|| panic!("{word}: {said}"));
        assert!(told.contains(place), "{told}");
    }
}

/// Constant pushes of three kinds of controls on an actuator from a file add up: x = x₀ + u₀ t + ½ (F/m) t².
#[test]
fn analytic_forward_tool_pushes_a_block() {
    let f = Folder::new("forward_block");
    block(&f);
    f.file(
        "actuators.xml",
        "<OpenSimDocument Version=\"40000\"><ForceSet name=\"set\"><objects><CoordinateActuator name=\"motor\">\
         <coordinate>x</coordinate><optimal_force>4</optimal_force></CoordinateActuator></objects></ForceSet></OpenSimDocument>",
    );
    f.file(
        "controls.xml",
        "<OpenSimDocument Version=\"40000\"><ControlSet><objects><ControlConstant name=\"motor.excitation\">\
         <value>0.5</value></ControlConstant></objects></ControlSet></OpenSimDocument>",
    );
    f.file(
        "controls.sto",
        "c\nversion=1\nnRows=2\nnColumns=2\ninDegrees=no\nendheader\ntime\tmotor\n0\t0.25\n3\t0.25\n",
    );
    // The start is the last row that is not after the initial time, under labels of OpenSim 3.
    f.file(
        "states.sto",
        "s\nversion=1\nnRows=3\nnColumns=3\ninDegrees=no\nendheader\ntime\tx\tx_u\n0.5\t9\t9\n0.9\t0.2\t-0.1\n1.2\t9\t9\n",
    );
    let by_file = |name: &str| {
        format!("<ControlSetController><controls_file>{name}</controls_file></ControlSetController>")
    };
    let prescribed = "<PrescribedController name=\"p\"><actuator_list>motor</actuator_list><ControlFunctions><objects>\
         <Constant name=\"f\"><value>1</value></Constant></objects></ControlFunctions></PrescribedController>";
    let all = [by_file("controls.xml"), by_file("controls.sto"), prescribed.to_string()].concat();
    f.file("setup.xml", setup(&all, "<states_file>states.sto</states_file>"));
    let run = f.soleus(&["run", "setup.xml"]);
    run.is_done();
    assert!(run.stderr.contains("starts at 0.9 s"), "{}", run.stderr);
    let (states, controls) =
        (table(&f.0.join("out/push_states.sto")), table(&f.0.join("out/push_controls.sto")));
    let a = 4.0 * (0.5 + 0.25 + 1.0) / 2.0;
    for (i, time) in states.times().iter().enumerate() {
        let t = time - 0.9;
        let (x, u) = (states.columns()[0][i], states.columns()[1][i]);
        // Parabolas are exact in a method of order four.
        assert!((x - (0.2 - 0.1 * t + 0.5 * a * t * t)).abs() < 1e-12, "{x} at {time}");
        assert!((u - (a * t - 0.1)).abs() < 1e-12, "{u} at {time}");
        assert_eq!(controls.columns()[0][i], 1.75);
    }
    assert_eq!(*states.times().last().unwrap(), 1.5);
    assert_eq!(controls.labels(), ["motor"]);
    assert!(f.0.join("out/push_states_degrees.mot").exists());

    // With the model's own forces replaced and nothing added, there is no such actuator.
    f.file("bad.xml", setup(&all, "").replace("actuators.xml", ""));
    f.soleus(&["run", "bad.xml"]).is_refused(&["motor"]);
    let other = "<MyOwnController name=\"toy\"><actuator_list>motor</actuator_list></MyOwnController>";
    f.file("other.xml", setup(other, ""));
    f.soleus(&["run", "other.xml"]).is_refused(&["MyOwnController", "is not supported"]);
    f.file("time.xml", setup("", "").replace("1.5</final_time>", "0.5</final_time>"));
    f.soleus(&["run", "time.xml"]).is_refused(&["final_time"]);
    f.file("follow.xml", setup("<CorrectionController name=\"c\"/>", ""));
    f.soleus(&["run", "follow.xml"]).is_refused(&["states_file"]);
}
