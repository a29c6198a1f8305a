use crate::models::{leg, table};
use soleus::{Context, Evaluate, Files, FitPaths, Generate, Outcome};

/// The model with polynomials has the lengths of the model with paths, as well as the fit says.
#[test]
fn identity_fitted_paths_have_the_lengths_of_paths() {
    let files = leg();
    let cx = Context::new(&files);
    // Small: around one pose, low order.
    let mut pose = table(
        &["hip_flexion", "knee_angle", "ankle_angle"],
        vec![0.0],
        vec![vec![20.0], vec![-30.0], vec![5.0]],
    );
    pose.in_degrees = Some(true);
    let request = FitPaths {
        model: "leg.osim".into(),
        coordinates: Some(pose.into()),
        margin: 2f64.to_radians(),
        max_order: 4,
        output: Some("fitted.osim".into()),
        ..Default::default()
    };
    let fitted = request.run(&cx).unwrap();
    assert_eq!(fitted.paths.len(), 8);
    fitted.write(&cx).unwrap();
    assert!(files.is_file("fitted.osim".as_ref()));
    let length = |model: &str| {
        let state = soleus::evaluation::NamedState::default()
            .with("hip_flexion", 20f64.to_radians(), 0.0)
            .with("knee_angle", -30f64.to_radians(), 0.0)
            .with("ankle_angle", 5f64.to_radians(), 0.0);
        let found = Evaluate { model: model.into(), states: vec![state].into(), ..Default::default() }
            .run(&cx)
            .unwrap();
        let muscles = found.states[0].values["muscles"].as_object().unwrap().clone();
        muscles.values().map(|m| m[0].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for ((a, b), f) in length("leg.osim").iter().zip(length("fitted.osim")).zip(&fitted.paths) {
        // The error that the fit states on poses of its own, and as much again for this one.
        assert!((a - b).abs() <= 2.0 * f.length_error[1] + 1e-6, "{a} {b} {f:?}");
    }
}

#[test]
fn issue_20_numbers_that_make_no_sense_are_refused() {
    let files = leg();
    let cx = Context::new(&files);
    let good = FitPaths { model: "leg.osim".into(), ..Default::default() };
    for wrong in [
        FitPaths { length_tolerance: f64::NAN, ..good.clone() },
        FitPaths { moment_arm_tolerance: 0.0, ..good.clone() },
        FitPaths { margin: f64::INFINITY, ..good.clone() },
        FitPaths { max_order: 0, ..good.clone() },
        // Took hours to say nothing, here and in `generate`.
        FitPaths { max_order: 1 << 32, ..good.clone() },
    ] {
        let said = wrong.run(&cx).unwrap_err().to_string();
        assert!(said.contains("hint: give"), "{said}");
    }
    let source = Generate { model: "leg.osim".into(), fit_paths: Some(1 << 32), ..Default::default() };
    let said = source.run(&cx).unwrap_err().to_string();
    assert!(said.contains("hint: give an order from 1 to 40"), "{said}");
}
