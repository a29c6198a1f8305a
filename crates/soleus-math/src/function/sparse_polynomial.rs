//! Sparse polynomial of several variables.

use super::{FunctionError, knots};
use crate::Real;

/// Most factors of one term, counted with their powers.
const MAX_DEGREE: usize = 8;

/// y = Σₖ cₖ Πⱼ xⱼ^eₖⱼ over the given terms.
///
/// Muscle lengths fitted by stepwise regression have this form: of the hundreds of possible terms in six coordinates,
/// about a dozen are used (van den Bogert, Blana and Heinrich 2011, eq. 10). Each term is stored as a list of factors,
/// x₀² x₃ as (0, 0, 3); derivatives leave out one or two of them.
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePolynomial {
    dimension: usize,
    coefficients: Vec<f64>,
    /// Variables of all terms, one term after the other, each as often as its power.
    factors: Vec<u32>,
    /// Where each term starts in `factors`; one more entry than terms.
    start: Vec<usize>,
}

impl SparsePolynomial {
    /// From the number of variables and the terms: coefficient, and one exponent for each variable.
    pub fn new(dimension: usize, terms: &[(f64, Vec<usize>)]) -> Result<Self, FunctionError> {
        const KIND: &str = "SparsePolynomial";
        let coefficients: Vec<f64> = terms.iter().map(|t| t.0).collect();
        knots::finite(KIND, "coefficients", &coefficients)?;
        let (mut factors, mut start) = (Vec::new(), vec![0]);
        for (_, exponents) in terms {
            if exponents.len() != dimension {
                let (needed, found) = (dimension, exponents.len());
                return Err(FunctionError::WrongCount { kind: KIND, what: "exponents", needed, found });
            }
            let degree = exponents.iter().fold(0usize, |sum, e| sum.saturating_add(*e));
            if degree > MAX_DEGREE {
                let (found, expected) = (degree as f64, "at most 8");
                return Err(FunctionError::OutOfRange { kind: KIND, what: "degree", found, expected });
            }
            for (j, &e) in exponents.iter().enumerate() {
                // A list of exponents lies in memory, so its length is far below 2³².
                factors.extend(std::iter::repeat_n(j as u32, e));
            }
            start.push(factors.len());
        }
        Ok(SparsePolynomial { dimension, coefficients, factors, start })
    }

    /// Number of variables.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of terms.
    pub fn num_terms(&self) -> usize {
        self.coefficients.len()
    }

    /// The terms in the form of [`new`](Self::new): coefficient, and one exponent for each variable.
    pub fn exponents(&self) -> Vec<(f64, Vec<usize>)> {
        let list = self.terms().map(|(c, factors)| {
            let mut exponents = vec![0; self.dimension];
            factors.iter().for_each(|&j| exponents[j as usize] += 1);
            (c, exponents)
        });
        list.collect()
    }

    #[inline(always)]
    fn terms(&self) -> impl Iterator<Item = (f64, &[u32])> {
        let lists = self.start.windows(2).map(|w| &self.factors[w[0]..w[1]]);
        self.coefficients.iter().copied().zip(lists)
    }

    /// Value at `x`, at least as many variables as the polynomial has.
    #[inline]
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        let mut y = T::zero();
        for (c, factors) in self.terms() {
            let mut p = T::cst(c);
            for &j in factors {
                p *= x[j as usize];
            }
            y += p;
        }
        y
    }

    /// Value; adds the gradient at `x` to `gradient`.
    #[inline]
    pub fn gradient<T: Real>(&self, x: &[T], gradient: &mut [T]) -> T {
        let mut y = T::zero();
        for (c, factors) in self.terms() {
            // before[i]: coefficient times the factors ahead of i.
            let mut before = [T::zero(); MAX_DEGREE];
            let mut p = T::cst(c);
            for (i, &j) in factors.iter().enumerate() {
                before[i] = p;
                p *= x[j as usize];
            }
            y += p;
            let mut after = T::one();
            for (i, &j) in factors.iter().enumerate().rev() {
                gradient[j as usize] += before[i] * after;
                after *= x[j as usize];
            }
        }
        y
    }

    /// Value; adds gradient and Hessian at `x`, the latter with row stride `stride`.
    pub fn eval_n<T: Real>(&self, x: &[T], gradient: &mut [T], hessian: &mut [T], stride: usize) -> T {
        let mut y = T::zero();
        for (c, factors) in self.terms() {
            let mut before = [T::zero(); MAX_DEGREE];
            let mut p = T::cst(c);
            for (i, &j) in factors.iter().enumerate() {
                before[i] = p;
                p *= x[j as usize];
            }
            y += p;
            let mut after = T::one();
            for (i, &j) in factors.iter().enumerate().rev() {
                let j = j as usize;
                gradient[j] += before[i] * after;
                // The same once more without a factor ahead of i: walk back from i.
                let mut between = after;
                for (k, &l) in factors[..i].iter().enumerate().rev() {
                    let l = l as usize;
                    let h = before[k] * between;
                    hessian[j * stride + l] += h;
                    hessian[l * stride + j] += h;
                    between *= x[l];
                }
                after *= x[j];
            }
        }
        y
    }

    /// Value, first and second derivative along the first variable, the others being 0.
    pub fn eval1<T: Real>(&self, x: T) -> [T; 3] {
        let (mut y, mut d, mut dd) = (T::zero(), T::zero(), T::zero());
        for (c, factors) in self.terms() {
            if factors.iter().any(|&j| j != 0) {
                continue;
            }
            let (mut p, mut dp, mut half_ddp) = (T::cst(c), T::zero(), T::zero());
            for _ in factors {
                half_ddp = half_ddp * x + dp;
                dp = dp * x + p;
                p *= x;
            }
            y += p;
            d += dp;
            dd += half_ddp * 2.0;
        }
        [y, d, dd]
    }
}

#[cfg(test)]
mod tests {
    use super::super::MultivariatePolynomial;
    use super::*;
    use crate::Dual;
    use crate::Random;

    fn random() -> impl FnMut() -> f64 {
        let mut random = Random::new(3);
        move || 0.5 * random.signed()
    }

    /// With all terms it is the full polynomial: value, gradient, Hessian and the line along the first variable.
    #[test]
    fn identity_sparse_and_full_polynomial() {
        let mut random = random();
        let (d, order) = (4, 4);
        let count = MultivariatePolynomial::term_count(d, order).unwrap();
        let full = MultivariatePolynomial::new(d, order, (0..count).map(|_| random()).collect()).unwrap();
        let mut terms = Vec::new();
        full.for_each_term(|k, e| terms.push((full.coefficients()[k], e.to_vec())));
        let sparse = SparsePolynomial::new(d, &terms).unwrap();
        let x: Vec<f64> = (0..d).map(|_| 2.0 * random()).collect();
        let (mut g, mut h) = ([[0.0; 4]; 2], [[0.0; 16]; 2]);
        let y = [full.eval_n(&x, &mut g[0], &mut h[0], d), sparse.eval_n(&x, &mut g[1], &mut h[1], d)];
        // Sums of 70 terms of size 1.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-13;
        assert!(near(y[0], y[1]) && near(sparse.value(&x), y[0]));
        assert!(g[0].iter().zip(&g[1]).all(|(a, b)| near(*a, *b)));
        assert!(h[0].iter().zip(&h[1]).all(|(a, b)| near(*a, *b)));
        let (a, b) = (full.eval1(0.7), sparse.eval1(0.7));
        assert!((0..3).all(|i| near(a[i], b[i])));
        let mut alone = [0.0; 4];
        assert_eq!(sparse.gradient(&x, &mut alone), y[1]);
        assert_eq!(alone, g[1]);
    }

    /// Gradient against dual numbers, whose value parts are those of f64 bit for bit.
    #[test]
    fn deriv_sparse_polynomial() {
        let f =
            SparsePolynomial::new(3, &[(0.7, vec![0, 0, 0]), (-1.1, vec![2, 0, 1]), (0.4, vec![1, 1, 2])])
                .unwrap();
        let x = [0.3, -1.2, 0.8];
        let duals: [Dual<f64, 3>; 3] = std::array::from_fn(|i| Dual::variable(x[i], i));
        let y = f.value(&duals);
        let mut g = [0.0; 3];
        assert_eq!(f.gradient(&x, &mut g).to_bits(), y.v.to_bits());
        for i in 0..3 {
            assert!((g[i] - y.d[i]).abs() < 1e-15);
            let h = 6e-6;
            let (mut hi, mut lo) = (x, x);
            hi[i] += h;
            lo[i] -= h;
            assert!(((f.value(&hi) - f.value(&lo)) / (2.0 * h) - g[i]).abs() < 1e-9);
        }
    }

    #[test]
    fn analytic_bad_terms_are_errors() {
        assert!(SparsePolynomial::new(2, &[(1.0, vec![1])]).is_err());
        assert!(SparsePolynomial::new(1, &[(f64::NAN, vec![1])]).is_err());
        assert!(SparsePolynomial::new(1, &[(1.0, vec![9])]).is_err());
        assert!(SparsePolynomial::new(2, &[(1.0, vec![usize::MAX, 1])]).is_err());
    }
}
