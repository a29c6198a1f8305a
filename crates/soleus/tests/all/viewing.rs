use crate::models::{leg, table};
use soleus::{Collected, Context, Files, Outcome, View};

#[test]
fn analytic_frames_of_a_motion() {
    let files = leg();
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let times: Vec<f64> = (0..11).map(|i| 0.1 * f64::from(i)).collect();
    let motion = table(&["hip_flexion", "knee_angle", "ankle_angle"], times.clone(), vec![times.clone(); 3]);
    let request = View {
        model: "leg.osim".into(),
        motion: Some(motion.into()),
        page: Some("leg.html".into()),
        picture: Some("leg.png".into()),
        time: Some(3.0),
        ..Default::default()
    };
    let seen = request.run(&cx).unwrap();
    assert_eq!((seen.animation.frames.len(), seen.states[10].q[0]), (11, times[10]));
    seen.write(&cx).unwrap();
    assert!(files.read("leg.html".as_ref()).unwrap().starts_with(b"<!DOCTYPE html>"));
    assert!(files.read("leg.png".as_ref()).unwrap().starts_with(b"\x89PNG"));
    let said = told.diagnostics().iter().map(|d| d.to_string()).collect::<String>();
    assert!(said.contains("the picture shows 1 s, not 3 s"), "{said}");
}

#[test]
fn issue_20_numbers_that_make_no_sense_are_refused() {
    let files = leg();
    let cx = Context::new(&files);
    let good = View { model: "leg.osim".into(), ..Default::default() };
    for wrong in [
        View { frame_rate: 0.0, ..good.clone() },
        View { frame_rate: f64::NAN, ..good.clone() },
        View { time: Some(f64::NAN), ..good.clone() },
        View { yaw_deg: f64::INFINITY, ..good.clone() },
    ] {
        let said = wrong.run(&cx).unwrap_err().to_string();
        assert!(said.contains("hint: give a finite number"), "{said}");
    }
}
