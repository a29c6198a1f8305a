use crate::models::table;
use soleus::conversion::{Axis, Turn};
use soleus::{Collected, Context, Convert, Files, Memory, Outcome};

#[test]
fn analytic_vectors_turn_and_change_units() {
    let mut t = table(
        &["a_1", "a_2", "a_3"],
        vec![0.0, 0.1],
        vec![vec![1000.0; 2], vec![2000.0; 2], vec![3000.0; 2]],
    );
    t.set_metadata("Units", "mm");
    let files = Memory::new();
    let cx = Context::new(&files);
    let request = Convert {
        input: t.into(),
        output: Some("a.csv".into()),
        rotate: vec![Turn { axis: Axis::X, deg: -90.0 }],
        units: Some("m".into()),
        ..Default::default()
    };
    let converted = request.run(&cx).unwrap();
    // z up becomes y up.
    assert_eq!(converted.table.columns().iter().map(|c| c[0]).collect::<Vec<_>>(), [1.0, 3.0, -2.0]);
    converted.write(&cx).unwrap();
    assert_eq!(files.read("a.csv".as_ref()).unwrap(), b"time,a_1,a_2,a_3\n0,1,3,-2\n0.1,1,3,-2\n");
}

/// A recording of 55 minutes at 60 Hz whose times jitter came out at 30 Hz, and nobody was told.
#[test]
fn issue_20_a_filter_keeps_the_rate_and_says_that_it_resamples() {
    let n = 200_000;
    let times: Vec<f64> = (0..n).map(|i| f64::from(i) / 60.0 + if i % 2 == 0 { 0.0 } else { 1e-4 }).collect();
    let span = times[times.len() - 1];
    let t = table(&["force"], times.clone(), vec![vec![1.0; times.len()]]);
    let (files, told) = (Memory::new(), Collected::default());
    let cx = Context::new(&files).with_monitor(&told);
    let request = Convert { input: t.into(), lowpass_hz: Some(6.0), ..Default::default() };
    let rate = request.run(&cx).unwrap().table.rows() as f64 / span;
    // Steps are 1/60 s and a tenth of a millisecond more or less.
    assert!((rate - 60.0).abs() < 0.5, "{rate}");
    let said = told.diagnostics().iter().map(|d| d.to_string()).collect::<String>();
    assert!(said.contains("not equally spaced") && said.contains(" Hz)"), "{said}");
}

#[test]
fn issue_20_numbers_that_make_no_sense_are_refused() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let t = table(&["a"], (0..20).map(f64::from).collect(), vec![vec![1.0; 20]]);
    let good = Convert { input: t.into(), ..Default::default() };
    for wrong in [
        Convert { rate: Some(0.0), ..good.clone() },
        Convert { rate: Some(f64::INFINITY), ..good.clone() },
        Convert { lowpass_hz: Some(f64::NAN), ..good.clone() },
        Convert { lowpass_hz: Some(-6.0), ..good.clone() },
        Convert { force_threshold_n: f64::NAN, ..good.clone() },
        Convert { rotate: vec![Turn { axis: Axis::Y, deg: f64::INFINITY }], ..good.clone() },
    ] {
        let said = wrong.run(&cx).unwrap_err().to_string();
        assert!(said.contains("hint: give a finite number"), "{said}");
    }
    good.run(&cx).unwrap();
}
