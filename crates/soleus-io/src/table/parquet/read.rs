//! A file to a table.

use super::pages::{self, Chunk};
use super::thrift::{Value, read_struct};
use super::{ALWAYS, MAGIC, MOST_TIMES, ParquetError, physical};
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::Diagnostics;

/// Reads a file of numbers with a column `time`; columns of other types are named and left out.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    let mut log = Diagnostics::new(file);
    let table = read_columns(bytes, &mut log).unwrap_or_else(|e| {
        let hint = match &e {
            ParquetError::Unsupported { hint, .. } => hint,
            ParquetError::TooLarge { .. } => "write it again with fewer columns, or without compression",
            _ => "it may be truncated or a different kind of file; write it again",
        };
        log.error(0, "", format!("the file cannot be read as Parquet: {e}"), hint);
        None
    });
    (table, log)
}

/// A column of the schema.
struct Column {
    name: String,
    physical: i64,
    optional: bool,
    /// What it holds, if it is not read.
    other: Option<&'static str>,
}

fn read_columns(bytes: &[u8], log: &mut Diagnostics) -> Result<Option<Table>, ParquetError> {
    let metadata = metadata(bytes)?;
    let schema = columns(&metadata)?;
    let rows = metadata.int(3).and_then(|n| usize::try_from(n).ok());
    let rows = rows.ok_or(ParquetError::Damaged("the file does not give its number of rows"))?;
    let columns = schema.iter().filter(|c| c.other.is_none()).count();
    let size = rows.saturating_mul(columns).saturating_mul(8);
    if size > bytes.len().saturating_mul(MOST_TIMES).max(ALWAYS) {
        return Err(ParquetError::TooLarge { rows, columns, bytes: bytes.len() });
    }
    // Pages of different columns do not overlap.
    let mut budget = bytes.len();
    let (mut labels, mut values): (Vec<String>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    for (i, c) in schema.iter().enumerate() {
        if let Some(what) = c.other {
            log.warn(0, "", format!("column `{}` contains {what}, not numbers; ignored", c.name), "");
            continue;
        }
        let mut numbers = Vec::new();
        for group in metadata.list(4) {
            let (chunk, place) = chunk(group, i, c, rows - numbers.len())?;
            let pages = bytes
                .get(place..)
                .ok_or(ParquetError::Damaged("a column lies beyond the end of the file"))?;
            pages::read(&chunk, pages, &mut budget, &mut numbers)?;
        }
        labels.push(c.name.clone());
        values.push(numbers);
    }
    let Some(time) = labels.iter().position(|n| n.eq_ignore_ascii_case("time")) else {
        log.error(0, "", "no column is called `time`", "");
        return Ok(None);
    };
    labels.remove(time);
    let times = values.remove(time);
    let mut table = match Table::new(Element::Scalar, labels, times, values) {
        Ok(t) => t,
        Err(e) => {
            log.error(0, "", e.to_string(), "");
            return Ok(None);
        }
    };
    for pair in metadata.list(5) {
        let (Some(key), value) = (pair.text(1), pair.text(2).unwrap_or_default()) else { continue };
        match key.as_str() {
            "name" => table.name = value,
            "inDegrees" => table.in_degrees = Some(value == "yes"),
            // What other programs note down for themselves.
            "pandas" | "ARROW:schema" | "r" => {}
            _ => table.set_metadata(&key, value),
        }
    }
    Ok(Some(table))
}

/// The metadata at the end of the file.
fn metadata(bytes: &[u8]) -> Result<Value, ParquetError> {
    let inner = bytes.strip_prefix(MAGIC).and_then(|b| b.strip_suffix(MAGIC));
    let (before, length) = inner.and_then(|b| b.split_last_chunk::<4>()).ok_or(ParquetError::NotParquet)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let start = before.len().checked_sub(length);
    let start = start.ok_or(ParquetError::Damaged("the metadata are longer than the file"))?;
    read_struct(&before[start..]).map(|(value, _)| value)
}

/// The columns in the order in which groups of rows have them.
fn columns(metadata: &Value) -> Result<Vec<Column>, ParquetError> {
    let (root, elements) =
        metadata.list(2).split_first().ok_or(ParquetError::Damaged("the file has no schema"))?;
    let mut list = Vec::new();
    // Elements come depth first; what is left to come of each group that is open.
    let mut open = vec![root.int(5).unwrap_or(0)];
    for e in elements {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let nested = open.len() > 1;
        if let Some(children) = e.int(5).filter(|n| *n > 0) {
            open.push(children);
            continue;
        }
        let physical = e.int(1).unwrap_or(-1);
        let repetition = e.int(3).unwrap_or(0);
        let other = if nested || repetition == 2 {
            Some("lists or groups")
        } else if !is_number(e, physical) {
            Some("text, dates or similar")
        } else {
            None
        };
        let name = e.text(4).unwrap_or_default();
        list.push(Column { name, physical, optional: repetition == 1, other });
    }
    Ok(list)
}

/// Whether an element of the schema is a plain number: no date, time or decimal.
fn is_number(e: &Value, physical: i64) -> bool {
    // `INTEGER` of the logical types; converted types from UINT_8 to INT_64.
    let logical = e.field(10).is_none_or(|l| l.field(10).is_some());
    let converted = e.int(6).is_none_or(|c| (11..=18).contains(&c));
    let known = [physical::INT32, physical::INT64, physical::FLOAT, physical::DOUBLE].contains(&physical);
    known && logical && converted
}

/// Column `i` in a group of rows, and where its pages begin.
fn chunk(group: &Value, i: usize, c: &Column, left: usize) -> Result<(Chunk, usize), ParquetError> {
    let about = group.list(1).get(i).and_then(|c| c.field(3));
    let about = about.ok_or(ParquetError::Damaged("a row group lacks a column"))?;
    let number = |id| about.int(id).and_then(|n| usize::try_from(n).ok());
    let values = number(5).filter(|n| *n <= left);
    let values =
        values.ok_or(ParquetError::Damaged("a column declares more values than the file has rows"))?;
    let data = number(9).ok_or(ParquetError::Damaged("a column has no position in the file"))?;
    // A dictionary stands before the values; some writers give 0 where there is none.
    let place = number(11).filter(|d| *d > 0).map_or(data, |d| d.min(data));
    Ok((
        Chunk { physical: c.physical, codec: about.int(4).unwrap_or(0), values, optional: c.optional },
        place,
    ))
}
