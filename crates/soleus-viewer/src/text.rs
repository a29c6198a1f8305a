//! Formatting of text and numbers for pages and images.

use std::fmt::Write as _;

/// Escapes text for the content of an element or a quoted attribute.
///
/// Control characters, which are not allowed in HTML and SVG, become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A JSON string, quotes included, that is safe inside a `script` element: no `<`, `>` or `&` is left in it.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Writing to a `String` cannot fail.
            '<' | '>' | '&' | '\u{7f}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A number with at most `decimals` decimals and no idle zeros: `1.5`, `0`, `-2`. What is not a number is `0`.
pub(crate) fn short(v: f64, decimals: usize) -> String {
    if !v.is_finite() {
        return "0".to_string();
    }
    let mut s = format!("{v:.decimals$}");
    if s.contains('.') {
        s.truncate(s.trim_end_matches('0').trim_end_matches('.').len());
    }
    if s == "-0" { "0".to_string() } else { s }
}

/// Formats a number with a given number of significant digits, with an exponent if it would have many zeros.
pub fn significant(v: f64, digits: usize) -> String {
    if v == 0.0 {
        return "0".to_string();
    }
    if !v.is_finite() {
        return if v.is_nan() { "–".to_string() } else { v.to_string() };
    }
    let digits = digits.max(1);
    // The exponent after rounding: 9.99 to two digits is 10.
    let scientific = format!("{v:.*e}", digits - 1);
    let exponent: i32 = scientific.split('e').nth(1).and_then(|e| e.parse().ok()).unwrap_or(0);
    if !(-4..7).contains(&exponent) {
        return scientific;
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{v:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_text_stays_text() {
        assert_eq!(escape("<b> & \"c\" 'd'\u{0}\n"), "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\u{fffd}\n");
        assert_eq!(json_string("</script>\"\\\u{1}"), "\"\\u003c/script\\u003e\\\"\\\\\\u0001\"");
    }

    #[test]
    fn analytic_numbers() {
        assert_eq!([short(1.50, 3), short(-0.0001, 2), short(2.0, 0)], ["1.5", "0", "2"]);
        assert_eq!([short(100.0, 0), short(f64::NAN, 1)], ["100", "0"]);
        let digits = |v| significant(v, 3);
        assert_eq!([digits(1234.5), digits(0.012345), digits(-9.999)], ["1234", "0.0123", "-10.0"]);
        assert_eq!([digits(1.5e-7), digits(0.0), digits(f64::NAN)], ["1.50e-7", "0", "–"]);
    }
}
