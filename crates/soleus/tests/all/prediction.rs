//! The predicted walk and the tour of a leg.

use soleus::addition::Part;
use soleus::engine::control::gait::Walker;
use soleus::engine::control::musculoskeletal::ModelProblem;
use soleus::engine::model::ForceKind;
use soleus::optimal_control::StudySource;
use soleus::prediction::PredictedWalk;
use soleus::{Add, Context, Files, LegTour, Memory, Outcome, Predict, PredictWalk, Solve};
use std::path::Path;
use std::sync::Arc;

/// The walk repeats itself, obeys the equations, and takes the time that people take: Winter's adults need 1.14 s for a cycle at 1.325 m/s.
#[test]
fn identity_a_walk_is_predicted_without_a_disk() {
    let files = Memory::new();
    let request = PredictWalk {
        page: Some("walk.html".into()),
        picture: Some("walk.svg".into()),
        ..Default::default()
    };
    let found = request.run(&Context::new(&files)).unwrap();
    assert!((0.9..1.4).contains(&found.walk.duration()), "a cycle of {} s", found.walk.duration());
    assert!((0.5..0.75).contains(&found.walk.stance()), "stance {}", found.walk.stance());
    assert!(found.outcome.solution.certificate.constraint_violation < 1e-6);
    assert_eq!(found.seconds, 0.0, "there is no clock");
    let names: Vec<_> = found.artifacts().iter().map(|a| a.path.clone()).collect();
    assert_eq!(names, ["walk.html", "walk.svg"].map(std::path::PathBuf::from));
    assert!(files.names().is_empty(), "a run writes nothing");
    found.write(&Context::new(&files)).unwrap();
    assert_eq!(files.names().len(), 2);
}

/// From a walk that was kept the same walk is found again, and the one on a slope with springs in fewer iterations. Over a cycle the
/// mean ground force carries the weight: its part along the slope is sin 2° of it, the other cos 2°.
#[test]
fn identity_a_walk_is_found_from_another() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let first = PredictWalk::default().run(&cx).unwrap();
    let objective = |walk: &PredictedWalk| walk.outcome.solution.objective;
    Files::write(&files, Path::new("walk.json"), first.kept().as_bytes()).unwrap();
    let start = Some("walk.json".into());
    let again = PredictWalk { start: start.clone(), ..Default::default() }.run(&cx).unwrap();
    // Both are solved to an optimality error of 1e-4, which enters the objective with its square.
    assert!(
        (objective(&again) / objective(&first) - 1.0).abs() < 1e-4,
        "{} {}",
        objective(&again),
        objective(&first)
    );
    assert!(2 * again.outcome.iterations < first.outcome.iterations, "{}", again.outcome.iterations);

    let request = PredictWalk { slope_deg: 2.0, ankle_spring: 50.0, start, ..Default::default() };
    let uphill = request.run(&cx).unwrap();
    assert!(uphill.outcome.iterations < first.outcome.iterations, "{}", uphill.outcome.iterations);
    assert!(uphill.outcome.solution.certificate.constraint_violation < 1e-6);
    assert!(uphill.outcome.goal("effort") > first.outcome.goal("effort"));
    let n = uphill.walk.times.len() - 1;
    let mean = |axis: usize| {
        uphill.walk.forces.iter().flat_map(|f| &f[..n]).map(|f| f[axis]).sum::<f64>() / n as f64
    };
    let (sin, cos) = 2f64.to_radians().sin_cos();
    // Backward Euler leaves a mean acceleration of the mass centre, of first order in the interval; without a slope it is 8e-4 of the weight.
    assert!((mean(0) - sin).abs() < 2e-3 && (mean(1) - cos).abs() < 2e-3, "{} {}", mean(0), mean(1));
    let (model, _) = soleus::engine::io::osim::read_model(uphill.model_text().as_bytes(), "walker.osim");
    let model = model.unwrap();
    assert!((model.gravity.x / model.gravity.norm() + sin).abs() < 1e-12);
    let springs = model.forces.iter().filter(|f| match &f.kind {
        ForceKind::SpringGeneralizedForce(s) => s.stiffness == 50.0,
        _ => false,
    });
    assert_eq!(springs.count(), 2);
}

/// Conditions outside the range, and files that are no walk of this walker, are refused.
#[test]
fn issue_21_conditions_of_a_walk_are_checked() {
    let kept = |times: &str, states: &str| {
        format!(
            "{{\"conditions\":{{\"speed\":1.3,\"slope_deg\":0.0,\"ankle_spring\":0.0}},\"times\":{times},\"states\":{states},\"controls\":[]}}"
        )
    };
    let files = Memory::new()
        .with("empty.json", "{}")
        .with("times.json", kept("[0.0,0.0]", "[]"))
        .with("states.json", kept("[0.0,1.0]", "[[\"x\",[1.0,2.0]]]"));
    let refused = |request: PredictWalk, words: &str| {
        let found = request.run(&Context::new(&files)).map(|_| ()).unwrap_err().to_string();
        assert!(found.contains(words), "{found}");
    };
    let walk = PredictWalk::default;
    refused(PredictWalk { slope_deg: 30.0, ..walk() }, "−10° to 10°");
    refused(PredictWalk { slope_deg: f64::NAN, ..walk() }, "−10° to 10°");
    refused(PredictWalk { ankle_spring: -1.0, ..walk() }, "0 to 1000");
    refused(PredictWalk { start: Some("empty.json".into()), ..walk() }, "conditions");
    refused(PredictWalk { start: Some("times.json".into()), ..walk() }, "times do not increase");
    refused(PredictWalk { start: Some("states.json".into()), ..walk() }, "do not match the walker");
}

/// A speed at which nobody walks is refused, with those at which the model does.
#[test]
fn issue_trust_speeds_without_a_walk_are_refused() {
    let files = Memory::new();
    for speed in [f64::NAN, 0.0, -1.0, 9.0] {
        let wrong = PredictWalk { speed, ..Default::default() }.run(&Context::new(&files));
        assert!(wrong.is_err_and(|e| e.to_string().contains("0.5 to 2 m/s")), "{speed}");
    }
}

/// Without a clock nothing is timed; the rest of the tour is there.
#[test]
fn identity_tour_of_a_leg() {
    let files = Memory::new();
    let tour = LegTour.run(&Context::new(&files)).unwrap();
    assert!(
        tour.text.contains("Exact derivatives") && !tour.text.contains("on this machine"),
        "{}",
        tour.text
    );
}

const GAIT: &[u8] = include_bytes!("../../../../models/gait2d.osim");

/// One word of a study stands for all pairs of names: those of the planar walker, found from names and kinematics.
#[test]
fn identity_symmetry_is_derived_from_the_model() {
    let files = Memory::new().with("gait.osim", GAIT);
    let cx = Context::new(&files);
    let (model, system) = soleus::inputs::model::system(
        &cx,
        &"gait.osim".into(),
        &soleus::engine::dynamics::Options::default(),
    )
    .unwrap();
    let base = ModelProblem::new(Arc::new(model), Arc::new(system));
    let walker = Walker::new(base.clone()).unwrap();
    let mirror = &walker.mirror;
    assert!(mirror.exceptions.is_empty() && mirror.one_sided.is_empty(), "{:?}", mirror.exceptions);
    assert!(base.states[mirror.forward].ends_with("trunk_x/value"));
    assert!(base.states[walker.height].ends_with("trunk_y/value"));
    assert!(
        base.states[walker.hips[0].0].ends_with("hip_angle_r/value"),
        "{}",
        base.states[walker.hips[0].0]
    );
    for (i, &(j, sign)) in mirror.states.iter().enumerate() {
        // In a plane nothing changes its sign, and the image of the image is the thing itself.
        assert_eq!((mirror.states[j].0, sign), (i, 1.0), "{}", base.states[i]);
        assert_eq!(
            i == j,
            !base.states[i].contains("_r") && !base.states[i].contains("_l"),
            "{}",
            base.states[i]
        );
    }
    assert_eq!(mirror.pairs(true).len(), base.states.len() - 1 + base.controls.len());
    // It stands where its contacts carry it: legs of 0.441 m and 0.4428 m, a foot of 0.0702 m, knees bent a little.
    let height = walker.standing(0.0).unwrap();
    assert!((0.90..0.96).contains(&height), "{height}");
}

/// A muscle of one side alone has no mirror image; a half cycle says which, a whole one does not need it.
#[test]
fn identity_one_sided_models_walk_whole_cycles_only() {
    let files = Memory::new().with("gait.osim", GAIT);
    let cx = Context::new(&files);
    let parts: Vec<Part> =
        vec!["prosthesis coordinate=ankle_angle_r stiffness=600 damping=0.1".parse().unwrap()];
    let half = Predict { model: "gait.osim".into(), parts, study_only: true, ..Default::default() };
    let refused = half.run(&cx).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("soleus_l") && refused.contains("--whole"), "{refused}");
    let whole = Predict { whole: true, ..half }.run(&cx).unwrap();
    assert!(whole.study_text().contains("symmetry = \"cycle\""), "{}", whole.study_text());
}

/// The study of a prediction is a file that `solve` takes, and the reader reads back.
#[test]
fn identity_the_study_of_a_prediction_can_be_solved_again() {
    let files = Memory::new().with("gait.osim", GAIT);
    let cx = Context::new(&files);
    let request =
        Predict { model: "gait.osim".into(), study_only: true, output: "out".into(), ..Default::default() };
    let found = request.run(&cx).unwrap();
    found.write(&cx).unwrap();
    let posed = Solve { study: "out/gait.toml".into(), ..Default::default() }.pose(&cx).unwrap();
    assert_eq!(posed.study.clone().without_lines(), found.study);
    let strengths = found.study.help.as_ref().map(|h| (h.strength, h.strengths[0].weight));
    // 4/3 and 10 N per kg of 75 kg: what the demo has.
    assert_eq!(strengths, Some((100.0, 750.0)));
}

/// A range with its ends exchanged, of a coordinate that is not clamped, ended in a panic when left and right were compared.
#[test]
fn issue_16_ranges_that_hold_nothing() {
    let text = String::from_utf8_lossy(GAIT);
    let exchanged = text.replacen(
        "<range>-0.78539816339744828 0.78539816339744828</range>",
        "<range>1.4 0.78539816339744828</range>",
        1,
    );
    assert_ne!(exchanged, text);
    let files = Memory::new().with("gait.osim", exchanged);
    let request =
        Predict { model: "gait.osim".into(), study_only: true, output: "out".into(), ..Default::default() };
    // A study, or words.
    if let Err(e) = request.run(&Context::new(&files)) {
        assert!(!e.to_string().is_empty());
    }
}

/// Efforts by name: an unknown one is refused with the nearest, the trunk stays upright unless it is named.
#[test]
fn analytic_efforts_have_names_and_weights() {
    let files = Memory::new().with("gait.osim", GAIT);
    let cx = Context::new(&files);
    let study = |effort: &[&str]| {
        let effort = effort.iter().map(|e| e.to_string()).collect();
        Predict { model: "gait.osim".into(), effort, study_only: true, ..Default::default() }.run(&cx)
    };
    let names = |effort: &[&str]| -> Vec<(String, f64)> {
        study(effort).unwrap().study.setup.goals.iter().skip(1).map(|g| (g.name.clone(), g.weight)).collect()
    };
    let list = |l: &[(&str, f64)]| l.iter().map(|(n, w)| (n.to_string(), *w)).collect::<Vec<_>>();
    assert_eq!(names(&[]), list(&[("effort", 20.0 / 16.0), ("trunk", 0.1)]));
    assert_eq!(names(&["activations=3", "trunk=0"]), list(&[("activations", 3.0)]));
    let wrong = study(&["activation"]).map(|_| ()).unwrap_err().to_string();
    assert!(wrong.contains("the nearest name is `activations`"), "{wrong}");
}

/// Parts reach the model file: a spring on both ankles, a mass with its Steiner terms, contact spheres only once.
#[test]
fn identity_parts_are_in_the_file() {
    let files = Memory::new().with("gait.osim", GAIT);
    let cx = Context::new(&files);
    let parts: Vec<Part> = [
        "spring name=exo coordinate=ankle_angle_r stiffness=100 rest_deg=90 damping=0.5 free.stiffness=0,300",
        "mass body=foot_r mass=2 location=0.1,0,0.2 both_sides=false",
        "ligament name=band from=trunk:0,0,0 to=foot_l:0,0,0 stiffness=50 rest_length=0.3 both_sides=false",
        "torque coordinate=hip_angle_l max=40",
    ]
    .iter()
    .map(|p| p.parse().unwrap())
    .collect();
    let before = soleus::inputs::model::read(&cx, &"gait.osim".into()).unwrap();
    let request =
        Add { model: "gait.osim".into(), parts, output: Some("exo.osim".into()), ..Default::default() };
    let added = request.run(&cx).unwrap();
    added.write(&cx).unwrap();
    assert_eq!(added.free[0].components, ["/forceset/exo_r", "/forceset/exo_l"]);
    let after = soleus::inputs::model::read(&cx, &"exo.osim".into()).unwrap();
    let names: Vec<&str> = after.forces[before.forces.len()..].iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["exo_r", "exo_l", "band_l", "torque_hip_angle_l", "torque_hip_angle_r"]);
    let ForceKind::SpringGeneralizedForce(spring) = &after.forces[before.forces.len()].kind else { panic!() };
    assert_eq!((spring.stiffness, spring.viscosity), (100.0, 0.5));
    assert!((spring.rest_length - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    // Two points of mass: the inertia about the common centre is that of both about their own plus m₁m₂/(m₁+m₂) d².
    let foot = |m: &soleus::Model| m.bodies.iter().find(|b| b.name == "foot_r").cloned().unwrap();
    let (a, b) = (foot(&before), foot(&after));
    let reduced = a.mass * 2.0 / (a.mass + 2.0);
    let d = soleus::engine::math::vec3(0.1, 0.0, 0.2) - a.mass_center;
    assert!((b.mass - a.mass - 2.0).abs() < 1e-12);
    assert!((b.inertia.zz - a.inertia.zz - reduced * (d.x * d.x + d.y * d.y)).abs() < 1e-12);
    assert!((b.inertia.xz - a.inertia.xz + reduced * d.x * d.z).abs() < 1e-12);
    let wrong: Part = "spring coordinate=ankle_angel_r stiffness=1".parse().unwrap();
    let refused =
        Add { model: "gait.osim".into(), parts: vec![wrong], ..Default::default() }.run(&cx).unwrap_err();
    assert!(refused.to_string().contains("ankle_angle_r"), "{refused}");
    let wrong: Part = "spring coordinate=ankle_angle_r stiffness=1 mass=2".parse().unwrap();
    let refused =
        Add { model: "gait.osim".into(), parts: vec![wrong], ..Default::default() }.run(&cx).unwrap_err();
    assert!(refused.to_string().contains("a spring has no `mass`"), "{refused}");
}

/// A series over the weight of a goal, with help at first, ends where the study with the last weight alone does; several starts agree.
#[test]
fn identity_continuation_help_and_starts_reach_the_same_optimum() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let solve = |more: &str, starts: Option<usize>| {
        let text = format!("{}\n{more}", soleus::optimal_control::EXAMPLE);
        let mut request =
            Solve { study: StudySource::Text { path: "reach.toml".into(), text }, ..Default::default() };
        request.options.starts = starts;
        request.run(&cx).unwrap()
    };
    let series = "[help]\n[continuation]\nof = \"weight\"\ngoal = \"target\"\nvalues = [10, 1000]\n";
    let (alone, last, several) = (solve("", None), solve(series, None), solve("", Some(3)));
    // The example's own tolerance is 1e-6, its mesh is refined until errors are below 1e-4 of each state.
    let near = |a: f64| (a - alone.objective()).abs() < 1e-4 * alone.objective();
    assert!(near(last.objective()) && near(several.objective()), "{last:?} {several:?} {alone:?}");
    assert_eq!(last.continued.as_ref().map(|c| c.values.len()), Some(2));
    assert!(last.artifacts().iter().any(|a| a.path.ends_with("reach_continuation.csv")));
    assert_eq!(several.starts.iter().map(|s| s.optimum).collect::<Vec<_>>(), [1, 1, 1]);
}
