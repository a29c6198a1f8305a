//! Header, labels and rows: the common format of `.sto`, `.mot` and `.csv`.

use super::number::{plain, short};
use super::text::{
    MOST_COMPLAINTS, Numbers, ROW_HINT, Separator, check_labels, check_times, decode, line_number, lines,
    most_numbers, place, too_many_gaps,
};
use soleus_math::table::{Element, Table};
use soleus_model::Diagnostics;

/// Keys of SIMM motion files, which stand without `=` before their value.
const SIMM_KEYS: [&str; 10] = [
    "range",
    "Range",
    "wrap",
    "Wrap",
    "WRAP",
    "event",
    "enforce_loops",
    "enforce_constraints",
    "calc_derivatives",
    "otherdata",
];

/// What a header says.
#[derive(Default)]
struct Header {
    name: String,
    description: String,
    metadata: Vec<(String, String)>,
    /// 0 where there is no version line.
    version: u32,
    in_degrees: Option<bool>,
    rows: Option<usize>,
    columns: Option<usize>,
    element: Option<Element>,
}

/// Reads a table whose rows are numbered by the column `key`, usually `time`. `is_mot`: without a version, angles are in degrees.
pub(super) fn read(
    bytes: &[u8],
    file: &str,
    separator: Separator,
    is_mot: bool,
    key: &str,
) -> (Option<Table>, Diagnostics) {
    let mut log = Diagnostics::new(file);
    let text = decode(bytes, &mut log);
    let lines = lines(&text);

    // The header ends at its last line, or where the labels begin.
    let end = lines.iter().position(|l| l.trim().eq_ignore_ascii_case("endheader"));
    let (header_lines, first) = match end {
        Some(i) => (&lines[..i], i + 1),
        None => match lines.iter().position(|l| begins_with(l, separator, key)) {
            Some(i) => (&lines[..i], i),
            None => {
                let hint =
                    format!("a table has a line `endheader`, or a line of labels that begins with `{key}`");
                log.error(0, "", "no `endheader` and no column labels were found", &hint);
                return (None, log);
            }
        },
    };
    let header = Header::read(header_lines, &mut log);
    let Some(at) = (first..lines.len()).find(|&i| !lines[i].trim().is_empty()) else {
        let hint =
            format!("the next line should have `{key}` and the column names; the file may be truncated");
        log.error(
            line_number(lines.len().saturating_sub(1)),
            "",
            "no column labels follow the header",
            &hint,
        );
        return (None, log);
    };
    let separator = match separator {
        Separator::Char(',') if outside_quotes(lines[at], ';') > outside_quotes(lines[at], ',') => {
            Separator::Char(';')
        }
        s => s,
    };
    let mut cells = Vec::new();
    let mut all_labels = separator.split_labels(lines[at], header.columns);
    if let Some(promised) = header.columns.filter(|&n| n != all_labels.len()) {
        let found = all_labels.len();
        let message = format!("the header declares {promised} columns, but there are {found} labels");
        // OpenSim's ForwardTool leaves out labels of controls; their columns are kept under a number.
        let row = lines[at + 1..].iter().find(|l| !is_skipped(l));
        separator.split_row(row.unwrap_or(&""), promised, &mut cells);
        let hint = if promised > found && cells.len() == promised {
            all_labels.extend((found..promised).map(|c| format!("column_{}", c + 1)));
            "columns without a label were named `column_` plus their number"
        } else {
            ""
        };
        log.warn(line_number(at), "", message, hint);
    }
    let time = all_labels.iter().position(|l| l.eq_ignore_ascii_case(key));
    let range = header.metadata.iter().find(|(k, _)| k.eq_ignore_ascii_case("range")).map(|(_, v)| v.clone());
    if time.is_none() && range.is_none() {
        let found = all_labels.first().map_or("", String::as_str);
        log.error(line_number(at), "", format!("no column is called `{key}`; the first is `{found}`"), "");
        return (None, log);
    }
    let labels: Vec<String> =
        all_labels.iter().enumerate().filter(|&(i, _)| Some(i) != time).map(|(_, l)| l.clone()).collect();
    check_labels(&labels, line_number(at), &mut log);

    // Rows.
    let element = header.element.unwrap_or(Element::Scalar);
    let n = element.components();
    let (mut times, mut row_lines) = (Vec::new(), Vec::new());
    // A single row takes a byte for each number; labels alone may not ask for many.
    if labels.len().saturating_mul(n) > text.len().saturating_add(1 << 20) {
        let message = format!("{} labels of {n} numbers do not fit in the file", labels.len());
        log.error(line_number(at), "", message, "");
        return (None, log);
    }
    let mut columns = vec![Vec::new(); labels.len() * n];
    // As many rows as there are lines, whatever the header promises, and no more cells than bytes.
    let most = (lines.len() - at - 1).min(text.len() / columns.len().max(1));
    columns.iter_mut().for_each(|c: &mut Vec<f64>| c.reserve_exact(most));
    let limit = most_numbers(&text);
    let mut numbers = Numbers::new();
    let mut unfit = 0;
    let width = all_labels.len();
    let mut block = Block { width, time, cells: Vec::with_capacity(width * Block::ROWS) };
    for (i, line) in lines.iter().enumerate().skip(at + 1) {
        if is_skipped(line) {
            continue;
        }
        let number = line_number(i);
        // Most rows are numbers between blanks, as many as there are labels.
        if n == 1 && separator == Separator::Blank && block.read_row(line) {
            row_lines.push(number);
            if block.is_full() {
                block.flush(&mut times, &mut columns);
            }
            continue;
        }
        block.flush(&mut times, &mut columns);
        if (row_lines.len() + 1).saturating_mul(columns.len()) > limit {
            too_many_gaps(number, columns.len(), &mut log);
            break;
        }
        separator.split_row(line, all_labels.len(), &mut cells);
        if cells.len() != all_labels.len() {
            unfit += 1;
            if unfit <= MOST_COMPLAINTS {
                let message =
                    format!("the row has {} cells, but there are {} labels", cells.len(), all_labels.len());
                log.error(number, "", message, ROW_HINT);
            }
        }
        row_lines.push(number);
        let mut column = 0;
        for (c, label) in all_labels.iter().enumerate() {
            let cell = cells.get(c).copied().unwrap_or("");
            if Some(c) == time {
                times.push(numbers.read(cell, number, c + 1, "time", &mut log));
            } else {
                let mine = &mut columns[column..column + n];
                read_element(cell, number, c + 1, label, mine, &mut numbers, &mut log);
                column += n;
            }
        }
    }
    block.flush(&mut times, &mut columns);
    numbers.finish(&mut log);
    if unfit > MOST_COMPLAINTS {
        log.error(0, "", format!("{} more rows do not match the labels", unfit - MOST_COMPLAINTS), "");
    }
    if numbers.missing > 0 {
        let (line, column) = numbers.first_missing;
        let message = format!("{} empty cell(s) were read as missing (NaN)", numbers.missing);
        log.warn(line, &place(column, ""), message, "");
    }
    if header.rows.is_some_and(|rows| rows != row_lines.len()) {
        let message =
            format!("the header declares {} rows, found {}", header.rows.unwrap_or(0), row_lines.len());
        log.warn(0, "", message, &format!("all {} rows were read", row_lines.len()));
    }
    // SIMM motions without a time column spread their rows over a range.
    if let (None, Some(range)) = (time, range) {
        times = spread(&range, row_lines.len());
    }
    merge_repeated(&mut times, &mut columns, &mut row_lines, &mut log);
    check_times(&times, &row_lines, &mut log);

    match Table::new(element, labels, times, columns) {
        Ok(mut table) => {
            table.in_degrees = match (header.in_degrees, header.version) {
                (None, 0) if is_mot => Some(true),
                (said, _) => said,
            };
            if header.in_degrees == Some(false) && header.version == 0 && is_mot {
                let hint = "add `version=1` to the header";
                log.warn(
                    0,
                    "",
                    "the header says radians, but OpenSim reads a .mot without version in degrees",
                    hint,
                );
            }
            table.name = header.name;
            table.description = header.description;
            table.metadata = header.metadata;
            (Some(table), log)
        }
        Err(e) => {
            log.error(0, "", e.to_string(), "");
            (None, log)
        }
    }
}

/// Rows of numbers that go to their columns together: many columns that grow one number at a time cost more than reading it.
struct Block {
    /// Cells of a row.
    width: usize,
    /// Which of them is the time.
    time: Option<usize>,
    /// Row by row.
    cells: Vec<f64>,
}

impl Block {
    /// Rows to collect.
    const ROWS: usize = 32;

    fn is_full(&self) -> bool {
        self.cells.len() >= self.width * Block::ROWS
    }

    /// Appends a row of numbers between blanks and tabs; false, and nothing, where a cell is none or there are more or fewer
    /// than the columns need.
    fn read_row(&mut self, line: &str) -> bool {
        let before = self.cells.len();
        let fits = plain_row(line, &mut self.cells) && self.cells.len() - before == self.width;
        if !fits {
            self.cells.truncate(before);
        }
        fits
    }

    /// Gives the rows to times and columns.
    fn flush(&mut self, times: &mut Vec<f64>, columns: &mut [Vec<f64>]) {
        // A line of labels may be nothing but separators.
        let rows = self.cells.chunks_exact(self.width.max(1));
        let mut columns = columns.iter_mut();
        for c in 0..self.width {
            let column = if Some(c) == self.time { Some(&mut *times) } else { columns.next() };
            if let Some(column) = column {
                column.extend(rows.clone().map(|row| row[c]));
            }
        }
        self.cells.clear();
    }
}

/// Appends the numbers of a row between blanks and tabs; false where a cell is none.
fn plain_row(line: &str, row: &mut Vec<f64>) -> bool {
    let mut rest = line.as_bytes();
    while let Some(first) = rest.first() {
        if matches!(first, b' ' | b'\t') {
            rest = &rest[1..];
            continue;
        }
        let (x, length) = match short(rest).or_else(|| plain(rest)) {
            Some(found) => found,
            // Many digits, NaN and infinity.
            None => {
                let end = rest.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(rest.len());
                match std::str::from_utf8(&rest[..end]).ok().and_then(|cell| cell.parse().ok()) {
                    Some(x) => (x, end),
                    None => return false,
                }
            }
        };
        row.push(x);
        rest = &rest[length..];
    }
    true
}

/// The components of one cell, pushed to their columns.
fn read_element(
    cell: &str,
    line: u32,
    column: usize,
    label: &str,
    columns: &mut [Vec<f64>],
    numbers: &mut Numbers,
    log: &mut Diagnostics,
) {
    if let [one] = columns {
        one.push(numbers.read(cell, line, column, label, log));
        return;
    }
    // Vectors are written `1,2,3`, at times `~[1,2,3]`.
    let inner = cell.trim_start_matches(['~', '[', '(']).trim_end_matches([']', ')']);
    let given = if inner.is_empty() { 0 } else { inner.split(',').count() };
    if given != columns.len() && given != 0 {
        let message = format!("the cell has {given} numbers; expected {}", columns.len());
        log.error(line, &place(column, label), message, "");
    }
    let mut parts = inner.split(',');
    for c in columns.iter_mut() {
        let part = parts.next().unwrap_or("");
        c.push(numbers.read(part, line, column, label, log));
    }
}

/// Of rows with the same time, which integrators write where they stop and go on, the later one counts, as in OpenSim.
fn merge_repeated(
    times: &mut Vec<f64>,
    columns: &mut [Vec<f64>],
    lines: &mut Vec<u32>,
    log: &mut Diagnostics,
) {
    let n = times.len();
    let keep: Vec<bool> = (0..n).map(|r| r + 1 == n || times[r] != times[r + 1]).collect();
    let Some(first) = keep.iter().position(|k| !k) else { return };
    let message =
        format!("{} row(s) repeat the time of the row before", keep.iter().filter(|k| !**k).count());
    log.warn(lines[first + 1], "", message, "the later one was used");
    let mut retain = |v: &mut Vec<f64>| {
        let mut kept = keep.iter();
        v.retain(|_| kept.next().copied().unwrap_or(true));
    };
    retain(times);
    columns.iter_mut().for_each(&mut retain);
    let mut kept = keep.iter();
    lines.retain(|_| kept.next().copied().unwrap_or(true));
}

/// `rows` times from the two numbers of a `range` line.
fn spread(range: &str, rows: usize) -> Vec<f64> {
    let mut ends = range.split_whitespace().map(|x| x.parse::<f64>().unwrap_or(f64::NAN));
    let (start, end) = (ends.next().unwrap_or(f64::NAN), ends.next().unwrap_or(f64::NAN));
    let steps = rows.saturating_sub(1).max(1) as f64;
    (0..rows).map(|r| start + (end - start) * r as f64 / steps).collect()
}

/// How often a character occurs outside double quotes.
fn outside_quotes(line: &str, wanted: char) -> usize {
    line.split('"').step_by(2).map(|part| part.matches(wanted).count()).sum()
}

/// Blank lines and comments.
fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// Whether a line looks like labels.
fn begins_with(line: &str, separator: Separator, key: &str) -> bool {
    let first = line.split(|c: char| match separator {
        Separator::Blank => c == '\t' || c == ' ',
        Separator::Char(s) => c == s || c == ';',
    });
    first
        .map(|c| c.trim().trim_matches('"'))
        .find(|c| !c.is_empty())
        .is_some_and(|c| c.eq_ignore_ascii_case(key))
}

impl Header {
    fn read(lines: &[&str], log: &mut Diagnostics) -> Header {
        let mut h = Header::default();
        let mut seen_first = false;
        let mut seen_key = false;
        for (i, line) in lines.iter().enumerate() {
            let text = line.trim();
            let known = !text.is_empty() && h.read_key(text, line_number(i), log);
            if known {
                seen_key = true;
            } else if !seen_first && !text.is_empty() && !text.starts_with('#') {
                h.name = text.to_string();
            } else if seen_key || seen_first {
                // Free text is kept as it stands, blank lines too.
                h.description.push_str(line);
                h.description.push('\n');
            }
            seen_first |= !text.is_empty();
        }
        h
    }

    /// Takes a line `key=value` or `key value`; false if it is neither.
    fn read_key(&mut self, text: &str, line: u32, log: &mut Diagnostics) -> bool {
        let key = text.split([' ', '\t', '=']).next().unwrap_or("");
        let value = text[key.len()..].trim_start_matches([' ', '\t', '=']).trim_end();
        let has_equals = text[key.len()..].trim_start().starts_with('=');
        match key {
            "name" => self.name = value.to_string(),
            "nr" | "nRows" | "datarows" => self.rows = count(value),
            "nc" | "nColumns" | "datacolumns" => self.columns = count(value),
            "version" => self.version = value.parse().unwrap_or(0),
            "OpenSimVersion" => {}
            "inDegrees" => {
                self.in_degrees = Some(matches!(value.to_ascii_lowercase().as_str(), "yes" | "y" | "true"));
            }
            "DataType" => {
                self.element = Element::from_name(value);
                if self.element.is_none() {
                    let hint = "known types are double, Vec2 to Vec99, UnitVec3, Quaternion and SpatialVec";
                    log.error(line, "", format!("`{value}` is not a data type"), hint);
                }
            }
            "Angles" if self.version == 0 && text == "Angles are in degrees." => {
                self.in_degrees = Some(true);
                return false;
            }
            "Angles" if self.version == 0 && text == "Angles are in radians." => {
                self.in_degrees = Some(false);
                return false;
            }
            _ if !key.is_empty() && (has_equals || SIMM_KEYS.contains(&key)) => {
                self.metadata.push((key.to_string(), value.to_string()));
            }
            _ => return false,
        }
        true
    }
}

/// A count as C's `atoi` would take it: the digits in front.
fn count(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
    digits.parse().ok()
}

/// Whether a line of a header is neither a key with a value nor the end of the header.
pub(super) fn is_free_text(line: &str) -> bool {
    let mut log = Diagnostics::default();
    !line.eq_ignore_ascii_case("endheader") && !Header::default().read_key(line, 0, &mut log)
}

/// Whether a key says how the file is to be read, or has a place of its own in a [`Table`].
pub(super) fn is_kept_apart(key: &str) -> bool {
    const KEYS: [&str; 12] = [
        "name",
        "nr",
        "nRows",
        "datarows",
        "nc",
        "nColumns",
        "datacolumns",
        "version",
        "OpenSimVersion",
        "inDegrees",
        "DataType",
        "endheader",
    ];
    key.starts_with('#') || KEYS.iter().any(|k| k.eq_ignore_ascii_case(key))
}

/// Whether a key of the header is written without `=`.
pub(super) fn is_simm_key(key: &str) -> bool {
    SIMM_KEYS.contains(&key)
}
