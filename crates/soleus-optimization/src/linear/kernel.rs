//! Dense kernels, compiled for the widest vector instructions of the machine.

use pulp::Simd;

/// Rows of a tile, in vectors, and its columns: eight sums stay in registers.
const TILE_VECTORS: usize = 2;
const TILE_COLUMNS: usize = 4;

// Loops here run over indices: adapters of iterators are not always inlined into functions that are compiled for
// particular vectors, and then cost more than the arithmetic.

/// Largest |x|; NaN counts as nothing.
#[inline(always)]
pub(super) fn max_abs<S: Simd>(simd: S, x: &[f64]) -> f64 {
    let (head, tail) = S::as_simd_f64s(x);
    let zero = simd.splat_f64s(0.0);
    let mut top = zero;
    for i in 0..head.len() {
        let v = head[i];
        top = simd.max_f64s(simd.max_f64s(v, simd.sub_f64s(zero, v)), top);
    }
    let mut top = simd.reduce_max_f64s(top);
    for i in 0..tail.len() {
        let v = tail[i].abs();
        if v > top {
            top = v;
        }
    }
    top
}

/// y ← y − a₀ w₀ − a₁ w₁ − a₂ w₂ − a₃ w₃.
#[inline(always)]
pub(super) fn subtract_four<S: Simd>(simd: S, y: &mut [f64], a: [&[f64]; 4], w: [f64; 4]) {
    let n = y.len();
    let (yh, yt) = S::as_mut_simd_f64s(y);
    let (h0, t0) = S::as_simd_f64s(&a[0][..n]);
    let (h1, t1) = S::as_simd_f64s(&a[1][..n]);
    let (h2, t2) = S::as_simd_f64s(&a[2][..n]);
    let (h3, t3) = S::as_simd_f64s(&a[3][..n]);
    let v = [simd.splat_f64s(-w[0]), simd.splat_f64s(-w[1]), simd.splat_f64s(-w[2]), simd.splat_f64s(-w[3])];
    let vectors = yh.len();
    let (h0, h1, h2, h3) = (&h0[..vectors], &h1[..vectors], &h2[..vectors], &h3[..vectors]);
    for i in 0..vectors {
        let s = simd.mul_add_e_f64s(h0[i], v[0], yh[i]);
        let s = simd.mul_add_e_f64s(h1[i], v[1], s);
        let s = simd.mul_add_e_f64s(h2[i], v[2], s);
        yh[i] = simd.mul_add_e_f64s(h3[i], v[3], s);
    }
    let rest = yt.len();
    let (t0, t1, t2, t3) = (&t0[..rest], &t1[..rest], &t2[..rest], &t3[..rest]);
    for i in 0..rest {
        yt[i] = yt[i] - t0[i] * w[0] - t1[i] * w[1] - t2[i] * w[2] - t3[i] * w[3];
    }
}

/// y ← y − a w.
#[inline(always)]
pub(super) fn subtract_one<S: Simd>(simd: S, y: &mut [f64], a: &[f64], w: f64) {
    let n = y.len();
    let (yh, yt) = S::as_mut_simd_f64s(y);
    let (ah, at) = S::as_simd_f64s(&a[..n]);
    let v = simd.splat_f64s(-w);
    let ah = &ah[..yh.len()];
    for i in 0..yh.len() {
        yh[i] = simd.mul_add_e_f64s(ah[i], v, yh[i]);
    }
    let at = &at[..yt.len()];
    for i in 0..yt.len() {
        yt[i] -= at[i] * w;
    }
}

/// y ← y − Σ_p A[from.., p] w_p over the columns p of `a`, which has `lead` rows.
#[inline(always)]
pub(super) fn subtract_columns<S: Simd>(
    simd: S,
    y: &mut [f64],
    a: &[f64],
    lead: usize,
    from: usize,
    w: impl Fn(usize) -> f64,
    columns: usize,
) {
    let column = |p: usize| &a[p * lead + from..(p + 1) * lead];
    let mut p = 0;
    while p + 4 <= columns {
        let (cols, ws) =
            ([column(p), column(p + 1), column(p + 2), column(p + 3)], [w(p), w(p + 1), w(p + 2), w(p + 3)]);
        subtract_four(simd, y, cols, ws);
        p += 4;
    }
    while p < columns {
        subtract_one(simd, y, column(p), w(p));
        p += 1;
    }
}

/// Memory for packed panels.
#[derive(Clone, Debug, Default)]
pub(super) struct Packing {
    left: Vec<f64>,
    right: Vec<f64>,
}

/// The factors of an update L Wᵀ: `depth` columns each, of `lead` rows, of which those from `from` on count.
#[derive(Clone, Copy)]
pub(super) struct Outer<'a> {
    pub l: &'a [f64],
    pub w: &'a [f64],
    pub lead: usize,
    pub from: usize,
    pub depth: usize,
}

/// C ← C − L Wᵀ on the lower triangle of the first `columns` columns.
///
/// Entry (i, j) of C is at `row` + i + j · `lead` of `c`.
#[inline(always)]
pub(super) fn subtract_outer<S: Simd>(
    simd: S,
    c: &mut [f64],
    lead: usize,
    row: usize,
    columns: usize,
    outer: Outer<'_>,
    packing: &mut Packing,
) {
    let Outer { l, w, lead: m, from, depth } = outer;
    if depth == 0 || columns == 0 {
        return;
    }
    let rows = m - from;
    let tile_rows = TILE_VECTORS * S::F64_LANES;
    let row_tiles = rows.div_ceil(tile_rows);
    let column_tiles = columns.div_ceil(TILE_COLUMNS);

    // Tiles of L and W one after the other, so that the inner loop walks straight through memory. What lies in the
    // last tiles beyond the end is old and goes into sums that nobody reads.
    let grow = |v: &mut Vec<f64>, size: usize| {
        if v.len() < size {
            v.resize(size, 0.0);
        }
    };
    grow(&mut packing.left, row_tiles * tile_rows * depth);
    grow(&mut packing.right, column_tiles * TILE_COLUMNS * depth);
    for p in 0..depth {
        pack_rows(simd, &l[p * m + from..(p + 1) * m], &mut packing.left, depth, p);
        pack_columns(&w[p * m + from..p * m + from + columns], &mut packing.right, depth, p);
    }

    let zero = simd.splat_f64s(0.0);
    let (right, _) = packing.right.as_chunks::<TILE_COLUMNS>();
    let (left, _) = S::as_simd_f64s(&packing.left);
    let (left, _) = left.as_chunks::<TILE_VECTORS>();
    for tj in 0..column_tiles {
        let j0 = tj * TILE_COLUMNS;
        let right = &right[tj * depth..(tj + 1) * depth];
        for ti in j0 / tile_rows..row_tiles {
            let i0 = ti * tile_rows;
            let left = &left[ti * depth..(ti + 1) * depth];
            let mut sum = [[zero; TILE_VECTORS]; TILE_COLUMNS];
            for p in 0..depth {
                let (a, b) = (left[p], right[p]);
                for j in 0..TILE_COLUMNS {
                    let b = simd.splat_f64s(b[j]);
                    for i in 0..TILE_VECTORS {
                        sum[j][i] = simd.mul_add_e_f64s(a[i], b, sum[j][i]);
                    }
                }
            }
            let whole = i0 + 1 >= j0 + TILE_COLUMNS && i0 + tile_rows <= rows;
            for jj in 0..TILE_COLUMNS {
                let j = j0 + jj;
                if j >= columns {
                    break;
                }
                let at = j * lead + row;
                if whole {
                    let (to, _) = S::as_mut_simd_f64s(&mut c[at + i0..at + i0 + tile_rows]);
                    for i in 0..TILE_VECTORS {
                        to[i] = simd.sub_f64s(to[i], sum[jj][i]);
                    }
                } else {
                    // At the diagonal and at the end only part of the tile exists.
                    let parts: &[f64] = pulp::bytemuck::cast_slice(&sum[jj]);
                    let (low, high) = (j.max(i0), (i0 + tile_rows).min(rows));
                    for i in low..high {
                        c[at + i] -= parts[i - i0];
                    }
                }
            }
        }
    }
}

/// Copies column p of L into tiles, each with its `depth` columns together.
#[inline(always)]
fn pack_rows<S: Simd>(_: S, column: &[f64], tiles: &mut [f64], depth: usize, p: usize) {
    let tile_rows = TILE_VECTORS * S::F64_LANES;
    let (whole, rest) = column.split_at(column.len() / tile_rows * tile_rows);
    let at = (whole.len() / tile_rows * depth + p) * tile_rows;
    if !rest.is_empty() {
        tiles[at..at + rest.len()].copy_from_slice(rest);
    }
    let (from, _) = S::as_simd_f64s(whole);
    let (from, _) = from.as_chunks::<TILE_VECTORS>();
    let (to, _) = S::as_mut_simd_f64s(tiles);
    let (to, _) = to.as_chunks_mut::<TILE_VECTORS>();
    for i in 0..from.len() {
        to[i * depth + p] = from[i];
    }
}

/// The same for W, whose tiles are as wide as those of L are long.
#[inline(always)]
fn pack_columns(column: &[f64], tiles: &mut [f64], depth: usize, p: usize) {
    let (from, rest) = column.as_chunks::<TILE_COLUMNS>();
    let (to, _) = tiles.as_chunks_mut::<TILE_COLUMNS>();
    for i in 0..from.len() {
        to[i * depth + p] = from[i];
    }
    if !rest.is_empty() {
        to[from.len() * depth + p][..rest.len()].copy_from_slice(rest);
    }
}

/// t ← max(t, |a|), entry by entry.
#[inline(always)]
pub(super) fn raise<S: Simd>(simd: S, t: &mut [f64], a: &[f64]) {
    let (th, tt) = S::as_mut_simd_f64s(t);
    let (ah, at) = S::as_simd_f64s(a);
    let zero = simd.splat_f64s(0.0);
    let ah = &ah[..th.len()];
    for i in 0..th.len() {
        th[i] = simd.max_f64s(simd.max_f64s(ah[i], simd.sub_f64s(zero, ah[i])), th[i]);
    }
    let at = &at[..tt.len()];
    for i in 0..tt.len() {
        if at[i].abs() > tt[i] {
            tt[i] = at[i].abs();
        }
    }
}

/// aᵢᵀ b for four a of the length of b.
#[inline(always)]
pub(super) fn dot_four<S: Simd>(simd: S, a: [&[f64]; 4], b: &[f64]) -> [f64; 4] {
    let n = b.len();
    let (bh, bt) = S::as_simd_f64s(b);
    let (h0, t0) = S::as_simd_f64s(&a[0][..n]);
    let (h1, t1) = S::as_simd_f64s(&a[1][..n]);
    let (h2, t2) = S::as_simd_f64s(&a[2][..n]);
    let (h3, t3) = S::as_simd_f64s(&a[3][..n]);
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    let vectors = bh.len();
    let (h0, h1, h2, h3) = (&h0[..vectors], &h1[..vectors], &h2[..vectors], &h3[..vectors]);
    for i in 0..vectors {
        s0 = simd.mul_add_e_f64s(h0[i], bh[i], s0);
        s1 = simd.mul_add_e_f64s(h1[i], bh[i], s1);
        s2 = simd.mul_add_e_f64s(h2[i], bh[i], s2);
        s3 = simd.mul_add_e_f64s(h3[i], bh[i], s3);
    }
    let mut sums = [
        simd.reduce_sum_f64s(s0),
        simd.reduce_sum_f64s(s1),
        simd.reduce_sum_f64s(s2),
        simd.reduce_sum_f64s(s3),
    ];
    let rest = bt.len();
    let (t0, t1, t2, t3) = (&t0[..rest], &t1[..rest], &t2[..rest], &t3[..rest]);
    for i in 0..rest {
        sums[0] += t0[i] * bt[i];
        sums[1] += t1[i] * bt[i];
        sums[2] += t2[i] * bt[i];
        sums[3] += t3[i] * bt[i];
    }
    sums
}

/// aᵀ b.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let (ah, at) = S::as_simd_f64s(a);
    let (bh, bt) = S::as_simd_f64s(&b[..a.len()]);
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    let (a4, ar) = ah.as_chunks::<4>();
    let (b4, br) = bh.as_chunks::<4>();
    let b4 = &b4[..a4.len()];
    for i in 0..a4.len() {
        s0 = simd.mul_add_e_f64s(a4[i][0], b4[i][0], s0);
        s1 = simd.mul_add_e_f64s(a4[i][1], b4[i][1], s1);
        s2 = simd.mul_add_e_f64s(a4[i][2], b4[i][2], s2);
        s3 = simd.mul_add_e_f64s(a4[i][3], b4[i][3], s3);
    }
    let br = &br[..ar.len()];
    for i in 0..ar.len() {
        s0 = simd.mul_add_e_f64s(ar[i], br[i], s0);
    }
    let mut total = simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(s0, s1), simd.add_f64s(s2, s3)));
    let bt = &bt[..at.len()];
    for i in 0..at.len() {
        total += at[i] * bt[i];
    }
    total
}
