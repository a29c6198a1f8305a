//! Dense linear least squares by Householder reflections.

/// min |A x − b|, A row by row with `columns` columns; both are overwritten. Columns that depend on others
/// (below 1e-12 of the largest pivot) get a zero coefficient. Golub and Van Loan (2013), section 5.2.
pub fn solve_least_squares(a: &mut [f64], b: &mut [f64], columns: usize) -> Vec<f64> {
    let rows = b.len();
    let n = columns.min(rows);
    let mut pivots = vec![0.0; columns];
    let mut largest: f64 = 0.0;
    for k in 0..n {
        // Reflect column k on to its first entry.
        let norm = (k..rows).map(|i| a[i * columns + k].powi(2)).sum::<f64>().sqrt();
        largest = largest.max(norm);
        if norm <= 1e-12 * largest {
            continue;
        }
        let alpha = if a[k * columns + k] > 0.0 { -norm } else { norm };
        pivots[k] = alpha;
        a[k * columns + k] -= alpha;
        // v is now column k from row k; vᵀv = 2 norm (norm + |a_kk|).
        let vv = -2.0 * alpha * a[k * columns + k];
        for j in k + 1..columns {
            let dot: f64 = (k..rows).map(|i| a[i * columns + k] * a[i * columns + j]).sum();
            let f = 2.0 * dot / vv;
            for i in k..rows {
                a[i * columns + j] -= f * a[i * columns + k];
            }
        }
        let dot: f64 = (k..rows).map(|i| a[i * columns + k] * b[i]).sum();
        let f = 2.0 * dot / vv;
        for i in k..rows {
            b[i] -= f * a[i * columns + k];
        }
    }
    let mut x = vec![0.0; columns];
    for k in (0..n).rev() {
        if pivots[k] != 0.0 {
            let sum: f64 = (k + 1..columns).map(|j| a[k * columns + j] * x[j]).sum();
            x[k] = (b[k] - sum) / pivots[k];
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight line through four points: slope and intercept of the normal equations.
    #[test]
    fn analytic_line() {
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.1, 7.0]);
        let mut a: Vec<f64> = x.iter().flat_map(|&x| [1.0, x]).collect();
        let c = solve_least_squares(&mut a, &mut y.to_vec(), 2);
        // Sxy/Sxx with means 1.5 and 4.
        assert!((c[1] - 10.1 / 5.0).abs() < 1e-14 && (c[0] - (4.0 - 1.5 * 2.02)).abs() < 1e-14, "{c:?}");
    }

    #[test]
    fn analytic_dependent_column_is_left_out() {
        let mut a = vec![1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
        let c = solve_least_squares(&mut a, &mut [3.0; 3], 2);
        assert!((c[0] + 2.0 * c[1] - 3.0).abs() < 1e-14);
    }
}
