//! Setup files of OpenSim's `AnalyzeTool`, unchanged: the results have its names, columns and numbers.
//!
//! Inputs and recorded results are not part of this repository; without them the tests say so and pass.

use crate::common::{Folder, LEG, copy, pipelines, table};
use soleus_math::Table;
use soleus_math::norm::{largest, largest_size};
use soleus_testing::reference_test;
use std::path::Path;

/// Pipeline and setup file; its results are in the folder it names.
const SETUPS: [(&str, &str, &str); 15] = [
    ("Arm26", "arm26_Setup_BK.xml", "ResultsBK"),
    ("Arm26", "arm26_Setup_JR.xml", "ResultsJR"),
    ("Arm26", "arm26_Setup_MA.xml", "ResultsMA"),
    ("Gait10dof18musc", "Analyze/walk_Setup_BK.xml", "Analyze/ResultsBK"),
    ("Gait10dof18musc", "Analyze/walk_Setup_IAA.xml", "Analyze/ResultsIAA"),
    ("Gait10dof18musc", "Analyze/walk_Setup_JR.xml", "Analyze/ResultsJR"),
    ("Gait10dof18musc", "Analyze/walk_Setup_JR_from_SO.xml", "Analyze/ResultsJRfromSO"),
    ("Gait10dof18musc", "Analyze/walk_Setup_MA.xml", "Analyze/ResultsMA"),
    ("Gait2354_Simbody", "subject01_Setup_IAA.xml", "ResultsIAA"),
    ("Gait2354_Simbody", "subject01_Setup_JR_from_SO.xml", "ResultsJRfromSO"),
    ("Rajagopal_walk", "Analyze_walk/jr_setup_walk.xml", "Analyze_walk/ResultsJR"),
    ("Rajagopal_walk", "Analyze_walk/iaa_setup_walk.xml", "Analyze_walk/ResultsIAA"),
    ("CoreTests/DoublePendulum3D_JR", "DoublePendulum3D_Setup_JointReaction_FrameKeyword.xml", ""),
    ("CoreTests/Tug_of_War_Analyze", "Tug_of_War_Setup_Analyze.xml", "Analyze_Tug_of_War"),
    ("CoreTests/double_pendulum_IAA", "double_pendulum_Setup_IAA.xml", "ResultsInducedAccelerations"),
];

/// A pipeline with the results of its earlier steps.
fn case(root: &Path, test: &str, pipeline: &str) -> Folder {
    let folder = Folder::new(&format!("{test}_{}", pipeline.replace('/', "_")));
    copy(&root.join(pipeline).join("input"), &folder.0);
    copy(&root.join(pipeline).join("reference"), &folder.0);
    folder
}

/// Columns that share a scale: forces, moments, points.
fn group(label: &str) -> &str {
    let end = label.rsplit('_').next().unwrap_or("");
    match end.as_bytes() {
        [kind, b'x' | b'y' | b'z'] => std::str::from_utf8(std::slice::from_ref(kind)).unwrap_or(""),
        _ => "",
    }
}

/// The largest difference at the recorded times, relative to the peak of the group of columns, and where.
fn difference(ours: &Table, theirs: &Table) -> (f64, String) {
    // Tables that are zero but for rounding, as accelerations of locked coordinates are, have no scale of their own
    // (OpenSim: 3e-9 rad/s²).
    const ROUNDING: f64 = 1e-2;
    let n = theirs.element().components();
    let label = |c: usize| theirs.labels()[c / n].as_str();
    let peak = |g: &str| {
        let columns = theirs.columns().iter().enumerate().filter(|(c, _)| group(label(*c)) == g);
        columns
            .flat_map(|(_, c)| c)
            .fold(ROUNDING, |p: f64, x| if x.is_finite() { p.max(x.abs()) } else { p })
    };
    let mut worst = (0.0, String::new());
    for (row, t) in theirs.times().iter().enumerate() {
        let Some(k) = ours.times().iter().position(|s| (s - t).abs() < 1e-6) else {
            // Stored states keep 10 digits, which can move the last row across the end of the range.
            assert_eq!(row + 1, theirs.rows(), "no row at {t}");
            continue;
        };
        for c in 0..theirs.columns().len() {
            let (a, b) = (ours.columns()[c][k], theirs.columns()[c][row]);
            let d = if a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() / peak(group(label(c))) };
            if !(d <= worst.0) {
                worst = (d, format!("{} at {t}: {a} and {b}", label(c)));
            }
        }
    }
    worst
}

/// Every recorded table is written under its name, with its labels, and agrees within 1e-6 of its peak.
#[reference_test]
fn opensim_val_analyses_of_setup_files() {
    let root = pipelines();
    for (pipeline, setup, results) in SETUPS {
        let folder = case(&root, &format!("analyses_{}", setup.replace('/', "_")), pipeline);
        let done = folder.soleus(&["run", setup, "--opensim-faults"]);
        assert_eq!(done.code, Some(0), "{pipeline} {setup}: {}", done.stderr);
        let recorded = root.join(pipeline).join("reference").join(results);
        let mut count = 0;
        for entry in std::fs::read_dir(recorded).unwrap().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            if !entry.path().is_file() || !file.ends_with(".sto") {
                continue;
            }
            count += 1;
            let (ours, theirs) = (table(&folder.0.join(results).join(&file)), table(&entry.path()));
            assert_eq!(ours.labels(), theirs.labels(), "{pipeline} {file}");
            assert_eq!(ours.element(), theirs.element(), "{pipeline} {file}");
            let degrees = |t: &Table| t.in_degrees == Some(true);
            assert_eq!(degrees(&ours), degrees(&theirs), "{pipeline} {file}");
            let (d, place) = difference(&ours, &theirs);
            assert!(d < 1e-6, "{pipeline} {file}: {d:.1e} of the peak, {place}");
        }
        assert!(count > 0, "{pipeline} {setup}: nothing recorded in {results}");
    }
}

/// Contributions add up to the total, for every coordinate, the mass centre and every reaction; and the reactions of the
/// contacts are near the ground reactions that were measured.
#[reference_test]
fn conserves_induced_accelerations_add_up() {
    let root = pipelines();
    let cases = [
        ("Gait10dof18musc", "Analyze/walk_Setup_IAA.xml", "Analyze/ResultsIAA", "walk_subject"),
        ("Gait2354_Simbody", "subject01_Setup_IAA.xml", "ResultsIAA", "subject01_walk1"),
        // Rigid tendons: in OpenSim, which takes muscle forces at rest, the sum is off by up to 140 % of the total.
        ("Rajagopal_walk", "Analyze_walk/iaa_setup_walk.xml", "Analyze_walk/ResultsIAA", "walk"),
    ];
    for (pipeline, setup, results, name) in cases {
        let folder = case(&root, "add_up", pipeline);
        let done = folder.soleus(&["run", setup]);
        assert_eq!(done.code, Some(0), "{pipeline}: {}", done.stderr);
        for what in
            ["pelvis_tx", "pelvis_ty", "knee_angle_r", "center_of_mass", "induced_constraint_reactions"]
        {
            let file = folder.0.join(results).join(format!("{name}_InducedAccelerations_{what}.sto"));
            let t = table(&file);
            let parts: Vec<&str> = t.labels().iter().filter_map(|l| l.strip_prefix("total")).collect();
            for end in parts {
                let total = t.column(&format!("total{end}")).unwrap();
                for row in 0..t.rows() {
                    let mine = |l: &String| l.ends_with(end) && !l.starts_with("total");
                    let columns = t.labels().iter().zip(t.columns()).filter(|(l, _)| mine(l));
                    let (mut sum, mut size) = (0.0, 0.0_f64);
                    for (_, c) in columns {
                        sum += c[row];
                        size = size.max(c[row].abs());
                    }
                    let off = (sum - total[row]).abs();
                    assert!(off <= 1e-9 * size.max(1.0), "{pipeline} {what}{end} row {row}: off by {off}");
                }
            }
        }
    }
}

/// Probes that look back: over the motion, and as OpenSim 4.6 has them. Its numbers were recorded with `AnalyzeTool` on arm26 with
/// these probes added, states and controls of its CMC.
#[reference_test]
fn opensim_val_probes_look_back() {
    let root = pipelines();
    let folder = case(&root, "probes", "Arm26");
    let operations = ["value", "integrate", "differentiate", "minimum", "maximum", "minabs", "maxabs"];
    let probes: String = operations
        .iter()
        .map(|o| {
            format!(
                "<ActuatorPowerProbe name=\"{o}\"><probe_operation>{o}</probe_operation>\
                 <initial_conditions_for_integration>1 2</initial_conditions_for_integration>\
                 <actuator_names>TRIlong BRA</actuator_names></ActuatorPowerProbe>"
            )
        })
        .collect();
    let model = std::fs::read_to_string(folder.0.join("arm26.osim")).unwrap();
    let at = model.find("<ProbeSet").unwrap();
    let end = at + model[at..].find("</ProbeSet>").unwrap();
    let set = format!("<ProbeSet name=\"probeset\"><objects>{probes}</objects>");
    folder.file("probes.osim", format!("{}{set}{}", &model[..at], &model[end..]));
    let setup = std::fs::read_to_string(folder.0.join("arm26_Setup_MA.xml")).unwrap();
    let at = setup.find("<MuscleAnalysis").unwrap();
    let end = at + setup[at..].find("</MuscleAnalysis>").unwrap() + "</MuscleAnalysis>".len();
    let reporter = "<ProbeReporter name=\"P\"><step_interval>5</step_interval></ProbeReporter>";
    let setup = format!("{}{reporter}{}", &setup[..at], &setup[end..]);
    folder.file("setup.xml", setup.replace(">arm26.osim<", ">probes.osim<").replace("ResultsMA", "probes"));
    let file = folder.0.join("probes/arm26_P_probes.sto");

    folder.soleus(&["run", "setup.xml", "--opensim-faults"]).is_done();
    let t = table(&file);
    let at = |name: &str, row: usize| t.column(name).unwrap()[row];
    assert_eq!((t.rows(), t.labels().len()), (63, 14));
    let second = [-0.066868453119, 0.015984414428, 1.0, 2.0, 0.0, 0.0];
    let last = [-0.005629855179, 0.005216045128, 1.0, 2.0, 0.0, 0.0];
    let names =
        ["value_TRIlong", "value_BRA", "integrate_TRIlong", "integrate_BRA", "minimum_BRA", "minabs_TRIlong"];
    for (row, wanted) in [(1, second), (62, last)] {
        for (name, wanted) in names.iter().zip(wanted) {
            // Twelve decimals were recorded.
            assert!((at(name, row) - wanted).abs() < 2e-12, "{name} {} {wanted}", at(name, row));
        }
        assert_eq!(at("minimum_TRIlong", row), at("value_TRIlong", row));
        assert_eq!(at("maxabs_BRA", row), at("value_BRA", row));
    }

    // Over the motion: every row counts for the integral, every fifth is told.
    folder.soleus(&["run", "setup.xml"]).is_done();
    let few = table(&file);
    let setup = std::fs::read_to_string(folder.0.join("setup.xml")).unwrap();
    folder.file("setup.xml", setup.replace("<step_interval>5<", "<step_interval>1<"));
    folder.soleus(&["run", "setup.xml"]).is_done();
    let all = table(&file);
    assert_eq!((few.rows(), all.rows()), (63, 311));
    let last = |t: &Table, name: &str| t.column(name).unwrap()[t.rows() - 1];
    assert_eq!(last(&few, "integrate_BRA"), last(&all, "integrate_BRA"));
    let (f, times) = (all.column("value_BRA").unwrap(), all.times());
    let sum: f64 = (1..f.len()).map(|k| 0.5 * (f[k] + f[k - 1]) * (times[k] - times[k - 1])).sum();
    // The trapezoid rule on steps of 3 ms: h²/12 times the change of slope.
    assert!((last(&all, "integrate_BRA") - 2.0 - sum).abs() < 1e-4, "{} {sum}", last(&all, "integrate_BRA"));
    assert_eq!(last(&all, "maximum_BRA"), largest(f.iter().copied()));
}

/// Static optimization without the model's muscles is inverse dynamics; OpenSim 4.6 ends with a segmentation fault.
#[test]
fn identity_static_optimization_without_muscles_is_inverse_dynamics() {
    let folder = Folder::new("so_no_muscles");
    let model = std::fs::read_to_string(LEG).unwrap();
    let names: Vec<&str> =
        model.split("<Coordinate name=\"").skip(1).map(|s| s.split('"').next().unwrap()).collect();
    let row = |i: i32| {
        let t = 0.025 * f64::from(i);
        format!(
            "{t}\t{}\t{}\t{}\n",
            20.0 * (3.0 * t).sin(),
            -40.0 - 20.0 * (3.0 * t).cos(),
            5.0 * (2.0 * t).sin()
        )
    };
    let rows: String = (0..81).map(row).collect();
    let header = format!(
        "swing\nversion=1\nnRows=81\nnColumns=4\ninDegrees=yes\nendheader\ntime\t{}\n",
        names.join("\t")
    );
    folder.file("swing.mot", format!("{header}{rows}"));
    folder.file(
        "setup.xml",
        format!(
            "<OpenSimDocument Version=\"40000\"><AnalyzeTool name=\"a\"><model_file>{LEG}</model_file>\
             <coordinates_file>swing.mot</coordinates_file><initial_time>0</initial_time><final_time>2</final_time>\
             <AnalysisSet><objects><StaticOptimization name=\"SO\"><use_model_force_set>false</use_model_force_set>\
             </StaticOptimization></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>"
        ),
    );
    folder.soleus(&["run", "setup.xml"]).is_done();
    folder.soleus(&["id", "--model", LEG, "--motion", "swing.mot", "--out", "id.sto"]).is_done();
    let (so, id) = (table(&folder.0.join("a_SO_force.sto")), table(&folder.0.join("id.sto")));
    for name in names {
        let (a, b) =
            (so.column(&format!("{name}_actuator")).unwrap(), id.column(&format!("{name}_moment")).unwrap());
        let most = largest_size(b);
        for k in 10..71 {
            // Accelerations are slopes of a spline through speeds in one, second slopes of that through angles in the other.
            assert!((a[k] - b[k]).abs() < 1e-4 * most, "{name} {} {}", a[k], b[k]);
        }
    }
}

/// Static optimization of the leg that ships, which needs no other files: runs, shares the load, and tells what is missing.
#[test]
fn analytic_leg_without_setup_files() {
    let folder = Folder::new("so_leg");
    let rows: String = (0..41)
        .map(|i| {
            let t = 0.025 * f64::from(i);
            format!(
                "{t}\t{}\t{}\t{}\n",
                20.0 * (3.0 * t).sin(),
                -30.0 - 20.0 * (3.0 * t).cos(),
                5.0 * (2.0 * t).sin()
            )
        })
        .collect();
    let model = std::fs::read_to_string(LEG).unwrap();
    let names: Vec<&str> =
        model.split("<Coordinate name=\"").skip(1).map(|s| s.split('"').next().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    folder.file(
        "swing.mot",
        format!(
            "swing\nversion=1\nnRows=41\nnColumns=4\ninDegrees=yes\nendheader\ntime\t{}\n{rows}",
            names.join("\t")
        ),
    );
    let done =
        folder.soleus(&["so", "--model", LEG, "--motion", "swing.mot", "--every", "4", "--out", "results"]);
    assert!(matches!(done.code, Some(0 | 1)), "{}", done.stderr);
    let a = table(&folder.0.join("results/swing_StaticOptimization_activation.sto"));
    let f = table(&folder.0.join("results/swing_StaticOptimization_force.sto"));
    assert_eq!(a.rows(), 11);
    assert_eq!(a.rows(), f.rows());
    assert!(a.columns().iter().flatten().all(|x| (0.0..=1.0 + 1e-9).contains(x)));
    if done.code == Some(1) {
        assert!(done.stderr.contains("too weak"), "{}", done.stderr);
        let missing = table(&folder.0.join("results/swing_StaticOptimization_missing.sto"));
        assert!(missing.labels().iter().all(|l| names.contains(&l.as_str())));
    }
    let analyses = "kinematics,body,muscle,joint-reaction,joint-power,forces,actuation,states";
    let done = folder.soleus(&[
        "analyze",
        "--model",
        LEG,
        "--motion",
        "swing.mot",
        "--analyses",
        analyses,
        "--equilibrate",
        "--out",
        "results",
    ]);
    done.is_done();
    let q = table(&folder.0.join("results/swing_Kinematics_q.sto"));
    assert_eq!(q.in_degrees, Some(true));
    assert!((q.columns()[1][0] - -50.0).abs() < 1e-9);
}

#[test]
fn analytic_bad_setups_are_refused() {
    let folder = Folder::new("bad_analyze");
    folder.file("empty.xml", "<AnalyzeTool name=\"a\"><model_file>none.osim</model_file><states_file>x.sto</states_file></AnalyzeTool>");
    folder.soleus(&["run", "empty.xml"]).is_refused(&["none.osim"]);
    let setup = |analysis: &str| {
        format!(
            "<OpenSimDocument Version=\"40000\"><AnalyzeTool name=\"a\"><model_file>{LEG}</model_file>\
             <coordinates_file>swing.mot</coordinates_file><AnalysisSet><objects>{analysis}</objects></AnalysisSet>\
             </AnalyzeTool></OpenSimDocument>"
        )
    };
    let header = "swing\nversion=1\nnRows=8\nnColumns=2\ninDegrees=no\nendheader\ntime\tnothing\n";
    let rows: String = (0..8).map(|i| format!("{}\t0\n", f64::from(i) * 0.1)).collect();
    folder.file("swing.mot", format!("{header}{rows}"));
    folder.file("setup.xml", setup("<Kinematics/>"));
    folder.soleus(&["run", "setup.xml"]).is_refused(&["swing.mot", "none of the columns"]);
    folder
        .soleus(&["so", "--model", LEG, "--motion", "swing.mot", "--out", "x"])
        .is_refused(&["none of the columns"]);
    assert!(!folder.0.join("x").exists(), "nothing half-written");
}
