//! A table to a file.

use super::thrift::Writer;
use super::{MAGIC, encoding, page, physical};
use soleus_math::Table;

/// Rows of one page; eight megabytes of doubles.
const PAGE_ROWS: usize = 1 << 20;

/// The file; vectors become columns of their components.
pub fn write(table: &Table) -> Vec<u8> {
    let flat = table.flattened();
    let names: Vec<&str> = std::iter::once("time").chain(flat.labels().iter().map(String::as_str)).collect();
    let rows = flat.rows();
    let mut bytes = MAGIC.to_vec();
    // Begin and end of each column.
    let mut places = Vec::with_capacity(names.len());
    for values in std::iter::once(flat.times()).chain(flat.columns().iter().map(Vec::as_slice)) {
        let start = bytes.len();
        for part in values.chunks(PAGE_ROWS) {
            bytes.extend(page_header(part.len()));
            bytes.extend(part.iter().flat_map(|x| x.to_le_bytes()));
        }
        places.push((start as i64, bytes.len() as i64));
    }

    let metadata = metadata(&flat, &names, rows as i64, &places);
    bytes.extend_from_slice(&metadata);
    bytes.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
    bytes.extend_from_slice(MAGIC);
    bytes
}

/// `PageHeader` with a `DataPageHeader`.
fn page_header(rows: usize) -> Vec<u8> {
    let mut w = Writer::default();
    w.open();
    w.i32(1, page::DATA as i32);
    w.i32(2, 8 * rows as i32); // uncompressed_page_size
    w.i32(3, 8 * rows as i32); // compressed_page_size
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
fn metadata(table: &Table, names: &[&str], rows: i64, places: &[(i64, i64)]) -> Vec<u8> {
    let mut w = Writer::default();
    w.open();
    w.i32(1, 1);
    // The root, then the columns.
    w.structs(2, names.len() + 1);
    w.open();
    w.text(4, "table");
    w.i32(5, names.len() as i32);
    w.close();
    for name in names {
        w.open();
        w.i32(1, physical::DOUBLE as i32);
        w.i32(3, 0); // required
        w.text(4, name);
        w.close();
    }
    w.i64(3, rows);
    // One group of rows, or none.
    w.structs(4, usize::from(rows > 0));
    if rows > 0 {
        w.open();
        w.structs(1, names.len());
        for (name, (start, end)) in names.iter().zip(places) {
            w.open();
            w.i64(2, *start);
            w.open_field(3);
            w.i32(1, physical::DOUBLE as i32);
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
    let known = known(table);
    w.structs(5, known.len());
    for (key, value) in &known {
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
