//! The cubic spline of SIMM.

use super::FunctionError;
use super::knots::{self, Place, SHORTEST_INTERVAL};
use crate::Real;

/// Cubic spline through points, linear outside, as SIMM's and OpenSim's `SimmSpline` (also called `NaturalCubicSpline`
/// and `natCubicSpline`).
///
/// With hᵢ = x_{i+1} − xᵢ (never below 1e-7), sᵢ = (y_{i+1} − yᵢ)/hᵢ and σᵢ one sixth of the
/// second derivative at knot i,
///
///   h_{i−1} σ_{i−1} + 2(h_{i−1} + hᵢ) σᵢ + hᵢ σ_{i+1} = sᵢ − s_{i−1}     (1)  inner knots
///   −h₀ σ₀ + h₀ σ₁ = r₀                                                 (2)  and alike at the end
///
/// where r makes the third derivative at the end that of the cubic through the four end
/// points (zero with three points). On the interval from knot k, with d = x − x_k,
///
///   y = y_k + d (b_k + d (c_k + d d_k))                                  (3)
///
/// Outside the knots y is extrapolated with the end slope, so the second derivative jumps to zero there.
///
/// Source: Forsythe, Malcolm and Moler (1977), `SPLINE`; SIMM (Delp and Loan 1995).
#[derive(Clone, Debug, PartialEq)]
pub struct SimmSpline {
    x: Vec<f64>,
    pieces: Vec<Piece>,
}

/// The cubic right of a knot, equation (3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Piece {
    y: f64,
    b: f64,
    c: f64,
    d: f64,
}

impl Piece {
    #[inline(always)]
    fn value<T: Real>(&self, dx: T) -> T {
        dx * (dx * (dx * self.d + self.c) + self.b) + self.y
    }
    #[inline(always)]
    fn eval<T: Real>(&self, dx: T) -> [T; 3] {
        [
            self.value(dx),
            dx * (dx * (3.0 * self.d) + 2.0 * self.c) + self.b,
            dx * (6.0 * self.d) + 2.0 * self.c,
        ]
    }
}

impl SimmSpline {
    /// Through the points (x, y), with x increasing (equal neighbours allowed) and at least two points.
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Result<Self, FunctionError> {
        knots::points("SimmSpline", &x, &y, 2, false)?;
        let pieces = if x.len() == 2 {
            let b = (y[1] - y[0]) / (x[1] - x[0]).max(SHORTEST_INTERVAL);
            vec![Piece { y: y[0], b, ..Piece::default() }, Piece { y: y[1], b, ..Piece::default() }]
        } else {
            pieces(&x, &y)
        };
        Ok(SimmSpline { x, pieces })
    }

    /// The knots.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The values at the knots.
    pub fn y(&self) -> impl Iterator<Item = f64> + '_ {
        self.pieces.iter().map(|p| p.y)
    }

    /// The piece that holds x and the distance from its knot; `None` where the end slope goes on.
    #[inline(always)]
    fn locate<T: Real>(&self, x: T) -> (usize, T, bool) {
        let last = self.x.len() - 1;
        match knots::place(&self.x, x.value()) {
            Place::Before => (0, x - self.x[0], true),
            // On an end knot the value is exactly its y: the offset keeps only derivatives.
            Place::First => (0, x - x.value(), false),
            Place::Between(k) => (k, x - self.x[k], false),
            Place::Last => (last, x - x.value(), false),
            Place::After => (last, x - self.x[last], true),
        }
    }

    /// The cubic that holds x, for what records: its knot and coefficients.
    #[inline(always)]
    fn cubic<T: Real>(&self, x: T) -> [T; 5] {
        let last = self.x.len() - 1;
        x.rank(&self.x).row(self.x.len() + 1, |row| {
            let k = row.saturating_sub(1);
            let p = &self.pieces[k];
            let outside = row == 0 || k == last;
            let (c, d) = if outside { (0.0, 0.0) } else { (p.c, p.d) };
            [self.x[k], p.y, p.b, c, d]
        })
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        if T::RECORDS {
            let [x0, y, b, c, d] = self.cubic(x);
            let dx = x - x0;
            return ((d * dx + c) * dx + b) * dx + y;
        }
        let (k, dx, outside) = self.locate(x);
        let p = &self.pieces[k];
        if outside { dx * p.b + p.y } else { p.value(dx) }
    }

    /// Value, first and second derivative at `x`.
    #[inline]
    pub fn eval<T: Real>(&self, x: T) -> [T; 3] {
        if T::RECORDS {
            let [x0, y, b, c, d] = self.cubic(x);
            let dx = x - x0;
            let value = ((d * dx + c) * dx + b) * dx + y;
            return [value, (d * dx * 3.0 + c * 2.0) * dx + b, d * dx * 6.0 + c * 2.0];
        }
        let (k, dx, outside) = self.locate(x);
        let p = &self.pieces[k];
        if outside { [dx * p.b + p.y, T::cst(p.b), T::zero()] } else { p.eval(dx) }
    }
}

/// Solves (1) and (2) for three points or more and returns the cubics (3).
fn pieces(x: &[f64], y: &[f64]) -> Vec<Piece> {
    let n = x.len();
    let gap = |i: usize, j: usize| (x[j] - x[i]).max(SHORTEST_INTERVAL);
    let h: Vec<f64> = (0..n - 1).map(|i| gap(i, i + 1)).collect();
    let s: Vec<f64> = (0..n - 1).map(|i| (y[i + 1] - y[i]) / h[i]).collect();

    // Diagonal and right-hand side; the off-diagonals are h.
    let mut diagonal = vec![0.0; n];
    let mut sigma = vec![0.0; n];
    diagonal[0] = -h[0];
    diagonal[n - 1] = -h[n - 2];
    for i in 1..n - 1 {
        diagonal[i] = 2.0 * (h[i - 1] + h[i]);
        sigma[i] = s[i] - s[i - 1];
    }
    if n > 3 {
        let left = sigma[2] / gap(1, 3) - sigma[1] / gap(0, 2);
        let right = sigma[n - 2] / gap(n - 3, n - 1) - sigma[n - 3] / gap(n - 4, n - 2);
        sigma[0] = left * h[0] * h[0] / gap(0, 3);
        sigma[n - 1] = -right * h[n - 2] * h[n - 2] / gap(n - 4, n - 1);
    }

    // Elimination downwards, substitution upwards.
    for i in 1..n {
        let f = h[i - 1] / diagonal[i - 1];
        diagonal[i] -= f * h[i - 1];
        sigma[i] -= f * sigma[i - 1];
    }
    sigma[n - 1] /= diagonal[n - 1];
    for i in (0..n - 1).rev() {
        sigma[i] = (sigma[i] - h[i] * sigma[i + 1]) / diagonal[i];
    }

    let mut pieces: Vec<Piece> = (0..n - 1)
        .map(|k| Piece {
            y: y[k],
            b: s[k] - h[k] * (sigma[k + 1] + 2.0 * sigma[k]),
            c: 3.0 * sigma[k],
            d: (sigma[k + 1] - sigma[k]) / h[k],
        })
        .collect();
    let e = n - 2;
    pieces.push(Piece {
        y: y[n - 1],
        b: s[e] + h[e] * (sigma[e] + 2.0 * sigma[n - 1]),
        c: 3.0 * sigma[n - 1],
        d: pieces[e].d,
    });
    pieces
}
