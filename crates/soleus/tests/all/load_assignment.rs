//! Plates without a setup file: on the reference trials they are assigned to the feet that the reference `ExternalLoads` files name.

use crate::subject::{self, Root};
use soleus::engine::io::table::{sto, trc};
use soleus::engine::math::Table;
use soleus::engine::model::force::{Force, ForceKind};
use soleus::inputs::{loads, model, table};
use soleus::{AssignLoads, Context, Disk, InverseDynamics, InverseKinematics, Memory, Outcome};
use soleus_testing::{reference_test, shared};
use std::path::{Path, PathBuf};

const DATA: &str = shared!("data");

fn data(file: &str) -> PathBuf {
    Path::new(DATA).join(file)
}

/// Sum of the forces on a body at a row, N.
fn on_body(forces: &[Force], body: &str, row: usize) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for f in forces {
        let ForceKind::ExternalForce(e) = &f.kind else { continue };
        if let Some(columns) = e.force.as_ref().filter(|_| e.applied_to_body_label == body) {
            sum.iter_mut().zip(columns).for_each(|(s, c)| *s += c[row]);
        }
    }
    sum
}

/// Checks the forces on both feet in every row against those of an `ExternalLoads` file.
fn check(model_file: &str, motion: &str, plates: &str, reference: &str, stances: usize) -> Option<f64> {
    let files = Disk::new();
    let cx = Context::new(&files);
    let request = AssignLoads {
        model: data(model_file).into(),
        motion: data(motion).into(),
        loads: data(plates).into(),
        output: None,
    };
    let found = request.run(&cx).unwrap();
    let model = model::read(&cx, &data(model_file).into()).unwrap();
    let wanted = loads::read(&cx, &model, Some(&data(reference)), None, None).unwrap();
    assert_eq!(found.contacts.iter().filter(|c| c.foot.is_some()).count(), stances, "{}", found.report());
    assert!(found.contacts.iter().all(|c| !c.is_shared), "{}", found.report());
    let ForceKind::ExternalForce(first) = &found.forces[0].kind else { panic!("an external force") };
    for row in 0..first.time.len() {
        for body in ["calcn_r", "calcn_l"] {
            assert_eq!(on_body(&found.forces, body, row), on_body(&wanted, body, row), "row {row}, {body}");
        }
    }
    found.mass
}

#[reference_test("data/walking")]
fn identity_plates_of_rajagopal_walk() {
    let folder = |f: &str| format!("walking/rajagopal_3d/{f}");
    let [model, motion, plates, reference] =
        ["subject_walk_scaled.osim", "coordinates.mot", "grf_walk.mot", "grf_walk.xml"].map(folder);
    let mass = check(&model, &motion, &plates, &reference, 3);
    // 85.07 kg in the scale setup of the study; the plates are as good as a percent.
    assert!(mass.is_some_and(|m| (m - 85.07).abs() < 0.9), "{mass:?}");
}

#[reference_test("data/walking")]
fn identity_plates_of_gait2354() {
    let folder = |f: &str| format!("walking/gait2354_subject01/{f}");
    let [model, motion, plates, reference] = [
        "gait2354_simbody.osim",
        "subject01_walk1_ik.mot",
        "subject01_walk1_grf.mot",
        "subject01_walk1_grf.xml",
    ]
    .map(folder);
    check(&model, &motion, &plates, &reference, 3);
}

#[reference_test("data/walking")]
fn identity_plates_of_arnold_subject02() {
    let folder = |f: &str| format!("walking/arnold_subject02/{f}");
    let [model, motion, plates, reference] =
        ["subject02.osim", "subject02_walk3_ik_solution.mot", "ground_reaction.mot", "external_loads.xml"]
            .map(folder);
    check(&model, &motion, &plates, &reference, 12);
}

/// The file has the same labels for both plates, so that no `ExternalLoads` file can tell them apart; the right one comes first. Angles
/// of every fifth frame are enough to see feet.
#[reference_test("data/running")]
fn identity_plates_of_hamner2013_subject01() {
    let folder = |f: &str| data(&format!("running/hamner2013_subject01/{f}"));
    let files = Disk::new();
    let cx = Context::new(&files);
    let model = folder("FullBodyModel_SimpleArms_Hamner2010_HPLMarkers_subject01_v191.osim");
    let (markers, _) = table::read_markers(&cx, &folder("Run_400_02.trc").into()).unwrap();
    let rows: Vec<usize> = (0..markers.rows()).step_by(5).collect();
    let times = rows.iter().map(|&r| markers.times()[r]).collect();
    let columns = markers.columns().iter().map(|c| rows.iter().map(|&r| c[r]).collect()).collect();
    let markers = markers.with_rows(times, columns).unwrap();
    assert!(trc::write(&markers, "few.trc").is_ok());
    let angles = InverseKinematics {
        model: model.clone().into(),
        markers: markers.into(),
        ..InverseKinematics::default()
    };
    let motion = angles.run(&cx).unwrap().trial.coordinates;
    let request = AssignLoads {
        model: model.into(),
        motion: motion.into(),
        loads: folder("Run_400_02_newCOP3.mot").into(),
        output: None,
    };
    let found = request.run(&cx).unwrap();
    assert_eq!(found.bodies, ["calcn_r", "calcn_l"]);
    let feet: Vec<_> = found.contacts.iter().map(|c| (c.plate, c.foot)).collect();
    let wanted: Vec<_> = (0..15).map(|i| (i % 2, Some(i % 2))).collect();
    assert_eq!(feet, wanted, "{}", found.report());
}

/// Joint moments are the same whether the loads come as a table or as the file that is written for it.
#[reference_test("data/walking")]
fn identity_moments_with_a_table_and_with_its_file() {
    let folder = |f: &str| data(&format!("walking/gait2354_subject01/{f}"));
    let files = Memory::new();
    for name in ["gait2354_simbody.osim", "subject01_walk1_ik.mot", "subject01_walk1_grf.mot"] {
        soleus::Files::write(&files, Path::new(name), &std::fs::read(folder(name)).unwrap()).unwrap();
    }
    let cx = Context::new(&files);
    let assigned = AssignLoads {
        model: "gait2354_simbody.osim".into(),
        motion: "subject01_walk1_ik.mot".into(),
        loads: "subject01_walk1_grf.mot".into(),
        output: Some("out/loads.xml".into()),
    };
    assigned.run(&cx).unwrap().write(&cx).unwrap();
    let moments = |loads: &str| {
        let request = InverseDynamics {
            model: "gait2354_simbody.osim".into(),
            motion: "subject01_walk1_ik.mot".into(),
            loads: Some(loads.into()),
            from: Some(0.8),
            to: Some(1.0),
            ..InverseDynamics::default()
        };
        request.run(&cx).unwrap().loads.generalized_forces
    };
    let (table, file) = (moments("subject01_walk1_grf.mot"), moments("out/loads.xml"));
    assert_eq!(table, file);
    assert!(table.column("knee_angle_r_moment").unwrap().iter().any(|x| x.abs() > 10.0));
}

/// Recordings of one subject for the pipeline without a file, and what comes of them.
struct Lab {
    folder: &'static str,
    model: &'static str,
    still: Option<(&'static str, f64)>,
    trial: [&'static str; 2],
    /// Largest marker RMS, mm, and largest residual force, part of the weight (RMS).
    limits: [f64; 2],
}

/// Angles, moments, muscle forces and the summary page, without any XML written by hand.
fn check_lab(lab: &Lab) {
    use soleus::pipeline::{FromTrials, RecordedTrial};
    let mut files = Memory::new();
    let mut kept = |name: &str| {
        let bytes = std::fs::read(Path::new(shared!()).join(lab.folder).join(name)).unwrap();
        files = std::mem::take(&mut files).with(name, bytes);
        PathBuf::from(name)
    };
    let [markers, loads] = lab.trial.map(&mut kept);
    let recorded = FromTrials {
        model: kept(lab.model),
        still: lab.still.map(|(name, _)| kept(name)),
        mass: lab.still.map(|s| s.1),
        trials: vec![RecordedTrial { markers, loads: Some(loads) }],
        ..FromTrials::default()
    };
    let cx = Context::new(&files);
    let file = recorded.write(&cx).unwrap();
    let done = soleus::Pipeline::of_file(file).run(&cx).unwrap();
    done.verdict().unwrap_or_else(|e| panic!("{e}: {:?}", done.steps));
    let name = Path::new(lab.trial[0]).file_stem().unwrap().to_str().unwrap();
    let folder = Path::new("results").join(name);
    let table = |file: String| {
        let bytes = soleus::Files::read(&files, &folder.join(&file)).unwrap();
        soleus::engine::io::table::read(&bytes, &file).0.unwrap()
    };
    let rms = |c: &[f64]| (c.iter().map(|x| x * x).sum::<f64>() / c.len() as f64).sqrt();
    let errors = table(format!("{name}_ik_marker_errors.sto"));
    let marker_mm = 1e3 * rms(errors.column("marker_error_RMS").unwrap());
    assert!(marker_mm < lab.limits[0], "{}: {marker_mm} mm", lab.folder);
    // Both feet have their plates, and carry the body.
    let assigned = soleus::Files::read(&files, &folder.join("loads.xml")).unwrap();
    let assigned = String::from_utf8(assigned).unwrap();
    for body in ["calcn_r", "calcn_l"] {
        assert!(assigned.contains(&format!("<applied_to_body>{body}<")), "{}: {assigned}", lab.folder);
    }
    let moments = table("id.sto".to_string());
    let (model, _) = soleus::engine::io::osim::read_model(
        &soleus::Files::read(
            &files,
            if lab.still.is_some() { Path::new("results/subject.osim") } else { Path::new(lab.model) },
        )
        .unwrap(),
        "subject.osim",
    );
    let residuals = soleus::engine::tools::quality::residuals(&model.unwrap(), &moments).unwrap();
    let part = residuals.force_rms / residuals.weight;
    assert!(part < lab.limits[1], "{}: residual force {part}", lab.folder);
    let activations = table(format!("{name}_StaticOptimization_activation.sto"));
    let soleus_r = activations.column("soleus_r").unwrap();
    assert!(
        soleus_r.iter().all(|a| (0.0..=1.0).contains(a)) && soleus_r.iter().any(|a| *a > 0.3),
        "{}",
        lab.folder
    );
    for joint in ["Hip", "Knee", "Ankle"] {
        for what in ["angle", "moment", "power"] {
            assert!(done.page.contains(&format!("{joint} {what}")), "{}: no {joint} {what}", lab.folder);
        }
    }
    // Residuals beside the limits for plain inverse dynamics.
    for words in ["of the largest external force", "Hicks et al. 2015)", "Plantarflexors"] {
        assert!(done.page.contains(words), "{}: no `{words}`", lab.folder);
    }
}

/// Markers of a generic model scaled by its static trial: 18.3 mm where the authors' setup leaves 17.0; residuals 6.3 % of the weight.
#[reference_test("reference/pipelines/Rajagopal_walk")]
fn identity_from_trials_of_rajagopal() {
    check_lab(&Lab {
        folder: "reference/pipelines/Rajagopal_walk/input",
        model: "generic_unscaled.osim",
        still: Some(("ExpData/static_walk_2.trc", 85.07)),
        trial: ["ExpData/motion_capture_walk.trc", "ExpData/grf_walk.mot"],
        limits: [19.0, 0.07],
    });
}

/// A model that its authors have scaled: 22.4 mm, 8.0 % of the weight.
#[reference_test("data/walking/arnold_subject02")]
fn identity_from_trials_of_arnold() {
    check_lab(&Lab {
        folder: "data/walking/arnold_subject02",
        model: "subject02.osim",
        still: None,
        trial: ["marker_trajectories.trc", "ground_reaction.mot"],
        limits: [23.0, 0.09],
    });
}

/// Running: 12.4 mm; 17.9 % of the weight, since a filter of 6 Hz smooths the impacts.
#[reference_test("data/running/hamner2013_subject01")]
fn identity_from_trials_of_hamner() {
    check_lab(&Lab {
        folder: "data/running/hamner2013_subject01",
        model: "FullBodyModel_SimpleArms_Hamner2010_HPLMarkers_subject01_v191.osim",
        still: Some(("Static_FJC.trc", 73.1)),
        trial: ["Run_400_02.trc", "Run_400_02_newCOP3.mot"],
        limits: [13.0, 0.19],
    });
}

/// From a static trial, a trial, its plates, a mass and a generic model to moments and muscle forces, with no XML but the markers of the model.
#[reference_test]
fn identity_from_trials_to_muscles_in_one_call() {
    use soleus::pipeline::{FromTrials, RecordedTrial};
    let from = |f: &str| Path::new(shared!("reference/pipelines/Gait2354_Simbody/input")).join(f);
    let files = Memory::new();
    let names = [
        "gait2354_simbody.osim",
        "gait2354_Scale_MarkerSet.xml",
        "subject01_static.trc",
        "subject01_walk1.trc",
        "subject01_walk1_grf.mot",
    ];
    for name in names {
        soleus::Files::write(&files, Path::new(name), &std::fs::read(from(name)).unwrap()).unwrap();
    }
    let cx = Context::new(&files);
    let [model, set, still, markers, loads] = names.map(PathBuf::from);
    let norm = "percent,knee_angle_moment,sd_knee_angle_moment\n0,0.3,0.1\n100,0.3,0.1\n";
    soleus::Files::write(&files, Path::new("norm.csv"), norm.as_bytes()).unwrap();
    let recorded = FromTrials {
        normative: Some("norm.csv".into()),
        model,
        still: Some(still),
        marker_set: Some(set),
        mass: Some(72.6),
        trials: vec![RecordedTrial { markers, loads: Some(loads) }],
        ..FromTrials::default()
    };
    let file = recorded.write(&cx).unwrap();
    let done = soleus::Pipeline::of_file(file).run(&cx).unwrap();
    done.verdict().unwrap();
    let steps: Vec<&str> = done.steps.iter().map(|s| s.step.as_str()).collect();
    let walk = |s: &str| format!("subject01_walk1 {s}");
    assert_eq!(
        steps,
        ["scale".to_string(), walk("ik"), walk("filter"), walk("loads"), walk("id"), walk("so")]
    );
    for name in [
        "subject.osim",
        "subject01_walk1/id.sto",
        "subject01_walk1/subject01_walk1_StaticOptimization_force.sto",
    ] {
        assert!(soleus::Files::is_file(&files, &Path::new("results").join(name)), "{name}");
    }
    // The user's table is the band beside the moments; without a curve of the same name there is none.
    assert!(done.page.contains("norm.csv, mean ± SD"));
    assert_eq!(done.page.matches("class=\"band\"").count(), 1, "one band, beside the moment of the knee");
}

/// Data next to the file of the loads go before a table of the same name in the current folder, which may be that of another trial.
#[test]
fn issue_everyday_data_next_to_their_loads() {
    let lab = &subject::PLAIN;
    let motion = sto::write(&subject::motion(Root::Custom, lab, 60), sto::Digits::Shortest);
    let plates = subject::plates(lab, 60);
    let mut others = plates.clone();
    for i in 0..others.columns().len() {
        others.column_at_mut(i).unwrap().iter_mut().for_each(|x| *x *= 2.0);
    }
    let written = |t: &Table| sto::write(t, sto::Digits::Shortest);
    let files = Memory::new()
        .with("subject.osim", subject::model_file(Root::Custom, ""))
        .with("walk.sto", motion)
        .with("trial/loads.xml", subject::loads_file())
        .with("trial/plates.sto", written(&plates))
        .with("plates.sto", written(&others));
    let moments = |files: &Memory| {
        let request = InverseDynamics {
            model: "subject.osim".into(),
            motion: "walk.sto".into(),
            loads: Some("trial/loads.xml".into()),
            ..InverseDynamics::default()
        };
        request.run(&Context::new(files)).unwrap().loads.generalized_forces
    };
    let beside = moments(&files);
    // Without those, the ones in the current folder are found as before.
    soleus::Files::remove(&files, Path::new("trial/plates.sto")).unwrap();
    assert!(moments(&files).columns() != beside.columns());
    let only = files.with("trial/plates.sto", written(&plates));
    soleus::Files::remove(&only, Path::new("plates.sto")).unwrap();
    assert_eq!(moments(&only).columns(), beside.columns());
}
