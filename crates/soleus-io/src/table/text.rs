//! Lines of a text file, cells of a line, and complaints about them.

use super::number::{Cell, cell};
use super::{FIRST_COUNTS, OUT_OF_ORDER};
use soleus_model::Diagnostics;
use std::borrow::Cow;

/// The text of a file without a byte order mark; what is not UTF-8 is replaced and reported.
pub(super) fn decode<'a>(bytes: &'a [u8], log: &mut Diagnostics) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Whole files are valid as a rule, and checking that alone is several times as fast.
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    log.warn(0, "", "the file is not UTF-8; invalid characters were replaced", "save it as UTF-8");
    String::from_utf8_lossy(bytes)
}

/// Lines without their ends, for Unix, Windows and old Macintosh files.
pub(super) fn lines(text: &str) -> Vec<&str> {
    if memchr::memchr(b'\n', text.as_bytes()).is_some() {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
        let mut from = 0;
        ends.map(|end| text[std::mem::replace(&mut from, end + 1)..end].trim_end_matches('\r')).collect()
    } else {
        text.split('\r').collect()
    }
}

/// Line number of a place in the list of lines, from 1.
pub(super) fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// What separates cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Tabs, or else any white space.
    Blank,
    /// This character; cells may be in double quotes.
    Char(char),
}

impl Separator {
    /// The cells of a row into `cells`, trimmed; `expected` of them are wanted. Numbers hold no blanks, so where splitting
    /// at all white space gives that many, it is right; otherwise only tabs separate, and cells may be empty.
    pub(super) fn split_row<'a>(self, line: &'a str, expected: usize, cells: &mut Vec<&'a str>) {
        cells.clear();
        match self {
            Separator::Char(c) => split_quoted(line, c, cells),
            Separator::Blank => {
                // Most lines are ASCII, which is split several times as fast.
                match line.is_ascii() {
                    true => cells.extend(line.split_ascii_whitespace()),
                    false => cells.extend(line.split_whitespace()),
                }
                if cells.len() == expected || !line.contains('\t') {
                    return;
                }
                cells.clear();
                cells.extend(line.split('\t').map(str::trim));
            }
        }
        drop_trailing(cells, expected);
    }

    /// Labels, which may hold blanks if tabs separate them. Where `promised` of them fit white space but not tabs,
    /// white space separates.
    pub(super) fn split_labels(self, line: &str, promised: Option<usize>) -> Vec<String> {
        let mut cells = Vec::new();
        match self {
            Separator::Char(c) => split_quoted(line, c, &mut cells),
            Separator::Blank if line.contains('\t') => cells.extend(line.split('\t').map(str::trim)),
            Separator::Blank => cells.extend(line.split_whitespace()),
        }
        cells.retain(|c| !c.is_empty());
        if self == Separator::Blank
            && promised.is_some_and(|n| n != cells.len() && n == line.split_whitespace().count())
        {
            cells = line.split_whitespace().collect();
        }
        cells.into_iter().map(str::to_string).collect()
    }
}

/// Cells of a line in which a separator inside double quotes does not count.
fn split_quoted<'a>(line: &'a str, separator: char, cells: &mut Vec<&'a str>) {
    let mut quoted = false;
    let is_end = |c: char| {
        quoted ^= c == '"';
        c == separator && !quoted
    };
    cells.extend(line.split(is_end).map(|c| {
        let c = c.trim();
        c.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(c)
    }));
}

/// Separators at the end of a line make empty cells that nobody meant.
fn drop_trailing(cells: &mut Vec<&str>, expected: usize) {
    while cells.len() > expected && cells.last().is_some_and(|c| c.is_empty()) {
        cells.pop();
    }
}

/// Numbers out of cells; reports the first few that are none.
pub(super) struct Numbers {
    bad: usize,
    /// Cells without a value.
    pub missing: usize,
    /// Place of the first of them: line and column, from 1.
    pub first_missing: (u32, usize),
}

/// What to do about a row that does not fit the labels.
pub(super) const ROW_HINT: &str = "correct or remove the row; the last row may be truncated, and the separators must be the same as in the label line";

/// After so many complaints of one kind, only their number is said.
pub(super) const MOST_COMPLAINTS: usize = 10;

impl Numbers {
    pub(super) fn new() -> Self {
        Numbers { bad: 0, missing: 0, first_missing: (0, 0) }
    }

    /// The number in a cell; NaN where there is none. Text is lost data, hence an error.
    pub(super) fn read(
        &mut self,
        text: &str,
        line: u32,
        column: usize,
        label: &str,
        log: &mut Diagnostics,
    ) -> f64 {
        match cell(text) {
            Cell::Number(x) => x,
            Cell::Missing => {
                if self.missing == 0 {
                    self.first_missing = (line, column);
                }
                self.missing += 1;
                f64::NAN
            }
            Cell::Text => {
                self.bad += 1;
                if self.bad <= MOST_COMPLAINTS {
                    let hint = if text.contains(',') { "use a decimal point" } else { "" };
                    let text: String = text.chars().take(40).collect();
                    log.error(line, &place(column, label), format!("`{text}` is not a number"), hint);
                }
                f64::NAN
            }
        }
    }

    /// Says how many complaints were left out.
    pub(super) fn finish(&self, log: &mut Diagnostics) {
        if self.bad > MOST_COMPLAINTS {
            log.error(0, "", format!("{} more cells are not numbers", self.bad - MOST_COMPLAINTS), "");
        }
    }
}

/// A label as it is written: one line without control characters, and never empty, so that it is read again. `column` counts the
/// time.
pub(super) fn written_label(label: &str, column: usize) -> Cow<'_, str> {
    let label = one_line(label);
    if label.is_empty() { format!("column_{}", column + 1).into() } else { label }
}

/// Text without control characters and without blanks around it.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.trim().to_string().into()
    } else {
        text.trim().into()
    }
}

/// Numbers that a text may become: a cell takes a byte at least, and a cell of a vector holds a few. Beyond that most cells are not
/// in the file but were made up for rows that are shorter than the labels.
pub(super) fn most_numbers(text: &str) -> usize {
    text.len().saturating_mul(16).saturating_add(1 << 20)
}

/// What is said when a table has more than [`most_numbers`].
pub(super) fn too_many_gaps(line: u32, columns: usize, log: &mut Diagnostics) {
    let message = format!("most of the {columns} columns are empty; the remaining rows were not read");
    log.error(line, "", message, ROW_HINT);
}

/// "column 3 (`hip`)".
pub(super) fn place(column: usize, label: &str) -> String {
    if label.is_empty() { format!("column {column}") } else { format!("column {column} (`{label}`)") }
}

/// Warns about labels that occur twice.
pub(super) fn check_labels(labels: &[String], line: u32, log: &mut Diagnostics) {
    let mut sorted: Vec<&str> = labels.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let mut twice: Vec<&str> = sorted.windows(2).filter(|p| p[0] == p[1]).map(|p| p[0]).collect();
    twice.dedup();
    for label in twice.into_iter().take(MOST_COMPLAINTS) {
        log.warn(line, "", format!("the label `{label}` occurs more than once"), FIRST_COUNTS);
    }
}

/// Warns at the first row whose time goes back, or repeats the one before if none does. `lines` holds the line of each row.
pub(super) fn check_times(times: &[f64], lines: &[u32], log: &mut Diagnostics) {
    let back = times.windows(2).position(|p| !(p[1] >= p[0]));
    if let Some(r) = back.or_else(|| times.windows(2).position(|p| p[1] == p[0])) {
        let message = format!("time {} s does not follow {} s", times[r + 1], times[r]);
        log.warn(lines.get(r + 1).copied().unwrap_or(0), "", message, OUT_OF_ORDER);
    }
}
