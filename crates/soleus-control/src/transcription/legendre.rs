//! Legendre–Gauss and Legendre–Gauss–Radau points on [0, 1], and Lagrange polynomials through given nodes.

use soleus_math::elementary;

/// Legendre polynomial P_n(x) and its slope.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut p0, mut p1) = (1.0, x);
    if n == 0 {
        return (1.0, 0.0);
    }
    for k in 2..=n {
        let k = k as f64;
        (p0, p1) = (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k);
    }
    let n = n as f64;
    (p1, n * (x * p1 - p0) / (x * x - 1.0))
}

/// The n zeros of P_n, mapped to (0, 1), increasing.
pub fn gauss_points(n: usize) -> Vec<f64> {
    zeros(n, |x| legendre(n, x))
}

/// The n Radau points in (0, 1], the last of them 1: zeros of (P_n − P_{n−1})(x), mapped.
pub fn radau_points(n: usize) -> Vec<f64> {
    // Deflated by the zero at x = 1, so that Newton finds the others.
    let mut points = zeros(n - 1, |x| {
        let ((a, da), (b, db)) = (legendre(n, x), legendre(n - 1, x));
        let (f, df, r) = (a - b, da - db, x - 1.0);
        (f / r, (df * r - f) / (r * r))
    });
    points.push(1.0);
    points
}

/// The n zeros in (−1, 1) of a function with slope, by Newton's method with deflation; mapped to (0, 1).
fn zeros(n: usize, f: impl Fn(f64) -> (f64, f64)) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(n);
    for k in 0..n {
        // Chebyshev points lie close to the zeros of all orthogonal polynomials.
        let mut x = -elementary::cos(std::f64::consts::PI * (k as f64 + 0.75) / (n as f64 + 0.5));
        for _ in 0..100 {
            let (v, slope) = f(x);
            let repelled: f64 = found.iter().map(|z| 1.0 / (x - z)).sum();
            let step = v / (slope - v * repelled);
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        found.push(x);
    }
    found.sort_by(f64::total_cmp);
    found.iter().map(|x| 0.5 * (x + 1.0)).collect()
}

/// Value at `x` of the Lagrange polynomial that is 1 at node k and 0 at the others.
pub fn lagrange(nodes: &[f64], k: usize, x: f64) -> f64 {
    others(nodes, k).map(|c| (x - c) / (nodes[k] - c)).product()
}

/// Its derivative.
pub fn lagrange_slope(nodes: &[f64], k: usize, x: f64) -> f64 {
    let n = nodes.len();
    (0..n)
        .filter(|&i| i != k)
        .map(|i| {
            let rest = (0..n).filter(|&j| j != k && j != i);
            rest.map(|j| (x - nodes[j]) / (nodes[k] - nodes[j])).product::<f64>() / (nodes[k] - nodes[i])
        })
        .sum()
}

/// Its integral over [0, 1], by an exact Gauss rule.
pub fn lagrange_integral(nodes: &[f64], k: usize) -> f64 {
    let points = gauss_points(nodes.len());
    let n = points.len();
    points
        .iter()
        .map(|&x| {
            // Weight of the Gauss rule on [0, 1]: 1 / ((1 − s²) P_n′(s)²), s = 2x − 1.
            let s = 2.0 * x - 1.0;
            let (_, slope) = legendre(n, s);
            lagrange(nodes, k, x) / ((1.0 - s * s) * slope * slope)
        })
        .sum()
}

fn others(nodes: &[f64], k: usize) -> impl Iterator<Item = f64> + '_ {
    nodes.iter().enumerate().filter(move |&(i, _)| i != k).map(|(_, &c)| c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of order 2 and 3 in closed form (Hairer and Wanner 1996, tables IV.5.3, IV.5.5).
    #[test]
    fn analytic_low_orders() {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        let r3 = 3f64.sqrt() / 6.0;
        let r15 = 15f64.sqrt() / 10.0;
        let r6 = 6f64.sqrt();
        assert!(near(&gauss_points(1), &[0.5]));
        assert!(near(&gauss_points(2), &[0.5 - r3, 0.5 + r3]));
        assert!(near(&gauss_points(3), &[0.5 - r15, 0.5, 0.5 + r15]));
        assert_eq!(radau_points(1), [1.0]);
        assert!(near(&radau_points(2), &[1.0 / 3.0, 1.0]));
        assert!(near(&radau_points(3), &[(4.0 - r6) / 10.0, (4.0 + r6) / 10.0, 1.0]));
    }

    /// Gauss points integrate polynomials of degree 2n − 1 exactly, Radau points 2n − 2.
    #[test]
    fn analytic_quadrature_is_exact() {
        for n in 1..=9 {
            for (points, degree) in [(gauss_points(n), 2 * n - 1), (radau_points(n), 2 * n - 2)] {
                assert_eq!(points.len(), n);
                let sum: f64 =
                    (0..n).map(|k| lagrange_integral(&points, k) * points[k].powi(degree as i32)).sum();
                // Rounding of weights that sum to one.
                assert!((sum - 1.0 / (degree as f64 + 1.0)).abs() < 1e-14, "{n} points: {sum}");
            }
        }
    }
}
