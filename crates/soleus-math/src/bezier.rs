//! Chains of quintic Bézier corners: smooth curves y(x) with chosen values and slopes.
//!
//! One corner bends from the tangent at (x₀, y₀) with slope s₀ to the tangent at (x₁, y₁) with
//! slope s₁. Where the two tangents meet is the point C; with curviness c the six control points
//! are
//!
//!   P₀, A, A, D, D, P₁      A = P₀ + c (C − P₀),  D = P₁ + c (C − P₁)      (1)
//!
//! so that the curvature vanishes at both ends and corners join with continuous second
//! derivative. Abscissa and ordinate are polynomials of degree five in a parameter u ∈ [0, 1] with
//!
//!   x′(u) = 5 (a v⁴ + 6 m u² v² + b u⁴),   v = 1 − u                      (2)
//!   a = x_A − x₀,  m = x_D − x_A,  b = x₁ − x_D
//!
//! (the differences A − A and D − D vanish), and the same for y. All three are positive for a function of x, so x(u)
//! can be inverted, and y(x), its slope, its curvature and its integral are computed exactly. Outside the chain the
//! curve is extrapolated linearly.
//!
//! Source: Millard, Uchida, Seth and Delp (2013), *Flexing computational muscle*, the curves of OpenSim's Millard2012
//! muscles; (2) and the inversion are not from this source.

mod pieces;

use crate::{Over, Real};
use pieces::Pieces;

/// A point of a chain, with the slope there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot<P = f64> {
    /// Abscissa.
    pub x: P,
    /// Ordinate.
    pub y: P,
    /// dy/dx.
    pub slope: P,
}

/// Short for a [`Knot`].
pub fn knot<P>(x: P, y: P, slope: P) -> Knot<P> {
    Knot { x, y, slope }
}

/// Why a chain cannot be constructed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BezierError {
    /// There must be one curviness for each pair of neighboring knots, and at least one pair.
    Count {
        /// Number of knots given.
        knots: usize,
        /// Number of curvinesses given.
        curviness: usize,
    },
    /// Curviness must lie in [0, 1].
    Curviness {
        /// Index of the corner.
        corner: usize,
        /// The given value.
        value: f64,
    },
    /// The end tangents of this corner do not intersect between its ends, so that no curve without an inflection
    /// connects them.
    NotACorner {
        /// Index of the corner.
        corner: usize,
    },
}

impl std::fmt::Display for BezierError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BezierError::Count { knots, curviness } => {
                write!(f, "a chain of {knots} knots needs one fewer curviness, found {curviness}")
            }
            BezierError::Curviness { corner, value } => {
                write!(f, "curviness {value} of corner {corner} is not in [0, 1]")
            }
            BezierError::NotACorner { corner } => {
                write!(f, "the end tangents of corner {corner} do not intersect between its ends")
            }
        }
    }
}

impl std::error::Error for BezierError {}

/// Below this difference of end slopes the tangents count as parallel and C is put half-way
/// (OpenSim uses the same √ε; a smaller one would send C to infinity).
const PARALLEL_BELOW: f64 = 1.490_116_119_384_765_6e-8;

/// Halley's step cubes the error, times about 10. A step below this leaves 3e-16, the roundoff of u.
const LAST_STEP_BELOW: f64 = 3e-6;

/// Halley's steps where their number is fixed: from guesses that are off by up to 0.08, three leave rounding.
const RECORDED_STEPS: usize = 4;

/// Value of the polynomial Σ cⱼ uʲ.
#[inline(always)]
fn poly<P: Real, T: Over<P>>(c: &[P; 6], u: T) -> T {
    // Even and odd halves: two short dependency chains instead of one long one.
    let w = u * u;
    let even = (w * c[4] + c[2]) * w + c[0];
    let odd = (w * c[5] + c[3]) * w + c[1];
    odd * u + even
}

/// First derivative of the polynomial.
#[inline(always)]
fn poly1<P: Real, T: Over<P>>(c: &[P; 6], u: T) -> T {
    let w = u * u;
    let even = (w * (c[5] * 5.0) + c[3] * 3.0) * w + c[1];
    let odd = w * (c[4] * 4.0) + c[2] * 2.0;
    odd * u + even
}

/// Second derivative of the polynomial.
#[inline(always)]
fn poly2<T: Real>(c: &[f64; 6], u: T) -> T {
    let w = u * u;
    let even = w * (12.0 * c[4]) + 2.0 * c[2];
    let odd = w * (20.0 * c[5]) + 6.0 * c[3];
    odd * u + even
}

/// Σ cⱼ uʲ and its first two derivatives, with coefficients that are recorded.
fn horner<T: Real, const N: usize>(c: &[T; N], u: T) -> [T; 3] {
    let [mut y, mut d, mut dd] = [c[N - 1], T::zero(), T::zero()];
    for c in c[..N - 1].iter().rev() {
        dd = dd * u + d * 2.0;
        d = d * u + y;
        y = y * u + *c;
    }
    [y, d, dd]
}

/// Coefficients in powers of u from the increments a, m, b of (2) and the start value.
fn power_basis<P: Real>(start: P, [a, m, b]: [P; 3]) -> [P; 6] {
    // x′/5 = a (1 − 4u + 6u² − 4u³ + u⁴) + 6m (u² − 2u³ + u⁴) + b u⁴, integrated term by term.
    let q = (a + m) * 6.0;
    [start, a * 5.0, a * -10.0, q * 5.0 / 3.0, (a + m * 3.0) * -5.0, a + m * 6.0 + b]
}

/// Half the rise of a polynomial of the family (2): its value at u = ½ above its start.
#[inline(always)]
fn half_rise([a, m, b]: [f64; 3]) -> f64 {
    (31.0 * a + 16.0 * m + b) / 32.0
}

/// A first guess of u < ½ for a polynomial of the family (2), at the fraction t ∈ [0, 1] of its half rise.
///
/// The inverse is taken to be a cubic with the true values and slopes at u = 0 and ½, the slopes
/// limited to what keeps it monotone (Fritsch and Carlson, 1980). Off by up to 0.08.
#[inline(always)]
fn rough_guess([a, m, b]: [f64; 3], rise: f64, t: f64) -> f64 {
    let p = (rise / (5.0 * a)).min(1.5);
    let q = (rise * 3.2 / (a + 6.0 * m + b)).min(1.5);
    let s = 1.0 - t;
    t * (p * s * s + t * (1.5 - t - q * s))
}

/// One step of Halley's method for Σ cⱼ uʲ = target, kept in [0, 1]: the new u and the step.
#[inline(always)]
fn halley(c: &[f64; 6], target: f64, u: f64) -> (f64, f64) {
    let f = poly(c, u) - target;
    let (f1, f2) = (poly1(c, u), poly2(c, u));
    let step = f * f1 / (f1 * f1 - 0.5 * f * f2);
    ((u - step).clamp(0.0, 1.0), step)
}

/// The u ∈ [0, 1] with Σ cⱼ uʲ = target, for a polynomial increasing on [0, 1] whose end values
/// enclose the target. NaN gives NaN.
#[inline(always)]
fn solve_increasing(c: &[f64; 6], target: f64, guess: f64) -> f64 {
    // Two steps are nearly always enough; taken without asking, they cost no mispredicted branch.
    let (u, _) = halley(c, target, guess);
    let (u, step) = halley(c, target, u);
    if step.abs() < LAST_STEP_BELOW { u } else { solve_safely(c, target, u) }
}

/// Halley steps inside a shrinking bracket, with bisection where they leave it; never fails.
#[cold]
fn solve_safely(c: &[f64; 6], target: f64, guess: f64) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    let mut u = if guess.is_nan() { 0.5 } else { guess };
    // Bisection alone would need 53 steps.
    for _ in 0..64 {
        let (next, step) = halley(c, target, u);
        if step.abs() < LAST_STEP_BELOW {
            return next;
        }
        if poly(c, u) > target {
            hi = u;
        } else {
            lo = u;
        }
        u = if next > lo && next < hi { next } else { 0.5 * (lo + hi) };
    }
    if target.is_nan() { f64::NAN } else { u }
}

/// One corner, ready for computing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner<P = f64> {
    /// x(u) and y(u) in powers of u.
    x: [P; 6],
    y: [P; 6],
    /// Far end.
    x1: P,
    y1: P,
    /// Increments a, m, b of x and of y.
    dx: [P; 3],
    dy: [P; 3],
}

impl<P: Real> Corner<P> {
    fn new(p0: Knot<P>, p1: Knot<P>, curviness: P) -> Option<Corner<P>> {
        // OpenSim maps the user's [0, 1] to [0.1, 0.9] to keep x′ away from zero.
        let c = curviness * 0.8 + 0.1;
        let xc = if (p0.slope - p1.slope).value().abs() > PARALLEL_BELOW {
            (p1.y - p0.y - p1.x * p1.slope + p0.x * p0.slope) / (p0.slope - p1.slope)
        } else {
            (p0.x + p1.x) * 0.5
        };
        let yc = (xc - p1.x) * p1.slope + p1.y;
        let d2 = |x0: P, y0: P, x1: P, y1: P| ((x1 - x0).sq() + (y1 - y0).sq()).value();
        let across = d2(p0.x, p0.y, p1.x, p1.y);
        let bends = across > d2(p0.x, p0.y, xc, yc) && across > d2(p1.x, p1.y, xc, yc);
        let rest = P::one() - c;
        let dx = [c * (xc - p0.x), rest * (p1.x - p0.x), c * (p1.x - xc)];
        if !(bends && dx.iter().all(|d| d.value() > 0.0)) {
            return None;
        }
        let dy = [c * (yc - p0.y), rest * (p1.y - p0.y), c * (p1.y - yc)];
        Some(Corner { x: power_basis(p0.x, dx), y: power_basis(p0.y, dy), x1: p1.x, y1: p1.y, dx, dy })
    }

    /// The same without derivatives.
    fn value(&self) -> Corner {
        let (x, y) = (self.x.map(P::value), self.y.map(P::value));
        let (dx, dy) = (self.dx.map(P::value), self.dy.map(P::value));
        Corner { x, y, x1: self.x1.value(), y1: self.y1.value(), dx, dy }
    }

    /// The u where the abscissa is x, with the derivatives of x and of the corner carried along.
    fn parameter<T: Over<P>>(&self, x: T) -> T {
        let xv = x.value();
        let Corner { x: c, dx: d, x1, .. } = self.value();
        let rise = half_rise(d);
        let guess = if xv > c[0] + rise {
            let above = x1 - c[0] - rise;
            1.0 - rough_guess([d[2], d[1], d[0]], above, (x1 - xv) / above)
        } else {
            rough_guess(d, rise, (xv - c[0]) / rise)
        };
        let root = solve_increasing(&c, xv, guess);
        let mut u = T::cst(root);
        for _ in 0..T::ORDER {
            u = u.refine(poly(&self.x, u) - x, poly1(&self.x, u));
        }
        u
    }
}

impl Corner {
    /// ∫ y dx from the start of the corner to the parameter u: a polynomial of degree ten.
    fn area<T: Real>(&self, u: T) -> T {
        let mut c = [0.0; 10];
        for i in 0..6 {
            for j in 1..6 {
                c[i + j - 1] += self.y[i] * self.x[j] * j as f64;
            }
        }
        let mut sum = T::zero();
        for k in (0..10).rev() {
            sum = (sum + c[k] / (k + 1) as f64) * u;
        }
        sum
    }
}

/// A curve y(x) of quintic Bézier corners, linear outside its knots.
///
/// Values and slopes are computed from piecewise polynomials in x that agree with the exact curve to 1e-13 of the range
/// of y and 1e-11 of its steepest slope; curvature and integral are exact. Chains with corners too sharp for such
/// polynomials, or with more than six corners, are evaluated exactly.
///
/// If the knots have derivatives, values have derivatives with respect to the shape of the curve as well as to x, from
/// the exact curve.
#[derive(Clone, Debug, PartialEq)]
pub struct BezierCurve<P = f64> {
    first: Knot<P>,
    last: Knot<P>,
    corners: Vec<Corner<P>>,
    pieces: Option<Pieces>,
    /// ∫ y dx from the first knot to the start of each corner, and to the end.
    area: Vec<f64>,
}

impl<P: Real> BezierCurve<P> {
    /// A chain through `knots`, with one `curviness` ∈ [0, 1] for each pair of neighbors: 0 is
    /// nearly a straight line between the knots, 1 follows the tangents into a sharp corner.
    pub fn new(knots: &[Knot<P>], curviness: &[P]) -> Result<BezierCurve<P>, BezierError> {
        let (Some(first), Some(last)) = (knots.first(), knots.last()) else {
            return Err(BezierError::Count { knots: 0, curviness: curviness.len() });
        };
        if knots.len() < 2 || knots.len() != curviness.len() + 1 {
            return Err(BezierError::Count { knots: knots.len(), curviness: curviness.len() });
        }
        let mut corners = Vec::with_capacity(curviness.len());
        let mut area = vec![0.0];
        let mut sum = 0.0;
        for (i, (pair, &value)) in knots.windows(2).zip(curviness).enumerate() {
            if !(0.0..=1.0).contains(&value.value()) {
                return Err(BezierError::Curviness { corner: i, value: value.value() });
            }
            let corner = Corner::new(pair[0], pair[1], value).ok_or(BezierError::NotACorner { corner: i })?;
            sum += corner.value().area(1.0);
            area.push(sum);
            corners.push(corner);
        }
        // Pieces have no derivatives by the shape.
        let values: Vec<Corner> = corners.iter().map(Corner::value).collect();
        let pieces = if P::ORDER == 0 { Pieces::new(&values) } else { None };
        Ok(BezierCurve { first: *first, last: *last, corners, pieces, area })
    }

    /// The first knot; the curve is linear to its left.
    pub fn first(&self) -> Knot<P> {
        self.first
    }

    /// The last knot; the curve is linear to its right.
    pub fn last(&self) -> Knot<P> {
        self.last
    }

    /// Index of the corner that holds x, which lies within the chain.
    #[inline(always)]
    fn find(&self, x: f64) -> usize {
        // Counting needs no branch that could be mispredicted.
        let inner = self.corners.len() - 1;
        self.corners[..inner].iter().map(|c| usize::from(x > c.x1.value())).sum()
    }

    /// y(x).
    #[inline]
    pub fn value<T: Over<P>>(&self, x: T) -> T {
        if T::RECORDS {
            return self.recorded(x).0;
        }
        let xv = x.value();
        if xv < self.first.x.value() {
            (x - self.first.x) * self.first.slope + self.first.y
        } else if xv > self.last.x.value() {
            (x - self.last.x) * self.last.slope + self.last.y
        } else if let Some(pieces) = &self.pieces {
            pieces.value(x)
        } else {
            self.exact(x).0
        }
    }

    /// y(x) and dy/dx between the end knots by inverting x(u).
    #[cold]
    fn exact<T: Over<P>>(&self, x: T) -> (T, T) {
        let corner = &self.corners[self.find(x.value())];
        let u = corner.parameter(x);
        (poly(&corner.y, u), poly1(&corner.y, u) / poly1(&corner.x, u))
    }

    /// y(x) and dy/dx for what records: all pieces, and the lines before and after them, as one table.
    fn recorded<T: Over<P>>(&self, x: T) -> (T, T) {
        let Some(pieces) = &self.pieces else {
            // A chain too sharp for pieces is inverted, which looks at x and is refused.
            return self.exact(x);
        };
        let [first, last] = [self.first, self.last].map(|k| knot(k.x.value(), k.y.value(), k.slope.value()));
        let breaks = pieces.breaks(first.x, last.x);
        let row = x.rank(&breaks);
        let count = breaks.len() + 1;
        let line = |k: &Knot| [k.x, 1.0, k.y, k.slope, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let [center, per_x, c @ ..]: [T; 12] = row.row(count, |i| match i {
            0 => line(&first),
            i if i + 1 == count => line(&last),
            i => pieces.row(i - 1),
        });
        let t = (x - center) * per_x;
        let [y, slope, _] = horner(&c, t);
        (y, slope * per_x)
    }

    /// [`solve_with_damper`](Self::solve_with_damper) for what records: the corner from a table, a fixed number of Halley's steps.
    fn solve_recorded<T: Over<P>>(&self, w: T, b: P, r: T) -> (T, T) {
        let line = |k: &Knot<P>| {
            let x = (r - w * k.y - b * k.x) / (w * k.slope + b);
            (x + k.x, x * k.slope + k.y)
        };
        let at = |k: &Corner<P>| w * k.y1 + k.x1 * b;
        let start = w * self.first.y + self.first.x * b;
        // The number of the corner: how many of them end before r.
        let inner = self.corners.len() - 1;
        let number = self.corners[..inner]
            .iter()
            .fold(T::zero(), |sum, k| sum + at(k).where_below(r, T::one, T::zero));
        let rows: Vec<Corner> = self.corners.iter().map(Corner::value).collect();
        let x: [T; 6] = number.row(rows.len(), |i| rows[i].x);
        let y: [T; 6] = number.row(rows.len(), |i| rows[i].y);
        let dx: [T; 3] = number.row(rows.len(), |i| rows[i].dx);
        let dy: [T; 3] = number.row(rows.len(), |i| rows[i].dy);
        let [x1, y1] = number.row(rows.len(), |i| [rows[i].x1, rows[i].y1]);
        let g: [T; 6] = std::array::from_fn(|j| w * y[j] + x[j] * b);
        let [a, m, e]: [T; 3] = std::array::from_fn(|j| w * dy[j] + dx[j] * b);
        let rise = (a * 31.0 + m * 16.0 + e) * (1.0 / 32.0);
        let guess = |a: T, e: T, rise: T, t: T| {
            let p = (rise / (a * 5.0)).min(T::cst(1.5));
            let q = (rise * 3.2 / (a + m * 6.0 + e)).min(T::cst(1.5));
            let s = -t + 1.0;
            t * (p * s * s + t * (-t - q * s + 1.5))
        };
        let end = w * y1 + x1 * b;
        let above = end - g[0] - rise;
        let mut u = (g[0] + rise).where_below(
            r,
            || -guess(e, a, above, (end - r) / above) + 1.0,
            || guess(a, e, rise, (r - g[0]) / rise),
        );
        for _ in 0..RECORDED_STEPS {
            let [f, f1, f2] = horner(&g, u);
            let f = f - r;
            u = Real::clamp(u - f * f1 / (f1 * f1 - f * f2 * 0.5), 0.0, 1.0);
        }
        let u = u.held();
        let [f, f1, _] = horner(&g, u);
        let u = u.refine(f - r, f1);
        let (first, last) = (self.first, self.last);
        let last_end = at(&self.corners[inner]);
        let chain = || (horner(&x, u)[0], horner(&y, u)[0]);
        r.where_below(start, || line(&first), || last_end.where_below(r, || line(&last), chain))
    }

    /// The point (x, y) of a nondecreasing curve for which
    ///
    ///   w y(x) + b x = r,      w ≥ 0, b ≥ 0, not both zero
    ///
    /// It is solved for the parameter u of the corner that contains it, without inversion of x(u) in the iteration.
    /// This is the force balance of a damped muscle.
    #[inline]
    pub fn solve_with_damper<T: Over<P>>(&self, w: T, b: P, r: T) -> (T, T) {
        if T::RECORDS {
            return self.solve_recorded(w, b, r);
        }
        let (wv, bv, rv) = (w.value(), b.value(), r.value());
        let mut start = wv * self.first.y.value() + bv * self.first.x.value();
        if rv < start {
            let x = (r - w * self.first.y - b * self.first.x) / (w * self.first.slope + b);
            return (x + self.first.x, x * self.first.slope + self.first.y);
        }
        for corner in &self.corners {
            let end = wv * corner.y1.value() + bv * corner.x1.value();
            if rv <= end || rv.is_nan() {
                // The weighted sum is again a polynomial of the family (2).
                let g: [f64; 6] =
                    std::array::from_fn(|j| wv * corner.y[j].value() + bv * corner.x[j].value());
                let d: [f64; 3] =
                    std::array::from_fn(|j| wv * corner.dy[j].value() + bv * corner.dx[j].value());
                let rise = half_rise(d);
                // Reciprocals below do not wait for r, which comes last.
                let above = rv > start + rise;
                let guess = if above {
                    let (mirrored, rise) = ([d[2], d[1], d[0]], end - start - rise);
                    1.0 - rough_guess(mirrored, rise, (end - rv) * (1.0 / rise))
                } else {
                    rough_guess(d, rise, (rv - start) * (1.0 / rise))
                };
                let root = solve_increasing(&g, rv, guess);
                let mut u = T::cst(root);
                for _ in 0..T::ORDER {
                    u = u.refine(
                        w * poly(&corner.y, u) + poly(&corner.x, u) * b - r,
                        w * poly1(&corner.y, u) + poly1(&corner.x, u) * b,
                    );
                }
                return (poly(&corner.x, u), poly(&corner.y, u));
            }
            start = end;
        }
        let x = (r - w * self.last.y - b * self.last.x) / (w * self.last.slope + b);
        (x + self.last.x, x * self.last.slope + self.last.y)
    }
}

impl BezierCurve {
    /// y(x) and dy/dx. Derivatives of the slope are accurate to about 1e-7 of the curvature;
    /// [`curvature`](Self::curvature) itself is exact.
    #[inline]
    pub fn value_and_slope<T: Real>(&self, x: T) -> (T, T) {
        if T::RECORDS {
            return self.recorded(x);
        }
        let xv = x.value();
        if xv < self.first.x {
            ((x - self.first.x) * self.first.slope + self.first.y, T::cst(self.first.slope))
        } else if xv > self.last.x {
            ((x - self.last.x) * self.last.slope + self.last.y, T::cst(self.last.slope))
        } else if let Some(pieces) = &self.pieces {
            pieces.value_and_slope(x)
        } else {
            self.exact(x)
        }
    }

    /// d²y/dx² = (y″ x′ − y′ x″) / x′³, primes for d/du.
    pub fn curvature<T: Real>(&self, x: T) -> T {
        let xv = x.value();
        if xv < self.first.x || xv > self.last.x {
            return T::zero();
        }
        let corner = &self.corners[self.find(xv)];
        let u = corner.parameter(x);
        let (x1, y1) = (poly1(&corner.x, u), poly1(&corner.y, u));
        (poly2(&corner.y, u) * x1 - y1 * poly2(&corner.x, u)) / (x1 * x1 * x1)
    }

    /// ∫ y dx from the first knot to x, exact; negative to the left of a positive curve.
    pub fn integral<T: Real>(&self, x: T) -> T {
        let xv = x.value();
        if xv < self.first.x {
            let d = x - self.first.x;
            (d * (0.5 * self.first.slope) + self.first.y) * d
        } else if xv > self.last.x {
            let d = x - self.last.x;
            (d * (0.5 * self.last.slope) + self.last.y) * d + self.area[self.corners.len()]
        } else {
            let i = self.find(xv);
            self.corners[i].area(self.corners[i].parameter(x)) + self.area[i]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dual;

    /// The force–velocity curve of a damped Millard muscle: sharp and gentle corners.
    fn curve() -> BezierCurve {
        BezierCurve::new(
            &[
                knot(-1.0, 0.0, 0.0),
                knot(-0.9, 0.0125, 0.25),
                knot(0.0, 1.0, 5.0),
                knot(0.9, 1.3925, 0.15),
                knot(1.0, 1.4, 0.0),
            ],
            &[0.6, 0.6, 0.9, 0.9],
        )
        .unwrap()
    }

    /// Knots are met with value and slope, and the curve is straight outside.
    #[test]
    fn analytic_passes_through_its_knots() {
        let c = curve();
        for k in [knot(-0.9, 0.0125, 0.25), knot(0.0, 1.0, 5.0), knot(0.9, 1.3925, 0.15)] {
            let (y, s) = c.value_and_slope(k.x);
            // What the pieces promise: 1e-13 of the range 1.4, 1e-11 of the steepest slope 5.
            assert!((y - k.y).abs() < 1.4e-13 && (s - k.slope).abs() < 5e-11, "{k:?}: {y}, {s}");
        }
        assert_eq!(c.value(-2.0), 0.0);
        assert_eq!(c.value(3.0), 1.4);
        assert!(c.value(f64::NAN).is_nan());
    }

    /// x → u → x returns x to roundoff, for all curvinesses and lopsided corners.
    #[test]
    fn identity_inversion_round_trip() {
        for (curviness, y1) in [(0.0, 0.3), (0.5, 0.05), (1.0, 0.9), (1.0, 0.02), (0.2, 0.97)] {
            let corner = Corner::new(knot(2.0, 0.0, 0.0), knot(3.0, y1, 1.0), curviness).unwrap();
            for i in 0..=1000 {
                let x = 2.0 + f64::from(i) / 1000.0;
                let u = corner.parameter(x);
                // Coefficients reach 30, so the sum rounds at 30 ε.
                assert!((poly(&corner.x, u) - x).abs() < 7e-15, "curviness {curviness}, x {x}, u {u}");
            }
        }
    }

    /// Polynomials in x and the inversion of x(u) agree, values to 1e-13 of the range and slopes to 1e-11 of the
    /// steepest, at knots too; a chain that would need too many pieces is inverted instead.
    #[test]
    fn identity_pieces_and_inversion() {
        // A tendon and the passive fibers: narrow beside their abscissa, with a lopsided foot.
        let tendon = BezierCurve::new(
            &[knot(1.0, 0.0, 0.0), knot(1.014477, 0.166667, 15.4824), knot(1.037121, 0.666667, 28.0612)],
            &[0.5; 2],
        );
        let fibers = BezierCurve::new(
            &[knot(1.0, 0.0, 0.0), knot(1.035, 0.0035, 0.2), knot(1.7, 1.0, 2.857)],
            &[0.75; 2],
        );
        let hill =
            BezierCurve::new(&[knot(0.4, 0.0, 0.0), knot(0.6, 0.5, 4.0), knot(1.0, 1.0, 0.0)], &[1.0; 2]);
        for c in [curve(), tendon.unwrap(), fibers.unwrap(), hill.unwrap()] {
            assert!(c.pieces.is_some());
            let (x0, x1) = (c.first.x, c.last.x);
            let slopes = c.corners.iter().flat_map(|c| [c.dy[0] / c.dx[0], c.dy[2] / c.dx[2]]);
            let (range, steepest) = (c.last.y - c.first.y, slopes.fold(0.0, f64::max));
            let knots: Vec<f64> = c
                .corners
                .iter()
                .flat_map(|c| [c.x1, c.x1 - half_rise([c.dx[2], c.dx[1], c.dx[0]])])
                .collect();
            let near = knots.iter().flat_map(|x| [x.next_down(), *x, x.next_up()]).filter(|x| *x <= x1);
            for x in (0..=5000).map(|i| x0 + (x1 - x0) * (f64::from(i) / 5000.0)).chain(near) {
                let ((y, s), (ye, se)) = (c.value_and_slope(x), c.exact(x));
                assert!((y - ye).abs() < 1e-13 * range, "value at {x}: {y} vs {ye}");
                assert!((s - se).abs() < 1e-11 * steepest, "slope at {x}: {s} vs {se}");
            }
        }
        let kink = BezierCurve::new(&[knot(0.0, 0.0, 0.0), knot(1.0, 0.9999, 1.0)], &[0.0]).unwrap();
        assert!(kink.pieces.is_none());
        assert!((kink.value(0.5) - kink.exact(0.5).0).abs() == 0.0);
    }

    /// Value, slope, curvature and integral: each is the derivative of the next by differences,
    /// and dual numbers give the same.
    #[test]
    fn deriv_value_slope_curvature_integral() {
        let c = curve();
        let h = 1e-5;
        for i in 0..200 {
            let x = -1.2 + 0.0121 * f64::from(i);
            let (y, s) = c.value_and_slope(x);
            let fd = (c.value(x + h) - c.value(x - h)) / (2.0 * h);
            // Truncation h² y‴/6, y‴ up to a few thousand in the sharp corners.
            assert!((s - fd).abs() < 2e-6, "slope at {x}: {s} vs {fd}");
            let fd = (c.integral(x + h) - c.integral(x - h)) / (2.0 * h);
            assert!((y - fd).abs() < 1e-8, "integral at {x}: {y} vs {fd}");
            let fd = (c.value_and_slope(x + h).1 - c.value_and_slope(x - h).1) / (2.0 * h);
            let k = c.curvature(x);
            assert!((k - fd).abs() < 1e-3 * (1.0 + k.abs()), "curvature at {x}: {k} vs {fd}");

            let d = c.value(Dual::<f64, 1>::variable(x, 0));
            assert_eq!(d.v.to_bits(), y.to_bits());
            assert!((d.d[0] - s).abs() < 1e-12 * (1.0 + s.abs()));
            let dd = c.value_and_slope(Dual::<f64, 1>::variable(x, 0)).1;
            // A slope good to 5e-11 at the ends of pieces of 0.005, where its derivative is off by 10 times 5e-11/0.005.
            assert!((dd.d[0] - k).abs() < 1e-7 * (1.0 + k.abs()), "curvature at {x}: {} vs {k}", dd.d[0]);
        }
    }

    /// The damped balance holds, to roundoff, inside and outside the chain; its derivatives match
    /// the implicit function theorem.
    #[test]
    fn deriv_solve_with_damper() {
        let c = curve();
        type D = Dual<f64, 2>;
        for w in [0.0, 1e-4, 0.01, 0.3, 1.0] {
            for i in 0..100 {
                let r = -0.4 + 0.021 * f64::from(i);
                let (x, y) = c.solve_with_damper(w, 0.1, r);
                // Coefficients reach 20, so the sum rounds at 20 ε.
                assert!((w * y + 0.1 * x - r).abs() < 5e-15, "w {w} r {r}: {x} {y}");
                assert!((c.value(x) - y).abs() < 1e-13);
                let (xd, yd) = c.solve_with_damper(D::variable(w, 0), 0.1, D::variable(r, 1));
                assert_eq!((xd.v.to_bits(), yd.v.to_bits()), (x.to_bits(), y.to_bits()));
                let s = c.value_and_slope(x).1;
                let want = [-y / (w * s + 0.1), 1.0 / (w * s + 0.1)];
                for k in 0..2 {
                    assert!((xd.d[k] - want[k]).abs() < 1e-9 * (1.0 + want[k].abs()), "{xd:?} {want:?}");
                    assert!((yd.d[k] - s * want[k]).abs() < 1e-9 * (1.0 + (s * want[k]).abs()));
                }
            }
        }
    }

    /// Impossible chains are refused with the corner that is at fault.
    #[test]
    fn analytic_refuses_what_is_not_a_corner() {
        let bad = BezierCurve::new(&[knot(0.0, 0.0, 1.0), knot(1.0, 2.0, 1.5)], &[0.5]);
        assert_eq!(bad, Err(BezierError::NotACorner { corner: 0 }));
        let bad = BezierCurve::new(&[knot(0.0, 0.0, 0.0), knot(1.0, 1.0, 2.0)], &[1.5]);
        assert_eq!(bad, Err(BezierError::Curviness { corner: 0, value: 1.5 }));
        assert!(BezierCurve::<f64>::new(&[], &[]).is_err());
        assert!(BezierCurve::new(&[knot(0.0, f64::NAN, 0.0), knot(1.0, 1.0, 2.0)], &[0.5]).is_err());
    }
}
