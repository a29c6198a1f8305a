//! Diagnostics of an input: problem, location and remedy.

use std::fmt;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Kept or ignored without effect on results; for completeness.
    Note,
    /// Ignored or guessed; the physics is not affected, or the effect is described.
    Warning,
    /// The model cannot be used as intended in the file.
    Error,
}

/// A problem in an input file.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// The file as the user named it.
    pub file: String,
    /// Line, from 1; 0 when no line applies.
    pub line: u32,
    /// Absolute path of the component, or empty.
    pub component: String,
    /// Description of the problem, in one sentence without a full stop.
    pub message: String,
    /// Remedy, or empty.
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
            // About what was asked, not about a file.
            _ if self.file.is_empty() => {}
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

/// Text from a file, displayed on one line: control characters, which a terminal would interpret, and marks that change
/// the text direction are written as `\n`, `\u{1b}`.
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

/// The problems found in one file.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    /// The file as the user named it.
    pub file: String,
    /// In the order in which they were found.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Without problems.
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
    /// Whether there are errors.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
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
}
