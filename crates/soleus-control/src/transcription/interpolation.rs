//! Interpolation between the points of a scheme.

use super::legendre::{lagrange, lagrange_slope};
use super::scheme::Scheme;

/// A quantity at the points of one interval, by weights of its values there and of its rates times the duration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pub of_values: Vec<f64>,
    pub of_rates: Vec<f64>,
}

impl Weights {
    /// Σ a x + h Σ b ẋ.
    pub fn apply(&self, h: f64, value: impl Fn(usize) -> f64, rate: impl Fn(usize) -> f64) -> f64 {
        let along = |w: &[f64], of: &dyn Fn(usize) -> f64| -> f64 {
            // A value without a weight is not asked for.
            w.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(k, w)| w * of(k)).sum()
        };
        along(&self.of_values, &value) + h * along(&self.of_rates, &rate)
    }
}

impl Scheme {
    /// Exponent p of an interval's error h^p, measured as the integral of |x̃′ − ẋ| with the polynomial x̃ of the scheme: one more
    /// than its degree.
    pub fn error_exponent(&self) -> usize {
        match *self {
            Scheme::BackwardEuler | Scheme::Midpoint => 2,
            Scheme::Trapezoidal => 3,
            Scheme::HermiteSimpson | Scheme::HermiteSimpsonCompressed => 4,
            Scheme::LegendreGauss(n) | Scheme::LegendreGaussRadau(n) => n + 1,
        }
    }

    /// The state at s from 0 to 1 inside an interval with points at `nodes`, and its slope by s.
    pub(super) fn state_weights(&self, nodes: &[f64], s: f64) -> [Weights; 2] {
        let n = nodes.len();
        let mut both = [(); 2].map(|()| Weights { of_values: vec![0.0; n], of_rates: vec![0.0; n] });
        let [x, dx] = &mut both;
        let last = n - 1;
        match self {
            // Rates on a line.
            Scheme::Trapezoidal => {
                (x.of_values[0], x.of_rates[0], x.of_rates[last]) = (1.0, s - 0.5 * s * s, 0.5 * s * s);
                (dx.of_rates[0], dx.of_rates[last]) = (1.0 - s, s);
            }
            Scheme::Midpoint | Scheme::BackwardEuler => {
                (x.of_values[0], x.of_values[last]) = (1.0 - s, s);
                (dx.of_values[0], dx.of_values[last]) = (-1.0, 1.0);
            }
            // Hermite's cubic through values and rates at both ends.
            Scheme::HermiteSimpson | Scheme::HermiteSimpsonCompressed => {
                let (s2, s3) = (s * s, s * s * s);
                (x.of_values[0], x.of_values[last]) = (1.0 - 3.0 * s2 + 2.0 * s3, 3.0 * s2 - 2.0 * s3);
                (x.of_rates[0], x.of_rates[last]) = (s - 2.0 * s2 + s3, s3 - s2);
                (dx.of_values[0], dx.of_values[last]) = (6.0 * (s2 - s), 6.0 * (s - s2));
                (dx.of_rates[0], dx.of_rates[last]) = (1.0 - 4.0 * s + 3.0 * s2, 3.0 * s2 - 2.0 * s);
            }
            Scheme::LegendreGauss(points) | Scheme::LegendreGaussRadau(points) => {
                let basis = &nodes[..=(*points).min(last)];
                for k in 0..basis.len() {
                    x.of_values[k] = lagrange(basis, k, s);
                    dx.of_values[k] = lagrange_slope(basis, k, s);
                }
            }
        }
        both
    }

    /// A control at s; `on_line` if it lies on the line between the ends.
    pub(super) fn control_weights(&self, nodes: &[f64], s: f64, on_line: bool) -> Weights {
        let n = nodes.len();
        let mut of_values = vec![0.0; n];
        let last = n - 1;
        let points = match self {
            _ if on_line => [0, last].to_vec(),
            Scheme::Trapezoidal | Scheme::HermiteSimpson | Scheme::HermiteSimpsonCompressed => {
                (0..n).collect()
            }
            Scheme::Midpoint => vec![1],
            Scheme::BackwardEuler => vec![last],
            Scheme::LegendreGauss(points) | Scheme::LegendreGaussRadau(points) => {
                (1..=(*points).min(last)).collect()
            }
        };
        let basis: Vec<f64> = points.iter().map(|&k| nodes[k]).collect();
        for (k, &point) in points.iter().enumerate() {
            of_values[point] = lagrange(&basis, k, s);
        }
        Weights { of_values, of_rates: vec![0.0; n] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polynomials up to the degree of a scheme are met between the points, with their slopes.
    #[test]
    fn analytic_low_polynomials_between_points() {
        let schemes = [
            Scheme::Trapezoidal,
            Scheme::HermiteSimpson,
            Scheme::HermiteSimpsonCompressed,
            Scheme::Midpoint,
            Scheme::BackwardEuler,
            Scheme::LegendreGauss(4),
            Scheme::LegendreGaussRadau(3),
        ];
        for scheme in schemes {
            let nodes = scheme.stencil().nodes;
            for degree in 0..scheme.error_exponent() as i32 {
                let power = |s: f64| s.powi(degree);
                let slope = |s: f64| if degree == 0 { 0.0 } else { f64::from(degree) * s.powi(degree - 1) };
                for s in [0.0, 0.13, 0.5, 0.92, 1.0] {
                    let [x, dx] = scheme.state_weights(&nodes, s);
                    let at = |w: &Weights| w.apply(1.0, |k| power(nodes[k]), |k| slope(nodes[k]));
                    // Sums of a few numbers near one.
                    assert!((at(&x) - power(s)).abs() < 1e-13, "{scheme:?}, degree {degree}, s {s}");
                    assert!((at(&dx) - slope(s)).abs() < 1e-12, "{scheme:?}, degree {degree}, s {s}");
                    let line = scheme.control_weights(&nodes, s, true);
                    assert!((line.apply(1.0, |k| nodes[k], |_| 0.0) - s).abs() < 1e-15);
                    let own = scheme.control_weights(&nodes, s, false);
                    assert!((own.apply(1.0, |_| 1.0, |_| 0.0) - 1.0).abs() < 1e-13);
                }
            }
        }
    }
}
