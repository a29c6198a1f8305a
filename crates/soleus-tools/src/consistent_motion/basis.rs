//! Natural quintic splines over the frames of a trial, as sums of basis functions with local support.
//!
//! These are the same splines that inverse dynamics uses for a motion (derivatives 3 and 4 are zero at both ends), so
//! that it differentiates exactly the motion that was solved for.

/// Degree of the splines.
const DEGREE: usize = 5;

/// Value, first and second derivative of the functions at a frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The first function.
    pub first: usize,
    /// By function: value, first and second derivative.
    pub at: Vec<[f64; 3]>,
}

/// The functions over given frames; as many as frames.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub rows: Vec<Row>,
    /// ∫ φ_k‴ φ_l‴ dt for k ≥ l ≥ k − 5: entry 6 k + (k − l).
    pub roughness: Vec<f64>,
}

/// B-spline m of degree p on knots τ, its derivative of order d, at t in the interval that begins with knot `span`.
fn b_spline(knots: &[f64], m: usize, p: usize, d: usize, t: f64, span: usize) -> f64 {
    let part = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    if p == 0 {
        return if d == 0 && m == span { 1.0 } else { 0.0 };
    }
    if m > span || m + p < span {
        return 0.0;
    }
    let (left, right) = (knots[m + p] - knots[m], knots[m + p + 1] - knots[m + 1]);
    if d > 0 {
        let (a, b) =
            (b_spline(knots, m, p - 1, d - 1, t, span), b_spline(knots, m + 1, p - 1, d - 1, t, span));
        return p as f64 * (part(a, left) - part(b, right));
    }
    let (a, b) = (b_spline(knots, m, p - 1, 0, t, span), b_spline(knots, m + 1, p - 1, 0, t, span));
    part((t - knots[m]) * a, left) + part((knots[m + p + 1] - t) * b, right)
}

impl Basis {
    /// Basis functions for frames at `times`, at least eight, increasing.
    pub fn new(times: &[f64]) -> Self {
        let n = times.len();
        let mut knots = vec![times[0]; DEGREE];
        knots.extend_from_slice(times);
        knots.extend([times[n - 1]; DEGREE]);
        // Of the n + 4 B-splines the first two and the last two are what derivatives 3 and 4 at the ends make of their neighbours.
        let ends = [End::new(&knots, 0, n), End::new(&knots, n - 2, n)];
        // The functions in interval i at t: the derivatives of order d of those from i − 2 to i + 3.
        let fold = |i: usize, t: f64, d: usize, out: &mut [f64; 6]| {
            out.fill(0.0);
            let first = i as isize - 2;
            for m in i..=i + DEGREE {
                let value = b_spline(&knots, m, DEGREE, d, t, i + DEGREE);
                let k = m as isize - 2;
                let mut add = |k: isize, x: f64| {
                    if let Ok(at) = usize::try_from(k - first) {
                        out[at] += x;
                    }
                };
                if k < 0 {
                    (0..3).for_each(|j| add(j as isize, value * ends[0].shares[m][j]));
                } else if k >= n as isize {
                    let j_end = n + 3 - m;
                    (0..3).for_each(|j| add(n as isize - 1 - j as isize, value * ends[1].shares[j_end][j]));
                } else {
                    add(k, value);
                }
            }
        };
        let mut rows = Vec::with_capacity(n);
        let mut out = [0.0; 6];
        for (i, &t) in times.iter().enumerate() {
            let interval = i.min(n - 2);
            let (first, last) = (i.saturating_sub(2), (i + 2).min(n - 1));
            let mut at = vec![[0.0; 3]; last - first + 1];
            for d in 0..3 {
                fold(interval, t, d, &mut out);
                for (k, a) in at.iter_mut().enumerate() {
                    a[d] = out[first + k + 2 - interval];
                }
            }
            rows.push(Row { first, at });
        }
        // Third derivatives are quadratic in each interval: three points of Gauss integrate their products exactly.
        let mut roughness = vec![0.0; 6 * n];
        for i in 0..n - 1 {
            let (mid, half) = (0.5 * (times[i] + times[i + 1]), 0.5 * (times[i + 1] - times[i]));
            for (x, w) in [(-0.6f64.sqrt(), 5.0 / 9.0), (0.0, 8.0 / 9.0), (0.6f64.sqrt(), 5.0 / 9.0)] {
                fold(i, mid + half * x, 3, &mut out);
                for a in 0..6 {
                    for b in 0..=a {
                        let (k, l) = (i + a, i + b);
                        if out[a] != 0.0 && out[b] != 0.0 && l >= 2 && k - 2 < n {
                            roughness[6 * (k - 2) + (a - b)] += half * w * out[a] * out[b];
                        }
                    }
                }
            }
        }
        Basis { rows, roughness }
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The coefficients of the spline through values at the frames.
    pub fn interpolate(&self, values: &[f64]) -> Vec<f64> {
        let n = self.len();
        // Five diagonals, eliminated without pivots: the functions at the frames make a matrix that is totally positive but at its ends.
        let mut band = vec![[0.0; 5]; n];
        for (i, row) in self.rows.iter().enumerate() {
            for (k, a) in row.at.iter().enumerate() {
                band[i][row.first + k + 2 - i] = a[0];
            }
        }
        let mut x = values.to_vec();
        for i in 0..n {
            for below in 1..=2 {
                let j = i + below;
                if j >= n || band[j][2 - below] == 0.0 {
                    continue;
                }
                let f = band[j][2 - below] / band[i][2];
                for c in 0..=2 {
                    band[j][2 - below + c] -= f * band[i][2 + c];
                }
                x[j] -= f * x[i];
            }
        }
        for i in (0..n).rev() {
            for c in 1..=2 {
                if i + c < n {
                    x[i] -= band[i][2 + c] * x[i + c];
                }
            }
            x[i] /= band[i][2];
        }
        x
    }
}

/// How the two outer B-splines at an end follow from the next three.
struct End {
    /// By outer B-spline from the end inwards: shares of the next three.
    shares: [[f64; 3]; 2],
}

impl End {
    /// At the beginning or end of interval i.
    fn new(knots: &[f64], i: usize, n: usize) -> Self {
        let at_start = i == 0;
        let (t, span) = if at_start { (knots[0], DEGREE) } else { (knots[knots.len() - 1], i + DEGREE) };
        let index = |j: usize| if at_start { j } else { n + 3 - j };
        let d = |order: usize, j: usize| b_spline(knots, index(j), DEGREE, order, t, span);
        // Σ c_j B_j⁽³⁾ = Σ c_j B_j⁽⁴⁾ = 0 solved for c_0 and c_1.
        let (a, b, c, e) = (d(3, 0), d(3, 1), d(4, 0), d(4, 1));
        let det = a * e - b * c;
        let mut shares = [[0.0; 3]; 2];
        for j in 0..3 {
            let (f, g) = (-d(3, j + 2), -d(4, j + 2));
            shares[0][j] = (f * e - b * g) / det;
            shares[1][j] = (a * g - f * c) / det;
        }
        End { shares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::function::GcvSpline;

    /// Values and derivatives at the frames are those of the natural spline that inverse dynamics uses, at uneven times too.
    #[test]
    fn identity_natural_spline() {
        let times: Vec<f64> = (0..30).map(|i| 0.01 * f64::from(i) + 0.001 * f64::from(i).sin()).collect();
        let values: Vec<f64> = times.iter().map(|t| (13.0 * t).sin() + t).collect();
        let basis = Basis::new(&times);
        let c = basis.interpolate(&values);
        let spline = GcvSpline::interpolate(5, times.clone(), &values).unwrap();
        let mut energy = 0.0;
        for (row, t) in basis.rows.iter().zip(&times) {
            let expected = spline.eval(*t);
            for d in 0..3 {
                let sum: f64 = row.at.iter().enumerate().map(|(k, a)| a[d] * c[row.first + k]).sum();
                // Rounding 1e-16 grows with 1/h² = 1e4 and the condition of the spline.
                assert!(
                    (sum - expected[d]).abs() < 1e-9 * (1.0 + expected[d].abs()),
                    "{d}: {sum} {}",
                    expected[d]
                );
            }
        }
        // ∫ s‴² by the pieces of the spline: s‴ = 6 a₃ + 24 a₂… of descending powers.
        for (i, w) in times.windows(2).enumerate() {
            let p = &spline.coefficients()[6 * (i + 1)..6 * (i + 2)];
            let h = w[1] - w[0];
            let third = |x: f64| 60.0 * p[0] * x * x + 24.0 * p[1] * x + 6.0 * p[2];
            energy += h / 90.0
                * (7.0 * (third(0.0).powi(2) + third(h).powi(2))
                    + 32.0 * (third(0.25 * h).powi(2) + third(0.75 * h).powi(2))
                    + 12.0 * third(0.5 * h).powi(2));
        }
        let mut sum = 0.0;
        for k in 0..c.len() {
            for back in 0..=k.min(5) {
                let twice = if back == 0 { 1.0 } else { 2.0 };
                sum += twice * basis.roughness[6 * k + back] * c[k] * c[k - back];
            }
        }
        assert!((sum - energy).abs() < 1e-7 * energy, "{sum} {energy}");
    }
}
