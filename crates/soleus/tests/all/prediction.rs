//! The predicted walk and the tour of a leg.

use soleus::{Context, LegTour, Memory, Outcome, PredictWalk};

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
