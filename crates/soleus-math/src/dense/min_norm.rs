//! A small symmetric positive semidefinite system, rank found on the way.

use crate::Real;

/// Solves A x = b for symmetric positive semidefinite A (row by row, order m = b.len()), in place.
///
/// Cholesky with diagonal pivoting; pivots below m ε^(7/8) of the largest diagonal entry count as
/// zero. When A is singular (redundant constraints) the solution of smallest norm is taken: from
/// the basic solution its part along the null space is removed. `scratch` holds 2 m² + 4 m
/// numbers, `order` m.
pub fn solve_min_norm<T: Real>(a: &[T], b: &mut [T], scratch: &mut [T], order: &mut [usize]) {
    let m = b.len();
    if m == 0 {
        return;
    }
    let (l, rest) = scratch.split_at_mut(m * m);
    let (zz, rest) = rest.split_at_mut(m * m);
    let (x, tmp) = rest.split_at_mut(m);
    l.copy_from_slice(a);
    for (i, o) in order.iter_mut().enumerate() {
        *o = i;
    }
    let largest = (0..m).map(|i| a[i * m + i].hint()).fold(0.0, f64::max);
    let floor = m as f64 * f64::EPSILON.powf(0.875) * largest;

    // Factorise P A Pᵀ = L Lᵀ down to the rank.
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
            for j in 0..m {
                l.swap(k * m + j, p * m + j);
            }
            for i in 0..m {
                l.swap(i * m + k, i * m + p);
            }
        }
        let d = l[k * m + k].sqrt();
        l[k * m + k] = d;
        for i in k + 1..m {
            l[i * m + k] /= d;
        }
        for j in k + 1..m {
            let ljk = l[j * m + k];
            for i in j..m {
                let y = l[i * m + k] * ljk;
                l[i * m + j] -= y;
                l[j * m + i] = l[i * m + j];
            }
        }
    }

    // Basic solution in pivoted order.
    for i in 0..rank {
        x[i] = b[order[i]];
    }
    forward(l, m, rank, x);
    backward(l, m, rank, x);
    for xi in &mut x[rank..m] {
        *xi = T::zero();
    }

    // Remove the part along the null space Z = [−A₁₁⁻¹ A₁₂; 1].
    if rank < m {
        let k = m - rank;
        for c in 0..k {
            // Column c of −A₁₁⁻¹ A₁₂ = −L₁₁⁻ᵀ L₂₁ᵀ.
            for i in 0..rank {
                tmp[i] = -l[(rank + c) * m + i];
            }
            backward(l, m, rank, tmp);
            for i in 0..rank {
                zz[c * m + i] = tmp[i];
            }
            for i in 0..k {
                zz[c * m + rank + i] = if i == c { T::one() } else { T::zero() };
            }
            // Orthonormalise against the earlier ones, then subtract the projection.
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
            let mut s = T::zero();
            for i in 0..m {
                zz[c * m + i] /= norm;
                s += zz[c * m + i] * x[i];
            }
            for i in 0..m {
                let y = zz[c * m + i] * s;
                x[i] -= y;
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
}
