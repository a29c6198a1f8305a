//! What a page was before it was packed.

use super::{ParquetError, snappy};
use std::borrow::Cow;

/// The bytes of a page. `claimed` is how many its header says there are; more than `most` are refused before they are made.
pub fn unpack(
    codec: i64,
    bytes: &[u8],
    claimed: Option<usize>,
    most: usize,
) -> Result<Cow<'_, [u8]>, ParquetError> {
    if codec == 0 {
        return Ok(Cow::Borrowed(bytes));
    }
    let length = claimed.filter(|n| *n <= most);
    let length = length.ok_or(ParquetError::Damaged("a page declares more bytes than its values need"))?;
    let (name, hint) = match codec {
        1 => return checked(snappy::unpack(bytes)?, length),
        2 => return checked(gzip(bytes, length)?, length),
        #[cfg(feature = "zstd")]
        6 => return checked(zstandard(bytes, length)?, length),
        #[cfg(not(feature = "zstd"))]
        6 => {
            ("Zstandard", "this program was built without Zstandard; write the file with Snappy compression")
        }
        4 => ("Brotli", OTHERS),
        5 | 7 => ("LZ4", OTHERS),
        _ => ("an unknown method", OTHERS),
    };
    Err(ParquetError::Unsupported { what: format!("columns compressed by {name}"), hint })
}

const OTHERS: &str = "write the file uncompressed, or with Zstandard, Snappy or gzip";

fn checked(bytes: Vec<u8>, length: usize) -> Result<Cow<'static, [u8]>, ParquetError> {
    const OTHER: ParquetError = ParquetError::Damaged("a page does not have the length given in its header");
    if bytes.len() == length { Ok(Cow::Owned(bytes)) } else { Err(OTHER) }
}

/// One member of RFC 1952; its check sum is not looked at, since Parquet has its own.
fn gzip(bytes: &[u8], length: usize) -> Result<Vec<u8>, ParquetError> {
    const BAD: ParquetError = ParquetError::Damaged("a gzip-compressed page is damaged");
    let (head, mut rest) = bytes.split_at_checked(10).ok_or(BAD)?;
    let flags = head[3];
    if !head.starts_with(&[0x1f, 0x8b, 8]) {
        return Err(BAD);
    }
    if flags & 4 != 0 {
        let (n, after) = rest.split_first_chunk::<2>().ok_or(BAD)?;
        rest = after.get(usize::from(u16::from_le_bytes(*n))..).ok_or(BAD)?;
    }
    // A name and a comment, each up to a zero.
    for bit in [8, 16] {
        if flags & bit != 0 {
            let end = memchr::memchr(0, rest).ok_or(BAD)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..).ok_or(BAD)?;
    }
    miniz_oxide::inflate::decompress_to_vec_with_limit(rest, length).map_err(|_| BAD)
}

/// One frame or several.
#[cfg(feature = "zstd")]
fn zstandard(bytes: &[u8], length: usize) -> Result<Vec<u8>, ParquetError> {
    use std::io::Read as _;
    const BAD: ParquetError = ParquetError::Damaged("a Zstandard-compressed page is damaged");
    let mut out = Vec::with_capacity(length);
    let mut rest = bytes;
    while !rest.is_empty() && out.len() < length {
        let mut decoder = ruzstd::decoding::FrameDecoder::new();
        // Writers that do not know the length ask for a window of eight megabytes at their highest common level.
        decoder.set_max_window_size((2 * length as u64).max(8 << 20));
        let mut frame =
            ruzstd::decoding::StreamingDecoder::new_with_decoder(&mut rest, decoder).map_err(|_| BAD)?;
        // One byte more than is wanted shows a page that goes on.
        let left = (length - out.len()) as u64 + 1;
        frame.by_ref().take(left).read_to_end(&mut out).map_err(|_| BAD)?;
    }
    Ok(out)
}
