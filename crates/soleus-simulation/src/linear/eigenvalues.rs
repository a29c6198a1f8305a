//! Eigenvalues of a dense matrix.

use super::Complex;
use soleus_math::elementary;

/// QR steps for one eigenvalue; three are usual.
const MAX_STEPS: usize = 60;

/// All eigenvalues of a real n × n matrix, given row by row, in no particular order; `None` if the iteration does not
/// converge or the matrix contains numbers that are not finite.
///
/// Reduced to Hessenberg form by elimination with pivoting, then QR steps with Wilkinson's shift in complex numbers and
/// deflation (Wilkinson 1965; Golub & Van Loan 2013, section 7). It takes about 10 n³ complex operations, which is too
/// slow for inner loops.
pub fn solve_eigenvalues(n: usize, a: &[f64]) -> Option<Vec<Complex>> {
    if a.len() != n * n || a.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut h = hessenberg(n, a.to_vec());
    let mut found = Vec::with_capacity(n);
    let mut rotations = vec![(Complex::default(), Complex::default()); n];
    let mut end = n;
    let mut steps = 0;
    while end > 0 {
        // The last place where the matrix falls apart.
        let mut start = end - 1;
        while start > 0 {
            let near = size(h[start * n + start]) + size(h[(start - 1) * n + start - 1]);
            if size(h[start * n + start - 1]) <= f64::EPSILON * near {
                h[start * n + start - 1] = Complex::default();
                break;
            }
            start -= 1;
        }
        if start + 1 == end {
            found.push(h[start * n + start]);
            end -= 1;
            steps = 0;
            continue;
        }
        steps += 1;
        if steps > MAX_STEPS {
            return None;
        }
        let last = end - 1;
        // Every tenth step another shift, should the usual one go in circles.
        let shift = if steps % 10 == 0 {
            h[last * n + last] + h[last * n + last - 1]
        } else {
            wilkinson(
                h[(last - 1) * n + last - 1],
                h[(last - 1) * n + last],
                h[last * n + last - 1],
                h[last * n + last],
            )
        };
        for i in start..end {
            h[i * n + i] = h[i * n + i] - shift;
        }
        // R = Gᴴ (H − s), then R G + s; eigenvalues alone need only the rows and columns of this block.
        for k in start..last {
            let (c, s) = rotation(h[k * n + k], h[(k + 1) * n + k]);
            rotations[k] = (c, s);
            for j in k..end {
                let (x, y) = (h[k * n + j], h[(k + 1) * n + j]);
                h[k * n + j] = c * x + s * y;
                h[(k + 1) * n + j] = conj(c) * y - conj(s) * x;
            }
        }
        for k in start..last {
            let (c, s) = rotations[k];
            for i in start..(k + 2).min(end) {
                let (x, y) = (h[i * n + k], h[i * n + k + 1]);
                h[i * n + k] = conj(c) * x + conj(s) * y;
                h[i * n + k + 1] = c * y - s * x;
            }
        }
        for i in start..end {
            h[i * n + i] = h[i * n + i] + shift;
        }
    }
    Some(found)
}

/// A similar matrix that is zero below the first subdiagonal.
fn hessenberg(n: usize, mut a: Vec<f64>) -> Vec<Complex> {
    balance(n, &mut a);
    for k in 1..n.saturating_sub(1) {
        let mut pivot = k;
        for i in k..n {
            if a[i * n + k - 1].abs() > a[pivot * n + k - 1].abs() {
                pivot = i;
            }
        }
        if a[pivot * n + k - 1] == 0.0 {
            continue;
        }
        if pivot != k {
            for j in 0..n {
                a.swap(pivot * n + j, k * n + j);
            }
            for i in 0..n {
                a.swap(i * n + pivot, i * n + k);
            }
        }
        for i in k + 1..n {
            let m = a[i * n + k - 1] / a[k * n + k - 1];
            if m == 0.0 {
                continue;
            }
            for j in k - 1..n {
                a[i * n + j] -= m * a[k * n + j];
            }
            for r in 0..n {
                a[r * n + k] += m * a[r * n + i];
            }
            a[i * n + k - 1] = 0.0;
        }
    }
    a.into_iter().map(|x| Complex::new(x, 0.0)).collect()
}

/// Scales rows and columns by powers of two until their sums are alike, which keeps eigenvalues exactly and makes those
/// of a matrix of mixed units more accurate (Parlett & Reinsch 1969).
fn balance(n: usize, a: &mut [f64]) {
    for _ in 0..20 {
        let mut done = true;
        for i in 0..n {
            let (mut row, mut column) = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != i) {
                row += a[i * n + j].abs();
                column += a[j * n + i].abs();
            }
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let exponent = (0.5 * elementary::log2(row / column)).round();
            let f = elementary::exp2(exponent);
            if column * f + row / f < 0.95 * (row + column) {
                done = false;
                for j in 0..n {
                    a[i * n + j] /= f;
                }
                for j in 0..n {
                    a[j * n + i] *= f;
                }
            }
        }
        if done {
            break;
        }
    }
}

fn conj(z: Complex) -> Complex {
    Complex::new(z.re, -z.im)
}

fn size(z: Complex) -> f64 {
    elementary::hypot(z.re, z.im)
}

fn sqrt(z: Complex) -> Complex {
    let r = size(z);
    let re = (0.5 * (r + z.re.abs())).sqrt();
    if re == 0.0 {
        return Complex::default();
    }
    let im = 0.5 * z.im.abs() / re;
    let (re, im) = if z.re >= 0.0 { (re, im) } else { (im, re) };
    Complex::new(re, if z.im < 0.0 { -im } else { im })
}

/// The eigenvalue of a 2 × 2 matrix that is nearer to its last entry.
fn wilkinson(a: Complex, b: Complex, c: Complex, d: Complex) -> Complex {
    let half = Complex::new(0.5, 0.0);
    let p = (a - d) * half;
    let root = sqrt(p * p + b * c);
    let (x, y) = (d + p + root, d + p - root);
    if size(x - d) < size(y - d) { x } else { y }
}

/// (c, s) with c x + s y = r and c̄ y − s̄ x = 0, |c|² + |s|² = 1.
fn rotation(x: Complex, y: Complex) -> (Complex, Complex) {
    let r = elementary::hypot(size(x), size(y));
    if r == 0.0 {
        return (Complex::new(1.0, 0.0), Complex::default());
    }
    let scale = Complex::new(1.0 / r, 0.0);
    (conj(x) * scale, conj(y) * scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Random;

    /// A companion matrix has the roots of its polynomial: (x−1)(x+2)(x−3)(x²−2x+5).
    #[test]
    fn analytic_companion_matrix() {
        // x⁵ − 4x⁴ + 4x³ + 6x² − 37x + 30, expanded from the factors.
        let c = [30.0, -37.0, 6.0, 4.0, -4.0];
        let n = 5;
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            a[i * n + n - 1] = -c[i];
            if i > 0 {
                a[i * n + i - 1] = 1.0;
            }
        }
        let e = solve_eigenvalues(n, &a).unwrap();
        let want = [(-2.0, 0.0), (1.0, -2.0), (1.0, 0.0), (1.0, 2.0), (3.0, 0.0)];
        for w in want {
            assert!(e.iter().any(|z| (z.re - w.0).abs() + (z.im - w.1).abs() < 1e-12), "{w:?} {e:?}");
        }
    }

    /// Trace and sum of squares survive for a seeded full matrix with badly scaled rows.
    #[test]
    fn identity_traces() {
        let n = 40;
        let mut seeded = Random::new(11);
        let mut random = || 0.5 * seeded.signed();
        let mut a: Vec<f64> = (0..n * n).map(|_| random()).collect();
        for i in 0..n {
            let f = 10f64.powi((i % 7) as i32 - 3);
            for j in 0..n {
                a[i * n + j] *= f;
                a[j * n + i] /= f;
            }
        }
        let e = solve_eigenvalues(n, &a).unwrap();
        let (mut trace, mut square) = (0.0, 0.0);
        for i in 0..n {
            trace += a[i * n + i];
            for j in 0..n {
                square += a[i * n + j] * a[j * n + i];
            }
        }
        let sum = e.iter().fold(Complex::default(), |s, &z| s + z);
        let squares = e.iter().fold(Complex::default(), |s, &z| s + z * z);
        assert!((sum.re - trace).abs() < 1e-11 && sum.im.abs() < 1e-11);
        assert!((squares.re - square).abs() < 1e-10 && squares.im.abs() < 1e-10);
    }

    #[test]
    fn analytic_bad_matrix_is_none() {
        assert!(solve_eigenvalues(1, &[f64::NAN]).is_none());
        assert!(solve_eigenvalues(2, &[1.0]).is_none());
        assert_eq!(solve_eigenvalues(0, &[]), Some(Vec::new()));
    }
}
