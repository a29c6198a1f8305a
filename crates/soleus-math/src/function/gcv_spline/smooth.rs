#![allow(clippy::needless_range_loop)] // Indices of matrices, as in the equations.
//! Smoothing data with a natural spline of degree 2m − 1.
//!
//! The mth derivative of a natural spline is a sum of B-splines of order m on its knots,
//! s⁽ᵐ⁾ = Σ γᵢ Mᵢ with ∫ Mᵢ = 1, and for any f, ∫ Mᵢ f⁽ᵐ⁾ = m! [xᵢ … x_{i+m}] f = (Qᵀf)ᵢ
//! (Peano). With Gᵢⱼ = ∫ Mᵢ Mⱼ the energy of the spline through values a is γᵀ G γ, where
//! G γ = Qᵀ a. Minimizing |y − a|² + p γᵀ G γ over a gives
//!
//!   (G + p QᵀQ) γ = Qᵀ y,     a = y − p Q γ                               (1)
//!
//! a banded, symmetric, positive definite system, after Reinsch (1967) and de Hoog and
//! Hutchinson (1987). The map from y to a is A, and
//!
//!   tr(I − A) = p tr(QᵀQ (G + p QᵀQ)⁻¹)                                   (2)
//!
//! needs the inverse within the band only (Hutchinson and de Hoog 1985).

/// Largest half order m.
const M: usize = 4;

/// A column of Q, or half a row of a symmetric band matrix: the diagonal and what is right of it.
type Band = [f64; M + 1];

/// The matrices of (1) for one set of data. Lengths are in mean gaps, so that no power over- or underflows.
pub(super) struct Smoother<'a> {
    m: usize,
    y: &'a [f64],
    /// Column i of Q acts on the values i … i + m.
    q: Vec<Band>,
    gram: Vec<Band>,
    qtq: Vec<Band>,
}

/// Data smoothed with one p.
pub(super) struct Smoothed {
    /// The values a.
    pub(super) values: Vec<f64>,
    /// Mean of (y − a)².
    residual: f64,
    /// tr(I − A)/n.
    trace: f64,
}

/// Points and weights of the four-point Gauss rule on [0, 1]: exact up to degree 7, and products
/// of two B-splines have degree 6 at most. Abramowitz and Stegun (1964), table 25.4.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

impl<'a> Smoother<'a> {
    /// For values `y` at knots `gaps` apart, at least 2m of them.
    pub(super) fn new(m: usize, gaps: &[f64], y: &'a [f64]) -> Self {
        let n = y.len();
        let count = n - m;
        // Distance from knot i to knot j ≥ i, summed from the gaps: exact for neighbours.
        let span = |i: usize, j: usize| gaps[i..j].iter().sum::<f64>();

        // Divided differences: m! / Π (xⱼ − xₖ) over the knots k ≠ j of the window.
        let factorial: f64 = (1..=m).map(|k| k as f64).product();
        let mut q = vec![[0.0; M + 1]; count];
        for (i, q) in q.iter_mut().enumerate() {
            for j in i..=i + m {
                let mut product = factorial;
                for k in i..=i + m {
                    if k < j {
                        product /= span(k, j);
                    } else if k > j {
                        product /= -span(j, k);
                    }
                }
                q[j - i] = product;
            }
        }

        // Gram matrix, interval by interval: on interval k the B-splines k − m + 1 … k live.
        let mut gram = vec![[0.0; M + 1]; count];
        for k in 0..n - 1 {
            for (t, weight) in GAUSS {
                // Values of the B-splines by the recurrence of Cox and de Boor. `b[r]` belongs to
                // the B-spline that begins at knot k − r; where that window leaves the knots it
                // is not needed, nor are its descendants.
                let mut b = [0.0; M + 1];
                b[0] = 1.0 / gaps[k];
                let (from_left, to_right) = (t * gaps[k], (1.0 - t) * gaps[k]);
                for order in 2..=m {
                    for r in (0..order).rev() {
                        let (Some(first), last) = (k.checked_sub(r), k + order - r) else {
                            b[r] = 0.0;
                            continue;
                        };
                        if last > n - 1 {
                            b[r] = 0.0;
                            continue;
                        }
                        // M = order/(order−1) [(x − x_first) M_left + (x_last − x) M_right] / (x_last − x_first)
                        let left = if r < order - 1 { b[r] } else { 0.0 };
                        let right = if r > 0 { b[r - 1] } else { 0.0 };
                        let (d0, d1) = (span(first, k) + from_left, to_right + span(k + 1, last));
                        let ratio = order as f64 / (order - 1) as f64;
                        b[r] = ratio * (d0 * left + d1 * right) / span(first, last);
                    }
                }
                for r in 0..m {
                    for s in 0..=r {
                        // B-splines k − r ≤ k − s.
                        if let Some(i) = k.checked_sub(r)
                            && k - s < count
                        {
                            gram[i][r - s] += weight * gaps[k] * b[r] * b[s];
                        }
                    }
                }
            }
        }

        let mut qtq = vec![[0.0; M + 1]; count];
        for i in 0..count {
            for d in 0..=m.min(count - 1 - i) {
                qtq[i][d] = (d..=m).map(|j| q[i][j] * q[i + d][j - d]).sum();
            }
        }
        Smoother { m, y, q, gram, qtq }
    }

    /// Solves (1) for p > 0.
    pub(super) fn smooth(&self, p: f64) -> Smoothed {
        let (m, n, count) = (self.m, self.y.len(), self.q.len());

        // LDLᵀ in the band: s[i][0] becomes Dᵢ, s[i][d] becomes L_{i+d,i}.
        let mut s: Vec<Band> =
            self.gram.iter().zip(&self.qtq).map(|(g, q)| std::array::from_fn(|d| g[d] + p * q[d])).collect();
        for i in 0..count {
            let row = s[i];
            let reach = m.min(count - 1 - i);
            for d in 1..=reach {
                let l = row[d] / row[0];
                for e in d..=reach {
                    s[i + d][e - d] -= l * row[e];
                }
                s[i][d] = l;
            }
        }

        // Right-hand side Qᵀy, then down and up.
        let mut gamma: Vec<f64> =
            self.q.iter().enumerate().map(|(i, q)| (0..=m).map(|j| q[j] * self.y[i + j]).sum()).collect();
        for i in 0..count {
            for d in 1..=m.min(count - 1 - i) {
                gamma[i + d] -= s[i][d] * gamma[i];
            }
        }
        for i in (0..count).rev() {
            gamma[i] /= s[i][0];
            for d in 1..=m.min(count - 1 - i) {
                gamma[i] -= s[i][d] * gamma[i + d];
            }
        }

        // Residual y − a = p Q γ.
        let mut off = vec![0.0; n];
        for (i, q) in self.q.iter().enumerate() {
            for j in 0..=m {
                off[i + j] += p * q[j] * gamma[i];
            }
        }
        let residual = off.iter().map(|r| r * r).sum::<f64>() / n as f64;
        let values = self.y.iter().zip(&off).map(|(y, r)| y - r).collect();

        // Band of the inverse from the last row up, and the trace (2) on the way.
        let mut z = vec![[0.0; M + 1]; count];
        let mut trace = 0.0;
        for i in (0..count).rev() {
            let reach = m.min(count - 1 - i);
            for d in (1..=reach).rev() {
                z[i][d] = -(1..=reach).map(|k| s[i][k] * z[i + k.min(d)][k.abs_diff(d)]).sum::<f64>();
            }
            z[i][0] = 1.0 / s[i][0] - (1..=reach).map(|k| s[i][k] * z[i][k]).sum::<f64>();
            trace += self.qtq[i][0] * z[i][0];
            trace += 2.0 * (1..=reach).map(|d| self.qtq[i][d] * z[i][d]).sum::<f64>();
        }
        Smoothed { values, residual, trace: p * trace / n as f64 }
    }

    /// The p that minimizes `criterion(mean squared residual, tr(I − A)/n)` and the smoothed values;
    /// p = 0 and no values where the criterion falls all the way to the data.
    ///
    /// Brackets the minimum by halving and doubling, then golden section in p until the
    /// bracket is 1e-6 wide relative to p, as Woltring (1986) does.
    pub(super) fn search(&self, criterion: impl Fn(f64, f64) -> f64) -> (f64, Option<Vec<f64>>) {
        // p of equal weight: evenly spaced, Woltring's two matrices have row sums in the ratio 4ᵐ. His
        // start differs a little where many knots are near an end, which matters only when the
        // criterion has several minima. 15 orders below, p changes the values by less than
        // their last digit; 15 above, the spline is the least-squares polynomial of degree m − 1.
        let start = 0.25f64.powi(self.m as i32);
        let (lowest, highest) = (1e-15 * start, 1e15 * start);
        const RELATIVE_WIDTH: f64 = 1e-6;
        let f = |p: f64| {
            let s = self.smooth(p);
            criterion(s.residual, s.trace)
        };
        let result = |p: f64| (p, Some(self.smooth(p).values));

        let (mut lo, mut mid) = (start, 2.0 * start);
        let (mut f_lo, mut f_mid) = (f(lo), f(mid));
        while f_lo <= f_mid {
            if lo < lowest {
                return (0.0, None);
            }
            (mid, f_mid) = (lo, f_lo);
            lo *= 0.5;
            f_lo = f(lo);
        }
        let mut hi = 2.0 * mid;
        let mut f_hi = f(hi);
        while f_hi <= f_mid {
            if hi > highest {
                return result(hi);
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
        result(0.5 * (lo + hi))
    }
}
