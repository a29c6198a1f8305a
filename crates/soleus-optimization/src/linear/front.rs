//! Partial factorisation of one dense symmetric front with pivoting.

use super::kernel::{self, Packing};
use pulp::{Simd, WithSimd};

/// A block of D: a number, or a symmetric two-by-two matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pivot {
    /// d.
    One(f64),
    /// d₀₀, d₁₀, d₁₁; takes two columns.
    Two(f64, f64, f64),
}

/// Columns eliminated before the rest of the front is brought up to date.
const PANEL: usize = 32;

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

/// Eliminates as many of the first `candidates` unknowns of a front as have stable pivots.
///
///   P F Pᵀ = | L₁  0 | | D  0 | | L₁ᵀ L₂ᵀ |
///            | L₂  I | | 0  S | | 0    I  |
///
/// F is `m` × `m`, by columns, lower triangle. On return the first columns hold L (the unit diagonal is not
/// stored), the trailing part S; `index` is permuted along; `pivots` is D. Returns the number eliminated.
///
/// Of the pivots that column j offers, itself, the candidate t of its largest entry, or both as a
/// two-by-two block, the one that enlarges entries least is taken, as long as it enlarges them at
/// most by 1/`PIVOT_THRESHOLD`; otherwise the column waits. Columns are brought up to date when
/// they are looked at, the rest of the front once per panel (as LAPACK's dsytrf does; Bunch & Kaufman 1977,
/// Duff & Reid 1983 for the threshold and for handing waiting columns to the parent).
pub(super) struct PartialFactorization<'a> {
    pub front: &'a mut [f64],
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
        let PartialFactorization { front: f, m, candidates, index, pivots, scratch } = self;
        let FrontScratch { w, magnitude, packing } = scratch;
        w.clear();
        w.resize(m * PANEL, 0.0);
        magnitude.clear();
        for j in 0..candidates {
            let mut top = kernel::max_abs(simd, &f[j * m + j..(j + 1) * m]);
            for i in 0..j {
                top = top.max(f[i * m + j].abs());
            }
            magnitude.push(top);
        }

        // Candidates done..active compete; active..candidates wait.
        let mut done = 0;
        let mut active = candidates;
        let mut done_at_wait = usize::MAX;
        while done < active {
            let start = done;
            while done < active && done - start + 2 <= PANEL {
                let c = done - start;
                let j = done;
                update_column(simd, f, w, m, start, c, c, j);
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
                        update_column(simd, f, w, m, start, c, c + 1, t);
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
                        swap(f, w, m, j, active, c, index, magnitude);
                        if done_at_wait == usize::MAX {
                            done_at_wait = done;
                        }
                    }
                    Some((Pivot::One(d), at)) => {
                        if at != j {
                            w.copy_within((c + 1) * m..(c + 2) * m, c * m);
                        }
                        swap(f, w, m, j, at, c + 1, index, magnitude);
                        scale_column(&mut f[j * m + j + 1..(j + 1) * m], &w[c * m + j + 1..(c + 1) * m], d);
                        pivots.push(Pivot::One(d));
                        done += 1;
                    }
                    Some((two @ Pivot::Two(a, b, d), at)) => {
                        swap(f, w, m, j + 1, at, c + 2, index, magnitude);
                        let det = a * d - b * b;
                        let (ia, ib, id) = (d / det, -b / det, a / det);
                        let (w0, w1) = w[c * m..(c + 2) * m].split_at(m);
                        let (f0, f1) = f[j * m..(j + 2) * m].split_at_mut(m);
                        f0[j + 1] = 0.0;
                        for i in j + 2..m {
                            f0[i] = w0[i] * ia + w1[i] * ib;
                            f1[i] = w0[i] * ib + w1[i] * id;
                        }
                        pivots.push(two);
                        done += 2;
                    }
                }
            }
            let (left, right) = f.split_at_mut(done * m);
            kernel::subtract_outer(simd, right, m, done, &left[start * m..], w, done - start, packing);
            // What waited may have got a pivot from what was eliminated since.
            if done >= active && active < candidates && done > done_at_wait {
                active = candidates;
                done_at_wait = usize::MAX;
            }
        }
        done
    }
}

/// Column `column` of the front, from row `start + done` on, as the pivots of this panel leave it, into `w`.
#[inline(always)]
fn update_column<S: Simd>(
    simd: S,
    f: &[f64],
    w: &mut [f64],
    m: usize,
    start: usize,
    done: usize,
    to: usize,
    column: usize,
) {
    let from = start + done;
    let (before, rest) = w.split_at_mut(to * m);
    let out = &mut rest[from..m];
    for i in from..column {
        out[i - from] = f[i * m + column];
    }
    out[column - from..].copy_from_slice(&f[column * m + column..(column + 1) * m]);
    kernel::subtract_columns(simd, out, &f[start * m..], m, from, |p| before[p * m + column], done);
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
    let row = if inner > 0.0 { (from..candidates).find(|&i| i != t && w[i].abs() == inner) } else { None };
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
    for (l, w) in l.iter_mut().zip(w) {
        *l = w * inverse;
    }
}

/// Exchanges unknowns p ≤ q of the front, in everything that knows them.
#[inline(always)]
fn swap(
    f: &mut [f64],
    w: &mut [f64],
    m: usize,
    p: usize,
    q: usize,
    panel: usize,
    index: &mut [u32],
    magnitude: &mut [f64],
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
