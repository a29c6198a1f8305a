//! Resampling and differentiation of tables by splines.

use super::error::{SignalError, positive};
use crate::function::{FunctionError, GcvSpline};
use crate::table::Table;
use std::ops::Range;

/// More rows than this would be asked for by mistake; OpenSim bounds its resampling alike.
pub(super) const MOST_ROWS: f64 = 1e5;

/// Times first, first + dt, … up to `last` (s), each the sum of the previous one and `dt`, as in OpenSim. A step that
/// would need more than 100 000 rows is increased.
pub fn stepped_times(first: f64, last: f64, dt: f64) -> Result<Vec<f64>, SignalError> {
    let mut dt = positive("time step [s]", dt)?;
    if !(last - first).is_finite() {
        return Err(SignalError::OutOfRange {
            what: "duration [s]",
            found: last - first,
            expected: "finite",
        });
    }
    if (last - first) / dt > MOST_ROWS {
        dt = (last - first) / MOST_ROWS;
    }
    every(first, last, dt)
}

/// Times first, first + dt, … up to `last` (s).
fn every(first: f64, last: f64, dt: f64) -> Result<Vec<f64>, SignalError> {
    let mut times = Vec::new();
    let mut t = first;
    while t <= last {
        times.push(t);
        // A step that is lost in the rounding of t would never end.
        if t + dt <= t {
            return Err(SignalError::OutOfRange {
                what: "time step [s]",
                found: dt,
                expected: "above rounding",
            });
        }
        t += dt;
    }
    Ok(times)
}

/// The table resampled at intervals `dt` (s) from its first time, by natural splines of `degree` 1, 3, 5 or 7
/// (OpenSim's filters use 5).
pub fn resampled(table: &Table, dt: f64, degree: usize) -> Result<Table, SignalError> {
    match *table.times() {
        [first, .., last] => resampled_at(table, &stepped_times(first, last, dt)?, degree),
        _ => Ok(table.clone()),
    }
}

/// The table in even steps of `dt` (s), however many rows that takes.
pub(super) fn evened(table: &Table, dt: f64, degree: usize) -> Result<Table, SignalError> {
    match *table.times() {
        [first, .., last] => resampled_at(table, &every(first, last, dt)?, degree),
        _ => Ok(table.clone()),
    }
}

/// The table at `times` (s), by natural splines of `degree` 1, 3, 5 or 7. For tables with too few rows the highest
/// possible odd degree is used. Outside the table the splines are extrapolated as in [`GcvSpline`].
pub fn resampled_at(table: &Table, times: &[f64], degree: usize) -> Result<Table, SignalError> {
    splined(table, times, degree, 0)
}

/// First or second derivative of all columns at the table's own times, by splines of `degree`.
/// Units become those of the column per second, or per second squared.
pub fn derivative(table: &Table, order: usize, degree: usize) -> Result<Table, SignalError> {
    if order > 2 {
        return Err(SignalError::OutOfRange {
            what: "order of the derivative",
            found: order as f64,
            expected: "0, 1 or 2",
        });
    }
    splined(table, table.times(), degree, order)
}

fn splined(table: &Table, times: &[f64], degree: usize, order: usize) -> Result<Table, SignalError> {
    let n = table.rows();
    if n < 2 {
        return Err(SignalError::TooFew { what: "a spline", needed: 2, found: n });
    }
    let per_label = table.element().components();
    let mut columns = Vec::with_capacity(table.columns().len());
    for (c, y) in table.columns().iter().enumerate() {
        let label = || table.labels()[c / per_label].clone();
        let column = splined_column(table.times(), y, times, degree, order);
        columns.push(column.map_err(|source| SignalError::Column { label: label(), source })?);
    }
    Ok(table.with_rows(times.to_vec(), columns)?)
}

/// One column. Missing values (NaN) split it: each run of values has its own spline, and between the runs
/// values stay missing.
fn splined_column(
    x: &[f64],
    y: &[f64],
    times: &[f64],
    degree: usize,
    order: usize,
) -> Result<Vec<f64>, FunctionError> {
    let whole = !y.iter().any(|v| v.is_nan());
    let mut out = vec![f64::NAN; times.len()];
    for run in runs(y) {
        let (first, last) = (x[run.start], x[run.end - 1]);
        if run.len() == 1 {
            // A lone value says nothing about its neighbors, nor about its slope.
            for (o, _) in out.iter_mut().zip(times).filter(|(_, t)| **t == first && order == 0) {
                *o = y[run.start];
            }
            continue;
        }
        let fits = if run.len() % 2 == 0 { run.len() - 1 } else { run.len() - 2 };
        let spline = GcvSpline::interpolate(degree.min(fits), x[run.clone()].to_vec(), &y[run.clone()])?;
        for (o, &t) in out.iter_mut().zip(times).filter(|(_, t)| whole || (first..=last).contains(*t)) {
            *o = if order == 0 { spline.value(t) } else { spline.eval(t)[order] };
        }
    }
    Ok(out)
}

/// Runs of values between missing ones.
pub(super) fn runs(y: &[f64]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 0..=y.len() {
        if end == y.len() || y[end].is_nan() {
            if end > start {
                runs.push(start..end);
            }
            start = end + 1;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Element;

    fn wave(n: usize) -> Table {
        let times: Vec<f64> = (0..n).map(|i| 0.01 * i as f64 + 0.002 * (i % 3) as f64).collect();
        let y = times.iter().map(|t| (5.0 * t).sin()).collect();
        Table::new(Element::Scalar, vec!["y".into()], times, vec![y]).unwrap()
    }

    #[test]
    fn identity_resampling_at_the_knots() {
        let t = wave(60);
        let again = resampled_at(&t, t.times(), 5).unwrap();
        for (a, b) in t.columns()[0].iter().zip(&again.columns()[0]) {
            assert!((a - b).abs() < 1e-13);
        }
    }

    #[test]
    fn deriv_splines_of_tables() {
        let t = wave(200);
        let (first, second) = (derivative(&t, 1, 5).unwrap(), derivative(&t, 2, 5).unwrap());
        // Central differences of the spline itself: truncation h² y⁗ and rounding ε/h² balance near 1e-4 s.
        let h = 1e-4;
        let at = |shift: f64| {
            let times: Vec<f64> = t.times().iter().map(|t| t + shift).collect();
            resampled_at(&t, &times, 5).unwrap().columns()[0].clone()
        };
        let (y, up, down) = (at(0.0), at(h), at(-h));
        for i in 10..190 {
            let d1 = (up[i] - down[i]) / (2.0 * h);
            let d2 = (up[i] - 2.0 * y[i] + down[i]) / (h * h);
            assert!((first.columns()[0][i] - d1).abs() < 1e-6, "row {i}");
            assert!((second.columns()[0][i] - d2).abs() < 1e-4, "row {i}");
            // The curve is a sine; the error of a quintic spline with these steps is below 1e-5.
            assert!((first.columns()[0][i] - 5.0 * (5.0 * t.times()[i]).cos()).abs() < 1e-5);
        }
    }

    #[test]
    fn analytic_steps_and_their_limits() {
        assert_eq!(stepped_times(0.0, 1.0, 0.25).unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(stepped_times(0.0, 1.0, 1e-9).unwrap().len(), 100_001);
        assert!(stepped_times(0.0, 1.0, 0.0).is_err());
        assert!(stepped_times(1e20, 1e20 + 1e5, 1.0).is_err());
        assert!(stepped_times(1.0, 0.0, 0.1).unwrap().is_empty());
    }

    #[test]
    fn analytic_gaps_stay_gaps() {
        let nan = f64::NAN;
        let y = vec![0.0, 1.0, 2.0, 3.0, nan, nan, 9.0, nan, 5.0, 4.0];
        let times = (0..10).map(f64::from).collect();
        let t = Table::new(Element::Scalar, vec!["y".into()], times, vec![y]).unwrap();
        let fine = resampled(&t, 0.5, 3).unwrap();
        let at = |time: f64| fine.columns()[0][(2.0 * time) as usize];
        assert!((at(1.5) - 1.5).abs() < 1e-14 && (at(8.5) - 4.5).abs() < 1e-14);
        assert!(at(3.5).is_nan() && at(5.0).is_nan() && at(6.5).is_nan() && at(7.0).is_nan());
        assert_eq!(at(6.0), 9.0);
    }

    #[test]
    fn analytic_few_rows_take_a_lower_degree() {
        let t = Table::new(Element::Scalar, vec!["y".into()], vec![0.0, 1.0], vec![vec![1.0, 3.0]]).unwrap();
        assert_eq!(resampled(&t, 0.5, 5).unwrap().columns()[0], [1.0, 2.0, 3.0]);
    }
}
