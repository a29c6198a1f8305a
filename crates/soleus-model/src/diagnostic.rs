//! What was wrong with an input, where, and what to do about it.

use std::fmt;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Kept or ignored without effect on any number; said for completeness.
    Note,
    /// Ignored or guessed; the physics is not changed by it, or the change is named.
    Warning,
    /// The model cannot be used as the file means it.
    Error,
}

/// One problem of an input file.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1; 0 when no line applies.
    pub line: u32,
    /// Absolute path of the component it concerns, or empty.
    pub component: String,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What the user can do, or empty.
    pub hint: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{word}: {}", Printable(&self.message))?;
        match self.line {
            0 => write!(f, "\n  --> {}", Printable(&self.file))?,
            line => write!(f, "\n  --> {}:{line}", Printable(&self.file))?,
        }
        if !self.component.is_empty() {
            write!(f, "\n   in {}", Printable(&self.component))?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", Printable(&self.hint))?;
        }
        Ok(())
    }
}

/// Text of a file, shown on one line: control characters, which a terminal would obey, and marks that turn the direction of
/// writing are written as `\n`, `\u{1b}`.
///
/// ```
/// assert_eq!(soleus_model::Printable("a\u{1b}[2Jb\n").to_string(), "a\\u{1b}[2Jb\\n");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let obeyed = |c: char| {
            c.is_control()
                || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        };
        let mut rest = self.0;
        while let Some(at) = rest.find(obeyed) {
            f.write_str(&rest[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            write!(f, "{}", c.escape_default())?;
            rest = &rest[at + c.len_utf8()..];
        }
        f.write_str(rest)
    }
}

/// The problems found so far in one file.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// The file as the user named it.
    pub file: String,
    /// In the order they were found.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// No problems yet.
    pub fn new(file: impl Into<String>) -> Self {
        Diagnostics { file: file.into(), list: Vec::new() }
    }
    /// Adds one problem.
    pub fn push(&mut self, severity: Severity, line: u32, component: &str, message: String, hint: &str) {
        self.list.push(Diagnostic {
            severity,
            file: self.file.clone(),
            line,
            component: component.to_string(),
            message,
            hint: hint.to_string(),
        });
    }
    /// Adds an error.
    pub fn error(&mut self, line: u32, component: &str, message: impl Into<String>, hint: &str) {
        self.push(Severity::Error, line, component, message.into(), hint);
    }
    /// Adds a warning.
    pub fn warn(&mut self, line: u32, component: &str, message: impl Into<String>, hint: &str) {
        self.push(Severity::Warning, line, component, message.into(), hint);
    }
    /// Adds a note.
    pub fn note(&mut self, line: u32, component: &str, message: impl Into<String>) {
        self.push(Severity::Note, line, component, message.into(), "");
    }
    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
}

/// The name that is most likely meant by `wanted`: that with the least edit distance, whatever the case, if at most a part 1/`share` of the
/// letters differ, or two. Of paths as many last parts are compared as `wanted` has, unless it is a whole path.
pub fn nearest_name<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
    share: usize,
) -> Option<&'n str> {
    let lower = wanted.to_lowercase();
    let distance = |name: &str| {
        let parts = 1 + wanted.matches('/').count();
        let from = name.rmatch_indices('/').nth(parts - 1).filter(|_| !wanted.starts_with('/'));
        let end = from.map_or(name, |(at, _)| &name[at + 1..]);
        edit_distance(&end.to_lowercase(), &lower)
    };
    let near = names.into_iter().map(|n| (distance(n), n)).min()?;
    (!wanted.is_empty() && near.0 <= 2.max(wanted.len() / share)).then_some(near.1)
}

/// Number of letters to insert, delete or replace to turn one word into the other (Levenshtein 1966). Of words with more than
/// 200 bytes the length of the longer one, which bounds it: the work grows with the product of both lengths.
pub fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 200;
    if a.len().max(b.len()) > LONGEST {
        return if a == b { 0 } else { a.len().max(b.len()) };
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_21_messages_hold_no_control_characters() {
        let mut log = Diagnostics::new("a\u{7}.osim");
        log.error(3, "/bodyset/\u{1b}[31mred", "`a\nerror: b` is \u{202e}wrong\u{85}", "call it\r\tä");
        let shown = "error: `a\\nerror: b` is \\u{202e}wrong\\u{85}\n  --> a\\u{7}.osim:3\n   in /bodyset/\\u{1b}[31mred\n\
                     hint: call it\\r\\tä";
        assert_eq!(log.list[0].to_string(), shown);
    }

    #[test]
    fn analytic_nearest_name() {
        let names = ["/jointset/knee/knee_angle", "/jointset/hip/hip_flexion"];
        assert_eq!(nearest_name("Knee_angel", names, 2), Some(names[0]));
        assert_eq!(nearest_name("/jointset/hip/hip_flexoin", names, 2), Some(names[1]));
        assert_eq!(nearest_name("knee/knee_angel", names, 2), Some(names[0]));
        assert_eq!(nearest_name("elbow", names, 2), None);
        assert_eq!(nearest_name("", names, 2), None);
    }

    #[test]
    fn analytic_edit_distance() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
        assert_eq!(edit_distance(&"a".repeat(1 << 20), &"b".repeat(1 << 20)), 1 << 20);
    }
}
