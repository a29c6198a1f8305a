//! Filters, padding and splines against numbers of OpenSim 4.6, to all their digits.
//!
//! The signal is y = sin 9t + 0.1 sin 130t at t = 0.01 i, i = 0 … 100. Recorded with the Python package of OpenSim
//! (4.6-2026-06-22-85aaf64): `TabOpLowPassFilter(6)`; `Storage.pad(50)`, `lowpassIIR(6)`; `pad(60)`, `lowpassFIR(50, 6)`;
//! `pad(130)`; `resample(0.007, 5)`; `GCVSplineSet(5, storage).constructStorage(1, -1)`.

use soleus_math::signal::{
    derivative, lowpass, lowpass_butterworth, lowpass_fir, padded, resampled, smoothed,
};
use soleus_math::table::{Element, Table};

fn signal() -> Table {
    let times: Vec<f64> = (0..101).map(|i| f64::from(i) * 0.01).collect();
    let y = times.iter().map(|t| (9.0 * t).sin() + 0.1 * (130.0 * t).sin()).collect();
    Table::new(Element::Scalar, vec!["a".into()], times, vec![y]).unwrap()
}

/// Rows, times and values agree to `tolerance`.
fn check(what: &str, t: &Table, rows: usize, expected: &[(usize, f64, f64)], tolerance: f64) {
    assert_eq!(t.rows(), rows, "{what}");
    for &(row, time, value) in expected {
        assert!((t.times()[row] - time).abs() < 1e-14, "{what}, row {row}: time {}", t.times()[row]);
        let d = (t.columns()[0][row] - value).abs();
        assert!(d <= tolerance, "{what}, row {row}: {} is off by {d:e}", t.columns()[0][row]);
    }
}

#[test]
fn opensim_val_filters_to_all_digits() {
    let s = signal();
    // Two hundred sums of numbers near 1 in double precision, damped by the filter.
    let tolerance = 1e-13;
    let row =
        [(0, 0.0, -2.564906237359499e-5), (37, 0.37, -0.1872828160543509), (100, 1.0, 0.3191122242212079)];
    check("TabOpLowPassFilter", &lowpass(&s, 6.0).unwrap(), 101, &row, tolerance);

    let t = lowpass_butterworth(&padded(&s, 50).unwrap(), 6.0).unwrap();
    let row = [
        (0, -0.5, 1.2208166455065266),
        (50, 0.0, -2.5649062372443132e-5),
        (87, 0.37, -0.18728281605434693),
        (200, 1.5, 1.6032282190469977),
    ];
    check("lowpassIIR", &t, 201, &row, tolerance);

    let t = lowpass_fir(&padded(&s, 60).unwrap(), 50, 6.0).unwrap();
    let row = [
        (0, -0.6, 0.7213666419572337),
        (60, 0.0, 8.871963000167924e-18),
        (97, 0.37, -0.187790245754705),
        (220, 1.6, 0.9820734645369646),
    ];
    check("lowpassFIR", &t, 221, &row, tolerance);
}

#[test]
fn opensim_val_padding_by_more_than_there_is() {
    let row = [
        (0, -1.2999999999999998, -0.610803128786696),
        (29, -1.01, -0.13536375110420285),
        (300, 1.7, 0.1144563615839218),
        (360, 2.3, 1.1619751993083998),
    ];
    check("pad", &padded(&signal(), 130).unwrap(), 361, &row, 1e-14);
}

#[test]
fn opensim_val_splines_of_tables() {
    let s = signal();
    let row = [
        (1, 0.007, 0.14540534336908767),
        (52, 0.36400000000000027, -0.15345998012305928),
        (142, 0.9940000000000008, 0.4248798580992601),
    ];
    // Both solve a banded system of condition below 1e3.
    check("resample", &resampled(&s, 0.007, 5).unwrap(), 143, &row, 1e-12);
    let row =
        [(0, 0.0, 25.777037323605157), (37, 0.37, -16.113638493251152), (100, 1.0, -16.208259262497194)];
    check("derivative", &derivative(&s, 1, 5).unwrap(), 101, &row, 1e-10);
}

#[test]
fn opensim_val_smoothing_where_opensim_is_right() {
    // OpenSim returns coefficients of B-splines as values: at the ends of this signal −18.2 and −171.4, while
    // |y| ≤ 1.1. In the middle, coefficients and values of a smooth curve differ by about y″h²/4 = 2e-3,
    // in each of the two passes.
    let t = smoothed(&signal(), 6.0, 5).unwrap();
    let y = &t.columns()[0];
    assert!(
        (y[37] + 0.1880484878635399).abs() < 5e-3 && (y[50] + 0.9813921195330276).abs() < 5e-3,
        "{} {}",
        y[37],
        y[50]
    );
    assert!(y.iter().all(|v| v.abs() < 1.2));
}
