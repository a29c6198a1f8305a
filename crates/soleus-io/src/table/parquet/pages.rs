//! The pages of a column to numbers.

use super::thrift::{Value, read_struct};
use super::{ParquetError, encoding, levels, page, physical, snappy};

const CUT: ParquetError = ParquetError::Damaged("a page is cut off");

/// A column in one group of rows.
pub struct Chunk {
    /// Physical type.
    pub physical: i64,
    /// How its pages are packed.
    pub codec: i64,
    /// Number of values, gaps included.
    pub values: usize,
    /// Whether values may be missing.
    pub optional: bool,
}

/// Appends the numbers of a column chunk, whose pages begin with `bytes`; a gap is NaN.
pub fn read(chunk: &Chunk, bytes: &[u8], numbers: &mut Vec<f64>) -> Result<(), ParquetError> {
    let wanted = numbers.len() + chunk.values;
    let mut rest = bytes;
    let mut dictionary = Vec::new();
    while numbers.len() < wanted {
        let (header, length) = read_struct(rest)?;
        let size = header.int(3).and_then(|n| usize::try_from(n).ok()).ok_or(CUT)?;
        let (body, after) = rest[length..].split_at_checked(size).ok_or(CUT)?;
        rest = after;
        match header.int(1) {
            Some(page::DICTIONARY) => {
                let values = unpack(chunk.codec, body)?;
                let count = header.field(7).and_then(|h| h.int(1)).unwrap_or(0);
                dictionary = plain(chunk.physical, &values, usize::try_from(count).unwrap_or(0))?;
            }
            Some(page::DATA) => {
                let about = header.field(5).ok_or(CUT)?;
                let (count, values) = (count(about, wanted - numbers.len())?, unpack(chunk.codec, body)?);
                let mut values = values.as_slice();
                // Levels of a page of the first version begin with their length.
                let mut given = None;
                if chunk.optional {
                    let (size, after) = values.split_first_chunk::<4>().ok_or(CUT)?;
                    let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
                    let (bits, after) = after.split_at_checked(size).ok_or(CUT)?;
                    given = Some(levels::read(bits, 1, count)?);
                    values = after;
                }
                let kind = about.int(2).unwrap_or(encoding::PLAIN);
                push(chunk, kind, values, &dictionary, count, given.as_deref(), numbers)?;
            }
            Some(page::DATA_V2) => {
                let about = header.field(8).ok_or(CUT)?;
                let count = count(about, wanted - numbers.len())?;
                // Levels stand before the values, and are never packed.
                let size = |id| usize::try_from(about.int(id).unwrap_or(0)).unwrap_or(usize::MAX);
                let (_, after) = body.split_at_checked(size(6)).ok_or(CUT)?;
                let (bits, values) = after.split_at_checked(size(5)).ok_or(CUT)?;
                let given = chunk.optional.then(|| levels::read(bits, 1, count)).transpose()?;
                let packed = about.field(7) != Some(&Value::Bool(false));
                let values = if packed { unpack(chunk.codec, values)? } else { values.to_vec() };
                let kind = about.int(4).unwrap_or(encoding::PLAIN);
                push(chunk, kind, &values, &dictionary, count, given.as_deref(), numbers)?;
            }
            // Pages that only help to find others.
            _ => {}
        }
    }
    Ok(())
}

/// Number of values of a page, no more than are left.
fn count(about: &Value, left: usize) -> Result<usize, ParquetError> {
    let count = about.int(1).and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= left);
    count.ok_or(ParquetError::Damaged("a page claims more values than its column"))
}

fn unpack(codec: i64, bytes: &[u8]) -> Result<Vec<u8>, ParquetError> {
    let name = match codec {
        0 => return Ok(bytes.to_vec()),
        1 => return snappy::unpack(bytes),
        2 => "gzip",
        4 => "Brotli",
        5 | 7 => "LZ4",
        6 => "Zstandard",
        _ => "an unknown program",
    };
    let hint = "write the file without compression, or with Snappy's";
    Err(ParquetError::Unsupported { what: format!("columns that {name} packed"), hint })
}

/// Appends the values of a page; `given` says where there is one.
fn push(
    chunk: &Chunk,
    kind: i64,
    bytes: &[u8],
    dictionary: &[f64],
    count: usize,
    given: Option<&[u32]>,
    numbers: &mut Vec<f64>,
) -> Result<(), ParquetError> {
    let present = given.map_or(count, |g| g.iter().filter(|l| **l == 1).count());
    let values = match kind {
        encoding::PLAIN => plain(chunk.physical, bytes, present)?,
        encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY => {
            let places = match bytes.split_first() {
                Some((width, places)) => levels::read(places, u32::from(*width), present)?,
                None if present == 0 => Vec::new(),
                None => return Err(CUT),
            };
            let value = |k: &u32| dictionary.get(*k as usize).copied();
            let values: Option<Vec<f64>> = places.iter().map(value).collect();
            values.ok_or(ParquetError::Damaged("a page names a place beyond its dictionary"))?
        }
        encoding::BYTE_STREAM_SPLIT => {
            // First bytes of all values, then second bytes, …
            let width = size_of_value(chunk.physical);
            if bytes.len() < width * present {
                return Err(CUT);
            }
            let together: Vec<u8> =
                (0..present).flat_map(|k| (0..width).map(move |b| bytes[b * present + k])).collect();
            plain(chunk.physical, &together, present)?
        }
        _ => {
            let hint = "write the file with plain or dictionary encoding";
            return Err(ParquetError::Unsupported { what: format!("values in encoding {kind}"), hint });
        }
    };
    match given {
        None => numbers.extend(values),
        Some(given) => {
            let mut values = values.into_iter();
            let value = |l: &u32| if *l == 1 { values.next().unwrap_or(f64::NAN) } else { f64::NAN };
            numbers.extend(given.iter().map(value));
        }
    }
    Ok(())
}

fn size_of_value(physical: i64) -> usize {
    if matches!(physical, physical::DOUBLE | physical::INT64) { 8 } else { 4 }
}

/// `count` values one after the other, the lowest byte first.
fn plain(physical: i64, bytes: &[u8], count: usize) -> Result<Vec<f64>, ParquetError> {
    let size = count.saturating_mul(size_of_value(physical));
    let bytes = bytes.get(..size).ok_or(CUT)?;
    let (eights, fours) = (bytes.as_chunks::<8>().0.iter(), bytes.as_chunks::<4>().0.iter());
    Ok(match physical {
        physical::DOUBLE => eights.map(|b| f64::from_le_bytes(*b)).collect(),
        physical::INT64 => eights.map(|b| i64::from_le_bytes(*b) as f64).collect(),
        physical::FLOAT => fours.map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
        _ => fours.map(|b| f64::from(i32::from_le_bytes(*b))).collect(),
    })
}
