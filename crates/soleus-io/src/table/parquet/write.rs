//! A table to a file.

use super::thrift::Writer;
use super::{MAGIC, encoding, page, physical};
use soleus_math::Table;

/// Rows of one page; eight megabytes of doubles.
const PAGE_ROWS: usize = 1 << 20;

/// A column of a file.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// A number in every row.
    Numbers(&'a [f64]),
    /// A number where there is one.
    Measured(&'a [Option<f64>]),
    /// Words in every row.
    Words(&'a [String]),
}

impl Column<'_> {
    /// How many rows it has.
    fn len(&self) -> usize {
        match self {
            Column::Numbers(list) => list.len(),
            Column::Measured(list) => list.len(),
            Column::Words(list) => list.len(),
        }
    }

    fn physical(&self) -> i64 {
        match self {
            Column::Words(_) => physical::BYTE_ARRAY,
            _ => physical::DOUBLE,
        }
    }

    /// Values of some rows.
    fn values(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        match self {
            Column::Numbers(list) => list[rows].iter().flat_map(|x| x.to_le_bytes()).collect(),
            Column::Measured(list) => {
                let list = &list[rows];
                let mut bytes = definition_levels(list);
                bytes.extend(list.iter().flatten().flat_map(|x| x.to_le_bytes()));
                bytes
            }
            Column::Words(list) => {
                let mut bytes = Vec::new();
                for word in &list[rows] {
                    bytes.extend((word.len() as u32).to_le_bytes());
                    bytes.extend(word.as_bytes());
                }
                bytes
            }
        }
    }
}

/// Which rows have a value, as runs: the length of all runs, then of each twice its rows as a varint, and 1 or 0.
fn definition_levels(list: &[Option<f64>]) -> Vec<u8> {
    let mut runs = Vec::new();
    for run in list.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let mut length = 2 * run.len();
        while length > 0x7f {
            runs.push(length as u8 | 0x80);
            length >>= 7;
        }
        runs.push(length as u8);
        runs.push(u8::from(run[0].is_some()));
    }
    let mut bytes = (runs.len() as u32).to_le_bytes().to_vec();
    bytes.extend(runs);
    bytes
}

/// The file of a table; vectors become columns of their components.
pub fn write(table: &Table) -> Vec<u8> {
    let flat = table.flattened();
    let labels = flat.labels().iter().map(String::as_str);
    let own = labels.zip(flat.columns()).map(|(name, c)| (name, Column::Numbers(c)));
    let columns: Vec<_> = std::iter::once(("time", Column::Numbers(flat.times()))).chain(own).collect();
    write_columns(&columns, &known(&flat))
}

/// The file of named columns of one length, with words about the whole.
///
/// # Panics
/// Panics if columns have different lengths.
pub fn write_columns(columns: &[(&str, Column)], about: &[(&str, &str)]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |(_, c)| c.len());
    let mut bytes = MAGIC.to_vec();
    // Begin and end of each column.
    let mut places = Vec::with_capacity(columns.len());
    for (name, column) in columns {
        assert_eq!(column.len(), rows, "rows of {name}");
        let start = bytes.len();
        for first in (0..rows).step_by(PAGE_ROWS) {
            let range = first..rows.min(first + PAGE_ROWS);
            let values = column.values(range.clone());
            bytes.extend(page_header(range.len(), values.len()));
            bytes.extend(values);
        }
        places.push((start as i64, bytes.len() as i64));
    }

    let metadata = metadata(columns, about, rows as i64, &places);
    bytes.extend_from_slice(&metadata);
    bytes.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
    bytes.extend_from_slice(MAGIC);
    bytes
}

/// `PageHeader` with a `DataPageHeader`.
fn page_header(rows: usize, size: usize) -> Vec<u8> {
    let mut w = Writer::default();
    w.open();
    w.i32(1, page::DATA as i32);
    w.i32(2, size as i32); // uncompressed_page_size
    w.i32(3, size as i32); // compressed_page_size
    w.open_field(5);
    w.i32(1, rows as i32);
    w.i32(2, encoding::PLAIN as i32);
    w.i32(3, encoding::RLE as i32); // of definition levels, which required columns do not have
    w.i32(4, encoding::RLE as i32); // of repetition levels
    w.close();
    w.close();
    w.bytes
}

/// `FileMetaData`.
fn metadata(columns: &[(&str, Column)], about: &[(&str, &str)], rows: i64, places: &[(i64, i64)]) -> Vec<u8> {
    let mut w = Writer::default();
    w.open();
    w.i32(1, 1);
    // The root, then the columns.
    w.structs(2, columns.len() + 1);
    w.open();
    w.text(4, "table");
    w.i32(5, columns.len() as i32);
    w.close();
    for (name, column) in columns {
        w.open();
        w.i32(1, column.physical() as i32);
        w.i32(3, i32::from(matches!(column, Column::Measured(_)))); // optional or required
        w.text(4, name);
        if matches!(column, Column::Words(_)) {
            w.i32(6, 0); // UTF-8
        }
        w.close();
    }
    w.i64(3, rows);
    // One group of rows, or none.
    w.structs(4, usize::from(rows > 0));
    if rows > 0 {
        w.open();
        w.structs(1, columns.len());
        for ((name, column), (start, end)) in columns.iter().zip(places) {
            w.open();
            w.i64(2, *start);
            w.open_field(3);
            w.i32(1, column.physical() as i32);
            w.one_i32(2, encoding::PLAIN as i32);
            w.one_text(3, name);
            w.i32(4, 0); // no compression
            w.i64(5, rows);
            w.i64(6, end - start);
            w.i64(7, end - start);
            w.i64(9, *start);
            w.close();
            w.close();
        }
        w.i64(2, places.iter().map(|(start, end)| end - start).sum());
        w.i64(3, rows);
        w.close();
    }
    w.structs(5, about.len());
    for (key, value) in about {
        w.open();
        w.text(1, key);
        w.text(2, value);
        w.close();
    }
    w.text(6, concat!("soleus ", env!("CARGO_PKG_VERSION")));
    w.close();
    w.bytes
}

/// What the header of a table says.
fn known(table: &Table) -> Vec<(&str, &str)> {
    let mut list = vec![("name", table.name.as_str())];
    if let Some(degrees) = table.in_degrees {
        list.push(("inDegrees", if degrees { "yes" } else { "no" }));
    }
    list.extend(table.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    list
}
