#![allow(clippy::needless_range_loop)] // Indices of matrices, as in the equations.
//! Fitting a natural spline: through points, by its bending energy; near points, by its mth derivative.
//!
//! **Through points.** Between two knots the spline is the polynomial of degree 2m − 1 that
//! meets the value and m − 1 derivatives at both ends. With t = (x − xᵢ)/h and δₖ = hᵏ s⁽ᵏ⁾ at
//! the two ends, its energy is
//!
//!   ∫ s⁽ᵐ⁾² dx = h^(1−2m) δᵀ K δ                                          (1)
//!
//! with one constant 2m × 2m matrix K, as for a beam element (m = 2). The sum over the intervals
//! is a quadratic form in the m − 1 unknown derivatives at each knot, whose matrix is symmetric,
//! positive definite and block tridiagonal. Its minimum has continuous derivatives up to
//! 2m − 2 and zero derivatives from m on at the ends: it is the natural spline.
//!
//! **Near points.** See `smooth.rs`: the smoothed values come first, then the spline through them.

use super::Smoothing;
use super::smooth::Smoother;

/// Largest half order m.
const M: usize = 4;
type Block = [[f64; M]; M];

/// Upper coefficients a_m … a_{2m−1} of the polynomial on t ∈ [0, 1] whose derivatives 0 … m − 1
/// at t = 0 vanish and at t = 1 are Δ: 6 aⱼ = Σₖ HERMITE[m−1][j][k] Δₖ.
/// They solve Σⱼ j!/(j−k)! aⱼ = Δₖ; sixfold, they are whole numbers.
const HERMITE: [[[i32; M]; M]; M] = [
    [[6, 0, 0, 0], [0; M], [0; M], [0; M]],
    [[18, -6, 0, 0], [-12, 6, 0, 0], [0; M], [0; M]],
    [[60, -24, 3, 0], [-90, 42, -6, 0], [36, -18, 3, 0], [0; M]],
    [[210, -90, 15, -1], [-504, 234, -42, 3], [420, -204, 39, -3], [-120, 60, -12, 1]],
];

/// Upper coefficients (t^H … t^(2H−1)) on a unit interval from the scaled derivatives at both ends; H is the half order.
#[inline(always)]
fn upper<const H: usize>(left: &[f64; H], right: &[f64; H]) -> [f64; H] {
    // Δₖ: what the Taylor polynomial of the left end misses at the right end. The leading
    // terms are subtracted first, so a large offset of y costs no digits.
    let mut miss = [0.0; H];
    for k in 0..H {
        let mut d = right[k] - left[k];
        let mut factorial = 1.0;
        for j in k + 1..H {
            factorial *= (j - k) as f64;
            d -= left[j] / factorial;
        }
        miss[k] = d;
    }
    std::array::from_fn(|j| {
        (0..H).map(|k| f64::from(HERMITE[H - 1][j][k]) * miss[k]).sum::<f64>() * (1.0 / 6.0)
    })
}

/// K of (1) as four blocks: left–left, left–right, right–right.
#[derive(Clone, Debug)]
struct Element {
    ll: Block,
    lr: Block,
    rr: Block,
}

impl Element {
    /// In whole numbers throughout, because the sums cancel by nine digits when m = 4.
    fn new(m: usize) -> Self {
        // 36 times the mth derivatives of the unit responses: coefficients of t⁰ … t^(m−1).
        let mut response = [[0i128; M]; 2 * M];
        for (i, r) in response.iter_mut().enumerate().take(2 * m) {
            // Six times what the left end's Taylor polynomial misses at the right end.
            let mut miss = [0i128; M];
            if i < m {
                for (k, miss) in miss.iter_mut().enumerate().take(i + 1) {
                    *miss = -6 / (1..=(i - k) as i128).product::<i128>();
                }
            } else {
                miss[i - m] = 6;
            }
            for j in 0..m {
                let a: i128 = (0..m).map(|k| i128::from(HERMITE[m - 1][j][k]) * miss[k]).sum();
                // m differentiations of t^(m+j).
                r[j] = a * (j as i128 + 1..=(m + j) as i128).product::<i128>();
            }
        }
        // ∫₀¹ of the products; 420 is divisible by all of 1 … 7.
        let energy = |a: usize, b: usize| -> f64 {
            let mut e = 0;
            for i in 0..m {
                for j in 0..m {
                    e += response[a][i] * response[b][j] * i128::from(420 / (i + j + 1) as i64);
                }
            }
            e as f64 / (36.0 * 36.0 * 420.0)
        };
        let mut k = Element { ll: [[0.0; M]; M], lr: [[0.0; M]; M], rr: [[0.0; M]; M] };
        for i in 0..m {
            for j in 0..m {
                k.ll[i][j] = energy(i, j);
                k.lr[i][j] = energy(i, m + j);
                k.rr[i][j] = energy(m + i, m + j);
            }
        }
        k
    }
}

/// A small block of the matrix; its size is known when compiled, which keeps long splines in the cache.
type Small<const B: usize> = [[f64; B]; B];

/// A symmetric positive definite block tridiagonal matrix, blocks of `B` × `B`.
#[derive(Clone, Debug)]
struct BlockTridiagonal<const B: usize> {
    diagonal: Vec<Small<B>>,
    /// Block (i, i+1); after factorization L_{i+1,i}ᵀ = D⁻¹ · block.
    upper: Vec<Small<B>>,
}

/// Inverse of a symmetric positive definite block, by Gauss–Jordan in place.
fn inverse<const B: usize>(a: &Small<B>) -> Small<B> {
    let mut a = *a;
    for p in 0..B {
        let d = 1.0 / a[p][p];
        a[p][p] = 1.0;
        for j in 0..B {
            a[p][j] *= d;
        }
        for i in 0..B {
            if i != p {
                let f = a[i][p];
                a[i][p] = 0.0;
                for j in 0..B {
                    a[i][j] -= f * a[p][j];
                }
            }
        }
    }
    a
}

impl<const B: usize> BlockTridiagonal<B> {
    /// Leaves the inverses of the pivots D on the diagonal.
    fn factor(&mut self) {
        for i in 0..self.diagonal.len() {
            let inv = inverse(&self.diagonal[i]);
            self.diagonal[i] = inv;
            if let Some(u) = self.upper.get_mut(i) {
                // G = D⁻¹ U, and the next diagonal loses Uᵀ D⁻¹ U.
                let mut g = [[0.0; B]; B];
                for r in 0..B {
                    for c in 0..B {
                        g[r][c] = (0..B).map(|k| inv[r][k] * u[k][c]).sum();
                    }
                }
                for r in 0..B {
                    for c in 0..B {
                        let loss: f64 = (0..B).map(|k| u[k][r] * g[k][c]).sum();
                        self.diagonal[i + 1][r][c] -= loss;
                    }
                }
                *u = g;
            }
        }
    }

    /// Solves in place, after `factor`.
    fn solve(&self, v: &mut [[f64; B]]) {
        for i in 1..v.len() {
            let before = v[i - 1];
            for c in 0..B {
                v[i][c] -= (0..B).map(|k| self.upper[i - 1][k][c] * before[k]).sum::<f64>();
            }
        }
        for i in (0..v.len()).rev() {
            let rhs = v[i];
            let after = v.get(i + 1).copied();
            for r in 0..B {
                let mut x: f64 = (0..B).map(|k| self.diagonal[i][r][k] * rhs[k]).sum();
                if let Some(a) = after {
                    x -= (0..B).map(|k| self.upper[i][r][k] * a[k]).sum::<f64>();
                }
                v[i][r] = x;
            }
        }
    }
}

/// x⁰ … x⁷.
fn powers(x: f64) -> [f64; 2 * M] {
    let (x2, x4) = (x * x, x * x * (x * x));
    [1.0, x, x2, x2 * x, x4, x4 * x, x4 * x2, x4 * (x2 * x)]
}

/// Derivatives 1 to B = m − 1 at knots as functions of the values there: what depends on the knots alone.
#[derive(Clone, Debug)]
struct Derivatives<const B: usize> {
    element: Element,
    matrix: BlockTridiagonal<B>,
}

impl<const B: usize> Derivatives<B> {
    /// For knots whose `gaps` have these inverses.
    fn new(inverse_gaps: &[f64]) -> Self {
        let (m, n) = (B + 1, inverse_gaps.len() + 1);
        let element = Element::new(m);
        let mut diagonal = vec![[[0.0; B]; B]; n];
        let mut upper = vec![[[0.0; B]; B]; n - 1];
        for (i, inverse) in inverse_gaps.iter().enumerate() {
            let inverse_powers = powers(*inverse);
            for r in 1..m {
                for c in 1..m {
                    // δₖ = hᵏ s⁽ᵏ⁾ on both sides, and h^(1−2m) of (1).
                    let s = inverse_powers[2 * m - (r + c + 1)];
                    diagonal[i][r - 1][c - 1] += s * element.ll[r][c];
                    upper[i][r - 1][c - 1] = s * element.lr[r][c];
                    diagonal[i + 1][r - 1][c - 1] += s * element.rr[r][c];
                }
            }
        }
        let mut matrix = BlockTridiagonal { diagonal, upper };
        matrix.factor();
        Derivatives { element, matrix }
    }

    /// Those of the natural spline through values `y`.
    fn of(&self, inverse_gaps: &[f64], y: &[f64]) -> Vec<[f64; B]> {
        let m = B + 1;
        let mut v = vec![[0.0; B]; y.len()];
        for (i, inverse) in inverse_gaps.iter().enumerate() {
            let dy = y[i + 1] - y[i];
            let inverse_powers = powers(*inverse);
            for r in 1..m {
                // Right-hand side: minus the pull of the given values. A constant has no energy, so
                // the columns of the two values are opposite and only differences of y appear.
                let s = inverse_powers[2 * m - (r + 1)];
                v[i][r - 1] += s * self.element.ll[r][0] * dy;
                v[i + 1][r - 1] += s * self.element.lr[0][r] * dy;
            }
        }
        self.matrix.solve(&mut v);
        v
    }
}

/// [`Derivatives`] by half order, which is known when compiled: that unrolls the loops over it.
#[derive(Clone, Debug)]
enum ByOrder {
    /// Straight lines have none.
    One,
    Two(Derivatives<1>),
    Three(Derivatives<2>),
    Four(Derivatives<3>),
}

/// Knots, and what fitting splines at them needs of the knots alone. Lengths are in mean gaps.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    m: usize,
    mean_gap: f64,
    gaps: Vec<f64>,
    inverse_gaps: Vec<f64>,
    /// In units of x.
    inverse_lengths: Vec<f64>,
    by_order: ByOrder,
}

impl Fit {
    /// For x that is checked: at least 2m, strictly rising, all finite.
    pub(super) fn new(m: usize, x: &[f64]) -> Self {
        let n = x.len();
        let mean_gap = (x[n - 1] - x[0]) / (n - 1) as f64;
        let gaps: Vec<f64> = x.windows(2).map(|w| (w[1] - w[0]) / mean_gap).collect();
        let inverse_gaps: Vec<f64> = gaps.iter().map(|h| 1.0 / h).collect();
        let inverse_lengths = gaps.iter().map(|h| 1.0 / (h * mean_gap)).collect();
        let by_order = match m {
            1 => ByOrder::One,
            2 => ByOrder::Two(Derivatives::new(&inverse_gaps)),
            3 => ByOrder::Three(Derivatives::new(&inverse_gaps)),
            _ => ByOrder::Four(Derivatives::new(&inverse_gaps)),
        };
        Fit { m, mean_gap, gaps, inverse_gaps, inverse_lengths, by_order }
    }

    /// The spline through values `y`, all finite: pieces in descending powers (left, intervals, right; 2m numbers each).
    pub(super) fn through(&self, y: &[f64]) -> Vec<f64> {
        match &self.by_order {
            ByOrder::One => self.polynomials::<1, 0>(y, &vec![[]; y.len()]),
            ByOrder::Two(d) => self.polynomials::<2, 1>(y, &d.of(&self.inverse_gaps, y)),
            ByOrder::Three(d) => self.polynomials::<3, 2>(y, &d.of(&self.inverse_gaps, y)),
            ByOrder::Four(d) => self.polynomials::<4, 3>(y, &d.of(&self.inverse_gaps, y)),
        }
    }

    /// The same near values, and the smoothing parameter.
    pub(super) fn near(&self, y: &[f64], smoothing: Smoothing) -> (Vec<f64>, f64) {
        // In units of the mean gap g the energy is g^(2m−1) as large, so p is g^(1−2m) times the caller's.
        let scale = self.mean_gap.powi(2 * self.m as i32 - 1);
        let smoother = || Smoother::new(self.m, &self.gaps, y);
        let (p, smoothed) = match smoothing {
            Smoothing::Parameter(p) if p > 0.0 => (p / scale, Some(smoother().smooth(p / scale).values)),
            Smoothing::ErrorVariance(v) if v > 0.0 => smoother().search(|r, t| r - v * (2.0 * t - 1.0)),
            Smoothing::CrossValidation => smoother().search(|r, t| r / (t * t)),
            _ => (0.0, None),
        };
        (self.through(smoothed.as_deref().unwrap_or(y)), p * scale)
    }

    /// Polynomials in x − origin from values and derivatives at the knots; H is the half order and B one less.
    fn polynomials<const H: usize, const B: usize>(&self, y: &[f64], slopes: &[[f64; B]]) -> Vec<f64> {
        let n = y.len();
        // Value and derivatives at a knot.
        let knot =
            |i: usize| -> [f64; H] { std::array::from_fn(|k| if k == 0 { y[i] } else { slopes[i][k - 1] }) };
        // Derivative k divided by k!, in units of x.
        let mut factors = [1.0; H];
        for k in 1..H {
            factors[k] = factors[k - 1] / (self.mean_gap * k as f64);
        }
        // In descending powers; beyond the ends the upper coefficients are zero.
        let mut c = Vec::with_capacity((n + 1) * 2 * H);
        let push = |c: &mut Vec<f64>, upper: [f64; H], knot: &[f64; H]| {
            c.extend(upper.into_iter().rev());
            c.extend((0..H).rev().map(|k| knot[k] * factors[k]));
        };
        let mut left = knot(0);
        push(&mut c, [0.0; H], &left);
        for (i, gap) in self.gaps.iter().enumerate() {
            let right = knot(i + 1);
            let (h, inverse) = (powers(*gap), powers(self.inverse_lengths[i]));
            let a = upper::<H>(
                &std::array::from_fn(|k| left[k] * h[k]),
                &std::array::from_fn(|k| right[k] * h[k]),
            );
            push(&mut c, std::array::from_fn(|j| a[j] * inverse[H + j]), &left);
            left = right;
        }
        push(&mut c, [0.0; H], &left);
        c
    }
}
