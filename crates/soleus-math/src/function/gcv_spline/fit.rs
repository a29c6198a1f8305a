//! Fitting a natural spline by minimizing its bending energy over the derivatives at the knots.
//!
//! Between two knots the spline is the polynomial of degree 2m − 1 that meets the value and
//! m − 1 derivatives at both ends. With t = (x − xᵢ)/h and δₖ = hᵏ s⁽ᵏ⁾ at the two ends, its
//! energy is
//!
//!   ∫ s⁽ᵐ⁾² dx = h^(1−2m) δᵀ K δ                                          (1)
//!
//! with one constant 2m × 2m matrix K, as for a beam element (m = 2). So the sum of squares
//! plus p times the energy is a quadratic form in the unknowns, m at each knot (m − 1 when
//! the values are given), whose matrix is symmetric, positive definite and block
//! tridiagonal: one sweep down, one up. The minimum makes derivatives up to 2m − 2
//! continuous and those from m on vanish at the ends: it is the natural spline.

use super::Smoothing;

/// Largest half order m.
const M: usize = 4;
type Block = [[f64; M]; M];
type Column = [f64; M];

/// Upper coefficients a_m … a_{2m−1} of the polynomial on t ∈ [0, 1] whose derivatives 0 … m − 1
/// at t = 0 vanish and at t = 1 are Δ: aⱼ = Σₖ HERMITE[m−1][j][k] Δₖ.
/// Solves Σⱼ j!/(j−k)! aⱼ = Δₖ; the entries are exact, 1/6 apart.
const HERMITE: [Block; M] = [
    [[1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4], [0.0; 4]],
    [[3.0, -1.0, 0.0, 0.0], [-2.0, 1.0, 0.0, 0.0], [0.0; 4], [0.0; 4]],
    [[10.0, -4.0, 0.5, 0.0], [-15.0, 7.0, -1.0, 0.0], [6.0, -3.0, 0.5, 0.0], [0.0; 4]],
    [
        [35.0, -15.0, 2.5, -1.0 / 6.0],
        [-84.0, 39.0, -7.0, 0.5],
        [70.0, -34.0, 6.5, -0.5],
        [-20.0, 10.0, -2.0, 1.0 / 6.0],
    ],
];

/// j!/(j−k)!, the factor that k differentiations put before tʲ⁻ᵏ.
fn falling(j: usize, k: usize) -> f64 {
    (0..k).map(|i| (j as f64) - i as f64).product()
}

/// Upper coefficients (t^m … t^(2m−1)) on a unit interval from the scaled derivatives at both ends.
fn upper(m: usize, left: &Column, right: &Column) -> Column {
    // Δₖ: what the Taylor polynomial of the left end misses at the right end. The leading
    // terms are subtracted first, so a large offset of y costs no digits.
    let mut miss = [0.0; M];
    for k in 0..m {
        let mut d = right[k] - left[k];
        let mut factorial = 1.0;
        for j in k + 1..m {
            factorial *= (j - k) as f64;
            d -= left[j] / factorial;
        }
        miss[k] = d;
    }
    let mut a = [0.0; M];
    for (a, row) in a.iter_mut().zip(&HERMITE[m - 1]).take(m) {
        *a = (0..m).map(|k| row[k] * miss[k]).sum();
    }
    a
}

/// K of (1) as four blocks: left–left, left–right, right–right.
struct Element {
    ll: Block,
    lr: Block,
    rr: Block,
}

impl Element {
    fn new(m: usize) -> Self {
        // mth derivatives of the unit responses: coefficients of t⁰ … t^(m−1).
        let mut response = [[0.0; M]; 2 * M];
        for (i, r) in response.iter_mut().enumerate().take(2 * m) {
            let (mut left, mut right) = ([0.0; M], [0.0; M]);
            if i < m {
                left[i] = 1.0;
            } else {
                right[i - m] = 1.0;
            }
            let a = upper(m, &left, &right);
            for j in 0..m {
                r[j] = a[j] * falling(m + j, m);
            }
        }
        // ∫₀¹ of the products.
        let energy = |a: &Column, b: &Column| -> f64 {
            let mut e = 0.0;
            for i in 0..m {
                for j in 0..m {
                    e += a[i] * b[j] / (i + j + 1) as f64;
                }
            }
            e
        };
        let mut k = Element { ll: [[0.0; M]; M], lr: [[0.0; M]; M], rr: [[0.0; M]; M] };
        for i in 0..m {
            for j in 0..m {
                k.ll[i][j] = energy(&response[i], &response[j]);
                k.lr[i][j] = energy(&response[i], &response[m + j]);
                k.rr[i][j] = energy(&response[m + i], &response[m + j]);
            }
        }
        k
    }
}

/// A symmetric positive definite block tridiagonal matrix, blocks of `b` × `b`.
struct BlockTridiagonal {
    b: usize,
    diagonal: Vec<Block>,
    /// Block (i, i+1); after factorization L_{i+1,i}ᵀ = D⁻¹ · block.
    upper: Vec<Block>,
    /// Inverses of the pivots D, after factorization.
    pivot_inverse: Vec<Block>,
}

/// Inverse of a symmetric positive definite block, by Gauss–Jordan in place.
fn inverse(b: usize, a: &Block) -> Block {
    let mut a = *a;
    for p in 0..b {
        let d = 1.0 / a[p][p];
        a[p][p] = 1.0;
        for j in 0..b {
            a[p][j] *= d;
        }
        for i in 0..b {
            if i != p {
                let f = a[i][p];
                a[i][p] = 0.0;
                for j in 0..b {
                    a[i][j] -= f * a[p][j];
                }
            }
        }
    }
    a
}

impl BlockTridiagonal {
    fn factor(&mut self) {
        let b = self.b;
        for i in 0..self.diagonal.len() {
            let inv = inverse(b, &self.diagonal[i]);
            self.pivot_inverse.push(inv);
            if let Some(u) = self.upper.get_mut(i) {
                // G = D⁻¹ U, and the next diagonal loses Uᵀ D⁻¹ U.
                let mut g = [[0.0; M]; M];
                for r in 0..b {
                    for c in 0..b {
                        g[r][c] = (0..b).map(|k| inv[r][k] * u[k][c]).sum();
                    }
                }
                for r in 0..b {
                    for c in 0..b {
                        let loss: f64 = (0..b).map(|k| u[k][r] * g[k][c]).sum();
                        self.diagonal[i + 1][r][c] -= loss;
                    }
                }
                *u = g;
            }
        }
    }

    /// Solves in place, after `factor`.
    fn solve(&self, v: &mut [Column]) {
        let b = self.b;
        for i in 1..v.len() {
            let before = v[i - 1];
            for c in 0..b {
                v[i][c] -= (0..b).map(|k| self.upper[i - 1][k][c] * before[k]).sum::<f64>();
            }
        }
        for i in (0..v.len()).rev() {
            let rhs = v[i];
            let after = v.get(i + 1).copied();
            for r in 0..b {
                let mut x: f64 = (0..b).map(|k| self.pivot_inverse[i][r][k] * rhs[k]).sum();
                if let Some(a) = after {
                    x -= (0..b).map(|k| self.upper[i][r][k] * a[k]).sum::<f64>();
                }
                v[i][r] = x;
            }
        }
    }

    /// Sum of the entries (0, 0) of the diagonal blocks of the inverse, after `factor`.
    fn inverse_trace0(&self) -> f64 {
        let b = self.b;
        let n = self.diagonal.len();
        // Z_i = D_i⁻¹ + G_i Z_{i+1} G_iᵀ, from the last block up.
        let mut z = self.pivot_inverse[n - 1];
        let mut trace = z[0][0];
        for i in (0..n - 1).rev() {
            let g = &self.upper[i];
            let mut gz = [[0.0; M]; M];
            for r in 0..b {
                for c in 0..b {
                    gz[r][c] = (0..b).map(|k| g[r][k] * z[k][c]).sum();
                }
            }
            let mut next = self.pivot_inverse[i];
            for r in 0..b {
                for c in 0..b {
                    next[r][c] += (0..b).map(|k| gz[r][k] * g[c][k]).sum::<f64>();
                }
            }
            z = next;
            trace += z[0][0];
        }
        trace
    }
}

/// The data of one fit, in units of the mean spacing so that no power of h over- or underflows.
struct Fit<'a> {
    m: usize,
    /// Gaps between the knots over the mean gap.
    gaps: Vec<f64>,
    y: &'a [f64],
    element: Element,
}

impl Fit<'_> {
    /// Matrix of the energy over the derivatives k ≥ `first` at the knots, times `factor`.
    fn energy(&self, first: usize, factor: f64) -> BlockTridiagonal {
        let (m, n) = (self.m, self.y.len());
        let b = m - first;
        let mut diagonal = vec![[[0.0; M]; M]; n];
        let mut upper = vec![[[0.0; M]; M]; n - 1];
        for (i, h) in self.gaps.iter().enumerate() {
            for r in 0..b {
                for c in 0..b {
                    let (kr, kc) = (r + first, c + first);
                    // δₖ = hᵏ s⁽ᵏ⁾ on both sides, and h^(1−2m) of (1).
                    let s = factor * h.powi((kr + kc + 1) as i32 - 2 * m as i32);
                    diagonal[i][r][c] += s * self.element.ll[kr][kc];
                    upper[i][r][c] = s * self.element.lr[kr][kc];
                    diagonal[i + 1][r][c] += s * self.element.rr[kr][kc];
                }
            }
        }
        BlockTridiagonal { b, diagonal, upper, pivot_inverse: Vec::with_capacity(n) }
    }

    /// Values and derivatives at the knots (over the mean gap) for p = 0.
    fn interpolate(&self) -> Vec<Column> {
        let (m, n) = (self.m, self.y.len());
        let mut knots: Vec<Column> = self.y.iter().map(|y| [*y, 0.0, 0.0, 0.0]).collect();
        if m == 1 {
            return knots;
        }
        // Right-hand side: minus the pull of the given values. A constant has no energy, so
        // the columns of the two values are opposite and only differences of y appear.
        let mut v = vec![[0.0; M]; n];
        for (i, h) in self.gaps.iter().enumerate() {
            let dy = self.y[i + 1] - self.y[i];
            for k in 1..m {
                let s = h.powi(k as i32 + 1 - 2 * m as i32);
                v[i][k - 1] += s * self.element.ll[k][0] * dy;
                v[i + 1][k - 1] += s * self.element.lr[0][k] * dy;
            }
        }
        let mut a = self.energy(1, 1.0);
        a.factor();
        a.solve(&mut v);
        for (k, v) in knots.iter_mut().zip(&v) {
            k[1..m].copy_from_slice(&v[..m - 1]);
        }
        knots
    }

    /// Values and derivatives at the knots for p > 0, mean squared residual and tr(I − A)/n.
    fn smooth(&self, p: f64) -> (Vec<Column>, f64, f64) {
        let n = self.y.len();
        let mut a = self.energy(0, p);
        for d in &mut a.diagonal {
            d[0][0] += 1.0;
        }
        a.factor();
        // The offset of y passes through unchanged: fit what is left, so digits are not lost to it.
        let mean = self.y.iter().sum::<f64>() / n as f64;
        let mut knots: Vec<Column> = self.y.iter().map(|y| [*y - mean, 0.0, 0.0, 0.0]).collect();
        a.solve(&mut knots);
        for k in &mut knots {
            k[0] += mean;
        }
        let residual = knots.iter().zip(self.y).map(|(k, y)| (y - k[0]).powi(2)).sum::<f64>() / n as f64;
        (knots, residual, (1.0 - a.inverse_trace0() / n as f64).max(0.0))
    }

    /// The p > 0 that minimizes `criterion(mean squared residual, tr(I − A)/n)`; 0 where it falls
    /// all the way to p = 0.
    ///
    /// Brackets the minimum by halving and doubling, then golden section in p until the
    /// bracket is 1e-6 wide relative to p, as Woltring (1986) does.
    fn search(&self, criterion: impl Fn(f64, f64) -> f64) -> f64 {
        // Below this p moves the spline by less than the digits of y; above it the spline is
        // the least-squares polynomial of degree m − 1. In units of the mean gap.
        const P_MIN: f64 = 1e-15;
        const P_MAX: f64 = 1e15;
        const RELATIVE_WIDTH: f64 = 1e-6;
        let f = |p: f64| {
            let (_, residual, trace) = self.smooth(p);
            criterion(residual, trace)
        };

        // Start from about where the two terms of the sum weigh the same.
        let (mut lo, mut mid) = (0.01, 0.02);
        let (mut f_lo, mut f_mid) = (f(lo), f(mid));
        while f_lo <= f_mid {
            if lo < P_MIN {
                return 0.0;
            }
            (mid, f_mid) = (lo, f_lo);
            lo *= 0.5;
            f_lo = f(lo);
        }
        let mut hi = 2.0 * mid;
        let mut f_hi = f(hi);
        while f_hi <= f_mid {
            if hi > P_MAX {
                return hi;
            }
            lo = mid;
            (mid, f_mid) = (hi, f_hi);
            hi *= 2.0;
            f_hi = f(hi);
        }

        let ratio = 0.5 * (5f64.sqrt() - 1.0);
        let (mut a, mut b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        let (mut fa, mut fb) = (f(a), f(b));
        while hi - lo > RELATIVE_WIDTH * (hi + lo) {
            if fa <= fb {
                hi = b;
                (b, fb) = (a, fa);
                a = hi - ratio * (hi - lo);
                fa = f(a);
            } else {
                lo = a;
                (a, fa) = (b, fb);
                b = lo + ratio * (hi - lo);
                fb = f(b);
            }
        }
        0.5 * (lo + hi)
    }
}

/// Pieces in descending powers (left, intervals, right; 2m numbers each) and the smoothing parameter.
///
/// The points are checked: at least 2m, x strictly rising, all finite.
pub(super) fn pieces(m: usize, x: &[f64], y: &[f64], smoothing: Smoothing) -> (Vec<f64>, f64) {
    let n = x.len();
    let mean_gap = (x[n - 1] - x[0]) / (n - 1) as f64;
    let gaps = x.windows(2).map(|w| (w[1] - w[0]) / mean_gap).collect();
    let fit = Fit { m, gaps, y, element: Element::new(m) };

    // In units of the mean gap g the energy is g^(1−2m) as large, so p is g^(1−2m) times p of the caller.
    let scale = mean_gap.powi(2 * m as i32 - 1);
    let p = match smoothing {
        Smoothing::Interpolate => 0.0,
        Smoothing::Parameter(p) => p / scale,
        Smoothing::ErrorVariance(v) if v > 0.0 => fit.search(|r, t| r - v * (2.0 * t - 1.0)),
        Smoothing::ErrorVariance(_) => 0.0,
        Smoothing::CrossValidation => fit.search(|r, t| r / (t * t)),
    };
    let knots = if p > 0.0 { fit.smooth(p).0 } else { fit.interpolate() };

    // From derivatives at the knots to polynomials in x − origin.
    let w = 2 * m;
    let mut c = vec![0.0; (n + 1) * w];
    let taylor = |c: &mut [f64], knot: &Column| {
        let mut factor = 1.0;
        for k in 0..m {
            c[w - 1 - k] = knot[k] * factor;
            factor /= mean_gap * (k + 1) as f64;
        }
    };
    taylor(&mut c[..w], &knots[0]);
    for i in 0..n - 1 {
        let piece = &mut c[(i + 1) * w..(i + 2) * w];
        taylor(piece, &knots[i]);
        let h = fit.gaps[i];
        let (mut left, mut right) = ([0.0; M], [0.0; M]);
        for k in 0..m {
            left[k] = knots[i][k] * h.powi(k as i32);
            right[k] = knots[i + 1][k] * h.powi(k as i32);
        }
        let a = upper(m, &left, &right);
        for j in 0..m {
            piece[m - 1 - j] = a[j] / (h * mean_gap).powi((m + j) as i32);
        }
    }
    taylor(&mut c[n * w..], &knots[n - 1]);
    (c, p * scale)
}
