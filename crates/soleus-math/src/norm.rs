//! Maximum of many numbers, with propagation of NaN.
//!
//! `fold(0.0, f64::max)` ignores NaN, so that a comparison with a result that is not a number would find no difference.

/// Maximum of nonnegative numbers; NaN if one of them is NaN, and zero if there are none.
///
/// ```
/// use soleus_math::norm::largest;
///
/// assert_eq!(largest([0.5, 2.0, 1.0]), 2.0);
/// assert!(largest([0.5, f64::NAN, 1.0]).is_nan());
/// assert_eq!([0.5, f64::NAN, 1.0].into_iter().fold(0.0, f64::max), 1.0);
/// ```
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most, v| if most.is_nan() || v <= most { most } else { v })
}

/// max |xᵢ|; NaN if one of them is NaN.
pub fn largest_size<'a>(x: impl IntoIterator<Item = &'a f64>) -> f64 {
    largest(x.into_iter().map(|x| x.abs()))
}

/// max |aᵢ − bᵢ|; NaN if one of them is NaN; infinite if the lengths differ.
pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_no_nan_is_lost() {
        const NAN: f64 = f64::NAN;
        assert_eq!(largest([]), 0.0);
        assert_eq!(largest_size(&[-3.0, 2.0]), 3.0);
        assert_eq!(largest_size(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
        for list in [[NAN, 1.0, 2.0], [1.0, NAN, 2.0], [1.0, 2.0, NAN], [NAN, f64::INFINITY, NAN]] {
            assert!(
                largest_size(&list).is_nan() && largest_difference(&list, &[0.0; 3]).is_nan(),
                "{list:?}"
            );
            assert!(!(largest_difference(&list, &list) <= f64::INFINITY), "NaN equals nothing");
        }
        assert_eq!(largest_difference(&[1.0, 2.0], &[1.5, 1.0]), 1.0);
        assert_eq!(largest_difference(&[1.0], &[]), f64::INFINITY);
    }
}
