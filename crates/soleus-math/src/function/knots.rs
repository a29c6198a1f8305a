//! Checks and searches shared by functions defined by points.

use super::FunctionError;

/// Checks that all of `v` are finite.
pub(super) fn finite(kind: &'static str, what: &'static str, v: &[f64]) -> Result<(), FunctionError> {
    // A look at all of them without stopping takes a fraction of the time of a search.
    if v.iter().fold(true, |all, v| all & v.is_finite()) {
        return Ok(());
    }
    match v.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(FunctionError::NotFinite { kind, what, index }),
        None => Ok(()),
    }
}

/// Checks the points (x, y): enough of them, as many x as y, finite, x rising.
///
/// `strict` also refuses two equal x.
pub(super) fn points(
    kind: &'static str,
    x: &[f64],
    y: &[f64],
    needed: usize,
    strict: bool,
) -> Result<(), FunctionError> {
    if x.len() != y.len() {
        return Err(FunctionError::LengthMismatch { kind, x: x.len(), y: y.len() });
    }
    if x.len() < needed {
        return Err(FunctionError::TooFew { kind, what: "points", needed, found: x.len() });
    }
    finite(kind, "x", x)?;
    finite(kind, "y", y)?;
    for (i, w) in x.windows(2).enumerate() {
        if w[1] < w[0] || (strict && w[1] == w[0]) {
            return Err(FunctionError::NotIncreasing { kind, index: i + 1, x: w[1], previous: w[0] });
        }
    }
    Ok(())
}

/// SIMM's distance below which an x counts as an end point (OpenSim's ROUNDOFF_ERROR).
/// There the value is exactly that of the end point, which files written by OpenSim rely on.
const AT_END_WITHIN: f64 = 2e-13;

/// Shortest interval SIMM divides by (OpenSim's TINY_NUMBER): two points at the same x
/// make a steep ramp instead of a division by zero.
pub(super) const SHORTEST_INTERVAL: f64 = 1e-7;

/// Where x lies among rising knots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Left of the first knot.
    Before,
    /// On the first knot.
    First,
    /// In the interval from knot k to k + 1, both included.
    Between(usize),
    /// On the last knot.
    Last,
    /// Right of the last knot.
    After,
}

/// Place of `t` among the knots `x` (at least one, rising).
///
/// On an inner knot both neighbouring intervals qualify, and where the function or its
/// slope jumps it matters which one is taken. OpenSim 4.6 bisects from [0, n] and stops at
/// the first interval that holds t; we take the same one. Not a number lands in some
/// interval, and the result is then not a number.
#[inline]
pub(super) fn place(x: &[f64], t: f64) -> Place {
    let n = x.len();
    if t < x[0] {
        return Place::Before;
    }
    if t > x[n - 1] {
        return Place::After;
    }
    if (t - x[0]).abs() <= AT_END_WITHIN {
        return Place::First;
    }
    if (t - x[n - 1]).abs() <= AT_END_WITHIN || n < 2 {
        return Place::Last;
    }
    // Invariant: x[lo] ≤ t, and t < x[hi] unless hi = n; the interval shrinks every pass.
    let (mut lo, mut hi) = (0, n);
    while hi - lo > 1 {
        let k = (lo + hi) / 2;
        if t < x[k] {
            hi = k;
        } else if k + 1 < n && t > x[k + 1] {
            lo = k;
        } else {
            return Place::Between(k.min(n - 2));
        }
    }
    Place::Between(lo.min(n - 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every t in range lands in an interval that holds it, whatever the number of knots.
    #[test]
    fn identity_place_holds_t() {
        for n in 1..20 {
            let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
            for j in -2..(4 * n + 2) {
                let t = j as f64 * 0.25;
                match place(&x, t) {
                    Place::Before => assert!(t < 0.0),
                    Place::First => assert_eq!(t, 0.0),
                    Place::Last => assert_eq!(t, (n - 1) as f64),
                    Place::After => assert!(t > (n - 1) as f64),
                    Place::Between(k) => assert!(x[k] <= t && t <= x[k + 1]),
                }
            }
            place(&x, f64::NAN);
        }
        assert_eq!(place(&[0.0, 1.0, 1.0, 1.0, 2.0], 1.5), Place::Between(3));
    }
}
