//! Partial factorization of one dense symmetric front with pivoting.

use super::Inertia;
use super::kernel::{self, Outer, Packing};
use pulp::{Simd, WithSimd};

/// A block of D: a number, or a symmetric two-by-two matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pivot {
    /// d.
    One(f64),
    /// d₀₀, d₁₀, d₁₁; takes two columns.
    Two(f64, f64, f64),
}

impl Pivot {
    /// Counts the signs of its eigenvalues.
    pub fn count(&self, inertia: &mut Inertia) {
        match *self {
            Pivot::One(d) if d > 0.0 => inertia.positive += 1,
            Pivot::One(_) => inertia.negative += 1,
            Pivot::Two(a, b, d) if a * d - b * b < 0.0 => {
                inertia.positive += 1;
                inertia.negative += 1;
            }
            Pivot::Two(a, ..) if a > 0.0 => inertia.positive += 2,
            Pivot::Two(..) => inertia.negative += 2,
        }
    }

    /// Divides the first entries by it; how many these are.
    #[inline(always)]
    pub fn divide(&self, y: &mut [f64]) -> usize {
        match *self {
            Pivot::One(d) => {
                y[0] /= d;
                1
            }
            Pivot::Two(a, b, d) => {
                let det = a * d - b * b;
                (y[0], y[1]) = ((d * y[0] - b * y[1]) / det, (a * y[1] - b * y[0]) / det);
                2
            }
        }
    }
}

/// Columns eliminated before the rest of the front is brought up to date.
const PANEL: usize = 16;

/// Columns that update the square at once.
const DEPTH: usize = 128;

/// A pivot may enlarge entries by the inverse of this. As small as Ipopt's default for its MA27 and MA57
/// (`ma57_pivtol`): refinement makes good for the digits lost, and pivots that wait cost more.
const PIVOT_THRESHOLD: f64 = 1e-8;

/// A one-by-one pivot that enlarges entries by less than this is taken without looking further:
/// 1/α of Bunch & Kaufman (1977), α = (1 + √17)/8.
const GOOD_GROWTH: f64 = 1.561_552_812_808_830_3;

/// A column that elimination has made smaller than this, relative to what it was, is rounding, and has no pivot.
const ROUNDING: f64 = 1e-15;

/// Scratch memory of [`PartialFactorization`].
#[derive(Clone, Debug, Default)]
pub(super) struct FrontScratch {
    w: Vec<f64>,
    magnitude: Vec<f64>,
    packing: Packing,
}

/// Eliminates as many of the candidates of a front as have stable pivots.
///
///   P F Pᵀ = | L₁  0 | | D  0 | | L₁ᵀ L₂ᵀ |
///            | L₂  I | | 0  S | | 0    I  |
///
/// The front has `m` rows. Its first `candidates` columns are `panel`, of `m` rows each; the rest is `square`, of
/// m − `candidates` rows; both by columns, lower triangle. On return the first columns of the panel hold L (the unit
/// diagonal is not stored), what is left of the panel and the square hold S; `index` is permuted along; `pivots`
/// is D. Returns the number eliminated.
///
/// Of the pivots that column j offers, itself, the candidate t of its largest entry, or both as a
/// two-by-two block, the one that enlarges entries least is taken, as long as it enlarges them at
/// most by 1/`PIVOT_THRESHOLD`; otherwise the column waits. Columns are brought up to date when
/// they are looked at, the rest of the panel once per `PANEL` columns (as LAPACK's dsytrf does; Bunch & Kaufman
/// 1977, Duff & Reid 1983 for the threshold and for handing waiting columns to the parent), the square at the end.
pub(super) struct PartialFactorization<'a> {
    pub panel: &'a mut [f64],
    pub square: &'a mut [f64],
    pub m: usize,
    pub candidates: usize,
    pub index: &'a mut [u32],
    pub pivots: &'a mut Vec<Pivot>,
    pub scratch: &'a mut FrontScratch,
}

impl WithSimd for PartialFactorization<'_> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> usize {
        let PartialFactorization { panel: f, square, m, candidates, index, pivots, scratch } = self;
        let FrontScratch { w: all_w, magnitude, packing } = scratch;
        // One column more than candidates: the second of a pair is looked at before it is known to be one.
        if all_w.len() < m * (candidates + 1) {
            all_w.resize(m * (candidates + 1), 0.0);
        }
        magnitude.clear();
        magnitude.resize(candidates, 0.0);
        for j in 0..candidates {
            let column = &f[j * m..(j + 1) * m];
            magnitude[j] = magnitude[j].max(kernel::max_abs(simd, &column[j..]));
            // The same entries are part of later columns.
            kernel::raise(simd, &mut magnitude[j + 1..], &column[j + 1..candidates]);
        }

        // Candidates done..active compete; active..candidates wait.
        let mut done = 0;
        let mut active = candidates;
        let mut done_at_wait = usize::MAX;
        while done < active {
            let start = done;
            let w = &mut all_w[start * m..];
            while done < active && done - start + 2 <= PANEL {
                let c = done - start;
                let j = done;
                update_column(simd, f, w, m, [start, done], c, j);
                let (d_j, top, row) = inspect(simd, &w[c * m..(c + 1) * m], j, j, candidates);
                let mut choice = None;
                if d_j.abs().max(top) <= ROUNDING * magnitude[j] || !(d_j.abs() + top).is_finite() {
                    // Nothing left of this column.
                } else if top <= GOOD_GROWTH * d_j.abs() {
                    choice = Some((Pivot::One(d_j), j));
                } else {
                    let mut best = top / d_j.abs();
                    if best <= 1.0 / PIVOT_THRESHOLD {
                        choice = Some((Pivot::One(d_j), j));
                    }
                    if let Some(t) = row {
                        update_column(simd, f, w, m, [start, done], c + 1, t);
                        let (d_t, top_t, _) = inspect(simd, &w[(c + 1) * m..(c + 2) * m], j, t, candidates);
                        let growth = top_t / d_t.abs();
                        if growth < best && growth <= 1.0 / PIVOT_THRESHOLD {
                            best = growth;
                            choice = Some((Pivot::One(d_t), t));
                        }
                        let off = w[c * m + t];
                        let det = d_j * d_t - off * off;
                        let (top_j, top_t) = (
                            top_outside(simd, &w[c * m..(c + 1) * m], j, t),
                            top_outside(simd, &w[(c + 1) * m..(c + 2) * m], j, t),
                        );
                        let growth = ((d_t.abs() * top_j + off.abs() * top_t) / det.abs())
                            .max((off.abs() * top_j + d_j.abs() * top_t) / det.abs());
                        // Two columns at once may grow twice as much for the same stability.
                        if 0.5 * growth < best && growth <= 1.0 / PIVOT_THRESHOLD {
                            choice = Some((Pivot::Two(d_j, off, d_t), t));
                        }
                    }
                }
                match choice {
                    None => {
                        active -= 1;
                        swap(f, w, m, j, active, c, (index, magnitude));
                        if done_at_wait == usize::MAX {
                            done_at_wait = done;
                        }
                    }
                    Some((Pivot::One(d), at)) => {
                        if at != j {
                            w.copy_within((c + 1) * m..(c + 2) * m, c * m);
                        }
                        swap(f, w, m, j, at, c + 1, (index, magnitude));
                        scale_column(&mut f[j * m + j + 1..(j + 1) * m], &w[c * m + j + 1..(c + 1) * m], d);
                        pivots.push(Pivot::One(d));
                        done += 1;
                    }
                    Some((two @ Pivot::Two(a, b, d), at)) => {
                        swap(f, w, m, j + 1, at, c + 2, (index, magnitude));
                        let det = a * d - b * b;
                        let (ia, ib, id) = (d / det, -b / det, a / det);
                        let (w0, w1) = w[c * m..(c + 2) * m].split_at(m);
                        let (f0, f1) = f[j * m..(j + 2) * m].split_at_mut(m);
                        f0[j + 1] = 0.0;
                        let rows = m - j - 2;
                        let (w0, w1) = (&w0[j + 2..][..rows], &w1[j + 2..][..rows]);
                        let (f0, f1) = (&mut f0[j + 2..][..rows], &mut f1[j + 2..][..rows]);
                        for i in 0..rows {
                            f0[i] = w0[i] * ia + w1[i] * ib;
                            f1[i] = w0[i] * ib + w1[i] * id;
                        }
                        pivots.push(two);
                        done += 2;
                    }
                }
            }
            let (left, right) = f.split_at_mut(done * m);
            let outer = Outer { l: &left[start * m..], w, lead: m, from: done, depth: done - start };
            kernel::subtract_outer(simd, right, m, done, candidates - done, outer, packing);
            // What waited may have got a pivot from what was eliminated since.
            if done >= active && active < candidates && done > done_at_wait {
                active = candidates;
                done_at_wait = usize::MAX;
            }
        }
        // Pieces of this depth stay in the first-level cache with what they are multiplied by.
        let mut first = 0;
        while first < done {
            let depth = (done - first).min(DEPTH);
            let (l, w) = (&f[first * m..], &all_w[first * m..]);
            let outer = Outer { l, w, lead: m, from: candidates, depth };
            kernel::subtract_outer(simd, square, m - candidates, 0, m - candidates, outer, packing);
            first += depth;
        }
        done
    }
}

/// Column `column` of the front, from row `from` on, as the pivots from `start` on leave it, into column `to` of `w`.
#[inline(always)]
fn update_column<S: Simd>(
    simd: S,
    f: &[f64],
    w: &mut [f64],
    m: usize,
    [start, from]: [usize; 2],
    to: usize,
    column: usize,
) {
    let (before, rest) = w.split_at_mut(to * m);
    let out = &mut rest[from..m];
    for i in from..column {
        out[i - from] = f[i * m + column];
    }
    out[column - from..].copy_from_slice(&f[column * m + column..(column + 1) * m]);
    kernel::subtract_columns(simd, out, &f[start * m..], m, from, |p| before[p * m + column], from - start);
}

/// Diagonal entry `t` of a column that starts at row `from`, its largest other entry, and the candidate row of
/// the largest entry among candidates, if that is not zero.
#[inline(always)]
fn inspect<S: Simd>(
    simd: S,
    w: &[f64],
    from: usize,
    t: usize,
    candidates: usize,
) -> (f64, f64, Option<usize>) {
    let inner = max_abs_but(simd, &w[from..candidates], t - from);
    let outer = kernel::max_abs(simd, &w[candidates..]);
    let mut row = None;
    if inner > 0.0 {
        for i in from..candidates {
            if i != t && w[i].abs() == inner {
                row = Some(i);
                break;
            }
        }
    }
    (w[t], inner.max(outer), row)
}

/// Largest entry of a column outside rows a ≤ b, from row a on.
#[inline(always)]
fn top_outside<S: Simd>(simd: S, w: &[f64], a: usize, b: usize) -> f64 {
    max_abs_but(simd, &w[a + 1..], b - a - 1)
}

#[inline(always)]
fn max_abs_but<S: Simd>(simd: S, w: &[f64], but: usize) -> f64 {
    kernel::max_abs(simd, &w[..but]).max(kernel::max_abs(simd, &w[but + 1..]))
}

#[inline(always)]
fn scale_column(l: &mut [f64], w: &[f64], d: f64) {
    let inverse = 1.0 / d;
    let w = &w[..l.len()];
    for i in 0..l.len() {
        l[i] = w[i] * inverse;
    }
}

/// Exchanges candidates p ≤ q of the front, in everything that knows them.
#[inline(always)]
fn swap(
    f: &mut [f64],
    w: &mut [f64],
    m: usize,
    p: usize,
    q: usize,
    panel: usize,
    (index, magnitude): (&mut [u32], &mut [f64]),
) {
    if p == q {
        return;
    }
    index.swap(p, q);
    magnitude.swap(p, q);
    for column in 0..p {
        f.swap(column * m + p, column * m + q);
    }
    for column in 0..panel {
        w.swap(column * m + p, column * m + q);
    }
    f.swap(p * m + p, q * m + q);
    for i in p + 1..q {
        f.swap(p * m + i, i * m + q);
    }
    let (low, high) = f.split_at_mut(q * m);
    low[p * m + q + 1..(p + 1) * m].swap_with_slice(&mut high[q + 1..m]);
}
