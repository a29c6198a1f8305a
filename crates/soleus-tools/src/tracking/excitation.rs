//! The excitation that leads to a force.

use super::TrackingError;

/// Excitations are found to this.
const TOLERANCE: f64 = 1e-7;
/// Evaluations at most; bisection alone would take 24.
const MOST: usize = 60;

/// The x between two ends with f(x) = target, where f rises; the nearer end where it lies beyond. Values at the ends are known.
///
/// Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, bisection otherwise.
pub(super) fn root(
    ends: [f64; 2],
    values: [f64; 2],
    target: f64,
    mut f: impl FnMut(f64) -> Result<f64, TrackingError>,
) -> Result<f64, TrackingError> {
    let ([mut b, mut a], [mut fb, mut fa]) = (ends, values.map(|v| v - target));
    if fb >= 0.0 || a == b {
        return Ok(b);
    }
    if fa <= 0.0 {
        return Ok(a);
    }
    let mut s = fb / (fb - fa);
    for _ in 0..MOST {
        // x is nearest to a, on the line through a and b at first.
        let x = match a > b {
            true => b + s * (a - b),
            false => b - s * (b - a),
        };
        let fx = f(x)?;
        let fx = fx - target;
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, least) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let width = (b - a).abs();
        if least == 0.0 || 2.0 * TOLERANCE > width {
            return Ok(best);
        }
        let xi = (a - b) / (c - b);
        let phi = (fa - fb) / (fc - fb);
        let from_a = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        // As a fraction of the way from a to b, not nearer to either than the tolerance.
        let little = TOLERANCE / width;
        let t = from_a.clamp(little, 1.0 - little);
        // The next x, as a fraction of the way from b to a.
        s = 1.0 - t;
    }
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_roots_of_rising_functions() {
        let functions: [fn(f64) -> f64; 4] = [
            |x| x,
            |x| x.powi(5),
            |x| (8.0 * (x - 0.3)).tanh(),
            |x| if x < 0.4 { 0.1 * x } else { x - 0.36 },
        ];
        for f in functions {
            for k in 0..=20 {
                let x = 0.02 + 0.98 * f64::from(k) / 20.0;
                let mut count = 0;
                let found = root([0.02, 1.0], [f(0.02), f(1.0)], f(x), |x| {
                    count += 1;
                    Ok(f(x))
                });
                let found = found.unwrap();
                assert!((f(found) - f(x)).abs() < 1e-6, "{found} for {x}");
                assert!(count < 25, "{count} evaluations");
            }
        }
        assert_eq!(root([0.0, 1.0], [2.0, 3.0], 1.0, Ok).unwrap(), 0.0);
        assert_eq!(root([0.0, 1.0], [2.0, 3.0], 4.0, Ok).unwrap(), 1.0);
    }
}
