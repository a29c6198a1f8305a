//! `soleus view`, through the command.

use crate::common::{Folder, LEG, joint, model, pendulum, shared};
use soleus_testing::reference_test;

/// A motion of the leg that ships, 1001 rows in one second.
fn swing() -> String {
    let mut text = String::from(
        "swing\nversion=1\nnRows=1001\nnColumns=3\ninDegrees=yes\nendheader\ntime\thip_flexion\tknee_angle\n",
    );
    for i in 0..=1000 {
        let t = f64::from(i) * 0.001;
        text.push_str(&format!("{t}\t{}\t{}\n", 30.0 * (6.0 * t).sin(), -40.0 + 30.0 * (6.0 * t).cos()));
    }
    text
}

#[test]
fn analytic_page_and_picture_of_a_motion() {
    let f = Folder::new("view_motion");
    f.file("swing.mot", swing());
    let run = f.soleus(&["view", LEG, "swing.mot"]);
    assert_eq!(run.is_done(), "", "stdout is for data");
    // Thinned to 50 frames a second, and the coordinate without a column is named.
    assert!(run.stderr.contains("51 frames in swing.html"), "{}", run.stderr);
    assert!(run.stderr.contains("no column for coordinate `ankle_angle`"), "{}", run.stderr);
    let page = std::fs::read_to_string(f.0.join("swing.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains(">knee_angle</text>") && page.contains("class=\"animation\""));
    assert!(!page.contains("http://") && !page.contains("https://"));

    let picture = |time: &str| {
        f.soleus(&["view", LEG, "swing.mot", "--svg", "-", "--time", time]).is_done().to_string()
    };
    assert!(picture("0").starts_with("<svg ") && picture("0").ends_with("</svg>\n"));
    assert_ne!(picture("0"), picture("0.5"));
    assert_eq!(picture("0.5"), picture("0.5"));
    let run = f.soleus(&["view", LEG, "swing.mot", "--svg", "-", "--camera", "-30,10", "--frame-rate", "10"]);
    assert!(run.is_done().contains("<polygon") || run.stdout.contains("<path"));
    f.soleus(&["view", LEG, "swing.mot", "--picture", "p.png"]).is_done();
    assert!(std::fs::read(f.0.join("p.png")).unwrap().starts_with(b"\x89PNG"));
    assert_eq!(std::fs::read_dir(&f.0).unwrap().count(), 3, "no page where only a picture was asked for");
}

#[test]
fn analytic_names_in_a_model_stay_text() {
    let f = Folder::new("view_names");
    f.file(
        "evil.osim",
        pendulum("").replace("name=\"test\"", "name=\"&lt;script&gt;alert(1)&lt;/script&gt;\""),
    );
    f.soleus(&["view", "evil.osim", "--out", "page.html", "--svg", "p.svg"]).is_done();
    for file in ["page.html", "p.svg"] {
        let text = std::fs::read_to_string(f.0.join(file)).unwrap();
        assert!(text.contains("&lt;script&gt;alert(1)") && !text.contains("<script>alert"), "{file}");
    }
}

#[test]
fn analytic_geometry_of_the_file_is_drawn() {
    let f = Folder::new("view_geometry");
    let ball = "<Body name=\"ball\">\n<mass>1</mass>\n<attached_geometry>\n<Sphere name=\"s\">\n<radius>0.1</radius>\n\
        <Appearance><color>1 0 0</color></Appearance>\n</Sphere>\n<Mesh name=\"m\"><mesh_file>tet.obj</mesh_file></Mesh>\n\
        </attached_geometry>\n</Body>\n";
    f.file("ball.osim", model(ball, &joint("PinJoint", "hinge", "/ground", "/bodyset/ball", &["angle"]), ""));
    let run = f.soleus(&["view", "ball.osim", "--svg", "-"]);
    assert!(run.is_done().contains("fill=\"#f20000\""), "{}", run.stdout);
    assert!(run.stderr.contains("tet.obj was not found"), "{}", run.stderr);
    std::fs::create_dir(f.0.join("Geometry")).unwrap();
    f.file("Geometry/tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    let run = f.soleus(&["view", "ball.osim", "--svg", "-", "--camera", "35,12"]);
    assert!(run.is_done().matches("z\" fill=").count() >= 1, "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn analytic_wrong_input_is_refused() {
    let f = Folder::new("view_wrong");
    f.file("elbow.mot", "x\nversion=1\ninDegrees=yes\nendheader\ntime\telbow\n0\t1\n");
    f.file("empty.mot", "x\nversion=1\nendheader\ntime\tknee_angle\n0\tnan\n");
    f.file("knee.mot", "x\nversion=1\nendheader\ntime\tknee_angle\n0\t0\n");
    f.soleus(&["view", LEG, "elbow.mot"]).is_refused(&["none of the columns is a coordinate", "knee_angle"]);
    f.soleus(&["view", LEG, "empty.mot"]).is_refused(&["every row of the table has gaps"]);
    f.soleus(&["view", LEG, "knee.mo"]).is_refused(&["did you mean knee.mot?"]);
    f.soleus(&["view", LEG, "knee.mot", "--frame-rate", "0"]).is_refused(&["not a valid frame rate"]);
    f.soleus(&["view", LEG, "knee.mot", "--activations", "elbow.mot"])
        .is_refused(&["is a muscle of the model"]);
    f.soleus(&["view", LEG, "--camera", "side"]).is_refused(&["two angles in degrees"]);
    f.soleus(&["view", LEG, "--out", "nowhere/page.html"]).is_refused(&["the folder nowhere does not exist"]);
    assert_eq!(std::fs::read_dir(&f.0).unwrap().count(), 3, "nothing half done is left");
}

/// Measured ground reactions of a walk: the arrows are there when the feet are on the plates.
#[reference_test]
fn identity_measured_loads_are_drawn() {
    let data = shared("reference/pipelines/Gait2354_Simbody");
    let f = Folder::new("view_loads");
    let file = |name: &str| data.join(name).display().to_string();
    let (model, motion) =
        (file("reference/subject01_simbody.osim"), file("reference/subject01_walk1_ik.mot"));
    let loads = file("input/subject01_walk1_grf.xml");
    let run = f.soleus(&["view", &model, &motion, "--loads", &loads, "--svg", "-", "--time", "1.0"]);
    // One foot is on the ground in the middle of the step.
    assert_eq!(run.is_done().matches("stroke=\"#009e73\"").count(), 1);
    f.soleus(&["view", &model, &motion, "--loads", &loads, "--out", "walk.html"]).is_done();
    let page = std::fs::read_to_string(f.0.join("walk.html")).unwrap();
    assert!(
        page.contains(">Forces on bodies<")
            && page.contains(">calcn_r</text>")
            && page.contains(">calcn_l</text>")
    );
    // The figure that moves takes 0.2 MB of it.
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

/// The page of a solution has its costs and its motion.
#[reference_test]
fn analytic_page_of_a_solution() {
    let data = shared("reference/moco/settings");
    let f = Folder::new("view_solution");
    let study = data.join("sliding_mass_trapezoidal.omoco").display().to_string();
    f.soleus(&["solve", &study, "--quiet", "--out", "mass.sto", "--report", "mass.html"]).is_done();
    let page = std::fs::read_to_string(f.0.join("mass.html")).unwrap();
    for words in [">Objective<", ">Quality<", ">Coordinates<", ">Controls<", "class=\"animation\""] {
        assert!(page.contains(words), "{words}");
    }
}
