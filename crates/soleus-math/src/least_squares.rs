//! Dense linear least squares by Householder reflections.

/// min |A x − b|, with A stored by columns; both are overwritten. Columns that depend on earlier ones (below 1e-12 of
/// the largest) get a zero coefficient. Golub and Van Loan (2013), section 5.2.
pub fn solve_least_squares(a: &mut [Vec<f64>], b: &mut [f64]) -> Vec<f64> {
    let (rows, columns) = (b.len(), a.len());
    let n = columns.min(rows);
    let mut pivots = vec![0.0; columns];
    let mut largest: f64 = 0.0;
    for k in 0..n {
        // Reflect column k on to its first entry.
        let (left, right) = a.split_at_mut(k + 1);
        let v = &mut left[k][k..];
        let norm = dot(v, v).sqrt();
        largest = largest.max(norm);
        if norm <= 1e-12 * largest {
            continue;
        }
        let alpha = if v[0] > 0.0 { -norm } else { norm };
        pivots[k] = alpha;
        v[0] -= alpha;
        // vᵀv = 2 norm (norm + |a_kk|).
        let factor = -1.0 / (alpha * v[0]);
        for column in right.iter_mut().map(Vec::as_mut_slice).chain([&mut *b]) {
            let column = &mut column[k..];
            let f = factor * dot(v, column);
            for (x, v) in column.iter_mut().zip(&*v) {
                *x -= f * v;
            }
        }
    }
    let mut x = vec![0.0; columns];
    for k in (0..n).rev() {
        if pivots[k] != 0.0 {
            let sum: f64 = (k + 1..columns).map(|j| a[j][k] * x[j]).sum();
            x[k] = (b[k] - sum) / pivots[k];
        }
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight line through four points: slope and intercept of the normal equations.
    #[test]
    fn analytic_line() {
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.0, 2.9, 5.1, 7.0]);
        let mut a = [vec![1.0; 4], x.to_vec()];
        let c = solve_least_squares(&mut a, &mut y.to_vec());
        // Sxy/Sxx with means 1.5 and 4.
        assert!((c[1] - 10.1 / 5.0).abs() < 1e-14 && (c[0] - (4.0 - 1.5 * 2.02)).abs() < 1e-14, "{c:?}");
    }

    #[test]
    fn analytic_dependent_column_is_left_out() {
        let mut a = [vec![1.0; 3], vec![2.0; 3]];
        let c = solve_least_squares(&mut a, &mut [3.0; 3]);
        assert!((c[0] + 2.0 * c[1] - 3.0).abs() < 1e-14);
    }
}
