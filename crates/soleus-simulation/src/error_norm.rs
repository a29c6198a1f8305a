//! Norm of integration errors.

use std::ops::Range;

/// One group of states whose errors are averaged.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    states: Range<usize>,
    /// Number to divide by in the mean.
    count: f64,
    /// Whether errors count relative to the state where it exceeds its unit.
    relative: bool,
}

/// Norm of a vector of errors: the largest root mean square over groups of states,
///
///   ‖e‖ = max_b √( Σ_{i∈b} (sᵢ eᵢ)² / n_b ),   sᵢ = 1/max(|xᵢ|, 1/wᵢ)  or  wᵢ        (1)
///
/// where wᵢ is the inverse of the unit change of state i. This is the norm of Simbody's integrators (Sherman, Seth &
/// Delp 2011), with groups q (absolute), u and z (relative); an accuracy of 1e-5 has the same meaning as there.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorNorm {
    blocks: Vec<Block>,
    weights: Vec<f64>,
}

impl ErrorNorm {
    /// One group of `dim` states, relative, all units 1.
    pub fn uniform(dim: usize) -> Self {
        ErrorNorm::grouped(&[(dim, dim, true)])
    }

    /// Groups in sequence: (number of states, divisor in the mean, relative).
    pub fn grouped(groups: &[(usize, usize, bool)]) -> Self {
        let (mut blocks, mut at) = (Vec::new(), 0);
        for &(n, count, relative) in groups {
            if n > 0 {
                blocks.push(Block { states: at..at + n, count: count.max(1) as f64, relative });
            }
            at += n;
        }
        ErrorNorm { blocks, weights: vec![1.0; at] }
    }

    /// The same with other units: the change of each state that corresponds to 1.
    pub fn with_units(mut self, units: &[f64]) -> Self {
        for (w, u) in self.weights.iter_mut().zip(units) {
            *w = 1.0 / u;
        }
        self
    }

    /// Number of states.
    pub fn dim(&self) -> usize {
        self.weights.len()
    }

    /// The norm (1) of `error` at state `x`, and the state that contributes most.
    pub fn norm(&self, x: &[f64], error: &[f64]) -> (f64, usize) {
        let mut worst = (0.0, 0);
        for b in &self.blocks {
            let (mut sum, mut largest, mut at) = (0.0, 0.0, b.states.start);
            for i in b.states.clone() {
                let (a, w) = (x[i].abs(), self.weights[i]);
                let s = if b.relative && a * w > 1.0 { 1.0 / a } else { w };
                let e = s * error[i];
                let e2 = e * e;
                // Not `>`: a NaN is the worst there is.
                if !(e2 <= largest) {
                    (largest, at) = (e2, i);
                }
                sum += e2;
            }
            let norm = (sum / b.count).sqrt();
            if norm.is_nan() {
                return (norm, at);
            }
            if norm > worst.0 {
                worst = (norm, at);
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_norm_is_the_largest_of_the_groups() {
        let n = ErrorNorm::grouped(&[(2, 2, false), (2, 2, true)]);
        let x = [10.0, 0.0, 10.0, 0.5];
        assert_eq!(n.norm(&x, &[3.0, 4.0, 0.0, 0.0]), ((25.0f64 / 2.0).sqrt(), 1));
        // Relative to 10 in the second group.
        assert_eq!(n.norm(&x, &[0.0, 0.0, 30.0, 0.0]), ((9.0f64 / 2.0).sqrt(), 2));
        let (e, at) = n.norm(&x, &[0.0, f64::NAN, 1.0, 0.0]);
        assert!(e.is_nan() && at == 1);
    }
}
