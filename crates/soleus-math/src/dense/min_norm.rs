//! Solution of a small symmetric positive semidefinite system of unknown rank.

use crate::Real;
use crate::elementary;

/// Solves A x = b for symmetric positive semidefinite A (row by row, order m = b.len()), in place.
///
/// Cholesky with diagonal pivoting; pivots below m ε^(7/8) of the largest diagonal entry are treated as zero. If A is
/// singular (redundant constraints), the solution of smallest norm is computed by removing the null-space component
/// from the basic solution. `scratch` has 2 m² + 4 m numbers, `order` m.
pub fn solve_min_norm<T: Real>(a: &[T], b: &mut [T], scratch: &mut [T], order: &mut [usize]) {
    let rank = factorize_min_norm(a, scratch, order);
    solve_min_norm_factorized(rank, b, scratch, order);
}

/// The first part of [`solve_min_norm`], which is the expensive one: stores the factors of A in `scratch` and `order`.
/// Returns the rank.
pub fn factorize_min_norm<T: Real>(a: &[T], scratch: &mut [T], order: &mut [usize]) -> usize {
    let m = order.len();
    if m == 0 {
        return 0;
    }
    let (l, rest) = scratch.split_at_mut(m * m);
    let (zz, rest) = rest.split_at_mut(m * m);
    let column = &mut rest[..m];
    l.copy_from_slice(a);
    for (i, o) in order.iter_mut().enumerate() {
        *o = i;
    }
    let largest = (0..m).map(|i| a[i * m + i].hint()).fold(0.0, f64::max);
    let floor = m as f64 * elementary::powf(f64::EPSILON, 0.875) * largest;

    // Factorise P A Pᵀ = L Lᵀ down to the rank; the upper triangle is not kept.
    let mut rank = m;
    for k in 0..m {
        let mut p = k;
        for i in k + 1..m {
            if l[i * m + i].hint() > l[p * m + p].hint() {
                p = i;
            }
        }
        if !T::cst(floor).usually_below(l[p * m + p]) {
            rank = k;
            break;
        }
        if p != k {
            order.swap(k, p);
            for j in 0..k {
                l.swap(k * m + j, p * m + j);
            }
            l.swap(k * m + k, p * m + p);
            for i in k + 1..p {
                l.swap(i * m + k, p * m + i);
            }
            for i in p + 1..m {
                l.swap(i * m + k, i * m + p);
            }
        }
        let d = l[k * m + k].sqrt();
        l[k * m + k] = d;
        for i in k + 1..m {
            l[i * m + k] /= d;
            column[i] = l[i * m + k];
        }
        for i in k + 1..m {
            let lik = column[i];
            for (x, &y) in l[i * m + k + 1..=i * m + i].iter_mut().zip(&column[k + 1..]) {
                *x -= lik * y;
            }
        }
    }

    // An orthonormal basis of the null space Z = [−A₁₁⁻¹ A₁₂; 1], unless that is larger than the range: then L₁ᵀ L₁ of the columns
    // of L, by which x = L₁ (L₁ᵀ L₁)⁻¹ L₁₁⁻¹ b₁ has no part along it.
    let k = m - rank;
    if k > rank {
        for i in 0..rank {
            for j in 0..=i {
                let mut s = T::zero();
                for r in i..m {
                    s += l[r * m + i] * l[r * m + j];
                }
                for e in 0..j {
                    s -= zz[i * m + e] * zz[j * m + e];
                }
                zz[i * m + j] = if i == j { s.sqrt() } else { s / zz[j * m + j] };
            }
        }
        return rank;
    }
    for c in 0..k {
        // Column c of −A₁₁⁻¹ A₁₂ = −L₁₁⁻ᵀ L₂₁ᵀ.
        for i in 0..rank {
            column[i] = -l[(rank + c) * m + i];
        }
        backward(l, m, rank, column);
        zz[c * m..c * m + rank].copy_from_slice(&column[..rank]);
        for i in 0..k {
            zz[c * m + rank + i] = if i == c { T::one() } else { T::zero() };
        }
        // Orthonormalise against the earlier ones.
        for e in 0..c {
            let mut s = T::zero();
            for i in 0..m {
                s += zz[e * m + i] * zz[c * m + i];
            }
            for i in 0..m {
                let y = zz[e * m + i] * s;
                zz[c * m + i] -= y;
            }
        }
        let mut norm = T::zero();
        for i in 0..m {
            norm += zz[c * m + i] * zz[c * m + i];
        }
        let norm = norm.sqrt();
        for z in &mut zz[c * m..(c + 1) * m] {
            *z /= norm;
        }
    }
    rank
}

/// The second part of [`solve_min_norm`], for any number of right-hand sides.
pub fn solve_min_norm_factorized<T: Real>(rank: usize, b: &mut [T], scratch: &mut [T], order: &[usize]) {
    let m = b.len();
    let (l, rest) = scratch.split_at_mut(m * m);
    let (zz, rest) = rest.split_at_mut(m * m);
    let x = &mut rest[..m];
    // Basic solution in pivoted order.
    for i in 0..rank {
        x[i] = b[order[i]];
    }
    forward(l, m, rank, x);
    let k = m - rank;
    if k > rank {
        forward(zz, m, rank, x);
        backward(zz, m, rank, x);
        for i in (0..m).rev() {
            x[i] = (0..rank.min(i + 1)).map(|j| l[i * m + j] * x[j]).sum();
        }
    } else {
        backward(l, m, rank, x);
        x[rank..].fill(T::zero());
        // Remove the part along the null space.
        for z in zz.chunks_exact(m.max(1)).take(k) {
            let mut s = T::zero();
            for (&z, &x) in z.iter().zip(x.iter()) {
                s += z * x;
            }
            for (&z, x) in z.iter().zip(x.iter_mut()) {
                *x -= z * s;
            }
        }
    }
    for i in 0..m {
        b[order[i]] = x[i];
    }
}

fn forward<T: Real>(l: &[T], m: usize, rank: usize, x: &mut [T]) {
    for i in 0..rank {
        let mut s = x[i];
        for j in 0..i {
            s -= l[i * m + j] * x[j];
        }
        x[i] = s / l[i * m + i];
    }
}

fn backward<T: Real>(l: &[T], m: usize, rank: usize, x: &mut [T]) {
    for i in (0..rank).rev() {
        let mut s = x[i];
        for j in i + 1..rank {
            s -= l[j * m + i] * x[j];
        }
        x[i] = s / l[i * m + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(a: &[f64], b: &[f64]) -> Vec<f64> {
        let m = b.len();
        let mut x = b.to_vec();
        solve_min_norm(a, &mut x, &mut vec![0.0; 2 * m * m + 4 * m], &mut vec![0; m]);
        x
    }

    #[test]
    fn analytic_regular_system() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 5.0];
        let want = [0.3, -1.0, 2.0];
        let b: Vec<f64> = (0..3).map(|i| (0..3).map(|j| a[i * 3 + j] * want[j]).sum()).collect();
        for (x, w) in solve(&a, &b).iter().zip(want) {
            assert!((x - w).abs() < 1e-14);
        }
    }

    /// The same equation three times shares its multiplier evenly; an independent one is untouched.
    #[test]
    fn analytic_redundant_rows_share() {
        let g = [[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]];
        let mut a = vec![0.0; 16];
        for i in 0..4 {
            for j in 0..4 {
                a[i * 4 + j] = g[i][0] * g[j][0] + g[i][1] * g[j][1];
            }
        }
        let x = solve(&a, &[6.0, 6.0, 8.0, 6.0]);
        for (x, w) in x.iter().zip([2.0, 2.0, 2.0, 2.0]) {
            assert!((x - w).abs() < 1e-12, "{x}");
        }
    }

    /// Whether few rows or many are redundant, x solves the equations and is a combination of the rows: the shortest that does.
    #[test]
    fn identity_shortest_solution_at_every_rank() {
        let mut random = crate::random::Random::new(16);
        for (m, n) in [(6, 6), (9, 6), (12, 6), (13, 6), (40, 7), (40, 1)] {
            let g = random.vector(m * n, 0.5);
            let gram = |r: usize, s: usize| -> f64 { (0..n).map(|i| g[r * n + i] * g[s * n + i]).sum() };
            let a: Vec<f64> = (0..m * m).map(|i| gram(i / m, i % m)).collect();
            // x = G w is a combination of columns of A; the right-hand side is A x.
            let w = random.vector(n, 0.5);
            let want: Vec<f64> = (0..m).map(|r| (0..n).map(|i| g[r * n + i] * w[i]).sum()).collect();
            let b: Vec<f64> = (0..m).map(|r| (0..m).map(|s| a[r * m + s] * want[s]).sum()).collect();
            for (x, want) in solve(&a, &b).iter().zip(&want) {
                // Rounding, times the condition of A, which is a few thousand.
                assert!((x - want).abs() < 1e-11, "{m} rows, rank {n}: {x} and {want}");
            }
        }
    }
}
