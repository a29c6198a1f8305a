//! Text that is safe to show: names in files may hold characters that a terminal obeys.

use std::borrow::Cow;

/// Text in which control characters are spelled out (`\u{1b}`), as are those that turn the direction of reading or take no room;
/// line ends and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| c != '\n' && c != '\t' && is_obeyed(c))
}

/// The same for text that belongs on one line: line ends and tabs are spelled out too.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, is_obeyed)
}

/// Whether a terminal does something else with a character than show it.
fn is_obeyed(c: char) -> bool {
    let has_no_room =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || has_no_room
}

fn spelled_out(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_spelled(c) {
            true => out.extend(c.escape_debug()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_21_escape_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31mred\nb\tc\r"), "a\\u{1b}[31mred\nb\tc\\r");
        assert_eq!(on_one_line("a\nb\u{9b}\u{202e}"), "a\\nb\\u{9b}\\u{202e}");
        assert!(matches!(printable("Kniewinkel, 90°, ž, 膝"), Cow::Borrowed(_)));
    }
}
