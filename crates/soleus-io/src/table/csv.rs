//! Comma-separated values: a line of labels that starts with `time`, then rows.

use super::delimited;
use super::number::push_shortest;
use super::text::{Separator, written_label};
use soleus_math::Table;
use soleus_model::Diagnostics;

/// Reads a `.csv` file: commas or semicolons, with or without OpenSim's header, labels quoted or not.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    delimited::read(bytes, file, Separator::Char(','), false, "time")
}

/// Reads curves over the gait cycle: the column `percent` takes the place of time.
pub fn read_over_cycle(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    delimited::read(bytes, file, Separator::Char(','), false, "percent")
}

/// Where the numbers of a file come from: a line `# source: …` before the labels.
pub fn source(bytes: &[u8]) -> Option<String> {
    comments(bytes).0.iter().find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let (key, text) = line.trim_start_matches(['#', ' ']).split_once(':')?;
        let is_source = key.trim().eq_ignore_ascii_case("source") && !text.trim().is_empty();
        is_source.then(|| text.trim().to_string())
    })
}

/// Lines that begin with `#` at the start of a file, and what follows them.
fn comments(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = Vec::new();
    while rest.first() == Some(&b'#') {
        let end = rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |i| i + 1);
        lines.push(rest[..end].trim_ascii());
        rest = &rest[end..];
    }
    (lines, rest)
}

/// Whether a file has curves over the gait cycle: its first line with labels begins with `percent`.
pub fn is_over_cycle(bytes: &[u8]) -> bool {
    let text = comments(bytes).1;
    let label = text.trim_ascii_start().split(|b| b",;\r\n".contains(b)).next().unwrap_or_default();
    label
        .trim_ascii()
        .strip_prefix(b"\"")
        .map_or(label.trim_ascii(), |l| l.strip_suffix(b"\"").unwrap_or(l))
        .eq_ignore_ascii_case(b"percent")
}

/// The table as labels and rows, without a header, so that any program can read it. Vectors become columns `a_1`,
/// `a_2`, …; missing values are empty.
pub fn write(table: &Table) -> String {
    let table = table.flattened();
    let mut s = String::from("time");
    for (i, l) in table.labels().iter().enumerate() {
        let l = l.replace('"', " ");
        let l = written_label(&l, i + 1);
        s.push(',');
        if l.contains([',', ';']) {
            s.push('"');
            s.push_str(&l);
            s.push('"');
        } else {
            s.push_str(&l);
        }
    }
    s.push('\n');
    for (r, &t) in table.times().iter().enumerate() {
        push_shortest(&mut s, t);
        for c in table.columns() {
            s.push(',');
            if !c[r].is_nan() {
                push_shortest(&mut s, c[r]);
            }
        }
        s.push('\n');
    }
    s
}
