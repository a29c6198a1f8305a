//! Linear interpolation.

use super::FunctionError;
use super::knots::{self, Place, SHORTEST_INTERVAL};
use crate::Real;

/// Linear interpolation of points; outside, the first and the last line are extrapolated.
///
/// As OpenSim's `PiecewiseLinearFunction`: a single point is a constant, and two points at the same x make a ramp of
/// slope Δy / 1e-7. The slope at an inner knot is that of one of the two lines that meet there, the same as in OpenSim
/// 4.6.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseLinear {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Slope right of each knot; the last repeats the one before.
    slope: Vec<f64>,
}

impl PiecewiseLinear {
    /// Through the points (x, y), with x increasing and at least one point.
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Result<Self, FunctionError> {
        knots::points("PiecewiseLinearFunction", &x, &y, 1, false)?;
        let n = x.len();
        let mut slope: Vec<f64> =
            (1..n).map(|i| (y[i] - y[i - 1]) / (x[i] - x[i - 1]).max(SHORTEST_INTERVAL)).collect();
        slope.push(slope.last().copied().unwrap_or(0.0));
        Ok(PiecewiseLinear { x, y, slope })
    }

    /// The knots.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The values at the knots.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        self.eval(x)[0]
    }

    /// Value, slope and zero at `x`.
    #[inline]
    pub fn eval<T: Real>(&self, x: T) -> [T; 3] {
        let n = self.x.len();
        if T::RECORDS {
            let [x0, y, slope] = x.rank(&self.x).row(n + 1, |row| {
                let k = row.saturating_sub(1);
                [self.x[k], self.y[k], self.slope[k]]
            });
            return [(x - x0) * slope + y, slope, T::zero()];
        }
        let (k, dx) = match knots::place(&self.x, x.value()) {
            Place::Before => (0, x - self.x[0]),
            // On an end knot the value is exactly its y: the offset keeps only derivatives.
            Place::First => (0, x - x.value()),
            Place::Between(k) => (k, x - self.x[k]),
            Place::Last => (n - 1, x - x.value()),
            Place::After => (n - 1, x - self.x[n - 1]),
        };
        [dx * self.slope[k] + self.y[k], T::cst(self.slope[k]), T::zero()]
    }
}
