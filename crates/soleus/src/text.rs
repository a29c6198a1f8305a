//! Text that is safe to display: names in files may contain terminal control characters.

use std::borrow::Cow;

/// Text with control characters escaped (`\u{1b}`), also those that change the text direction or have zero width; line
/// ends and tabs are kept.
pub fn printable(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| c != '\n' && c != '\t' && is_obeyed(c))
}

/// The same on one line: line ends and tabs are escaped as well.
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, is_obeyed)
}

/// The most similar of the names, if fewer than half of the letters differ.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    soleus_model::nearest_name(wanted, names, 2)
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

/// Text that begins with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Wraps text at `width`, as far as its words allow. Continued lines are indented like the line itself, or to its
/// second column, which starts after two or more spaces.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let line = line.trim_end_matches('\n');
        let indent = line.len() - line.trim_start().len();
        let second = line[indent..].find("  ").map(|k| indent + k);
        let column = second.map(|k| k + line[k..].len() - line[k..].trim_start().len());
        // Room for a few words has to be left beside the first column.
        let column = column.filter(|c| 2 * c <= width + 20).unwrap_or(indent);
        let mut length = 0;
        for (i, word) in line.split(' ').enumerate() {
            let more = word.chars().count();
            if i > 0 && length + 1 + more > width && length > column && !word.is_empty() {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', column));
                length = column;
            } else if i > 0 {
                out.push(' ');
                length += 1;
            }
            out.push_str(word);
            length += more;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_long_lines_go_on_below_their_second_column() {
        let text = "Options:\n  --out <FILE>  A file of any kind at all\n\nshort\n";
        let wanted = "Options:\n  --out <FILE>  A file of\n                any kind\n                at all\n\nshort\n";
        assert_eq!(wrapped(text, 26), wanted);
        assert_eq!(wrapped(text, 80), text);
        // A word that is longer than the line stays whole.
        assert_eq!(wrapped("a bbbbbbbbbb c\n", 5), "a\nbbbbbbbbbb\nc\n");
    }

    #[test]
    fn issue_21_escape_characters_are_spelled_out() {
        assert_eq!(printable("a\u{1b}[31mred\nb\tc\r"), "a\\u{1b}[31mred\nb\tc\\r");
        assert_eq!(on_one_line("a\nb\u{9b}\u{202e}"), "a\\nb\\u{9b}\\u{202e}");
        assert!(matches!(printable("Kniewinkel, 90°, ž, 膝"), Cow::Borrowed(_)));
    }
}
