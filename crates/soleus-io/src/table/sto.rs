//! OpenSim's `.sto` and `.mot`.
//!
//! ```text
//! Coordinates            name
//! version=1              1: Storage; 2, 3: tables with a DataType; none: SIMM and OpenSim 1
//! nRows=73
//! nColumns=24            time counts
//! inDegrees=yes
//! endheader
//! time <tab> pelvis_tilt <tab> …
//! ```

use super::Format;
use super::delimited::{self, is_free_text, is_kept_apart, is_simm_key};
use super::number::{push_fixed, push_general, push_shortest};
use super::text::{Separator, one_line, written_label};
use soleus_math::table::{Element, Table};
use soleus_model::Diagnostics;
use std::fmt::Write as _;

/// Number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// 8 decimals in 16 columns, exactly as OpenSim's tools write; small numbers lose digits.
    Fixed8,
    /// As many digits as needed to read back the same number.
    Shortest,
}

/// Reads a `.sto` or `.mot` file of any version. In a `.mot` without a version line angles are in degrees, unless the
/// header specifies radians.
///
/// Cells are separated by tabs or blanks; an empty or unreadable cell becomes NaN with a diagnostic. All rows are read,
/// regardless of the number in the header.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    delimited::read(bytes, file, Separator::Blank, Format::of(file) == Some(Format::Mot), "time")
}

/// The table as text. Scalars are written as version 1, which every OpenSim reads; vectors need version 3
/// (`DataType=Vec3`, components separated by commas, 16 digits).
pub fn write(table: &Table, digits: Digits) -> String {
    match table.element() {
        Element::Scalar => write_storage(table, digits),
        _ => write_typed(table),
    }
}

/// Version 1. Where the table does not say, angles are in radians.
fn write_storage(table: &Table, digits: Digits) -> String {
    // Most numbers take up to twenty places. Writing to a `String` cannot fail, so the results are dropped.
    let mut s = String::with_capacity(1024 + 20 * (table.columns().len() + 1) * (table.rows() + 1));
    let in_degrees = if table.in_degrees == Some(true) { "yes" } else { "no" };
    let _ = write!(
        s,
        "{}\nversion=1\nnRows={}\nnColumns={}\ninDegrees={in_degrees}\n",
        written_name(&table.name),
        table.rows(),
        table.columns().len() + 1
    );
    push_metadata(&mut s, table);
    push_description(&mut s, table);
    push_labels(&mut s, table);
    let push = match digits {
        Digits::Fixed8 => push_fixed,
        Digits::Shortest => push_shortest,
    };
    for (r, &t) in table.times().iter().enumerate() {
        push(&mut s, t);
        for c in table.columns() {
            s.push('\t');
            push(&mut s, c[r]);
        }
        s.push('\n');
    }
    s
}

/// Version 3, always `DataType` and 16 digits.
pub fn write_typed(table: &Table) -> String {
    let mut s = String::new();
    if !table.name.is_empty() {
        s.push_str(&written_name(&table.name));
        s.push('\n');
    }
    push_metadata(&mut s, table);
    if let Some(degrees) = table.in_degrees {
        s.push_str(if degrees { "inDegrees=yes\n" } else { "inDegrees=no\n" });
    }
    let _ = writeln!(s, "DataType={}\nversion=3", table.element().name());
    push_description(&mut s, table);
    push_labels(&mut s, table);
    let n = table.element().components();
    for (r, &t) in table.times().iter().enumerate() {
        push_general(&mut s, t);
        for (c, column) in table.columns().iter().enumerate() {
            s.push(if c % n == 0 { '\t' } else { ',' });
            push_general(&mut s, column[r]);
        }
        s.push('\n');
    }
    s
}

fn push_metadata(s: &mut String, table: &Table) {
    for (key, value) in &table.metadata {
        let between = if is_simm_key(key) { ' ' } else { '=' };
        // A key is one word; those that say how the file is to be read are written from the table.
        let key: String =
            one_line(key).chars().map(|c| if c.is_whitespace() || c == '=' { '_' } else { c }).collect();
        if !key.is_empty() && !is_kept_apart(&key) {
            let _ = writeln!(s, "{key}{between}{}", one_line(value));
        }
    }
}

/// The name on the first line; with its key where it would be taken for something else.
fn written_name(name: &str) -> std::borrow::Cow<'_, str> {
    let name = one_line(name);
    if name.is_empty() || is_free_text(&name) && !name.starts_with('#') {
        name
    } else {
        format!("name={name}").into()
    }
}

fn push_description(s: &mut String, table: &Table) {
    // Free text, line by line; a line that would be taken for a key or the end of the header becomes a comment.
    for line in table.description.lines() {
        let line: String = line.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
        let is_free = line.trim().is_empty() || is_free_text(line.trim()) || is_simm_line(&line, table);
        s.push_str(if is_free { "" } else { "# " });
        s.push_str(&line);
        s.push('\n');
    }
    s.push_str("endheader\n");
}

/// Whether a line of the header that SIMM reads says what is true of the table: no reader is misled by it.
fn is_simm_line(line: &str, table: &Table) -> bool {
    let (rows, columns) = (table.rows(), table.columns().len() + 1);
    let ends = [table.times().first(), table.times().last()].map(|t| t.copied().unwrap_or(0.0));
    [
        format!("name {}", table.name),
        format!("datacolumns {columns}"),
        format!("datarows {rows}"),
        "otherdata 1".to_string(),
        format!("range {:.6} {:.6}", ends[0], ends[1]),
    ]
    .iter()
    .any(|l| l == line)
}

fn push_labels(s: &mut String, table: &Table) {
    s.push_str("time");
    for (i, l) in table.labels().iter().enumerate() {
        s.push('\t');
        s.push_str(&written_label(l, i + 1));
    }
    s.push('\n');
}
