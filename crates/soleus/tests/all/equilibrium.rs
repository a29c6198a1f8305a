use crate::models::{leg, pendulum};
use soleus::evaluation::NamedState;
use soleus::{Context, Equilibrium, ErrorKind, Evaluate, Memory, Outcome};

/// A pendulum at rest hangs; a little off, it swings at √(m g c / (I + m c²)).
#[test]
fn analytic_pendulum_hangs_and_swings() {
    let files = Memory::new().with("p.osim", pendulum("p", ("2", "0.1"), ""));
    let request = Equilibrium { model: "p.osim".into(), eigenvalues: true, ..Default::default() };
    let found = request.run(&Context::new(&files)).unwrap();
    found.verdict().unwrap();
    // Forces are balanced to 1e-8 N m, and 9.8 N m hold one radian.
    assert!(found.rest.state.q[0].abs() < 2e-9);
    let omega = (2.0 * 9.80665 * 0.5 / (0.1 + 2.0 * 0.25f64)).sqrt();
    let values = found.eigenvalues.unwrap();
    assert_eq!(values.len(), 2);
    for v in values {
        assert!(v.re.abs() < 1e-7 && (v.im.abs() - omega).abs() < 1e-7, "{v:?}");
    }
}

/// Where the leg is at rest, an evaluation finds no acceleration.
#[test]
fn identity_nothing_accelerates_at_rest() {
    let files = leg();
    let cx = Context::new(&files);
    let request = Equilibrium { model: "leg.osim".into(), excitation: Some(0.1), ..Default::default() };
    let found = request.run(&cx).unwrap();
    let mut state = NamedState { controls: Some(found.controls.clone()), ..Default::default() };
    for (label, column) in found.table.labels().iter().zip(found.table.columns()) {
        match label.strip_suffix("/value") {
            Some(path) => state = state.with(path, column[0], 0.0),
            None if label.ends_with("/speed") => assert_eq!(column[0], 0.0),
            None => {
                state.aux_states.insert(label.clone(), column[0]);
            }
        }
    }
    let at = Evaluate { model: "leg.osim".into(), states: vec![state].into(), ..Default::default() };
    let at = at.run(&cx).unwrap();
    // 1e-8 N m on a foot with an inertia of some 1e-3 kg m².
    assert!(at.states[0].accelerations.iter().all(|a| a.abs() < 1e-4), "{:?}", at.states[0].accelerations);
}

#[test]
fn issue_20_numbers_that_make_no_sense_are_refused() {
    let files = leg();
    let cx = Context::new(&files);
    let good = Equilibrium { model: "leg.osim".into(), ..Default::default() };
    for wrong in [
        Equilibrium { tolerance: 0.0, ..good.clone() },
        Equilibrium { tolerance: f64::NAN, ..good.clone() },
        Equilibrium { excitation: Some(f64::INFINITY), ..good.clone() },
    ] {
        let e = wrong.run(&cx).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Input);
        assert!(e.to_string().contains("hint: give a finite number"), "{e}");
    }
}

/// Somebody who has waited long enough.
struct Impatient;

impl soleus::Monitor for Impatient {
    fn is_cancelled(&self) -> bool {
        true
    }
}

/// A model that falls, muscles and all, was followed for minutes whatever the caller said.
#[test]
fn issue_16_a_search_for_rest_can_be_stopped() {
    use crate::subject::{PLAIN, Root, bare_files};
    let files = bare_files(Root::Custom, &PLAIN, 4);
    let request = Equilibrium { model: "subject.osim".into(), ..Default::default() };
    let e = request.run(&Context::new(&files).with_monitor(&Impatient)).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Cancelled);
}
