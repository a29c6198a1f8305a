//! Checks the numbers in requests before any computation.

use crate::error::Error;
use std::path::Path;

/// Checks that a number is finite. `what` is its description with unit: `the time of the picture, s`.
pub fn finite(path: &Path, what: &str, x: f64) -> Result<f64, Error> {
    check(path, what, x, x.is_finite(), "give a finite number")
}

/// Checks that a number is finite and positive.
pub fn positive(path: &Path, what: &str, x: f64) -> Result<f64, Error> {
    check(path, what, x, x.is_finite() && x > 0.0, "give a finite number above zero")
}

/// Checks that a number is finite and not negative.
pub fn not_negative(path: &Path, what: &str, x: f64) -> Result<f64, Error> {
    check(path, what, x, x.is_finite() && x >= 0.0, "give a finite number, zero or larger")
}

fn check(path: &Path, what: &str, x: f64, is_sound: bool, hint: &str) -> Result<f64, Error> {
    match is_sound {
        true => Ok(x),
        false => Err(Error::content(path, 0, "", format!("{what}: {x} is not valid"), hint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_what_is_refused() {
        let path = Path::new("a.mot");
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(finite(path, "x", x).is_err() && positive(path, "x", x).is_err());
            assert!(not_negative(path, "x", x).is_err());
        }
        assert!(positive(path, "x", 0.0).is_err() && not_negative(path, "x", -1e-300).is_err());
        assert_eq!(positive(path, "x", 1e-300).unwrap(), 1e-300);
        assert_eq!((not_negative(path, "x", 0.0).unwrap(), finite(path, "x", -1.0).unwrap()), (0.0, -1.0));
        let said = positive(path, "the rate, Hz", 0.0).unwrap_err().to_string();
        assert!(said.contains("the rate, Hz: 0 is not valid") && said.contains("above zero"), "{said}");
    }
}
