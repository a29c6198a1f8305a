//! Scaling without marker pairs: all markers tell the sizes of all bodies, whatever a laboratory calls them.

use crate::subject::{self, Root};
use soleus::engine::dynamics::System;
use soleus::engine::io::table::sto;
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::scaling::{FactorSettings, ManualScale};
use soleus::{Collected, Context, Disk, InverseKinematics, Memory, Model, Scaling, Severity};
use soleus_testing::{reference_test, shared};
use std::path::Path;

/// Markers of a model that stands with bent knees, under other names.
fn standing(model: &Model, name: impl Fn(&str) -> String) -> Table {
    let system = System::compile(model).unwrap();
    let mut x = system.default_state.clone();
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        x.q[m] = match c.name.as_str() {
            "pelvis_ty" => 1.0,
            n if n.starts_with("knee") => -0.2,
            n if n.starts_with("hip_flexion") => 0.15,
            _ => 0.02,
        };
    }
    let mut ws = system.workspace();
    system.compute_kinematics(&x, &mut ws);
    let places = system.markers.iter().flat_map(|m| (ws.kin.X_GB[m.body] * m.p_BS).to_array());
    let columns = places.map(|p| vec![p, p]).collect();
    let labels = model.markers.iter().map(|m| name(&m.name)).collect();
    Table::new(Element::Vec(3), labels, vec![0.0, 0.01], columns).unwrap()
}

/// A subject with given factors of pelvis, thighs and shanks.
fn grown(factors: [f64; 3]) -> Model {
    let files = Memory::new().with("subject.osim", subject::model_file(Root::Custom, ""));
    let of = |body: &str, f: f64| ManualScale { segment: body.to_string(), apply: true, scales: [f; 3] };
    let [pelvis, thigh, shank] = factors;
    let manual = vec![
        of("pelvis", pelvis),
        of("thigh_r", thigh),
        of("thigh_l", thigh),
        of("shank_r", shank),
        of("shank_l", shank),
    ];
    let request = Scaling {
        model: "subject.osim".into(),
        factors: Some(FactorSettings { manual, ..FactorSettings::default() }),
        ..Scaling::default()
    };
    request.run(&Context::new(&files)).unwrap().model
}

/// As Plug-in Gait calls them, as far as it has them.
fn plug_in_gait(name: &str) -> String {
    let (side, rest) = name.split_once('.').unwrap();
    let rest = match rest {
        "ASIS" => "ASI",
        "PSIS" => "PSI",
        "Knee" => "KNE",
        "Ankle" => "ANK",
        other => return format!("{side}.{other}"),
    };
    format!("{side}{rest}")
}

#[test]
fn analytic_sizes_of_a_subject_that_is_larger_all_over() {
    let files = Memory::new()
        .with("subject.osim", subject::model_file(Root::Custom, ""))
        .with("static.sto", sto::write_typed(&standing(&grown([1.15; 3]), plug_in_gait)));
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = Scaling { mass: Some(80.0), ..Scaling::of_static_trial("subject.osim", "static.sto") };
    let found = request.run(&cx).unwrap();
    // Nothing pulls elsewhere: all segments have one size, and the markers are where the model has them.
    for f in &found.factors().unwrap().0[1..] {
        assert!(f.to_array().iter().all(|x| (x - 1.15).abs() < 1e-4), "{f:?}");
    }
    assert!(found.sizes.as_ref().unwrap().converged && found.sizes.as_ref().unwrap().rms < 1e-5);
    assert!((found.model.total_mass() - 80.0).abs() < 1e-9);
    // The model has the names of the laboratory.
    assert!(found.model.markers.iter().any(|m| m.name == "RKNE"));
    assert!(!found.model.markers.iter().any(|m| m.name == "R.Knee"));
    assert!(told.notes().iter().any(|n| n.contains("RASI = R.ASIS")), "{:?}", told.notes());
    assert!(told.diagnostics().is_empty(), "{:?}", told.diagnostics());
}

/// A subject who walks through the laboratory in place of standing: markers were placed on the mean of all frames, tens of centimeters off.
#[test]
fn issue_everyday_a_trial_in_which_the_subject_moves() {
    let model = grown([1.1; 3]);
    let system = System::compile(&model).unwrap();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    let times: Vec<f64> = (0..40).map(|i| 0.05 * f64::from(i)).collect();
    let mut columns = vec![Vec::new(); 3 * model.markers.len()];
    for (row, t) in times.iter().enumerate() {
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            x.q[m] = match c.name.as_str() {
                "pelvis_tx" => 1.2 * t,
                "pelvis_ty" => 1.0,
                n if n.starts_with("knee") => -0.4 - 0.3 * (6.0 * t).sin(),
                n if n.starts_with("hip_flexion") => 0.3 * (6.0 * t).cos(),
                _ => 0.02,
            };
        }
        system.compute_kinematics(&x, &mut ws);
        for (k, m) in system.markers.iter().enumerate() {
            let p = (ws.kin.X_GB[m.body] * m.p_BS).to_array();
            // Two markers are seen before the subject is in view.
            let is_seen = row >= 8 || k < 2;
            (0..3).for_each(|i| columns[3 * k + i].push(if is_seen { p[i] } else { f64::NAN }));
        }
    }
    let labels = model.markers.iter().map(|m| m.name.clone()).collect();
    let walk = Table::new(Element::Vec(3), labels, times, columns).unwrap();
    let files = Memory::new()
        .with("subject.osim", subject::model_file(Root::Custom, ""))
        .with("walk.sto", sto::write_typed(&walk));
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let found = Scaling::of_static_trial("subject.osim", "walk.sto").run(&cx).unwrap();
    for f in &found.factors().unwrap().0[1..] {
        assert!(f.to_array().iter().all(|x| (x - 1.1).abs() < 1e-3), "{f:?}");
    }
    for (own, known) in found.model.markers.iter().zip(&model.markers) {
        assert!(
            (own.location - known.location).norm() < 1e-3,
            "{}: {:?}",
            own.name,
            own.location - known.location
        );
    }
    assert!(told.notes().iter().any(|n| n.contains("over 8 poses")), "{:?}", told.notes());
}

/// Segments are thought to be of one size, with 3 % of difference, and markers to be 15 mm off, so that a thigh that is longer than the rest is
/// found longer, and not quite as long.
#[test]
fn identity_a_long_thigh_is_found() {
    let files = Memory::new()
        .with("subject.osim", subject::model_file(Root::Custom, ""))
        .with("static.sto", sto::write_typed(&standing(&grown([1.0, 1.1, 1.0]), str::to_string)));
    let found = Scaling::of_static_trial("subject.osim", "static.sto").run(&Context::new(&files)).unwrap();
    let factors = &found.factors().unwrap().0;
    let y = |name: &str| factors[found.model.bodies.iter().position(|b| b.name == name).unwrap()].y;
    assert!(y("thigh_r") > 1.06 && y("thigh_r") < 1.101, "{}", y("thigh_r"));
    assert_eq!(y("thigh_r"), y("thigh_l"));
    assert!((y("shank_r") - 1.0).abs() < 0.03 && (y("pelvis") - 1.0).abs() < 0.045, "{factors:?}");
}

#[test]
fn identity_scaling_that_changes_nothing_says_so() {
    let files = Memory::new().with("subject.osim", subject::model_file(Root::Custom, ""));
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = Scaling {
        model: "subject.osim".into(),
        factors: Some(FactorSettings::default()),
        ..Scaling::default()
    };
    request.run(&cx).unwrap();
    let warned = told.diagnostics();
    assert!(warned.iter().any(|d| d.message.contains("had no effect") && d.severity == Severity::Warning));
}

#[test]
fn identity_unknown_names_are_listed_with_the_nearest() {
    let files = Memory::new().with("subject.osim", subject::model_file(Root::Custom, "")).with(
        "static.sto",
        sto::write_typed(&standing(&grown([1.05; 3]), |n| match n {
            "R.Knee" => "R.Kneee".to_string(),
            "L.Knee" => "Joe".to_string(),
            n => n.to_string(),
        })),
    );
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let request = Scaling::of_static_trial("subject.osim", "static.sto");
    request.run(&cx).unwrap();
    let notes = told.notes();
    assert!(
        notes.iter().any(|n| n == "marker `R.Kneee` is not in the model; the nearest is `R.Knee`"),
        "{notes:?}"
    );
    assert!(notes.iter().any(|n| n == "marker `Joe` is not in the model"), "{notes:?}");
    // With a map both are used.
    let map = [["R.Kneee", "R.Knee"], ["Joe", "L.Knee"]].map(|p| p.map(String::from)).to_vec();
    let mapped = Scaling { map, ..request }.run(&cx).unwrap();
    assert!(mapped.model.markers.iter().any(|m| m.name == "Joe"));
    assert!((mapped.factors().unwrap().0[1].x - 1.05).abs() < 1e-4);
}

/// RMS of the markers of a trial, m.
fn rms(cx: &Context, model: impl Into<soleus::ModelSource>, markers: &Path) -> f64 {
    let request =
        InverseKinematics { model: model.into(), markers: markers.into(), ..InverseKinematics::default() };
    request.run(cx).unwrap().trial.summary.rms
}

/// Generic model, marker set if it has none, static trial, trial, and the model that somebody scaled with a setup.
fn check_trial(generic: &str, marker_set: Option<&str>, still: &str, trial: &str, reference: &str) {
    let at = |f: &str| Path::new(shared!()).join(f);
    let files = Disk::new();
    let cx = Context::new(&files);
    let request =
        Scaling { marker_set: marker_set.map(at), ..Scaling::of_static_trial(at(generic), at(still)) };
    let found = request.run(&cx).unwrap();
    let ours = rms(&cx, found.document, &at(trial));
    let theirs = rms(&cx, at(reference), &at(trial));
    assert!(ours <= theirs, "{:.2} mm, {:.2} mm with {reference}", 1e3 * ours, 1e3 * theirs);
}

#[reference_test]
fn opensim_val_markers_of_gait2354_fit_as_with_its_setup() {
    let at = |f: &str| format!("reference/pipelines/Gait2354_Simbody/input/{f}");
    let [generic, set, still, trial, reference] = [
        "gait2354_simbody.osim",
        "gait2354_Scale_MarkerSet.xml",
        "subject01_static.trc",
        "subject01_walk1.trc",
        "subject01_simbody.osim",
    ]
    .map(at);
    check_trial(&generic, Some(&set), &still, &trial, &reference);
}

/// The laboratory has other names than the generic model.
#[reference_test]
fn opensim_val_markers_of_rajagopal_fit_as_with_its_setup() {
    let at = |f: &str| format!("reference/pipelines/Rajagopal_walk/{f}");
    let [generic, still, trial, reference] = [
        "input/generic_unscaled.osim",
        "input/ExpData/static_walk_2.trc",
        "input/ExpData/motion_capture_walk.trc",
        "reference/Scale/subject_scaled_walk.osim",
    ]
    .map(at);
    check_trial(&generic, None, &still, &trial, &reference);
}

/// There is no static trial: the walk itself tells the sizes.
#[reference_test("data/walking")]
fn opensim_val_markers_of_arnold_subject02_fit_as_with_its_model() {
    let walk = "data/walking/arnold_subject02/marker_trajectories.trc";
    check_trial(
        "reference/pipelines/Rajagopal_walk/input/generic_unscaled.osim",
        None,
        walk,
        walk,
        "data/walking/arnold_subject02/subject02.osim",
    );
}

#[reference_test("data/running")]
fn opensim_val_markers_of_hamner2013_subject01_fit_as_with_its_model() {
    let at = |f: &str| format!("data/running/hamner2013_subject01/{f}");
    let model = at("FullBodyModel_SimpleArms_Hamner2010_HPLMarkers_subject01_v191.osim");
    check_trial(&model, None, &at("Static_FJC.trc"), &at("Run_400_02.trc"), &model);
}
