//! The scalar of all generic kernels.

use crate::{Dual, elementary};
use std::any::Any;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real number, optionally with derivatives.
///
/// Implemented by `f64` and by [`Dual`] over any `Real`. The whole project relies on this contract: **the value part of
/// every operation is bitwise identical to that of `f64`.** Branches depend only on [`value`](Real::value), so every
/// scalar takes the same branch and executes the same code.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + Sum
{
    /// A constant: derivatives are zero.
    fn cst(x: f64) -> Self;

    /// The value without derivatives, for branches and comparisons.
    fn value(self) -> f64;

    /// Number of levels of derivatives: 0 for `f64`, 1 for a `Dual` over `f64`.
    const ORDER: usize;

    /// One Newton correction x − r/r′ of the derivative parts; the value does not change.
    ///
    /// This computes derivatives of the solution of an equation r(x, p) = 0 that was solved in plain `f64`: start from
    /// the constant root and, [`ORDER`](Real::ORDER) times, re-evaluate r and ∂r/∂x in this scalar and refine. By the
    /// implicit function theorem each pass makes one more order of derivatives exact. For `f64` the loop is empty.
    fn refine(self, residual: Self, slope: Self) -> Self;

    /// Calls `plain` if this scalar is `f64`, otherwise `generic`.
    ///
    /// A generic function is compiled again in every crate that calls it. A large one can pass plain numbers to a
    /// function that is not generic, with [`same`] and similar functions, so that all crates share its code.
    #[inline(always)]
    fn choose<A, R>(arguments: A, _plain: impl FnOnce(A) -> R, generic: impl FnOnce(A) -> R) -> R {
        generic(arguments)
    }

    /// Order and number of the derivatives of an `f64`: 1 and N for `Dual<f64, N>`, 2 and N for a jet. `None` for other
    /// scalars. A large function can use it in an `if const` to pass common scalars to a copy that is not generic, as
    /// in [`choose`](Real::choose).
    const SHAPE: Option<[usize; 2]> = None;

    /// `yes()` if `self` < `other`, otherwise `no()`. For branches in kernels that must work for all scalars: a scalar
    /// that records an evaluation for many states at once evaluates both and selects.
    #[inline(always)]
    fn where_below<R: Together<Self>>(
        self,
        other: Self,
        yes: impl FnOnce() -> R,
        no: impl FnOnce() -> R,
    ) -> R {
        if Self::RECORDS {
            return yes().join(no(), &mut |yes, no| self.select_below(other, yes, no));
        }
        if self.value() < other.value() { yes() } else { no() }
    }
    /// `yes()` if `self` ≤ `other`, otherwise `no()`; as [`where_below`](Real::where_below).
    #[inline(always)]
    fn where_at_most<R: Together<Self>>(
        self,
        other: Self,
        yes: impl FnOnce() -> R,
        no: impl FnOnce() -> R,
    ) -> R {
        if Self::RECORDS {
            return yes().join(no(), &mut |yes, no| self.select_at_most(other, yes, no));
        }
        if self.value() <= other.value() { yes() } else { no() }
    }

    /// `yes` if `self` < `other`, otherwise `no`.
    #[inline(always)]
    fn select_below(self, other: Self, yes: Self, no: Self) -> Self {
        if self.value() < other.value() { yes } else { no }
    }
    /// `yes` if `self` ≤ `other`, otherwise `no`.
    #[inline(always)]
    fn select_at_most(self, other: Self, yes: Self, no: Self) -> Self {
        if self.value() <= other.value() { yes } else { no }
    }

    /// Whether evaluations are recorded, for unknown states. [`value`](Real::value) is then not available and refused;
    /// a kernel that uses it must take another branch.
    const RECORDS: bool = false;

    /// Whether `self` < `other`, for a branch that is the same for nearly all states, such as a nonzero pivot. A
    /// recording scalar decides once, and records an indicator for states with a different branch.
    #[inline(always)]
    fn usually_below(self, other: Self) -> bool {
        self.value() < other.value()
    }

    /// The value, for choices that only affect rounding, such as the order of pivots.
    #[inline(always)]
    fn hint(self) -> f64 {
        self.value()
    }

    /// For recording scalars: the same number, treated as constant in derivatives. An iteration ends with it, and
    /// [`refine`](Real::refine) restores the derivatives.
    #[inline(always)]
    fn held(self) -> Self {
        self
    }

    /// Number of `breaks`, which increase, below `self`.
    fn rank(self, breaks: &[f64]) -> Self {
        let x = self.value();
        Self::cst(breaks.iter().filter(|b| x > **b).count() as f64)
    }

    /// The row of a table with the index `self`, from 0 to `count` − 1.
    fn row<const N: usize>(self, count: usize, row: impl Fn(usize) -> [f64; N]) -> [Self; N] {
        row((self.value() as usize).min(count - 1)).map(Self::cst)
    }

    /// Called when the computation of a part of a model with this number starts, so that recording scalars can name it.
    #[inline(always)]
    fn enter(_part: Part, _number: usize) {}

    /// A list of numbers, as [`same`].
    #[inline(always)]
    fn plain_list(_list: &[Self]) -> &[f64] {
        panic!("the scalar is not f64")
    }
    /// A list of numbers, as [`same_mut`].
    #[inline(always)]
    fn plain_list_mut(_list: &mut [Self]) -> &mut [f64] {
        panic!("the scalar is not f64")
    }

    /// Zero.
    #[inline]
    fn zero() -> Self {
        Self::cst(0.0)
    }
    /// One.
    #[inline]
    fn one() -> Self {
        Self::cst(1.0)
    }
    /// Square root.
    fn sqrt(self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Sine.
    #[inline]
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// Cosine.
    #[inline]
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// Tangent.
    fn tan(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Angle of the point (x, y) = (`x`, `self`).
    fn atan2(self, x: Self) -> Self;
    /// Natural exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Integer power.
    fn powi(self, n: i32) -> Self;
    /// Real power with a constant exponent.
    fn powf(self, p: f64) -> Self;
    /// Reciprocal.
    #[inline]
    fn recip(self) -> Self {
        Self::one() / self
    }
    /// Square.
    #[inline]
    fn sq(self) -> Self {
        self * self
    }
    /// Absolute value; at zero the slope is +1.
    #[inline]
    fn abs(self) -> Self {
        if self.value() < 0.0 { -self } else { self }
    }
    /// The larger of two, chosen by value; `self` on a tie.
    #[inline]
    fn max(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }
    /// The smaller of two, chosen by value; `self` on a tie.
    #[inline]
    fn min(self, other: Self) -> Self {
        if other.value() < self.value() { other } else { self }
    }
    /// Clamped to [lo, hi]; outside, the derivative is zero.
    #[inline]
    fn clamp(self, lo: f64, hi: f64) -> Self {
        if self.value() < lo {
            Self::cst(lo)
        } else if self.value() > hi {
            Self::cst(hi)
        } else {
            self
        }
    }
}

/// Parts of a model that [`Real::enter`] distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// A body and the joint before it.
    Body,
    /// The path of a force.
    Path,
    /// A force.
    Force,
    /// A path's load on the bodies.
    Load,
    /// A constraint.
    Constraint,
    /// Mass matrix and accelerations.
    Motion,
}

/// One number or several, each of which can be selected from two: the result of [`Real::where_below`].
pub trait Together<T>: Sized {
    /// Combines both, number by number.
    fn join(self, other: Self, each: &mut impl FnMut(T, T) -> T) -> Self;
}

impl<T: Real> Together<T> for T {
    fn join(self, other: T, each: &mut impl FnMut(T, T) -> T) -> T {
        each(self, other)
    }
}

impl<T: Real> Together<T> for (T, T) {
    fn join(self, other: Self, each: &mut impl FnMut(T, T) -> T) -> Self {
        (each(self.0, other.0), each(self.1, other.1))
    }
}

impl<T: Real, const N: usize> Together<T> for [T; N] {
    fn join(self, other: Self, each: &mut impl FnMut(T, T) -> T) -> Self {
        std::array::from_fn(|i| each(self[i], other[i]))
    }
}

impl<T: Real> Together<T> for crate::Vec3<T> {
    fn join(self, other: Self, each: &mut impl FnMut(T, T) -> T) -> Self {
        crate::Vec3 { x: each(self.x, other.x), y: each(self.y, other.y), z: each(self.z, other.z) }
    }
}

/// A real number that can be combined with constants of type `P`: plain numbers, or constants with derivatives.
///
/// A kernel whose parameters are of type `P` and whose variables are of type `T: Over<P>` uses the same code in both
/// cases. With `P = f64` constants are plain numbers at no additional cost; with `P = T` derivatives with respect to
/// parameters are computed.
pub trait Over<P: Real>:
    Real + Add<P, Output = Self> + Sub<P, Output = Self> + Mul<P, Output = Self> + Div<P, Output = Self>
{
    /// Converts the constant to this type.
    fn lift(p: P) -> Self;
}

impl<T: Real> Over<f64> for T {
    #[inline(always)]
    fn lift(p: f64) -> T {
        T::cst(p)
    }
}

impl<T: Real, const N: usize> Over<Dual<T, N>> for Dual<T, N> {
    #[inline(always)]
    fn lift(p: Dual<T, N>) -> Dual<T, N> {
        p
    }
}

/// Casts a container of scalars, if the scalar is known by [`Real::choose`] or [`Real::SHAPE`].
///
/// # Panics
///
/// If the types differ.
#[inline(always)]
pub fn same<A: Any, B: Any>(x: &A) -> &B {
    (x as &dyn Any).downcast_ref().expect("the scalar is another")
}

/// As [`same`], mutable.
#[inline(always)]
pub fn same_mut<A: Any, B: Any>(x: &mut A) -> &mut B {
    (x as &mut dyn Any).downcast_mut().expect("the scalar is another")
}

impl Real for f64 {
    const ORDER: usize = 0;
    const SHAPE: Option<[usize; 2]> = Some([0, 0]);

    #[inline(always)]
    fn choose<A, R>(arguments: A, plain: impl FnOnce(A) -> R, _generic: impl FnOnce(A) -> R) -> R {
        plain(arguments)
    }
    #[inline(always)]
    fn plain_list(list: &[f64]) -> &[f64] {
        list
    }
    #[inline(always)]
    fn plain_list_mut(list: &mut [f64]) -> &mut [f64] {
        list
    }

    #[inline(always)]
    fn cst(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn refine(self, _residual: f64, _slope: f64) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn sin_cos(self) -> (f64, f64) {
        elementary::sin_cos(self)
    }
    #[inline(always)]
    fn sin(self) -> f64 {
        elementary::sin(self)
    }
    #[inline(always)]
    fn cos(self) -> f64 {
        elementary::cos(self)
    }
    #[inline(always)]
    fn tan(self) -> f64 {
        elementary::tan(self)
    }
    #[inline(always)]
    fn asin(self) -> f64 {
        elementary::asin(self)
    }
    #[inline(always)]
    fn acos(self) -> f64 {
        elementary::acos(self)
    }
    #[inline(always)]
    fn atan(self) -> f64 {
        elementary::atan(self)
    }
    #[inline(always)]
    fn atan2(self, x: f64) -> f64 {
        elementary::atan2(self, x)
    }
    #[inline(always)]
    fn exp(self) -> f64 {
        elementary::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        elementary::ln(self)
    }
    #[inline(always)]
    fn sinh(self) -> f64 {
        elementary::sinh(self)
    }
    #[inline(always)]
    fn cosh(self) -> f64 {
        elementary::cosh(self)
    }
    #[inline(always)]
    fn tanh(self) -> f64 {
        elementary::tanh(self)
    }
    #[inline(always)]
    fn powi(self, n: i32) -> f64 {
        f64::powi(self, n)
    }
    #[inline(always)]
    fn powf(self, p: f64) -> f64 {
        elementary::powf(self, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen<T: Real>(list: &mut [T]) -> &'static str {
        T::choose(
            list,
            |list| {
                let list = T::plain_list_mut(list);
                list[0] += same::<T, f64>(&T::one());
                "plain"
            },
            |_| "generic",
        )
    }

    #[test]
    fn analytic_plain_numbers_have_a_way_of_their_own() {
        let mut list = [1.5];
        assert_eq!(chosen(&mut list), "plain");
        assert_eq!(list, [2.5]);
        assert_eq!(chosen(&mut [Dual::<f64, 1>::one()]), "generic");
        assert_eq!(chosen(&mut [Dual::<Dual<f64, 1>, 8>::one()]), "generic");
    }
}
