//! Envelopes of electromyograms.

use super::{SignalError, lowpass};
use crate::table::Table;

/// Slower parts of an electromyogram are movement of cables and skin, Hz (usual: 10 to 30).
const MOVEMENT_HZ: f64 = 20.0;

/// The envelope of every column: high-pass filtered at 20 Hz, rectified, low-pass filtered at `cutoff_hz` (usually 3 to
/// 10 Hz), and divided by its maximum, so that the largest value is 1.
pub fn envelope(table: &Table, cutoff_hz: f64) -> Result<Table, SignalError> {
    let slow = lowpass(table, MOVEMENT_HZ)?;
    // A filter may make even steps of uneven ones; then both have the same rows only if they were even.
    let mut fast = if slow.rows() == table.rows() { table.clone() } else { slow.clone() };
    for c in 0..fast.columns().len() {
        let low = slow.columns()[c].clone();
        if let Some(column) = fast.column_at_mut(c) {
            column.iter_mut().zip(&low).for_each(|(x, y)| *x = (*x - y).abs());
        }
    }
    let mut found = lowpass(&fast, cutoff_hz)?;
    for c in 0..found.columns().len() {
        if let Some(column) = found.column_at_mut(c) {
            let most = column.iter().copied().fold(0.0, f64::max);
            column.iter_mut().for_each(|x| *x = if most > 0.0 { (*x / most).max(0.0) } else { 0.0 });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Element;

    /// A carrier of 150 Hz whose size swells once a second, on a slow drift: the envelope is that swell.
    #[test]
    fn analytic_envelope_of_a_carrier() {
        let times: Vec<f64> = (0..4000).map(|i| 0.001 * f64::from(i)).collect();
        let tau = 2.0 * std::f64::consts::PI;
        let swell = |t: f64| 0.55 - 0.45 * (tau * t).cos();
        let y =
            times.iter().map(|t| swell(*t) * (tau * 150.0 * t).sin() + 3.0 * (tau * 0.5 * t).sin()).collect();
        let table = Table::new(Element::Scalar, vec!["soleus".into()], times.clone(), vec![y]).unwrap();
        let found = envelope(&table, 6.0).unwrap();
        // A third-order filter at 6 Hz, run twice, takes less than a percent of 1 Hz; the rest of the drift and ends are left out.
        for (t, x) in times.iter().zip(&found.columns()[0]).skip(1000).take(2000) {
            assert!((x - swell(*t)).abs() < 0.03, "{t}: {x}, {}", swell(*t));
        }
    }
}
