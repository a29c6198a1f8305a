//! Setup files of OpenSim's `AnalyzeTool`, unchanged: the results have its names, columns and numbers.
//!
//! Inputs and recorded results are not part of this repository; without them the tests say so and pass.

mod common;

use common::{Folder, LEG, copy, pipelines, table};
use soleus_math::Table;
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
#[test]
fn opensim_val_analyses_of_setup_files() {
    let Some(root) = pipelines() else { return };
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
#[test]
fn conserves_induced_accelerations_add_up() {
    let Some(root) = pipelines() else { return };
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
    folder.file("empty.xml", "<AnalyzeTool name=\"a\"><model_file>none.osim</model_file></AnalyzeTool>");
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
