//! Dense kernels, written once and compiled for the widest vectors the machine has.

use pulp::Simd;

/// Rows of a tile, in vectors, and its columns: eight sums stay in registers.
const TILE_VECTORS: usize = 2;
const TILE_COLUMNS: usize = 4;

/// Largest |x|; NaN counts as nothing.
#[inline(always)]
pub(super) fn max_abs<S: Simd>(simd: S, x: &[f64]) -> f64 {
    let (head, tail) = S::as_simd_f64s(x);
    let mut top = simd.splat_f64s(0.0);
    for &v in head {
        top = simd.max_f64s(simd.abs_f64s(v), top);
    }
    let mut top = simd.reduce_max_f64s(top);
    for &v in tail {
        if v.abs() > top {
            top = v.abs();
        }
    }
    top
}

/// y ← y − a₀ w₀ − a₁ w₁ − a₂ w₂ − a₃ w₃.
#[inline(always)]
fn subtract_four<S: Simd>(simd: S, y: &mut [f64], a: [&[f64]; 4], w: [f64; 4]) {
    let n = y.len();
    let (yh, yt) = S::as_mut_simd_f64s(y);
    let cut = n - yt.len();
    let (a0, a1, a2, a3) = (&a[0][..n], &a[1][..n], &a[2][..n], &a[3][..n]);
    let heads = (S::as_simd_f64s(a0).0, S::as_simd_f64s(a1).0, S::as_simd_f64s(a2).0, S::as_simd_f64s(a3).0);
    let v = [simd.splat_f64s(-w[0]), simd.splat_f64s(-w[1]), simd.splat_f64s(-w[2]), simd.splat_f64s(-w[3])];
    for ((((y, &a0), &a1), &a2), &a3) in yh.iter_mut().zip(heads.0).zip(heads.1).zip(heads.2).zip(heads.3) {
        let s = simd.mul_add_e_f64s(a0, v[0], *y);
        let s = simd.mul_add_e_f64s(a1, v[1], s);
        let s = simd.mul_add_e_f64s(a2, v[2], s);
        *y = simd.mul_add_e_f64s(a3, v[3], s);
    }
    for (i, y) in yt.iter_mut().enumerate() {
        let k = cut + i;
        *y = *y - a0[k] * w[0] - a1[k] * w[1] - a2[k] * w[2] - a3[k] * w[3];
    }
}

/// y ← y − a w.
#[inline(always)]
pub(super) fn subtract_one<S: Simd>(simd: S, y: &mut [f64], a: &[f64], w: f64) {
    let n = y.len();
    let (yh, yt) = S::as_mut_simd_f64s(y);
    let (ah, at) = S::as_simd_f64s(&a[..n]);
    let v = simd.splat_f64s(-w);
    for (y, &a) in yh.iter_mut().zip(ah) {
        *y = simd.mul_add_e_f64s(a, v, *y);
    }
    for (y, &a) in yt.iter_mut().zip(at) {
        *y -= a * w;
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
        let column = &l[p * m + from..(p + 1) * m];
        for (tile, part) in column.chunks(tile_rows).enumerate() {
            let at = (tile * depth + p) * tile_rows;
            packing.left[at..at + part.len()].copy_from_slice(part);
        }
        let column = &w[p * m + from..(p + 1) * m];
        for (tile, part) in column.chunks(TILE_COLUMNS).enumerate() {
            let at = (tile * depth + p) * TILE_COLUMNS;
            packing.right[at..at + part.len()].copy_from_slice(part);
        }
    }

    let zero = simd.splat_f64s(0.0);
    for tj in 0..column_tiles {
        let j0 = tj * TILE_COLUMNS;
        let right = &packing.right[tj * depth * TILE_COLUMNS..(tj + 1) * depth * TILE_COLUMNS];
        for ti in j0 / tile_rows..row_tiles {
            let i0 = ti * tile_rows;
            let left = &packing.left[ti * depth * tile_rows..(ti + 1) * depth * tile_rows];
            let (left, _) = S::as_simd_f64s(left);
            let mut sum = [[zero; TILE_VECTORS]; TILE_COLUMNS];
            for (a, b) in left.chunks_exact(TILE_VECTORS).zip(right.chunks_exact(TILE_COLUMNS)) {
                for (sum, &b) in sum.iter_mut().zip(b) {
                    let b = simd.splat_f64s(b);
                    for (sum, &a) in sum.iter_mut().zip(a) {
                        *sum = simd.mul_add_e_f64s(a, b, *sum);
                    }
                }
            }
            let whole = i0 >= j0 + TILE_COLUMNS && i0 + tile_rows <= rows;
            for (jj, sum) in sum.iter().enumerate() {
                let j = j0 + jj;
                if j >= rows {
                    break;
                }
                let at = j * m + from;
                if whole {
                    let (to, _) = S::as_mut_simd_f64s(&mut c[at + i0..at + i0 + tile_rows]);
                    for (to, &s) in to.iter_mut().zip(sum) {
                        *to = simd.sub_f64s(*to, s);
                    }
                } else {
                    // At the diagonal and at the end only part of the tile exists.
                    for (v, &s) in sum.iter().enumerate() {
                        let parts: &[f64] = pulp::bytemuck::cast_slice(std::slice::from_ref(&s));
                        for (lane, &s) in parts.iter().enumerate() {
                            let i = i0 + v * S::F64_LANES + lane;
                            if i >= j && i < rows {
                                c[at + i] -= s;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// aᵀ b.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let (ah, at) = S::as_simd_f64s(a);
    let (bh, bt) = S::as_simd_f64s(b);
    let zero = simd.splat_f64s(0.0);
    let mut sum = [zero; 4];
    let (a4, b4) = (ah.chunks_exact(4), bh.chunks_exact(4));
    for (&a, &b) in a4.remainder().iter().zip(b4.remainder()) {
        sum[0] = simd.mul_add_e_f64s(a, b, sum[0]);
    }
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            sum[k] = simd.mul_add_e_f64s(a[k], b[k], sum[k]);
        }
    }
    let pairs = simd.add_f64s(simd.add_f64s(sum[0], sum[1]), simd.add_f64s(sum[2], sum[3]));
    let mut total = simd.reduce_sum_f64s(pairs);
    for (&a, &b) in at.iter().zip(bt) {
        total += a * b;
    }
    total
}
