//! Dense kernels, written once and compiled for the widest vectors the machine has.

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

/// C ← C − L Wᵀ on the lower triangle.
///
/// C is the trailing part, from row and column `from`, of a square with `m` rows stored by columns; `c` starts at
/// column `from`. L are `depth` columns of `m` rows in `l`, W likewise in `w`.
#[inline(always)]
pub(super) fn subtract_outer<S: Simd>(
    simd: S,
    c: &mut [f64],
    m: usize,
    from: usize,
    l: &[f64],
    w: &[f64],
    depth: usize,
    packing: &mut Packing,
) {
    if depth == 0 || from >= m {
        return;
    }
    let rows = m - from;
    let tile_rows = TILE_VECTORS * S::F64_LANES;
    let row_tiles = rows.div_ceil(tile_rows);
    let column_tiles = rows.div_ceil(TILE_COLUMNS);

    // Tiles of L and W one after the other, so that the inner loop walks straight through memory.
    packing.left.clear();
    packing.left.resize(row_tiles * tile_rows * depth, 0.0);
    packing.right.clear();
    packing.right.resize(column_tiles * TILE_COLUMNS * depth, 0.0);
    for p in 0..depth {
        pack(&l[p * m + from..(p + 1) * m], &mut packing.left, tile_rows, depth, p);
        pack(&w[p * m + from..(p + 1) * m], &mut packing.right, TILE_COLUMNS, depth, p);
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
                if j >= rows {
                    break;
                }
                let at = j * m + from;
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

/// Copies column p into tiles of that many rows, each with its `depth` columns together.
#[inline(always)]
fn pack(column: &[f64], tiles: &mut [f64], rows: usize, depth: usize, p: usize) {
    let mut from = 0;
    let mut at = p * rows;
    while from < column.len() {
        let end = (from + rows).min(column.len());
        tiles[at..at + end - from].copy_from_slice(&column[from..end]);
        from = end;
        at += depth * rows;
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
