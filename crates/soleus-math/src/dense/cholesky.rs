//! A = L Lᵀ (Golub and Van Loan 2013, section 4.2), row by row: sums run along rows of L.

/// Factorizes a symmetric positive definite matrix of order m (its lower triangle) as L Lᵀ in place. A pivot that is
/// too small because of rounding is replaced by `floor`. Leading zeros of a row remain zero and cost nothing, so that
/// thousands of equations in small groups can be factorized at once.
pub fn factorize_cholesky(a: &mut [f64], m: usize, floor: f64) {
    for i in 0..m {
        let (above, row) = a.split_at_mut(i * m);
        let first = row[..i].iter().position(|x| *x != 0.0).unwrap_or(i);
        for j in first..i {
            let other = &above[j * m + first..j * m + j];
            let sum: f64 = row[first..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - sum) / above[j * m + j];
        }
        let sum: f64 = row[first..i].iter().map(|x| x * x).sum();
        row[i] = (row[i] - sum).max(floor).sqrt();
    }
}

/// Solves L Lᵀ x = b in place, with the factor of [`factorize_cholesky`].
pub fn solve_cholesky(l: &[f64], m: usize, x: &mut [f64]) {
    for i in 0..m {
        let sum: f64 = l[i * m..i * m + i].iter().zip(&x[..i]).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - sum) / l[i * m + i];
    }
    for i in (0..m).rev() {
        x[i] /= l[i * m + i];
        let xi = x[i];
        for (x, l) in x[..i].iter_mut().zip(&l[i * m..i * m + i]) {
            *x -= l * xi;
        }
    }
}

/// Solves A x = b in place, where `a` contains the lower triangle of a matrix of order m and is overwritten; returns
/// false if it is not positive definite, or not finite.
///
/// It multiplies by the reciprocals of pivots, with only one division per row, which matters if such systems are solved
/// thousands of times per second.
pub fn solve_positive_definite(a: &mut [f64], b: &mut [f64], m: usize) -> bool {
    for i in 0..m {
        let (above, row) = a.split_at_mut(i * m);
        for j in 0..i {
            let other = &above[j * m..j * m + j + 1];
            let dot: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - dot) * other[j];
        }
        let dot: f64 = row[..i].iter().map(|x| x * x).sum();
        let d = row[i] - dot;
        if !(d > 0.0) || !d.is_finite() {
            return false;
        }
        // The diagonal keeps its reciprocal.
        row[i] = 1.0 / d.sqrt();
        let dot: f64 = row[..i].iter().zip(b.iter()).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - dot) * row[i];
    }
    for i in (0..m).rev() {
        b[i] *= a[i * m + i];
        let x = b[i];
        for j in 0..i {
            b[j] -= a[i * m + j] * x;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::norm::largest_difference;

    /// A = B Bᵀ + I of a seeded B, with NaN where the upper triangle would be, and A x for a seeded x.
    fn system(m: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut random = Random::new(m as u64);
        let (b, x) = (random.vector(m * m, 1.0), random.vector(m, 1.0));
        let entry = |i: usize, j: usize| {
            (0..m).map(|k| b[i * m + k] * b[j * m + k]).sum::<f64>() + f64::from(u8::from(i == j))
        };
        let product = (0..m).map(|i| (0..m).map(|j| entry(i, j) * x[j]).sum()).collect();
        let lower = (0..m * m).map(|k| if k % m <= k / m { entry(k / m, k % m) } else { f64::NAN }).collect();
        (lower, x, product)
    }

    /// Both ways give x back; conditions stay below 100, so that rounding stays below 1e-12.
    #[test]
    fn identity_solutions_of_seeded_matrices() {
        for m in [1, 2, 3, 7, 20] {
            let (mut a, x, b) = system(m);
            let (mut l, mut y, mut z) = (a.clone(), b.clone(), b);
            factorize_cholesky(&mut l, m, 0.0);
            solve_cholesky(&l, m, &mut y);
            assert!(solve_positive_definite(&mut a, &mut z, m));
            assert!(
                largest_difference(&x, &y) < 1e-12 && largest_difference(&x, &z) < 1e-12,
                "{m}: {x:?} {y:?} {z:?}"
            );
        }
    }

    /// [4 2; 2 5] = L Lᵀ with L = [2 0; 1 2]; a pivot below the floor is the floor.
    #[test]
    fn analytic_factors() {
        let mut a = [4.0, 0.0, 2.0, 5.0];
        factorize_cholesky(&mut a, 2, 0.0);
        assert_eq!((a[0], a[2], a[3]), (2.0, 1.0, 2.0));
        let mut a = [4.0, 0.0, 2.0, 0.5];
        factorize_cholesky(&mut a, 2, 0.25);
        assert_eq!((a[0], a[2], a[3]), (2.0, 1.0, 0.5));
    }

    /// Two groups of equations that do not meet: the factors are those of each alone, to the bit, even where one is no number.
    #[test]
    fn identity_groups_do_not_meet() {
        let (m, n) = (7, 5);
        for bad in [1.0, f64::NAN] {
            let (mut a, ..) = system(m);
            let (mut b, ..) = system(n);
            a[0] *= bad;
            let both = m + n;
            let mut all = vec![0.0; both * both];
            for i in 0..m {
                all[i * both..i * both + i + 1].copy_from_slice(&a[i * m..i * m + i + 1]);
            }
            for i in 0..n {
                let at = (m + i) * both + m;
                all[at..at + i + 1].copy_from_slice(&b[i * n..i * n + i + 1]);
            }
            factorize_cholesky(&mut all, both, 0.0);
            factorize_cholesky(&mut b, n, 0.0);
            for i in 0..n {
                let row = &all[(m + i) * both..(m + i) * both + m + i + 1];
                assert!(row[..m].iter().all(|x| *x == 0.0), "{row:?}");
                assert_eq!(row[m..], b[i * n..i * n + i + 1]);
            }
        }
    }

    #[test]
    fn analytic_indefinite_and_bad_matrices_are_told() {
        for a in [[4.0, 0.0, 2.0, 0.5], [0.0; 4], [f64::NAN, 0.0, 0.0, 1.0], [1.0, 0.0, f64::NAN, 1.0]] {
            assert!(!solve_positive_definite(&mut a.clone(), &mut [1.0, 1.0], 2), "{a:?}");
        }
    }
}
