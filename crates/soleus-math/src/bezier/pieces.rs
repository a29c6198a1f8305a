//! A chain of Bézier corners as piecewise polynomials in x, so that y(x) needs no inversion of x(u).
//!
//! Each half of a corner (u below and above ½) is divided into pieces of equal length, and on each piece y is the
//! polynomial of degree nine that interpolates the exact curve at ten Chebyshev points. The number of pieces is
//! increased until value and slope agree with the exact curve at the ends of all pieces, where the interpolation error
//! is largest. Halves are treated separately because y(x) is often much less smooth at one end of a corner.

use super::{Corner, half_rise, power_basis, rough_guess, solve_increasing};
use crate::Real;
use crate::elementary;

/// Coefficients of a piece.
const N: usize = 10;

/// Most breaks between segments; a chain of more corners than six is evaluated exactly instead.
const BREAKS: usize = 12;

/// Most pieces of a segment. The corners of muscles need 8 to 32; a half that needs more than this has a kink
/// at its end, and the chain is evaluated exactly instead.
const MOST_PIECES: usize = 96;

/// What is asked of values, relative to the range of y, and of slopes, relative to the steepest. Roundoff of
/// the samples alone gives 1e-15 and 1e-12.
const VALUE_WITHIN: f64 = 3e-14;
const SLOPE_WITHIN: f64 = 5e-12;

/// Pieces begin and end this fraction of their length inside the segment, so that no rounding sends an x to a
/// piece of another segment.
const MARGIN: f64 = 1e-9;

/// 1.5 · 2⁵²: added to a number below 2³¹, it leaves the nearest integer in the low bits of the mantissa.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// Half a corner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    /// Middle of the first piece, and pieces per x.
    center: f64,
    per_x: f64,
    /// Its first piece among all, and the number of pieces after it.
    first: u32,
    after: u32,
}

/// y(x) between the first and the last knot of a chain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pieces {
    /// Where segments end, but for the last; filled up with +∞.
    breaks: [f64; BREAKS],
    segments: Vec<Segment>,
    /// Coefficients in powers of the distance from the middle of a piece, in lengths of the piece.
    coefficients: Vec<[f64; N]>,
}

/// Σ cⱼ tʲ, in pairs and pairs of pairs: short chains of dependent operations.
#[inline(always)]
fn poly<T: Real>(c: &[f64; N], t: T) -> T {
    let w = t * t;
    let z = w * w;
    let low = (t * c[3] + c[2]) * w + (t * c[1] + c[0]);
    let high = (t * c[7] + c[6]) * w + (t * c[5] + c[4]);
    ((t * c[9] + c[8]) * z + high) * z + low
}

/// Σ j cⱼ tʲ⁻¹.
#[inline(always)]
fn poly1<T: Real>(c: &[f64; N], t: T) -> T {
    let w = t * t;
    let z = w * w;
    let low = (t * (4.0 * c[4]) + 3.0 * c[3]) * w + (t * (2.0 * c[2]) + c[1]);
    let high = (t * (8.0 * c[8]) + 7.0 * c[7]) * w + (t * (6.0 * c[6]) + 5.0 * c[5]);
    (z * (9.0 * c[9]) + high) * z + low
}

impl Pieces {
    /// Pieces for a chain, or none if it would take too many.
    pub(super) fn new(corners: &[Corner]) -> Option<Pieces> {
        if 2 * corners.len() > BREAKS + 1 {
            return None;
        }
        // The chain is monotone between knots, and so is the slope.
        let ends = || corners.iter().flat_map(|c| [c.y[0], c.y1]);
        let range = ends().fold(f64::NEG_INFINITY, f64::max) - ends().fold(f64::INFINITY, f64::min);
        let slopes = corners.iter().flat_map(|c| [c.dy[0] / c.dx[0], c.dy[2] / c.dx[2]]);
        let steepest = slopes.fold(0.0, |s: f64, x| s.max(x.abs()));
        let within = [VALUE_WITHIN * range, SLOPE_WITHIN * steepest];

        let basis = Chebyshev::new();
        let mut out =
            Pieces { breaks: [f64::INFINITY; BREAKS], segments: Vec::new(), coefficients: Vec::new() };
        let halves = corners.iter().flat_map(|c| [Half::lower(c), Half::upper(c)]);
        for (i, half) in halves.enumerate() {
            if i > 0 {
                out.breaks[i - 1] = half.x.min(half.x + half.sign * half.width);
            }
            let counts = [4, 8, 12, 16, 24, 32, 48, 64, MOST_PIECES];
            let mut worst = 0.0;
            if !counts.iter().any(|&n| half.cut(n, within, &basis, &mut worst, &mut out)) {
                return None;
            }
        }
        Some(out)
    }

    /// Where pieces begin and end: the beginning of the chain, the places between pieces, and its end.
    pub(super) fn breaks(&self, first: f64, last: f64) -> Vec<f64> {
        let mut breaks = vec![first];
        for (i, s) in self.segments.iter().enumerate() {
            breaks.extend((0..s.after).map(|k| s.center + (f64::from(k) + 0.5) / s.per_x));
            breaks.push(if i + 1 < self.segments.len() { self.breaks[i] } else { last });
        }
        breaks
    }

    /// A piece, by its number along the chain: its middle, pieces per x, and coefficients.
    pub(super) fn row(&self, piece: usize) -> [f64; N + 2] {
        let mut segments = self.segments.iter();
        let s = segments.find(|s| piece <= (s.first + s.after) as usize).expect("a piece of the chain");
        let middle = s.center + (piece as f64 - f64::from(s.first)) / s.per_x;
        let mut row = [middle, s.per_x, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        row[2..].copy_from_slice(&self.coefficients[piece]);
        row
    }

    /// The piece that holds x, where in it x is, and pieces per x.
    #[inline(always)]
    fn locate<T: Real>(&self, x: T) -> (&[f64; N], T, f64) {
        // Counting needs no branch that could be mispredicted.
        let xv = x.value();
        let count: usize = self.breaks.iter().map(|b| usize::from(xv > *b)).sum();
        let segment = &self.segments[count.min(self.segments.len() - 1)];
        let t = (x - segment.center) * segment.per_x;
        let shifted = t.value() + TO_INTEGER;
        let piece = (shifted.to_bits() as u32).min(segment.after);
        (&self.coefficients[(segment.first + piece) as usize], t - (shifted - TO_INTEGER), segment.per_x)
    }

    /// y(x) between the ends of the chain; NaN for NaN.
    #[inline(always)]
    pub(super) fn value<T: Real>(&self, x: T) -> T {
        let (c, t, _) = self.locate(x);
        poly(c, t)
    }

    /// y(x) and dy/dx between the ends of the chain.
    #[inline(always)]
    pub(super) fn value_and_slope<T: Real>(&self, x: T) -> (T, T) {
        let (c, t, per_x) = self.locate(x);
        (poly(c, t), poly1(c, t) * per_x)
    }
}

/// Half a corner, seen from its knot: x and y are there, and change as the family (2) of the module tells.
struct Half {
    x: f64,
    y: f64,
    /// +1 if the half begins at its knot, −1 if it ends there.
    sign: f64,
    dx: [f64; 3],
    dy: [f64; 3],
    /// Powers of u of the distance from the knot.
    distance: [f64; 6],
    /// Distance of u = ½.
    width: f64,
}

/// Rise at u of a polynomial of the family, and its slope, as sums of terms of one sign.
fn rise([a, m, b]: [f64; 3], u: f64) -> (f64, f64) {
    let v = 1.0 - u;
    let (u2, v2) = (u * u, v * v);
    let low = 5.0 * u * v2 * v * (v + 2.0 * u);
    let high = 5.0 * u2 * u * v * (2.0 * v + u);
    let end = u2 * u2 * u;
    (a * low + (a + m) * high + (a + m + b) * end, 5.0 * (a * v2 * v2 + 6.0 * m * u2 * v2 + b * u2 * u2))
}

impl Half {
    fn lower(c: &Corner) -> Half {
        Half {
            x: c.x[0],
            y: c.y[0],
            sign: 1.0,
            dx: c.dx,
            dy: c.dy,
            distance: power_basis(0.0, c.dx),
            width: half_rise(c.dx),
        }
    }

    fn upper(c: &Corner) -> Half {
        let mirrored = |d: [f64; 3]| [d[2], d[1], d[0]];
        let dx = mirrored(c.dx);
        Half {
            x: c.x1,
            y: c.y1,
            sign: -1.0,
            dx,
            dy: mirrored(c.dy),
            distance: power_basis(0.0, dx),
            width: half_rise(dx),
        }
    }

    /// y and dy/dx of the exact curve at `x` from the beginning of the half; `near` holds a u and the distance
    /// from the knot there, to start from. Not from zero, so that no digits are lost in narrow corners.
    fn exact(&self, x: f64, near: &mut (f64, f64)) -> (f64, f64) {
        let s = if self.sign > 0.0 { x } else { self.width - x };
        let step = (s - near.1) / rise(self.dx, near.0).1;
        let guess = if near.1 > 0.0 && step.abs() < 0.1 {
            near.0 + step
        } else {
            rough_guess(self.dx, self.width, (s / self.width).min(1.0))
        };
        let u = solve_increasing(&self.distance, s, guess);
        // The sum of powers has lost a few digits that this one has not; it also steps just outside [0, 1].
        let (r, slope) = rise(self.dx, u);
        let u = u - (r - s) / slope;
        *near = (u, s);
        let ((_, dx), (y, dy)) = (rise(self.dx, u), rise(self.dy, u));
        (self.y + self.sign * y, dy / dx)
    }

    /// Adds this half in `n` pieces, or nothing if one of them is off by more than `within`. `worst` is where in the half, from
    /// 0 to 1, a piece was off when there were fewer; it is looked at first, as it is where more of them fail too.
    fn cut(&self, n: usize, within: [f64; 2], basis: &Chebyshev, worst: &mut f64, out: &mut Pieces) -> bool {
        let per_x = (n as f64 - 2.0 * MARGIN) / self.width;
        let start = if self.sign > 0.0 { self.x } else { self.x - self.width };
        let left = |i: usize| (i as f64 - MARGIN) / per_x;
        // Piece i and its end, if it fits; it begins at `begin`.
        let piece = |i: usize, begin: (f64, f64), near: &mut (f64, f64)| {
            let middle = i as f64 + 0.5 - MARGIN;
            let c = basis.interpolate(|t| self.exact((middle + t) / per_x, near).0);
            let end = self.exact((middle + 0.5) / per_x, near);
            let fits = [(-0.5, begin), (0.5, end)].into_iter().all(|(t, (y, slope))| {
                (poly(&c, t) - y).abs() <= within[0] && (poly1(&c, t) * per_x - slope).abs() <= within[1]
            });
            fits.then_some((c, end))
        };
        let mut near = (0.0, 0.0);
        let doubtful = ((*worst * n as f64) as usize).min(n - 1);
        if doubtful > 0 {
            let begin = self.exact(left(doubtful), &mut near);
            if piece(doubtful, begin, &mut near).is_none() {
                return false;
            }
            near = (0.0, 0.0);
        }
        let first = out.coefficients.len();
        let mut end = self.exact(left(0), &mut near);
        for i in 0..n {
            // Neighbors share an end.
            let Some((c, next)) = piece(i, end, &mut near) else {
                *worst = (i as f64 + 0.5) / n as f64;
                out.coefficients.truncate(first);
                return false;
            };
            out.coefficients.push(c);
            end = next;
        }
        let center = start + (0.5 - MARGIN) / per_x;
        out.segments.push(Segment { center, per_x, first: first as u32, after: n as u32 - 1 });
        true
    }
}

/// Interpolation at the Chebyshev points of [−½, ½].
struct Chebyshev {
    points: [f64; N],
    /// Share of the value at each point in the coefficient of each Tⱼ(2t).
    share: [[f64; N]; N],
    /// Tⱼ(2t) in powers of t.
    powers: [[f64; N]; N],
}

impl Chebyshev {
    fn new() -> Chebyshev {
        let angle = |k: usize| (k as f64 + 0.5) * std::f64::consts::PI / N as f64;
        let weight = |j: usize| if j == 0 { 1.0 / N as f64 } else { 2.0 / N as f64 };
        // T₀ = 1, T₁ = 2t, Tⱼ = 4t Tⱼ₋₁ − Tⱼ₋₂.
        let mut powers = [[0.0; N]; N];
        powers[0][0] = 1.0;
        powers[1][1] = 2.0;
        for j in 2..N {
            powers[j][0] = -powers[j - 2][0];
            for i in 1..N {
                powers[j][i] = 4.0 * powers[j - 1][i - 1] - powers[j - 2][i];
            }
        }
        Chebyshev {
            points: std::array::from_fn(|k| 0.5 * elementary::cos(angle(k))),
            share: std::array::from_fn(|j| {
                std::array::from_fn(|k| weight(j) * elementary::cos(j as f64 * angle(k)))
            }),
            powers,
        }
    }

    /// Coefficients in powers of t of the polynomial that equals f at the points.
    fn interpolate(&self, mut f: impl FnMut(f64) -> f64) -> [f64; N] {
        // Points come in increasing order from the far end on.
        let mut y = [0.0; N];
        for k in (0..N).rev() {
            y[k] = f(self.points[k]);
        }
        // Differences from one value are small, and so is what they lose to rounding; by way of Chebyshev
        // coefficients, which fall off quickly, it stays small.
        let base = y[N / 2];
        let mut c = [0.0; N];
        for (share, powers) in self.share.iter().zip(&self.powers) {
            let cj: f64 = share.iter().zip(y).map(|(m, y)| m * (y - base)).sum();
            for (c, p) in c.iter_mut().zip(powers) {
                *c += cj * p;
            }
        }
        c[0] += base;
        c
    }
}
