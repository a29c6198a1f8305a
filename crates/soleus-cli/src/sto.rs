//! Tables over time as OpenSim stores them, as far as `simulate` needs.

use crate::failure::Failure;
use std::fmt::Write;
use std::path::Path;

/// A table.
pub struct Table {
    /// Column labels after `time`.
    pub labels: Vec<String>,
    /// s.
    pub times: Vec<f64>,
    /// Values, row by row.
    pub rows: Vec<Vec<f64>>,
}

/// Reads a `.sto` or `.mot` file.
pub fn read(path: &Path) -> Result<Table, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::read(path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    let content = |message: String| Failure::Content { path: path.to_path_buf(), message };
    let mut lines = text.lines().enumerate();
    if !lines.by_ref().any(|(_, l)| l.trim().eq_ignore_ascii_case("endheader")) {
        return Err(content("there is no line `endheader`".to_string()));
    }
    let words = |l: &str| l.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let header = lines.by_ref().map(|(_, l)| words(l)).find(|w| !w.is_empty()).unwrap_or_default();
    if header.first().is_none_or(|w| w != "time") {
        return Err(content("the first column is not `time`".to_string()));
    }
    let mut table = Table { labels: header[1..].to_vec(), times: Vec::new(), rows: Vec::new() };
    for (i, line) in lines {
        let row = words(line);
        if row.is_empty() {
            continue;
        }
        let numbers: Vec<f64> = row.iter().filter_map(|w| w.parse().ok()).collect();
        if numbers.len() != header.len() {
            let (found, want) = (numbers.len(), header.len());
            return Err(content(format!("line {}: {found} numbers where {want} are due", i + 1)));
        }
        table.times.push(numbers[0]);
        table.rows.push(numbers[1..].to_vec());
    }
    Ok(table)
}

/// Writes a `.sto` file.
pub struct Writer(String);

impl Writer {
    /// Starts with the header.
    pub fn new<'a>(name: &str, labels: impl Iterator<Item = &'a str>, rows: usize) -> Self {
        let labels: Vec<&str> = labels.collect();
        let columns = labels.len() + 1;
        let mut text = format!(
            "{name}\ninDegrees=no\nnColumns={columns}\nnRows={rows}\nDataType=double\nversion=3\nendheader\ntime"
        );
        for l in labels {
            text += "\t";
            text += l;
        }
        text += "\n";
        Writer(text)
    }

    /// Adds a row, every number with all its digits.
    pub fn row(&mut self, t: f64, values: impl Iterator<Item = f64>) {
        // Writing into a string does not fail.
        let _ = write!(self.0, "{t}");
        for v in values {
            let _ = write!(self.0, "\t{v:?}");
        }
        self.0 += "\n";
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}
