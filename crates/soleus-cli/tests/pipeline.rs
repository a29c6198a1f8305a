//! A study from static trial to joint reactions.

use crate::common::{Folder, LEG, copy, shared, table};
use soleus_testing::reference_test;

const STUDY: &str = r#"
name = "Walking"

[scale]
setup = "subject01_Setup_Scale.xml"

[ik]
tasks = "gait2354_IK_Tasks.xml"

[filter]
lowpass_hz = 6

[so]
actuators = ["gait2354_CMC_Actuators.xml"]

[jr]
joints = ["knee_r"]

[[trials]]
name = "walk1"
markers = "subject01_walk1.trc"
loads = "subject01_walk1_grf.xml"
from = 0.7
to = 0.9
"#;

/// Which steps a run did, and which it left as they were.
fn steps(stderr: &str) -> (Vec<&str>, Vec<&str>) {
    let of = |word: &str| stderr.lines().filter_map(|l| l.strip_suffix(word)).collect();
    (of(": done"), of(": unchanged"))
}

#[reference_test]
fn identity_a_second_run_does_what_changed() {
    let root = shared("reference/pipelines/Gait2354_Simbody");
    let f = Folder::new("pipeline");
    copy(&root.join("input"), &f.0);
    // The tasks of the setup file for inverse kinematics.
    f.file("study.toml", STUDY.replace("gait2354_IK_Tasks.xml", "subject01_Setup_IK.xml"));
    let all = ["scale", "walk1 ik", "walk1 filter", "walk1 id", "walk1 so", "walk1 jr"];
    let first = f.soleus(&["pipeline", "study.toml"]);
    first.is_done();
    assert_eq!(steps(&first.stderr), (all.to_vec(), vec![]), "{}", first.stderr);
    let page = std::fs::read_to_string(f.0.join("results/summary.html")).unwrap();
    for word in
        ["Walking", "walk1", "<svg", "knee_angle_r", "Residual force", "Activation, largest", " at 0."]
    {
        assert!(page.contains(word), "no {word}");
    }
    assert!(!page.contains("http://") || page.contains("xmlns"), "the page holds everything it shows");

    // Nothing changed; then one setting; then one file.
    let second = f.soleus(&["pipeline", "study.toml"]);
    assert_eq!(steps(&second.stderr), (vec![], all.to_vec()), "{}", second.stderr);
    // By another spelling of its path, nothing either.
    let spelled = f.soleus(&["pipeline", "./results/../study.toml"]);
    assert_eq!(steps(&spelled.stderr), (vec![], all.to_vec()), "{}", spelled.stderr);
    f.file(
        "study.toml",
        STUDY.replace("gait2354_IK_Tasks.xml", "subject01_Setup_IK.xml").replace("= 6", "= 8"),
    );
    let third = f.soleus(&["pipeline", "study.toml"]);
    assert_eq!(steps(&third.stderr), (all[2..].to_vec(), all[..2].to_vec()), "{}", third.stderr);
    // The table that the loads name, two files away from the study.
    let grf = std::fs::read_to_string(f.0.join("subject01_walk1_grf.mot")).unwrap();
    f.file("subject01_walk1_grf.mot", format!("{grf}\n"));
    let fourth = f.soleus(&["pipeline", "study.toml"]);
    assert_eq!(steps(&fourth.stderr), (all[3..].to_vec(), all[..3].to_vec()), "{}", fourth.stderr);
    // A result that was lost.
    std::fs::remove_file(f.0.join("results/walk1/id.sto")).unwrap();
    let fifth = f.soleus(&["pipeline", "study.toml"]);
    assert_eq!(steps(&fifth.stderr).0, ["walk1 id"], "{}", fifth.stderr);

    // The steps one by one give the same numbers.
    let model = "results/subject.osim";
    let args = [
        "id",
        "--model",
        model,
        "--motion",
        "results/walk1/filtered.mot",
        "--loads",
        "subject01_walk1_grf.xml",
        "--out",
        "id.sto",
        "--from",
        "0.7",
        "--to",
        "0.9",
    ];
    f.soleus(&args).is_done();
    let (a, b) = (table(&f.0.join("id.sto")), table(&f.0.join("results/walk1/id.sto")));
    assert_eq!(a.rows(), b.rows());
    assert!(a.times().iter().zip(b.times()).all(|(x, y)| (x - y).abs() < 1e-8));
    for (x, y) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
        // Eight decimals in the file of the pipeline.
        assert!((x - y).abs() < 1e-7);
    }

    // Actuators without a file, as the verb makes them.
    let helpers = STUDY.replace("gait2354_IK_Tasks.xml", "subject01_Setup_IK.xml").replace("= 6", "= 8");
    f.file(
        "study.toml",
        helpers.replace("actuators = [\"gait2354_CMC_Actuators.xml\"]", "reserves = 1\nresiduals = [10, 50]"),
    );
    let sixth = f.soleus(&["pipeline", "study.toml"]);
    assert_eq!(steps(&sixth.stderr).0, ["walk1 so", "walk1 jr"], "{}", sixth.stderr);
    let mut args = args;
    (args[0], args[8]) = ("so", "so");
    let more = ["--residuals", "10,50", "--reserves", "1"];
    f.soleus(&[&args[..], &more[..]].concat()).is_done();
    let a = table(&f.0.join("so/filtered_StaticOptimization_activation.sto"));
    let b = table(&f.0.join("results/walk1/walk1_StaticOptimization_activation.sto"));
    assert_eq!(a.labels(), b.labels());
    for (x, y) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
        assert!((x - y).abs() < 1e-7 * (1.0 + x.abs()), "{x} and {y}");
    }
}

#[test]
fn refuses_studies_that_make_no_sense() {
    let f = Folder::new("pipeline_bad");
    let run = |text: &str, words: &[&str]| {
        f.file("s.toml", text);
        f.soleus(&["pipeline", "s.toml"]).is_refused(words);
        assert!(!f.0.join("results").exists(), "{text}");
    };
    run("", &["no model"]);
    run("model = 3", &["s.toml:1", "string"]);
    run("modle = \"a.osim\"", &["s.toml:1", "modle"]);
    run("model = \"a.osim\"\n[scale]\nmodel = \"b.osim\"", &["both"]);
    run("[scale]\nmass = 3", &["setup"]);
    run("model = \"a.osim\"\n[jr]", &["[so]"]);
    run("model = \"a.osim\"\n[[trials]]\nname = \"../up\"\nmarkers = \"a.trc\"", &["../up"]);
    run(
        "model = \"a.osim\"\n[[trials]]\nname = \"a\"\nmarkers = \"a.trc\"\n[[trials]]\nname = \"a\"\nmarkers = \"a.trc\"",
        &["two trials"],
    );
    f.soleus(&["pipeline", "none.toml"]).is_refused(&["none.toml"]);
}

#[test]
fn identity_a_trial_that_fails_leaves_the_others_alone() {
    let f = Folder::new("pipeline_partial");
    let trial = |n: &str| format!("[[trials]]\nname = \"{n}\"\nmarkers = \"{n}.trc\"\n");
    f.file("s.toml", format!("model = '{LEG}'\n{}{}", trial("a"), trial("b")));
    let done = f.soleus(&["pipeline", "s.toml"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("a ik: failed") && done.stderr.contains("b ik: failed"), "{}", done.stderr);
    let page = std::fs::read_to_string(f.0.join("results/summary.html")).unwrap();
    assert!(page.contains("cannot read"), "{page}");
}

/// Normative curves that cannot be read are refused before the first step.
#[test]
fn issue_18_normative_curves_are_read_first() {
    let f = Folder::new("pipeline_norms");
    let study =
        format!("model = '{LEG}'\nnormative = 'norms.csv'\n[[trials]]\nname = 'a'\nmarkers = 'a.trc'\n");
    f.file("s.toml", study);
    f.soleus(&["pipeline", "s.toml"]).is_refused(&["norms.csv"]);
    f.file("norms.csv", "percent,knee_angle\n0,1\n");
    f.soleus(&["pipeline", "s.toml"]).is_refused(&["norms.csv", "fewer than two rows"]);
    f.file("norms.csv", "percent,knee_angle\n0,1\n100,1\n");
    let done = f.soleus(&["pipeline", "s.toml"]);
    assert!(done.stderr.contains("a ik: failed"), "{}", done.stderr);
}
