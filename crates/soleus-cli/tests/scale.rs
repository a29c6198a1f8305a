//! Scaling: setup files of OpenSim's examples against its results, and the command by itself.

use crate::common::{Folder, LEG, copy, shared, table};
use soleus_dynamics::System;
use soleus_math::Function;
use soleus_model::Model;
use soleus_model::joint::JointKind;
use soleus_testing::reference_test;
use std::path::Path;

fn read(path: &Path) -> Model {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (model, log) = soleus_io::osim::read_model(&bytes, &path.display().to_string());
    model.unwrap_or_else(|| panic!("{:?}", log.list))
}

/// Words and numbers of everything that a model holds, but for functions of joints (OpenSim wraps a function even when its
/// factor is 1), lines, and markers that a static pose moves.
fn words(mut m: Model) -> Vec<String> {
    m.lines.clear();
    (m.credits, m.publications) = Default::default();
    m.markers.retain(|m| m.fixed);
    for j in &mut m.joints {
        if let JointKind::Custom(t) = &mut j.kind {
            for a in &mut t.axes {
                let arguments = vec![0.3; a.arguments.len().max(1)];
                a.function = Function::Constant(a.function.value(&arguments));
            }
        }
    }
    let text = format!("{m:?}");
    text.split([' ', ',', '(', ')', '[', ']', '{', '}', ':'])
        .filter(|w| !w.is_empty())
        .map(str::to_string)
        .collect()
}

/// Every mass, inertia, length, place and factor of two models agrees to 1e-12 of itself, or of 1: rounding of a few
/// products and of a path's length.
fn same(ours: &Path, theirs: &Path) {
    let (a, b) = (words(read(ours)), words(read(theirs)));
    assert_eq!(a.len(), b.len(), "{}", ours.display());
    let mut numbers = 0;
    for (i, (x, y)) in a.iter().zip(&b).enumerate() {
        match (x.parse::<f64>(), y.parse::<f64>()) {
            (Ok(p), Ok(q)) if p.is_finite() => {
                numbers += 1;
                let near = || a[i.saturating_sub(12)..i].join(" ");
                assert!((p - q).abs() <= 1e-12 * q.abs().max(1.0), "{}: {x}, not {y}", near());
            }
            _ => assert_eq!(x, y, "{}", a[i.saturating_sub(12)..i].join(" ")),
        }
    }
    assert!(numbers > 500, "only {numbers} numbers compared");
}

/// How the static pose of a file (states in radians) meets the markers: Σ w r², with the model as scaled.
fn pose(model: &Model, motion: &Path) -> Vec<f64> {
    let states = table(motion);
    let system = System::compile(&Model { forces: Vec::new(), ..model.clone() }).unwrap();
    let mut q = system.default_state.q.clone();
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        q[m] = states.column(&format!("{}/value", c.path)).unwrap()[0];
    }
    q
}

/// Pipeline, setup file, model after scaling, model after placing markers, static pose.
const CASES: [(&str, &str, &str, &str, &str); 2] = [
    (
        "Gait2354_Simbody",
        "subject01_Setup_Scale.xml",
        "subject01_scaledOnly.osim",
        "subject01_simbody.osim",
        "subject01_static_output.mot",
    ),
    (
        "Gait10dof18musc",
        "Scale/walk_Setup_Scale.xml",
        "Scale/subject01_scaledOnly.osim",
        "Scale/subject01_from_scale.osim",
        "Scale/subject01_static_output.mot",
    ),
];

/// Markers: OpenSim seeks the static pose to 1e-4 only, which leaves angles up to 0.01 rad, and so markers on the head up
/// to 1 cm, from the minimum. Its InverseKinematicsTool at an accuracy of 1e-10, given the mean of the same frames, agrees
/// with our static pose to 7e-8 rad (gait2354) and 2e-9 rad (gait10dof18musc).
#[reference_test]
fn opensim_val_scale_from_setup_files() {
    let root = shared("reference/pipelines");
    for (pipeline, setup, scaled, placed, motion) in CASES {
        let folder = Folder::new(&format!("scale_{pipeline}"));
        copy(&root.join(pipeline).join("input"), &folder.0);
        let done = folder.soleus(&["run", setup, "--opensim-faults"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let theirs = root.join(pipeline).join("reference");
        same(&folder.0.join(scaled), &theirs.join(scaled));
        same(&folder.0.join(placed), &theirs.join(placed));

        let (a, b) = (read(&folder.0.join(placed)), read(&theirs.join(placed)));
        for (x, y) in a.markers.iter().zip(&b.markers) {
            assert_eq!(x.name, y.name);
            let d = (x.location - y.location).norm();
            assert!(d < 0.01, "{pipeline}: marker {} is {d} m from OpenSim's", x.name);
        }
        let (p, q) = (pose(&a, &folder.0.join(motion)), pose(&b, &theirs.join(motion)));
        for (x, y) in p.iter().zip(&q) {
            assert!((x - y).abs() < 0.02, "{pipeline}: {x} {y}");
        }
    }
}

/// Uneven factors, wrap objects, couplers, constraints and Millard's muscles; the two steps of the example one after the
/// other.
#[reference_test]
fn opensim_val_scale_rajagopal() {
    let root = shared("reference/pipelines/Rajagopal_walk");
    let folder = Folder::new("scale_rajagopal");
    copy(&root.join("input"), &folder.0);
    for setup in ["Scale/scale_setup_walk_scaleOnly.xml", "Scale/scale_setup_walk.xml"] {
        let done = folder.soleus(&["run", setup, "--opensim-faults"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    let file = "Scale/subject_scaled_walk.osim";
    same(&folder.0.join(file), &root.join("reference").join(file));
}

#[test]
fn analytic_factors_by_hand_scale_bodies_and_masses() {
    let folder = Folder::new("scale_by_hand");
    let done = folder.soleus(&[
        "scale",
        "--model",
        LEG,
        "--factor",
        "shank=1.1",
        "--mass",
        "20",
        "--out",
        "new.osim",
    ]);
    done.is_done();
    let (old, new) = (read(Path::new(LEG)), read(&folder.0.join("new.osim")));
    assert!((new.total_mass() - 20.0).abs() < 1e-12);
    let of = |m: &Model, name: &str| m.bodies.iter().find(|b| b.name == name).cloned().unwrap();
    let (a, b) = (of(&old, "shank"), of(&new, "shank"));
    assert!((b.mass_center - a.mass_center * 1.1).norm() < 1e-15);
    // The shank alone grows by 1.1³ before all masses are brought to the wanted sum.
    let factor = 20.0 / (old.total_mass() + a.mass * (1.1f64.powi(3) - 1.0));
    assert!((b.mass - a.mass * 1.1f64.powi(3) * factor).abs() < 1e-12);
    assert!((b.inertia.xx - a.inertia.xx * 1.1f64.powi(5) * factor).abs() < 1e-12);
}

#[test]
fn identity_unit_factors_change_nothing() {
    let folder = Folder::new("scale_unity");
    folder.soleus(&["scale", "--model", LEG, "--factor", "shank=1", "--out", "leg_swing.osim"]).is_done();
    let (mut old, mut new) = (read(Path::new(LEG)), read(&folder.0.join("leg_swing.osim")));
    for m in [&mut old, &mut new] {
        m.lines.clear();
        m.name.clear();
        m.file_version = 0;
    }
    assert_eq!(old, new);
}

/// What OpenSim leaves behind grows with its body; with the switch it does not.
#[test]
fn analytic_contact_and_points_grow_with_their_bodies() {
    let f = Folder::new("scale_forgotten");
    let spring = "<PointToPointSpring name=\"s\"><socket_body1>/ground</socket_body1><socket_body2>/bodyset/rod</socket_body2>\
        <point1>1 1 1</point1><point2>0 -0.5 0.1</point2><stiffness>10</stiffness><rest_length>0.5</rest_length></PointToPointSpring>";
    let contact = "<ContactGeometrySet name=\"contactgeometryset\"><objects><ContactSphere name=\"heel\">\
        <socket_frame>/bodyset/rod</socket_frame><location>0 -1 0</location><radius>0.03</radius></ContactSphere>\
        </objects></ContactGeometrySet></Model>";
    f.file("rod.osim", crate::common::pendulum(spring).replace("</Model>", contact));
    let scaled = |switch: &[&str]| {
        let mut args = vec!["scale", "--model", "rod.osim", "--factor", "rod=1.2,1.1,1", "--out", "new.osim"];
        args.extend(switch);
        f.soleus(&args).is_done();
        read(&f.0.join("new.osim"))
    };
    let radius = |m: &Model| match m.contact_geometries[0].shape {
        soleus_model::ContactShape::Sphere { radius } => radius,
        _ => f64::NAN,
    };
    let points = |m: &Model| match &m.forces[0].kind {
        soleus_model::ForceKind::PointToPointSpring(s) => (s.point1.to_array(), s.point2.to_array()),
        _ => ([f64::NAN; 3], [f64::NAN; 3]),
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-15);
    let ours = scaled(&[]);
    assert!(near(&ours.contact_geometries[0].location.to_array(), &[0.0, -1.1, 0.0]));
    assert!(near(&[radius(&ours)], &[0.03 * 1.1]));
    assert!(
        near(&points(&ours).0, &[1.0; 3]) && near(&points(&ours).1, &[0.0, -0.55, 0.1]),
        "{:?}",
        points(&ours)
    );
    let theirs = scaled(&["--opensim-faults"]);
    assert!(near(&theirs.contact_geometries[0].location.to_array(), &[0.0, -1.0, 0.0]));
    assert!(near(&[radius(&theirs)], &[0.03]) && near(&points(&theirs).1, &[0.0, -0.5, 0.1]));
}

#[test]
fn refuses_scaling_that_makes_no_sense() {
    let folder = Folder::new("scale_bad");
    let run = |args: &[&str], words: &[&str]| {
        let mut all = vec!["scale", "--model", LEG, "--out", "new.osim"];
        all.extend(args);
        folder.soleus(&all).is_refused(words);
        assert!(!folder.0.join("new.osim").exists() && !folder.0.join("new.osim.partial").exists());
    };
    run(&["--factor", "shank=0"], &["shank", "must be positive"]);
    run(&["--factor", "shank=-1,1,1"], &["shank", "must be positive"]);
    run(&["--factor", "shank=1,2"], &["one factor or three"]);
    run(&["--markers", "none.trc"], &["none.trc"]);
    folder.file("empty.trc", "");
    run(&["--markers", "empty.trc"], &["empty.trc"]);
}
