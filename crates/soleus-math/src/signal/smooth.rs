//! Spline smoothing with a cutoff frequency.

use super::error::{SignalError, positive};
use crate::elementary;
use crate::function::{GcvSpline, Smoothing};
use crate::table::Table;
use std::f64::consts::PI;

/// All columns smoothed twice by natural splines of `degree` 2m − 1, which acts like a zero-phase Butterworth filter
/// with the gain 1/√2 at f_c:
///
///   H(ω) = 1/(1 + p T ω²ᵐ),   p = (1/T) (√2 − 1)/(2π f_c)²ᵐ
///
/// where T is the mean step between rows. One pass has the gain 1/√2 at f_c, hence two have ½. Source: Woltring (1986),
/// notes to GCVSPL; p as in OpenSim's `Signal::SmoothSpline`. That function returns the coefficients of B-splines
/// instead of values; here values are returned.
pub fn smoothed(table: &Table, cutoff_hz: f64, degree: usize) -> Result<Table, SignalError> {
    let fc = positive("cutoff frequency [Hz]", cutoff_hz)?;
    let times = table.times();
    let step = match *times {
        [first, .., last] => positive("mean time step [s]", (last - first) / (times.len() - 1) as f64)?,
        _ => return Err(SignalError::TooFew { what: "a spline", needed: degree + 1, found: times.len() }),
    };
    let m = (degree / 2 + 1) as f64;
    let p = (2f64.sqrt() - 1.0) / (step * elementary::powf(2.0 * PI * fc, 2.0 * m));
    let per_label = table.element().components();
    let mut columns = Vec::with_capacity(table.columns().len());
    for (c, y) in table.columns().iter().enumerate() {
        let mut y = y.clone();
        for _ in 0..2 {
            let spline =
                GcvSpline::new(degree, times.to_vec(), &y, Smoothing::Parameter(p)).map_err(|source| {
                    SignalError::Column { label: table.labels()[c / per_label].clone(), source }
                })?;
            y = times.iter().map(|&t| spline.value(t)).collect();
        }
        columns.push(y);
    }
    Ok(table.with_rows(times.to_vec(), columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Element;

    #[test]
    fn analytic_gain_at_the_cutoff() {
        let (fc, dt) = (6.0, 0.005);
        let times: Vec<f64> = (0..800).map(|i| dt * f64::from(i)).collect();
        let x: Vec<f64> = times.iter().map(|t| (2.0 * PI * fc * t).sin()).collect();
        let t = Table::new(Element::Scalar, vec!["x".into()], times, vec![x.clone()]).unwrap();
        let y = smoothed(&t, fc, 5).unwrap();
        // Sampling bends the gain by about (ω T)²ᵐ/12, here 1e-6; the ends are 1 s away.
        for (i, (x, y)) in x.iter().zip(&y.columns()[0]).enumerate().take(600).skip(200) {
            assert!((y - 0.5 * x).abs() < 1e-5, "row {i}: {x} became {y}");
        }
    }
}
