//! Scaling of a symmetric matrix before factorization.

use crate::nlp::SparsityPattern;
use soleus_math::elementary;

/// Passes over the matrix; each takes the root of what is left.
const PASSES: usize = 6;

/// Scales s, powers of two, for which the largest entry of every row of S A S is close to one.
///
/// If multipliers have grown to 10¹⁰, the Hessian is larger than the Jacobian by the same factor: the multiplier of an
/// equation then has no stable pivot, is delayed in front after front, and the factorization takes a thousand times as
/// long. After scaling both are of similar size. The signs of the eigenvalues do not change (Sylvester), and scaling by
/// powers of two is exact.
///
/// Source: Ruiz (2001), *A scaling algorithm to equilibrate both rows and columns norms in matrices*.
///
/// # Panics
///
/// If the number of values differs from the number of entries of the pattern.
pub fn equilibrate(lower: &SparsityPattern, values: &mut [f64], scale: &mut Vec<f64>) {
    assert_eq!(values.len(), lower.len(), "one value for each place of the pattern");
    let n = lower.rows();
    scale.clear();
    scale.resize(n, 1.0);
    let mut top = vec![0.0f64; n];
    for _ in 0..PASSES {
        top.fill(0.0);
        for ((r, c), v) in lower.places().zip(values.iter()) {
            top[r] = top[r].max(v.abs());
            top[c] = top[c].max(v.abs());
        }
        // The power of two next to 1/√top; rows of nothing, or of something that is not a number, stay.
        let mut changed = false;
        for (t, s) in top.iter_mut().zip(scale.iter_mut()) {
            let exponent =
                if *t > 0.0 && t.is_finite() { (-0.5 * elementary::log2(*t)).round() } else { 0.0 };
            *t = elementary::exp2(exponent);
            *s *= *t;
            changed |= exponent != 0.0;
        }
        if !changed {
            return;
        }
        for ((r, c), v) in lower.places().zip(values.iter_mut()) {
            *v *= top[r] * top[c];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{SparseLdlt, SymbolicFactorization};
    use soleus_math::Random;

    /// A KKT matrix along a chain: blocks of variables with a dense Hessian of that size, and equations from block to block.
    fn chain(blocks: usize, width: usize, size: f64) -> (SparsityPattern, Vec<f64>, Vec<u32>) {
        let (n, rows) = (blocks * width, (blocks - 1) * width);
        let mut random = Random::new(3);
        let (mut places, mut groups) = (Vec::new(), Vec::new());
        for i in 0..n {
            let first = i / width * width;
            places.extend(
                (first..=i).map(|j| ((i, j), size * (random.unit() - 0.5) + if i == j { size } else { 0.0 })),
            );
            groups.push((i / width) as u32);
        }
        for r in 0..rows {
            let first = r / width * width;
            places.extend((first..first + 2 * width).map(|j| ((n + r, j), random.unit() - 0.5)));
            places.push(((n + r, n + r), 0.0));
            groups.push((r / width) as u32);
        }
        let lower = SparsityPattern::from_places(n + rows, n + rows, places.iter().map(|p| p.0).collect());
        let mut values = vec![0.0; lower.len()];
        for ((r, c), v) in places {
            values[lower.position(r, c).unwrap()] = v;
        }
        (lower, values, groups)
    }

    #[test]
    fn identity_scaled_matrices_have_the_same_inertia_and_solutions() {
        let (lower, values, groups) = chain(6, 4, 1e12);
        let mut plain = SparseLdlt::new(SymbolicFactorization::new(&lower, Some(&groups), &[]));
        let inertia = plain.factor(&values);
        let (mut scaled, mut scale) = (values.clone(), Vec::new());
        equilibrate(&lower, &mut scaled, &mut scale);
        let mut other = plain.clone();
        assert_eq!(other.factor(&scaled), inertia);
        // S A S (S⁻¹ x) = S b: x solves the matrix as it was.
        let b: Vec<f64> = (0..lower.rows()).map(|i| ((i * 7) % 5) as f64 - 2.0).collect();
        let mut x: Vec<f64> = b.iter().zip(&scale).map(|(b, s)| b * s).collect();
        other.solve(&mut x);
        x.iter_mut().zip(&scale).for_each(|(x, s)| *x *= s);
        let mut residual = b.clone();
        let mut size: Vec<f64> = b.iter().map(|b| b.abs()).collect();
        let mut subtract = |r: usize, product: f64| {
            residual[r] -= product;
            size[r] += product.abs();
        };
        for ((r, c), v) in lower.places().zip(&values) {
            subtract(r, v * x[c]);
            if r != c {
                subtract(c, v * x[r]);
            }
        }
        // Backward error row by row, without refinement: squares of entries of L, some hundreds, times rounding.
        for i in 0..b.len() {
            assert!(residual[i].abs() <= 1e-10 * size[i], "{i}: {:e} of {:e}", residual[i], size[i]);
        }
    }

    #[test]
    fn analytic_large_hessians_leave_no_multiplier_waiting() {
        let waited = |size: f64, scaled: bool| {
            let (lower, mut values, groups) = chain(40, 8, size);
            if scaled {
                equilibrate(&lower, &mut values, &mut Vec::new());
            }
            let mut ldlt = SparseLdlt::new(SymbolicFactorization::new(&lower, Some(&groups), &[]));
            ldlt.factor(&values);
            ldlt.num_waited()
        };
        let (usual, large, balanced) = (waited(1.0, false), waited(1e12, false), waited(1e12, true));
        println!("waiting: {usual} usually, {large} with a Hessian of 1e12, {balanced} when scaled");
        assert!(large > 2 * usual + 100, "{usual} {large}");
        assert!(balanced <= usual + usual / 10 + 5, "{usual} {balanced}");
    }
}
