//! Filters for whole tables, with OpenSim's rules for uneven times.

use super::butterworth::Butterworth;
use super::error::SignalError;
use super::fir::FirLowpass;
use super::pad::pad;
use super::resample::{MOST_ROWS, evened, runs};
use crate::table::Table;

/// Degree of the splines that even out the times before filtering.
const RESAMPLING_DEGREE: usize = 5;

/// Times closer than this are one (s): Simbody's significant digits, ε^(7/8).
const SIGNIFICANT: f64 = 2.0e-14;

/// The smallest step between rows (s); times must increase, and there must be at least two.
pub fn smallest_step(times: &[f64]) -> Result<f64, SignalError> {
    let mut smallest = f64::INFINITY;
    for (row, pair) in times.windows(2).enumerate() {
        let step = pair[1] - pair[0];
        // Below ε the table counts as standing still, as OpenSim has it; NaN fails too.
        if !(step >= f64::EPSILON && step.is_finite()) {
            return Err(SignalError::Times { row: row + 1 });
        }
        smallest = smallest.min(step);
    }
    if smallest.is_finite() {
        Ok(smallest)
    } else {
        Err(SignalError::TooFew { what: "a time step", needed: 2, found: times.len() })
    }
}

/// The step (s) to which an uneven table is resampled before it is filtered: the smallest one, as in OpenSim. If that
/// needs more than 100 000 rows, OpenSim uses 100 000; the same is done here, unless the table has more rows: then the
/// median step is used, so that the rate of a long recording does not change.
pub fn even_step(times: &[f64]) -> Result<f64, SignalError> {
    let smallest = smallest_step(times)?;
    let span = times[times.len() - 1] - times[0];
    if span / smallest <= MOST_ROWS {
        return Ok(smallest);
    }
    let mut steps: Vec<f64> = times.windows(2).map(|p| p[1] - p[0]).collect();
    let longest = (1..times.len()).max_by(|&i, &k| steps[i - 1].total_cmp(&steps[k - 1])).unwrap_or(1);
    let middle = steps.len() / 2;
    let median = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
    let bounded = span / MOST_ROWS;
    if bounded <= median {
        return Ok(bounded);
    }
    // A recording with a gap of many times its length.
    let rows = (span / median).ceil();
    if rows > MOST_GROWTH * times.len() as f64 {
        return Err(SignalError::Uneven {
            step: median,
            rows,
            found: times.len(),
            longest_before: times[longest],
        });
    }
    Ok(median)
}

/// Even steps may ask for so many times the rows that a table has, if those are more than 100 000.
const MOST_GROWTH: f64 = 4.0;

/// Whether all steps equal the mean step within 4 ε max|t|, as OpenSim's `isUniform`.
pub fn is_uniform(times: &[f64]) -> bool {
    let [first, .., last] = *times else { return true };
    let largest = first.abs().max(last.abs());
    let mean = (last - first) / (times.len() - 1) as f64;
    let mut tolerance = 4.0 * f64::EPSILON * largest;
    if mean.abs() < tolerance {
        tolerance = mean.abs().max(f64::EPSILON * largest);
    }
    times.len() == 2 || times.windows(2).all(|p| (p[1] - p[0] - mean).abs() <= tolerance)
}

/// All columns and the times extended by `n` rows at each end; see [`pad`].
pub fn padded(table: &Table, n: usize) -> Result<Table, SignalError> {
    let columns = table.columns().iter().map(|c| pad(c, n)).collect();
    Ok(table.with_rows(pad(table.times(), n), columns)?)
}

/// [`Butterworth`] forwards and backwards on all columns, as OpenSim's `Storage::lowpassIIR`: if the mean step exceeds
/// the smallest by more than ε, the table is first resampled to the step of [`even_step`]. This also occurs for times
/// rounded to milliseconds. Inverse dynamics and analyses pad by half the rows first.
pub fn lowpass_butterworth(table: &Table, cutoff_hz: f64) -> Result<Table, SignalError> {
    let (table, dt) = with_even_steps(table)?;
    filtered(&table, |y| Butterworth::new(cutoff_hz, dt)?.forward_backward(y))
}

/// [`FirLowpass`] on all columns, as OpenSim's `Storage::lowpassFIR`; resampled as in [`lowpass_butterworth`]. CMC and
/// RRA pad by 60 rows and use `order` 50.
pub fn lowpass_fir(table: &Table, order: usize, cutoff_hz: f64) -> Result<Table, SignalError> {
    let (table, dt) = with_even_steps(table)?;
    let filter = FirLowpass::new(order, cutoff_hz, dt)?;
    filtered(&table, |y| filter.apply(y))
}

/// Low-pass filter as OpenSim's `TabOpLowPassFilter`: resampled to the step of [`even_step`] if the times are not
/// uniform, padded by half its rows, [`Butterworth`] forwards and backwards, cut to the original time range. If values
/// are missing (NaN), the runs between are filtered separately; runs of fewer than 4 rows are not changed.
pub fn lowpass(table: &Table, cutoff_hz: f64) -> Result<Table, SignalError> {
    let dt = smallest_step(table.times())?;
    let even = if is_uniform(table.times()) {
        table.clone()
    } else {
        evened(table, even_step(table.times())?, RESAMPLING_DEGREE)?
    };
    // A uniform table takes its mean step, as rounding makes the smallest one a little short.
    let dt = match *even.times() {
        [first, .., last] => (last - first) / (even.rows() - 1) as f64,
        _ => dt,
    };
    let filter = Butterworth::new(cutoff_hz, dt)?;
    // Steps that were added up may pass the last time by rounding. OpenSim then keeps the first row
    // of the padding, whose time is the last one within rounding; so do we.
    let mut times = even.times().to_vec();
    if let (Some(last), [.., before, end]) = (table.times().last(), even.times()) {
        let next = 2.0 * end - before;
        if next <= last + SIGNIFICANT {
            times.push(next);
        }
    }
    let mut columns = Vec::with_capacity(even.columns().len());
    for y in even.columns() {
        // Padding and cutting by rows keeps the times to the bit.
        let mut out = y.clone();
        out.resize(times.len(), f64::NAN);
        for run in runs(y).into_iter().filter(|r| r.len() > 3) {
            let n = run.len() / 2;
            let long = filter.forward_backward(&pad(&y[run.clone()], n))?;
            let end = if run.end == y.len() { times.len() } else { run.end };
            out[run.start..end].copy_from_slice(&long[n..n + end - run.start]);
        }
        columns.push(out);
    }
    Ok(even.with_rows(times, columns)?)
}

/// The table with even steps, and the step.
fn with_even_steps(table: &Table) -> Result<(Table, f64), SignalError> {
    let times = table.times();
    let dt = smallest_step(times)?;
    let mean = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    if mean - dt > f64::EPSILON {
        let dt = even_step(times)?;
        Ok((evened(table, dt, RESAMPLING_DEGREE)?, dt))
    } else {
        Ok((table.clone(), dt))
    }
}

/// One filter on every column.
fn filtered(
    table: &Table,
    filter: impl Fn(&[f64]) -> Result<Vec<f64>, SignalError>,
) -> Result<Table, SignalError> {
    let columns = table.columns().iter().map(|c| filter(c)).collect::<Result<_, _>>()?;
    Ok(table.with_rows(table.times().to_vec(), columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Element;

    #[test]
    fn analytic_uniform_times() {
        assert!(is_uniform(&[0.0, 0.1, 0.2, 0.30000000000000004]));
        assert!(!is_uniform(&[0.0, 0.017, 0.033, 0.05]));
        assert!(is_uniform(&[0.0, 3.0]) && is_uniform(&[1.0]) && is_uniform(&[]));
    }

    #[test]
    fn analytic_times_that_stand_still_are_refused() {
        assert_eq!(smallest_step(&[0.0, 1.0, 1.0]), Err(SignalError::Times { row: 2 }));
        assert_eq!(smallest_step(&[0.0, f64::NAN]), Err(SignalError::Times { row: 1 }));
        assert!(smallest_step(&[0.0]).is_err() && smallest_step(&[]).is_err());
        assert_eq!(smallest_step(&[0.0, 1.0, 1.5]), Ok(0.5));
    }

    /// An hour of an uneven recording at 60 Hz came out at 28 Hz, and nobody was told.
    #[test]
    fn issue_20_long_recordings_keep_their_rate() {
        let n = 216_000;
        let jitter = |i: u32| 1e-4 * f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0;
        let times: Vec<f64> = (0..n).map(|i| f64::from(i) / 60.0 + jitter(i)).collect();
        let step = even_step(&times).unwrap();
        // The median of steps that differ by a tenth of a millisecond at most.
        assert!((step - 1.0 / 60.0).abs() < 1e-4, "{step}");
        let y: Vec<f64> = times.iter().map(|t| (2.0 * t).sin()).collect();
        let t = Table::new(Element::Scalar, vec!["y".into()], times, vec![y]).unwrap();
        let f = lowpass(&t, 6.0).unwrap();
        assert!((f.rows() as f64 / f64::from(n) - 1.0).abs() < 0.01, "{} rows", f.rows());
        // 2 rad/s passes a filter of 6 Hz but for (ω/ω_c)⁶ ≈ 2e-8; splines of degree 5 add less.
        let middle = f.rows() / 2;
        assert!((f.columns()[0][middle] - (2.0 * f.times()[middle]).sin()).abs() < 1e-6);
    }

    #[test]
    fn analytic_steps_of_uneven_tables() {
        // The smallest while it asks for few rows; as many rows as OpenSim takes while that is no fewer than there are.
        assert_eq!(even_step(&[0.0, 1.0, 1.5]), Ok(0.5));
        assert_eq!(even_step(&[0.0, 1.0, 1.0 + 1e-6, 2.0]), Ok(2.0 / 1e5));
        // A gap that no even steps fill.
        let mut times: Vec<f64> = (0..1000).map(|i| 0.01 * f64::from(i)).collect();
        times.push(1e7);
        let Err(SignalError::Uneven { longest_before, .. }) = even_step(&times) else {
            panic!("not refused")
        };
        assert_eq!(longest_before, 1e7);
    }

    #[test]
    fn analytic_lines_pass_with_their_times() {
        let times: Vec<f64> = (0..300).map(|i| 0.01 * f64::from(i)).collect();
        let t = Table::new(Element::Scalar, vec!["y".into()], times.clone(), vec![times.clone()]).unwrap();
        let f = lowpass(&t, 6.0).unwrap();
        assert_eq!(f.times(), times);
        // The start-up error of about one step falls as exp(−π f_c t), here over 1.5 s of padding: 5e-13 of it is left.
        for (a, b) in f.columns()[0].iter().zip(&times) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
