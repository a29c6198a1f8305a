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
    if let Some((x, n)) = plain(text.as_bytes())
        && n == text.len()
    {
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

/// A plain decimal number at the beginning of `text` and how many bytes it takes, up to white space or the end; `None` where
/// reading it needs more than one rounding, or where it is not a plain number.
///
/// With a mantissa below 2⁵³ and a power of ten up to 10²², both exact, their product or quotient is rounded once, so it is
/// the nearest double (Clinger 1990, How to read floating point numbers accurately).
pub(crate) fn plain(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let negative = text.first() == Some(&b'-');
    // The digits before and after the point as one whole number.
    let mut mantissa = 0u64;
    let mut digits = push_digits(text, &mut at, &mut mantissa);
    let mut exponent = 0i64;
    if text.get(at) == Some(&b'.') {
        at += 1;
        // Tables have up to eight decimals as a rule.
        let first = push_up_to_eight_digits(text, &mut at, &mut mantissa);
        let decimals = first + push_digits(text, &mut at, &mut mantissa);
        digits += decimals;
        exponent = -(decimals as i64);
    }
    // Up to 19 digits fit; with more the sum above may have wrapped.
    if digits == 0 || digits > 19 || mantissa >= 1 << 53 {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        let below = text.get(at) == Some(&b'-');
        at += usize::from(matches!(text.get(at), Some(b'-' | b'+')));
        let (first, mut power) = (at, 0i64);
        while let Some(c @ b'0'..=b'9') = text.get(at) {
            power = power * 10 + i64::from(c - b'0');
            at += 1;
            if at - first > 3 {
                return None;
            }
        }
        if at == first {
            return None;
        }
        exponent += if below { -power } else { power };
    }
    if !matches!(text.get(at), None | Some(b' ' | b'\t')) {
        return None;
    }
    let power = POWERS.get(usize::try_from(exponent.abs()).ok()?)?;
    let x = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some((if negative { -x } else { x }, at))
}

/// As [`plain`], for numbers of up to eight digits before and up to eight after the point, as most in tables are: no step
/// depends on how many digits there are.
#[inline(always)]
pub(super) fn short(text: &[u8]) -> Option<(f64, usize)> {
    // A sign, two times eight digits, the point and the end; blanks follow the last number of a line.
    const LONGEST: usize = 24;
    let mut padded = [b' '; LONGEST];
    let text = match text.first_chunk::<LONGEST>() {
        Some(text) => text,
        None => {
            padded[..text.len()].copy_from_slice(text);
            &padded
        }
    };
    let negative = text[0] == b'-';
    let first = usize::from(negative);
    // One digit before the point is what activations and angles in radians have.
    let (whole, before) = match (text[first], text[first + 1]) {
        (digit @ b'0'..=b'9', b'.') => (u64::from(digit - b'0'), 1),
        _ => digits(text[first..first + 8].try_into().ok()?),
    };
    let mut end = first + before;
    let (mut mantissa, mut after) = (whole, 0);
    if text[end] == b'.' {
        let decimals;
        (decimals, after) = digits(text[end + 1..end + 9].try_into().ok()?);
        mantissa = whole * TENS[after] + decimals;
        end += 1 + after;
    }
    // Exact in a double, and so is the power of ten: one rounding.
    if before + after == 0 || mantissa >= 1 << 53 || !matches!(text[end], b' ' | b'\t') {
        return None;
    }
    // Signed whole numbers become doubles in one step.
    let x = mantissa as i64 as f64 / POWERS[after];
    Some((if negative { -x } else { x }, end))
}

/// Appends the digits that begin at `at` to a whole number, which may wrap; how many there are.
#[inline]
fn push_digits(text: &[u8], at: &mut usize, number: &mut u64) -> usize {
    let first = *at;
    while let Some(c @ b'0'..=b'9') = text.get(*at) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(c - b'0'));
        *at += 1;
    }
    *at - first
}

/// The same for up to eight digits at once. Nothing is done, and 0 returned, where fewer than eight bytes follow.
#[inline]
fn push_up_to_eight_digits(text: &[u8], at: &mut usize, number: &mut u64) -> usize {
    let Some(Ok(eight)) = text.get(*at..*at + 8).map(<[u8; 8]>::try_from) else { return 0 };
    let (value, count) = digits(eight);
    *number = number.wrapping_mul(TENS[count]).wrapping_add(value);
    *at += count;
    count
}

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// 10⁰ to 10⁸.
const TENS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The digits that eight bytes begin with, as a number, and how many they are: pairs, then fours, then all, side by side in
/// one word.
#[inline]
fn digits(eight: [u8; 8]) -> (u64, usize) {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    const THIRTIES: u64 = 0x3030_3030_3030_3030;
    let word = u64::from_le_bytes(eight);
    // Digits are 0x30 to 0x39: adding 6 must not leave the thirties. What an addition carries over comes from a byte that is
    // no digit, and goes to bytes behind it, which do not count.
    let other = (word & HIGH ^ THIRTIES) | (word.wrapping_add(0x0606_0606_0606_0606) & HIGH ^ THIRTIES);
    let count = (other.trailing_zeros() / 8) as usize;
    // The digits to the end of the word, zeros before them; in two steps, as a shift by 64 is none.
    let word = (word & 0x0f0f_0f0f_0f0f_0f0f) << (4 * (8 - count)) << (4 * (8 - count));
    let word = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00ff_00ff_00ff_00ff;
    let word = word.wrapping_mul(100).wrapping_add(word >> 16) & 0x0000_ffff_0000_ffff;
    (word.wrapping_mul(10_000).wrapping_add(word >> 32) & 0xffff_ffff, count)
}

/// Appends x as C's `%16.8f`.
pub(super) fn push_fixed(out: &mut String, x: f64) {
    // Writing to a `String` cannot fail.
    let _ = if x.is_nan() {
        write!(out, "{:>16}", "nan")
    } else if x.is_infinite() {
        write!(out, "{:>16}", if x > 0.0 { "inf" } else { "-inf" })
    } else if x.abs() < 1e9 {
        push_fixed_below_1e9(out, x);
        Ok(())
    } else {
        write!(out, "{x:16.8}")
    };
}

/// The same for |x| < 10⁹, in whole numbers: with x = m 2⁻ˢ, the digits are those of m 10⁸ 2⁻ˢ rounded to even.
fn push_fixed_below_1e9(out: &mut String, x: f64) {
    let bits = x.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as u32);
    let (m, s) = if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    // m 10⁸ < 2⁵³⁺²⁷; what lies 90 places and more behind the point is less than half.
    let scaled = u128::from(m) * 100_000_000;
    let mut rounded = if s < 90 { (scaled >> s) as u64 } else { 0 };
    if s < 90 {
        let (rest, half) = (scaled & ((1 << s) - 1), 1u128 << (s - 1));
        rounded += u64::from(rest > half || (rest == half && rounded & 1 == 1));
    }
    // Digits from the last to the first: eight, the point, the rest, the sign, blanks.
    let mut text = [b' '; 20];
    let mut at = text.len();
    for place in 0.. {
        if place == 8 {
            at -= 1;
            text[at] = b'.';
        }
        at -= 1;
        text[at] = b'0' + (rounded % 10) as u8;
        rounded /= 10;
        if place >= 8 && rounded == 0 {
            break;
        }
    }
    if x.is_sign_negative() {
        at -= 1;
        text[at] = b'-';
    }
    // Ten digits, a sign and nine more characters at most; at least sixteen are written.
    let text = &text[at.min(text.len() - 16)..];
    out.push_str(std::str::from_utf8(text).unwrap_or_default());
}

/// Appends x with the fewest digits that read back as the same number.
pub(super) fn push_shortest(out: &mut String, x: f64) {
    if !x.is_finite() {
        return push_general(out, x);
    }
    // What does not move, or not in this plane, is zero: in many tables nearly every second number.
    if x == 0.0 {
        return out.push_str(if x.is_sign_negative() { "-0" } else { "0" });
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(x);
    let whole = |text: &str| text.len() - if text.ends_with(".0") { 2 } else { 0 };
    if (1e-5..1e16).contains(&x.abs()) {
        out.push_str(&text[..whole(text)]);
    } else if let Some((mantissa, exponent)) = text.split_once('e') {
        // Exponents without `+` and leading zeros.
        out.push_str(&mantissa[..whole(mantissa)]);
        let _ = write!(out, "e{}", exponent.trim_start_matches('+').parse::<i32>().unwrap_or(0));
    }
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

    /// Doubles with random bits, and random ones of everyday size; a fixed seed.
    fn many() -> Vec<f64> {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let mut list = vec![0.0, -0.0, 1e16, 9007199254740993.0, 1e-5, 9.999e-6, 1e15, 1e22, 1e23, 5e-324];
        for _ in 0..20_000 {
            list.push(f64::from_bits(next()));
            let whole = (next() % 2_000_001) as f64 - 1e6;
            // Halves and quarters of the last place that is written are ties.
            list.extend([whole / 1024.0, whole / 1e9, whole * 1e-3, whole / 2f64.powi((next() % 60) as i32)]);
        }
        list.retain(|x| x.is_finite());
        list
    }

    #[test]
    fn identity_numbers_print_as_the_standard_library_prints() {
        for x in many() {
            assert_eq!(text(push_fixed, x), format!("{x:16.8}"));
            let standard = match x != 0.0 && !(1e-5..1e16).contains(&x.abs()) {
                true => format!("{x:e}"),
                false => format!("{x}"),
            };
            // Where two decimals of the same length are equally near, either will do.
            let shortest = text(push_shortest, x);
            assert_eq!(shortest.len(), standard.len(), "{shortest} {standard}");
            assert!(shortest == standard || shortest.parse() == Ok(x), "{shortest} {standard}");
        }
    }

    #[test]
    fn identity_plain_numbers_read_as_the_standard_library_reads() {
        let mut read = 0;
        for x in many() {
            for text in [format!("{x}"), format!("{x:.8}"), format!("{x:.6e}"), format!("{x:+}")] {
                if let Some((y, n)) = plain(text.as_bytes()) {
                    let standard: f64 = text.parse().unwrap();
                    assert_eq!((y.to_bits(), n), (standard.to_bits(), text.len()), "{text}");
                    read += 1;
                }
            }
        }
        assert!(read > 100_000, "only {read} were plain");
        // The same with other columns behind them.
        let mut read = 0;
        for x in many() {
            for text in [format!("{x:.8}"), format!("{x:.3}"), format!("{x}"), format!("{x:.0}")] {
                let row = format!("{text}\t0.5 next cell and more of them");
                if let Some((y, n)) = short(row.as_bytes()) {
                    let standard: f64 = text.parse().unwrap();
                    assert_eq!((y.to_bits(), n), (standard.to_bits(), text.len()), "{text}");
                    read += 1;
                }
            }
        }
        assert!(read > 50_000, "only {read} were short");
        assert_eq!(plain(b"1.5\t2"), Some((1.5, 3)));
        for text in ["", "-", ".", "e5", "1e", "1e+", "1..2", "1,5", "nan", "1e9999", "12345678901234567890"]
        {
            assert_eq!(plain(text.as_bytes()), None, "{text}");
            assert_eq!(short(format!("{text}\t0.5 next cell and more of them").as_bytes()), None, "{text}");
        }
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
