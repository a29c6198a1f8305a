#![allow(clippy::needless_range_loop)] // Indices of matrices, as in the equations.
//! Polynomial of several variables.

use super::{FunctionError, knots};
use crate::Real;

/// Most variables a polynomial may have: a muscle that crosses eight coordinates, with speeds.
/// Evaluation keeps its partial sums in arrays of this size on the stack.
const MAX_DIMENSION: usize = 16;

/// y = Σₖ cₖ Πⱼ xⱼ^eₖⱼ over all exponents with Σⱼ eₖⱼ ≤ N.
///
/// The exponents are ordered like nested loops, the last variable innermost: e₁ = 0..N, e₂ = 0..N−e₁, …; with two
/// variables and N = 2 they belong to 1, y, y², x, xy, x². As OpenSim's `MultivariatePolynomialFunction`; there are
/// C(d+N, N) of them.
///
/// Seen from the first variable this is a polynomial whose coefficients are polynomials of
/// the others, lying one after the other in memory; so Horner's scheme, nested once for each
/// variable, reads the coefficients from last to first and keeps nothing else. Derivatives
/// ride along in the same pass. Zeros after the last coefficient of a variable cost nothing: a polynomial may have few
/// terms of a high order.
#[derive(Clone, Debug, PartialEq)]
pub struct MultivariatePolynomial {
    dimension: usize,
    order: usize,
    coefficients: Vec<f64>,
    /// The polynomials of the last variable, from the last to the first.
    blocks: Vec<Block>,
}

/// A run of coefficients that belong to the powers of the last variable.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    /// Number of coefficients.
    len: u32,
    /// Number of coefficients up to the last that is not zero, at least 1.
    used: u32,
    /// How many variables outwards its value goes on: one, and one more for each polynomial it completes.
    folds: u32,
}

impl MultivariatePolynomial {
    /// From the number of variables (0 to 16), the order N and the coefficients.
    pub fn new(dimension: usize, order: usize, coefficients: Vec<f64>) -> Result<Self, FunctionError> {
        const KIND: &str = "MultivariatePolynomialFunction";
        if dimension > MAX_DIMENSION {
            let expected = "at most 16";
            let found = dimension as f64;
            return Err(FunctionError::OutOfRange { kind: KIND, what: "dimension", found, expected });
        }
        let needed = Self::term_count(dimension, order);
        if needed != Some(coefficients.len()) {
            return Err(FunctionError::WrongCount {
                kind: KIND,
                what: "coefficients",
                needed: needed.unwrap_or(usize::MAX),
                found: coefficients.len(),
            });
        }
        knots::finite(KIND, "coefficients", &coefficients)?;
        Ok(Self::checked(dimension, order, coefficients))
    }

    /// Adds the blocks to data that fit together.
    fn checked(dimension: usize, order: usize, coefficients: Vec<f64>) -> Self {
        let mut f = MultivariatePolynomial { dimension, order, coefficients, blocks: Vec::new() };
        let mut blocks = Vec::new();
        f.for_each_term(|_, e| {
            let (last, outer) = e.split_last().unwrap_or((&0, &[]));
            if *last == 0 {
                let len = if dimension == 0 { 1 } else { order - outer.iter().sum::<usize>() + 1 };
                let zeros = outer.iter().rev().take_while(|e| **e == 0).count();
                let folds = (zeros + 1).min(outer.len());
                // Both at most C(d+N, N), the length of a list in memory.
                blocks.push(Block { len: len as u32, used: 1, folds: folds as u32 });
            }
        });
        blocks.reverse();
        let mut end = f.coefficients.len();
        for block in &mut blocks {
            let start = end - block.len as usize;
            let last = f.coefficients[start..end].iter().rposition(|c| *c != 0.0);
            block.used = last.map_or(1, |k| k as u32 + 1);
            end = start;
        }
        f.blocks = blocks;
        f
    }

    /// How many coefficients a polynomial has: C(d+N, N); `None` beyond the range of `usize`.
    pub fn term_count(dimension: usize, order: usize) -> Option<usize> {
        let mut count: usize = 1;
        for k in 1..=dimension {
            // C(N+k, k) = C(N+k−1, k−1) (N+k)/k, a whole number at every step.
            count = count.checked_mul(order.checked_add(k)?)? / k;
        }
        Some(count)
    }

    /// Number of variables d.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Order N, the largest sum of exponents.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Coefficients in the order described above.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Calls `visit(k, exponents)` for every coefficient k in turn.
    pub fn for_each_term(&self, mut visit: impl FnMut(usize, &[usize])) {
        let d = self.dimension;
        let mut e = [0usize; MAX_DIMENSION];
        for k in 0..self.coefficients.len() {
            visit(k, &e[..d]);
            // Count up: the last variable first; where the sum would exceed N, carry to the one before.
            let mut sum: usize = e[..d].iter().sum();
            for j in (0..d).rev() {
                if sum < self.order {
                    e[j] += 1;
                    break;
                }
                sum -= e[j];
                e[j] = 0;
            }
        }
    }

    /// ∂y/∂xᵢ as a polynomial of one order less, times `factor` (−1 turns a length into a moment arm).
    ///
    /// `None` unless i is a variable. A constant stays a constant: zero.
    pub fn derivative(&self, i: usize, factor: f64) -> Option<MultivariatePolynomial> {
        if i >= self.dimension {
            return None;
        }
        // The terms that keep xᵢ, in order, are exactly the terms of the lower polynomial, in order.
        let mut coefficients = Vec::new();
        self.for_each_term(|k, e| {
            if e[i] > 0 {
                coefficients.push(self.coefficients[k] * e[i] as f64 * factor);
            }
        });
        if self.order == 0 {
            coefficients.push(0.0);
        }
        Some(Self::checked(self.dimension, self.order.saturating_sub(1), coefficients))
    }

    /// Value at `x`, at least d variables.
    pub fn value<T: Real>(&self, x: &[T]) -> T {
        // Partial sums of Horner's scheme, one for each variable but the last.
        let mut sum = [T::zero(); MAX_DIMENSION];
        let mut end = self.coefficients.len();
        let mut y = T::zero();
        for block in &self.blocks {
            let start = end - block.len as usize;
            let own = &self.coefficients[start..start + block.used as usize];
            end = start;
            y = T::cst(own[own.len() - 1]);
            for &c in own[..own.len() - 1].iter().rev() {
                y = y * x[self.dimension - 1] + c;
            }
            let mut level = self.dimension - usize::from(self.dimension > 0);
            for fold in 0..block.folds {
                level -= 1;
                y = sum[level] * x[level] + y;
                // A completed polynomial is handed on and its place made free.
                sum[level] = if fold + 1 < block.folds { T::zero() } else { y };
            }
        }
        y
    }

    /// Value and gradient at `x`; `gradient` holds at least d numbers.
    pub fn gradient<T: Real>(&self, x: &[T], gradient: &mut [T]) -> T {
        // Arrays as small as the polynomial allows; the same lines for each size.
        match self.dimension {
            0 => self.value(x),
            1 | 2 => self.gradient_sized::<T, 2>(x, gradient),
            3 => self.gradient_sized::<T, 3>(x, gradient),
            4 => self.gradient_sized::<T, 4>(x, gradient),
            5 | 6 => self.gradient_sized::<T, 6>(x, gradient),
            7 | 8 => self.gradient_sized::<T, 8>(x, gradient),
            _ => self.gradient_sized::<T, MAX_DIMENSION>(x, gradient),
        }
    }

    /// As `value`, with the derivatives of every partial sum by its variable and those within.
    fn gradient_sized<T: Real, const D: usize>(&self, x: &[T], gradient: &mut [T]) -> T {
        let d = self.dimension.min(D);
        let last = d - 1;
        let mut sum = [T::zero(); D];
        let mut slopes = [[T::zero(); D]; D];
        let mut end = self.coefficients.len();
        let mut y = T::zero();
        // Derivatives of y by the variables from the present one inwards.
        let mut g = [T::zero(); D];
        for block in &self.blocks {
            let start = end - block.len as usize;
            let own = &self.coefficients[start..start + block.used as usize];
            end = start;
            y = T::cst(own[own.len() - 1]);
            let mut dy = T::zero();
            for &c in own[..own.len() - 1].iter().rev() {
                dy = dy * x[last] + y;
                y = y * x[last] + c;
            }
            g[last] = dy;
            let mut level = last;
            for fold in 0..block.folds {
                level -= 1;
                let xl = x[level];
                let row = &mut slopes[level];
                g[level] = row[level] * xl + sum[level];
                y = sum[level] * xl + y;
                for j in level + 1..d {
                    g[j] = row[j] * xl + g[j];
                }
                if fold + 1 < block.folds {
                    sum[level] = T::zero();
                    *row = [T::zero(); D];
                } else {
                    sum[level] = y;
                    row[level..d].copy_from_slice(&g[level..d]);
                }
            }
        }
        gradient[..d].copy_from_slice(&g[..d]);
        y
    }

    /// Value, gradient and Hessian at `x`; `hessian` is d × d with row stride `stride`.
    pub fn eval_n<T: Real>(&self, x: &[T], gradient: &mut [T], hessian: &mut [T], stride: usize) -> T {
        match self.dimension {
            0..=2 => self.hessian_sized::<T, 2>(x, gradient, hessian, stride),
            3 => self.hessian_sized::<T, 3>(x, gradient, hessian, stride),
            4 => self.hessian_sized::<T, 4>(x, gradient, hessian, stride),
            5 | 6 => self.hessian_sized::<T, 6>(x, gradient, hessian, stride),
            7 | 8 => self.hessian_sized::<T, 8>(x, gradient, hessian, stride),
            _ => self.hessian_sized::<T, MAX_DIMENSION>(x, gradient, hessian, stride),
        }
    }

    /// Value, first and second derivative along the first variable, the others being 0.
    pub fn eval1<T: Real>(&self, x: T) -> [T; 3] {
        if self.dimension == 0 {
            return [T::cst(self.coefficients[0]), T::zero(), T::zero()];
        }
        // The terms x₁ᵉ begin where a block of the others ends: C(d−1+N−e, d−1) terms further each time.
        let mut at = self.coefficients.len();
        let (mut y, mut d, mut half_dd) = (T::zero(), T::zero(), T::zero());
        for rest in 0..=self.order {
            at -= Self::term_count(self.dimension - 1, rest).unwrap_or(at);
            half_dd = half_dd * x + d;
            d = d * x + y;
            y = y * x + self.coefficients[at];
        }
        [y, d, half_dd * 2.0]
    }

    fn hessian_sized<T: Real, const D: usize>(
        &self,
        x: &[T],
        gradient: &mut [T],
        hessian: &mut [T],
        stride: usize,
    ) -> T {
        let mut tail = self.coefficients.as_slice();
        let (y, g, h) = self.hessian_from::<T, D>(0, self.order, &mut tail, x);
        for i in 0..self.dimension {
            gradient[i] = g[i];
            for j in 0..self.dimension {
                hessian[i * stride + j] = h[i.min(j)][i.max(j)];
            }
        }
        y
    }

    /// The polynomial of variables `level`.. with exponents summing to at most `order`, whose coefficients
    /// are the last of `tail`, which it takes off: value, first and second derivatives h[i][j], level ≤ i ≤ j.
    #[allow(clippy::type_complexity)]
    fn hessian_from<T: Real, const D: usize>(
        &self,
        level: usize,
        order: usize,
        tail: &mut &[f64],
        x: &[T],
    ) -> (T, [T; D], [[T; D]; D]) {
        if level + 1 >= self.dimension {
            let mut g = [T::zero(); D];
            let mut h = [[T::zero(); D]; D];
            let count = if self.dimension == 0 { 1 } else { order + 1 };
            let (rest, own) = tail.split_at(tail.len() - count);
            *tail = rest;
            let last = own.iter().rposition(|c| *c != 0.0).unwrap_or(0);
            let mut y = T::cst(own[last]);
            let (mut dy, mut half_ddy) = (T::zero(), T::zero());
            for &c in own[..last].iter().rev() {
                half_ddy = half_ddy * x[level] + dy;
                dy = dy * x[level] + y;
                y = y * x[level] + c;
            }
            g[level] = dy;
            h[level][level] = half_ddy * 2.0;
            return (y, g, h);
        }
        let (mut y, mut g, mut h) = self.hessian_from::<T, D>(level + 1, 0, tail, x);
        for rest in 1..=order {
            let (yi, gi, hi) = self.hessian_from::<T, D>(level + 1, rest, tail, x);
            let xl = x[level];
            h[level][level] = h[level][level] * xl + g[level] * 2.0;
            g[level] = g[level] * xl + y;
            y = y * xl + yi;
            for j in level + 1..self.dimension {
                h[level][j] = h[level][j] * xl + g[j];
                g[j] = g[j] * xl + gi[j];
                for k in j..self.dimension {
                    h[j][k] = h[j][k] * xl + hi[j][k];
                }
            }
        }
        (y, g, h)
    }
}
