//! Natural splines of odd degree, interpolating or smoothing.

mod fit;
mod smooth;

use super::polynomial::{horner, horner2};
use super::{FunctionError, knots};
use crate::Real;
use fit::Fit;
use std::sync::Arc;

/// Natural spline of degree 2m − 1 (1, 3, 5 or 7) through or near points, as OpenSim's `GCVSpline`.
///
/// It minimizes
///
///   Σᵢ (yᵢ − s(xᵢ))² + p ∫ s⁽ᵐ⁾(x)² dx                                   (1)
///
/// for a smoothing parameter p that follows from the error variance of the data (see [`Smoothing`]); variance 0 means
/// p = 0: the spline passes through the points. Derivatives m to 2m − 2 vanish at both ends; outside, the spline is
/// extrapolated by the polynomial of degree m − 1 at the end (a quintic spline extrapolates quadratically).
///
/// Source: Woltring (1986), A FORTRAN package for generalized, cross-validatory spline smoothing and differentiation,
/// Adv Eng Softw 8:104–113. The construction differs: see `fit.rs` and `smooth.rs`. As in OpenSim 4.6, weights of
/// individual points are not used.
#[derive(Clone, Debug, PartialEq)]
pub struct GcvSpline {
    half_order: usize,
    x: Arc<[f64]>,
    /// Pieces in descending powers of x − origin, 2m numbers each: left of the knots,
    /// the n − 1 intervals, right of the knots.
    coefficients: Vec<f64>,
    /// 1/h where the knots are h apart, else 0: gives the interval without a search.
    inv_spacing: f64,
    smoothing_parameter: f64,
}

/// How closely a [`GcvSpline`] follows its points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Through the points.
    Interpolate,
    /// The errors of y have this variance σ²: p minimizes the expected distance to the truth,
    /// R(p) − σ² (2 tr(I − A)/n − 1), where R is the mean squared residual and A maps the
    /// data onto the spline (Craven and Wahba 1979).
    ErrorVariance(f64),
    /// The variance is unknown: p minimizes R(p) / (tr(I − A)/n)², generalized cross-validation.
    CrossValidation,
    /// The smoothing parameter p of (1) itself.
    Parameter(f64),
}

impl Smoothing {
    /// From OpenSim's `error_variance`: negative for cross-validation.
    pub fn from_error_variance(variance: f64) -> Self {
        if variance > 0.0 {
            Smoothing::ErrorVariance(variance)
        } else if variance < 0.0 {
            Smoothing::CrossValidation
        } else {
            Smoothing::Interpolate
        }
    }
}

const KIND: &str = "GCVSpline";

/// Knots of several splines: data that depend only on the knots are computed and stored once.
#[derive(Clone, Debug)]
pub struct SplineKnots {
    degree: usize,
    x: Arc<[f64]>,
    fit: Option<Fit>,
    /// As in [`GcvSpline`].
    inv_spacing: f64,
}

impl SplineKnots {
    /// Knots at x for splines of `degree` 1, 3, 5 or 7: strictly increasing, at least degree + 1, which is checked with
    /// the first spline.
    pub fn new(degree: usize, x: Vec<f64>) -> Self {
        SplineKnots { degree, x: x.into(), fit: None, inv_spacing: 0.0 }
    }

    /// The spline through values y at the knots.
    pub fn interpolate(&mut self, y: &[f64]) -> Result<GcvSpline, FunctionError> {
        self.spline(y, Smoothing::Interpolate)
    }

    /// The spline through or near values y at the knots.
    fn spline(&mut self, y: &[f64], smoothing: Smoothing) -> Result<GcvSpline, FunctionError> {
        let (x, half_order) = (&self.x, self.degree.div_ceil(2));
        let fit = match &mut self.fit {
            Some(fit) if y.len() == x.len() => {
                knots::finite(KIND, "y", y)?;
                fit
            }
            fit => {
                if !matches!(self.degree, 1 | 3 | 5 | 7) {
                    let (found, expected) = (self.degree as f64, "1, 3, 5 or 7");
                    return Err(FunctionError::OutOfRange { kind: KIND, what: "degree", found, expected });
                }
                knots::points(KIND, x, y, self.degree + 1, true)?;
                self.inv_spacing = inverse_spacing(x);
                fit.insert(Fit::new(half_order, x))
            }
        };
        let (coefficients, smoothing_parameter) = fit.near(y, smoothing);
        knots::finite(KIND, "fitted coefficients", &coefficients)?;
        let inv_spacing = self.inv_spacing;
        Ok(GcvSpline { half_order, x: x.clone(), coefficients, inv_spacing, smoothing_parameter })
    }
}

/// 1/h of knots that are h apart as far as printed numbers can be, else 0. The guess of an interval is then off by one at most, and is
/// mended in `piece`.
fn inverse_spacing(x: &[f64]) -> f64 {
    let n = x.len();
    let h = (x[n - 1] - x[0]) / (n - 1) as f64;
    let off = |(i, xi): (usize, &f64)| (xi - (x[0] + h * i as f64)).abs();
    let even = x.iter().enumerate().fold(true, |even, knot| even & (off(knot) < 0.25 * h));
    if even && h.recip().is_finite() { h.recip() } else { 0.0 }
}

impl GcvSpline {
    /// Spline of `degree` 1, 3, 5 or 7 through the points (x, y), with x strictly increasing and at least degree + 1
    /// points.
    pub fn interpolate(degree: usize, x: Vec<f64>, y: &[f64]) -> Result<Self, FunctionError> {
        Self::new(degree, x, y, Smoothing::Interpolate)
    }

    /// Spline of `degree` 1, 3, 5 or 7 near the points (x, y), with x strictly increasing and at least degree + 1
    /// points.
    pub fn new(degree: usize, x: Vec<f64>, y: &[f64], smoothing: Smoothing) -> Result<Self, FunctionError> {
        if let Smoothing::ErrorVariance(v) | Smoothing::Parameter(v) = smoothing
            && !(v.is_finite() && v >= 0.0)
        {
            let expected = "zero or more";
            return Err(FunctionError::OutOfRange { kind: KIND, what: "smoothing", found: v, expected });
        }
        SplineKnots::new(degree, x).spline(y, smoothing)
    }

    /// Degree 2m − 1.
    pub fn degree(&self) -> usize {
        2 * self.half_order - 1
    }

    /// The knots.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The pieces in descending powers of x − origin, degree + 1 numbers each: left of the knots, the intervals between
    /// them, right of the knots. The origin is the knot at the left, and the first knot for the first piece.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The spline with these pieces, as returned by [`coefficients`](Self::coefficients): for a spline that was written
    /// to a file, without fitting it again.
    pub fn from_coefficients(
        degree: usize,
        x: Vec<f64>,
        coefficients: Vec<f64>,
        smoothing_parameter: f64,
    ) -> Result<Self, FunctionError> {
        if !matches!(degree, 1 | 3 | 5 | 7) {
            let (found, expected) = (degree as f64, "1, 3, 5 or 7");
            return Err(FunctionError::OutOfRange { kind: KIND, what: "degree", found, expected });
        }
        knots::points(KIND, &x, &x, degree + 1, true)?;
        let (needed, found) = ((x.len() + 1) * (degree + 1), coefficients.len());
        if needed != found {
            return Err(FunctionError::WrongCount { kind: KIND, what: "coefficients", needed, found });
        }
        knots::finite(KIND, "coefficients", &coefficients)?;
        knots::finite(KIND, "smoothing", &[smoothing_parameter])?;
        let inv_spacing = inverse_spacing(&x);
        let half_order = degree.div_ceil(2);
        Ok(GcvSpline { half_order, x: x.into(), coefficients, inv_spacing, smoothing_parameter })
    }

    /// The smoothing parameter p of (1); 0 for a spline through its points.
    pub fn smoothing_parameter(&self) -> f64 {
        self.smoothing_parameter
    }

    /// Number of the piece that holds t (x_{k−1} ≤ t < x_k) and its origin.
    #[inline(always)]
    fn piece(&self, t: f64) -> (usize, f64) {
        let x = &self.x;
        let n = x.len();
        if t < x[0] {
            return (0, x[0]);
        }
        if t >= x[n - 1] {
            return (n, x[n - 1]);
        }
        let k = if self.inv_spacing > 0.0 {
            // The cast saturates; NaN gives 0.
            let mut k = (((t - x[0]) * self.inv_spacing) as usize).min(n - 2);
            if t < x[k] {
                k -= 1;
            } else if t >= x[k + 1] {
                k += 1;
            }
            k
        } else {
            // The number of knots at or left of t, which is at least 1 here unless t is NaN.
            x.partition_point(|x| *x <= t).max(1) - 1
        };
        (k + 1, x[k])
    }

    /// Value at `t`.
    #[inline]
    pub fn value<T: Real>(&self, t: T) -> T {
        if T::RECORDS {
            return self.eval(t)[0];
        }
        let (k, origin) = self.piece(t.value());
        let dx = t - origin;
        // A fixed number of coefficients unrolls the loop.
        match self.half_order {
            1 => horner(self.at::<2>(k).into_iter(), dx),
            2 => horner(self.at::<4>(k).into_iter(), dx),
            3 => horner(self.at::<6>(k).into_iter(), dx),
            _ => horner(self.at::<8>(k).into_iter(), dx),
        }
    }

    /// Value, first and second derivative at `t`.
    #[inline]
    pub fn eval<T: Real>(&self, t: T) -> [T; 3] {
        if T::RECORDS {
            return match self.half_order {
                1 => self.recorded::<T, 2>(t),
                2 => self.recorded::<T, 4>(t),
                3 => self.recorded::<T, 6>(t),
                _ => self.recorded::<T, 8>(t),
            };
        }
        let (k, origin) = self.piece(t.value());
        let dx = t - origin;
        match self.half_order {
            1 => horner2(self.at::<2>(k).into_iter(), dx),
            2 => horner2(self.at::<4>(k).into_iter(), dx),
            3 => horner2(self.at::<6>(k).into_iter(), dx),
            _ => horner2(self.at::<8>(k).into_iter(), dx),
        }
    }

    /// Value and derivatives for what records: pieces as a table.
    fn recorded<T: Real, const W: usize>(&self, t: T) -> [T; 3] {
        let x = &self.x;
        let row = t.rank(x);
        let count = x.len() + 1;
        let [origin] = row.row(count, |k| [x[k.saturating_sub(1)]]);
        let c: [T; W] = row.row(count, |k| self.at::<W>(k));
        let dx = t - origin;
        let [mut y, mut d, mut dd] = [T::zero(); 3];
        for c in c {
            dd = dd * dx + d * 2.0;
            d = d * dx + y;
            y = y * dx + c;
        }
        [y, d, dd]
    }

    /// Coefficients of piece k, in descending powers.
    #[inline(always)]
    fn at<const W: usize>(&self, k: usize) -> [f64; W] {
        let mut c = [0.0; W];
        c.copy_from_slice(&self.coefficients[k * W..(k + 1) * W]);
        c
    }
}
