//! Gaps in columns: detection and filling.

use crate::table::Table;

/// Consecutive rows without a number: the first row, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// First row of the gap.
    pub first: usize,
    /// Number of rows.
    pub rows: usize,
}

/// The gaps of a label of a table, including those at its ends; a vector is missing if one of its components is.
pub fn gaps(table: &Table, label: usize) -> Vec<Gap> {
    let n = table.element().components();
    let columns = &table.columns()[n * label..n * (label + 1)];
    let mut list: Vec<Gap> = Vec::new();
    for row in (0..table.rows()).filter(|&r| columns.iter().any(|c| !c[r].is_finite())) {
        match list.last_mut() {
            Some(g) if g.first + g.rows == row => g.rows += 1,
            _ => list.push(Gap { first: row, rows: 1 }),
        }
    }
    list
}

/// Fills gaps of at most `most` rows with numbers on both sides, by the cubic polynomial with the values and slopes
/// there; returns how many gaps were filled and how many are left.
pub fn fill_gaps(table: &mut Table, most: usize) -> [usize; 2] {
    let (n, rows) = (table.element().components(), table.rows());
    let times = table.times().to_vec();
    let mut count = [0, 0];
    for label in 0..table.labels().len() {
        for gap in gaps(table, label) {
            let (before, after) = (gap.first.checked_sub(1), gap.first + gap.rows);
            let (Some(a), true) = (before, after < rows && gap.rows <= most) else {
                count[1] += 1;
                continue;
            };
            for c in n * label..n * (label + 1) {
                let column = table.columns()[c].clone();
                let (y0, y1) = (column[a], column[after]);
                let (t0, t1) = (times[a], times[after]);
                let straight = (y1 - y0) / (t1 - t0);
                // Slopes from the row before the gap and the one behind it, where they are.
                let slope = |i: usize, j: usize| {
                    let s = (column[j] - column[i]) / (times[j] - times[i]);
                    if s.is_finite() { s } else { straight }
                };
                let m0 = a.checked_sub(1).map_or(straight, |b| slope(b, a));
                let m1 = if after + 1 < rows { slope(after, after + 1) } else { straight };
                let h = t1 - t0;
                for row in gap.first..after {
                    let s = (times[row] - t0) / h;
                    let (s2, s3) = (s * s, s * s * s);
                    let y = (2.0 * s3 - 3.0 * s2 + 1.0) * y0
                        + (s3 - 2.0 * s2 + s) * h * m0
                        + (3.0 * s2 - 2.0 * s3) * y1
                        + (s3 - s2) * h * m1;
                    if let Some(column) = table.column_at_mut(c) {
                        column[row] = y;
                    }
                }
            }
            count[0] += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Element;

    #[test]
    fn analytic_short_gaps_of_a_parabola_are_closed() {
        let times: Vec<f64> = (0..40).map(|i| 0.01 * f64::from(i)).collect();
        let f = |t: f64| 1.0 + 2.0 * t - 3.0 * t * t;
        let mut y: Vec<f64> = times.iter().map(|t| f(*t)).collect();
        y[0] = f64::NAN;
        y[10..14].fill(f64::NAN);
        y[20..30].fill(f64::NAN);
        let mut table = Table::new(Element::Scalar, vec!["a".into()], times.clone(), vec![y]).unwrap();
        let found = gaps(&table, 0);
        assert_eq!(found.iter().map(|g| (g.first, g.rows)).collect::<Vec<_>>(), [(0, 1), (10, 4), (20, 10)]);
        assert_eq!(fill_gaps(&mut table, 5), [1, 2]);
        // Slopes are those half a step beside the gap, 6 × 0.005 off; in the middle of 0.05 s both ends add up to a quarter of 0.03 × 0.05.
        for r in 10..14 {
            assert!((table.columns()[0][r] - f(times[r])).abs() < 3.8e-4);
        }
        assert!(table.columns()[0][0].is_nan() && table.columns()[0][25].is_nan());
    }
}
