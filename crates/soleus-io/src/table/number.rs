//! Numbers as text, as C prints and reads them.

use std::fmt::Write as _;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// A number; NaN where it says so.
    Number(f64),
    /// Nothing, or a word that says there is nothing.
    Missing,
    /// Something else.
    Text,
}

/// Reads a cell. Besides what Rust reads, C on Windows writes `1.#QNAN`, Fortran `1.0D+03`.
pub(super) fn cell(text: &str) -> Cell {
    // Nearly every cell is a plain number.
    if let Ok(x) = text.parse::<f64>() {
        return Cell::Number(x);
    }
    let text = text.trim();
    if let Ok(x) = text.parse::<f64>() {
        return Cell::Number(x);
    }
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "" | "-" | "na" | "n/a" | "#n/a" | "null" | "none" | "missing" | "-nan(ind)" | "nan(ind)" => {
            return Cell::Missing;
        }
        _ => {}
    }
    if let Some((_, kind)) = lower.split_once("1.#") {
        return match kind.as_bytes().get(..3) {
            Some(b"inf") if lower.starts_with('-') => Cell::Number(f64::NEG_INFINITY),
            Some(b"inf") => Cell::Number(f64::INFINITY),
            _ => Cell::Missing,
        };
    }
    match lower.replacen('d', "e", 1).parse::<f64>() {
        Ok(x) if lower.starts_with(|c: char| "+-.0123456789".contains(c)) => Cell::Number(x),
        _ => Cell::Text,
    }
}

/// Appends x as C's `%16.8f`.
pub(super) fn push_fixed(out: &mut String, x: f64) {
    // Writing to a `String` cannot fail.
    let _ = if x.is_nan() {
        write!(out, "{:>16}", "nan")
    } else if x.is_infinite() {
        write!(out, "{:>16}", if x > 0.0 { "inf" } else { "-inf" })
    } else {
        write!(out, "{x:16.8}")
    };
}

/// Appends x with the fewest digits that read back as the same number.
pub(super) fn push_shortest(out: &mut String, x: f64) {
    let _ = match x {
        x if !x.is_finite() => {
            push_general(out, x);
            Ok(())
        }
        x if x != 0.0 && !(1e-5..1e16).contains(&x.abs()) => write!(out, "{x:e}"),
        x => write!(out, "{x}"),
    };
}

/// Appends x as C's `%.16g`: 16 significant digits without trailing zeros, which is how C++
/// streams of that precision print.
pub(super) fn push_general(out: &mut String, x: f64) {
    const DIGITS: i32 = 16;
    if !x.is_finite() {
        out.push_str(if x.is_nan() {
            "nan"
        } else if x > 0.0 {
            "inf"
        } else {
            "-inf"
        });
        return;
    }
    // The exponent after rounding to 16 digits decides between the two forms.
    let scientific = format!("{:.*e}", DIGITS as usize - 1, x);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let _ = if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
    } else {
        write!(out, "{}", without_zeros(&format!("{:.*}", (DIGITS - 1 - exponent) as usize, x)))
    };
}

/// "1.500" → "1.5", "2.0" → "2".
fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: fn(&mut String, f64), x: f64) -> String {
        let mut s = String::new();
        push(&mut s, x);
        s
    }

    #[test]
    fn analytic_general_prints_as_c_does() {
        // Right-hand sides are printf("%.16g").
        for (x, c) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.3333333333333333"),
            (2.0 / 3.0, "0.6666666666666666"),
            (1e15, "1000000000000000"),
            (1e16, "1e+16"),
            (123456789.125, "123456789.125"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-300, "-1.5e-300"),
            (1.25e22, "1.25e+22"),
            (0.30000000000000004, "0.3"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(push_general, x), c);
        }
    }

    #[test]
    fn analytic_fixed_prints_as_c_does() {
        assert_eq!(text(push_fixed, 0.4), "      0.40000000");
        assert_eq!(text(push_fixed, -55.187423806), "    -55.18742381");
        assert_eq!(text(push_fixed, 1e12), "1000000000000.00000000");
        assert_eq!(text(push_fixed, f64::NAN), "             nan");
    }

    #[test]
    fn identity_shortest_reads_back() {
        for x in [0.1, 1.0 / 3.0, 0.30000000000000004, 1e-300, -5e-324, 1.7e308, 0.0, 12345.0] {
            assert_eq!(cell(&text(push_shortest, x)), Cell::Number(x));
        }
    }

    #[test]
    fn analytic_cells() {
        assert_eq!(cell(" -2.73E-01 "), Cell::Number(-0.273));
        assert_eq!(cell("1.5D+02"), Cell::Number(150.0));
        assert!(matches!(cell("NaN"), Cell::Number(x) if x.is_nan()));
        assert!(matches!(cell("-nan"), Cell::Number(x) if x.is_nan()));
        assert_eq!(cell("-1.#INF00"), Cell::Number(f64::NEG_INFINITY));
        assert_eq!(cell("-1.#IND00"), Cell::Missing);
        assert_eq!(cell("  "), Cell::Missing);
        assert_eq!(cell("1,5"), Cell::Text);
        assert_eq!(cell("hip"), Cell::Text);
        assert_eq!(cell("dead"), Cell::Text);
    }
}
