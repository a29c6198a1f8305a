//! The pages of a column to numbers.

use super::thrift::{Value, read_struct};
use super::unpack::unpack;
use super::{ParquetError, encoding, levels, page, physical};

const CUT: ParquetError = ParquetError::Damaged("a page is truncated");

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

/// Appends the numbers of a column chunk, whose pages begin with `bytes`; a gap is NaN. What the pages take is subtracted from
/// `budget`.
pub fn read(
    chunk: &Chunk,
    bytes: &[u8],
    budget: &mut usize,
    numbers: &mut Vec<f64>,
) -> Result<(), ParquetError> {
    let wanted = numbers.len() + chunk.values;
    let mut rest = bytes;
    let mut dictionary = Vec::new();
    while numbers.len() < wanted {
        let (header, length) = read_struct(rest)?;
        let size = header.int(3).and_then(|n| usize::try_from(n).ok()).ok_or(CUT)?;
        let (body, after) = rest[length..].split_at_checked(size).ok_or(CUT)?;
        rest = after;
        const OVERLAP: ParquetError = ParquetError::Damaged("the pages of its columns overlap");
        *budget = budget.checked_sub(length + size).ok_or(OVERLAP)?;
        let unpacked = header.int(2).and_then(|n| usize::try_from(n).ok());
        match header.int(1) {
            Some(page::DICTIONARY) => {
                // No column has more different values than values.
                let count = count(header.field(7).ok_or(CUT)?, chunk.values)?;
                let values = unpack(chunk.codec, body, unpacked, longest(count))?;
                dictionary = plain(chunk.physical, &values, count)?;
            }
            Some(page::DATA) => {
                let about = header.field(5).ok_or(CUT)?;
                let count = count(about, wanted - numbers.len())?;
                let values = unpack(chunk.codec, body, unpacked, longest(count))?;
                let mut values = &*values;
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
                let size = |id| usize::try_from(about.int(id).unwrap_or(0)).ok();
                let (_, after) = size(6).and_then(|n| body.split_at_checked(n)).ok_or(CUT)?;
                let (bits, values) = size(5).and_then(|n| after.split_at_checked(n)).ok_or(CUT)?;
                let given = chunk.optional.then(|| levels::read(bits, 1, count)).transpose()?;
                // Without any value there is nothing to unpack.
                let packed = about.field(7) != Some(&Value::Bool(false)) && !values.is_empty();
                let unpacked = unpacked.and_then(|n| n.checked_sub(size(6)?.checked_add(size(5)?)?));
                let codec = if packed { chunk.codec } else { 0 };
                let values = unpack(codec, values, unpacked, longest(count))?;
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
    count.ok_or(ParquetError::Damaged("a page declares more values than its column"))
}

/// Bytes that a page of so many values may have: each has eight at most, or a run and a place in the dictionary, and a level;
/// and small pages have a header of their own.
fn longest(values: usize) -> usize {
    values.saturating_mul(24).saturating_add(1 << 12)
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
            values.ok_or(ParquetError::Damaged("a page refers to an entry beyond its dictionary"))?
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
